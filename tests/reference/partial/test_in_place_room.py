"""Changing bytes in place: room in documents that no server writes, ranges, and what a leg does not find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import INT16
from conformance.reference.jsonb.view import View, open_document
from conformance.reference.partial.document import Document, element_index, remove_from_tree
from conformance.reference.partial.in_place import find_room, merge_ranges, replace_in_place
from conformance.reference.partial.paths import Cell, Leg, Member

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue


def _view(text: str) -> View:
    return open_document(bytearray.fromhex(text))


def test_a_value_that_stands_behind_its_later_neighbour_keeps_its_own_place() -> None:
    """``["bbb", "aaa"]`` with the two strings the other way round: nothing in front of the neighbour is its room."""
    view = _view("02 0200 1200 0c0e00 0c0a00 03616161 03626262")
    assert [view.place(index) for index in range(2)] == [(15, 19), (11, 15)]
    assert [find_room(view, 0, need) for need in (1, 4, 5)] == [15, 15, None]


def test_a_value_among_the_entries_has_no_room_for_more_than_the_data_have() -> None:
    """The string of the first entry lies in the second: five characters of which three stand behind the entries."""
    view = _view("02 0200 0d00 0c0700 054142 434445")
    assert view.place(0) == (8, 14)
    assert [find_room(view, 0, need) for need in (3, 4, 6)] == [8, None, None]


def test_a_neighbour_among_the_entries_gives_no_room_in_front_of_the_data() -> None:
    """It ends in the middle of the entries, and the bytes from there to the next value are no gap."""
    entries = "0c0700 040000 040000 0c1200"
    view = _view("02 0400 1600" + entries + "0000" + "03616161")
    assert [view.place(index) for index in range(4)] == [(8, 13), None, None, (19, 23)]
    assert view.values_end == 17
    assert [find_room(view, 1, need) for need in (2, 3, 6)] == [13, None, None]


def test_a_negative_number_is_inlined_with_its_sign() -> None:
    for text, entry in (("x", "05ffff"), ("x" * 70_000, "05ffffffff")):
        document = bytearray(encode(["", text]))
        ranges: list[tuple[int, int]] = []
        assert replace_in_place(open_document(document), 0, INT16, b"\xff\xff", ranges) is True
        size = len(bytes.fromhex(entry))
        start = 9 if size == 5 else 5
        assert document[start : start + size].hex() == entry
        assert ranges == [(start, size)]


def test_an_empty_range_is_kept() -> None:
    """The last cell's removal writes no entries, but the engine gets the range (partial-update 3.4)."""
    assert merge_ranges([(20, 3), (12, 0), (5, 2)]) == ((5, 2), (12, 0), (20, 3))
    assert merge_ranges([(20, 3), (7, 0), (5, 2)]) == ((5, 2), (20, 3))
    document = Document(encode([[1, 2], "abc"]))
    inner = document.seek((Cell(0),))
    assert isinstance(inner, View)
    document.remove_bytes(inner, 1)
    root = document.root()
    assert isinstance(root, View)
    assert document.replace_bytes(root, 1, encode("xyz")) is True
    assert document.ranges() == ((11, 2), (18, 0), (21, 4))


def test_a_member_is_found_by_the_bytes_of_its_name() -> None:
    """Also where they are no UTF-8."""
    view = open_document(encode({"a": 1, "\udcff": 2}))
    assert element_index(view, Member("\udcff")) == 1
    assert element_index(view, Member("a")) == 0


# In each pair a value, and a leg of a kind that finds nothing in it.
WRONG_KIND: Final[list[tuple[JsonValue, Leg]]] = [
    ({"a": 1}, Cell(0)),
    ([1], Member("a")),
    (1, Cell(0)),
    (1, Member("a")),
]
NOT_THERE: Final[list[tuple[JsonValue, Leg]]] = [
    *WRONG_KIND,
    ({"a": 1}, Member("b")),
    ([1], Cell(1)),
    ([1], Cell(1, from_end=True)),
]


@pytest.mark.parametrize(("value", "leg"), NOT_THERE)
def test_what_a_leg_does_not_find_has_the_index_minus_one(value: JsonValue, leg: Leg) -> None:
    assert element_index(open_document(encode(value)), leg) == -1


@pytest.mark.parametrize(("value", "leg"), WRONG_KIND)
def test_a_leg_of_the_wrong_kind_changes_no_tree(value: JsonValue, leg: Leg) -> None:
    kept = encode(value)
    remove_from_tree(value, leg)
    assert encode(value) == kept
    document = Document(kept)
    document.to_tree()
    with pytest.raises(AssertionError, match="existing path"):
        document.replace_tree((leg,), 5)
    assert document.stored() == kept
