"""``mysqlbinlog --require-row-format``: the only use of the shipped parser in that program
(transaction-boundaries B.4).

The program ends at the first event that does not belong to a stream of row changes. It checks the kind of each event,
and whether a BEGIN came before it. It does not show the parser's own errors about the order of events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.boundaries.shipped import EventClass, ParserState, ShippedParser, classify
from conformance.reference.event_types import EventType

if TYPE_CHECKING:
    from conformance.reference.boundaries.observed_event import ObservedEvent

_NEVER: Final = frozenset(
    (
        EventType.INTVAR,
        EventType.RAND,
        EventType.APPEND_BLOCK,
        EventType.DELETE_FILE,
        EventType.BEGIN_LOAD_QUERY,
        EventType.EXECUTE_LOAD_QUERY,
    )
)
_BEHIND_BEGIN: Final = (b"XA END", b"XA PREPARE", b"SAVEPOINT", b"CREATE TABLE")
_TEMPORARY: Final = (b"CREATE TEMPORARY", b"DROP TEMPORARY")
_LONG_ENOUGH: Final = 16


class RowFormatParser:
    """The check of the events of a file."""

    def __init__(self) -> None:
        self._parser = ShippedParser()

    def feed(self, event: ObservedEvent) -> bool:
        """Whether the event is row format; the program ends at the first event that is not."""
        self._parser.feed(event)
        state = self._parser.state
        kind = classify(event)
        if kind in (EventClass.ERROR, EventClass.UNREADABLE) or event.type in _NEVER:
            return False
        if event.type == EventType.USER_VAR:
            return state is not ParserState.DML
        if event.type != EventType.QUERY or kind is not EventClass.STATEMENT:
            return True
        if state is ParserState.DML:
            return event.text.upper().startswith(_BEHIND_BEGIN)
        return len(event.text) <= _LONG_ENOUGH or not event.text.upper().startswith(_TEMPORARY)
