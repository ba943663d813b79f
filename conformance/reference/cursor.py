"""One bounded reader for event bodies.

A cursor is made once per event; nested values (rows, images, JSON entries, diffs) are cut out of it with one length
check each and then read with precompiled structs. Every short read becomes a :class:`DecodeError` with the offset and
the name of the field; nothing is allocated before its length was compared with the bytes that are left.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, cast

from conformance.reference.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Sequence

_U2 = Struct("<H").unpack_from
_U4 = Struct("<I").unpack_from
_U8 = Struct("<Q").unpack_from


class Cursor:
    """Reads ``data[pos:end]``; offsets in errors count from the start of ``data``.

    ``data`` may be a view of a large event that shall not be there twice: what is taken out of it is a view too.
    """

    __slots__ = ("data", "end", "pos")

    def __init__(self, data: bytes | memoryview, pos: int = 0, end: int | None = None) -> None:
        self.data = cast("bytes", data)
        self.pos = pos
        self.end = len(data) if end is None else end

    def __len__(self) -> int:
        """Bytes left."""
        return self.end - self.pos

    def _short(self, count: int, field: str) -> DecodeError:
        return DecodeError(
            "truncated",
            f"{field} needs {count} bytes",
            offset=self.pos,
            expected=count,
            got=self.end - self.pos,
            path=(field,),
        )

    def take(self, count: int, field: str) -> bytes:
        """The next ``count`` bytes."""
        pos = self.pos
        if count < 0 or count > self.end - pos:
            raise self._short(count, field)
        self.pos = pos + count
        return self.data[pos : pos + count]

    def skip(self, count: int, field: str) -> int:
        """Pass over ``count`` bytes; answers where they start."""
        pos = self.pos
        if count < 0 or count > self.end - pos:
            raise self._short(count, field)
        self.pos = pos + count
        return pos

    def rest(self) -> bytes:
        """Everything that is left."""
        pos, self.pos = self.pos, self.end
        return self.data[pos : self.end]

    def u1(self, field: str) -> int:
        pos = self.pos
        if pos >= self.end:
            raise self._short(1, field)
        self.pos = pos + 1
        return self.data[pos]

    def u2(self, field: str) -> int:
        pos = self.skip(2, field)
        value: int = _U2(self.data, pos)[0]
        return value

    def u3(self, field: str) -> int:
        return int.from_bytes(self.take(3, field), "little")

    def u4(self, field: str) -> int:
        pos = self.skip(4, field)
        value: int = _U4(self.data, pos)[0]
        return value

    def u6(self, field: str) -> int:
        return int.from_bytes(self.take(6, field), "little")

    def u7(self, field: str) -> int:
        return int.from_bytes(self.take(7, field), "little")

    def u8(self, field: str) -> int:
        pos = self.skip(8, field)
        value: int = _U8(self.data, pos)[0]
        return value

    def packed(self, field: str) -> int:
        """A packed integer (net_field_length): 1, 3, 4 or 9 bytes; longer forms than needed are accepted
        (binlog-events 1.1)."""
        pos = self.pos
        if pos >= self.end:
            raise self._short(1, field)
        first = self.data[pos]
        if first < 251:
            self.pos = pos + 1
            return first
        if first == 252:
            size = 2
        elif first == 253:
            size = 3
        elif first == 254:
            size = 8
        else:
            raise DecodeError(
                "bad-packed-integer",
                f"{field} starts with {first:#04x}, which is not a length",
                offset=pos,
                expected="0x00..0xfa, 0xfc, 0xfd or 0xfe",
                got=f"{first:#04x}",
                path=(field,),
            )
        if size + 1 > self.end - pos:
            raise self._short(size + 1, field)
        self.pos = pos + 1 + size
        return int.from_bytes(self.data[pos + 1 : pos + 1 + size], "little")

    def packed_bytes(self, field: str) -> bytes:
        """A packed length, then that many bytes."""
        return self.take(self.packed(field), field)

    def packed_list(self, field: str) -> Sequence[int]:
        """Packed integers up to the end."""
        rest = self.data[self.pos : self.end]
        if not rest or max(rest) < 251:  # each is one byte
            self.pos = self.end
            return rest
        found = []
        while self.pos < self.end:
            found.append(self.packed(field))
        return found

    def packed_strings(self, field: str, count: int = -1) -> list[bytes]:
        """So many strings with packed lengths; without ``count`` all up to the end."""
        data, pos, end = self.data, self.pos, self.end
        found = []
        while pos < end and count:
            size = data[pos]
            stop = pos + 1 + size
            if size > 250 or stop > end:  # a longer length, or too few bytes
                self.pos = pos
                found.append(self.packed_bytes(field))
                stop = self.pos
            else:
                found.append(data[pos + 1 : stop])
            pos = stop
            count -= 1
        self.pos = pos
        if count > 0:
            raise self._short(count, field)
        return found

    def varint(self, field: str) -> int:
        """An unsigned integer of the serialization library: trailing one bits of the first byte count extra bytes
        (binlog-events 1.2)."""
        pos = self.pos
        if pos >= self.end:
            raise self._short(1, field)
        first = self.data[pos]
        size = ((first + 1) & ~first).bit_length()  # 1 + trailing ones; 9 for 0xff
        raw = self.take(size, field)
        if size == 9:
            return int.from_bytes(raw[1:], "little")
        return int.from_bytes(raw, "little") >> size

    def signed_varint(self, field: str) -> int:
        """Zigzag over :meth:`varint`."""
        value = self.varint(field)
        return (value >> 1) ^ -(value & 1)

    def expect_end(self, what: str) -> None:
        """Raise unless everything was read."""
        if self.pos != self.end:
            raise DecodeError(
                "trailing-bytes",
                f"{what} has bytes after its last field",
                offset=self.pos,
                expected=0,
                got=self.end - self.pos,
            )


def encode_packed(value: int) -> bytes:
    """The shortest packed integer: 0..250 in 1 byte, then 3, 4 or 9 bytes (binlog-events 1.1)."""
    if 0 <= value < 251:
        return bytes((value,))
    if value < 0:
        raise ValueError(f"a packed integer cannot be negative: {value}")
    if value < 1 << 16:
        return b"\xfc" + value.to_bytes(2, "little")
    if value < 1 << 24:
        return b"\xfd" + value.to_bytes(3, "little")
    return b"\xfe" + value.to_bytes(8, "little")


def packed_size(value: int) -> int:
    """Length in bytes of :func:`encode_packed`."""
    return 1 if value < 251 else 3 if value < 1 << 16 else 4 if value < 1 << 24 else 9


def encode_varint(value: int) -> bytes:
    """Unsigned integer of the serialization library, 1 to 9 bytes (binlog-events 1.2)."""
    if not 0 <= value < 1 << 64:
        raise ValueError(f"outside 0..2^64-1: {value}")
    size = max(1, (value.bit_length() + 6) // 7)
    if size > 8:
        return b"\xff" + value.to_bytes(8, "little")
    return (value << size | (1 << (size - 1)) - 1).to_bytes(size, "little")


def encode_signed_varint(value: int) -> bytes:
    """Zigzag, then :func:`encode_varint`."""
    return encode_varint((value << 1) ^ (value >> 63))
