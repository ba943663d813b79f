"""Values of MariaDB's compressed columns."""

from __future__ import annotations

import zlib

import pytest

from conformance.reference.errors import CodecError
from conformance.reference.tables.compressed_columns import uncompressed_value


def _deflated(value: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(value) + packer.flush()


@pytest.mark.parametrize(
    ("stored", "value"),
    [
        (b"", b""),
        (b"\0abc", b"abc"),
        (b"\x89\xc8" + bytes.fromhex("4b4c1c1e0000"), b"a" * 200),  # of 10.11.19
        (b"\x8a\x01\x2c" + _deflated(b"q" * 300), b"q" * 300),
        (b"\x82\x01\x2c" + zlib.compress(b"q" * 300), b"q" * 300),  # with column_compression_zlib_wrap
    ],
)
def test_values(stored: bytes, value: bytes) -> None:
    assert uncompressed_value(stored) == value


@pytest.mark.parametrize(
    ("stored", "code"),
    [
        (b"\x01abc", "bad-compression"),
        (b"\x79\x01x", "compression"),
        (b"\x89\xc8", "bad-length"),
        (b"\x89\xc8\xff\xff", "bad-compression"),
        (b"\x89\xc7" + bytes.fromhex("4b4c1c1e0000"), "bad-length"),
        (b"\x89\xc9" + bytes.fromhex("4b4c1c1e0000"), "bad-length"),
        (b"\x8f" + b"\xff" * 7 + _deflated(b"x"), "bad-length"),
    ],
)
def test_damaged_values(stored: bytes, code: str) -> None:
    with pytest.raises(CodecError) as caught:
        uncompressed_value(stored)
    assert caught.value.code == code
