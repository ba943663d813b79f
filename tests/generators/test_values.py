"""Values are aimed at the space of the value that they replace."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from conformance.reference.jsonb import compare, opaque
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import BIT, TIMESTAMP, JsonValue, Opaque, UInt, same
from conformance.reference.jsonb.view import open_document
from conformance.reference.partial.expression import Column, Literal
from conformance.reference.partial.in_place import find_room
from generators import documents, path_targets, scalars, values
from generators.documents import Size
from generators.draw import Stream
from generators.path_targets import Place

if TYPE_CHECKING:
    from collections.abc import Callable

    from generators.draw import Draw


@pytest.mark.parametrize("size", [1, 2, 3, 8, 10, 11, 127, 128, 130, 131, 300, 16385, 16388, 70000])
def test_of_size_has_the_data_bytes_asked_for(size: int) -> None:
    sizes = Counter(len(encode(values.of_size(Stream("of size", n), size))) - 1 for n in range(80))
    assert sizes[size] > 40
    assert set(sizes) <= {size, size - 1}


@pytest.mark.parametrize("size", [129, 16386])
def test_a_size_that_no_string_has_gives_the_one_below(size: int) -> None:
    """128 characters need another byte for their length than 127 do, and so do 16384."""
    sizes = {len(encode(values.of_size(Stream("gap", n), size))) - 1 for n in range(80)}
    assert size - 1 in sizes
    assert sizes <= {size, size - 1}  # an opaque value has one byte more


def test_of_size_zero_is_inlined() -> None:
    for n in range(50):
        view = open_document(encode([values.of_size(Stream("zero", n), 0)]))
        assert view.place(0) is None


def test_data_size_is_what_the_parent_holds() -> None:
    document: JsonValue = {"a": 1, "b": "four", "c": [1, 2], "d": 70000}
    root = Place((), open_document(encode(document)))
    assert root.value is not None
    sizes = [values.data_size(Place((), root.value.element(n), root.value, n)) for n in range(4)]
    assert sizes == [0, 5, 10, 4]
    assert values.data_size(root) == len(encode(document)) - 1
    assert values.data_size(Place(())) == 0


def test_room_is_exactly_what_fits() -> None:
    for n in range(200):
        draw = Stream("room", n)
        place = path_targets.existing(draw, open_document(encode(documents.document(draw, sizes=(Size.SMALL,)))))
        if place.parent is not None and place.parent.count <= 64:
            room = values.room(place)
            if room:
                assert find_room(place.parent, place.position, room) is not None
            assert find_room(place.parent, place.position, room + 1) is None


def test_equal_numbers_are_equal_and_often_of_another_type() -> None:
    numbers: tuple[Callable[[Draw], JsonValue], ...] = (
        scalars.integer, scalars.double, scalars.unsigned, scalars.decimal,
    )  # fmt: skip
    changed = 0
    for n in range(600):
        draw = Stream("equal", n)
        value: JsonValue = draw.choice(numbers)(draw)
        other = values.equal_number(draw, value)
        assert compare.equal(value, other)
        changed += not same(value, other)
    assert changed > 200


@pytest.mark.parametrize("value", ["1", None, True, [1], {"a": 1}])
def test_what_is_no_number_stays(value: JsonValue) -> None:
    assert same(values.equal_number(Stream("x"), value), value)


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        (1, True),
        (UInt(1), True),
        ("x", True),
        (opaque.decimal_from_text("1.50"), True),
        (opaque.date(2024, 2, 29), True),
        (Opaque(15, b"ab"), True),
        (opaque.decimal_value(False, "0000000150", 10, 2), False),  # as a DECIMAL(10,2) column gives it
        (Opaque(TIMESTAMP, bytes(8)), False),
        (Opaque(BIT, b"\x01"), False),
        ([1, {"a": [Opaque(252, b"")]}], False),
    ],
)
def test_expressible_means_that_no_column_is_needed(value: JsonValue, answer: bool) -> None:
    assert values.expressible(value) is answer


def test_value_for_relates_to_the_value_that_is_there() -> None:
    """All relations come: equal, as long, shorter, longer, inlined, a container, a column."""
    view = open_document(encode({"pad": "x" * 40, "z": "y" * 20}))
    place = Place(path_targets.element_legs(Place((), view), 1), view.element(1), view, 1)
    seen = Counter[str]()
    for n in range(1500):
        value = values.value_for(Stream("for", n), place, sources=("n",))
        if isinstance(value, Column):
            seen["column"] += 1
            continue
        assert isinstance(value, Literal)
        size = len(encode(value.value)) - 1
        if value.value == "x" * 40:
            seen["same"] += 1
        elif isinstance(value.value, (list, dict)):
            seen["container"] += 1
        elif size == 41:
            seen["exact"] += 1
        elif 20 <= size < 41:
            seen["shorter"] += 1
        elif 41 < size < 100:
            seen["longer"] += 1
        elif size <= 2:
            seen["inlined"] += 1
    assert set(seen) == {"column", "same", "container", "exact", "shorter", "longer", "inlined"}
    assert min(seen.values()) > 40, seen
