"""Cells of the table of event types that are marked otherwise: for each sentence, on one event of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.event_types import EventType
from tests.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Markers = list[int]

IGNORE, SELF, START, INSIDE, END = 1, 2, 3, 4, 5


def at(
    kind: int, old: int, new: int, behind: Sequence[int] = ()
) -> Callable[[tuple[Sequence[bytes], Markers]], Markers]:
    """Another marker on the first event of a type that is marked ``old``, behind an event of some types."""

    def change(stream: tuple[Sequence[bytes], Markers]) -> Markers:
        events, markers = stream
        place = next(
            (
                place
                for place, event in enumerate(events)
                if (event[4], markers[place]) == (kind, old)
                and (not behind or (place and events[place - 1][4] in behind))
            ),
            None,
        )
        return markers if place is None else [*markers[:place], new, *markers[place + 1 :]]

    return change


_GTIDS: Final = (EventType.GTID, EventType.ANONYMOUS_GTID)
_VARIABLES: Final = (EventType.INTVAR, EventType.RAND, EventType.USER_VAR)
_FAULTS: Final = (
    ("TD1", "description", "A FORMAT_DESCRIPTION is ignored.", at(15, IGNORE, SELF)),
    ("TD1", "rotate", "The dump thread's ROTATE is ignored.", at(4, IGNORE, SELF)),
    ("TD2", "previous-gtids", "PREVIOUS_GTIDS is self contained.", at(35, SELF, START)),
    ("TD2", "alone", "A statement alone is self contained.", at(2, SELF, START)),
    ("TD3", "gtid", "A GTID event starts a transaction.", at(33, START, SELF)),
    ("TD3", "begin", "BEGIN without a GTID starts one.", at(2, START, SELF)),
    ("TD4", "table-map", "TABLE_MAP is inside.", at(19, INSIDE, START)),
    ("TD4", "rows", "Rows are inside.", at(30, INSIDE, END)),
    ("TD5", "xid", "XID ends the transaction.", at(16, END, INSIDE)),
    ("TD5", "commit", "COMMIT ends the transaction.", at(2, END, SELF, (2, 30, 31, 32))),
    ("TS1", "begin", "Behind a GTID BEGIN is inside.", at(2, INSIDE, START, _GTIDS)),
    ("TS1", "alone", "Behind a GTID a statement alone is the end.", at(2, END, SELF, _GTIDS)),
    ("TS2", "first", "The first variable of a statement alone starts it.", at(14, START, INSIDE)),
    ("TS2", "statement", "The statement behind it is the end.", at(2, END, SELF, _VARIABLES)),
)
EVENT_TABLE_FAULTS: Final = [
    Fault(f"{requirement}-{name}", requirement, sentence, change) for requirement, name, sentence, change in _FAULTS
]
