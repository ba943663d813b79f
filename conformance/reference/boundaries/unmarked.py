"""The receiver's guess: the boundary type of an event without a marker, and streams with marked and unmarked events.

WL#4162 says only that a receiver guesses as the source marks. But the source can look ahead (it knows the statement
that a USER_VAR belongs to); the receiver cannot. The rules are the kit's own (transaction-boundaries A.9). Where a
guess must be wrong, the receiver reports an error: a rows event outside a group has no beginning.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

from conformance.reference.binlog.header import Flag
from conformance.reference.boundaries.markers import SHIFT, BoundaryType, marker_of
from conformance.reference.boundaries.observed_event import GTID_TYPES, ObservedEvent
from conformance.reference.boundaries.worklog import BoundaryParser, BrokenBoundary
from conformance.reference.event_types import EventType

_IGNORE, _SELF = BoundaryType.IGNORE_BOUNDARY, BoundaryType.SELF_CONTAINED
_START, _INSIDE = BoundaryType.START_TRANSACTION, BoundaryType.INSIDE_TRANSACTION
_END = BoundaryType.END_TRANSACTION


_QUERY: Final = int(EventType.QUERY)
_ROTATE: Final = int(EventType.ROTATE)
_MAX_STEPS: Final = 256


class Role(Enum):
    """The role of an event in a group; the value describes it."""

    GTID = "GTID, ANONYMOUS_GTID, GTID_TAGGED"
    BEGIN = "QUERY BEGIN or XA START ..."
    COMMIT = "QUERY COMMIT or ROLLBACK, XID, XA_PREPARE"
    STATEMENT = "other QUERY, EXECUTE_LOAD_QUERY"
    PRE_STATEMENT = "INTVAR, RAND, USER_VAR"
    CHANGE = "TABLE_MAP, rows, ROWS_QUERY, BEGIN_LOAD_QUERY, APPEND_BLOCK, VIEW_CHANGE"
    PAYLOAD = "TRANSACTION_PAYLOAD"
    INCIDENT = "INCIDENT"
    ASIDE = "FORMAT_DESCRIPTION, TRANSACTION_CONTEXT, artificial ROTATE, any other type with flag 0x80"
    FRAME = "ROTATE, STOP, PREVIOUS_GTIDS, heartbeats, any other type"

    __hash__ = object.__hash__  # an enumeration has one in Python, which every event would pay for


# Role -> its type outside a group, in a group before BEGIN, and behind BEGIN.
GUESSES: Final[dict[Role, tuple[BoundaryType, BoundaryType, BoundaryType]]] = {
    Role.GTID: (_START, _START, _START),
    Role.BEGIN: (_START, _INSIDE, _START),
    Role.COMMIT: (_END, _END, _END),
    Role.STATEMENT: (_SELF, _END, _INSIDE),
    Role.PRE_STATEMENT: (_START, _INSIDE, _INSIDE),
    Role.CHANGE: (_INSIDE, _INSIDE, _INSIDE),
    Role.PAYLOAD: (_END, _END, _END),
    Role.INCIDENT: (_SELF, _END, _END),
    Role.ASIDE: (_IGNORE, _IGNORE, _IGNORE),
    Role.FRAME: (_SELF, _SELF, _SELF),
}

# Roles by event type, without QUERY and the types whose role depends on flags.
ROLES: Final[dict[int, Role]] = {
    **dict.fromkeys(GTID_TYPES, Role.GTID),
    EventType.XID: Role.COMMIT,
    EventType.XA_PREPARE: Role.COMMIT,
    EventType.EXECUTE_LOAD_QUERY: Role.STATEMENT,
    EventType.INTVAR: Role.PRE_STATEMENT,
    EventType.RAND: Role.PRE_STATEMENT,
    EventType.USER_VAR: Role.PRE_STATEMENT,
    EventType.TABLE_MAP: Role.CHANGE,
    EventType.WRITE_ROWS_V1: Role.CHANGE,
    EventType.UPDATE_ROWS_V1: Role.CHANGE,
    EventType.DELETE_ROWS_V1: Role.CHANGE,
    EventType.WRITE_ROWS: Role.CHANGE,
    EventType.UPDATE_ROWS: Role.CHANGE,
    EventType.DELETE_ROWS: Role.CHANGE,
    EventType.PARTIAL_UPDATE_ROWS: Role.CHANGE,
    EventType.ROWS_QUERY: Role.CHANGE,
    EventType.BEGIN_LOAD_QUERY: Role.CHANGE,
    EventType.APPEND_BLOCK: Role.CHANGE,
    EventType.VIEW_CHANGE: Role.CHANGE,
    EventType.TRANSACTION_PAYLOAD: Role.PAYLOAD,
    EventType.INCIDENT: Role.INCIDENT,
    EventType.FORMAT_DESCRIPTION: Role.ASIDE,
    EventType.TRANSACTION_CONTEXT: Role.ASIDE,
}
_FRAMES: Final = frozenset(
    (EventType.ROTATE, EventType.STOP, EventType.PREVIOUS_GTIDS, EventType.HEARTBEAT, EventType.HEARTBEAT_V2)
)


def query_role(text: bytes) -> Role:
    """The role of a QUERY by its text. The server's own BEGIN, COMMIT and XA texts are upper-case."""
    if text == b"BEGIN" or text.startswith(b"XA START"):
        return Role.BEGIN
    if text == b"COMMIT" or (text.startswith(b"ROLLBACK") and not text.startswith(b"ROLLBACK TO ")):
        return Role.COMMIT
    return Role.STATEMENT


def role_of(event: ObservedEvent, *, relay: bool = False) -> Role:
    """The role of an event. ``relay``: the stream is a relay log, where the replica's own events may stand inside a
    group.
    """
    if event.type == EventType.QUERY:
        return query_role(event.text)
    role = ROLES.get(event.type)
    if role is not None:
        return role
    if event.type in _FRAMES:
        fake = event.type == EventType.ROTATE and (event.flags & Flag.ARTIFICIAL or not event.log_pos)
        own = relay and event.flags & (Flag.RELAY_LOG | Flag.ARTIFICIAL)
        return Role.ASIDE if fake or own else Role.FRAME
    return Role.ASIDE if event.flags & Flag.IGNORABLE else Role.FRAME


class JudgedEvent(NamedTuple):
    """One judged event: the type that counts, the guess if it was another type, and the error."""

    type: int
    guess: BoundaryType
    broken: BrokenBoundary | None


class Receiver:
    """A receiver of marked, unmarked and mixed streams."""

    def __init__(self, *, relay: bool = False, shift: int = SHIFT) -> None:
        self.parser = BoundaryParser()
        # Whether the present group has had its BEGIN; without meaning outside a group.
        self._begun = False
        self._relay = relay
        self._shift = shift
        # What an event did in a state: a log has few kinds of events, and as few states.
        self._steps: dict[tuple[int | Role, int, int, bool], tuple[JudgedEvent, BoundaryType, bool]] = {}

    @property
    def state(self) -> tuple[BoundaryType, bool, bool]:
        """All that judging later events depends on."""
        return self.parser.state, self._begun, self._relay

    @state.setter
    def state(self, state: tuple[BoundaryType, bool, bool]) -> None:
        self.parser.state, self._begun, self._relay = state

    def feed(self, event: ObservedEvent) -> JudgedEvent:
        """Judge the next event."""
        return self.judge(event.type, event.flags, event.log_pos, event.text)

    def judge(self, code: int, flags: int, log_pos: int, text: bytes) -> JudgedEvent:
        """As :meth:`feed`, for a caller that has the event in another form."""
        if code == _ROTATE:  # whose role needs more than type and flags
            return self._judge(ObservedEvent(code, flags, log_pos))
        kind = query_role(text) if code == _QUERY else code
        key = kind, flags, int(self.parser.state), self._begun
        step = self._steps.get(key)
        if step is None:
            judged = self._judge(ObservedEvent(code, flags, log_pos, text))
            if len(self._steps) < _MAX_STEPS:
                self._steps[key] = judged, self.parser.state, self._begun
            return judged
        judged, self.parser.state, self._begun = step
        return judged

    def _judge(self, event: ObservedEvent) -> JudgedEvent:
        role = role_of(event, relay=self._relay)
        guess = GUESSES[role][0 if not self.parser.in_group else 2 if self._begun else 1]
        marker = marker_of(event.flags, self._shift) or guess
        broken = self.parser.feed(marker)
        if role is Role.BEGIN and marker in (_START, _INSIDE):
            self._begun = True
        elif marker == _START:
            self._begun = False
        return JudgedEvent(marker, guess, broken)

    def reset(self) -> None:
        """Begin another file or another connection."""
        self.parser.reset()
