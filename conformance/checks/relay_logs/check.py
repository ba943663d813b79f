"""RL1: relay logs of sound events in an order that no source writes.

Such a log may kill the replica, so the lab gives it only to servers that it started itself. A log in a wrong order goes
to a server of its own, which may have read sound logs before. A start takes a second: a run has a few logs of each
order.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import pytest

from conformance.harness.injections import Tried, keep_run, not_shown, record_tried, tried_again
from conformance.harness.scripts.run import log_tried, read_log
from conformance.harness.witnesses import record_not_shown
from conformance.judge.damage.relay_logs import damage_of_relay_log
from conformance.requirements.crashes import RELAYING, TRANSACTION_CONTEXT
from conformance.servers.roles.relay_log_applier import LogReader, launch_replica
from conformance.verdict import Verdict
from generators.draw import Stream
from generators.relay_logs import CONTEXT, DAMAGED, OUTSIDE, sound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.harness.check import Check
    from conformance.requirements.deviations import Deviation

_SOUND: Final = 20  # logs in the right order for each in a wrong one: many to one server
_TIMES: Final = {OUTSIDE: 6}  # that a log is read again: memory that was damaged is not always missed at once
_FURTHER: Final = 8  # logs of an order whose listed crash has not come: on 8.0.45 one in five lives
_BY_CHANCE: Final = CONTEXT  # one in eight kills, and the others wait for three seconds


def made(check: Check) -> Iterator[tuple[str, str, bytes]]:
    """The name of each log's seed, the kind of its order (none: it is sound), and the log."""
    for number in range(_SOUND * check.size()):
        key = ("relay-logs", check.seed, "sound", number)
        yield " ".join(map(str, key)), "", sound(Stream(*key))
    for kind, make in DAMAGED.items():
        if check.quick and kind == _BY_CHANCE:
            continue
        for number in check.blocks():
            key = ("relay-logs", check.seed, kind, number)
            yield " ".join(map(str, key)), kind, make(Stream(*key))


def tried(name: str, kind: str, data: bytes, reader: LogReader) -> Tried:
    """A log with the judge's verdict on how the server ended; it reads logs of some kinds several times."""
    times = _TIMES.get(kind, 1)
    return log_tried(name, data, read_log(reader, data, times), times)


def run(check: Check, reader: LogReader) -> list[Tried]:
    """Run all logs; each log that is not sound goes to a server that has read no other such log."""
    items: list[Tried] = []
    for name, kind, data in made(check):
        _try(check, reader, items, name, kind, data)
    for kind, make in DAMAGED.items():
        for number in range(_FURTHER):
            key = ("relay-logs", check.seed, kind, "further", number)
            data = make(Stream(*key))
            lived = all(item.judged.verdict is Verdict.PASS for item in items if kind in item.name.split())
            due = {entry.crash.damage for entry in missed(check, items) if entry.crash}
            if not lived or damage_of_relay_log(data) not in due:
                break
            _try(check, reader, items, " ".join(map(str, key)), kind, data)
    return items


def _try(check: Check, reader: LogReader, items: list[Tried], name: str, kind: str, data: bytes) -> None:
    item = tried(name, kind, data, reader)
    if item.death:
        keep_run(check.lab, reader.server, item)
        item = tried_again(
            check.lab,
            reader.server,
            item,
            lambda server: tried(name, kind, data, LogReader(lambda: server)),
        )
    items.append(item)
    if kind:
        reader.retire()


def missed(check: Check, items: list[Tried]) -> list[Deviation]:
    """The listed crashes that no log has shown, without the one that is chance whatever is done."""
    gone = not_shown(check.lab, items, RELAYING)
    return [entry for entry in gone if entry.crash and entry.crash.damage != TRANSACTION_CONTEXT]


@pytest.mark.check("orders")
def test_relay_logs_in_an_order_that_no_source_writes(check: Check) -> None:
    """A replica that reads sound events in a wrong order refuses the log, stops, waits or goes on; and it lives."""
    server = check.needs_own_server(
        "a server: relay logs are given to one",
        "needs a server that the lab starts itself: relay logs may crash it",
    )
    with check.block(cases=None) as block:
        with LogReader(partial(launch_replica, server.maker)) as reader:
            items = run(check, reader)
        record_tried(block, items)
    if not check.failures.count:
        record_not_shown(check, missed(check, items))
