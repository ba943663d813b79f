"""Checksums of pages against a bitwise CRC-32C, for every length around the places where a message is folded."""

from __future__ import annotations

import random

import pytest

from conformance.reference.innodb.checksums import NO_CHECKSUM, crc32c, fold, page_crc32, wrong_checksum


def bitwise(data: bytes) -> int:
    """CRC-32C by its definition (innodb-sdi B.8)."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def test_known_values() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(b"") == 0
    assert crc32c(bytes(32)) == 0x8A9136AA


@pytest.mark.parametrize("length", [*range(1, 64), 1018, 1024, 4050, 16338])
def test_every_length(length: int) -> None:
    data = random.Random(length).randbytes(length)
    assert crc32c(data) == bitwise(data)


def page(size: int, *, compressed: bool) -> bytearray:
    made = bytearray(random.Random(size).randbytes(size))
    made[:4] = page_crc32(bytes(made), compressed=compressed).to_bytes(4, "big")
    if not compressed:
        made[-8:-4] = made[:4]
    return made


@pytest.mark.parametrize("compressed", [False, True])
def test_one_byte_is_noticed_where_the_checksum_covers_it(compressed: bool) -> None:
    data = page(1024, compressed=compressed)
    assert wrong_checksum(bytes(data), compressed=compressed) is None
    outside = {*range(16, 24), *range(26, 34)} if compressed else {*range(26, 38), *range(1020, 1024)}
    for place in range(1024):
        data[place] ^= 0x41
        assert (wrong_checksum(bytes(data), compressed=compressed) is None) == (place in outside), place
        data[place] ^= 0x41


def test_both_fields_must_follow_one_rule() -> None:
    data = page(1024, compressed=False)
    data[:4] = (fold(bytes(data[4:26])) + fold(bytes(data[38:-8])) & 0xFFFFFFFF).to_bytes(4, "big")
    found = wrong_checksum(bytes(data), compressed=False)
    assert found is not None
    assert found[0] == 0
    data[-8:-4] = fold(bytes(data[:26])).to_bytes(4, "big")
    assert wrong_checksum(bytes(data), compressed=False) is None
    data[:4] = NO_CHECKSUM.to_bytes(4, "big")
    assert wrong_checksum(bytes(data), compressed=False) is not None
    data[-8:-4] = NO_CHECKSUM.to_bytes(4, "big")
    assert wrong_checksum(bytes(data), compressed=False) is None
