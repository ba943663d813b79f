"""Row events made by hand, sound and damaged, for the tests of what is printed of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.reference.binlog.rows import (
    DELETE_TYPES,
    WRITE_TYPES,
    LazyRows,
    RowsBody,
    decode_rows_event,
    encode_head,
    full_bitmap,
)
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import JSON, LONG, ColumnType
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.binlog.rows import ExtraInfo
    from conformance.reference.tables.metadata import MetadataField

INT_AND_JSON = (ColumnType(LONG), ColumnType(JSON, 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """A body that is just bytes."""

    type: int
    data: bytes
    default_flags: int = 0

    def encode(self) -> bytes:
        return self.data


def table_of(
    *columns: ColumnType, metadata: Sequence[MetadataField] = (), name: str = "t", schema: str = "d", flags: int = 1
) -> TableMap:
    """A table with nullable columns and id 100."""
    return TableMap(
        table_id=100,
        schema=schema,
        table=name,
        columns=columns,
        nullable=tuple(True for _ in columns),
        metadata=tuple(metadata),
        flags=flags,
    )


def rows_bytes(
    table: TableMap,
    code: int,
    rows: bytes,
    *,
    before: int | None = None,
    after: int | None = None,
    extra: tuple[ExtraInfo, ...] = (),
) -> Raw:
    """A row event whose rows are these bytes; bitmaps of all columns if none are given."""
    everything = full_bitmap(len(table.columns))
    head = RowsBody(
        type=code,
        table_id=table.table_id,
        column_count=len(table.columns),
        extra=extra,
        before_columns=None if code in WRITE_TYPES else everything if before is None else before,
        after_columns=None if code in DELETE_TYPES else everything if after is None else after,
        rows=(),
    )
    return Raw(type=code, data=encode_head(head) + rows)


def lazy(table: TableMap, raw: Raw) -> LazyRows:
    """The event as a reader has it."""
    return decode_rows_event(raw.type, raw.data, {table.table_id: table})


def insert(table: TableMap, hexadecimal: str) -> LazyRows:
    """WRITE_ROWS of all columns."""
    return lazy(table, rows_bytes(table, EventType.WRITE_ROWS, bytes.fromhex(hexadecimal)))


def partial_update(diffs: bytes, *more: bytes, length: int | None = None) -> LazyRows:
    """PARTIAL_UPDATE_ROWS of ``t(INT, JSON)``, MINIMAL image; one row for each value."""
    table = table_of(*INT_AND_JSON)
    rows = b""
    for value in (diffs, *more):
        size = len(value) if length is None else length
        rows += b"\0\1\0\0\0" + b"\1\1" + b"\0" + size.to_bytes(4, "little") + value
    return lazy(table, rows_bytes(table, EventType.PARTIAL_UPDATE_ROWS, rows, before=1, after=2))
