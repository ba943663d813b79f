"""Row events: WRITE, UPDATE, DELETE and PARTIAL_UPDATE (binlog-events 10, binlog-events 11).

Reading a file yields :class:`LazyRows`: the event's own fields, the rows as bytes, and the TABLE_MAP that describes
them. :meth:`LazyRows.rows` decodes the rows one by one. :meth:`LazyRows.typed` makes a :class:`RowsBody`, which can be
encoded.

A row is (before image, after image); an image is a tuple of the values of the *included* columns, in column order.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import eq
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, TypeAlias, overload

from conformance.reference.binlog.header import HEADER_SIZE
from conformance.reference.binlog.images import PARTIAL_JSON_OPTION, Image, Row, RowWriter, decode_rows, read_row
from conformance.reference.binlog.mariadb.compression import compressed, uncompressed
from conformance.reference.cursor import Cursor, Layout, bitmap_size, encode_packed, included, packed_size
from conformance.reference.errors import CodecError, DecodeError, EncodeError
from conformance.reference.event_types import EventType, MariadbEventType, event_name
from conformance.reference.portable import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, MutableSequence

    from conformance.reference.tables.table_map import TableMap

__all__ = [
    "COMPLETE_ROWS",
    "COMPRESSED_TYPES",
    "DELETE_TYPES",
    "EXTRA_KINDS",
    "NO_FOREIGN_KEY_CHECKS",
    "NO_UNIQUE_CHECKS",
    "PARTIAL_JSON_OPTION",
    "ROWS_FLAGS",
    "ROWS_TYPES",
    "STMT_END",
    "UPDATE_TYPES",
    "USE_SQL_FOREIGN_KEY",
    "V1_TYPES",
    "WRITE_TYPES",
    "ExtraInfo",
    "Image",
    "LazyRows",
    "NdbInfo",
    "PartitionInfo",
    "Row",
    "RowsBody",
    "RowsHead",
    "TinyRows",
    "UnknownInfo",
    "bitmap_of",
    "decode_rows_event",
    "encode_head",
    "fixed_size",
    "full_bitmap",
    "included",
    "one_statement",
    "read_rows_event",
    "rows_body",
    "split_rows",
]

# Flags of a rows event.
STMT_END: Final = 0x0001
NO_FOREIGN_KEY_CHECKS: Final = 0x0002
NO_UNIQUE_CHECKS: Final = 0x0004
COMPLETE_ROWS: Final = 0x0008
USE_SQL_FOREIGN_KEY: Final = 0x0010
ROWS_FLAGS: Final = (
    (STMT_END, "STMT_END"),
    (NO_FOREIGN_KEY_CHECKS, "NO_FOREIGN_KEY_CHECKS"),
    (NO_UNIQUE_CHECKS, "NO_UNIQUE_CHECKS"),
    (COMPLETE_ROWS, "COMPLETE_ROWS"),
    (USE_SQL_FOREIGN_KEY, "USE_SQL_FOREIGN_KEY"),
)

# Version 1: without extra data, and with a post-header of 8 bytes (binlog-events 10.0).
V1_TYPES: Final = frozenset((EventType.WRITE_ROWS_V1, EventType.UPDATE_ROWS_V1, EventType.DELETE_ROWS_V1))
# MariaDB's compressed forms, and the types of what is inside.
COMPRESSED_TYPES: Final[dict[int, EventType]] = {
    MariadbEventType.WRITE_ROWS_COMPRESSED_V1: EventType.WRITE_ROWS_V1,
    MariadbEventType.UPDATE_ROWS_COMPRESSED_V1: EventType.UPDATE_ROWS_V1,
    MariadbEventType.DELETE_ROWS_COMPRESSED_V1: EventType.DELETE_ROWS_V1,
    MariadbEventType.WRITE_ROWS_COMPRESSED: EventType.WRITE_ROWS,
    MariadbEventType.UPDATE_ROWS_COMPRESSED: EventType.UPDATE_ROWS,
    MariadbEventType.DELETE_ROWS_COMPRESSED: EventType.DELETE_ROWS,
}


def _with_compressed(*plain: EventType) -> frozenset[int]:
    return frozenset((*plain, *(code for code, inside in COMPRESSED_TYPES.items() if inside in plain)))


WRITE_TYPES: Final = _with_compressed(EventType.WRITE_ROWS, EventType.WRITE_ROWS_V1)
DELETE_TYPES: Final = _with_compressed(EventType.DELETE_ROWS, EventType.DELETE_ROWS_V1)
UPDATE_TYPES: Final = _with_compressed(EventType.UPDATE_ROWS, EventType.UPDATE_ROWS_V1, EventType.PARTIAL_UPDATE_ROWS)
ROWS_TYPES: Final = WRITE_TYPES | DELETE_TYPES | UPDATE_TYPES
_SHORT_HEADS: Final = _with_compressed(*V1_TYPES)

_HEAD_V1: Final = Layout(table_id="6s", flags="H")
_HEAD: Final = Layout(**_HEAD_V1.forms, extra_length="H")


_NDB: Final = 0
_PARTITION: Final = 1
EXTRA_KINDS: Final = {_NDB: "NDB", _PARTITION: "partition"}


class PartitionInfo(NamedTuple):
    """The partition of the rows: for updates, the new partition and the old one."""

    partition: int
    source: int | None = None


class NdbInfo(NamedTuple):
    format: int
    data: bytes


class UnknownInfo(NamedTuple):
    """Extra row data of an undocumented kind. Its length is unknown, so it takes all bytes left."""

    kind: int
    data: bytes


ExtraInfo: TypeAlias = "PartitionInfo | NdbInfo | UnknownInfo"


def bitmap_of(columns: Iterable[int]) -> int:
    """A columns bitmap with unused bits 0, as 9.7 writes it for MINIMAL images."""
    return sum({1 << index for index in columns})


def full_bitmap(count: int) -> int:
    """A columns bitmap of all columns with unused bits 1, as 9.7 writes it for FULL images."""
    return (1 << 8 * (bitmap_size(count))) - 1


def image_bitmap(columns: Iterable[int] | None, count: int) -> int:
    """The columns bitmap of an image: of the given columns, or (``None``) of all ``count`` columns of the table."""
    return full_bitmap(count) if columns is None else bitmap_of(columns)


class RowsHead:
    """The fields in front of the rows, which lazy and typed rows share.

    A columns bitmap is the stored number with its unused high bits; ``None``: the event has no such image. ``table`` is
    the TABLE_MAP in force. Without a TABLE_MAP (a damaged or cut log) only these fields can be read.
    """

    __slots__ = ()

    type: int
    table_id: int
    flags: int
    extra: tuple[ExtraInfo, ...]
    column_count: int
    before_columns: int | None
    after_columns: int | None
    table: TableMap | None

    @property
    def statement_end(self) -> bool:
        return bool(self.flags & STMT_END)

    def map(self) -> TableMap:
        """The TABLE_MAP, checked against this event."""
        return table_map_of(self)


def table_map_of(head: RowsHead) -> TableMap:
    """As :meth:`RowsHead.map`; without a look-up of the method in the compiled build."""
    table = head.table
    if table is None:
        raise DecodeError("no-table-map", "no TABLE_MAP for these rows", got=head.table_id)
    if len(table.columns) != head.column_count:
        raise DecodeError(
            "column-count",
            "TABLE_MAP has another number of columns",
            expected=len(table.columns),
            got=head.column_count,
        )
    return table


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsBody(RowsHead):
    """A fully typed rows event. ``null_fill``: unused bits of null bitmaps are 1, as servers before 8.0 write them
    (versions 5.5)."""

    default_flags: ClassVar[int] = 0

    type: int
    table_id: int
    flags: int = STMT_END | USE_SQL_FOREIGN_KEY
    extra: tuple[ExtraInfo, ...] = ()
    column_count: int
    before_columns: int | None = None
    after_columns: int | None = None
    table: TableMap | None = field(default=None, compare=False, repr=False)
    rows: tuple[Row, ...] | TinyRows
    null_fill: bool = False

    def encode(self) -> bytes:
        rows = b"".join(self.encoded_rows())
        return encode_head(self) + (compressed(rows) if self.type in COMPRESSED_TYPES else rows)

    def encoded_rows(self) -> list[bytes]:
        """The bytes of each row; the size rule of :func:`split_rows` adds them up."""
        writer = RowWriter(
            self.map(),
            self.before_columns,
            self.after_columns,
            partial=self.type == EventType.PARTIAL_UPDATE_ROWS,
            fill=self.null_fill,
        )
        encoded = []
        for index, row in enumerate(self.rows):
            try:
                encoded.append(writer.encode(row))
            except CodecError as error:
                raise error.at(f"rows[{index}]") from None
        return encoded


@dataclass(slots=True)
class LazyRows(RowsHead):
    """A rows event before its rows are decoded. ``data`` holds their bytes, ``offset`` is their position in the body.

    In an event larger than a reader's window, ``data`` is a view of the event, without a copy. The class is not frozen
    and takes arguments by position, because every row event of a file needs one.
    """

    type: int
    table_id: int
    flags: int
    extra: tuple[ExtraInfo, ...]
    column_count: int
    before_columns: int | None
    after_columns: int | None
    table: TableMap | None = field(repr=False)
    data: bytes | memoryview = field(repr=False)
    offset: int

    def rows(self, starts: MutableSequence[int] | None = None) -> Iterator[Row]:
        """The rows one by one: an event of any size needs the memory of one row. ``starts`` receives the start of each
        row in ``data`` before the row is read.
        """
        return _decoded(self, [False], starts)

    def read_with(self, cursor: Cursor) -> None:
        """Read the rows field by field, for recorders. Without a fitting TABLE_MAP the rows stay bytes."""
        table = self.table
        if table is None or len(table.columns) != self.column_count or self.type in COMPRESSED_TYPES:
            cursor.rest("rows")
            return
        for _ in cursor.items("rows"):
            start = cursor.pos
            read_row(cursor, self.type, table, self.before_columns, self.after_columns)
            if cursor.pos == start:
                raise DecodeError("empty-row", "rows without columns take no bytes", offset=start)

    def typed(self) -> RowsBody:
        fill = [False]
        rows = self._kept(fill)
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

    def _kept(self, fill: list[bool]) -> tuple[Row, ...] | TinyRows:
        starts = array("Q")
        reading = _decoded(self, fill, starts)
        kept: list[Row] | None = []
        while chunk := list(islice(reading, _CHUNK)):
            if kept is not None:
                kept += chunk
                if len(chunk) == _CHUNK and starts[-1] < _TINY * (len(starts) - 1):
                    kept = None
        return TinyRows(replace(self), starts) if kept is None else tuple(kept)


def _decoded(event: LazyRows, fill: list[bool], starts: MutableSequence[int] | None) -> Iterator[Row]:
    try:
        table = table_map_of(event)
    except CodecError as error:
        raise error.at(event_name(event.type), HEADER_SIZE) from None
    return decode_rows(
        event.type, table, event.data, event.offset, event.before_columns, event.after_columns, fill, starts
    )


_CHUNK: Final = 1024  # rows
_TINY: Final = 5  # bytes of a row; one of five bytes takes 36 times as much as tuples


class TinyRows(Sequence[Row]):
    """Thousands of rows of a few bytes each, decoded again at each access: tuples would take up to a hundred times
    their bytes.

    Otherwise this class works like the tuple of these rows. The rows were decoded once before, so none is damaged.
    """

    __slots__ = ("_event", "_starts")

    def __init__(self, event: LazyRows, starts: array[int]) -> None:
        self._event = event
        self._starts = starts

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[Row]:
        return self._event.rows()

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, index: int | slice) -> Row | tuple[Row, ...]:
        if isinstance(index, slice):
            return tuple([self[place] for place in range(*index.indices(len(self)))])
        place = range(len(self))[index]
        data, starts = self._event.data, self._starts
        end = starts[place + 1] if place + 1 < len(starts) else len(data)
        (row,) = replace(self._event, data=data[starts[place] : end]).rows()
        return row

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (tuple, TinyRows)):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"<{len(self)} rows in {len(self._event.data)} bytes>"


def rows_body(
    table: TableMap,
    type: int,  # noqa: A002 - the name that every body has for it
    rows: Iterable[Row],
    *,
    before: Iterable[int] | None = None,
    after: Iterable[int] | None = None,
    flags: int = STMT_END | USE_SQL_FOREIGN_KEY,
    extra: tuple[ExtraInfo, ...] = (),
) -> RowsBody:
    """A rows event made by hand. ``before`` and ``after`` name the included columns; all columns if omitted."""
    count = len(table.columns)
    return RowsBody(
        type=type,
        table_id=table.table_id,
        flags=flags,
        extra=extra,
        column_count=count,
        before_columns=None if type in WRITE_TYPES else image_bitmap(before, count),
        after_columns=None if type in DELETE_TYPES else image_bitmap(after, count),
        table=table,
        rows=tuple(rows),
    )


# --- the fields in front of the rows ---------------------------------------------------------------------------------


def decode_rows_event(code: int, data: bytes | memoryview, tables: dict[int, TableMap]) -> LazyRows:
    """``data`` is the body without checksum; ``tables`` the TABLE_MAPs in force, by table id."""
    return read_rows_event(code, Cursor(data), tables)


def read_rows_event(code: int, cursor: Cursor, tables: Mapping[int, TableMap]) -> LazyRows:
    """The fields in front of the rows; the cursor stays at the first row."""
    extra: tuple[ExtraInfo, ...] = ()
    if code in _SHORT_HEADS:
        number, flags = cursor.fields(_HEAD_V1, "header")
    else:
        number, flags, length = cursor.fields(_HEAD, "header")
        if length != 2:
            extra = _read_extra(code, cursor, length)
    count = cursor.packed("column_count")
    before = after = None
    if code not in WRITE_TYPES:
        before = int.from_bytes(cursor.bitmap(count, "before_columns"), "little")
    if code not in DELETE_TYPES:
        after = int.from_bytes(cursor.bitmap(count, "after_columns"), "little")
    table_id = int.from_bytes(number, "little")
    rows = cursor.data[cursor.pos : cursor.end]
    if code in COMPRESSED_TYPES:
        rows = _unfolded(rows, cursor.pos)
    return LazyRows(code, table_id, flags, extra, count, before, after, tables.get(table_id), rows, cursor.pos)


def _unfolded(part: bytes | memoryview, start: int) -> bytes:
    try:
        return uncompressed(part)
    except CodecError as error:
        raise error.at("rows", start) from None


def _read_extra(code: int, cursor: Cursor, length: int) -> tuple[ExtraInfo, ...]:
    if length < 2:
        raise DecodeError(
            "bad-length", "the variable header counts itself", offset=cursor.pos - 2, expected=2, got=length
        )
    part = cursor.part(length - 2, "extra_row_data")
    extra: list[ExtraInfo] = []
    while part:
        kind = part.u1("extra_kind")
        if kind == _NDB:
            size = part.data[part.pos] if part else 0
            if size < 2:
                raise DecodeError("bad-length", "the length counts itself", offset=part.pos, expected=2, got=size)
            raw = bytes(part.take(size, "extra_data"))
            extra.append(NdbInfo(raw[1], raw[2:]))
        elif kind == _PARTITION:
            partition = part.u2("partition")
            extra.append(PartitionInfo(partition, part.u2("source_partition") if code in UPDATE_TYPES else None))
        else:
            extra.append(UnknownInfo(kind, bytes(part.rest("extra_data"))))
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
    raise EncodeError("bad-value", "not extra row data", got=shown(info))


def encode_head(head: RowsHead) -> bytes:
    """The bytes in front of the rows; their length counts in the size rule (binlog-events 10.1)."""
    try:
        out = head.table_id.to_bytes(6, "little") + head.flags.to_bytes(2, "little")
        if head.type not in _SHORT_HEADS:
            extra = b"".join(map(_encode_extra, head.extra))
            out += (len(extra) + 2).to_bytes(2, "little") + extra
        out += encode_packed(head.column_count)
        size = bitmap_size(head.column_count)
        for bitmap, exists in (
            (head.before_columns, head.type not in WRITE_TYPES),
            (head.after_columns, head.type not in DELETE_TYPES),
        ):
            if exists != (bitmap is not None):
                raise EncodeError("bad-value", "an image is missing or too many", got=head.type, path=("columns",))
            if bitmap is not None:
                out += bitmap.to_bytes(size, "little")
    except (OverflowError, ValueError):
        raise EncodeError("out-of-range", "a field of the rows header does not fit") from None
    return out


def fixed_size(event: RowsHead) -> int:
    """The bytes of an event that the size limit counts beside the rows: neither header nor checksum
    (binlog-events 10.1).
    """
    bitmap = bitmap_size(event.column_count)
    bitmaps = bitmap * (2 if event.type in UPDATE_TYPES else 1)
    post_header = 8 if event.type in _SHORT_HEADS else 10
    return (
        post_header + sum(len(_encode_extra(info)) for info in event.extra) + packed_size(event.column_count) + bitmaps
    )


def one_statement(events: Iterable[RowsBody]) -> list[RowsBody]:
    """The events that one statement writes after one TABLE_MAP: only the last keeps STMT_END."""
    found = list(events)
    return [*(replace(event, flags=event.flags & ~STMT_END) for event in found[:-1]), *found[-1:]]


def split_rows(event: RowsBody, limit: int = 8192) -> list[RowsBody]:
    """The events into which a server with this ``binlog_row_event_max_size`` splits the rows.

    Only the last event keeps STMT_END. A row above the limit has an event of its own.
    """
    if len(event.rows) == 1:
        return [event]
    base = fixed_size(event)
    groups: list[list[Row]] = [[]]
    size = base
    for row, encoded in zip(event.rows, event.encoded_rows(), strict=True):
        if groups[-1] and size + len(encoded) > limit:
            groups.append([])
            size = base
        groups[-1].append(row)
        size += len(encoded)
    return one_statement(replace(event, rows=tuple(rows)) for rows in groups)
