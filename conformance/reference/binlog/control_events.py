"""Events that control a log and its transactions: ROTATE, STOP, XID, XA PREPARE, INCIDENT, heartbeats (binlog-events 12
to 14)."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from struct import error as struct_error
from typing import Any, ClassVar, Final

from conformance.reference.binlog.header import Flag
from conformance.reference.cursor import Cursor, encode_packed
from conformance.reference.errors import DecodeError, EncodeError
from conformance.reference.event_types import EventType

_U8: Final = Struct("<Q")
_XA: Final = Struct("<BIII")


def pack(layout: Struct, *values: Any) -> bytes:
    """Fixed fields; a value that does not fit is our caller's error."""
    try:
        return layout.pack(*values)
    except struct_error as error:
        raise EncodeError("out-of-range", f"a field does not fit: {error}", got=repr(values)[:80]) from None


def unpack(layout: Struct, data: bytes, what: str) -> tuple[Any, ...]:
    """Fixed fields that are the whole event."""
    if len(data) != layout.size:
        cursor = Cursor(data)
        cursor.skip(layout.size, what)
        cursor.expect_end(what)
    return layout.unpack(data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque:
    """An event of a type that we cannot read: kept whole, written back as it was, and counted by those who report."""

    default_flags: ClassVar[int] = 0
    type: int
    data: bytes

    def encode(self) -> bytes:
        return self.data


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    type: ClassVar[int] = EventType.STOP
    default_flags: ClassVar[int] = 0

    @classmethod
    def decode(cls, data: bytes) -> Stop:
        Cursor(data).expect_end("STOP")
        return cls()

    def encode(self) -> bytes:
        return b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotate:
    """The next file. ``name`` is a file name of another machine: bytes that need not be any text."""

    type: ClassVar[int] = EventType.ROTATE
    default_flags: ClassVar[int] = 0
    name: bytes
    position: int = 4

    @classmethod
    def decode(cls, data: bytes) -> Rotate:
        cursor = Cursor(data)
        return cls(position=cursor.u8("position"), name=cursor.rest())

    def encode(self) -> bytes:
        return pack(_U8, self.position) + self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    type: ClassVar[int] = EventType.INCIDENT
    default_flags: ClassVar[int] = 0
    number: int = 1  # LOST_EVENTS
    message: bytes = b""

    @classmethod
    def decode(cls, data: bytes) -> Incident:
        cursor = Cursor(data)
        number = cursor.u2("number")
        message = cursor.take(cursor.u1("message"), "message")
        cursor.expect_end("INCIDENT")
        return cls(number=number, message=message)

    def encode(self) -> bytes:
        if len(self.message) > 255:
            raise EncodeError("too-long", "message has at most 255 bytes", expected=255, got=len(self.message))
        return self.number.to_bytes(2, "little") + bytes((len(self.message),)) + self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignorable:
    """Any content: it is there to be skipped."""

    type: ClassVar[int] = EventType.IGNORABLE
    default_flags: ClassVar[int] = Flag.IGNORABLE
    data: bytes = b""

    @classmethod
    def decode(cls, data: bytes) -> Ignorable:
        return cls(data=data)

    def encode(self) -> bytes:
        return self.data


@dataclass(frozen=True, slots=True, kw_only=True)
class Xid:
    """Commit of a transaction. ``xid`` is a number of the engine, without meaning outside that server."""

    type: ClassVar[int] = EventType.XID
    default_flags: ClassVar[int] = 0
    xid: int = 0

    @classmethod
    def decode(cls, data: bytes) -> Xid:
        return cls(xid=unpack(_U8, data, "XID")[0])

    def encode(self) -> bytes:
        return pack(_U8, self.xid)


_XA_LIMIT: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class XaPrepare:
    """XA PREPARE, or with ``one_phase`` XA COMMIT ... ONE PHASE."""

    type: ClassVar[int] = EventType.XA_PREPARE
    default_flags: ClassVar[int] = 0
    gtrid: bytes
    bqual: bytes = b""
    format_id: int = 1
    one_phase: int = 0

    @classmethod
    def decode(cls, data: bytes) -> XaPrepare:
        cursor = Cursor(data)
        pos = cursor.skip(_XA.size, "header")
        one_phase, format_id, gtrid, bqual = _XA.unpack_from(data, pos)
        if gtrid > _XA_LIMIT or bqual > _XA_LIMIT:
            raise DecodeError("too-long", "parts of an XID have at most 64 bytes", offset=pos, got=(gtrid, bqual))
        first = cursor.take(gtrid, "gtrid")
        second = cursor.take(bqual, "bqual")
        cursor.expect_end("XA_PREPARE")
        return cls(one_phase=one_phase, format_id=format_id, gtrid=first, bqual=second)

    def encode(self) -> bytes:
        if len(self.gtrid) > _XA_LIMIT or len(self.bqual) > _XA_LIMIT:
            raise EncodeError("too-long", "parts of an XID have at most 64 bytes", expected=_XA_LIMIT)
        head = pack(_XA, self.one_phase, self.format_id, len(self.gtrid), len(self.bqual))
        return head + self.gtrid + self.bqual


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """In dump streams only. The position is in the header's ``log_pos``."""

    type: ClassVar[int] = EventType.HEARTBEAT
    default_flags: ClassVar[int] = 0
    name: bytes

    @classmethod
    def decode(cls, data: bytes) -> Heartbeat:
        return cls(name=data)

    def encode(self) -> bytes:
        return self.name


_HEARTBEAT_END: Final = 0
_HEARTBEAT_NAME: Final = 1
_HEARTBEAT_POSITION: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatV2:
    """In dump streams only, when the replica asks for it. ``unknown`` fields are written back before the end mark."""

    type: ClassVar[int] = EventType.HEARTBEAT_V2
    default_flags: ClassVar[int] = 0
    name: bytes
    position: int
    unknown: tuple[tuple[int, bytes], ...] = ()

    @classmethod
    def decode(cls, data: bytes) -> HeartbeatV2:
        cursor = Cursor(data)
        name: bytes | None = None
        position: int | None = None
        unknown = []
        while kind := cursor.packed("field"):
            value = cursor.packed_bytes("value")
            if kind == _HEARTBEAT_NAME:
                name = value
            elif kind == _HEARTBEAT_POSITION:
                inner = Cursor(value)
                position = inner.packed("position")
                inner.expect_end("position")
            else:
                unknown.append((kind, value))
        cursor.expect_end("HEARTBEAT_V2")
        if name is None or position is None:
            raise DecodeError("missing-field", "file name and position are required", offset=0)
        return cls(name=name, position=position, unknown=tuple(unknown))

    def encode(self) -> bytes:
        fields = ((_HEARTBEAT_NAME, self.name), (_HEARTBEAT_POSITION, encode_packed(self.position)), *self.unknown)
        return b"".join(encode_packed(kind) + encode_packed(len(value)) + value for kind, value in fields) + b"\0"
