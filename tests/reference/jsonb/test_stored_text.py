"""The text straight from the bytes is the text of the decoded value: on vectors, generated and damaged documents."""

from __future__ import annotations

import random
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.reference.errors import CodecError
from conformance.reference.jsonb import leaves, stored_text
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.stored_text import document_text
from conformance.reference.jsonb.text import format_double, format_text
from conformance.reference.jsonb.values import JsonValue, Opaque, UInt
from generators.strategies.documents import documents
from tests.reference.jsonb.handmade import array, inlined, members, number, text
from tests.reference.jsonb.jsonb_vectors import ENCODINGS, FREE, READINGS, deep_bytes, shared_children


def told(data: bytes, *, straight: bool) -> object:
    """The text, or all that the error says."""
    try:
        return document_text(data) if straight else format_text(decode(data))
    except CodecError as error:
        return type(error), error.code, str(error), error.path, error.offset


def check(data: bytes) -> None:
    assert told(data, straight=True) == told(data, straight=False)


@pytest.mark.parametrize("data", [data for _, _, data in ENCODINGS] + [each[1] for each in (*READINGS, *FREE)])
def test_vectors_have_one_text(data: bytes) -> None:
    check(data)


@given(documents(), st.integers(0), st.integers(0, 255))
def test_generated_documents_have_one_text_also_cut_and_with_a_byte_changed(
    value: JsonValue, place: int, byte: int
) -> None:
    data = encode(value)
    check(data)
    at = place % len(data)
    check(data[:at])
    check(data[:at] + bytes((byte,)) + data[at + 1 :])


SAMPLE: JsonValue = {
    "a": [1, -1, UInt(65535), 70000, -70000, UInt(1 << 32), 1 << 40, UInt(1 << 63), None, True, False],
    "b": {"": 1.5, "é": "text", "long": "x" * 127, "over": "y" * 300, "tab\t": 'q"\\\x01é'},
    "c": [[], {}, [[]], Opaque(246, bytes.fromhex("0a0280000000 0c22".replace(" ", ""))), Opaque(15, b"abc")],
    "d": [{"sku": "s", "n": n} for n in range(3)],
}


def test_every_truncation_and_every_changed_byte_has_one_text() -> None:
    data = encode(SAMPLE)
    changes = random.Random(4)
    for at in range(len(data)):
        check(data[:at])
        check(data[:at] + bytes((changes.randrange(256),)) + data[at + 1 :])
        check(data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :])


def test_large_containers_read_offsets_and_numbers_of_four_bytes() -> None:
    value: JsonValue = [1 << 40, "x" * 70_000, -(1 << 31), (1 << 31) - 1, UInt((1 << 32) - 1), {"k" * 200: 1.25}, "end"]
    assert document_text(encode(value)) == format_text(value)
    check(array(inlined(-5), number(1 << 30), text("t"), large=True, hole=9))


@pytest.mark.parametrize("count", [16_384, 16_385, 16_386, 40_000])
def test_long_arrays_are_written_in_pieces(count: int) -> None:
    inner: JsonValue = [*range(count - 2), "x", {"k": None}]
    value: JsonValue = [1, inner, "between", inner, [], {"a": inner}]
    assert document_text(encode(value)) == format_text(value)


@pytest.mark.parametrize("keys", [[b"b", b"a"], [b"aa", b"b"], [b"a", b"a"], [b"\xff", b"a"], [b"a", b"\xff"]])
def test_members_out_of_order_twice_or_not_in_utf_8_take_the_other_way(keys: list[bytes]) -> None:
    for large in (False, True):
        check(members(keys, inlined(1), text("v"), large=large))


@pytest.mark.parametrize("levels", [99, 100, 101])
def test_the_depth_of_a_document_has_the_same_border(levels: int) -> None:
    check(deep_bytes(levels))


@pytest.mark.parametrize("levels", [1, 2, 8, 40])
def test_shared_children_are_counted(levels: int) -> None:
    check(shared_children(levels))


def test_bytes_of_long_strings_are_counted() -> None:
    entry = pack("<BH", 0x0C, 0)
    head = 4 + 3 * 4
    string = b"\xc8\x01" + b"s" * 200
    data = b"\x02" + pack("<HH", 4, head + len(string)) + (entry[:1] + pack("<H", head)) * 4 + string
    assert told(data, straight=True) == told(data, straight=False)
    assert "shared-children" in str(told(data, straight=True))


def test_keys_are_kept_only_where_the_bytes_compared_hold_them_all() -> None:
    stored_text._known_prefixes.clear()
    first = members([b"a", b"bb"], inlined(1), inlined(2))
    second = first.replace(b"abb", b"acc")
    assert document_text(first) == '{"a": 1, "bb": 2}'
    assert document_text(second) == '{"a": 1, "cc": 2}'
    assert document_text(first) == '{"a": 1, "bb": 2}'


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_shortest_digits_are_those_of_python(value: float) -> None:
    assert leaves.shortest(value) == repr(value)
    assert leaves.double_at(b"x" + pack("<d", value), 1).hex() == value.hex()


@pytest.mark.parametrize("exponent", range(-20, 20))
def test_digits_of_every_size_come_in_the_same_notation(exponent: int) -> None:
    for digits in ("1", "9", "12", "1.5", "1.25", "9.999999999999999", "1.2345678901234567", "1.00000000000001"):
        for sign in ("", "-"):
            value = float(f"{sign}{digits}e{exponent}")
            assert leaves.shortest(value) == repr(value)
            assert document_text(b"\x02" + pack("<HH", 1, 15) + b"\x0b\x07\x00" + pack("<d", value)) == (
                f"[{format_double(value)}]"
            )


@given(st.text())
def test_quoted_strings_are_those_of_the_text(value: str) -> None:
    raw = value.encode("utf-8", "replace")
    assert leaves.quoted(b"ab" + raw + b"c", 2, 2 + len(raw)) == format_text(raw.decode())
    with pytest.raises(UnicodeDecodeError):
        leaves.quoted(raw + b"\xff", 0, len(raw) + 1)
