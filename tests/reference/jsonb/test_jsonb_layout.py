"""Views, layouts and free space of stored documents; values as tagged data; depth and order of values."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.reference.errors import DecodeError, EncodeError
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode, encode_varlen
from conformance.reference.jsonb.layout import (
    Placed,
    decode_stored,
    decode_strict,
    encode_stored,
    storage_free,
    stored_value,
)
from conformance.reference.jsonb.tagged import from_tagged, to_tagged
from conformance.reference.jsonb.values import BIT, BLOB, DECIMAL, Opaque, UInt, depth, key_order, same
from conformance.reference.jsonb.view import open_document
from conformance.reference.partial.in_place import remove_in_place, replace_in_place

LONG = "x" * 70_000


def holes() -> bytes:
    """``{"a": 1, "b": "str"}`` without a, and b made shorter: holes behind the entries and behind the value."""
    stored = bytearray(encode({"a": 1, "b": "str"}))
    view = open_document(stored)
    remove_in_place(view, 0, [])
    view = open_document(stored)
    assert replace_in_place(view, 0, 0x0C, b"\x01x", []) is True
    return bytes(stored)


# --- views


def test_a_view_finds_members_by_binary_search_in_stored_order() -> None:
    for members in (["", "Z", "a", "b", "aa", "é", "zzz"], [f"k{number}" for number in range(200)], []):
        for extra in ({}, {"pad": LONG}):
            stored = encode({**dict.fromkeys(members, 1), **extra})
            view = open_document(stored)
            assert view.is_object
            assert view.is_large is bool(extra)
            keys = sorted([*members, *extra], key=key_order)
            assert [view.key(index).decode() for index in range(view.count)] == keys
            for index, key in enumerate(keys):
                assert view.find(key.encode()) == index
            for absent in ("A", "zzzz", "k", "k999", "pa"):
                if absent not in keys:
                    assert view.find(absent.encode()) == -1


def test_unsorted_keys_may_stay_unseen() -> None:
    stored = bytes.fromhex("000200140012000100130001000501000502006261")
    view = open_document(stored)
    assert decode(stored) == {"b": 1, "a": 2}
    assert [view.find(key) for key in (b"a", b"b")] == [1, -1]


def test_elements_of_every_kind_give_their_value_and_place() -> None:
    items: list[Any] = [
        None,
        True,
        -1,
        UInt(9),
        100_000,
        UInt(70_000),
        2**40,
        1.5,
        "text",
        Opaque(15, b"x"),
        [1],
        {"k": 2},
    ]
    for extra in ([], [LONG]):
        stored = encode([*items, *extra])
        view = open_document(stored)
        assert view.count == len(items) + len(extra)
        last = view.values_end
        for index, item in enumerate(items):
            element = view.element(index)
            assert same(element.value(), item)
            place = view.place(index)
            if place is not None:
                assert place[0] == last  # dense, in entry order
                last = place[1]
        inlined = 4 if not extra else 6
        assert sum(view.place(index) is None for index in range(len(items))) == inlined


def test_a_document_of_no_bytes_is_null() -> None:
    assert open_document(b"").value() is None
    assert decode_stored(b"") is None
    assert storage_free(b"") == 0


@pytest.mark.parametrize(
    ("stored", "code"),
    [
        ("020100090 00c0600 0161", "bad-value-offset"),
        ("02 0100 0900 0c0a00 0161", "bad-value-offset"),
        ("02 0100 0900 020700 0000", "truncated"),
        ("02 0100 0b00 020700 0000 0500", "bad-size"),
    ],
)
def test_a_view_checks_what_it_visits(stored: str, code: str) -> None:
    view = open_document(bytes.fromhex(stored.replace(" ", "")))
    with pytest.raises(DecodeError) as caught:
        view.element(0)
    assert caught.value.code == code


def test_a_view_does_not_look_at_what_it_does_not_visit() -> None:
    stored = bytes.fromhex("02 0200 0c00 0d0a00 0c0a00 0161".replace(" ", ""))
    view = open_document(stored)
    assert view.element(1).value() == "a"
    with pytest.raises(DecodeError):
        view.element(0).value()


# --- layouts


def test_the_layout_says_where_everything_is_and_what_the_holes_hold() -> None:
    stored = holes()
    layout = decode_stored(stored)
    assert layout == Placed(
        is_object=True,
        large=False,
        size=24,
        keys=((19, b"b"),),
        values=((20, "x"),),
        holes=((11, stored[12:20]), (22, b"tr")),
    )
    assert encode_stored(layout) == stored
    assert stored_value(layout) == {"b": "x"}
    assert storage_free(stored) == 10


def test_scalars_have_no_holes() -> None:
    for value in (None, True, 5, UInt(5), 1.5, "x", Opaque(15, b"")):
        stored = encode(value)
        assert same(stored_value(decode_stored(stored)), value)
        assert encode_stored(decode_stored(stored)) == stored
        assert storage_free(stored) == 0


def test_free_space_adds_up_over_nested_containers() -> None:
    inner = bytes.fromhex("0000 0600 ffff")  # an empty array with two bytes of hole
    stored = b"\x02" + (2).to_bytes(2, "little") + (10 + 6 + 1 + 4 + 3).to_bytes(2, "little")
    stored += bytes.fromhex("020a00 021100") + inner + b"\xee" + bytes.fromhex("0000 0400") + b"abc"
    assert decode(stored) == [[], []]
    assert storage_free(stored) == 2 + 1 + 3
    assert encode_stored(decode_stored(stored)) == stored


@pytest.mark.parametrize(
    "layout",
    [
        Placed(is_object=False, large=False, size=5, keys=(), values=(), holes=()),
        Placed(is_object=False, large=False, size=4, keys=(), values=(), holes=((4, b"x"),)),
        Placed(is_object=False, large=False, size=4, keys=(), values=(), holes=((-1, b"x"),)),
        Placed(is_object=False, large=False, size=9, keys=(), values=((8, "a"),), holes=()),
        Placed(is_object=True, large=False, size=12, keys=((12, b"a"),), values=((None, 1),), holes=()),
    ],
)
def test_a_layout_that_leaves_or_crosses_its_container_is_refused(layout: Placed) -> None:
    with pytest.raises(EncodeError) as caught:
        encode_stored(layout)
    assert caught.value.code == "bad-layout"


def test_errors_of_the_strict_reading_name_the_way_to_the_value() -> None:
    stored = bytearray(encode({"a": [1, {"b": "é"}]}))
    stored[-1] = 0x20
    with pytest.raises(DecodeError) as caught:
        decode_strict(bytes(stored))
    assert caught.value.code == "bad-utf8"
    assert caught.value.path == ("[0]", "[1]", "[0]")
    assert caught.value.offset == len(stored) - 3


# --- small things of values


@pytest.mark.parametrize(
    ("length", "data"),
    [(0, "00"), (127, "7f"), (128, "8001"), (16383, "ff7f"), (16384, "808001"), (2097152, "80808001"),
     (2**32 - 1, "ffffffff0f")],
)  # fmt: skip
def test_lengths_have_their_minimal_form(length: int, data: str) -> None:
    assert encode_varlen(length).hex() == data


def test_depth_counts_containers_and_not_scalars() -> None:
    values: list[Any] = [1, [], {}, [[]], {"a": [1]}, [1, [2, {"b": []}]]]
    assert [depth(value) for value in values] == [0, 1, 1, 2, 2, 4]
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert depth(deep) == 100_000
    while isinstance(deep, list):  # taken apart by hand: the interpreter frees it by recursion
        deep = deep[0]


def test_same_tells_types_apart() -> None:
    alike: list[Any] = [1, True, 1.0, UInt(1), "1", [1], {"1": 1}, opaque.decimal_from_text("1")]
    for first in alike:
        for second in alike:
            assert same(first, second) is (first is second)
    assert not same(0.0, -0.0)
    assert same(float("nan"), float("nan"))
    assert same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not same([1, 2], [1])
    assert not same({"a": 1}, {"b": 1})


@pytest.mark.parametrize("value", [object(), (1,), b"x", 2**63, UInt(2**64), Opaque(256, b""), "\ud800", {"a": {1}}])
def test_what_is_no_json_value_is_refused(value: Any) -> None:
    with pytest.raises(EncodeError):
        encode(value)


# --- tagged data


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (None, None),
        (5, 5),
        (UInt(5), {"$type": "UNSIGNED INTEGER", "text": "5"}),
        (1.0, 1.0),
        ("$x", "$x"),
        ({"a": [True]}, {"a": [True]}),
        ({"$a": 1, "b": UInt(2)}, {"$object": [["$a", 1], ["b", {"$type": "UNSIGNED INTEGER", "text": "2"}]]}),
        (opaque.decimal_from_text("1.50"), {"$type": "DECIMAL", "text": "1.50"}),
        (opaque.date(2024, 2, 29), {"$type": "DATE", "text": "2024-02-29"}),
        (opaque.time(1, 2, 3, 4, negative=True), {"$type": "TIME", "text": "-01:02:03.000004"}),
        (opaque.datetime(2024, 2, 29, 1, 2, 3), {"$type": "DATETIME", "text": "2024-02-29 01:02:03.000000"}),
        (opaque.timestamp(2024, 2, 29, 1, 2, 3), {"$type": "TIMESTAMP", "text": "2024-02-29 01:02:03.000000"}),
        (Opaque(BIT, b"\x05"), {"$type": "BIT", "field_type": 16, "hex": "05"}),
        (Opaque(BLOB, b""), {"$type": "BLOB", "field_type": 252, "hex": ""}),
        (Opaque(15, b"\xff"), {"$type": "OPAQUE", "field_type": 15, "hex": "ff"}),
        # A payload that its own text does not give again keeps its bytes.
        (
            Opaque(DECIMAL, bytes.fromhex("0a018000000300")),
            {"$type": "DECIMAL", "text": "3.0", "hex": "0a018000000300"},
        ),
        (Opaque(DECIMAL, b"\x02"), {"$type": "OPAQUE", "field_type": 246, "hex": "02"}),
    ],
)
def test_tagged_data_says_what_plain_json_cannot(value: Any, data: Any) -> None:
    assert to_tagged(value) == data
    assert same(from_tagged(json.loads(json.dumps(data))), value)


def test_hand_written_tags_are_read() -> None:
    assert same(from_tagged({"$type": "INTEGER", "text": "5"}), 5)
    assert same(from_tagged({"$type": "DOUBLE", "text": "5"}), 5.0)
    assert from_tagged({"$type": "DATETIME", "text": "2024-02-29"}) == opaque.datetime(2024, 2, 29)
    assert from_tagged({"$type": "TIME", "text": "01:02:03"}) == opaque.time(1, 2, 3)
    assert from_tagged({"$type": "DATE", "hex": "0000000000bab219"}) == opaque.date(2024, 2, 29)


@pytest.mark.parametrize(
    "data",
    [
        {"$type": "NUMBER", "text": "1"},
        {"$type": "DATE"},
        {"$type": "DATE", "text": "2024"},
        {"$type": "DATE", "text": "a-b-c"},
        {"$type": "OPAQUE", "hex": "zz", "field_type": 15},
        {"$type": "OPAQUE", "hex": "00"},
        {"$type": "UNSIGNED INTEGER", "text": "x"},
        {"$type": "INTEGER"},
        {"$type": ["a"], "text": "1"},
        {"$object": [[None, 1]]},
        {"$object": [["$a"]]},
        {"$object": [["$a", 1, 2]]},
        {"$object": [7]},
        {"$object": None},
        [object()],
    ],
)
def test_tags_that_are_unknown_or_incomplete_are_refused(data: Any) -> None:
    with pytest.raises(DecodeError) as caught:
        from_tagged(data)
    assert caught.value.code == "bad-tag"
