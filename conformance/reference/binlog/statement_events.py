"""Events that accompany a QUERY: the statement's variables and its text (binlog-events 12 to 14)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, Final

from conformance.reference.binlog.header import Flag
from conformance.reference.cursor import Cursor, Decoded, Layout
from conformance.reference.event_types import EventType

_INTVAR: Final = Layout(kind="B", value="Q")
_RAND: Final = Layout(seed1="Q", seed2="Q")


class IntvarKind(IntEnum):
    LAST_INSERT_ID = 1
    INSERT_ID = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Intvar(Decoded):
    type: ClassVar[int] = EventType.INTVAR
    default_flags: ClassVar[int] = 0
    kind: int = IntvarKind.INSERT_ID
    value: int

    @classmethod
    def read(cls, cursor: Cursor) -> Intvar:
        kind, value = cursor.fields(_INTVAR, "INTVAR")
        cursor.expect_end("INTVAR")
        return cls(kind=kind, value=value)

    def encode(self) -> bytes:
        return _INTVAR.pack(self.kind, self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rand(Decoded):
    type: ClassVar[int] = EventType.RAND
    default_flags: ClassVar[int] = 0
    seed1: int
    seed2: int

    @classmethod
    def read(cls, cursor: Cursor) -> Rand:
        seed1, seed2 = cursor.fields(_RAND, "RAND")
        cursor.expect_end("RAND")
        return cls(seed1=seed1, seed2=seed2)

    def encode(self) -> bytes:
        return _RAND.pack(self.seed1, self.seed2)


class UserVarType(IntEnum):
    STRING = 0
    REAL = 1
    INT = 2
    DECIMAL = 4


_USER_VAR: Final = Layout(kind="B", collation="I", value_length="I")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserVar(Decoded):
    """A user variable. ``value`` is the stored form (little-endian numbers; DECIMAL: precision, scale, packed digits);
    ``None`` is NULL.

    ``flags`` (1: unsigned) was observed for INT only; ``None`` where the event has none.
    """

    type: ClassVar[int] = EventType.USER_VAR
    default_flags: ClassVar[int] = 0
    name: bytes
    value: bytes | None = None
    kind: int = UserVarType.STRING
    collation: int = 0
    flags: int | None = None

    @classmethod
    def read(cls, cursor: Cursor) -> UserVar:
        name = cursor.sized(4, "name")
        if cursor.u1("is_null"):
            cursor.expect_end("USER_VAR")
            return cls(name=name)
        kind, collation, length = cursor.fields(_USER_VAR, "value")
        value = cursor.take(length, "value")
        flags = cursor.u1("flags") if cursor else None
        cursor.expect_end("USER_VAR")
        return cls(name=name, value=value, kind=kind, collation=collation, flags=flags)

    def encode(self) -> bytes:
        out = len(self.name).to_bytes(4, "little") + self.name
        if self.value is None:
            return out + b"\1"
        out += b"\0" + _USER_VAR.pack(self.kind, self.collation, len(self.value)) + self.value
        return out if self.flags is None else out + bytes((self.flags & 0xFF,))


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsQuery(Decoded):
    """The statement of the row events that follow. ``length_byte`` has no meaning: it is 0 in every capture."""

    type: ClassVar[int] = EventType.ROWS_QUERY
    default_flags: ClassVar[int] = Flag.IGNORABLE
    text: bytes
    length_byte: int = 0

    @classmethod
    def read(cls, cursor: Cursor) -> RowsQuery:
        return cls(length_byte=cursor.u1("length_byte"), text=cursor.rest("text"))

    def encode(self) -> bytes:
        return bytes((self.length_byte & 0xFF,)) + self.text
