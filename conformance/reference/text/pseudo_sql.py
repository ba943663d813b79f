"""Row events as pseudo-SQL: the ``###`` lines of ``mysqlbinlog -v`` and ``-vv`` (mysqlbinlog-output 3,
mysqlbinlog-output 4).

Damage inside an event is printed in the words of mysqlbinlog, as far as it prints any. Then the error is raised: the
text must not pass for complete.
"""

from __future__ import annotations

from array import array
from collections import deque
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.images import MAX_PLANS, PARTIAL_JSON_OPTION, image_columns
from conformance.reference.binlog.rows import DELETE_TYPES, WRITE_TYPES, LazyRows, NdbInfo, PartitionInfo, table_map_of
from conformance.reference.cursor import Cursor, bitmap_size, included
from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.event_types import EventType
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.columns import PARTIAL_JSON, codec, read_value
from conformance.reference.text.mariadb_values import mariadb_text
from conformance.reference.text.pseudo_json import Damaged
from conformance.reference.text.pseudo_values import ColumnText, column_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.reference.binlog.rows import Image, Row, RowsBody
    from conformance.reference.tables.table_map import TableMap

_CORRUPT: Final = b"***Corrupted replication event was detected: %b. Not printing the value***\n"


def row_lines(event: LazyRows | RowsBody, *, types: bool = False, complete: bool = True) -> Iterator[bytes]:
    """The lines of an event, one text for each row. ``types``: with the comments of ``-vv``.

    ``complete``: a missing TABLE_MAP is an error.
    """
    if event.extra:
        yield from _extra(event)
    if event.table is None:
        yield b"### Row event for unknown table #%d" % event.table_id  # and no newline, as the client has it
        if complete:
            event.map()
        return
    layout = _layout(event, table_map_of(event), types)
    failures: list[CodecError] = []
    number = 0
    try:
        for row in event.rows() if isinstance(event, LazyRows) else event.rows:
            text, goes_on = layout.row(row, failures)
            yield text
            if not goes_on:
                break
            number += 1
    except DecodeError:
        if isinstance(event, LazyRows):
            yield _cut_off(event, _start(event, number), layout)
        raise
    if failures:
        raise failures[0]


def _extra(event: LazyRows | RowsBody) -> Iterator[bytes]:
    for info in event.extra:
        if isinstance(info, PartitionInfo):
            text = b"partition: %d" % info.partition
            if info.source is not None:
                text = b"source_partition: %d target_partition: %d" % (info.source, info.partition)
            yield b"### Extra row info for partitioning: %b\n" % text
        elif isinstance(info, NdbInfo):
            what = (info.format, len(info.data), info.data.hex().upper().encode())
            yield b"### Extra row ndb info: data_format: %d, len: %d, data: 0x%b\n" % what


def quoted_name(name: str) -> bytes:
    """An identifier in backticks, in the bytes of the log."""
    return quote_identifier(name).encode("utf-8", "surrogateescape")


def _layout(event: LazyRows | RowsBody, table: TableMap, types: bool) -> _Layout:
    """The layout of an event, kept with its TABLE_MAP."""
    key = ("pseudo_sql", event.type, event.before_columns, event.after_columns, types)
    known: _Layout | None = table.plans.get(key)
    if known is None:
        known = _Layout(event, table, types=types)
        if len(table.plans) < MAX_PLANS:
            table.plans[key] = known
    return known


_WHERE: Final = b"### WHERE\n"
_SET: Final = b"### SET\n"


class _Column:
    """A column of an image: what stands in front of a value and behind it, and the whole line of NULL."""

    __slots__ = ("head", "null", "number", "show", "tail")

    def __init__(self, number: int, text: ColumnText, *, types: bool) -> None:
        self.number = number
        self.show = text.show
        self.head = b"###   @%d=" % number
        self.tail = text.comment + b"0 */\n" if types else b"\n"
        self.null = self.head + b"NULL" + (text.comment + b"1 */\n" if types else b"\n")


class _Layout:
    """The facts that all rows of an event share."""

    __slots__ = ("after", "before", "head")

    def __init__(self, event: LazyRows | RowsBody, table: TableMap, *, types: bool) -> None:
        columns = _columns(table)
        name = quoted_name(table.schema) + b"." + quoted_name(table.table)
        self.before = _chosen(columns, event.before_columns, types=types)
        self.after = _chosen(columns, event.after_columns, types=types)
        if event.type in WRITE_TYPES:
            self.head = b"### INSERT INTO " + name
        elif event.type in DELETE_TYPES:
            self.head = b"### DELETE FROM " + name
        else:
            self.head = b"### UPDATE " + name

    def row(self, row: Row, failures: list[CodecError]) -> tuple[bytes, bool]:
        """The text of a row, and whether mysqlbinlog continues with the next row."""
        if row.before is None and not row.after:
            return self.head + b" VALUES ()\n", True
        parts = [self.head, b"\n"]
        goes_on = True
        if row.before is not None:
            parts.append(_WHERE)
            goes_on = self._image(row.before, self.before, parts, failures)
        if row.after is not None and goes_on:
            parts.append(_SET)
            goes_on = self._image(row.after, self.after, parts, failures)
        return b"".join(parts), goes_on

    def _image(self, image: Image, columns: Sequence[_Column], parts: list[bytes], failures: list[CodecError]) -> bool:
        for place, column in enumerate(columns):
            value = image[place]
            if value is None:
                parts.append(column.null)
                continue
            parts.append(column.head)
            try:
                parts.append(column.show(value))
            except Damaged as damaged:
                if not failures:  # the first one is reported; each holds the frames it came through
                    failures.append(damaged.cause.at(f"@{column.number}"))
                parts.append(damaged.text)
                if not damaged.goes_on:
                    return False
            parts.append(column.tail)
        return True


def _columns(table: TableMap) -> tuple[ColumnText, ...]:
    """The printers of a table's columns, kept with its TABLE_MAP."""
    known: tuple[ColumnText, ...] | None = table.plans.get("pseudo_sql")
    if known is None:
        text = mariadb_text if table.rules.mariadb else column_text
        known = tuple([text(info, number) for number, info in enumerate(table.described, 1)])
        table.plans["pseudo_sql"] = known
    return known


def _chosen(columns: Sequence[ColumnText], bitmap: int | None, *, types: bool) -> tuple[_Column, ...]:
    if bitmap is None:
        return ()
    return tuple([_Column(index + 1, columns[index], types=types) for index in included(bitmap, len(columns))])


# --- rows that break off ---------------------------------------------------------------------------------------------


def _start(event: LazyRows, number: int) -> int:
    """Where the row of this number begins. It may be damaged; the rows before it are not."""
    starts = array("Q")
    with suppress(DecodeError):
        deque(islice(event.rows(starts), number + 1), maxlen=0)
    return starts[number] if number < len(starts) else 0


def _cut_off(event: LazyRows, start: int, layout: _Layout) -> bytes:
    """The text that mysqlbinlog prints for the row at ``start``, which cannot be read to its end (observed)."""
    table = event.map()
    partial = event.type == EventType.PARTIAL_UPDATE_ROWS
    cursor = Cursor(bytes(event.data), start)
    out = bytearray(layout.head + b"\n")
    if event.before_columns is not None and not _broken_image(
        table, cursor, (event.before_columns, layout.before, _WHERE), 0, out
    ):
        return bytes(out)
    if event.after_columns is None:
        return bytes(out)
    bits = 0
    if (
        partial
    ):  # the fields of images.read_shared_image; mysqlbinlog has words of its own for each, and goes on behind some
        try:
            options = cursor.packed("value_options")
        except DecodeError:
            return bytes(out) + b"*** Error reading binlog_row_value_options from Partial_update_rows_log_event\n"
        size = bitmap_size(len(table.json_columns))
        if options & PARTIAL_JSON_OPTION:
            if size > len(cursor):
                out += _CORRUPT % (
                    b"partial update bitmap size is set to %d, but there are only %d bytes left of the event"
                    % (size, len(cursor))
                )
                return bytes(out)
            bits = int.from_bytes(cursor.take(size, "partial_columns"), "little")
    _broken_image(table, cursor, (event.after_columns, layout.after, _SET), bits, out)
    return bytes(out)


def _broken_image(
    table: TableMap,
    cursor: Cursor,
    which: tuple[int, Sequence[_Column], bytes],
    bits: int,
    out: bytearray,
) -> bool:
    """Print an image up to its damage; returns whether it was whole."""
    bitmap, texts, head = which
    size = bitmap_size(len(texts))
    if size > len(cursor):
        out += _CORRUPT % (
            b"NULL bitmap size is set to %d, but there are only %d bytes left of the event" % (size, len(cursor))
        )
        return False
    out += head
    for (index, null, diffs), text in zip(image_columns(cursor, table, bitmap, bits), texts, strict=True):
        part = PARTIAL_JSON if diffs else codec(table.columns[index])
        if null:
            out += text.null
            continue
        try:
            value, cursor.pos = read_value(part, cursor.data, cursor.pos)
            shown = text.show(value)
        except DecodeError:
            shown = _CORRUPT % (b"field data is truncated; there are only %d bytes left of the event" % len(cursor))
            out += text.head + shown
            return False
        except Damaged as damaged:
            shown = damaged.text
            if not damaged.goes_on:
                out += text.head + shown
                return False
        out += text.head + shown + text.tail
    return True
