"""Large inputs for lazy readers: files and documents of any size, made piece by piece, and what reads them.

``python tests/benchmarks/bench_lazy.py`` measures them with hundreds of megabytes, the tests with a few.
"""

from __future__ import annotations

from random import Random
from struct import pack
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.binlog.files import FileReader, read_events
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.rows import LazyRows, Row, rows_body
from conformance.reference.binlog.statement_events import RowsQuery
from conformance.reference.binlog.unfolding import DEFAULT_LIMIT
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.boundaries.reader import read_groups
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.view import open_document
from conformance.reference.tables.columns import BLOB, JSON, LONG, ColumnType
from conformance.reference.tables.table_map import TableMap
from tests.gtids import gtid
from tests.written_logs import row_group

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

_DOCUMENT: Final = encode({"quantity": 7, "items": [{"sku": f"{n:016x}", "price": n / 8} for n in range(150)]})
_ROWS: Final = TableMap(
    table_id=108, schema="shop", table="t", columns=(ColumnType(LONG), ColumnType(JSON, 4)), nullable=(False, True)
)
_LONG: Final = TableMap(table_id=109, schema="shop", table="b", columns=(ColumnType(BLOB, 4),), nullable=(True,))
_TEXT: Final = Random(1).randbytes(4096)
_COMPRESSED: Final = 16 << 20  # bytes of the events of one compressed transaction


# --- inputs ----------------------------------------------------------------------------------------------------------


def _row_events(size: int) -> Iterator[bytes]:
    writer = FileWriter()
    yield writer.start()
    made = number = 0
    while made < size:
        number += 1
        body = rows_body(_ROWS, EventType.UPDATE_ROWS, [Row((number, _DOCUMENT), (number, _DOCUMENT))])
        group = writer.group(gtid(number), row_group(_ROWS, body))
        made += len(group)
        yield group


def _one_event(size: int) -> Iterator[bytes]:
    writer = FileWriter()
    yield writer.start()
    yield writer.add(_LONG)
    yield writer.add(rows_body(_LONG, EventType.WRITE_ROWS, [Row(None, (bytes(size),))]))


def _compressed(size: int) -> Iterator[bytes]:
    """So many bytes of events, decompressed."""
    writer = FileWriter()
    yield writer.start()
    body = writer.compressed([RowsQuery(text=_TEXT * 256)] * (_COMPRESSED >> 20))
    for _ in range(size // _COMPRESSED):
        yield writer.add(body)


def _bomb(_: int) -> Iterator[bytes]:
    """Yield a log with a bomb of four times the limit that holds where nobody says another."""
    writer = FileWriter()
    yield writer.start()
    yield writer.add(TransactionPayload(payload=_zeros(4 * DEFAULT_LIMIT), uncompressed_size=100))


def _zeros(size: int) -> bytes:
    """A frame of so many zeros, which nobody has in memory."""
    import zstandard

    compressor = zstandard.ZstdCompressor(level=1).compressobj()
    piece = bytes(1 << 24)
    return b"".join([*(compressor.compress(piece) for _ in range(size >> 24)), compressor.flush()])


def _array(size: int) -> Iterator[bytes]:
    """A document: an array of objects."""
    child = _DOCUMENT[1:]
    count = size // len(child)
    start = 8 + 5 * count
    yield b"\x03" + pack("<II", count, start + count * len(child))
    yield b"".join(pack("<BI", _DOCUMENT[0], start + index * len(child)) for index in range(count))
    for _ in range(count):
        yield child


# --- readers ---------------------------------------------------------------------------------------------------------


def _headers(file: BinaryIO) -> int:
    return sum(1 for _ in read_events(file))


def _events(file: BinaryIO) -> int:
    found = 0
    for event in read_events(file):
        body = event.body
        found += sum(1 for _ in body.rows()) if isinstance(body, LazyRows) else 1
    return found


def _expanded(file: BinaryIO) -> int:
    return sum(1 for _ in read_events(file, reader=FileReader(expand=True)))


def _groups(file: BinaryIO) -> int:
    return sum(1 for _ in read_groups(file))


def _looked(file: io.BytesIO) -> int:
    """A member of every element, with no value made but that."""
    view = open_document(file.getvalue())
    found = 0
    for index in range(view.count):
        element = view.element(index)
        found += element.element(element.find(b"quantity")).value() == 7
    return found


class Reading(NamedTuple):
    """``held``: what a reader must hold of an input of so many bytes, beside the input where that is in memory."""

    name: str
    make: Callable[[int], Iterator[bytes]]
    read: Callable[[Any], int]
    held: Callable[[int], int] | None = None
    in_memory: bool = False


READINGS: Final = (
    Reading("events of a file of rows", _row_events, _events),
    Reading("groups of a file of rows", _row_events, _groups),
    Reading("groups of a file of one event", _one_event, _groups),
    Reading("events of a file of one event", _one_event, _headers, lambda size: size),
    Reading("events and rows of a file of one event", _one_event, _events, lambda size: 2 * size),
    Reading("events of a file of compressed transactions", _compressed, _expanded, lambda _: 2 << 20),
    Reading("a bomb of four times the limit", _bomb, _expanded, lambda _: 0),
    Reading("members of a document, looked up", _array, _looked, in_memory=True),
)


def ending(reading: Reading, source: BinaryIO) -> str:
    """How much was read, or the code of the declared error."""
    try:
        return f"{reading.read(source):,} read"
    except CodecError as error:
        return error.code
