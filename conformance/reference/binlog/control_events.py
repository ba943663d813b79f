"""Events that control a log and its transactions: ROTATE, STOP, XID, XA PREPARE, INCIDENT, heartbeats (binlog-events 12
to 14)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from conformance.reference.binlog.header import Flag
from conformance.reference.cursor import Cursor, Decoded, Layout, encode_packed
from conformance.reference.errors import DecodeError, EncodeError
from conformance.reference.event_types import EventType

_POSITION: Final = Layout(position="Q")
_XID: Final = Layout(xid="Q")
_XA: Final = Layout(one_phase="B", format_id="I", gtrid_length="I", bqual_length="I")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque:
    """An event of a type that this implementation cannot read: kept whole and written back unchanged."""

    default_flags: ClassVar[int] = 0
    type: int
    data: bytes

    def encode(self) -> bytes:
        return self.data


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(Decoded):
    type: ClassVar[int] = EventType.STOP
    default_flags: ClassVar[int] = 0

    @classmethod
    def read(cls, cursor: Cursor) -> Stop:
        cursor.expect_end("STOP")
        return cls()

    def encode(self) -> bytes:
        return b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotate(Decoded):
    """The next file. ``name`` is a file name on another machine: any bytes, not necessarily valid text."""

    type: ClassVar[int] = EventType.ROTATE
    default_flags: ClassVar[int] = 0
    name: bytes
    position: int = 4

    @classmethod
    def read(cls, cursor: Cursor) -> Rotate:
        return cls(position=cursor.fields(_POSITION, "position")[0], name=cursor.rest("name"))

    def encode(self) -> bytes:
        return _POSITION.pack(self.position) + self.name


LOST_EVENTS: Final = 1  # the only incident; mysqlbinlog 9.7.4 refuses events with other numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident(Decoded):
    type: ClassVar[int] = EventType.INCIDENT
    default_flags: ClassVar[int] = 0
    number: int = LOST_EVENTS
    message: bytes = b""

    @classmethod
    def read(cls, cursor: Cursor) -> Incident:
        pos = cursor.pos
        number = cursor.u2("number")
        if number != LOST_EVENTS:
            cursor.refuse(DecodeError("no-incident", "no incident has this number", offset=pos, expected=1, got=number))
        message = cursor.sized(1, "message")
        cursor.expect_end("INCIDENT")
        return cls(number=number, message=message)

    def encode(self) -> bytes:
        if len(self.message) > 255:
            raise EncodeError("too-long", "message has at most 255 bytes", expected=255, got=len(self.message))
        return self.number.to_bytes(2, "little") + bytes((len(self.message),)) + self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignorable(Decoded):
    """An event whose content, of any form, readers skip."""

    type: ClassVar[int] = EventType.IGNORABLE
    default_flags: ClassVar[int] = Flag.IGNORABLE
    data: bytes = b""

    @classmethod
    def read(cls, cursor: Cursor) -> Ignorable:
        return cls(data=cursor.rest("data"))

    def encode(self) -> bytes:
        return self.data


@dataclass(frozen=True, slots=True, kw_only=True)
class Xid(Decoded):
    """Commit of a transaction. ``xid`` is the storage engine's number; other servers cannot use it."""

    type: ClassVar[int] = EventType.XID
    default_flags: ClassVar[int] = 0
    xid: int = 0

    @classmethod
    def read(cls, cursor: Cursor) -> Xid:
        (xid,) = cursor.fields(_XID, "XID")
        cursor.expect_end("XID")
        return cls(xid=xid)

    def encode(self) -> bytes:
        return _XID.pack(self.xid)


_XA_LIMIT: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class XaPrepare(Decoded):
    """XA PREPARE, or with ``one_phase`` XA COMMIT ... ONE PHASE."""

    type: ClassVar[int] = EventType.XA_PREPARE
    default_flags: ClassVar[int] = 0
    gtrid: bytes
    bqual: bytes = b""
    format_id: int = 1
    one_phase: int = 0

    @classmethod
    def read(cls, cursor: Cursor) -> XaPrepare:
        pos = cursor.pos
        one_phase, format_id, gtrid, bqual = cursor.fields(_XA, "header")
        if gtrid > _XA_LIMIT or bqual > _XA_LIMIT:
            cursor.refuse(
                DecodeError("too-long", "parts of an XID have at most 64 bytes", offset=pos, got=(gtrid, bqual))
            )
        first = cursor.take(gtrid, "gtrid")
        second = cursor.take(bqual, "bqual")
        cursor.expect_end("XA_PREPARE")
        return cls(one_phase=one_phase, format_id=format_id, gtrid=first, bqual=second)

    def encode(self) -> bytes:
        if len(self.gtrid) > _XA_LIMIT or len(self.bqual) > _XA_LIMIT:
            raise EncodeError("too-long", "parts of an XID have at most 64 bytes", expected=_XA_LIMIT)
        head = _XA.pack(self.one_phase, self.format_id, len(self.gtrid), len(self.bqual))
        return head + self.gtrid + self.bqual


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat(Decoded):
    """A heartbeat, in dump streams only. Its position is in the header's ``log_pos``."""

    type: ClassVar[int] = EventType.HEARTBEAT
    default_flags: ClassVar[int] = 0
    name: bytes

    @classmethod
    def read(cls, cursor: Cursor) -> Heartbeat:
        return cls(name=cursor.rest("name"))

    def encode(self) -> bytes:
        return self.name


_HEARTBEAT_NAME: Final = 1
_HEARTBEAT_POSITION: Final = 2
HEARTBEAT_FIELDS: Final = {0: "end", _HEARTBEAT_NAME: "name", _HEARTBEAT_POSITION: "position"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatV2(Decoded):
    """A heartbeat, in dump streams only, if the replica asks for this form. The encoder writes ``unknown`` fields
    before the end mark.
    """

    type: ClassVar[int] = EventType.HEARTBEAT_V2
    default_flags: ClassVar[int] = 0
    name: bytes
    position: int
    unknown: tuple[tuple[int, bytes], ...] = ()

    @classmethod
    def read(cls, cursor: Cursor) -> HeartbeatV2:
        name: bytes | None = None
        position: int | None = None
        unknown = []
        while kind := cursor.packed("field"):
            length = cursor.packed("length")
            if kind == _HEARTBEAT_NAME:
                name = cursor.take(length, "name")
            elif kind == _HEARTBEAT_POSITION:
                inner = cursor.part(length, "position")
                position = inner.packed("position")
                inner.expect_end("position")
            else:
                unknown.append((kind, cursor.take(length, "value")))
        cursor.expect_end("HEARTBEAT_V2")
        if name is None or position is None:
            raise DecodeError("missing-field", "file name and position are required", offset=0)
        return cls(name=name, position=position, unknown=tuple(unknown))

    def encode(self) -> bytes:
        fields = ((_HEARTBEAT_NAME, self.name), (_HEARTBEAT_POSITION, encode_packed(self.position)), *self.unknown)
        return b"".join(encode_packed(kind) + encode_packed(len(value)) + value for kind, value in fields) + b"\0"
