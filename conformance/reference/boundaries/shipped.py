"""The parser that servers shipped in place of WL#4162: boundaries derived from event types and query texts.

Classes, states and transitions are those of 9.7.4 (transaction-boundaries B). The receiver reports an error as a
warning of two lines in the error log: the unexpected event, and its position in the source's log. Replication goes on,
the receiver queues the event, and the parser takes the state that the event leads to: it repairs itself.

An applier that reads the same broken streams from a relay log logs none of these warnings (observed for each message).

A receiver reads a text that is shorter than the words of its class on into the checksum (observed on 9.7.4). Of 256
events ``XA STAR`` one begins a transaction: that whose CRC-32 begins with ``T``.

Observed consequences: a rows event outside a group is no error. The receiver notices a stream cut in the middle of a
transaction only at its XID or COMMIT. A receiver that reconnects by file and position keeps its state. A receiver that
reconnects by GTID, or after CHANGE REPLICATION SOURCE, begins anew.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

from conformance.reference.binlog.header import Flag
from conformance.reference.boundaries.observed_event import GTID_TYPES, ObservedEvent
from conformance.reference.event_types import EventType


class EventClass(Enum):
    """The value names the events of the class (transaction-boundaries B.1)."""

    GTID = "GTID, ANONYMOUS_GTID, GTID_TAGGED"
    BEGIN_TRX = "QUERY equal to BEGIN over its own length, or beginning with XA START"
    END_TRX = "XID, XA_PREPARE, QUERY equal to COMMIT over its own length or beginning with ROLLBACK (not ROLLBACK TO)"
    END_XA_TRX = "QUERY beginning with XA ROLLBACK"
    STATEMENT = (
        "any other QUERY, EXECUTE_LOAD_QUERY, BEGIN_LOAD_QUERY, APPEND_BLOCK, TABLE_MAP, ROWS_QUERY, rows, VIEW_CHANGE"
    )
    PRE_STATEMENT = "INTVAR, RAND, USER_VAR"
    TRANSACTION_PAYLOAD = "TRANSACTION_PAYLOAD"
    INCIDENT = "INCIDENT"
    IGNORE = "file frame, heartbeats, TRANSACTION_CONTEXT, any other type with flag 0x80"
    ERROR = "any other type without flag 0x80"
    UNREADABLE = "QUERY without a text"


class ParserState(Enum):
    """The parser's state; the value names it (transaction-boundaries B.2)."""

    NONE = "outside a transaction"
    GTID = "after a GTID"
    DDL = "in a statement without BEGIN"
    DML = "behind BEGIN"
    ERROR = "after an event that nobody knows"


class Message(NamedTuple):
    """A line of the error log: its number, and the words with which it names the place."""

    code: int
    where: str


UNSUPPORTED, GTID_AMISS, BEGIN_AMISS, COMMIT_AMISS, XA_ROLLBACK_AMISS = 10442, 10443, 10444, 10445, 10446
QUEUING: Final = 10590  # the receiver's second line, with the position

MESSAGES: Final[dict[str, Message]] = {
    "u": Message(UNSUPPORTED, ""),
    "g1": Message(GTID_AMISS, "after a GTID_LOG_EVENT"),
    "g2": Message(GTID_AMISS, "in the middle of a DDL"),
    "g3": Message(GTID_AMISS, "in the middle of a DML"),
    "b1": Message(BEGIN_AMISS, "in the middle of a DDL"),
    "b2": Message(BEGIN_AMISS, "in the middle of a DML"),
    "c1": Message(COMMIT_AMISS, "outside a transaction"),
    "c2": Message(COMMIT_AMISS, "after a GTID_LOG_EVENT"),
    "c3": Message(COMMIT_AMISS, "in the middle of a DDL"),
    "x1": Message(XA_ROLLBACK_AMISS, "outside a transaction"),
    "x2": Message(XA_ROLLBACK_AMISS, "in the middle of a DDL"),
}

# The state behind an event of a class, by the state before it. "!": an error, with its message where it has one.
_TABLE: Final = """
                     NONE     GTID     DDL      DML      ERROR
GTID                 GTID     GTID!g1  GTID!g2  GTID!g3  GTID!
BEGIN_TRX            DML      DML      DML!b1   DML!b2   DML!
END_TRX              NONE!c1  NONE!c2  NONE!c3  NONE     NONE!
END_XA_TRX           NONE!x1  NONE     NONE!x2  NONE     NONE!
STATEMENT            NONE     NONE     NONE     DML      NONE!
PRE_STATEMENT        DDL      DDL      DDL      DML      NONE!
TRANSACTION_PAYLOAD  NONE!    NONE     NONE!    NONE!    NONE!
INCIDENT             NONE     NONE     NONE     NONE     NONE
IGNORE               NONE     GTID     DDL      DML      ERROR
ERROR                ERROR!u  ERROR!u  ERROR!u  ERROR!u  ERROR!u
UNREADABLE           NONE!    GTID!    DDL!     DML!     ERROR!
"""


class Cell(NamedTuple):
    """One cell of the table (transaction-boundaries B.3). ``message``: a key of :data:`MESSAGES`, or empty."""

    state: ParserState
    error: bool
    message: str


_STATES, *_ROWS = map(str.split, _TABLE.strip("\n").splitlines())

TRANSITIONS: Final[dict[EventClass, dict[ParserState, Cell]]] = {
    EventClass[name]: {
        ParserState[before]: Cell(ParserState[after], bool(error), message)
        for before, (after, error, message) in zip(_STATES, [cell.partition("!") for cell in cells], strict=True)
    }
    for name, *cells in _ROWS
}

_CLASSES: Final[dict[int, EventClass]] = {
    **dict.fromkeys(GTID_TYPES, EventClass.GTID),
    **dict.fromkeys((EventType.XID, EventType.XA_PREPARE), EventClass.END_TRX),
    **dict.fromkeys((EventType.INTVAR, EventType.RAND, EventType.USER_VAR), EventClass.PRE_STATEMENT),
    **dict.fromkeys(
        (
            EventType.EXECUTE_LOAD_QUERY, EventType.BEGIN_LOAD_QUERY, EventType.APPEND_BLOCK, EventType.TABLE_MAP,
            EventType.ROWS_QUERY, EventType.WRITE_ROWS, EventType.UPDATE_ROWS, EventType.DELETE_ROWS,
            EventType.PARTIAL_UPDATE_ROWS, EventType.VIEW_CHANGE,
        ),
        EventClass.STATEMENT,
    ),
    EventType.INCIDENT: EventClass.INCIDENT,
    EventType.TRANSACTION_PAYLOAD: EventClass.TRANSACTION_PAYLOAD,
    **dict.fromkeys(
        (
            EventType.ROTATE, EventType.FORMAT_DESCRIPTION, EventType.HEARTBEAT, EventType.HEARTBEAT_V2,
            EventType.PREVIOUS_GTIDS, EventType.STOP, EventType.SLAVE, EventType.DELETE_FILE,
            EventType.TRANSACTION_CONTEXT,
        ),
        EventClass.IGNORE,
    ),
}  # fmt: skip


def classify_query(text: bytes, behind: bytes = b"") -> EventClass:
    """The class of a QUERY. A text is compared with BEGIN and COMMIT over its own length, so B and COMM match too.

    The other words are compared over their length, so the bytes ``behind`` the text count where it is shorter.
    """
    if not text:
        return EventClass.UNREADABLE
    read = (text + behind)[:12]
    if b"BEGIN".startswith(text) or read.startswith(b"XA START"):
        return EventClass.BEGIN_TRX
    upper = read.upper()
    if b"COMMIT".startswith(text) or (upper.startswith(b"ROLLBACK") and not upper.startswith(b"ROLLBACK TO ")):
        return EventClass.END_TRX
    return EventClass.END_XA_TRX if upper.startswith(b"XA ROLLBACK") else EventClass.STATEMENT


def classify(event: ObservedEvent) -> EventClass:
    """The class of an event."""
    if event.type == EventType.QUERY:
        return classify_query(event.text, event.behind)
    found = _CLASSES.get(event.type)
    if found is not None:
        return found
    return EventClass.IGNORE if event.flags & Flag.IGNORABLE else EventClass.ERROR


class Complaint(NamedTuple):
    """An unexpected event. ``message`` is ``None`` where the parser has no message of its own."""

    kind: EventClass
    state: ParserState
    message: Message | None


class ShippedParser:
    """The shipped parser. ``receiver``: false for an applier, which accepts a GTID in the middle of a group."""

    def __init__(self, *, receiver: bool = True) -> None:
        self.state = ParserState.NONE
        self._receiver = receiver

    @property
    def inside(self) -> bool:
        """Whether the parser is in a transaction: until its end the relay log does not rotate, and its GTID is not
        received.
        """
        return self.state not in (ParserState.NONE, ParserState.ERROR)

    def feed(self, event: ObservedEvent) -> Complaint | None:
        """Read the next event; the parser takes the state that the event leads to, also after an error."""
        kind = classify(event)
        before = self.state
        cell = TRANSITIONS[kind][before]
        self.state = cell.state
        if not cell.error or (kind is EventClass.GTID and not self._receiver and before is not ParserState.ERROR):
            return None
        return Complaint(kind, before, MESSAGES.get(cell.message))

    def reset(self) -> None:
        """Begin another connection or another file."""
        self.state = ParserState.NONE
