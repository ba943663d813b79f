"""Layouts to the byte and free space to the byte, for both formats; how deep either of them looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.layout import Placed, decode_stored, encode_stored, storage_free, stored_value
from conformance.reference.jsonb.opaque import decimal_from_text
from conformance.reference.jsonb.values import Opaque, UInt, same
from tests.reference.jsonb.handmade import array, body, deep, inlined, members, number, text
from tests.reference.refusals import refused, where

if TYPE_CHECKING:
    from conformance.reference.errors import MysqlError

LONG = "x" * 70_000
DOCUMENTS: list[Any] = [
    [], {}, [1], {"": 1}, {"a": 1}, {"a": "x"}, [None, True, False, -1, UInt(65_535), -32_768],
    [1, "abc"], ["abc", 1], [70_000, -70_000, UInt(70_000), 2**40, -(2**40), UInt(2**63), 1.5, -0.0],
    ["x" * length for length in (0, 1, 126, 127, 128, 129, 300, 16_383, 16_384)],
    [Opaque(15, b""), Opaque(15, b"\1" * 200), decimal_from_text("1.5"), "end"],
    [[], {}, [[1], {"k": [2]}], {"a": {"b": {"c": "d"}}}],
    {"a": 1, "b": "x", "cc": [1, 2, {"d": 3}], "dd": 1.5},
]  # fmt: skip


@pytest.mark.parametrize("extra", [None, LONG], ids=["small", "large"])
def test_documents_of_writers_are_dense_and_come_back_to_the_byte(extra: str | None) -> None:
    for document in DOCUMENTS:
        value = document
        if extra is not None:  # the same container in the large format, and what is in it in the small one
            value = {**document, "zzz": extra} if isinstance(document, dict) else [*document, extra]
        stored = encode(value)
        layout = decode_stored(stored)
        assert isinstance(layout, Placed)
        assert layout.large is (extra is not None)
        assert encode_stored(layout) == stored
        assert same(stored_value(layout), value)
        assert storage_free(stored) == 0
        both = encode([value, value, {"k": value}])
        assert encode_stored(decode_stored(both)) == both
        assert storage_free(both) == 0


def test_the_layout_holds_every_place() -> None:
    assert decode_stored(array(inlined(1), text("a"), hole=2)) == Placed(
        is_object=False, large=False, size=14, keys=(), values=((None, 1), (12, "a")), holes=((10, b"\xee\xee"),)
    )
    assert decode_stored(members([b"k", b"l"], number(-1 + 70_001), inlined(True), large=True)) == Placed(
        is_object=True, large=True, size=32, keys=((30, b"k"), (31, b"l")), values=((None, 70_000), (None, True)),
        holes=(),
    )  # fmt: skip
    inner = Placed(is_object=True, large=False, size=12, keys=((11, b"k"),), values=((None, 5),), holes=())
    assert decode_stored(array((0, body([inlined(5)], keys=[b"k"])), hole=1)) == Placed(
        is_object=False, large=False, size=20, keys=(), values=((8, inner),), holes=((7, b"\xee"),)
    )


def test_a_layout_made_by_hand_may_have_any_bytes_in_its_keys() -> None:
    layout = Placed(is_object=True, large=False, size=12, keys=((11, b"\xff"),), values=((None, 1),), holes=())
    assert stored_value(layout) == {"\udcff": 1}
    assert encode_stored(layout) == bytes.fromhex("00 0100 0c00 0b00 0100 05 0100 ff")


@pytest.mark.parametrize("large", [False, True])
def test_free_space_is_what_neither_keys_nor_values_take(*, large: bool) -> None:
    strings = ["", "a", "x" * 126, "x" * 127, "x" * 128, "x" * 129, "x" * 1000]
    others = [
        (0x0B, encode(1.5)[1:]),
        (0x09, encode(2**40)[1:]),
        (0x0F, b"\x0f\x05" + b"\1" * 5),
        (2, body([], hole=0)),
    ]
    for item in (*map(text, strings), *others):
        for hole in (0, 1, 7):
            assert storage_free(array(item, large=large, hole=hole)) == hole
            assert storage_free(array(inlined(1), item, inlined(2), text("y"), large=large, hole=hole)) == hole
            assert storage_free(members([b"a", b"bc"], item, text("y"), large=large, hole=hole)) == hole
            inside = (3, body([item, inlined(1)], large=True, hole=hole)) if large else (2, body([item], hole=hole))
            assert storage_free(array(inside, text("z"), large=large, hole=2)) == hole + 2
    assert storage_free(array(number(5), large=large, hole=3)) == 3
    assert storage_free(members([b""], inlined(1), large=large)) == 0


@pytest.mark.parametrize(
    ("stored", "code", "offset"),
    [
        ("02 0100 0900 0c 0700 02 61", "truncated", 8),  # one byte is missing
        ("02 0100 0900 0c 0700 05 61", "truncated", 8),
        ("02 0100 0900 0c 0700 ff 01", "truncated", 8),
        ("02 0100 0800 0c 0700 80", "truncated", 8),
        ("02 0100 0900 0d 0700 00 00", "bad-type", 5),
    ],
)
def test_free_space_of_strings_that_are_cut_short_is_refused(stored: str, code: str, offset: int) -> None:
    assert where(refused(storage_free, bytes.fromhex(stored))) == (code, offset, "")


def number_of(call: Any, data: bytes) -> int:
    return cast("MysqlError", refused(call, data)).number


def test_the_strict_reading_takes_one_hundred_containers_inside_each_other() -> None:
    for levels in (99, 100):
        data = deep(levels, inlined(1))
        assert encode_stored(decode_stored(data)) == data
    for levels in (101, 102, 199):
        assert number_of(decode_stored, deep(levels, inlined(1))) == 3157
    empty = deep(99, (2, body([])))
    assert encode_stored(decode_stored(empty)) == empty
    assert number_of(decode_stored, deep(100, (2, body([])))) == 3157


def test_free_space_is_counted_in_two_hundred_containers_inside_each_other() -> None:
    """Updates in place do not look at the depth (partial-update 8.3)."""
    hole = body([], hole=5)
    for levels in (1, 99, 100, 101, 198, 199):
        assert storage_free(deep(levels, (2, hole))) == 5
    for levels in (200, 201, 300):
        assert number_of(storage_free, deep(levels, (2, hole))) == 3157
