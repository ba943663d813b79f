"""Integers and checksums that the compiled build reads in C: the same for every kind of bytes, at every place."""

from __future__ import annotations

import random
from zlib import crc32 as reference_crc

import pytest

from conformance.reference.crc import crc32
from conformance.reference.integers import number_at, u4_at, u8_at

RANDOM = random.Random(4)
DATA = bytes(range(250, 256)) + RANDOM.randbytes(40) + b"\xff" * 12
KINDS = (bytes, bytearray, memoryview)


@pytest.mark.parametrize("kind", KINDS)
def test_integers_are_little_endian_and_unsigned_at_every_place(kind: type[bytes]) -> None:
    data = kind(DATA)
    for place in range(len(DATA) - 8):
        assert u4_at(data, place) == int.from_bytes(DATA[place : place + 4], "little")
        assert u8_at(data, place) == int.from_bytes(DATA[place : place + 8], "little")
        for size in (*range(9), 12):
            assert number_at(data, place, size) == int.from_bytes(DATA[place : place + size], "little")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", [0, 1, 0xFFFFFFFF, 0x2144DF1C])
def test_checksums_are_those_of_zlib(kind: type[bytes], start: int) -> None:
    for size in (*range(80), *range(500, 530), 4096):
        data = RANDOM.randbytes(size)
        assert crc32(kind(data), start) == reference_crc(data, start)
    assert crc32(kind(b"123456789")) == 0xCBF43926  # the check value of CRC-32
