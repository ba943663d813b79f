"""TRANSACTION_CONTEXT (36) and VIEW_CHANGE (37), which group replication writes (binlog-events 13; read
from sources, never captured)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from conformance.reference.cursor import Cursor, Decoded, Layout
from conformance.reference.errors import DecodeError, EncodeError
from conformance.reference.event_types import EventType

_CONTEXT: Final = Layout(
    uuid_length="B", thread_id="I", gtid_specified="B", snapshot_length="I", write_set_size="I", read_set_size="I"
)
_VIEW: Final = Layout(view_id="40s", sequence_number="Q", certification_size="I")
_ITEM: Final = Layout(length="H")
_VALUE: Final = Layout(length="I")


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionContext(Decoded):
    type: ClassVar[int] = EventType.TRANSACTION_CONTEXT
    default_flags: ClassVar[int] = 0
    server_uuid: bytes
    thread_id: int = 0
    gtid_specified: int = 0
    snapshot: bytes = b""
    write_set: tuple[bytes, ...] = ()
    read_set: tuple[bytes, ...] = ()

    @classmethod
    def read(cls, cursor: Cursor) -> TransactionContext:
        uuid, thread_id, specified, snapshot, writes, reads = cursor.fields(_CONTEXT, "post_header")
        server_uuid = cursor.take(uuid, "server_uuid")
        version = cursor.take(snapshot, "snapshot")
        if (writes + reads) * 2 > len(cursor):
            cursor.refuse(DecodeError("truncated", "more items than bytes", offset=cursor.pos, got=(writes, reads)))
        write_set = tuple([cursor.sized(2, "write_set") for _ in cursor.numbered(writes)])
        read_set = tuple([cursor.sized(2, "read_set") for _ in cursor.numbered(reads)])
        cursor.expect_end("TRANSACTION_CONTEXT")
        return cls(
            server_uuid=server_uuid,
            thread_id=thread_id,
            gtid_specified=specified,
            snapshot=version,
            write_set=write_set,
            read_set=read_set,
        )

    def encode(self) -> bytes:
        head = _CONTEXT.pack(
            len(self.server_uuid),
            self.thread_id,
            self.gtid_specified,
            len(self.snapshot),
            len(self.write_set),
            len(self.read_set),
        )
        items = [_ITEM.pack(len(item)) + item for item in self.write_set + self.read_set]
        return head + self.server_uuid + self.snapshot + b"".join(items)


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewChange(Decoded):
    type: ClassVar[int] = EventType.VIEW_CHANGE
    default_flags: ClassVar[int] = 0
    view_id: bytes
    sequence_number: int = 0
    certification: tuple[tuple[bytes, bytes], ...] = ()

    @classmethod
    def read(cls, cursor: Cursor) -> ViewChange:
        view, number, count = cursor.fields(_VIEW, "post_header")
        if count * 6 > len(cursor):
            cursor.refuse(
                DecodeError("truncated", "more items than bytes", offset=cursor.pos, expected=count, got=len(cursor))
            )
        items = [(cursor.sized(2, "key"), cursor.sized(4, "value")) for _ in cursor.numbered(count)]
        cursor.expect_end("VIEW_CHANGE")
        return cls(view_id=view.rstrip(b"\0"), sequence_number=number, certification=tuple(items))

    def encode(self) -> bytes:
        if len(self.view_id) > 40:
            raise EncodeError("too-long", "view_id has at most 40 bytes", expected=40, got=len(self.view_id))
        items = [_ITEM.pack(len(key)) + key + _VALUE.pack(len(value)) + value for key, value in self.certification]
        return _VIEW.pack(self.view_id, self.sequence_number, len(items)) + b"".join(items)
