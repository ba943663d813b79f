"""Row events for a replica whose table differs from the source's (requirements FR5, requirements checklist). Other
events are for a table without a key, where an event may come to the same row several times (hash scan).

``expected`` are the rows at the end, by the rules observed on 9.7.4:

- Columns go by their place. The applier passes over those that the replica lacks at the end, diffs included.
- Further columns of the replica keep their values.
- A JSON column that is none on the replica stops the applier with 13146, whether it is in the event or not.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import RowState, state_of
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.images import Row
from conformance.reference.binlog.rows import rows_body
from conformance.reference.event_types import EventType
from conformance.reference.tables.definitions import table_map

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.reference.binlog.images import Image
    from conformance.reference.tables.columns import Value
    from conformance.reference.tables.definitions import Column, Table

CANNOT_CONVERT: Final = 13146


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSchema:
    """One Case. ``rows``: the rows of the source; ``held``: those of the replica, in its own columns. ``changes``: the
    row images of the updates in their order; ``before`` and ``after``: the columns in them (``None``: all). ``single``:
    one event has all updates, else each update has an event. ``number``: the error that is due, 0: none. ``expected``:
    the replica's rows when all is applied; after an error, when its table has become the source's."""

    kind: str
    source: Table
    replica: Table
    rows: tuple[Image, ...]
    held: tuple[Image, ...]
    changes: tuple[Row, ...]
    expected: tuple[Image, ...]
    before: tuple[int, ...] | None = None
    after: tuple[int, ...] | None = None
    single: bool = True
    number: int = 0

    @property
    def name(self) -> str:
        """The two tables."""
        return f"{self.kind}: {_kinds(self.source)} to {_kinds(self.replica)}"

    def events(self, server_id: int, table_id: int) -> tuple[bytes, ...]:
        """Table map and row events of the transaction."""
        shape = table_map(self.source, table_id=table_id)
        out = []
        for part in [self.changes] if self.single else [(change,) for change in self.changes]:
            body = rows_body(shape, EventType.PARTIAL_UPDATE_ROWS, part, before=self.before, after=self.after)
            out += [encode_event(event, server_id=server_id) for event in (shape, body)]
        return tuple(out)

    @property
    def id(self) -> str:
        """The id, by content."""
        text = repr((self.replica.columns, self.replica.primary_key, self.held)).encode()
        content = b"".join((text, *self.events(1, 1)))
        return f"reshaped-{hashlib.blake2b(content, digest_size=6).hexdigest()}"


def written(table: Table, rows: Iterable[Image], *, server_id: int, table_id: int) -> tuple[bytes, ...]:
    """The table map and WRITE_ROWS event that put rows into a table, byte for byte."""
    shape = table_map(table, table_id=table_id)
    body = rows_body(shape, EventType.WRITE_ROWS, [Row(None, row) for row in rows])
    return tuple(encode_event(event, server_id=server_id) for event in (shape, body))


def states(table: Table, rows: Sequence[Image]) -> tuple[RowState | None, ...]:
    """The rows as SQL reads them: text, column by column."""
    return tuple(
        [_state(column, value) for row in rows for column, value in zip(table.columns, row, strict=True)] or [None]
    )


def _state(column: Column, value: Value | None) -> RowState:
    if value is None:
        return RowState(is_null=True)
    if column.is_json:
        assert isinstance(value, bytes)
        return RowState(valid=True, text=state_of(value).text)
    return RowState(valid=True, text=value if isinstance(value, bytes) else str(value).encode())


def _kinds(table: Table) -> str:
    return ",".join(column.type for column in table.columns)
