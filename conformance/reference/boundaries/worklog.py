"""The parser of WL#4162: its transition table, its message, and its reset after an error (transaction-boundaries A.4,
transaction-boundaries A.5).

The parser starts in Not Defined, and returns there at a reset; Ignore Boundary never changes the state. From Not
Defined it accepts only Self Contained and Start Transaction. So after a fault in the middle of a group, every later
event of the group is an error too. The worklog's grammar of a valid stream (transaction-boundaries A.3) requires a
group at the end of each stream. Its transition table does not, and this parser follows the table.
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
    """An event at a wrong place: the parser's state before it, and the marker of the event."""

    state: BoundaryType
    marker: int

    @property
    def message(self) -> str:
        """The worklog's warning (I2, I3)."""
        return f"Unable to change boundary parser from {self.state.title} to {marker_title(self.marker)}."


class BoundaryParser:
    """The worklog's parser, which reads boundary types. ``in_group``: a group has begun and not ended."""

    def __init__(self) -> None:
        self.state = _NOT_DEFINED

    @property
    def in_group(self) -> bool:
        return self.state in _IN_A_GROUP

    def feed(self, marker: int) -> BrokenBoundary | None:
        """Read the type of the next event; Not Defined events must be classified first. After an error the parser
        resets.
        """
        if marker == BoundaryType.IGNORE_BOUNDARY:
            return None
        if marker in RESERVED or self.state not in ACCEPTED[BoundaryType(marker)]:
            broken = BrokenBoundary(self.state, marker)
            self.reset()
            return broken
        self.state = BoundaryType(marker)
        return None

    def reset(self) -> None:
        """Begin another stream: each file, and each connect and reconnect of a receiver, resets the parser once."""
        self.state = _NOT_DEFINED
