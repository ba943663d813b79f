"""Values as people see them while they look for a fault, and tagged data that people write by hand."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.members import stored_order
from conformance.reference.jsonb.tagged import from_tagged, to_tagged
from conformance.reference.jsonb.values import DECIMAL, Opaque, UInt, key_order, same
from tests.reference.refusals import refused, where


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (UInt(5), "UInt(5)"),
        (Opaque(15, b""), "Opaque(15, '')"),
        (Opaque(15, bytes(range(10))), "Opaque(15, '00010203040506070809')"),
        (Opaque(252, bytes(range(11))), "Opaque(252, '00010203040506070809'...)"),
    ],
)
def test_a_value_shows_its_type_and_its_first_ten_bytes(value: Any, text: str) -> None:
    assert repr(value) == text


def test_members_are_ordered_by_length_in_bytes_and_then_by_bytes() -> None:
    keys = ["", "Z", "a", "z", "aa", "é", "\udcffx", "aaa", "中", "😀"]
    assert sorted(set(keys), key=key_order) == keys
    assert [key_order(key)[0] for key in keys] == [0, 1, 1, 1, 2, 2, 2, 3, 3, 4]
    ordered = dict.fromkeys(keys, 0)
    assert stored_order(ordered) is ordered
    assert list(stored_order(dict.fromkeys(reversed(keys), 0))) == keys
    plain = {"b": 1, "aa": 2, "a": 3}
    assert list(stored_order(plain).items()) == [("a", 3), ("b", 1), ("aa", 2)]
    for few in ({}, {"b": 1}, {"a": 1, "b": 2}):
        assert stored_order(few) is few


def test_same_needs_the_same_length_keys_and_types_all_the_way_down() -> None:
    value: Any = {"a": [1, {"b": UInt(2)}], "c": [0.0]}
    assert same(value, {"c": [0.0], "a": [1, {"b": UInt(2)}]})
    others: list[Any] = [
        {"a": [1, {"b": 2}], "c": [0.0]},
        {"a": [1, {"b": UInt(2)}], "c": [-0.0]},
        {"a": [1, {"b": UInt(2)}], "c": [0.0, 0.0]},
        {"a": [1, {"x": UInt(2)}], "c": [0.0]},
        {"a": [1, {"b": UInt(2)}]},
        {"a": [1, {"b": UInt(2)}], "c": [0.0], "d": None},
        [], {}, None, "a",
    ]  # fmt: skip
    for other in others:
        assert not same(value, other)
        assert not same(other, value)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("01:02:03", (1, 2, 3, 0)),
        ("01:02:03.5", (1, 2, 3, 500_000)),
        ("01:02:03.05", (1, 2, 3, 50_000)),
        ("838:59:59.999999", (838, 59, 59, 999_999)),
        ("0:0:0.000001", (0, 0, 0, 1)),
        ("1:2:3.", (1, 2, 3, 0)),
    ],
)
def test_clocks_are_read_with_up_to_six_digits_behind_the_second(text: str, parts: tuple[int, int, int, int]) -> None:
    assert from_tagged({"$type": "TIME", "text": text}) == opaque.time(*parts)
    assert from_tagged({"$type": "TIME", "text": f"-{text}"}) == opaque.time(*parts, negative=True)
    if parts[0] < 24:
        moment = opaque.datetime(2024, 2, 29, *parts)
        assert from_tagged({"$type": "DATETIME", "text": f"2024-02-29 {text}"}) == moment
        stamp = opaque.timestamp(2024, 2, 29, *parts)
        assert from_tagged({"$type": "TIMESTAMP", "text": f"2024-02-29 {text}"}) == stamp


@pytest.mark.parametrize(
    "data",
    [
        {"$type": "MOMENT", "text": "2024-01-01"},
        {"$type": "datetime", "text": "2024-01-01 00:00:00"},
        {"$type": "TIME", "text": "X01:02:03"},
        {"$type": "TIME", "text": "01:02"},
        {"$type": "TIME", "text": 5},
        {"$type": "DATETIME", "text": "2024-01-01 1:2"},
        {"$type": "OPAQUE", "hex": "00", "field_type": "x"},
        {"$type": "DECIMAL"},
        {"$object": [[5, 1]]},
        {"$object": [["$a", {"$type": "NUMBER"}]]},
        {"$object": 5},
        (1,),
        {"a": [{"b": b""}]},
    ],
)
def test_tags_that_nobody_knows_are_refused(data: Any) -> None:
    assert where(refused(from_tagged, data)) == ("bad-tag", None, "")


def test_numbers_in_words_are_read_and_written_as_they_are() -> None:
    assert same(from_tagged({"$type": "UNSIGNED INTEGER", "text": "18446744073709551615"}), UInt(2**64 - 1))
    assert same(from_tagged({"$type": "INTEGER", "text": "-5"}), -5)
    assert same(from_tagged({"$type": "DOUBLE", "text": "-0.0"}), -0.0)
    assert from_tagged({"$type": "DECIMAL", "text": "-1.50"}) == opaque.decimal_from_text("-1.50")
    assert from_tagged({"$type": "DECIMAL", "text": "3.0", "hex": "0a018000000300"}) == Opaque(
        DECIMAL, bytes.fromhex("0a018000000300")
    )
    assert to_tagged([{"a": UInt(1)}]) == [{"a": {"$type": "UNSIGNED INTEGER", "text": "1"}}]
