"""Updates of single values: what an application writes that uses partial JSON as it is meant to be used.

Each path of a chain leads to a scalar, or to a place where one is added; a path comes once in a statement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.jsonb.values import LARGE_ARRAY
from conformance.reference.jsonb.view import View, open_document
from conformance.reference.partial.document import child
from conformance.reference.partial.expression import Call, Column, Function, Literal
from conformance.reference.partial.paths import Cell, Member, Path
from generators import path_targets, scalars
from generators.draw import mix
from generators.path_targets import Place

if TYPE_CHECKING:
    from generators.draw import Draw

_PAIRS: Final = mix((1, 70), (2, 20), (3, 10))
_KINDS: Final = mix(("change", 76), ("add", 12), ("remove", 12))


def leaf_update(draw: Draw, column: str, stored: bytes) -> Call:
    """JSON_SET, JSON_REPLACE or JSON_REMOVE of one to three scalars of a document. Paths in canonical text, with plain
    indexes."""
    document = open_document(stored)
    kind = draw.choice(_KINDS)
    wanted = draw.choice(_PAIRS)
    found: list[str] = []
    for _ in range(wanted * 4):
        place = _added(draw, document) if kind == "add" else _leaf(draw, document)
        if place is not None and len(found) < wanted:
            path = str(Path(place.legs))
            if path not in found:
                found.append(path)
    if kind == "remove" and found:
        # One: a removal moves what other paths lead to.
        return Call(Function.JSON_REMOVE, Column(column), ((found[0], None),))
    function = Function.JSON_REPLACE if kind == "change" and draw.below(3) == 0 else Function.JSON_SET
    pairs = tuple((path, Literal(scalars.scalar(draw))) for path in found) or (("$.a", Literal(1)),)
    return Call(function, Column(column), pairs)


def _leaf(draw: Draw, document: View) -> Place | None:
    """A scalar that is there, below the root."""
    for _ in range(6):
        place = Place((), document)
        while place.value is not None and place.value.count:
            index = draw.below(place.value.count)
            place = Place(path_targets.element_legs(place, index), place.value.element(index))
        if place.legs and place.value is not None and place.value.kind > LARGE_ARRAY:
            return place
    return None


def _added(draw: Draw, document: View) -> Place | None:
    """A new member beside a scalar, or the cell behind the last one."""
    leaf = _leaf(draw, document)
    if leaf is None:
        return None
    parent = document
    for leg in leaf.legs[:-1]:
        found = child(parent, leg)
        assert isinstance(found, View)
        parent = found
    if parent.is_array:
        return Place((*leaf.legs[:-1], Cell(parent.count)))
    name = scalars.key(draw)
    return None if parent.find(name.encode()) >= 0 else Place((*leaf.legs[:-1], Member(name)))
