"""The definitions of tables that a log has, without their rows: names, keys and generated columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.errors import CodecError
from conformance.reference.replay.engine import Replay
from conformance.reference.text.sql.rows import TableFacts, facts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.binlog.event import Event
    from conformance.reference.replay.table_state import TableState
    from conformance.reference.tables.table_map import TableMap


def describe(table: TableMap, state: TableState) -> None:
    """Give a TABLE_MAP the names, the key and other facts of a definition, as far as it has none.

    Raises :class:`CodecError` if the definition does not fit the columns of the log.
    """
    state.bind(table)
    key = {place: position for position, place in enumerate(state.key_columns())}
    facts = zip(state.infos(), state.column_names(), strict=True)
    table.complete(
        tuple(info._replace(name=name, key_position=key.get(place)) for place, (info, name) in enumerate(facts))
    )


class Definitions:
    """The tables that the statements of a log define. A statement that cannot be followed makes them unknown.

    ``given``: finds a definition from beside the log, for a table that the log does not define.
    """

    def __init__(self, given: Callable[[TableMap], TableState | None] | None = None) -> None:
        self._replay = Replay(lenient=True)
        self._given = given

    def event(self, event: Event) -> None:
        """Take an event without rows."""
        self._replay.other(event)

    def facts(self, table: TableMap) -> TableFacts:
        """All that TABLE_MAP and statements say of a table."""
        state = self._replay.tables.get((table.schema, table.table))
        if (state is None or state.columns is None) and self._given is not None:
            state = self._given(table)
        if state is None or state.columns is None:
            return facts_of(table)
        try:
            state.bind(table)
        except CodecError:  # changed in a way that is not in the log
            return facts_of(table)
        generated = [place for place, column in enumerate(state.columns) if column.generated]
        return TableFacts(
            tuple(state.column_names()), tuple(state.infos()), state.key_columns(), frozenset(generated),
            tuple(state.unsigned.items()),
        )  # fmt: skip
