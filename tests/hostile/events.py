"""Events of every family made to hurt."""

from __future__ import annotations

from functools import partial
from struct import pack
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.event import decode_body
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.cursor import encode_packed
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import BLOB, JSON, LONG, SHORT, TINY, VARCHAR, ColumnType
from conformance.reference.tables.metadata import MAX_COLUMNS
from conformance.reference.tables.table_map import TableMap
from tests.hostile.shape import HUGE, Shape

if TYPE_CHECKING:
    from collections.abc import Callable


_TABLE: Final = TableMap(
    table_id=0,
    schema="a",
    table="b",
    columns=(ColumnType(TINY), ColumnType(VARCHAR, 1000), ColumnType(BLOB, 4), ColumnType(JSON, 4)),
    nullable=(True,) * 4,
)


def _body(code: int, table: TableMap | None = None) -> Callable[[bytes], object]:
    """The event is read, and of its rows each one; nothing is kept."""

    def read(data: bytes) -> object:
        body = decode_body(code, data, {} if table is None else {0: table})
        if isinstance(body, LazyRows):
            for _ in body.rows():
                pass
        return body

    return read


def _one_column(kind: int) -> TableMap:
    return TableMap(table_id=0, schema="a", table="b", columns=(ColumnType(kind),), nullable=(True,))


_NARROW: Final = _one_column(TINY)
_SHORT: Final = _one_column(SHORT)
_INTEGER: Final = _one_column(LONG)


def _rows(row: bytes, size: int) -> bytes:
    """The same row again and again, in a table of one column."""
    return _ROWS + b"\1\1" + row * (size // len(row))


def _typed(table: TableMap) -> Callable[[bytes], object]:
    def read(data: bytes) -> object:
        body = decode_body(EventType.WRITE_ROWS, data, {0: table})
        assert isinstance(body, LazyRows)
        return body.typed()

    return read


def _lie(code: int, name: str, head: bytes, fill: bytes = b"\0", table: TableMap | None = None) -> Shape:
    family = EventType(code).name
    return Shape(family, name, lambda size: head + fill * (size // len(fill)), _body(code, table))


def _table_map(columns: bytes, details: bytes = b"", metadata: bytes = b"") -> bytes:
    count = len(columns)
    return b"".join((
        bytes(6), b"\1\0", b"\1a\0", b"\1b\0", encode_packed(count), columns, encode_packed(len(details)), details,
        bytes((count + 7) // 8), metadata,
    ))  # fmt: skip


def _described(data: bytes) -> object:
    table = decode_body(EventType.TABLE_MAP, data, {})
    assert isinstance(table, TableMap)
    return table.described, table.column_names


def _field(number: int, data: bytes) -> bytes:
    return bytes((number,)) + encode_packed(len(data)) + data


_ROWS: Final = bytes(6) + b"\1\0\2\0"  # table id, flags, no extra data
_ALL: Final = b"\x04\x0f"  # four columns, all of them included
_GTID_HEAD: Final = bytes(17)

EVENTS: Final[list[Shape]] = [
    _lie(EventType.QUERY, "status of 65535 bytes", pack("<IIBHH", 1, 1, 255, 0, 0xFFFF)),
    _lie(EventType.QUERY, "253 databases without an end", pack("<IIBHH", 1, 1, 0, 0, 500) + b"\x0c\xfd", b"x"),
    _lie(EventType.USER_VAR, "a name of 2^32-1 bytes", b"\xff" * 4),
    _lie(EventType.USER_VAR, "a value of 2^32-1 bytes", bytes(5) + b"\0" + bytes(4) + b"\xff" * 4),
    _lie(EventType.INCIDENT, "bytes behind the message", b"\1\0\0"),
    _lie(EventType.XA_PREPARE, "parts of 2^31 bytes", b"\0" + pack("<III", 1, 1 << 31, 1 << 31)),
    _lie(EventType.HEARTBEAT_V2, "a field of 2^64-1 bytes", b"\1" + HUGE),
    _lie(EventType.HEARTBEAT_V2, "unknown fields", b"", b"\x09\0"),
    _lie(EventType.FORMAT_DESCRIPTION, "a long table of post-headers", pack("<H50sIB", 4, b"9.7.4", 0, 19)),
    _lie(
        EventType.GTID,
        "bytes behind the ticket",
        _GTID_HEAD + bytes(8) + b"\2" + bytes(16) + bytes(7) + b"\0" + bytes(4) + bytes(8),
    ),
    _lie(EventType.GTID_TAGGED, "a message of 2^64-1 bytes", b"\2" + b"\xff" * 9),
    _lie(EventType.PREVIOUS_GTIDS, "2^40 entries", pack("<Q", 1 << 40)),
    _lie(EventType.PREVIOUS_GTIDS, "2^63 intervals", pack("<Q", 1) + bytes(16) + pack("<Q", 1 << 63)),
    _lie(EventType.PREVIOUS_GTIDS, "entries without intervals", pack("<Q", 1 << 10), bytes(24)),
    _lie(EventType.TRANSACTION_CONTEXT, "2^33 items", pack("<BIBIII", 0, 0, 0, 0, 0xFFFFFFFF, 0xFFFFFFFF)),
    _lie(EventType.VIEW_CHANGE, "2^32-1 items", pack("<40sQI", b"", 0, 0xFFFFFFFF)),
    _lie(EventType.EXECUTE_LOAD_QUERY, "status of 65535 bytes", pack("<IIBHHIIIB", 1, 1, 255, 0, 0xFFFF, 0, 0, 0, 0)),
    _lie(EventType.BEGIN_LOAD_QUERY, "a block", bytes(4)),
    _lie(EventType.TABLE_MAP, "2^64-1 columns", bytes(8) + b"\1a\0\1b\0" + HUGE, b"\1"),
    _lie(EventType.TABLE_MAP, "a name of 2^64-1 bytes", bytes(8) + HUGE),
    _lie(EventType.TABLE_MAP, "column metadata of 2^64-1 bytes", bytes(8) + b"\1a\0\1b\0\1\1" + HUGE),
    _lie(EventType.TABLE_MAP, "a metadata field of 2^64-1 bytes", _table_map(b"\1") + b"\4" + HUGE),
    Shape(
        "TABLE_MAP", "columns", lambda size: _table_map(b"\1" * min(size, MAX_COLUMNS - 1)), _body(EventType.TABLE_MAP)
    ),
    Shape(
        "TABLE_MAP",
        "as many columns as a table can have, described",
        lambda size: _table_map(b"\1" * min(size, MAX_COLUMNS)),
        _described,
        280,
        "an attribute tuple and a name for each byte: together one megabyte at most",
    ),
    Shape("TABLE_MAP", "columns, described", lambda size: _table_map(b"\1" * (MAX_COLUMNS + size)), _described),
    Shape(
        "TABLE_MAP",
        "empty names",
        lambda size: _table_map(b"\1", b"", _field(4, bytes(size))),
        _body(EventType.TABLE_MAP),
    ),
    Shape(
        "TABLE_MAP",
        "2^64-1 members of a SET",
        lambda size: _table_map(b"\xfe", b"\xf8\1", _field(5, HUGE + bytes(size))),
        _body(EventType.TABLE_MAP),
    ),
    Shape(
        "TABLE_MAP",
        "empty members of a SET",
        lambda size: _table_map(b"\xfe", b"\xf8\1", _field(5, encode_packed(size) + bytes(size))),
        _body(EventType.TABLE_MAP),
    ),
    Shape(
        "TABLE_MAP",
        "lists of no members",
        lambda size: _table_map(b"\xfe", b"\xf8\1", _field(6, bytes(size))),
        _body(EventType.TABLE_MAP),
    ),
    Shape(
        "TABLE_MAP",
        "exceptions of a character set",
        lambda size: _table_map(b"\1", b"", _field(2, bytes(1 + size // 2 * 2))),
        _body(EventType.TABLE_MAP),
    ),
    Shape(
        "TABLE_MAP",
        "unknown fields",
        lambda size: _table_map(b"\1", b"", b"\xc8\0" * (size // 2)),
        _body(EventType.TABLE_MAP),
    ),
    _lie(EventType.WRITE_ROWS, "2^64-1 columns", _ROWS + HUGE),
    _lie(EventType.WRITE_ROWS, "a bitmap over the end", _ROWS + b"\xfd\xff\xff\xff"),
    _lie(EventType.UPDATE_ROWS, "bitmaps over the end", _ROWS + b"\xfd\xff\xff\xff"),
    _lie(EventType.WRITE_ROWS, "extra data of 65535 bytes", bytes(8) + b"\xff\xff"),
    _lie(EventType.WRITE_ROWS, "a bitmap of columns that the table lacks", _ROWS + b"\xc8", b"\xff", _TABLE),
    _lie(EventType.WRITE_ROWS, "rows without columns", _ROWS + b"\1\0", b"\1", _NARROW),
    _lie(EventType.WRITE_ROWS, "a VARCHAR of 65535 bytes", _ROWS + _ALL + b"\x0c\0\xff\xff", b"\0", _TABLE),
    _lie(EventType.WRITE_ROWS, "a BLOB of 2^32-1 bytes", _ROWS + _ALL + b"\x0b\xff\xff\xff\xff", b"\0", _TABLE),
    _lie(EventType.WRITE_ROWS, "rows of one byte, one by one", _ROWS + b"\1\1", b"\1", _NARROW),
    _lie(EventType.WRITE_ROWS, "rows of two bytes, one by one", _ROWS + b"\1\1", b"\0\5", _NARROW),
    _lie(EventType.PARTIAL_UPDATE_ROWS, "value_options of 2^64-1", _ROWS + b"\4\0\x08" + HUGE, b"\0", _TABLE),
    _lie(
        EventType.PARTIAL_UPDATE_ROWS, "diffs of 2^32-1 bytes", _ROWS + b"\4\0\x08\1\1\0" + b"\xff" * 4, b"\0", _TABLE
    ),
    *(
        Shape(
            "WRITE_ROWS",
            f"rows of {length}, all kept",
            partial(_rows, row),
            _typed(table),
        )
        for length, row, table in (
            ("one byte", b"\1", _NARROW),
            ("two bytes", b"\0\5", _NARROW),
            ("three bytes", b"\0\5\5", _SHORT),
        )
    ),
    Shape("WRITE_ROWS", "rows of five bytes, all kept", partial(_rows, b"\0\5\5\5\5"), _typed(_INTEGER)),
]
