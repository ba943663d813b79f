"""Compressed transactions that unfold: far beyond any real one, and near to what a real one may be."""

from __future__ import annotations

from functools import cache
from struct import pack
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.header import HEADER_SIZE
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.event_types import EventType
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType
from tests.hostile.logs.log import GTID, HostileLog, compressed, inner, rows_head, times, transaction, wrapped
from tests.hostile.logs.rows import table_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.tables.table_map import TableMap

_MB: Final = 1 << 20
_NULL: Final = table_of(ColumnType(types.TINY))
_BLOB: Final = table_of(ColumnType(types.BLOB, 4))
_JSON: Final = table_of(ColumnType(types.JSON, 4))
_ENTRIES: Final = _MB // 5


@cache
def _frame(head: bytes, piece: bytes, number: int) -> bytes:
    """A frame of a beginning and a piece again and again, which nobody has in memory."""
    import zstandard

    compressor = zstandard.ZstdCompressor(level=3).compressobj()
    return b"".join((
        compressor.compress(head), *(compressor.compress(piece) for _ in range(number)), compressor.flush(),
    ))  # fmt: skip


def _payload(frame: bytes) -> bytes:
    writer = FileWriter()
    body = TransactionPayload(payload=frame, uncompressed_size=100)
    return writer.start() + writer.add(GTID) + writer.add(body)


def _one_event(table: TableMap, head: bytes, piece: bytes, number: int) -> bytes:
    """A transaction of one rows event, whose rows are a beginning and a piece again and again."""
    rows = rows_head(1) + head
    length = HEADER_SIZE + len(rows) + number * len(piece)
    header = pack("<IBIIIH", 0, EventType.WRITE_ROWS, 1, length, 0, 0)
    return _payload(_frame(inner(EventType.TABLE_MAP, table.encode()) + header + rows, piece, number))


def _null_event(megabytes: int) -> bytes:
    """One event of NULL rows."""
    return _one_event(_NULL, b"", b"\xff" * _MB, megabytes)


def _equal_rows(megabytes: int) -> bytes:
    """Events of equal rows, each event as large as a server makes them: what compresses best in real logs."""
    one = inner(EventType.WRITE_ROWS, rows_head(1) + (b"\0" + pack("<I", 2000) + b"abcd" * 500) * 4)
    return _payload(_frame(inner(EventType.TABLE_MAP, _BLOB.encode()), one * 100, megabytes * _MB // (100 * len(one))))


def _value(megabytes: int, byte: bytes) -> bytes:
    """One row with one value."""
    return _one_event(_BLOB, b"\0" + pack("<I", megabytes * _MB), byte * _MB, megabytes)


def _document(megabytes: int) -> bytes:
    """One row with one document: an array of small numbers."""
    count = megabytes * _ENTRIES
    head = b"\0" + pack("<I", 9 + 5 * count) + b"\x03" + pack("<II", count, 8 + 5 * count)
    return _one_event(_JSON, head, b"\5\1\0\0\0" * _ENTRIES, megabytes)


def _of(code: int, body: bytes) -> Callable[[int], bytes]:
    """A compressed transaction of the same event, again and again; ``size`` counts what it unfolds to."""
    return lambda size: compressed(times(inner(code, body), 8 * size))


def _many(size: int) -> bytes:
    """Compressed transactions of half a megabyte each, side by side."""
    writer = FileWriter()
    out = bytearray(writer.start())
    content = wrapped((inner(EventType.TABLE_MAP, _NULL.encode()),
                       inner(EventType.WRITE_ROWS, rows_head(1) + b"\xff" * (_MB // 2))))  # fmt: skip
    body = TransactionPayload.compress(content)
    while len(out) < size // 256:
        out += writer.add(GTID) + writer.add(body)
    return bytes(out)


def _uncompressed(size: int) -> bytes:
    writer = FileWriter()
    rows = inner(EventType.WRITE_ROWS, rows_head(1) + b"\xff" * size)
    content = wrapped((inner(EventType.TABLE_MAP, _NULL.encode()), rows))
    return writer.start() + writer.add(TransactionPayload(payload=content, compression=255))


def _cut(size: int) -> bytes:
    frame = _frame(b"", bytes(_MB), 64)
    return _payload(frame[: max(8, min(len(frame) - 4, size // 512))])


def _fixed(make: Callable[[int], bytes], megabytes: int) -> Callable[[int], bytes]:
    """A log that unfolds to so many megabytes, whatever the size that is asked for."""
    return lambda _: make(megabytes)


BOMBS: Final = (3, 16, 64, 256, 1024)  # megabytes that they unfold to, whatever the size that is asked for
_LONGEST: Final = 64  # what is no bomb is read to its end, which takes its time

LOGS: Final[tuple[HostileLog, ...]] = (
    *(
        HostileLog(f"a bomb of {megabytes} MB", words, _fixed(make, megabytes))
        for megabytes in BOMBS
        for words, make in (
            ("zeros", lambda megabytes: _payload(_frame(b"", bytes(_MB), megabytes))),
            ("one event of NULL rows", _null_event),
            ("events of equal rows", lambda megabytes: _equal_rows(min(megabytes, _LONGEST))),
            ("one value of zeros", lambda megabytes: _value(megabytes, b"\0")),
            ("one value of letters", lambda megabytes: _value(megabytes, b"a")),
            ("one document", _document),
        )
    ),
    HostileLog("compressed", "XID events", _of(EventType.XID, bytes(8))),
    HostileLog("compressed", "events of an unknown type", _of(200, b"")),
    HostileLog("compressed", "QUERY events", _of(EventType.QUERY, bytes(4) + bytes(4) + b"\0\0\0\0\0\0")),
    HostileLog("compressed", "ROWS_QUERY events", _of(EventType.ROWS_QUERY, b"\1x")),
    HostileLog("compressed", "TABLE_MAP events", _of(EventType.TABLE_MAP, _NULL.encode())),
    HostileLog("compressed", "transactions side by side", _many),
    HostileLog("compressed", "not at all", _uncompressed),
    HostileLog("compressed", "a frame cut off", _cut),
    HostileLog("compressed", "the transaction is empty", lambda _: transaction(b"")),
)
