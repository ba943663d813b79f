"""Integer packings at their boundaries, and the bounded reader."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from conformance.reference.cursor import (
    Cursor,
    encode_packed,
    encode_signed_varint,
    encode_varint,
    packed_size,
)
from conformance.reference.errors import DecodeError
from tests.reference.refusals import refused, where

if TYPE_CHECKING:
    from collections.abc import Callable

# binlog-events 1.1, binlog-events 1.2.
_PACKED = [
    (0, "00"),
    (250, "fa"),
    (251, "fcfb00"),
    (255, "fcff00"),
    (3409, "fc510d"),
    (0xFFFF, "fcffff"),
    (0x10000, "fd000001"),
    (0xFFFFFF, "fdffffff"),
    (0x1000000, "fe0000000100000000"),
    ((1 << 64) - 1, "feffffffffffffffff"),
]
_VARINT = [
    (0, "00"),
    (1, "02"),
    (9, "12"),
    (109, "da"),
    (127, "fe"),
    (128, "0102"),
    (171, "ad02"),
    (223, "7d03"),
    (90704, "83120b"),
    (1795154439830779, "7ffbfcb3f6ae6006"),
    ((1 << 56) - 1, "7fffffffffffffff"),
    (1 << 56, "ff0000000000000001"),
    ((1 << 64) - 1, "ffffffffffffffffff"),
]


@pytest.mark.parametrize(("value", "stored"), _PACKED)
def test_a_packed_integer_both_ways(value: int, stored: str) -> None:
    raw = bytes.fromhex(stored)
    assert encode_packed(value) == raw
    assert packed_size(value) == len(raw)
    cursor = Cursor(raw)
    assert cursor.packed("n") == value
    cursor.expect_end("n")


@pytest.mark.parametrize(("value", "stored"), _VARINT)
def test_a_varint_both_ways(value: int, stored: str) -> None:
    raw = bytes.fromhex(stored)
    assert encode_varint(value) == raw
    cursor = Cursor(raw)
    assert cursor.varint("n") == value
    cursor.expect_end("n")


@pytest.mark.parametrize("bits", range(65))
def test_a_varint_takes_a_byte_for_seven_bits_and_nine_above_56(bits: int) -> None:
    value = (1 << bits) - 1
    raw = encode_varint(value)
    assert len(raw) == (9 if bits > 56 else max(1, (bits + 6) // 7))
    assert Cursor(raw).varint("n") == value


@pytest.mark.parametrize(("value", "unsigned"), [(0, 0), (-1, 1), (1, 2), (-2, 3), ((1 << 63) - 1, (1 << 64) - 2)])
def test_a_signed_varint_is_zigzag(value: int, unsigned: int) -> None:
    raw = encode_signed_varint(value)
    assert Cursor(raw).varint("n") == unsigned
    assert Cursor(raw).signed_varint("n") == value


def test_nine_is_24_as_a_signed_varint() -> None:
    assert encode_signed_varint(9).hex() == "24"


@pytest.mark.parametrize("stored", ["fc0500", "fd050000", "fe0500000000000000"])
def test_longer_forms_of_a_packed_integer_are_read(stored: str) -> None:
    assert Cursor(bytes.fromhex(stored)).packed("n") == 5


@pytest.mark.parametrize(
    ("stored", "code"), [("fb", "bad-packed-integer"), ("ff", "bad-packed-integer"), ("", "truncated")]
)
def test_what_is_no_packed_integer_is_refused(stored: str, code: str) -> None:
    with pytest.raises(DecodeError) as caught:
        Cursor(bytes.fromhex(stored)).packed("n")
    assert caught.value.code == code


@pytest.mark.parametrize(("value", "stored"), [*_PACKED, *_VARINT[1:]])
def test_a_cut_off_integer_is_refused(value: int, stored: str) -> None:
    raw = bytes.fromhex(stored)
    read = Cursor.packed if (value, stored) in _PACKED else Cursor.varint
    for end in range(len(raw)):
        with pytest.raises(DecodeError) as caught:
            read(Cursor(raw[:end]), "n")
        assert (caught.value.code, caught.value.path) == ("truncated", ("n",))


def test_numbers_outside_the_range_cannot_be_packed() -> None:
    for encode in (encode_packed, encode_varint):
        with pytest.raises(ValueError, match="-1"):
            encode(-1)
    with pytest.raises(ValueError, match="2"):
        encode_varint(1 << 64)


def test_a_cursor_never_leaves_its_bounds() -> None:
    cursor = Cursor(b"0123456789", 2, 6)
    assert (cursor.take(3, "a"), len(cursor)) == (b"234", 1)
    for read in (cursor.u2, cursor.u4, cursor.u8, partial(cursor.number, 3)):
        with pytest.raises(DecodeError) as caught:
            read("b")
        assert caught.value.offset == 5
    for count in (-1, 2, 1 << 70):
        with pytest.raises(DecodeError):
            cursor.take(count, "c")
        with pytest.raises(DecodeError):
            cursor.skip(count, "c")
    with pytest.raises(DecodeError) as caught:
        cursor.expect_end("d")
    assert caught.value.code == "trailing-bytes"
    assert cursor.rest("e") == b"5"
    cursor.expect_end("d")
    with pytest.raises(DecodeError):
        cursor.u1("e")


def test_lists_of_packed_integers_and_strings_end_where_they_should() -> None:
    for raw, numbers in ((b"", []), (b"\1\2\xfa", [1, 2, 250]), (b"\1\xfc\0\1\2", [1, 256, 2]), (b"\xfc\xfb\0", [251])):
        cursor = Cursor(b"." + raw + b".", 1, 1 + len(raw))
        assert list(cursor.packed_list("field")) == numbers
        assert len(cursor) == 0
    for raw in (b"\xfb", b"\1\xff", b"\1\xfc\0"):
        with pytest.raises(DecodeError):
            Cursor(raw).packed_list("field")
    for strings in ([], [b""], [b"a", b"", b"bc"], [b"x" * 250], [b"x" * 251, b"y"], [b"x" * 300]):
        raw = b"".join(encode_packed(len(item)) + item for item in strings)
        cursor = Cursor(b"." + raw + b".", 1, 1 + len(raw))
        assert cursor.packed_strings("field") == strings
        assert len(cursor) == 0
        cursor = Cursor(b"." + raw + b"\1z", 1)
        assert cursor.packed_strings("field", len(strings)) == strings
        assert len(cursor) == 2
        for count in (len(strings) + 1, len(strings) + 2):
            with pytest.raises(DecodeError) as caught:
                Cursor(raw).packed_strings("field", count)
            assert (caught.value.code, caught.value.offset) == ("truncated", len(raw))
    with pytest.raises(DecodeError) as caught:
        Cursor(b"\1a\5bc").packed_strings("field")
    assert (caught.value.code, caught.value.offset) == ("truncated", 3)
    assert Cursor(b"ab", 1).skip(0, "field") == 1
    assert encode_packed(0) == b"\0"
    with pytest.raises(ValueError, match="negative"):
        encode_packed(-1)


@pytest.mark.parametrize(
    ("read", "stored", "code", "offset"),
    [
        (Cursor.packed_list, "01fb", "bad-packed-integer", 1),
        (Cursor.packed_list, "01fc01", "truncated", 1),
        (Cursor.packed_strings, "0161fb" + "00" * 300, "bad-packed-integer", 2),  # fb is no length of 251 bytes
        (Cursor.packed_strings, "0161fc", "truncated", 2),
        (Cursor.packed_strings, "01610262", "truncated", 3),
        (Cursor.packed_bytes, "0361", "truncated", 1),
        (Cursor.varint, "0700", "truncated", 0),
        (Cursor.varint_bytes, "", "truncated", 0),
        (Cursor.varint_bytes, "0461", "truncated", 1),
        (Cursor.signed_varint, "", "truncated", 0),
        (Cursor.signed_varint, "01", "truncated", 0),
    ],
)
def test_an_error_names_the_field_and_the_place_where_it_went_wrong(
    read: Callable[[Cursor, str], object], stored: str, code: str, offset: int
) -> None:
    assert where(refused(read, Cursor(bytes.fromhex(stored)), "field")) == (code, offset, "field")
