"""A whole binary log made to hurt, and what the builders of such logs share."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING, Final, NamedTuple
from zlib import crc32

from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.gtid import with_transaction_length
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.writer import FileWriter, begin
from conformance.reference.cursor import encode_packed
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import JSON, LONG, ColumnType
from conformance.reference.tables.table_map import TableMap
from tests.gtids import gtid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

TABLE_ID: Final = 77
GTID: Final = with_transaction_length(gtid(1), 0, 4)  # nothing here reads the length
COLUMNS: Final = TableMap(
    table_id=TABLE_ID, schema="a", table="b", columns=(ColumnType(LONG), ColumnType(JSON, 4)), nullable=(True, True)
)


class HostileLog(NamedTuple):
    """``make`` gives a log of about so many bytes, or a small log that claims or unfolds to more."""

    family: str
    name: str
    make: Callable[[int], bytes]

    @property
    def id(self) -> str:
        return f"{self.family}: {self.name}"


def event(code: int, body: bytes, *, checksum: bool = True) -> bytes:
    """An event around a body that no encoder would write."""
    length = 19 + len(body) + 4 * checksum
    data = pack("<IBIIIH", 0, code, 1, length, 0, 0) + body
    return data + pack("<I", crc32(data)) if checksum else data


def inner(code: int, body: bytes) -> bytes:
    """An event inside a compressed transaction: it has no checksum."""
    return event(code, body, checksum=False)


def log(*events: bytes) -> bytes:
    """A file of whole events."""
    return FileWriter().start() + b"".join(events)


def transaction(*events: bytes) -> bytes:
    """A file of one transaction: what stands between BEGIN and XID."""
    writer = FileWriter()
    head = writer.start() + writer.add(GTID) + writer.add(begin("a"))
    return head + b"".join(events) + writer.add(Xid(xid=1))


def compressed(*events: bytes) -> bytes:
    """A file of one compressed transaction with these inner events."""
    writer = FileWriter()
    return writer.start() + writer.add(GTID) + writer.add(TransactionPayload.compress(wrapped(events)))


def wrapped(events: Iterable[bytes]) -> bytes:
    """The content of a compressed transaction."""
    return inner(EventType.QUERY, begin("a").encode()) + b"".join(events) + inner(EventType.XID, bytes(8))


def rows_head(columns: int, code: int = EventType.WRITE_ROWS) -> bytes:
    """The fields in front of the rows, for images of all columns."""
    size = (columns + 7) // 8
    updates = code in (EventType.UPDATE_ROWS, EventType.PARTIAL_UPDATE_ROWS)
    return pack("<IHHH", TABLE_ID, 0, 1, 2) + encode_packed(columns) + b"\xff" * size * (2 if updates else 1)


def table_event(table: TableMap = COLUMNS) -> bytes:
    return event(EventType.TABLE_MAP, table.encode())


def times(row: bytes, size: int) -> bytes:
    """The same bytes again and again, about ``size`` of them in all."""
    return row * max(1, size // len(row))
