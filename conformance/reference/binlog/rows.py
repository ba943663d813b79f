"""Row events: WRITE, UPDATE, DELETE and PARTIAL_UPDATE (binlog-events sheet, sections 10 and 11).

Reading a file yields :class:`LazyRows`: the event's own fields, and the rows still as bytes together with the TABLE_MAP
that explains them. :meth:`LazyRows.rows` goes through the rows one by one, :meth:`LazyRows.typed` makes the
:class:`RowsBody`, which is what can be encoded.

A row is (before image, after image); an image is a tuple of the values of the *included* columns, in column order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from struct import Struct
from struct import error as struct_error
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

from conformance.reference.binlog.columns import (
    PARTIAL_JSON,
    Codec,
    PartialJson,
    Read,
    Value,
    codec,
    read_value,
    write_value,
)
from conformance.reference.binlog.header import EventType
from conformance.reference.binlog.table_map import TableMap
from conformance.reference.cursor import Cursor, encode_packed, packed_size
from conformance.reference.errors import CodecError, DecodeError, EncodeError

# Flags of a rows event.
STMT_END: Final = 0x0001
NO_FOREIGN_KEY_CHECKS: Final = 0x0002
NO_UNIQUE_CHECKS: Final = 0x0004
COMPLETE_ROWS: Final = 0x0008
USE_SQL_FOREIGN_KEY: Final = 0x0010

PARTIAL_JSON_OPTION: Final = 1  # the only value_options bit that exists

V1_TYPES: Final = frozenset((EventType.WRITE_ROWS_V1, EventType.UPDATE_ROWS_V1, EventType.DELETE_ROWS_V1))
WRITE_TYPES: Final = frozenset((EventType.WRITE_ROWS, EventType.WRITE_ROWS_V1))
DELETE_TYPES: Final = frozenset((EventType.DELETE_ROWS, EventType.DELETE_ROWS_V1))
UPDATE_TYPES: Final = frozenset((EventType.UPDATE_ROWS, EventType.UPDATE_ROWS_V1, EventType.PARTIAL_UPDATE_ROWS))
ROWS_TYPES: Final = WRITE_TYPES | DELETE_TYPES | UPDATE_TYPES

_HEAD: Final = Struct("<IHH")
_HEAD_V2: Final = Struct("<IHHH")
_MAX_CACHED_PATTERNS: Final = 256

Image: TypeAlias = "tuple[Value | None, ...]"
ReadImage: TypeAlias = "Callable[[bytes, int], tuple[Any, int]]"


class Row(NamedTuple):
    """One changed row. ``before`` is ``None`` for an insert, ``after`` for a delete.

    ``value_options`` and ``partial_columns`` exist in PARTIAL_UPDATE_ROWS only; bit j of the second is the j-th JSON
    column *of the table*. Left out when a row is made by hand, they follow from the values.
    """

    before: Image | None
    after: Image | None
    value_options: int | None = None
    partial_columns: int | None = None


class PartitionInfo(NamedTuple):
    """The partition of the rows; for updates where they went to, and where they came from."""

    partition: int
    source: int | None = None


class NdbInfo(NamedTuple):
    format: int
    data: bytes


class UnknownInfo(NamedTuple):
    """A kind of extra row data that nobody has described: how long it is cannot be known, so it takes all the rest."""

    kind: int
    data: bytes


ExtraInfo: TypeAlias = "PartitionInfo | NdbInfo | UnknownInfo"


def included(bitmap: int, count: int) -> tuple[int, ...]:
    """Indexes of the columns in an image."""
    return tuple([index for index in range(count) if bitmap >> index & 1])


def bitmap_of(columns: Iterable[int]) -> int:
    """A columns bitmap with unused bits 0, as 9.7 writes it for MINIMAL images."""
    return sum({1 << index for index in columns})


def full_bitmap(count: int) -> int:
    """A columns bitmap of all columns with unused bits 1, as 9.7 writes it for FULL images."""
    return (1 << 8 * ((count + 7) // 8)) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsHead:
    """What lazy and typed rows share. A bitmap is the stored number with its unused high bits; ``None``: no such image.

    ``table`` is the TABLE_MAP in force; without one (a damaged or cut log) only the event's own fields can be read.
    """

    default_flags: ClassVar[int] = 0

    type: int
    table_id: int
    flags: int = STMT_END | USE_SQL_FOREIGN_KEY
    extra: tuple[ExtraInfo, ...] = ()
    column_count: int
    before_columns: int | None = None
    after_columns: int | None = None
    table: TableMap | None = field(default=None, compare=False, repr=False)

    @property
    def statement_end(self) -> bool:
        return bool(self.flags & STMT_END)

    def map(self) -> TableMap:
        """The TABLE_MAP, checked against this event."""
        table = self.table
        if table is None:
            raise DecodeError("no-table-map", "no TABLE_MAP for these rows", got=self.table_id)
        if len(table.columns) != self.column_count:
            raise DecodeError(
                "column-count",
                "TABLE_MAP has another number of columns",
                expected=len(table.columns),
                got=self.column_count,
            )
        return table


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsBody(RowsHead):
    """A fully typed rows event. ``null_fill``: unused bits of the rows' null bitmaps are 1, as servers before 8.0 write."""

    rows: tuple[Row, ...]
    null_fill: bool = False

    def encode(self) -> bytes:
        return encode_head(self) + b"".join(self.encoded_rows())

    def encoded_rows(self) -> list[bytes]:
        """Each row by itself: what the size rule of :func:`split_rows` adds up."""
        writer = _RowWriter(self)
        encoded = []
        for index, row in enumerate(self.rows):
            try:
                encoded.append(writer.encode(row))
            except CodecError as error:
                raise error.at(f"rows[{index}]") from None
        return encoded


@dataclass(frozen=True, slots=True, kw_only=True)
class LazyRows(RowsHead):
    """A rows event whose rows were not decoded yet. ``data``: the rows' bytes, ``offset``: where they are in the body."""

    data: bytes = field(repr=False)
    offset: int = 0

    def rows(self) -> Iterator[Row]:
        """The rows one by one, so that an event of any size needs the memory of one row."""
        return _decode_rows(self, [False])

    def typed(self) -> RowsBody:
        fill = [False]
        rows = tuple(_decode_rows(self, fill))
        return RowsBody(
            type=self.type,
            table_id=self.table_id,
            flags=self.flags,
            extra=self.extra,
            column_count=self.column_count,
            before_columns=self.before_columns,
            after_columns=self.after_columns,
            table=self.table,
            rows=rows,
            null_fill=fill[0],
        )


def rows_body(
    table: TableMap,
    type: int,  # noqa: A002 - the field's name
    rows: Iterable[Row],
    *,
    before: Iterable[int] | None = None,
    after: Iterable[int] | None = None,
    flags: int = STMT_END | USE_SQL_FOREIGN_KEY,
    extra: tuple[ExtraInfo, ...] = (),
) -> RowsBody:
    """A rows event made by hand: ``before`` and ``after`` name the included columns, all of them if left out."""
    count = len(table.columns)

    def bitmap(columns: Iterable[int] | None, exists: bool) -> int | None:
        if not exists:
            return None
        return full_bitmap(count) if columns is None else bitmap_of(columns)

    return RowsBody(
        type=type,
        table_id=table.table_id,
        flags=flags,
        extra=extra,
        column_count=count,
        before_columns=bitmap(before, type not in WRITE_TYPES),
        after_columns=bitmap(after, type not in DELETE_TYPES),
        table=table,
        rows=tuple(rows),
    )


# --- the fields in front of the rows -----------------------------------------------------------------------------------


def decode_rows_event(code: int, data: bytes, tables: dict[int, TableMap]) -> LazyRows:
    """``data`` is the body without checksum; ``tables`` the TABLE_MAPs in force, by table id."""
    extra: tuple[ExtraInfo, ...] = ()
    try:
        if code in V1_TYPES:
            low, high, flags = _HEAD.unpack_from(data)
            pos = 8
        else:
            low, high, flags, length = _HEAD_V2.unpack_from(data)
            pos = 8 + length
            if length != 2:
                extra = _decode_extra(code, data, length)
        count = data[pos]
    except (struct_error, IndexError):
        raise DecodeError("truncated", "the rows header is cut off", offset=len(data), path=("header",)) from None
    if count < 251:
        pos += 1
    else:
        cursor = Cursor(data, pos)
        count = cursor.packed("column_count")
        pos = cursor.pos
    size = (count + 7) // 8
    two = code in UPDATE_TYPES
    if pos + size * (1 + two) > len(data):
        raise DecodeError("truncated", "the columns bitmaps are cut off", offset=pos, path=("columns",))
    first: int | None = int.from_bytes(data[pos : pos + size], "little")
    pos += size
    second: int | None = None
    if two:
        second = int.from_bytes(data[pos : pos + size], "little")
        pos += size
    elif code in WRITE_TYPES:
        first, second = None, first
    table_id = low | high << 32
    return LazyRows(
        type=code,
        table_id=table_id,
        flags=flags,
        extra=extra,
        column_count=count,
        before_columns=first,
        after_columns=second,
        table=tables.get(table_id),
        data=data[pos:],
        offset=pos,
    )


def _decode_extra(code: int, data: bytes, length: int) -> tuple[ExtraInfo, ...]:
    if length < 2:
        raise DecodeError("bad-length", "the variable header counts itself", offset=8, expected=2, got=length)
    cursor = Cursor(data, 10)
    end = cursor.skip(length - 2, "extra_row_data") + length - 2
    cursor = Cursor(data, 10, end)
    extra: list[ExtraInfo] = []
    while cursor:
        kind = cursor.u1("kind")
        if kind == 0:
            size = cursor.u1("length")
            if size < 2:
                raise DecodeError("bad-length", "the length counts itself", offset=cursor.pos - 1, expected=2, got=size)
            extra.append(NdbInfo(cursor.u1("format"), cursor.take(size - 2, "data")))
        elif kind == 1:
            partition = cursor.u2("partition")
            extra.append(PartitionInfo(partition, cursor.u2("source") if code in UPDATE_TYPES else None))
        else:
            extra.append(UnknownInfo(kind, cursor.rest()))
    return tuple(extra)


def _encode_extra(info: ExtraInfo) -> bytes:
    match info:
        case PartitionInfo(partition, None):
            return b"\1" + partition.to_bytes(2, "little")
        case PartitionInfo(partition, int(source)):
            return b"\1" + partition.to_bytes(2, "little") + source.to_bytes(2, "little")
        case NdbInfo(form, data):
            return bytes((0, len(data) + 2, form)) + data
        case UnknownInfo(kind, data):
            return bytes((kind,)) + data
    raise EncodeError("bad-value", "not extra row data", got=repr(info))


def encode_head(head: RowsHead) -> bytes:
    """Everything in front of the rows; its length counts in the size rule (sheet 10.1)."""
    try:
        out = head.table_id.to_bytes(6, "little") + head.flags.to_bytes(2, "little")
        if head.type not in V1_TYPES:
            extra = b"".join(map(_encode_extra, head.extra))
            out += (len(extra) + 2).to_bytes(2, "little") + extra
        out += encode_packed(head.column_count)
        size = (head.column_count + 7) // 8
        for bitmap, exists in (
            (head.before_columns, head.type not in WRITE_TYPES),
            (head.after_columns, head.type not in DELETE_TYPES),
        ):
            if exists != (bitmap is not None):
                raise EncodeError("bad-value", "an image is missing or too many", got=head.type, path=("columns",))
            if bitmap is not None:
                out += bitmap.to_bytes(size, "little")
    except (OverflowError, ValueError) as error:
        raise EncodeError("out-of-range", f"a field of the rows header does not fit: {error}") from None
    return out


# --- reading rows ------------------------------------------------------------------------------------------------------


def _image_reader(reads: Sequence[Read], fill: list[bool]) -> ReadImage:
    count = len(reads)
    size = (count + 7) // 8
    one = size == 1

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
        for each in reads:
            if nulls & 1:
                values.append(None)
            else:
                value, pos = each(data, pos)
                values.append(value)
            nulls >>= 1
        return tuple(values), pos

    return read


class _Plan:
    """How to read the images of one (TABLE_MAP, columns bitmap) pair. Kept with the TABLE_MAP."""

    __slots__ = ("columns", "fill", "patterns", "reads", "table")

    def __init__(self, table: TableMap, bitmap: int) -> None:
        self.table = table
        self.columns = included(bitmap, len(table.columns))
        reads = []
        for index in self.columns:
            try:
                reads.append(codec(table.columns[index], unsigned=table.unsigned[index]).read)
            except CodecError as error:
                raise error.at(table.column_names[index]) from None
        self.reads = reads
        self.fill = [False]
        self.patterns: dict[int, ReadImage] = {0: _image_reader(reads, self.fill)}

    def image(self, partial: int = 0) -> ReadImage:
        """The reader for an after image with these partial bits."""
        reader = self.patterns.get(partial)
        if reader is None:
            reader = _image_reader(self.partial_reads(partial), self.fill)
            if len(self.patterns) < _MAX_CACHED_PATTERNS:
                self.patterns[partial] = reader
        return reader

    def partial_reads(self, partial: int) -> list[Read]:
        chosen = {column for j, column in enumerate(self.table.json_columns) if partial >> j & 1}
        return [
            PARTIAL_JSON.read if column in chosen else each
            for column, each in zip(self.columns, self.reads, strict=True)
        ]

    def explain(self, data: bytes, pos: int, partial: int) -> DecodeError:
        """Read a broken image again, column by column, to say what is wrong with it."""
        size = (len(self.columns) + 7) // 8
        if pos + size > len(data):
            return DecodeError("truncated", "the null bitmap is cut off", offset=pos, expected=size, path=("nulls",))
        nulls = int.from_bytes(data[pos : pos + size], "little")
        pos += size
        for place, (index, each) in enumerate(zip(self.columns, self.partial_reads(partial), strict=True)):
            if nulls >> place & 1:
                continue
            try:
                _, pos = read_value(PARTIAL_JSON._replace(read=each), data, pos)
            except DecodeError as error:
                return error.at(self.table.column_names[index])
        return DecodeError("truncated", "the image is cut off", offset=pos)


def _plan(table: TableMap, bitmap: int) -> _Plan:
    plan: _Plan | None = table.plans.get(bitmap)
    if plan is None:
        plan = _Plan(table, bitmap)
        if len(table.plans) < _MAX_CACHED_PATTERNS:
            table.plans[bitmap] = plan
    return plan


def _decode_rows(event: LazyRows, fill: list[bool]) -> Iterator[Row]:
    table = event.map()
    data = event.data
    end = len(data)
    before = None if event.before_columns is None else _plan(table, event.before_columns)
    after = None if event.after_columns is None else _plan(table, event.after_columns)
    partial = event.type == EventType.PARTIAL_UPDATE_ROWS
    number = 0
    pos = 0
    if not end and not partial and not (before and before.columns) and not (after and after.columns):
        # An INSERT that names no column, in a MINIMAL image: the row has no bytes, and there is just one.
        yield Row(None if before is None else (), None if after is None else ())
        return
    read_before = None if before is None else before.image()
    read_after = None if after is None else after.image()
    for plan in (before, after):
        if plan is not None:
            plan.fill[0] = False
    while pos < end:
        start = pos
        old: Any = None
        new: Any = None
        options: int | None = None
        bits: int | None = None
        part = "before"
        place = pos
        plan = before
        try:
            if read_before is not None:
                old, pos = read_before(data, pos)
            place, plan, part = pos, None, "shared_image"
            if partial:
                options, bits, pos = _shared_image(table, data, pos)
            place, plan, part = pos, after, "after"
            if read_after is not None:
                assert after is not None
                new, pos = (after.image(bits) if bits else read_after)(data, pos)
        except (struct_error, IndexError, DecodeError) as error:
            if plan is not None:
                cause = plan.explain(data, place, bits or 0)
            elif isinstance(error, DecodeError):
                cause = error
            else:
                cause = DecodeError("truncated", "the row is cut off", offset=place)
            raise cause.at(part).at(f"rows[{number}]", event.offset) from None
        if pos == start:
            raise DecodeError(
                "empty-row", "rows without columns take no bytes", offset=event.offset + pos, got=end - pos
            )
        yield Row(old, new, options, bits)
        number += 1
    fill[0] = any(plan is not None and plan.fill[0] for plan in (before, after))


def _shared_image(table: TableMap, data: bytes, pos: int) -> tuple[int, int | None, int]:
    """(value_options, partial bits, position after both), sheet 11.1."""
    options = data[pos]
    if options < 251:
        pos += 1
    else:
        cursor = Cursor(data, pos)
        options = cursor.packed("value_options")
        pos = cursor.pos
    if options & ~PARTIAL_JSON_OPTION:
        raise DecodeError(
            "value-options",
            "unknown value_options",
            offset=pos - 1,
            expected="0 or 1",
            got=options,
            path=("value_options",),
        )
    if not options:
        return 0, None, pos
    columns = len(table.json_columns)
    end = pos + (columns + 7) // 8
    if end > len(data):
        raise DecodeError("truncated", "the partial bits are cut off", offset=pos, path=("partial_columns",))
    # Unused high bits are ignored by the server too.
    return options, int.from_bytes(data[pos:end], "little") & ((1 << columns) - 1), end


# --- writing rows ------------------------------------------------------------------------------------------------------


class _RowWriter:
    def __init__(self, event: RowsBody) -> None:
        table = event.map()
        self.table = table
        self.partial = event.type == EventType.PARTIAL_UPDATE_ROWS
        self.fill = event.null_fill
        self.before = self.columns(event.before_columns)
        self.after = self.columns(event.after_columns)

    def columns(self, bitmap: int | None) -> tuple[tuple[int, Codec], ...] | None:
        """Index and codec of each included column."""
        if bitmap is None:
            return None
        table = self.table
        return tuple(
            [(i, codec(table.columns[i], unsigned=table.unsigned[i])) for i in included(bitmap, len(table.columns))]
        )

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
        place = {column: j for j, column in enumerate(json)}
        found = 0
        for (column, _), value in zip(self.after or (), row.after or (), strict=False):
            if isinstance(value, PartialJson) and column in place:
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
        return encode_packed(options) + bits.to_bytes((len(json) + 7) // 8, "little"), chosen

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
        size = (len(columns) + 7) // 8
        nulls = -1 << len(columns) & (1 << 8 * size) - 1 if self.fill else 0
        parts = []
        for place, ((index, normal), value) in enumerate(zip(columns, values, strict=True)):
            if value is None:
                nulls |= 1 << place
                continue
            try:
                # Diffs without their partial bit, or the other way round, are a wrong type for the codec.
                parts.append(write_value(PARTIAL_JSON if index in chosen else normal, value))
            except CodecError as error:
                raise error.at(self.table.column_names[index]).at(what) from None
        return nulls.to_bytes(size, "little") + b"".join(parts)


def fixed_size(event: RowsHead) -> int:
    """The part of an event's size that the limit counts beside the rows: neither header nor checksum (sheet 10.1)."""
    bitmap = (event.column_count + 7) // 8
    bitmaps = bitmap * (2 if event.type in UPDATE_TYPES else 1)
    post_header = 8 if event.type in V1_TYPES else 10
    return (
        post_header + sum(len(_encode_extra(info)) for info in event.extra) + packed_size(event.column_count) + bitmaps
    )


def split_rows(event: RowsBody, limit: int = 8192) -> list[RowsBody]:
    """The events that a server with this ``binlog_row_event_max_size`` makes of the rows. Only the last one keeps
    STMT_END; a row above the limit is alone in its event."""
    base = fixed_size(event)
    groups: list[list[Row]] = [[]]
    size = base
    for row, encoded in zip(event.rows, event.encoded_rows(), strict=True):
        if groups[-1] and size + len(encoded) > limit:
            groups.append([])
            size = base
        groups[-1].append(row)
        size += len(encoded)
    last = len(groups) - 1
    return [
        replace(event, rows=tuple(rows), flags=event.flags if index == last else event.flags & ~STMT_END)
        for index, rows in enumerate(groups)
    ]
