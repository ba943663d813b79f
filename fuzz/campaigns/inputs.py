"""The inputs of campaigns: pure functions of campaign, channel, seed and the number of a batch.

An input's place, ``channel/batch/number``, is its name. The place and the seed are enough to make the input again.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cases.by_hand.damaged_log import log_of_image
from conformance.cases.bytes_case import MYSQLBINLOG, BytesCase, bytes_id
from conformance.cases.update_case import Hazard
from conformance.reference.binlog.gtid import MAY_HAVE_SBR, Gtid, GtidTagged
from conformance.reference.binlog.header import MAGIC
from conformance.reference.event_types import EventType
from fuzz.mutators.framing import mutate_file
from generators import applier_transactions, damaged_events, diverged, object_entries, random_damage, streams
from generators.damaged_values import PLACES, file_with_damage
from generators.draw import Stream, mix

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.by_hand.applier_transaction import ApplierTransaction
    from conformance.cases.by_hand.injection import Injection
    from conformance.reference.binlog.event import Body
    from generators.draw import Draw

DIVERGED, MALFORMED, STREAMS = "diverged", "malformed", "streams"
MUTATED_LOG: Final = "mutated-log"  # the name of a file of any events
# A header with a length that not even itself fits into.
NO_EVENT: Final = bytes(4) + bytes((EventType.QUERY,)) + bytes(4) + (5).to_bytes(4, "little") + bytes(6)
STATEMENTS, APPLIER, CLIENT, REPLICA = "statements", "applier", MYSQLBINLOG, "replica"
CHANNELS: Final = {
    DIVERGED: (STATEMENTS, APPLIER),
    MALFORMED: (STATEMENTS, APPLIER, CLIENT),
    STREAMS: (REPLICA,),
}

_GROUPS: Final = 5  # of about ninety injections, in a batch of diverged statements
_STATEMENTS: Final = 50  # damaged events in a batch: the campaign checks once for all of them which damages are known
_TRANSACTIONS: Final = 40
_FILES: Final = 20
_RELAY_LOGS: Final = 200  # replicas side by side wait at the end of a batch for the last one
_LARGEST_FILE: Final = 1 << 16
_SOURCES: Final = mix(("mutated", 34), ("member", 10), ("twice", 1), ("field", 5))
_STOPS: Final = mix((True, 15), (False, 1))  # whether a relay log ends with what stops its reader
_LOGS: Final = mix(("image", 5), ("value", 2), ("stream", 3))
_PLACE: Final = re.compile(r"(\w+)/(\d{1,9})/(\d{1,9})")


class RelayLog(NamedTuple):
    """A whole relay log of any events."""

    name: str
    data: bytes


class Place(NamedTuple):
    """The place of one input."""

    channel: str
    batch: int
    number: int

    def __str__(self) -> str:
        return "/".join(map(str, self))

    @classmethod
    def parse(cls, text: str) -> Place:
        """The place that a text names: the inverse of ``str``. Raises ``ValueError``."""
        found = _PLACE.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is not the place of an input; expected channel/batch/number")
        return cls(found[1], int(found[2]), int(found[3]))


def _draw(campaign: str, channel: str, seed: str, batch: int) -> Stream:
    return Stream("fuzz", campaign, channel, seed, batch)


def statements(campaign: str, seed: str, batch: int) -> list[Injection]:
    """A batch for BINLOG statements; the first batch of diverged documents is the matrix of requirements FR5."""
    draw = _draw(campaign, STATEMENTS, seed, batch)
    if campaign == DIVERGED and batch == 0:
        return list(diverged.matrix())
    if campaign == DIVERGED:
        return [item for number in range(_GROUPS) for item in diverged.group(draw.fork(number))]
    return [_damaged(draw.fork(number)) for number in range(_STATEMENTS)]


def transactions(campaign: str, seed: str, batch: int) -> list[ApplierTransaction]:
    """A batch for an applier."""
    draw = _draw(campaign, APPLIER, seed, batch)
    if campaign == DIVERGED:
        return applier_transactions.group(draw)
    forks = [draw.fork(number) for number in range(_TRANSACTIONS)]
    return [applier_transactions.alone(fork.fork("beside"), _damaged(fork)) for fork in forks]


def files(seed: str, batch: int) -> list[BytesCase]:
    """A batch for mysqlbinlog; damaged files only."""
    draw = _draw(MALFORMED, CLIENT, seed, batch)
    return [_file(draw.fork(number)) for number in range(_FILES)]


def logs(seed: str, batch: int) -> list[RelayLog]:
    """A batch of relay logs for a replica."""
    draw = _draw(STREAMS, REPLICA, seed, batch)
    return [_relay_log(draw.fork(number)) for number in range(_RELAY_LOGS)]


def _relay_log(draw: Draw) -> RelayLog:
    """Mostly with an end that no reader takes for an event: a replica waits for more behind any other end."""
    data = _mutated(draw, of=_with_statements)
    return RelayLog(MUTATED_LOG, data + NO_EVENT if draw.fork("end").choice(_STOPS) else data)


def _damaged(draw: Draw) -> Injection:
    match draw.choice(_SOURCES):
        case "mutated":
            return random_damage.injection(draw)
        case "member":
            return object_entries.injection(
                draw, draw.choice((object_entries.DIFF, object_entries.FULL)), keys=draw.below(2) == 1
            )
        case "twice":
            return object_entries.twice(draw)
        case _:
            return damaged_events.damaged(draw)


def _file(draw: Draw) -> BytesCase:
    match draw.choice(_LOGS):
        case "image":
            item = random_damage.injection(draw)
            return _case(item.name, log_of_image(item.image))
        case "value":
            return file_with_damage(draw, draw.choice(PLACES))
        case _:
            return _case(MUTATED_LOG, _mutated(draw))


def _with_statements(body: Body) -> Body:
    """A GTID that announces statements: without it, 9.7.4 stops (13117) at statements of tables with row events."""
    return replace(body, gtid_flags=MAY_HAVE_SBR) if isinstance(body, (Gtid, GtidTagged)) else body


def _mutated(draw: Draw, *, of: Callable[[Body], Body] = lambda body: body) -> bytes:
    """A log with transactions of all kinds and one damage. ``of``: an event in place of each sound one."""
    bodies = [of(body) for group in streams.stream(draw, 1 + draw.below(3)) for body in group]
    whole = MAGIC + b"".join(item.data for item in streams.placed(bodies))
    return mutate_file(whole, _LARGEST_FILE, draw.bits(30))


def _case(name: str, data: bytes) -> BytesCase:
    return BytesCase(
        id=bytes_id(MYSQLBINLOG, data),
        requirements=("P9",),
        hazard=Hazard.MAY_CRASH,
        subject=MYSQLBINLOG,
        name=name,
        data=data,
    )
