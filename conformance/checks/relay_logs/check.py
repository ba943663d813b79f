"""RL1: relay logs of sound events in an order that no source writes.

Such a log may kill the replica, so it goes only to servers that the lab started itself and watches, each log to one of
its own, which has read sound logs at the most. A start takes a second, so there are a few logs of each order in a run.
"""

from __future__ import annotations

import hashlib
import time
from functools import partial
from typing import TYPE_CHECKING, Final

import pytest

from conformance.harness.injections import Tried, explaining, keep_run, record
from conformance.harness.witnesses import unexpected_pass
from conformance.judge.damage.relay_logs import crash_of_replica, judge_end
from conformance.requirements.crashes import RELAYING, TRANSACTION_CONTEXT
from conformance.requirements.versions import applies
from conformance.servers.roles.relay_log_applier import LogReader, launch_replica, log_script
from conformance.servers.run.owned import OwnServer
from generators.draw import Stream
from generators.relay_logs import CONTEXT, DAMAGED, OUTSIDE, sound
from generators.streams import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.harness.lab import Lab
    from conformance.requirements.deviations import Deviation
    from conformance.servers.roles.relay_log_applier import LogEnd

_LOGS: Final = {"quick": 1, "full": 10, "soak": 50}  # of each order, to one server until it dies
_SOUND: Final = 20  # logs in the right order for each in a wrong one: many to one server
_TIMES: Final = {OUTSIDE: 6}  # that a log is read again: memory that was damaged is not always missed at once
_BY_CHANCE: Final = CONTEXT  # one in eight kills, and the others wait for three seconds
_CHECK: Final = "relay-logs/orders"


def made(seed: str, profile: str) -> Iterator[tuple[str, str, bytes]]:
    """What makes each one again, its kind (none: it is sound), and the log. Quick runs do without what kills by
    chance."""
    for number in range(_SOUND * _LOGS[profile]):
        key = ("relay-logs", seed, "sound", number)
        yield " ".join(map(str, key)), "", sound(Stream(*key))
    for kind, make in DAMAGED.items():
        for number in range(0 if profile == "quick" and kind == _BY_CHANCE else _LOGS[profile]):
            key = ("relay-logs", seed, kind, number)
            yield " ".join(map(str, key)), kind, make(Stream(*key))


def read(reader: LogReader, kind: str, data: bytes) -> LogEnd:
    """What becomes of a new server that gets a log, some of them more than once."""
    end = reader.read(data, TABLES)
    for _ in range(_TIMES.get(kind, 1) - 1):
        if end.death or end.silent or end.waits:
            break
        end = reader.read(data, TABLES)
    return end


def tried(name: str, data: bytes, end: LogEnd) -> Tried:
    """A log with what the judge says of its end."""
    return Tried(
        id=f"log-{hashlib.blake2b(data, digest_size=6).hexdigest()}",
        name=name,
        judged=judge_end(end.death, silent=end.silent),
        script=partial(log_script, data, TABLES),
        death=end.death,
        crash=crash_of_replica(data, end.death),
    )


def not_shown(lab: Lab, items: Iterable[Tried]) -> list[Deviation]:
    """Listed ends of a replica that none of the logs showed, but for those by chance."""
    shown = {entry.id for item in items if (entry := explaining(lab.deviations, lab.version, item)) is not None}
    return [
        entry
        for entry in lab.deviations
        if entry.crash is not None
        and entry.crash.during == RELAYING
        and entry.crash.damage != TRANSACTION_CONTEXT
        and applies(entry.versions, lab.version)
        and lab.asked_for(entry)
        and entry.id not in shown
    ]


def run(lab: Lab, reader: LogReader, profile: str) -> list[Tried]:
    """All logs, each that is not sound on a server that has read no other one of these."""
    items: list[Tried] = []
    for name, kind, data in made(lab.settings.seed, profile):
        items.append(tried(name, data, read(reader, kind, data)))
        if items[-1].death:
            keep_run(lab, reader.server, items[-1])
        if kind:
            reader.retire()
    return items


@pytest.mark.requirement("RL1")
def test_relay_logs_in_an_order_that_no_source_writes(lab: Lab) -> None:
    """Generated relay logs, sound ones and such in a wrong order: the replica refuses, stops, waits or goes on, and
    lives."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: relay logs are given to one")
    if not isinstance(server, OwnServer):
        lab.not_applicable(_CHECK, "RL1", "what may crash a server is put only into one that the lab starts itself")
        return
    begun = time.perf_counter()
    with LogReader(partial(launch_replica, server.maker)) as reader:
        items = run(lab, reader, lab.settings.profile)
    failures = record(lab, _CHECK, 0, items, time.perf_counter() - begun, requirement="RL1")
    if failures:
        pytest.fail(f"{failures} cases failed; see the report", pytrace=False)
    unexpected_pass(lab, _CHECK, not_shown(lab, items))
