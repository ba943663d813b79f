"""The rows of a row event: images, null bitmaps, the shared image between the two images of a partial update
(binlog-events 10, binlog-events 11.1).

The reader of an image is compiled once for a TABLE_MAP and a columns bitmap, and kept with the TABLE_MAP.
"""

from __future__ import annotations

from struct import error as struct_error
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, cast

from conformance.reference.binlog.header import HEADER_SIZE
from conformance.reference.cursor import Cursor, bitmap_size, bits_of, encode_packed, included
from conformance.reference.errors import CodecError, DecodeError, EncodeError, Unsupported
from conformance.reference.event_types import EventType, event_name
from conformance.reference.integers import number_at
from conformance.reference.tables.columns import (
    JSON,
    PARTIAL_JSON,
    Codec,
    PartialJson,
    Read,
    Value,
    codec,
    read_value,
    write_value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, MutableSequence, Sequence

    from conformance.reference.tables.table_map import TableMap

PARTIAL_JSON_OPTION: Final = 1  # the only value_options bit that exists

_WORD: Final = 8  # bytes of a null bitmap that is read bit by bit
_PARTIAL_UPDATE_ROWS: Final = int(EventType.PARTIAL_UPDATE_ROWS)
MAX_PLANS: Final = 256  # of images, kept with a TABLE_MAP
_new = tuple.__new__  # of a named tuple, as in files

Image: TypeAlias = "tuple[Value | None, ...]"
ReadImage: TypeAlias = "Callable[[bytes, int], tuple[Any, int]]"


class Row(NamedTuple):
    """One changed row. ``before`` is ``None`` for an insert, ``after`` for a delete.

    ``value_options`` and ``partial_columns`` exist in PARTIAL_UPDATE_ROWS only; bit j of the second is the j-th JSON
    column *of the table*. If a row made by hand omits them, they follow from the values.
    """

    before: Image | None
    after: Image | None
    value_options: int | None = None
    partial_columns: int | None = None


# --- reading rows ----------------------------------------------------------------------------------------------------


def _image_reader(reads: Sequence[Read], fill: list[bool]) -> ReadImage:
    count = len(reads)
    if count == 1:
        return _single_reader(reads[0], fill)
    size = bitmap_size(count)
    one = size == 1
    wide = size > _WORD

    def read(data: bytes, pos: int) -> tuple[tuple[Any, ...], int]:
        if one:
            nulls = data[pos]
            pos += 1
        else:
            end = pos + size
            if end > len(data):
                raise IndexError
            nulls = int.from_bytes(data[pos:end], "little")
            pos = end
        values = []
        if not nulls:
            for each in reads:
                value, pos = each(data, pos)
                values.append(value)
            return tuple(values), pos
        if nulls >> count:
            fill[0] = True
        if wide:
            for each, bit in zip(reads, bits_of(nulls, count), strict=True):
                value = None
                if bit == "0":
                    value, pos = each(data, pos)
                values.append(value)
            return tuple(values), pos
        for each in reads:
            if nulls & 1:
                values.append(None)
            else:
                value, pos = each(data, pos)
                values.append(value)
            nulls >>= 1
        return tuple(values), pos

    return read


def _single_reader(each: Read, fill: list[bool]) -> ReadImage:
    """A reader for an image of one column, the usual MINIMAL image."""

    def read(data: bytes, pos: int) -> tuple[tuple[Any, ...], int]:
        nulls = data[pos]
        if nulls > 1:
            fill[0] = True
        if nulls & 1:
            return (None,), pos + 1
        value, pos = each(data, pos + 1)
        return (value,), pos

    return read


def _of_view(read: Read) -> Read:
    """The same reader for a view of a large event: values become bytes of their own."""

    def taken(data: bytes, pos: int) -> tuple[Any, int]:
        value, end = read(data, pos)
        if isinstance(value, memoryview):
            value = bytes(value)
        elif isinstance(value, PartialJson):
            value = PartialJson(bytes(value.diffs))
        return value, end

    return taken


class _Plan:
    """How to read and write the images of one (TABLE_MAP, columns bitmap) pair. Kept with the TABLE_MAP."""

    __slots__ = ("codecs", "columns", "fill", "partial", "patterns", "reads", "table")

    def __init__(self, table: TableMap, bitmap: int, *, view: bool) -> None:
        self.table = table
        self.columns = included(bitmap, len(table.columns))
        codecs = []
        for index in self.columns:
            try:
                codecs.append((index, codec(table.columns[index], unsigned=table.unsigned[index])))
            except CodecError as error:
                raise error.at(table.column_names[index]) from None
        self.codecs = tuple(codecs)
        self.reads = reads = [_of_view(each.read) if view else each.read for _, each in codecs]
        self.partial = _of_view(PARTIAL_JSON.read) if view else PARTIAL_JSON.read
        self.fill = [False]
        self.patterns: dict[int, ReadImage] = {0: _image_reader(reads, self.fill)}

    def image(self, partial: int = 0) -> ReadImage:
        """The reader for an after image with these partial bits."""
        reader = self.patterns.get(partial)
        if reader is None:
            reader = _image_reader(self.partial_reads(partial), self.fill)
            if len(self.patterns) < MAX_PLANS:
                self.patterns[partial] = reader
        return reader

    def partial_reads(self, partial: int) -> list[Read]:
        chosen = _chosen(self.table, partial)
        return [
            self.partial if column in chosen else each for column, each in zip(self.columns, self.reads, strict=True)
        ]


def _plan(table: TableMap, bitmap: int, *, view: bool = False) -> _Plan:
    key = ("view", bitmap) if view else bitmap
    plan: _Plan | None = table.plans.get(key)
    if plan is None:
        plan = _Plan(table, bitmap, view=view)
        if len(table.plans) < MAX_PLANS:
            table.plans[key] = plan
    return plan


def decode_rows(
    code: int,
    table: TableMap,
    source: bytes | memoryview,
    base: int,
    before_columns: int | None,
    after_columns: int | None,
    fill: list[bool],
    starts: MutableSequence[int] | None = None,
) -> Iterator[Row]:
    """The rows in ``source``, which starts at ``base`` in the body of an event of type ``code``.

    ``fill[0]`` becomes true at the end if unused bits of a null bitmap were 1. ``starts`` receives the start of each
    row in ``source`` before the row is read.
    """
    number = 0
    data = cast("bytes", source)
    view = isinstance(source, memoryview)
    try:
        before = None if before_columns is None else _plan(table, before_columns, view=view)
        after = None if after_columns is None else _plan(table, after_columns, view=view)
        partial = code == _PARTIAL_UPDATE_ROWS
        end = len(data)
        pos = 0
        if not end and not partial and not (before and before.columns) and not (after and after.columns):
            # An INSERT that names no column, in a MINIMAL image: its row has no bytes, and there is exactly one.
            yield Row(None if before is None else (), None if after is None else ())
            return
        for plan in (before, after):
            if plan is not None:
                plan.fill[0] = False
        read_before = None if before is None else before.patterns[0]
        read_after = None if after is None else after.patterns[0]
        old: Any = None
        new: Any = None
        options: int | None = None
        bits: int | None = None
        while pos < end:
            start = pos
            if starts is not None:
                starts.append(start)
            try:
                if read_before is not None:
                    old, pos = read_before(data, pos)
                if partial:
                    options, bits, pos = _shared_image(table, data, pos)
                if read_after is not None:
                    new, pos = (after.image(bits) if bits and after else read_after)(data, pos)
            except (struct_error, IndexError, DecodeError, Unsupported):
                damage = _row_damage(Cursor(data, start), code, table, before_columns, after_columns)
                raise damage.at(f"rows[{number}]", base) from None
            if pos == start:
                raise DecodeError("empty-row", "rows without columns take no bytes", offset=base + pos, got=end - pos)
            yield _new(Row, (old, new, options, bits))
            number += 1
        fill[0] = bool((before is not None and before.fill[0]) or (after is not None and after.fill[0]))
    except CodecError as error:
        raise error.at(event_name(code), HEADER_SIZE) from None


def _shared_image(table: TableMap, data: bytes, pos: int) -> tuple[int, int | None, int]:
    """(value_options, partial bits, position after both), binlog-events 11.1."""
    options = data[pos]
    if not options:
        return 0, None, pos + 1
    columns = len(table.json_columns)
    end = pos + 1 + bitmap_size(columns)
    if options == PARTIAL_JSON_OPTION and end <= len(data):  # without a cursor, which every row would pay for
        return options, number_at(data, pos + 1, end - pos - 1) & (1 << columns) - 1, end
    cursor = Cursor(data, pos)
    options, bits = read_shared_image(cursor, table)
    return options, bits, cursor.pos


def read_shared_image(cursor: Cursor, table: TableMap) -> tuple[int, int | None]:
    """(value_options, partial bits) of a PARTIAL_UPDATE_ROWS row; no bits without the option PARTIAL_JSON."""
    options = cursor.packed("value_options")
    if options & ~PARTIAL_JSON_OPTION:
        cursor.refuse(
            DecodeError(
                "value-options",
                "unknown value_options",
                offset=cursor.pos - 1,
                expected="0 or 1",
                got=options,
                path=("value_options",),
            )
        )
    if not options & PARTIAL_JSON_OPTION:
        return options, None
    json = table.json_columns
    bits = int.from_bytes(cursor.bitmap(len(json), "partial_columns", json), "little")
    # Unused high bits are ignored by the server too.
    return options, bits & ((1 << len(json)) - 1)


def read_row(cursor: Cursor, code: int, table: TableMap, before_columns: int | None, after_columns: int | None) -> None:
    """Read a row field by field: slower than :func:`decode_rows`; for recorders, and for the exact error."""
    bits: int | None = None
    if before_columns is not None:
        with cursor.inside("before"):
            _read_image(cursor, table, before_columns, 0)
    if code == _PARTIAL_UPDATE_ROWS:
        try:
            _, bits = read_shared_image(cursor, table)
        except DecodeError as error:
            raise error.at("shared_image") from None
    if after_columns is not None:
        with cursor.inside("after"):
            _read_image(cursor, table, after_columns, bits or 0)


def _row_damage(
    cursor: Cursor, code: int, table: TableMap, before_columns: int | None, after_columns: int | None
) -> CodecError:
    """The error of a row that could not be read."""
    try:
        read_row(cursor, code, table, before_columns, after_columns)
    except CodecError as error:
        return error
    return DecodeError("truncated", "the row is cut off", offset=cursor.pos)


def image_columns(cursor: Cursor, table: TableMap, bitmap: int, bits: int) -> Iterator[tuple[int, bool, bool]]:
    """(index, NULL, with diffs) for each column of an image; the caller reads the values behind the null bitmap."""
    columns = included(bitmap, len(table.columns))
    nulls = int.from_bytes(cursor.bitmap(len(columns), "null_bitmap", columns), "little")
    chosen = _chosen(table, bits)
    for index, null in zip(columns, bits_of(nulls, len(columns)), strict=True):
        yield index, null == "1", index in chosen


def _read_image(cursor: Cursor, table: TableMap, bitmap: int, bits: int) -> None:
    for index, null, diffs in image_columns(cursor, table, bitmap, bits):
        if null:
            continue
        column, name = table.columns[index], table.column_names[index]
        if cursor.records and column.type == JSON:
            with cursor.inside(name):
                cursor.take(cursor.number(column.metadata, "length"), "diffs" if diffs else "json")
            continue
        start = cursor.pos
        try:
            each = PARTIAL_JSON if diffs else codec(column, unsigned=table.unsigned[index])
            _, cursor.pos = read_value(each, cursor.data, start)
        except CodecError as error:
            raise error.at(name) from None
        cursor.note(start, name, (index, table.described[index]))


def _chosen(table: TableMap, bits: int) -> set[int]:
    """The columns that these partial bits select."""
    json = table.json_columns
    return {column for column, bit in zip(json, bits_of(bits, len(json)), strict=True) if bit == "1"}


# --- writing rows ----------------------------------------------------------------------------------------------------


class RowWriter:
    """A writer of the rows of one event."""

    def __init__(
        self,
        table: TableMap,
        before_columns: int | None,
        after_columns: int | None,
        *,
        partial: bool,
        fill: bool,
    ) -> None:
        self.table = table
        self.partial = partial
        self.fill = fill
        self.before = self.columns(before_columns)
        self.after = self.columns(after_columns)

    def columns(self, bitmap: int | None) -> tuple[tuple[int, Codec], ...] | None:
        """Index and codec of each included column."""
        return None if bitmap is None else _plan(self.table, bitmap).codecs

    def encode(self, row: Row) -> bytes:
        out = self.image(row.before, self.before, "before", frozenset())
        chosen: frozenset[int] = frozenset()
        if self.partial:
            shared, chosen = self.shared_image(row)
            out += shared
        elif row.value_options is not None or row.partial_columns is not None:
            raise EncodeError("bad-value", "only PARTIAL_UPDATE_ROWS has value options", got=row.value_options)
        return out + self.image(row.after, self.after, "after", chosen)

    def shared_image(self, row: Row) -> tuple[bytes, frozenset[int]]:
        json = self.table.json_columns
        diffs = [
            column
            for (column, _), value in zip(self.after or (), row.after or (), strict=False)
            if isinstance(value, PartialJson)
        ]
        found = 0
        if diffs:
            place = {column: j for j, column in enumerate(json)}
            for column in diffs:
                if column in place:
                    found |= 1 << place[column]
        options = bool(found) if row.value_options is None else row.value_options
        bits = found if row.partial_columns is None else row.partial_columns
        if not options & PARTIAL_JSON_OPTION:
            if found or row.partial_columns:
                raise EncodeError("bad-value", "diffs need value_options 1", expected=1, got=options)
            return encode_packed(options), frozenset()
        if not 0 <= bits < 1 << len(json):
            raise EncodeError("bad-value", "more partial bits than JSON columns", expected=len(json), got=f"{bits:#x}")
        chosen = frozenset(column for j, column in enumerate(json) if bits >> j & 1)
        return encode_packed(options) + bits.to_bytes(bitmap_size(len(json)), "little"), chosen

    def image(
        self, values: Image | None, columns: tuple[tuple[int, Codec], ...] | None, what: str, chosen: frozenset[int]
    ) -> bytes:
        if (values is None) != (columns is None) or (columns is not None and len(values or ()) != len(columns)):
            raise EncodeError(
                "bad-value",
                "an image has one value for each included column",
                expected=None if columns is None else len(columns),
                got=None if values is None else len(values),
                path=(what,),
            )
        if values is None or columns is None:
            return b""
        size = bitmap_size(len(columns))
        nulls = -1 << len(columns) & (1 << 8 * size) - 1 if self.fill else 0
        parts = []
        for place, ((index, normal), value) in enumerate(zip(columns, values, strict=True)):
            if value is None:
                nulls |= 1 << place
                continue
            try:
                # Diffs without their partial bit, or a document with it, are a wrong type for the codec.
                parts.append(write_value(PARTIAL_JSON if index in chosen else normal, value))
            except CodecError as error:
                raise error.at(self.table.column_names[index]).at(what) from None
        return nulls.to_bytes(size, "little") + b"".join(parts)
