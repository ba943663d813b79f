"""PARTIAL_UPDATE_ROWS as UPDATE_ROWS: every diff is replaced by the document that it leads to.

The document before the update stands in the before image (FULL and NOBLOB images), or the replay knows it from earlier
events (MINIMAL images). A row without either is refused, never guessed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.binlog.rows import LazyRows, Row, RowsBody
from conformance.reference.dialect import SOURCE
from conformance.reference.errors import CodecError, ReplayError
from conformance.reference.event_types import EventType
from conformance.reference.partial.apply import apply_field
from conformance.reference.portable import shown
from conformance.reference.replay.engine import Replay
from conformance.reference.replay.table_state import image_columns
from conformance.reference.tables.columns import PartialJson

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.reference.binlog.event import Event
    from conformance.reference.tables.table_map import TableMap


def needs_earlier_rows(event: Event) -> bool:
    """Whether rows of this event may have diffs of a document that their before image lacks."""
    body = event.body
    if not isinstance(body, LazyRows | RowsBody) or body.type != EventType.PARTIAL_UPDATE_ROWS or body.table is None:
        return False
    after, before = body.after_columns or 0, body.before_columns or 0
    return any(after >> column & 1 and not before >> column & 1 for column in body.table.json_columns)


class FullRows:
    """Rows with whole documents. Pass every event in order: to :meth:`rows`, :meth:`follow` or :meth:`other`.

    ``follow``: keep the tables of the log in memory, for before images that lack documents.
    """

    def __init__(self, *, follow: bool) -> None:
        self._replay = Replay(lenient=True, dialect=SOURCE) if follow else None
        self.documents = 0

    def other(self, event: Event) -> None:
        """Take an event without rows."""
        if self._replay is not None:
            self._replay.other(event)

    def follow(self, event: LazyRows) -> None:
        """Take the rows of an event without rewriting them."""
        if self._replay is not None:
            for row in event.rows():
                self._replay.row(event, row)

    def rows(self, event: RowsBody) -> RowsBody:
        """A PARTIAL_UPDATE_ROWS event as UPDATE_ROWS with whole documents."""
        table = event.map()
        rows = []
        for number, row in enumerate(event.rows):
            try:
                changed = self._full(event, table, row)
            except CodecError as error:
                raise error.at(f"{table.schema}.{table.table}").at(f"rows[{number}]") from None
            if self._replay is not None:
                self._replay.row(event, changed)
            rows.append(changed)
        return replace(event, type=EventType.UPDATE_ROWS, rows=tuple(rows))

    def _full(self, event: RowsBody, table: TableMap, row: Row) -> Row:
        assert row.before is not None
        assert row.after is not None
        count = len(table.columns)
        before = dict(zip(image_columns(event.before_columns or 0, count), row.before, strict=True))
        values: list[Any] = []
        for index, value in zip(image_columns(event.after_columns or 0, count), row.after, strict=True):
            if isinstance(value, PartialJson):
                try:
                    stored: Any = before[index] if index in before else self._earlier(table, before, index)
                    value = apply_field(stored, value.diffs, SOURCE)
                except CodecError as error:
                    raise error.at(table.column_names[index]) from None
                self.documents += 1
            values.append(value)
        return Row(row.before, tuple(values))

    def _earlier(self, table: TableMap, before: Mapping[int, Any], index: int) -> Any:
        """The document as the replay knows it."""
        values = self._known(table, before)
        if values is None:
            key = ", ".join(f"{table.column_names[at]}={shown(value)}" for at, value in before.items())[:80]
            raise ReplayError(
                "no-base",
                "the column has diffs, and the document before them is not known",
                expected="the document in the before image or in an earlier event",
                got=f"a before image of {key or 'no column'}, and no such row in earlier events",
            )
        return values[index]

    def _known(self, table: TableMap, before: Mapping[int, Any]) -> Sequence[Any] | None:
        if self._replay is None:
            return None
        state = self._replay.tables.get((table.schema, table.table))
        if state is None:
            return None
        try:
            state.bind(table)
            number = state.find(before)
        except ReplayError:
            return None  # its definition changed in a way that the log does not tell
        return None if number is None else state.rows[number]
