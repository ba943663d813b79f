"""Damaged documents, and values that cannot be stored: the code of the error, the byte it names, the path to it."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.reference.jsonb.decode import decode, decode_scalar, read_varlen, scalar_end
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.layout import Placed, decode_stored, decode_strict, encode_stored, storage_free
from conformance.reference.jsonb.values import Opaque, UInt
from tests.reference.refusals import refused, where

SHARED = "02 0a00 4400" + "02 2200" * 10 + "0a00 2200" + "05 0100" * 10  # ten times the same array of ten

DOCUMENTS = [
    # --- scalars
    ("04 03", "bad-literal", 1, ""),
    ("04 ff", "bad-literal", 1, ""),
    ("04", "truncated", 1, ""),
    ("05 01", "truncated", 1, ""),
    ("06 01", "truncated", 1, ""),
    ("07 010203", "truncated", 1, ""),
    ("08 010203", "truncated", 1, ""),
    ("09 01020304050607", "truncated", 1, ""),
    ("0a 01020304050607", "truncated", 1, ""),
    ("0b 01020304050607", "truncated", 1, ""),
    ("0c", "truncated", 1, ""),
    ("0c 80", "truncated", 1, ""),
    ("0c 03 6161", "truncated", 2, ""),
    ("0c 8100", "truncated", 3, ""),
    ("0c 8080808080", "bad-length", 1, ""),
    ("0c 808080808000", "bad-length", 1, ""),
    ("0c 8080808010", "bad-length", 1, ""),  # 2^32
    ("0c ffffffff0f", "truncated", 6, ""),  # 2^32-1
    ("0d 00", "bad-type", 0, ""),
    ("0e 00", "bad-type", 0, ""),
    ("10 00", "bad-type", 0, ""),
    ("0f", "truncated", 1, ""),
    ("0f f6", "truncated", 2, ""),
    ("0f f6 02 61", "truncated", 3, ""),
    # --- the head of a container
    ("00 000000", "truncated", 1, ""),
    ("02 000004", "truncated", 1, ""),
    ("01 00000000 080000", "truncated", 1, ""),
    ("03 00000000 080000", "truncated", 1, ""),
    ("02 0000 0500", "bad-size", 1, ""),
    ("03 00000000 09000000", "bad-size", 1, ""),
    ("02 0100 0600 05 0100", "bad-count", 1, ""),
    ("00 0100 0a00 0b00 0000 05 0100", "bad-count", 1, ""),
    ("03 01000000 0c000000 05 01000000", "bad-count", 1, ""),
    ("01 01000000 12000000 13000000 0000 05 01000000", "bad-count", 1, ""),
    # --- values
    ("02 0100 0700 04 0300", "bad-literal", 6, ""),
    ("02 0200 0a00 04 0000 04 0300", "bad-literal", 9, ""),
    ("03 02000000 12000000 04 00000000 04 03000000", "bad-literal", 15, ""),
    ("02 0100 0700 0c 0600", "bad-value-offset", 5, "[0]"),
    ("02 0100 0700 0c 0800", "bad-value-offset", 5, "[0]"),
    ("02 0100 0700 0c 0700", "truncated", 8, "[0]"),
    ("02 0200 0a00 05 0100 0c 0900", "bad-value-offset", 8, "[1]"),
    ("03 02000000 12000000 05 01000000 0c 11000000", "bad-value-offset", 14, "[1]"),
    ("03 02000000 12000000 05 01000000 0c 13000000", "bad-value-offset", 14, "[1]"),
    ("02 0100 0700 0d 0700", "bad-type", 5, "[0]"),
    ("03 02000000 12000000 05 01000000 0d 12000000", "bad-type", 14, "[1]"),
    ("02 0100 0800 07 0700 01", "truncated", 8, "[0]"),
    ("02 0100 0c00 02 0700 0100 0500 00", "bad-count", 8, "[0]"),
    ("02 0100 0f00 02 0700 0100 0800 0c 0700 05", "truncated", 16, "[0].[0]"),
    (SHARED, "shared-children", 35, "[1]"),
    # --- keys
    ("00 0100 0c00 0a00 0100 05 0100 61", "bad-key-offset", 1, ""),
    ("00 0100 0c00 0c00 0100 05 0100 61", "bad-key-offset", 1, ""),
    ("00 0100 0c00 0b00 0200 05 0100 61", "bad-key-offset", 1, ""),
    ("01 01000000 14000000 12000000 0100 05 01000000 61", "bad-key-offset", 1, ""),
    ("01 01000000 14000000 13000000 0200 05 01000000 61", "bad-key-offset", 1, ""),
]


@pytest.mark.parametrize(("stored", "code", "offset", "path"), DOCUMENTS)
def test_a_damaged_document_says_which_byte_is_wrong(stored: str, code: str, offset: int, path: str) -> None:
    assert where(refused(decode, bytes.fromhex(stored))) == (code, offset, path)


@pytest.mark.parametrize("kind", [0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B])
def test_a_number_ends_where_its_last_byte_is(kind: int) -> None:
    width = {0x04: 1, 0x05: 2, 0x06: 2, 0x07: 4, 0x08: 4}.get(kind, 8)
    data = b"\xff" * 3 + bytes(width) + b"\xff"
    assert decode_scalar(data, kind, 3, 3 + width)[1] == 3 + width
    assert scalar_end(data, kind, 3, 3 + width) == 3 + width
    for read in (decode_scalar, scalar_end):
        error = refused(read, data, kind, 3, 2 + width)
        assert (where(error), error.expected, error.got) == (("truncated", 3, ""), width, width - 1)


def test_the_end_of_a_scalar_is_found_without_decoding_it() -> None:
    assert scalar_end(b"..\x02ab.", 0x0C, 2, 5) == 5
    assert scalar_end(b"..\xf6\x02ab.", 0x0F, 2, 6) == 6
    assert where(refused(scalar_end, b"..\x02ab.", 0x0C, 2, 4)) == ("truncated", 2, "")
    assert where(refused(scalar_end, b"..\xf6\x02ab.", 0x0F, 2, 5)) == ("truncated", 2, "")
    assert where(refused(scalar_end, b"..\x02ab.", 0x0D, 2, 5)) == ("bad-type", 2, "")
    assert where(refused(scalar_end, b"..\x80", 0x0C, 2, 3)) == ("truncated", 2, "")


def test_lengths_inside_of_documents_take_one_to_five_bytes() -> None:
    for length, raw in (
        (0, "00"),
        (127, "7f"),
        (128, "8001"),
        (16383, "ff7f"),
        (16384, "808001"),
        (2**32 - 1, "ffffffff0f"),
    ):
        data = b"." + bytes.fromhex(raw) + b"."
        assert read_varlen(data, 1, len(data)) == (length, len(data) - 1)
        assert where(refused(read_varlen, data, 1, len(data) - 2)) == ("truncated", 1, "")
    assert read_varlen(bytes.fromhex("8000"), 0, 2) == (0, 2)  # need not be minimal


@pytest.mark.parametrize(
    ("value", "code", "offset"),
    [
        ("ab\ud800", "bad-string", 2),
        ({"k": ["\udfff"]}, "bad-string", 0),
        (2**63, "integer-range", None),
        (-(2**63) - 1, "integer-range", None),
        (UInt(2**64), "integer-range", None),
        (UInt(-1), "integer-range", None),
        (Opaque(256, b""), "bad-field-type", None),
        (Opaque(-1, b""), "bad-field-type", None),
        ((1,), "not-a-json-value", None),
        (b"", "not-a-json-value", None),
        ({1: 2}, "not-a-json-value", None),
        ({"k" * 65536: 1}, "mysql-3151", None),
    ],
)
def test_what_cannot_be_stored_says_why(value: Any, code: str, offset: int | None) -> None:
    error = refused(encode, value)
    assert (error.code, error.offset) == (code, offset)


def test_the_greatest_values_can_be_stored() -> None:
    values: list[Any] = [
        2**63 - 1,
        -(2**63),
        UInt(2**64 - 1),
        UInt(0),
        Opaque(255, b""),
        Opaque(0, b""),
        {"k" * 65535: 1},
    ]
    for value in values:
        assert decode(encode(value)) == value


# What no writer makes, though a lenient reading may pass it.
STRICT = [
    ("05 0100 00", "trailing-bytes", 3, ""),
    ("02 0000 0400 ff", "trailing-bytes", 5, ""),
    ("02 0200 0c00 0c 0a00 0c 0a00 0161", "overlap", 11, "[1]"),
    ("00 0200 1400 1200 0100 1300 0100 05 0100 05 0200 6261", "key-order", 20, ""),
    ("00 0200 1400 1200 0100 1300 0100 05 0100 05 0200 6161", "key-order", 20, ""),
    ("00 0200 1400 1200 0100 1200 0200 05 0100 05 0200 6162", "overlap", 19, ""),
    ("00 0100 0c00 0b00 0100 05 0100 ff", "bad-utf8", 12, ""),
    ("02 0100 0f00 03 0700 00000000 08000000", "format", 8, "[0]"),
    ("03 01000000 0d000000 05 ffff0000", "bad-inlined-value", 9, "[0]"),
    ("03 01000000 0d000000 04 01000001", "bad-inlined-value", 9, "[0]"),
    ("02 0100 0700 04 0101", "bad-inlined-value", 5, "[0]"),
    ("0c 01 ff", "bad-utf8", 1, ""),
    ("0c 8100 61", "not-minimal", 1, ""),
    ("07 01000000", "not-minimal", 1, ""),
    ("09 0100000000000000", "not-minimal", 1, ""),
    ("0b 000000000000f07f", "not-finite", 1, ""),
    ("0b 000000000000f87f", "not-finite", 1, ""),
    ("0f 0a 03 616263", "bad-payload", 1, ""),
    ("0f 07 09 010203040506070809", "bad-payload", 1, ""),
    ("0f 0b 07 01020304050607", "bad-payload", 1, ""),
    ("0f 0c 00", "bad-payload", 1, ""),
    ("0f 10 00", "bad-payload", 1, ""),
    ("0f 10 09 010203040506070809", "bad-payload", 1, ""),
    ("0f f6 01 05", "bad-payload", 1, ""),
    ("02 0200 0d00 0c 0a00 0c 0c00 0161 ff", "truncated", 13, "[1]"),
]


@pytest.mark.parametrize(("stored", "code", "offset", "path"), STRICT)
def test_a_strict_reading_says_which_byte_no_writer_makes(stored: str, code: str, offset: int, path: str) -> None:
    assert where(refused(decode_stored, bytes.fromhex(stored))) == (code, offset, path)


@pytest.mark.parametrize("size", [1, 8])
def test_bit_values_have_one_to_eight_bytes(size: int) -> None:
    assert decode_stored(bytes((15, 16, size)) + bytes(size)) == Opaque(16, bytes(size))


@pytest.mark.parametrize(
    ("stored", "code", "offset"),
    [
        ("02 0200 0c00 0c 0a00 0c 0a00 0161", "overlap", 11),
        ("00 0100 0c00 0b00 0200 05 0100 61", "bad-key-offset", 1),
        ("01 01000000 14000000 13000000 0200 05 01000000 61", "bad-key-offset", 1),
        ("02 0100 0700 0c 0600", "bad-value-offset", 5),
        ("02 0100 0700 0c 0700", "bad-value-offset", 5),
        ("02 0100 0800 07 0700 01", "truncated", 8),
        ("02 0100 0b00 02 0700 0000 0500", "bad-size", 8),
    ],
)
def test_free_space_of_a_damaged_document_says_which_byte_is_wrong(stored: str, code: str, offset: int) -> None:
    assert where(refused(storage_free, bytes.fromhex(stored))) == (code, offset, "")


def test_a_layout_that_does_not_fill_its_container_is_refused() -> None:
    one = ((None, 1),)
    assert encode_stored(Placed(False, False, 8, (), one, ((7, b"x"),))) == bytes.fromhex("02 0100 0800 05 0100 78")
    error = refused(encode_stored, Placed(False, False, 8, (), one, ()))
    assert (error.code, error.expected, error.got) == ("bad-layout", 8, 7)
    for place in (-1, 7, 8):
        error = refused(encode_stored, Placed(False, False, 7, (), one, ((place, b"x"),)))
        assert (error.code, error.offset) == ("bad-layout", place)


def test_a_document_of_four_gigabytes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    document: list[Any] = ["x" * 70_000, 1]
    size = len(encode(document)) - 1
    monkeypatch.setattr("conformance.reference.jsonb.encode.LARGE_LIMIT", size)
    assert decode(encode(document)) == document
    monkeypatch.setattr("conformance.reference.jsonb.encode.LARGE_LIMIT", size - 1)
    error = refused(encode, document)
    assert (error.code, getattr(error, "number", None), getattr(error, "symbol", None)) == (
        "mysql-3150", 3150, "ER_JSON_VALUE_TOO_BIG",
    )  # fmt: skip


def test_large_containers_extend_small_numbers_by_their_sign_and_take_long_keys() -> None:
    numbers = [256, -256, 255, 32767, -32768, UInt(256), UInt(65535), 100_000, True, None]
    documents: list[Any] = [[*numbers, "x" * 70_000], {name * 40_000: 1 for name in "klm"}, {"\udcff": 1}]
    for document in documents:
        assert decode(encode(document)) == document
    stored = encode(documents[0])
    assert decode_strict(stored) == documents[0]
    assert stored[9:24] == bytes.fromhex("05 00010000 05 00ffffff 05 ff000000")


def sharing(count: int, length: int) -> bytes:
    """An array whose elements are one and the same string."""
    text = encode("x" * length)[1:]
    place = 4 + 3 * count
    head = count.to_bytes(2, "little") + (place + len(text)).to_bytes(2, "little")
    return b"\x02" + head + (b"\x0c" + place.to_bytes(2, "little")) * count + text


def sharing_key(count: int, length: int) -> bytes:
    """An object whose members have one and the same key."""
    place = 4 + 7 * count
    head = count.to_bytes(2, "little") + (place + length).to_bytes(2, "little")
    keys = (place.to_bytes(2, "little") + length.to_bytes(2, "little")) * count
    return b"\x00" + head + keys + b"\x05\x01\x00" * count + b"k" * length


def test_short_strings_and_keys_may_be_shared_and_long_ones_may_not() -> None:
    assert decode(sharing(20, 158)) == ["x" * 158] * 20
    assert decode(sharing_key(20, 160)) == {"k" * 160: 1}
    # The bytes that are counted are those of the string with its length; the document has them once.
    assert where(refused(decode, sharing(20, 159))) == ("shared-children", 65, "[1]")
    assert where(refused(decode, sharing(2, 3000))) == ("shared-children", 11, "[1]")
    assert where(refused(decode, sharing_key(20, 161))) == ("shared-children", 145, "")
    assert decode(sharing(1, 3000)) == ["x" * 3000]


def test_strings_inside_of_containers_of_every_length_and_of_any_bytes() -> None:
    for length in (0, 1, 127, 128, 129, 160, 161, 16_383, 16_384):
        for document in (["x" * length, 1], [1, "x" * length], {"k": "x" * length}):
            assert decode(encode(document)) == document  # type: ignore[arg-type]
    assert decode(bytes.fromhex("02 0100 0900 0c 0700 01 ff")) == ["\udcff"]
