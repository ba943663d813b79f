"""TABLE_MAP and row events, byte by byte (binlog-events 9 to 11; table-map-metadata 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.images import PARTIAL_JSON_OPTION, bits_of, included
from conformance.reference.binlog.rows import (
    COMPLETE_ROWS,
    DELETE_TYPES,
    NO_FOREIGN_KEY_CHECKS,
    NO_UNIQUE_CHECKS,
    STMT_END,
    UPDATE_TYPES,
    USE_SQL_FOREIGN_KEY,
    V1_TYPES,
    WRITE_TYPES,
)
from conformance.reference.errors import DecodeError
from conformance.reference.event_types import EventType
from conformance.reference.explain.documents import explain_diffs, explain_document
from conformance.reference.explain.trace import short
from conformance.reference.tables import columns as types
from conformance.reference.tables.charsets import COLLATIONS
from conformance.reference.tables.columns import codec, read_value
from conformance.reference.tables.metadata import ColumnInfo, Field
from conformance.reference.tables.table_map import TableMap
from conformance.reference.text.pseudo_values import column_text
from conformance.reference.text.table_metadata import type_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.reference.explain.trace import Trace

_ROWS_FLAGS: Final = (
    (STMT_END, "STMT_END"),
    (NO_FOREIGN_KEY_CHECKS, "NO_FOREIGN_KEY_CHECKS"),
    (NO_UNIQUE_CHECKS, "NO_UNIQUE_CHECKS"),
    (COMPLETE_ROWS, "COMPLETE_ROWS"),
    (USE_SQL_FOREIGN_KEY, "USE_SQL_FOREIGN_KEY"),
)
_COLLATION_FIELDS: Final = (Field.DEFAULT_CHARSET, Field.ENUM_AND_SET_DEFAULT_CHARSET)
_NUMBER_FIELDS: Final = {
    Field.COLUMN_CHARSET: "collation",
    Field.ENUM_AND_SET_COLUMN_CHARSET: "collation",
    Field.GEOMETRY_TYPE: "geometry_type",
    Field.SIMPLE_PRIMARY_KEY: "column",
    Field.VECTOR_DIMENSIONALITY: "dimension",
}


def flag_names(value: int, names: Sequence[tuple[int, str]]) -> str:
    """Bits by name."""
    found = [name for bit, name in names if value & bit]
    rest = value & ~sum(bit for bit, _ in names)
    return " ".join([*found, f"unknown {rest:#x}"] if rest else found) or "none"


def _collation(number: int) -> str:
    known = COLLATIONS.get(number)
    return f"{number} ({known.name})" if known else str(number)


def explain_table_map(trace: Trace) -> None:
    """The body of a TABLE_MAP."""
    table = TableMap.decode(trace.cursor.data[trace.cursor.pos : trace.cursor.end])
    trace.number(6, "table_id")
    trace.number(2, "flags", lambda value: f"{value:#x}")
    for name in ("schema", "table"):
        length = trace.packed(f"{name}_length")
        trace.raw(length, name)
        trace.number(1, f"{name}_end")
    count = trace.packed("column_count")
    for index in range(count):
        info = ColumnInfo(table.columns[index], nullable=table.nullable[index])
        trace.number(1, f"column_type[{index}]", lambda value, info=info: f"{value} ({type_name(info)})")  # type: ignore[misc]
    trace.packed("column_metadata_length")
    for index, column in enumerate(table.columns):
        if column.metadata_size:
            trace.number(column.metadata_size, f"column_metadata[{index}]", lambda value: f"{value:#x}")
    nullable = [index + 1 for index, null in enumerate(table.nullable) if null]
    trace.raw((count + 7) // 8, "null_bitmap", lambda _: "nullable: " + _columns(nullable))
    number = 0
    while trace:
        with trace.inside(f"metadata[{number}]"):
            kind = trace.number(1, "field", _field_name)
            length = trace.packed("length")
            _metadata(trace, kind, trace.cursor.pos + length)
        number += 1


def _columns(numbers: Sequence[int]) -> str:
    return short(", ".join(f"@{number}" for number in numbers)) or "none"


def _field_name(kind: int) -> str:
    return f"{kind} ({Field(kind).name})" if kind in Field._value2member_map_ else f"{kind} (unknown)"


def _metadata(trace: Trace, kind: int, end: int) -> None:
    """The value of a metadata field, which ends at ``end``."""
    place = 0
    if kind in (Field.SIGNEDNESS, Field.COLUMN_VISIBILITY) or kind not in Field._value2member_map_:
        trace.raw(end - trace.cursor.pos, "value", lambda data: "".join(f"{byte:08b}" for byte in data))
        return
    if kind in _COLLATION_FIELDS:
        trace.packed("default", _collation)
    while trace.cursor.pos < end:
        if kind in _NUMBER_FIELDS:
            name = _NUMBER_FIELDS[Field(kind)]
            trace.packed(f"{name}[{place}]", _collation if name == "collation" else str)
        elif kind in _COLLATION_FIELDS:
            trace.packed(f"index[{place}]")
            trace.packed(f"collation[{place}]", _collation)
        elif kind == Field.PRIMARY_KEY_WITH_PREFIX:
            trace.packed(f"column[{place}]")
            trace.packed(f"prefix[{place}]")
        elif kind == Field.COLUMN_NAME:
            trace.raw(trace.packed(f"name_length[{place}]"), f"name[{place}]")
        else:
            for member in range(trace.packed(f"member_count[{place}]")):
                trace.raw(trace.packed(f"member_length[{place}][{member}]"), f"member[{place}][{member}]")
        place += 1


# --- rows ------------------------------------------------------------------------------------------------------------


def explain_rows(trace: Trace, code: int, tables: Mapping[int, TableMap]) -> None:
    """The body of a row event; without its TABLE_MAP the rows are only bytes."""
    table_id = trace.number(6, "table_id")
    trace.number(2, "flags", lambda value: flag_names(value, _ROWS_FLAGS))
    if code not in V1_TYPES:
        length = trace.number(2, "extra_length")
        end = trace.cursor.pos + length - 2
        while trace.cursor.pos < end:
            kind = trace.number(1, "extra_kind", lambda value: {0: "NDB", 1: "partition"}.get(value, "unknown"))
            if kind == 1:
                trace.number(2, "partition")
                if code in UPDATE_TYPES:
                    trace.number(2, "source_partition")
            else:
                trace.raw(end - trace.cursor.pos, "extra_data", bytes.hex)
    count = trace.packed("column_count")
    size = (count + 7) // 8
    bitmaps = []
    for name, exists in (("before_columns", code not in WRITE_TYPES), ("after_columns", code not in DELETE_TYPES)):
        bitmap = None
        if exists:
            raw = trace.raw(size, name, lambda data: _bits(data, count))
            bitmap = int.from_bytes(raw, "little")
        bitmaps.append(bitmap)
    table = tables.get(table_id)
    if table is None or len(table.columns) != count:
        trace.rest("rows", lambda _: "no TABLE_MAP that fits")
        return
    number = 0
    while trace:
        start = trace.cursor.pos
        with trace.inside(f"rows[{number}]"):
            _row(trace, table, code, bitmaps)
        if trace.cursor.pos == start:
            raise DecodeError("empty-row", "rows without columns take no bytes", offset=start)
        number += 1


def _bits(data: bytes, count: int) -> str:
    bitmap = int.from_bytes(data, "little")
    return _columns([index + 1 for index in included(bitmap, count)])


def _row(trace: Trace, table: TableMap, code: int, bitmaps: Sequence[int | None]) -> None:
    before, after = bitmaps
    if before is not None:
        with trace.inside("before"):
            _image(trace, table, before, 0)
    bits = 0
    if code == EventType.PARTIAL_UPDATE_ROWS:
        options = trace.packed("value_options", lambda value: "PARTIAL_JSON" if value == 1 else str(value))
        if options & PARTIAL_JSON_OPTION:
            json = table.json_columns
            raw = trace.raw(
                (len(json) + 7) // 8,
                "partial_columns",
                lambda data: _columns(
                    [json[place] + 1 for place in included(int.from_bytes(data, "little"), len(json))]
                ),
            )
            bits = int.from_bytes(raw, "little")
    if after is not None:
        with trace.inside("after"):
            _image(trace, table, after, bits)


def _image(trace: Trace, table: TableMap, bitmap: int, bits: int) -> None:
    columns = included(bitmap, len(table.columns))
    size = (len(columns) + 7) // 8
    raw = trace.raw(size, "null_bitmap", lambda data: "NULL: " + _columns(
        [columns[place] + 1 for place in included(int.from_bytes(data, "little"), len(columns))]
    ))  # fmt: skip
    json = table.json_columns
    partial = {column for column, bit in zip(json, bits_of(bits, len(json)), strict=True) if bit == "1"}
    for index, null in zip(columns, bits_of(int.from_bytes(raw, "little"), len(columns)), strict=True):
        if null == "0":
            _column(trace, table, index, partial=index in partial)


def _column(trace: Trace, table: TableMap, index: int, *, partial: bool) -> None:
    info = table.described[index]
    name = f"@{index + 1}" if info.name is None else info.name
    if info.type.type == types.JSON:
        with trace.inside(name):
            length = trace.number(info.type.metadata, "length")
            if partial:
                trace.cursor.skip(length, "diffs")
                trace.cursor.pos -= length
                explain_diffs(trace, trace.cursor.pos + length)
            else:
                explain_document(trace, length, "json")
        return
    cursor = trace.cursor
    start = cursor.pos
    value, cursor.pos = read_value(codec(info.type), cursor.data[: cursor.end], start)
    show: Callable[[object], bytes] = column_text(info, index + 1).show
    text = show(value).decode("utf-8", "backslashreplace").rstrip()
    trace.note(start, cursor.pos, name, f"{type_name(info)} {short(text)}")
