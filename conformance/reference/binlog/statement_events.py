"""What the log says of a statement beside QUERY: its variables and its text (binlog-events 12 to 14)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import ClassVar, Final

from conformance.reference.binlog.control_events import pack, unpack
from conformance.reference.binlog.header import Flag
from conformance.reference.cursor import Cursor
from conformance.reference.event_types import EventType

_U8_PAIR: Final = Struct("<QQ")


_TYPED_U8: Final = Struct("<BQ")


class IntvarKind(IntEnum):
    LAST_INSERT_ID = 1
    INSERT_ID = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Intvar:
    type: ClassVar[int] = EventType.INTVAR
    default_flags: ClassVar[int] = 0
    kind: int = IntvarKind.INSERT_ID
    value: int

    @classmethod
    def decode(cls, data: bytes) -> Intvar:
        kind, value = unpack(_TYPED_U8, data, "INTVAR")
        return cls(kind=kind, value=value)

    def encode(self) -> bytes:
        return pack(_TYPED_U8, self.kind, self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rand:
    type: ClassVar[int] = EventType.RAND
    default_flags: ClassVar[int] = 0
    seed1: int
    seed2: int

    @classmethod
    def decode(cls, data: bytes) -> Rand:
        seed1, seed2 = unpack(_U8_PAIR, data, "RAND")
        return cls(seed1=seed1, seed2=seed2)

    def encode(self) -> bytes:
        return pack(_U8_PAIR, self.seed1, self.seed2)


class UserVarType(IntEnum):
    STRING = 0
    REAL = 1
    INT = 2
    DECIMAL = 4


_USER_VAR: Final = Struct("<BII")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserVar:
    """``value`` is the stored form (little-endian numbers; DECIMAL: precision, scale, packed digits); ``None`` is NULL.

    ``flags`` (1: unsigned) was seen for INT only; ``None`` where there is none.
    """

    type: ClassVar[int] = EventType.USER_VAR
    default_flags: ClassVar[int] = 0
    name: bytes
    value: bytes | None = None
    kind: int = UserVarType.STRING
    collation: int = 0
    flags: int | None = None

    @classmethod
    def decode(cls, data: bytes) -> UserVar:
        cursor = Cursor(data)
        name = cursor.take(cursor.u4("name"), "name")
        if cursor.u1("is_null"):
            cursor.expect_end("USER_VAR")
            return cls(name=name)
        pos = cursor.skip(_USER_VAR.size, "value")
        kind, collation, length = _USER_VAR.unpack_from(data, pos)
        value = cursor.take(length, "value")
        flags = cursor.u1("flags") if cursor else None
        cursor.expect_end("USER_VAR")
        return cls(name=name, value=value, kind=kind, collation=collation, flags=flags)

    def encode(self) -> bytes:
        out = len(self.name).to_bytes(4, "little") + self.name
        if self.value is None:
            return out + b"\1"
        out += b"\0" + pack(_USER_VAR, self.kind, self.collation, len(self.value)) + self.value
        return out if self.flags is None else out + bytes((self.flags & 0xFF,))


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsQuery:
    """The statement behind the row events that follow. ``length_byte`` means nothing: 0 in every capture."""

    type: ClassVar[int] = EventType.ROWS_QUERY
    default_flags: ClassVar[int] = Flag.IGNORABLE
    text: bytes
    length_byte: int = 0

    @classmethod
    def decode(cls, data: bytes) -> RowsQuery:
        cursor = Cursor(data)
        return cls(length_byte=cursor.u1("length_byte"), text=cursor.rest())

    def encode(self) -> bytes:
        return bytes((self.length_byte & 0xFF,)) + self.text
