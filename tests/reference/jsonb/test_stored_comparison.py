"""Stored documents are compared by as few bytes as will do: what need not be read may be damaged.

``TRAP`` is an element of a type that does not exist. Whoever reads one fails, so a comparison that answers has not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.reference.jsonb.compare import compare, equal_stored
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.opaque import decimal_from_text
from conformance.reference.jsonb.values import UInt
from tests.reference.jsonb.handmade import TEXT, TRAP, array, body, deep, inlined, members, number, text
from tests.reference.refusals import refused, where

if TYPE_CHECKING:
    from conformance.reference.errors import MysqlError
    from tests.reference.jsonb.handmade import Item


def trapped(place: int, count: int, item: Item) -> list[Item]:
    return [item if index == place else TRAP for index in range(count)]


def test_a_trap_is_found_by_whoever_reads_it() -> None:
    assert refused(equal_stored, array(TRAP, text("a")), array((0x0D, b"\x01\x02\x04"), text("a"))).code == "bad-type"


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_the_one_element_that_was_changed_is_looked_at_first(count: int, *, large: bool) -> None:
    changes: list[tuple[Item, Item]] = [
        (text("abc"), text("abd")),
        (text("abc"), text("bbc")),
        (text("abc"), text("abcd")),  # all behind it are moved
        (text("abcdefghi"), text("a")),
        (text("abc"), (0x0F, b"\x0f\x01a")),
        (inlined(1), inlined(2)),
        (inlined(1), inlined(None)),
        (inlined(1), text("1")),
        *((number(1), number(1 + (1 << shift))) for shift in (0, 8, 16, 24)),
    ]
    for place in range(count):
        for old, new in changes:
            for hole in (0, 1, 5):
                a = array(*trapped(place, count, old), large=large)
                b = array(*trapped(place, count, new), large=large, hole=hole)
                assert equal_stored(a, b) is False
                assert equal_stored(b, a) is False
                keys = [bytes((0x61 + index,)) for index in range(count)]
                a = members(keys, *trapped(place, count, old), large=large)
                b = members(keys, *trapped(place, count, new), large=large, hole=hole)
                assert equal_stored(a, b) is False


def test_an_element_is_looked_at_where_those_behind_it_start_to_move() -> None:
    assert equal_stored(array(TRAP, text("x"), number(7)), array(TRAP, text("xy"), number(7))) is False
    assert equal_stored(array(TRAP, text("x"), text("z"), TRAP), array(TRAP, text("xy"), text("z"), TRAP)) is False
    # A hole in front of one that is not changed: both sides of it are looked at, and no more.
    a = array(text("x"), text("y"), inlined(1))
    assert equal_stored(a, array(text("x"), text("y"), inlined(UInt(1)), hole=3)) is True


def test_values_that_stand_in_any_order_are_found_by_their_place() -> None:
    def swapped(first: bytes, second: bytes) -> bytes:
        head = bytes.fromhex("02 0200") + (10 + len(first) + len(second)).to_bytes(2, "little")
        places = (10 + len(second)).to_bytes(2, "little"), (10).to_bytes(2, "little")
        return head + bytes((TEXT,)) + places[0] + bytes((0x0D,)) + places[1] + second + first

    assert equal_stored(swapped(b"\x01a", b"123"), swapped(b"\x01b", b"123")) is False


def test_what_has_the_same_bytes_is_not_read() -> None:
    inner = (2, body([TRAP]))
    assert equal_stored(array(inner, inlined(1)), array(inner, inlined(UInt(1)))) is True
    assert equal_stored(array(inner, inlined(1)), array(inner, inlined(2))) is False
    assert equal_stored(array(TRAP), array(TRAP)) is True
    other = (2, body([(0x0D, b"\x01\x02\x04")]))
    assert refused(equal_stored, array(inner, inlined(1)), array(other, inlined(1))).code == "bad-type"


@pytest.mark.parametrize("large", [False, True])
def test_a_container_and_a_scalar_differ_unread(*, large: bool) -> None:
    for container in (array(TRAP, large=large), members([b"a"], TRAP, large=large)):
        for scalar in (None, 1, 1.5, "text"):
            assert equal_stored(encode(scalar), container) is False
            assert equal_stored(container, encode(scalar)) is False


@pytest.mark.parametrize("damaged", ["05 01", "0b 00", "0f f6 05", "0d"])
def test_a_string_or_a_literal_and_another_scalar_differ_unread(damaged: str) -> None:
    other = bytes.fromhex(damaged)
    for scalar in ("text", None, True):
        assert equal_stored(encode(scalar), other) is False
        assert equal_stored(other, encode(scalar)) is False


def test_containers_of_other_kind_or_count_differ_unread() -> None:
    for large in (False, True):
        assert equal_stored(array(TRAP, large=large), members([b"a"], TRAP)) is False
        assert equal_stored(array(TRAP, large=large), array(TRAP, TRAP)) is False


def test_objects_with_other_names_differ_unread() -> None:
    for keys in ([b"a", b"c"], [b"a", b"bb"], [b"", b"b"], [b"b", b"bb"]):
        for large in (False, True):
            assert equal_stored(members([b"a", b"b"], TRAP, TRAP), members(keys, TRAP, TRAP, large=large)) is False
            assert equal_stored(members(keys, TRAP, TRAP, large=large), members([b"a", b"b"], TRAP, TRAP)) is False


def test_equal_numbers_of_other_types_are_equal_in_every_format() -> None:
    numbers = [inlined(5), number(5), (0x0B, encode(5.0)[1:]), (0x0F, encode(decimal_from_text("5.0"))[1:])]
    for x in numbers:
        for y in numbers:
            for large in (False, True):
                assert equal_stored(array(text("x"), x), array(text("x"), y, large=large, hole=2)) is True
                assert equal_stored(array(x, inlined(1)), array(y, inlined(2), large=large)) is False
                a, b = members([b"", b"k"], x, text("y")), members([b"", b"k"], y, text("y"), large=large, hole=1)
                assert equal_stored(a, b) is True


# --- depth, and elements that are shared


@pytest.mark.parametrize("beside", [None, "number"])
def test_two_hundred_containers_inside_each_other_are_compared_and_no_more(beside: str | None) -> None:
    """As deep as updates in place bring a document (partial-update 8.3)."""
    pair = (None, None) if beside is None else (inlined(3), inlined(UInt(3)))
    for levels in (100, 101, 199, 200):
        assert equal_stored(deep(levels, inlined(1), beside=pair[0]), deep(levels, inlined(UInt(1)), beside=pair[1]))
        assert not equal_stored(deep(levels, inlined(1), beside=pair[0]), deep(levels, inlined(2), beside=pair[1]))
    a, b = deep(201, inlined(1), beside=pair[0]), deep(201, inlined(2), beside=pair[1])
    assert cast("MysqlError", refused(equal_stored, a, b)).number == 3157


def shared(levels: int, leaf: Item) -> bytes:
    """Arrays of two elements that are one and the same: 2^levels leaves in 10 bytes a level."""
    inner = body([leaf])
    for _ in range(levels):
        inner = (
            bytes.fromhex("0200") + (10 + len(inner)).to_bytes(2, "little") + bytes.fromhex("02 0a00 02 0a00") + inner
        )
    return b"\x02" + inner


def test_elements_that_are_shared_over_and_over_are_refused() -> None:
    a, b = shared(12, inlined(1)), shared(12, inlined(UInt(1)))
    assert where(refused(equal_stored, a, b)) == ("shared-children", None, "")
    assert equal_stored(shared(1, inlined(1)), shared(1, inlined(UInt(1)))) is True
    assert equal_stored(a, shared(12, inlined(2))) is False  # the first of them tells


@pytest.mark.parametrize("count", [0, 1, 2, 3, 30, 3000])
def test_as_many_elements_as_there_is_room_for_are_compared(count: int) -> None:
    a, b = array(*[inlined(1)] * count), array(*[inlined(UInt(1))] * count)
    assert equal_stored(a, b) is True
    keys = [b"%04d" % index for index in range(count)]
    assert equal_stored(members(keys, *[inlined(1)] * count), members(keys, *[inlined(UInt(1))] * count)) is True
    assert equal_stored(encode([[1]] * count), encode([[UInt(1)]] * count)) is True


# --- values


def test_strings_are_ordered_by_their_bytes() -> None:
    for less, greater in (
        ("", "a"),
        ("a", "a "),
        ("A", "a"),
        ("z", "é"),
        ("\uffff", "\U0001f600"),
        ("\U0001f600", "\udcff"),  # a byte that is no UTF-8
        ("é", "\udcff"),
    ):
        assert (compare(less, greater), compare(greater, less), compare(less, less)) == (-1, 1, 0)
        assert (compare({less: 1}, {greater: 1}), compare({greater: 0}, {less: 1})) == (-1, 1)
    assert compare({"b": 1}, {"aa": 1}) == 1  # names by their bytes, not by length


def test_fewer_members_or_elements_are_less() -> None:
    assert (compare({"b": 9}, {"a": 1, "b": 1}), compare({"a": 1, "b": 1}, {"b": 9})) == (-1, 1)
    assert (compare([9], [9, 1]), compare([9, 1], [9]), compare([9], [1, 1])) == (-1, 1, 1)


@pytest.mark.parametrize("other", [decimal_from_text("9" * 65), decimal_from_text("-1.5"), 2**63 - 1, UInt(2**64 - 1)])
def test_infinity_is_beyond_every_number(other: Any) -> None:
    for infinite, sign in ((float("inf"), 1), (float("-inf"), -1)):
        assert (compare(infinite, other), compare(other, infinite)) == (sign, -sign)
