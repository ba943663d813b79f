"""Checksums of pages: CRC-32C, the older fold, and none (innodb-sdi B.8)."""

from __future__ import annotations

from functools import cache, reduce
from struct import Struct
from typing import Final, NamedTuple
from zlib import adler32

NO_CHECKSUM: Final = 0xDEADBEEF  # what innodb_checksum_algorithm=none writes
_POLYNOMIAL: Final = 0x82F63B78  # Castagnoli, reflected
_ALL: Final = 0xFFFFFFFF
_SHORT: Final = 96  # bits of a message that is not folded any more
_CHOICE: Final = 64  # lengths of a front half among which the power is sought
_U4: Final = Struct(">I").unpack_from


class _Fold(NamedTuple):
    """One step that makes a message shorter: its first ``bits`` bits are multiplied and added to the others."""

    bits: int
    shifts: tuple[int, ...]


def _times_x(value: int) -> int:
    """A remainder times x. Bits are reflected: bit 31 stands for 1, bit 0 for x^31."""
    return value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)


def _power(exponent: int) -> int:
    """The remainder of x^exponent, by squares."""
    value = 1 << 31
    for digit in f"{exponent:b}":
        square, factor = 0, value
        for place in range(31, -1, -1):
            square ^= factor if value >> place & 1 else 0
            factor = _times_x(factor)
        value = _times_x(square) if digit == "1" else square
    return value


@cache
def _folds(bits: int) -> tuple[tuple[_Fold, ...], int]:
    """The steps for a message of so many bits, and the bits that are left at the end.

    The front half F of a message stands for F times x^m, where m is the length of the rest. The remainder of x^m has
    at most 32 bits. F times it is as long as the rest: the sum of one shift of F for each bit. So few bits are sought.
    """
    found = []
    while bits > _SHORT:
        least = (bits + 33) // 2
        powers = [_power(least)]
        for _ in range(_CHOICE):
            powers.append(_times_x(powers[-1]))
        power = min(powers, key=int.bit_count)
        rest = least + powers.index(power)
        front = bits - rest
        found.append(_Fold(front, tuple(rest - front - place for place in range(32) if power >> 31 - place & 1)))
        bits = rest
    return tuple(found), bits


def crc32c(data: bytes) -> int:
    """CRC-32C: initial value and final mask are all ones.

    The message is one integer, which is folded in half again and again: a page takes a few hundred operations.
    """
    value = int.from_bytes(data, "little") ^ _ALL
    folds, left = _folds(8 * len(data))
    for bits, shifts in folds:
        front = value & (1 << bits) - 1
        value >>= bits
        for shift in shifts:
            value ^= front << shift
    for _ in range(left % 8):
        value = _times_x(value)
    steps = _eight_steps()
    for _ in range(left // 8):
        value = value >> 8 ^ steps[value & 0xFF]
    return value ^ _ALL


@cache
def _eight_steps() -> list[int]:
    """For each byte at the end of a message, its remainder times x^8."""
    return [reduce(lambda value, _: _times_x(value), range(8), byte) for byte in range(256)]


def fold(data: bytes) -> int:
    """The hash of innodb_checksum_algorithm=innodb."""
    value = 0
    for byte in data:
        value = (((value ^ byte ^ 1653893711) << 8) + value ^ 1463735687) + byte & _ALL
    return value


def page_crc32(page: bytes, *, compressed: bool) -> int:
    """The CRC-32C that the header of this page must have; ``compressed``: whether it is ROW_FORMAT=COMPRESSED."""
    if compressed:
        return crc32c(page[4:16]) ^ crc32c(page[24:26]) ^ crc32c(page[34:])
    return crc32c(page[4:26]) ^ crc32c(page[38:-8])


def wrong_checksum(page: bytes, *, compressed: bool) -> tuple[int, int, int] | None:
    """None if a rule that the server accepts holds; else the field's offset, the CRC-32C expected, and the value.

    The server accepts all three algorithms, whichever is configured. A page of zeros was never written.
    """
    stored: int = _U4(page)[0]
    end = len(page) - 8
    second = stored if compressed else _U4(page, end)[0]
    if stored == second == NO_CHECKSUM or page == bytes(len(page)):
        return None
    expected = page_crc32(page, compressed=compressed)
    if stored == second == expected:
        return None
    if compressed:
        adler = adler32(page[34:], adler32(page[24:26], adler32(page[4:16], 0)))
        return None if stored == adler else (0, expected, stored)
    if second == fold(page[:26]) and stored == fold(page[4:26]) + fold(page[38:end]) & _ALL:  # the short one first
        return None
    return (end, expected, second) if stored == expected else (0, expected, stored)
