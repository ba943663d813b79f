"""Paths made for a document are what their generator says: there, or missing in one particular way."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.view import View, open_document
from conformance.reference.partial.document import MISSING, Document
from conformance.reference.partial.paths import Cell, Member, Path, parse_path
from generators import documents, path_targets, scalars
from generators.documents import Size
from generators.draw import Stream, mix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from generators.draw import Draw

SHALLOW = mix((Size.TINY, 2), (Size.SMALL, 8), (Size.TUNED, 1), (Size.MEDIUM, 1))


def scenes(count: int, name: str) -> Iterator[tuple[Draw, Document, View]]:
    for number in range(count):
        draw = Stream(name, number)
        stored = encode(documents.document(draw, sizes=SHALLOW))
        yield draw, Document(stored), open_document(stored)


def test_existing_finds_its_value() -> None:
    found = Counter[int]()
    for draw, document, view in scenes(500, "existing"):
        place = path_targets.existing(draw, view)
        there = document.seek(place.legs)
        assert isinstance(there, View)
        assert place.value is not None
        assert (there.kind, there.start) == (place.value.kind, place.value.start)
        found[len(place.legs)] += 1
        if view.count:
            assert place.legs
            assert place.parent is not None
            assert place.parent.element(place.position).start == place.value.start
    assert found[1] > 100
    assert found[2] > 50
    assert found[3] > 20


def test_missing_has_a_parent_of_the_right_kind_or_a_reason() -> None:
    kinds = Counter[str]()
    for draw, document, view in scenes(800, "missing"):
        place = draw.choice((path_targets.new_member, path_targets.past_end, path_targets.before_front))(draw, view)
        assert document.seek(place.legs) is MISSING
        parent = document.seek(place.legs[:-1])
        assert isinstance(parent, View)
        leg = place.legs[-1]
        if parent.is_object:
            kinds["object"] += 1
        elif parent.is_array and isinstance(leg, Cell):
            position, found = leg.position(parent.count)
            assert not found
            assert position == (0 if leg.from_end else parent.count)
            kinds["front" if leg.from_end else "end"] += 1
        else:
            kinds["other"] += 1
    assert min(kinds[kind] for kind in ("object", "front", "end")) > 60


def test_no_parent_means_no_parent() -> None:
    for draw, document, view in scenes(300, "no-parent"):
        place = path_targets.no_parent(draw, view)
        assert document.seek(place.legs[:-1]) is MISSING


def test_zeroth_cells_are_stripped_to_the_value() -> None:
    stripped = 0
    for draw, document, view in scenes(300, "zeroth"):
        place = path_targets.zeroth(draw, view)
        legs = document.strip(place.legs)
        there = document.seek(legs)
        assert isinstance(there, View)
        assert place.value is not None
        assert there.start == place.value.start
        stripped += len(legs) < len(place.legs)
    assert stripped > 150


def test_wrapped_is_a_cell_of_something_that_is_no_array() -> None:
    wraps = Counter[bool]()
    for draw, document, view in scenes(400, "wrapped"):
        place = path_targets.wrapped(draw, view)
        parent = document.seek(place.legs[:-1])
        if place.value is None:
            assert isinstance(parent, View)
            assert not parent.is_array
            assert document.strip(place.legs) == place.legs
            wraps[len(place.legs) == 1] += 1
    assert wraps[False] > 100
    assert 0 < wraps[True] < 120  # the root rarely: it ends with a whole new document


def test_wrong_kind_is_a_member_of_what_has_none() -> None:
    wrong = 0
    for draw, document, view in scenes(300, "wrong"):
        place = path_targets.wrong_kind(draw, view)
        parent = document.seek(place.legs[:-1])
        assert isinstance(parent, View)
        assert isinstance(place.legs[-1], Member)
        wrong += not parent.is_object
    assert wrong > 200


def test_spelling_never_changes_the_path() -> None:
    odd = Counter[bool]()
    for draw, _, view in scenes(3000, "spell"):
        legs = (*path_targets.aim(draw, view).legs, Member(scalars.key(draw)))
        text = path_targets.spell(draw, legs)
        assert parse_path(text) == Path(legs)
        odd[text != str(Path(legs))] += 1
    assert 60 < odd[True] < 300


@pytest.mark.parametrize("style", ["array", "object"])
def test_deep_documents_get_no_new_levels_at_the_bottom(style: str) -> None:
    value: object = 1
    for _ in range(100):
        value = [value] if style == "array" else {"a": value}
    view = open_document(encode(value))  # type: ignore[arg-type]
    for number in range(2000):
        place = path_targets.aim(Stream(style, number), view)
        if place.value is None:
            assert len(place.legs) <= path_targets.DEEPEST + 2


def test_element_legs_refuses_positions_outside() -> None:
    place = path_targets.Place((), open_document(encode([1, {"a": 2}])))
    assert path_targets.element_legs(place, 1) == (Cell(1),)
    for position in (-1, 2):
        with pytest.raises(ValueError, match="no element"):
            path_targets.element_legs(place, position)
