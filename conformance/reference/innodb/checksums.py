"""Checksums of pages: CRC-32C, the older fold, and none (innodb-sdi B.8)."""

from __future__ import annotations

from functools import cache
from struct import Struct
from typing import TYPE_CHECKING, Final
from zlib import adler32

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_CHECKSUM: Final = 0xDEADBEEF  # what innodb_checksum_algorithm=none writes
_POLYNOMIAL: Final = 0x82F63B78  # Castagnoli, reflected
_ALL: Final = 0xFFFFFFFF
_U4: Final = Struct(">I").unpack_from


@cache
def _words() -> Sequence[int]:
    """The remainder of every 16-bit word: two bytes a step cost half as many steps."""
    table = [0] * 256
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        table[byte] = value
    return [table[table[low] & 0xFF ^ high] ^ table[low] >> 8 for high in range(256) for low in range(256)]


def crc32c(data: bytes) -> int:
    """CRC-32C: initial value and final mask are all ones."""
    words, value, even = _words(), _ALL, len(data) & ~1
    for (word,) in Struct("<H").iter_unpack(data[:even]):
        value = value >> 16 ^ words[(value ^ word) & 0xFFFF]
    if even != len(data):
        value ^= data[-1]
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
    return value ^ _ALL


def fold(data: bytes) -> int:
    """The hash of innodb_checksum_algorithm=innodb."""
    value = 0
    for byte in data:
        value = (((value ^ byte ^ 1653893711) << 8) + value ^ 1463735687) + byte & _ALL
    return value


def page_crc32(page: bytes, *, compressed: bool) -> int:
    """The CRC-32C that the header of this page must have; ``compressed``: of a ROW_FORMAT=COMPRESSED tablespace."""
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
    if stored == second == NO_CHECKSUM:
        return None
    expected = page_crc32(page, compressed=compressed)
    if stored == second == expected or not any(page):
        return None
    if compressed:
        adler = adler32(page[34:], adler32(page[24:26], adler32(page[4:16], 1)))
        return None if stored == adler else (0, expected, stored)
    if stored == fold(page[4:26]) + fold(page[38:end]) & _ALL and second == fold(page[:26]):
        return None
    return (end, expected, second) if stored == expected else (0, expected, stored)
