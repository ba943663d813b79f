"""The transaction around one row event as a session writes it, with compression or without, and what stands in it.

The events are counted from the written bytes, by the type and length in each header (binlog-events 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.event import decode_event, encode_event
from conformance.reference.binlog.header import Checksum
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.writer import FileWriter, begin
from scenarios.codes import Code, Wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.reference.binlog.event import Body
    from conformance.reference.binlog.rows import RowsBody
    from conformance.reference.tables.table_map import TableMap

NOTHING: Final = (0, 0, 0)
_CHECKSUM: Final = 4
_UPDATES: Final = (31, 39)
_PAYLOAD: Final = 40


def written(bodies: Sequence[Body], *, compressed: bool) -> bytes:
    """The events between GTID and the end of the group, as a session with or without compression writes them."""
    if compressed:
        return encode_event(FileWriter(server_id=1).compressed(bodies))
    return b"".join(map(encode_event, bodies))


def measured(table_map: TableMap, events: Sequence[RowsBody], *, compressed: bool) -> tuple[int, int, int]:
    """Bytes of payload events, row events outside of payloads, bytes of all row events (checksum included)."""
    bodies: list[Body] = [begin("lab", update=True), table_map, *events, Xid(xid=1)]
    payload = outside = rows = 0
    for code, event in _events(written(bodies, compressed=compressed)):
        if code in _UPDATES:
            outside += 1
            rows += len(event)
        elif code == _PAYLOAD:
            payload += len(event)
            inner = _inner(event)
            if inner != b"".join(encode_event(body, algorithm=Checksum.NONE) for body in bodies):
                raise Wrong(Code.PAYLOAD, "the payload holds other bytes")
            rows += sum(len(each) + _CHECKSUM for code, each in _events(inner) if code in _UPDATES)
    return payload, outside, rows


def _inner(event: bytes) -> bytes:
    body = decode_event(event).body
    if not isinstance(body, TransactionPayload):
        raise Wrong(Code.PAYLOAD, f"the payload reads as {type(body).__name__}")
    return body.uncompressed()


def _events(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        length = int.from_bytes(data[at + 9 : at + 13], "little")
        yield data[at + 4], data[at : at + length]
        at += length
