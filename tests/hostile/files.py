"""Compressed transactions and files made to hurt."""

from __future__ import annotations

import io
from struct import pack
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.control_events import Stop
from conformance.reference.binlog.event import decode_body
from conformance.reference.binlog.files import FileReader, read_events
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.rows import LazyRows, Row, rows_body
from conformance.reference.binlog.statement_events import RowsQuery
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.boundaries.reader import read_groups
from conformance.reference.cursor import encode_packed
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import BLOB, TINY, ColumnType
from conformance.reference.tables.table_map import TableMap
from tests.hostile.shape import HUGE, LAZY_TIMES, LIMIT, TIMES, Shape

if TYPE_CHECKING:
    from collections.abc import Callable


def _bomb(size: int) -> bytes:
    """A frame that grows far beyond the limit: about 1 to 30,000."""
    return TransactionPayload.compress(bytes(max(2 * LIMIT, 4000 * size))).encode()


def _modest(size: int) -> bytes:
    """A frame of events, as many as their size allows."""
    writer = FileWriter()
    return writer.compressed([RowsQuery(text=bytes(range(256)) * (min(size, LIMIT - 300) // 256))]).encode()


def _uncompressed(data: bytes) -> object:
    body = decode_body(EventType.TRANSACTION_PAYLOAD, data, {})
    assert isinstance(body, TransactionPayload)
    return body.uncompressed(LIMIT)


def _payload(size: int, claim: bytes = b"\1") -> bytes:
    """An uncompressed size that is a lie, in the event."""
    frame = TransactionPayload.compress(bytes(100)).payload
    head = b"\2\1\0" + b"\3\x09" + HUGE
    return head + b"\1" + encode_packed(9) + b"\xfe" + pack("<Q", len(frame) + size * (claim != b"\1")) + b"\0" + frame


PAYLOADS: Final[list[Shape]] = [
    Shape(
        "payload",
        "a bomb",
        _bomb,
        _uncompressed,
        1 << 20,
        "the limit, and a step of the decompressor, whatever the frame's size",
    ),
    Shape("payload", "a frame below the limit", _modest, _uncompressed, 1 << 20, "the limit"),
    Shape("payload", "a false uncompressed size", _payload, _uncompressed),
    Shape("payload", "a size of 2^64-1", lambda size: b"\2\1\0\1\x09" + HUGE + b"\0" + bytes(size), _uncompressed),
    Shape(
        "payload",
        "unknown fields",
        lambda size: b"\x09\0" * (size // 2) + _payload(0),
        _uncompressed,
    ),
]


def _read_file(data: bytes) -> object:
    """Lazily: nothing is kept."""
    for _ in read_events(io.BytesIO(data), reader=FileReader(limit=LIMIT, expand=True), window=1 << 14):
        pass
    return None


def _groups(data: bytes) -> object:
    for _ in read_groups(io.BytesIO(data), window=1 << 14):
        pass
    return None


def _file(size: int, event: Callable[[FileWriter, int], bytes]) -> bytes:
    writer = FileWriter()
    out = bytearray(writer.start())
    number = 0
    while len(out) < size:
        out += event(writer, number)
        number += 1
    return bytes(out)


def _small_events(size: int) -> bytes:
    return _file(size, lambda writer, _: writer.add(Stop()))


def _many_tables(size: int) -> bytes:
    """Each with an id and a name of its own, so that no two are the same."""
    return _file(size, lambda writer, number: writer.add(
        TableMap(table_id=number, schema="a", table=str(number), columns=(ColumnType(TINY),), nullable=(True,))
    ))  # fmt: skip


def _many_bombs(size: int) -> bytes:
    body = FileWriter().compressed([RowsQuery(text=bytes(LIMIT - 100))])
    return _file(size, lambda writer, _: writer.add(body))


def _long_event(size: int) -> bytes:
    data = FileWriter().start()
    return data + bytes(9) + b"\xff" * 4 + bytes(6) + bytes(size)


def _whole_event(size: int) -> bytes:
    """Nothing but one event, with rows of the largest strings."""
    table = TableMap(table_id=0, schema="a", table="b", columns=(ColumnType(BLOB, 4),), nullable=(True,))
    rows = rows_body(table, EventType.WRITE_ROWS, [Row(None, (bytes(size),))])
    writer = FileWriter()
    return writer.start() + writer.add(table) + writer.add(rows) + writer.add(Stop())


def _read_rows(data: bytes) -> object:
    """Lazily, and each row looked at."""
    for event in read_events(io.BytesIO(data), window=1 << 10):
        if isinstance(event.body, LazyRows):
            for _ in event.body.rows():
                pass
    return None


FILES: Final[list[Shape]] = [
    Shape("file", "one event", _whole_event, _read_rows, LAZY_TIMES),
    Shape("file", "one event, groups", _whole_event, _groups, LAZY_TIMES),
    Shape("file", "events of 23 bytes", _small_events, _read_file, LAZY_TIMES),
    Shape("file", "events of 23 bytes, groups", _small_events, _groups, LAZY_TIMES),
    Shape("file", "an event of 2^32-1 bytes", _long_event, _read_file, LAZY_TIMES),
    Shape("file", "an event of 2^32-1 bytes, groups", _long_event, _groups, LAZY_TIMES),
    Shape("file", "zeros", lambda size: FileWriter().start() + bytes(size), _read_file, LAZY_TIMES),
    Shape("file", "tables", _many_tables, _read_file, TIMES, "4096 tables may be open"),
    Shape(
        "file",
        "compressed transactions just below the limit",
        _many_bombs,
        _read_file,
        1 << 10,
        "one of them at a time",
    ),
]
