"""Faults of the parts of WL#4162's requirements: marked logs, the parser of the transition table, warnings, texts.

The logs are recorded ones of a real server, marked by the kit: what errs here is a source that marks otherwise, a
parser with another table, a receiver that says something else.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.boundaries import broken_streams, check_told_files, marked_files
from conformance.checks.boundaries import judge as boundaries
from conformance.reference.binlog.header import MAGIC
from conformance.reference.boundaries import unmarked, worklog
from conformance.reference.boundaries.markers import BoundaryType, mark
from conformance.reference.boundaries.observed_event import GTID_TYPES, observe
from conformance.reference.event_types import EventType
from generators import streams
from generators.draw import Stream
from tests.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.servers.roles.receiver import ParserWarning
    from generators.streams import Placed

    Change = Callable[[list[bytes]], list[bytes]]

_LOGS: Final = Path(__file__).parents[1] / "data" / "binlogs"
_IGNORE, _SELF = BoundaryType.IGNORE_BOUNDARY, BoundaryType.SELF_CONTAINED
_START, _INSIDE = BoundaryType.START_TRANSACTION, BoundaryType.INSIDE_TRANSACTION
_END = BoundaryType.END_TRANSACTION


@cache
def _log(name: str) -> tuple[list[bytes], list[bytes]]:
    """The events of a recorded log, and the same marked."""
    (path,) = _LOGS.glob(f"{name}*.binlog")
    events = list(boundaries.split_log(path.read_bytes()))
    return events, boundaries.mark_events(events)


# --- marks -----------------------------------------------------------------------------------------------------------


def _marked(name: str, requirement: str, sentence: str, change: Change, *, log: str = "13") -> Fault:
    def judged(wrong: bool) -> object:
        events, marked = _log(log)
        groups = len(boundaries.transactions_of(events))
        if wrong:
            changed = change(list(marked))
            assert changed != marked
            marked = changed
        return boundaries.judge_marks(events, marked, groups, "part")

    return Fault(name, requirement, sentence, judged)


def _other(old: BoundaryType, new: int, types: Sequence[int] = (), *, behind: Sequence[int] = ()) -> Change:
    """Another marker on the first event with the marker ``old``, of these types, behind such an event."""

    def change(events: list[bytes]) -> list[bytes]:
        markers = boundaries.markers_of(events)
        place = next(
            number
            for number, event in enumerate(events)
            if markers[number] == old
            and (not types or event[4] in types)
            and (not behind or (number and events[number - 1][4] in behind))
        )
        events[place] = mark(events[place], new)
        return events

    return change


def _grown(events: list[bytes]) -> list[bytes]:
    first = events[0] + b"\0"
    return [first[:9] + len(first).to_bytes(4, "little") + first[13:], *events[1:]]


_PRE_STATEMENTS: Final = (EventType.INTVAR, EventType.RAND, EventType.USER_VAR)
MARKS: Final = [
    _marked("takes-a-byte", "TE1", "A marker takes no room.", _grown),
    _marked("sixth-value", "TE3", "The values 6 and 7 are not used.", _other(_INSIDE, 6)),
    _marked("not-defined-by-a-source", "TD0", "Not Defined is what a source without the feature writes.",
            _other(_INSIDE, BoundaryType.NOT_DEFINED)),
]  # fmt: skip

# --- the transition table --------------------------------------------------------------------------------------------


class _Moves(worklog.BoundaryParser):
    """An event to be ignored ends the group."""

    def feed(self, marker: int) -> worklog.BrokenBoundary | None:
        if marker == _IGNORE:
            self.reset()
            return None
        return super().feed(marker)


class _Lax(worklog.BoundaryParser):
    """A self-contained event may stand in a transaction."""

    def feed(self, marker: int) -> worklog.BrokenBoundary | None:
        return None if marker == _SELF else super().feed(marker)


def _table(parser: type[worklog.BoundaryParser], put_in: BoundaryType) -> Callable[[bool], object]:
    """A stream with one event put in behind a GTID event: what is told, beside what the grammar calls wrong."""

    def judged(wrong: bool) -> object:
        _, marked = _log("13")
        place = next(number for number, event in enumerate(marked) if event[4] in GTID_TYPES)
        stream = [*marked[: place + 1], mark(marked[0], put_in), *marked[place + 1 :]]
        with pytest.MonkeyPatch.context() as patch:
            if wrong:
                patch.setattr(unmarked, "BoundaryParser", parser)
            told = boundaries.breaks(map(observe, stream))
        expected = boundaries.expected_breaks(boundaries.markers_of(stream))
        return [] if told == expected else [told, expected]

    return judged


TABLE: Final = [
    Fault("ignored-event-moves", "TM2", "An event to be ignored leaves the state as it is.", _table(_Moves, _IGNORE)),
    Fault("self-contained-inside", "TM3", "Self-contained events stand between transactions.", _table(_Lax, _SELF)),
]  # fmt: skip

# --- warnings of a receiver ------------------------------------------------------------------------------------------


def _stream() -> list[Placed]:
    """Four transactions of rows; the second and the third have lost their beginnings."""
    items = [streams.group(Stream("parts", number), "rows", streams.Starts.GTID) for number in range(4)]
    return streams.placed([body for item in (items[0], items[1][2:], items[2][2:], items[3]) for body in item])


def _heard(change: Callable[[list[Placed]], list[ParserWarning]]) -> Callable[[bool], object]:
    def judged(wrong: bool) -> object:
        stream = _stream()
        expected = broken_streams.expected_warnings(stream)
        assert expected
        return broken_streams.judge_warnings(expected, change(stream) if wrong else expected, "part", stream)

    return judged


def _began_anew(stream: list[Placed]) -> list[ParserWarning]:
    """A connection is lost inside the first transaction, and the parser begins anew behind it."""
    place = next(number for number, item in enumerate(stream) if item.data[4] == EventType.TABLE_MAP)
    return [*broken_streams.expected_warnings(stream[:place]), *broken_streams.expected_warnings(stream[place:])]


def _first_alone(stream: list[Placed]) -> list[ParserWarning]:
    """Only the first of two such transactions is told."""
    return broken_streams.expected_warnings(stream)[:-1]


WARNINGS: Final = [
    Fault("anew-after-a-lost-connection", "TM4", "The parser that shipped goes on as it was on the same stream.",
          _heard(_began_anew)),
    Fault("silent-in-the-middle", "TM5", "A transaction without its beginning is told.", _heard(lambda _: [])),
    Fault("silent-too-soon", "TM6", "Everything is told until the parser has mended itself.", _heard(_first_alone)),
]  # fmt: skip

# --- text ------------------------------------------------------------------------------------------------------------


def _shown(wrong: bool) -> object:
    """The kit's text of a marked file, the first comment with another type."""
    _, marked = _log("13")
    text = marked_files.text_of(boundaries.file_of(marked))
    plain = text
    for title in {BoundaryType(marker).title for marker in boundaries.markers_of(marked)}:
        plain = plain.replace(f"# boundary: {title}\n".encode(), b"")
    if wrong:
        text = text.replace(b"# boundary: Start Transaction", b"# boundary: Inside Transaction", 1)
    return marked_files.judge_text(marked, text, plain)


TEXT: Final = [
    Fault("another-type-is-shown", "TI1", "The type that is shown is that of the event.", _shown),
]  # fmt: skip


def _one_parser(wrong: bool) -> object:
    """Two files, the first of which ends inside a transaction; told by a parser for each, or by one for both."""
    _, marked = _log("13")
    place = next(number for number, event in enumerate(marked) if event[4] in GTID_TYPES)
    files = [marked[: place + 1], marked]
    expected = check_told_files.wanted(files)
    if not wrong:
        return check_told_files.judge(expected, expected)
    later = sum(map(len, files[0]))
    got = [
        told._replace(file=1, offset=told.offset - later) if told.offset >= later + len(MAGIC) else told
        for told in check_told_files.wanted([[*files[0], *files[1]]])
    ]
    return check_told_files.judge(expected, got)


FILES: Final = [
    Fault("one-parser-for-all-files", "TM7", "Each file is read by a parser in its first state.", _one_parser)
]  # fmt: skip
FAULTS: Final = [*MARKS, *TABLE, *WARNINGS, *TEXT, *FILES]
