"""TRANSACTION_CONTEXT (36) and VIEW_CHANGE (37), which group replication writes (binlog-events 13; read
from sources, never captured)."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar, Final

from conformance.reference.binlog.control_events import pack
from conformance.reference.cursor import Cursor
from conformance.reference.errors import DecodeError, EncodeError
from conformance.reference.event_types import EventType

_CONTEXT: Final = Struct("<BIBIII")
_VIEW: Final = Struct("<40sQI")
_U2: Final = Struct("<H")
_U4: Final = Struct("<I")


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionContext:
    type: ClassVar[int] = EventType.TRANSACTION_CONTEXT
    default_flags: ClassVar[int] = 0
    server_uuid: bytes
    thread_id: int = 0
    gtid_specified: int = 0
    snapshot: bytes = b""
    write_set: tuple[bytes, ...] = ()
    read_set: tuple[bytes, ...] = ()

    @classmethod
    def decode(cls, data: bytes) -> TransactionContext:
        cursor = Cursor(data)
        pos = cursor.skip(_CONTEXT.size, "post_header")
        uuid, thread_id, specified, snapshot, writes, reads = _CONTEXT.unpack_from(data, pos)
        server_uuid = cursor.take(uuid, "server_uuid")
        version = cursor.take(snapshot, "snapshot")
        if (writes + reads) * 2 > len(cursor):
            raise DecodeError("truncated", "more items than bytes", offset=cursor.pos, got=(writes, reads))
        items = [cursor.take(cursor.u2("item"), "item") for _ in range(writes + reads)]
        cursor.expect_end("TRANSACTION_CONTEXT")
        return cls(
            server_uuid=server_uuid,
            thread_id=thread_id,
            gtid_specified=specified,
            snapshot=version,
            write_set=tuple(items[:writes]),
            read_set=tuple(items[writes:]),
        )

    def encode(self) -> bytes:
        head = pack(
            _CONTEXT,
            len(self.server_uuid),
            self.thread_id,
            self.gtid_specified,
            len(self.snapshot),
            len(self.write_set),
            len(self.read_set),
        )
        items = [pack(_U2, len(item)) + item for item in self.write_set + self.read_set]
        return head + self.server_uuid + self.snapshot + b"".join(items)


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewChange:
    type: ClassVar[int] = EventType.VIEW_CHANGE
    default_flags: ClassVar[int] = 0
    view_id: bytes
    sequence_number: int = 0
    certification: tuple[tuple[bytes, bytes], ...] = ()

    @classmethod
    def decode(cls, data: bytes) -> ViewChange:
        cursor = Cursor(data)
        view, number, count = _VIEW.unpack_from(data, cursor.skip(_VIEW.size, "post_header"))
        if count * 6 > len(cursor):
            raise DecodeError("truncated", "more items than bytes", offset=cursor.pos, expected=count, got=len(cursor))
        items = []
        for _ in range(count):
            key = cursor.take(cursor.u2("key"), "key")
            items.append((key, cursor.take(cursor.u4("value"), "value")))
        cursor.expect_end("VIEW_CHANGE")
        return cls(view_id=view.rstrip(b"\0"), sequence_number=number, certification=tuple(items))

    def encode(self) -> bytes:
        if len(self.view_id) > 40:
            raise EncodeError("too-long", "view_id has at most 40 bytes", expected=40, got=len(self.view_id))
        items = [pack(_U2, len(key)) + key + pack(_U4, len(value)) + value for key, value in self.certification]
        return pack(_VIEW, self.view_id, self.sequence_number, len(items)) + b"".join(items)
