"""Little-endian unsigned integers at a place in bytes, which exist: the compiled build reads them itself
(integers.pyx)."""

from __future__ import annotations

from struct import Struct

_U4 = Struct("<I").unpack_from
_U8 = Struct("<Q").unpack_from


def u4_at(data: bytes | bytearray | memoryview, place: int) -> int:
    """The integer in the four bytes at ``place``."""
    value: int = _U4(data, place)[0]
    return value


def u8_at(data: bytes | bytearray | memoryview, place: int) -> int:
    """The integer in the eight bytes at ``place``."""
    value: int = _U8(data, place)[0]
    return value


def number_at(data: bytes | bytearray | memoryview, place: int, size: int) -> int:
    """The integer in ``size`` bytes at ``place``."""
    return int.from_bytes(data[place : place + size], "little")
