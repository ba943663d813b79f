"""Views: what is where in a document, for every kind of element in both formats, and what is just let pass."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import Opaque, UInt, same
from conformance.reference.jsonb.view import View, open_document
from tests.reference.refusals import refused, where


def view(stored: str) -> View:
    return open_document(bytes.fromhex(stored))


def test_a_scalar_has_no_elements() -> None:
    for value in (None, 5, 1.5, "text", Opaque(15, b"x")):
        scalar = open_document(encode(value))
        assert (scalar.start, scalar.end, scalar.count) == (1, len(encode(value)), 0)
        assert (scalar.is_array, scalar.is_object, scalar.is_large) == (False, False, False)
    null = open_document(b"")
    assert (null.value(), null.start, null.end, null.count) == (None, 1, 2, 0)
    assert null.data[null.start : null.end] == b"\x00"


def test_a_container_ends_where_its_size_says() -> None:
    """Entries and keys of the four containers: ``{"k": 1}`` and ``[1]``, each with a byte behind it."""
    for stored, kind, end, keys, values, values_end in (
        ("00 0100 0c00 0b00 0100 05 0100 6b ff", "object", 13, 5, 9, 12),
        ("01 01000000 14000000 13000000 0100 05 01000000 6b ff", "large object", 21, 9, 15, 20),
        ("02 0100 0700 05 0100 ff", "array", 8, 5, 5, 8),
        ("03 01000000 0d000000 05 01000000 ff", "large array", 14, 9, 9, 14),
    ):
        seen = view(stored)
        assert (seen.start, seen.end, seen.count) == (1, end, 1)
        assert (seen.keys, seen.values, seen.values_end) == (keys, values, values_end)
        assert seen.is_large is ("large" in kind)
        assert (seen.is_object, seen.is_array) == ("object" in kind, "array" in kind)
        assert seen.value() == ({"k": 1} if seen.is_object else [1])
        assert seen.entry(0) == (values, 5, 1)
        assert (seen.element(0).value(), seen.place(0), seen.place(-1)) == (1, None, None)


# --- keys


@pytest.mark.parametrize(
    ("head", "width", "end"), [("00 0100", 2, 14), ("01 01000000", 4, 22)], ids=["small", "large"]
)  # fmt: skip
def test_a_key_lies_behind_the_entries_and_inside_its_object(head: str, width: int, end: int) -> None:
    def stored(offset: int, length: int) -> bytes:
        fields = (end - 1).to_bytes(width, "little") + offset.to_bytes(width, "little") + length.to_bytes(2, "little")
        return bytes.fromhex(head) + fields + b"\x05" + (1).to_bytes(width, "little") + b"kl" + b"more"

    first, last = end - 3, end - 1  # of the two bytes of the key, from the count on
    for offset, length, key in (
        (first, 2, b"kl"),
        (first, 0, b""),
        (first, 1, b"k"),
        (first + 1, 1, b"l"),
        (last, 0, b""),
    ):
        seen = open_document(stored(offset, length))
        assert seen.end == end
        assert seen.key_place(0) == (1 + offset, length)
        assert seen.key(0) == key
        assert (seen.find(key), seen.find(b"kk"), seen.find(b"other")) == (0, -1, -1)
    for offset, length in (
        (first - 1, 1),
        (first - 1, 0),
        (0, 0),
        (first, 3),
        (last, 1),
        (last + 1, 0),
        (first + 1, 2),
    ):
        seen = open_document(stored(offset, length))
        for read in (seen.key_place, seen.key):
            error = refused(read, 0)
            assert (where(error), error.got) == (("bad-key-offset", 1 + 2 * width, ""), offset)
        assert refused(seen.find, b"k").code == "bad-key-offset"


# --- values


@pytest.mark.parametrize(
    ("stored", "places"),
    [
        # 7 is the end of the one entry and of the array; 8 is behind both
        ("02 0100 0700 0c {}", [(6, False), (7, True), (8, False)]),
        # 0d is the end of the entry in a large array
        ("03 01000000 0d000000 0c {}", [(11, False), (12, False), (13, True), (14, False)]),
        # the first value may lie in the second entry: 9.7.4 follows that
        ("02 0200 0a00 0c {} 05 0100", [(6, False), (7, True), (9, True), (10, True), (11, False)]),
        ("03 02000000 12000000 0c {} 05 01000000", [(12, False), (13, True), (17, True), (18, True), (19, False)]),
    ],
)
def test_a_value_lies_behind_its_own_entry_and_inside_its_container(
    stored: str, places: list[tuple[int, bool]]
) -> None:
    width = 4 if stored.startswith("03") else 2
    for offset, well in places:
        seen = view(stored.format(offset.to_bytes(width, "little").hex()))
        entry = 1 + 2 * width
        assert seen.entry(0) == (entry, 0x0C, offset)
        if well:
            assert seen.element(0).start == 1 + offset
        else:
            error = refused(seen.element, 0)
            assert (where(error), error.got) == (("bad-value-offset", entry, ""), offset)
            assert where(refused(seen.place, 0)) == ("bad-value-offset", entry, "")
    end = view(stored.format((places[-1][0] - 1).to_bytes(width, "little").hex()))
    assert refused(end.element(0).value).code == "truncated"
    assert refused(end.place, 0).code == "truncated"


ITEMS: list[Any] = [None, 5, UInt(5), 70_000, UInt(70_000), 2**40, 1.5, "text", Opaque(15, b"x"), [1], {"k": [2]}]
PLACED_SMALL = [3, 4, 5, 6, 7, 8, 9, 10]
PLACED_LARGE = [5, 6, 7, 8, 9, 10, 11, 12, 13]
LONG: list[Any] = ["x" * 70_000, ["y" * 70_000], {"z": "z" * 70_000}]  # the last two are large themselves


@pytest.mark.parametrize("keyed", [False, True], ids=["array", "object"])
@pytest.mark.parametrize(("items", "placed"), [(ITEMS, PLACED_SMALL), (ITEMS + LONG, PLACED_LARGE)])
def test_elements_are_inlined_or_lie_one_behind_the_other(items: list[Any], placed: list[int], *, keyed: bool) -> None:
    stored = encode({f"{index:02}": item for index, item in enumerate(items)} if keyed else items)
    seen = open_document(stored)
    last = seen.values_end + 2 * keyed * len(items)
    assert [index for index in range(seen.count) if seen.place(index)] == sorted({*placed, *range(11, seen.count)})
    for index, item in enumerate(items):
        assert same(seen.element(index).value(), item)
        place = seen.place(index)
        if place is not None:
            assert place == (last, last + len(encode(item)) - 1)
            assert seen.element(index).start == last
            last = place[1]
    assert last == seen.end == len(stored)


@pytest.mark.parametrize("extra", [[], ["x" * 70_000]], ids=["small", "large"])
def test_the_first_element_that_is_not_inlined_is_found_in_both_directions(extra: list[Any]) -> None:
    seen = open_document(encode([1, True, "a", 70_000, 2, "b", None, *extra]))
    placed = [2, 5] if extra else [2, 3, 5]  # 70000 stands in the entry of a large array
    for start in range(7):
        for stop in range(start, 8):
            expected = [index for index in [*placed, 7] if start <= index < stop and index < seen.count]
            assert seen.first_placed(start, min(stop, seen.count)) == (expected[0] if expected else -1)
        before = [index for index in placed if index <= start]
        assert seen.first_placed(start, -1, -1) == (before[-1] if before else -1)
        assert seen.first_placed(start, start) == -1
    assert seen.first_placed(3, 7) == (5 if extra else 3)
    assert open_document(encode([[1] * 3])).first_placed(0, 1) == 0
    assert open_document(encode([])).first_placed(0, 0) == -1
