"""Faults for the checks of transaction boundaries (WL#4162, and the parser that shipped in its place): written down
from docs/spec/transaction-boundaries.md before the checks that must catch them.

Each is a change of what a faulty writer, printer, parser or server would have given: marked events, printed text, the
parser's table, captured events, warnings of a replica.
"""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.boundaries import judge as boundaries
from conformance.checks.boundaries.marked_files import base64_texts
from conformance.reference.boundaries import worklog
from conformance.reference.boundaries.markers import BoundaryType, mark, marker_of
from conformance.reference.boundaries.observed_event import query_text
from conformance.reference.event_types import EventType
from conformance.servers.wire.capture import Capture
from tests.checks.fault import Fault, swap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest

_GTIDS: Final = (EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED)
_ROWS: Final = (EventType.WRITE_ROWS, EventType.UPDATE_ROWS, EventType.DELETE_ROWS, EventType.PARTIAL_UPDATE_ROWS)
_PRE_STATEMENTS: Final = (EventType.INTVAR, EventType.RAND, EventType.USER_VAR)


def _marker(event: bytes) -> int:
    return marker_of(int.from_bytes(event[17:19], "little"))


def _remarked(
    chosen: Callable[[Sequence[bytes], int], bool], marker: int, *, all_of_them: bool = False
) -> Callable[[list[bytes]], list[bytes]]:
    """Another marker on the first event that is chosen, or on all."""

    def change(events: list[bytes]) -> list[bytes]:
        out = list(events)
        for number in range(len(events)):
            if chosen(events, number):
                out[number] = mark(events[number], marker)
                if not all_of_them:
                    break
        return out

    return change


def _behind_gtid(events: Sequence[bytes], number: int) -> bool:
    return number > 0 and events[number - 1][4] in _GTIDS


def _is_begin(event: bytes) -> bool:
    return event[4] == EventType.QUERY and query_text(event) == b"BEGIN"


def _grown(events: list[bytes]) -> list[bytes]:
    first = bytearray(events[0]) + b"\0"
    first[9:13] = len(first).to_bytes(4, "little")
    return [mark(bytes(first), _marker(events[0])), *events[1:]]


# --- TL1: each event has its mark ------------------------------------------------------------------------------------

MARK_FAULTS: Final = [
    Fault(
        id="marks/rows-unmarked",
        requirement="TL1",
        sentence="Every event of a transaction has a marker.",
        change=_remarked(lambda events, number: events[number][4] in _ROWS, 0, all_of_them=True),
    ),
    Fault(
        id="marks/ddl-self-behind-gtid",
        requirement="TL1",
        sentence="A statement without BEGIN behind a GTID is the end of its transaction.",
        change=_remarked(
            lambda events, number: (
                _behind_gtid(events, number)
                and events[number][4] == EventType.QUERY
                and _marker(events[number]) == BoundaryType.END_TRANSACTION
            ),
            BoundaryType.SELF_CONTAINED,
        ),
    ),
    Fault(
        id="marks/take-room",
        requirement="TL1",
        sentence="Markers need no additional space.",
        change=_grown,
    ),
]

# --- TF1: a server that writes markers itself ------------------------------------------------------------------------


def marking(patch: pytest.MonkeyPatch, change: Callable[[list[bytes]], list[bytes]]) -> None:
    """A server that marks its events: the real one's, marked where they are captured."""
    real, mark_events = Capture.since, boundaries.mark_events

    def since(*arguments: Any) -> Any:
        captured = real(*arguments)
        first, *events = change(mark_events([captured.format_description, *captured.events]))
        return replace(captured, format_description=first, events=tuple(events))

    patch.setattr(Capture, "since", since)


OWN_MARK_FAULTS: Final = [
    Fault(
        id="own/rows-unmarked",
        requirement="TF1",
        sentence="Every event has a marker.",
        change=MARK_FAULTS[0].change,
    ),
    Fault(
        id="own/ddl-self-behind-gtid",
        requirement="TF1",
        sentence="Behind a GTID a statement without BEGIN ends its transaction.",
        change=MARK_FAULTS[1].change,
    ),
    Fault(
        id="own/begin-starts-again",
        requirement="TF1",
        sentence="Behind a GTID BEGIN is inside its transaction.",
        change=_remarked(
            lambda events, number: _is_begin(events[number]), BoundaryType.START_TRANSACTION, all_of_them=True
        ),
    ),
    Fault(
        id="own/reserved-value",
        requirement="TF1",
        sentence="No other values are written than those of the six types.",
        change=_remarked(lambda events, number: events[number][4] == EventType.XID, 7, all_of_them=True),
    ),
]

# --- TN1: independent of binlog_format; TN2: independent of GTIDs ----------------------------------------------------

FORMAT_FAULTS: Final = [
    Fault(
        id="marks/pre-statement-starts",
        requirement="TN1",
        sentence="INTVAR, RAND and USER_VAR inside a transaction are inside it.",
        change=_remarked(
            lambda events, number: events[number][4] in _PRE_STATEMENTS and not _behind_gtid(events, number),
            BoundaryType.START_TRANSACTION,
        ),
    ),
    Fault(
        id="marks/statement-alone",
        requirement="TN1",
        sentence="A statement behind BEGIN is inside its transaction.",
        change=_remarked(
            lambda events, number: (
                events[number][4] == EventType.QUERY
                and not _is_begin(events[number])
                and _marker(events[number]) == BoundaryType.INSIDE_TRANSACTION
            ),
            BoundaryType.SELF_CONTAINED,
        ),
    ),
]
GTID_FAULTS: Final = [
    Fault(
        id="marks/begin-inside-without-gtid",
        requirement="TN2",
        sentence="Without a GTID it is BEGIN that starts a transaction.",
        change=_remarked(lambda events, number: _is_begin(events[number]), BoundaryType.INSIDE_TRANSACTION),
    ),
    Fault(
        id="marks/ddl-end-without-gtid",
        requirement="TN2",
        sentence="Without a GTID a statement without BEGIN is a transaction of its own.",
        change=_remarked(
            lambda events, number: (
                events[number][4] == EventType.QUERY and _marker(events[number]) == BoundaryType.SELF_CONTAINED
            ),
            BoundaryType.END_TRANSACTION,
        ),
    ),
]

# --- TF2: comments of a printer; TF3: events in BINLOG statements ----------------------------------------------------


TEXT_FAULTS: Final = [
    Fault(
        id="text/comment-lost",
        requirement="TF2",
        sentence="The marker of every event shows.",
        change=swap(b"# boundary: Inside Transaction\n", b""),
    ),
    Fault(
        id="text/other-name",
        requirement="TF2",
        sentence="The comment names the event's own boundary type.",
        change=swap(b"# boundary: End Transaction\n", b"# boundary: Start Transaction\n"),
    ),
]


def _in_binlog(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Change the events of a client's BINLOG statements that have a marker."""

    def statement(found: re.Match[bytes]) -> bytes:
        out = []
        for text in base64_texts(found[1]):
            event = base64.b64decode(text)
            out.append(base64.encodebytes(change(event) if _marker(event) else event))
        return b"BINLOG '\n" + b"".join(out) + b"'"

    return lambda text: re.sub(rb"BINLOG '\n([^']*)'", statement, text)


BINLOG_FAULTS: Final = [
    Fault(
        id="binlog/markers-lost",
        requirement="TF3",
        sentence="Events inside BINLOG statements keep their markers.",
        change=_in_binlog(lambda event: mark(event, 0)),
    ),
    Fault(
        id="binlog/markers-made-anew",
        requirement="TF3",
        sentence="Markers inside BINLOG statements are untouched.",
        change=_in_binlog(lambda event: mark(event, BoundaryType.SELF_CONTAINED)),
    ),
]

# --- TM1: the transition table ---------------------------------------------------------------------------------------


class _TakesInsideAfterEnd(worklog.BoundaryParser):
    def feed(self, marker: int) -> worklog.BrokenBoundary | None:
        if marker == BoundaryType.INSIDE_TRANSACTION and self.state == BoundaryType.END_TRANSACTION:
            self.state = BoundaryType.INSIDE_TRANSACTION
            return None
        return super().feed(marker)


class _TakesSelfInAGroup(worklog.BoundaryParser):
    def feed(self, marker: int) -> worklog.BrokenBoundary | None:
        if marker == BoundaryType.SELF_CONTAINED and self.in_group:
            return None
        return super().feed(marker)


class _NeverResets(worklog.BoundaryParser):
    def reset(self) -> None:
        pass


class _IgnoreMoves(worklog.BoundaryParser):
    def feed(self, marker: int) -> worklog.BrokenBoundary | None:
        if marker == BoundaryType.IGNORE_BOUNDARY:
            self.reset()
            return None
        return super().feed(marker)


TABLE_FAULTS: Final = [
    Fault(
        id="table/inside-after-end",
        requirement="TM1",
        sentence="Inside Transaction after End Transaction is an error.",
        change=lambda _: _TakesInsideAfterEnd,
    ),
    Fault(
        id="table/self-in-a-group",
        requirement="TM1",
        sentence="Self Contained inside a group is an error.",
        change=lambda _: _TakesSelfInAGroup,
    ),
    Fault(
        id="table/no-reset",
        requirement="TM1",
        sentence="After an error the parser is at Not Defined, and what is left of the group is told too.",
        change=lambda _: _NeverResets,
    ),
    Fault(
        id="table/ignore-moves",
        requirement="TM1",
        sentence="Ignore Boundary never moves the parser.",
        change=lambda _: _IgnoreMoves,
    ),
]

# --- TP1: the shipped parser and real streams; TP2: what a replica says of broken ones -------------------------------


def _without_first(kind: int) -> Callable[[list[bytes]], list[bytes]]:
    def change(events: list[bytes]) -> list[bytes]:
        place = next((number for number, event in enumerate(events) if event[4] == kind), None)
        return events if place is None else [*events[:place], *events[place + 1 :]]

    return change


def _twice(events: list[bytes]) -> list[bytes]:
    place = next(number for number, event in enumerate(events) if event[4] in _GTIDS)
    return [*events[: place + 1], *events[place:]]


STREAM_FAULTS: Final = [
    Fault(
        id="stream/xid-lost",
        requirement="TP1",
        sentence="A group behind BEGIN ends before the next one begins.",
        change=_without_first(EventType.XID),
    ),
    Fault(
        id="stream/gtid-twice",
        requirement="TP1",
        sentence="No GTID follows a GTID.",
        change=_twice,
    ),
]


def _changed(place: int, change: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    return lambda items: [change(item) if number == place else item for number, item in enumerate(items)]


# What a replica said: a list of servers.receiving.Warned.
WARNING_FAULTS: Final = [
    Fault(
        id="warnings/silent",
        requirement="TP2",
        sentence="Every event that the model does not expect is told.",
        change=lambda warnings: warnings[1:],
    ),
    Fault(
        id="warnings/elsewhere",
        requirement="TP2",
        sentence="The warning names the position of that event.",
        change=_changed(0, lambda item: item._replace(position=item.position + 1)),
    ),
    Fault(
        id="warnings/of-another-kind",
        requirement="TP2",
        sentence="The warning is that of the parser's state.",
        change=_changed(0, lambda item: item._replace(code=10446 if item.code == 10445 else 10445)),
    ),
    Fault(
        id="warnings/one-too-many",
        requirement="TP2",
        sentence="Nothing is told of what the model accepts.",
        change=lambda warnings: [*warnings, *warnings[-1:]],
    ),
]

# --- TP3: mysqlbinlog --require-row-format ---------------------------------------------------------------------------

# What became of a file: the place of the event that was refused, ``None`` if none was.
ROW_FORMAT_FAULTS: Final = [
    Fault(
        id="row-format/takes-all",
        requirement="TP3",
        sentence="An event that is not row format ends the reading.",
        change=lambda _: None,
    ),
    Fault(
        id="row-format/later",
        requirement="TP3",
        sentence="The first event that is not row format ends the reading.",
        change=lambda place: None if place is None else place + 1,
    ),
]

FAULTS: Final = [
    *MARK_FAULTS,
    *OWN_MARK_FAULTS,
    *FORMAT_FAULTS,
    *GTID_FAULTS,
    *TEXT_FAULTS,
    *BINLOG_FAULTS,
    *TABLE_FAULTS,
    *STREAM_FAULTS,
    *WARNING_FAULTS,
    *ROW_FORMAT_FAULTS,
]
