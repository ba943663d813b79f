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
from tests.faults.fault import Fault, swap

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
    Fault("marks/rows-unmarked", "TL1", "Every event of a transaction has a marker.",
          _remarked(lambda events, number: events[number][4] in _ROWS, 0, all_of_them=True)),
    Fault("marks/ddl-self-behind-gtid", "TL1", "A statement without BEGIN behind a GTID is the end of its transaction.",
          _remarked(
              lambda events, number: (
                  _behind_gtid(events, number)
                  and events[number][4] == EventType.QUERY
                  and _marker(events[number]) == BoundaryType.END_TRANSACTION
              ),
              BoundaryType.SELF_CONTAINED,
          )),
    Fault("marks/take-room", "TL1", "Markers need no additional space.", _grown),
]  # fmt: skip

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
    Fault("own/rows-unmarked", "TF1", "Every event has a marker.", MARK_FAULTS[0].change),
    Fault("own/ddl-self-behind-gtid", "TF1", "Behind a GTID a statement without BEGIN ends its transaction.",
          MARK_FAULTS[1].change),
    Fault("own/begin-starts-again", "TF1", "Behind a GTID BEGIN is inside its transaction.",
          _remarked(
              lambda events, number: _is_begin(events[number]), BoundaryType.START_TRANSACTION, all_of_them=True
          )),
    Fault("own/reserved-value", "TF1", "No other values are written than those of the six types.",
          _remarked(lambda events, number: events[number][4] == EventType.XID, 7, all_of_them=True)),
]  # fmt: skip

# --- TN1: independent of binlog_format; TN2: independent of GTIDs ----------------------------------------------------

FORMAT_FAULTS: Final = [
    Fault("marks/pre-statement-starts", "TN1", "INTVAR, RAND and USER_VAR inside a transaction are inside it.",
          _remarked(
              lambda events, number: events[number][4] in _PRE_STATEMENTS and not _behind_gtid(events, number),
              BoundaryType.START_TRANSACTION,
          )),
    Fault("marks/statement-alone", "TN1", "A statement behind BEGIN is inside its transaction.",
          _remarked(
              lambda events, number: (
                  events[number][4] == EventType.QUERY
                  and not _is_begin(events[number])
                  and _marker(events[number]) == BoundaryType.INSIDE_TRANSACTION
              ),
              BoundaryType.SELF_CONTAINED,
          )),
]  # fmt: skip
GTID_FAULTS: Final = [
    Fault("marks/begin-inside-without-gtid", "TN2", "Without a GTID it is BEGIN that starts a transaction.",
          _remarked(lambda events, number: _is_begin(events[number]), BoundaryType.INSIDE_TRANSACTION)),
    Fault("marks/ddl-end-without-gtid", "TN2", "Without a GTID a statement without BEGIN is a transaction of its own.",
          _remarked(
              lambda events, number: (
                  events[number][4] == EventType.QUERY and _marker(events[number]) == BoundaryType.SELF_CONTAINED
              ),
              BoundaryType.END_TRANSACTION,
          )),
]  # fmt: skip

# --- TF2: comments of a printer; TF3: events in BINLOG statements ----------------------------------------------------


TEXT_FAULTS: Final = [
    Fault("text/comment-lost", "TF2", "The marker of every event shows.",
          swap(b"# boundary: Inside Transaction\n", b"")),
    Fault("text/other-name", "TF2", "The comment names the event's own boundary type.",
          swap(b"# boundary: End Transaction\n", b"# boundary: Start Transaction\n")),
]  # fmt: skip


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
    Fault("binlog/markers-lost", "TF3", "Events inside BINLOG statements keep their markers.",
          _in_binlog(lambda event: mark(event, 0))),
    Fault("binlog/markers-made-anew", "TF3", "Markers inside BINLOG statements are untouched.",
          _in_binlog(lambda event: mark(event, BoundaryType.SELF_CONTAINED))),
]  # fmt: skip

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
    Fault("table/inside-after-end", "TM1", "Inside Transaction after End Transaction is an error.",
          lambda _: _TakesInsideAfterEnd),
    Fault("table/self-in-a-group", "TM1", "Self Contained inside a group is an error.", lambda _: _TakesSelfInAGroup),
    Fault("table/no-reset", "TM1",
          "After an error the parser is at Not Defined, and what is left of the group is told too.",
          lambda _: _NeverResets),
    Fault("table/ignore-moves", "TM1", "Ignore Boundary never moves the parser.", lambda _: _IgnoreMoves),
]  # fmt: skip

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
    Fault("stream/xid-lost", "TP1", "A group behind BEGIN ends before the next one begins.",
          _without_first(EventType.XID)),
    Fault("stream/gtid-twice", "TP1", "No GTID follows a GTID.", _twice),
]  # fmt: skip


def _changed(place: int, change: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    return lambda items: [change(item) if number == place else item for number, item in enumerate(items)]


# What a replica said: a list of servers.receiving.Warned.
WARNING_FAULTS: Final = [
    Fault("warnings/silent", "TP2", "Every event that the model does not expect is told.",
          lambda warnings: warnings[1:]),
    Fault("warnings/elsewhere", "TP2", "The warning names the position of that event.",
          _changed(0, lambda item: item._replace(position=item.position + 1))),
    Fault("warnings/of-another-kind", "TP2", "The warning is that of the parser's state.",
          _changed(0, lambda item: item._replace(code=10446 if item.code == 10445 else 10445))),
    Fault("warnings/one-too-many", "TP2", "Nothing is told of what the model accepts.",
          lambda warnings: [*warnings, *warnings[-1:]]),
]  # fmt: skip

# --- TP3: mysqlbinlog --require-row-format ---------------------------------------------------------------------------

# What became of a file: the place of the event that was refused, ``None`` if none was.
ROW_FORMAT_FAULTS: Final = [
    Fault("row-format/takes-all", "TP3", "An event that is not row format ends the reading.", lambda _: None),
    Fault("row-format/later", "TP3", "The first event that is not row format ends the reading.",
          lambda place: None if place is None else place + 1),
]  # fmt: skip

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
