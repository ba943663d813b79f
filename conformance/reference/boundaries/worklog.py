"""The parser of WL#4162: its transition table, its message, and its reset after an error (transaction-boundaries A.4,
transaction-boundaries A.5).

Start state and state after a reset is Not Defined; Ignore Boundary never moves it. From Not Defined only Self Contained
and Start Transaction are accepted, so a fault in the middle of a group is told again by every event of it that follows.
The worklog's grammar of a valid stream (transaction-boundaries A.3) wants each one to end with a group; its table does
not, and the table is what holds here.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from conformance.reference.boundaries.markers import RESERVED, BoundaryType, marker_title

_NOT_DEFINED, _SELF = BoundaryType.NOT_DEFINED, BoundaryType.SELF_CONTAINED
_START, _INSIDE = BoundaryType.START_TRANSACTION, BoundaryType.INSIDE_TRANSACTION
_END = BoundaryType.END_TRANSACTION

STATES: Final = (_NOT_DEFINED, _SELF, _START, _INSIDE, _END)
_BETWEEN_GROUPS: Final = frozenset((_NOT_DEFINED, _SELF, _END))
_IN_A_GROUP: Final = frozenset((_START, _INSIDE))

# Type of the event -> the states from which it is accepted, to become the state itself (the worklog's table).
ACCEPTED: Final[dict[BoundaryType, frozenset[BoundaryType]]] = {
    _SELF: _BETWEEN_GROUPS,
    _START: _BETWEEN_GROUPS,
    _INSIDE: _IN_A_GROUP,
    _END: _IN_A_GROUP,
}


class BrokenBoundary(NamedTuple):
    """An event that may not stand where it stands: the parser's state before it, and the marker of the event."""

    state: BoundaryType
    marker: int

    @property
    def message(self) -> str:
        """The worklog's warning (I2, I3)."""
        return f"Unable to change boundary parser from {self.state.title} to {marker_title(self.marker)}."


class BoundaryParser:
    """Fed with boundary types. ``in_group``: a group has begun and not ended."""

    def __init__(self) -> None:
        self.state = _NOT_DEFINED

    @property
    def in_group(self) -> bool:
        return self.state in _IN_A_GROUP

    def feed(self, marker: int) -> BrokenBoundary | None:
        """The type of the next event, never Not Defined (that one is classified first). After an error the parser is
        reset."""
        if marker == BoundaryType.IGNORE_BOUNDARY:
            return None
        if marker in RESERVED or self.state not in ACCEPTED[BoundaryType(marker)]:
            broken = BrokenBoundary(self.state, marker)
            self.reset()
            return broken
        self.state = BoundaryType(marker)
        return None

    def reset(self) -> None:
        """Another stream begins: once for each file, and at each connect and reconnect of a receiver."""
        self.state = _NOT_DEFINED
