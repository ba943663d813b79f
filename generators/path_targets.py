"""Paths into a stored document: to a value that is there, and to each kind of place that is not.

The kinds are the situations of partial-update 2.1, partial-update 2.2. A lazy view reads the documents, so that a place
in 300 KB costs as much as one in 300 bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.jsonb.text import quote
from conformance.reference.partial.paths import MAX_INDEX, Cell, Member, Path
from generators import scalars
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.jsonb.view import View
    from conformance.reference.partial.paths import Leg
    from generators.draw import Draw


class Place(NamedTuple):
    """A path, the value that it finds if any, and the position of that value in its parent."""

    legs: tuple[Leg, ...]
    value: View | None = None
    parent: View | None = None
    position: int = 0


DEEPEST: Final = 90
"""Places below this many legs get neither new levels nor containers: documents stay within the limit of the depth."""


def trail(draw: Draw, document: View) -> list[Place]:
    """The places from the root down to some value in ``document``: more than one if the root has elements."""
    places = [Place((), document)]
    legs: tuple[Leg, ...] = ()
    node = document
    while node.count:
        index = _index(draw, node.count)
        if not node.element(index).count and draw.below(2):
            # Scalars are many; a second try makes longer ways.
            index = _index(draw, node.count)
        if node.is_array and draw.below(4) == 3:
            legs = (*legs, Cell(node.count - 1 - index, from_end=True))
        else:
            legs = element_legs(places[-1], index)
        parent, node = node, node.element(index)
        places.append(Place(legs, node, parent, index))
        if draw.below(4) == 0:
            break
    return places


def existing(draw: Draw, document: View) -> Place:
    """A value that exists; the root only if it has no elements."""
    return trail(draw, document)[-1]


def element_legs(parent: Place, position: int) -> tuple[Leg, ...]:
    """The path of one of the elements of a container that is there."""
    container = parent.value
    if container is None or not 0 <= position < container.count:
        raise ValueError(f"no element {position}")
    if container.is_array:
        return (*parent.legs, Cell(position))
    return (*parent.legs, Member(container.key(position).decode("utf-8", "surrogateescape")))


def aim(draw: Draw, document: View) -> Place:
    """A place of any kind, those that exist most often."""
    return draw.choice(_AIMS if document.count else _BARE_AIMS)(draw, document)


def missing(draw: Draw, document: View) -> Place:
    """A place where JSON_SET adds something: a missing member or cell of an existing parent."""
    return draw.choice((new_member, past_end, new_member, before_front))(draw, document)


def new_member(draw: Draw, document: View) -> Place:
    """A key that an object lacks."""
    parent = _nearest(draw, document, arrays=False)
    name = scalars.key(draw)
    if parent.value is not None and parent.value.is_object:
        while parent.value.find(name.encode()) >= 0:
            name += draw.choice(scalars.LOWER)
    return Place((*parent.legs, Member(name)))


def past_end(draw: Draw, document: View) -> Place:
    """The cell behind the last one of an array, or one further away."""
    parent = _nearest(draw, document, arrays=True)
    return Place((*parent.legs, Cell(min(_length(parent) + draw.choice(_EXTRA), MAX_INDEX))))


def before_front(draw: Draw, document: View) -> Place:
    """``[last-k]`` with more cells asked for than there are."""
    parent = _nearest(draw, document, arrays=True)
    return Place((*parent.legs, Cell(min(_length(parent) + draw.choice(_EXTRA), MAX_INDEX), from_end=True)))


def zeroth(draw: Draw, document: View) -> Place:
    """``[0]`` or ``[last]`` of a value that is no array: the value itself. Sometimes in the middle of a path."""
    places = trail(draw, document)
    target = places[-1]
    place = places[-1 - draw.below(len(places))]
    if place.value is None or place.value.is_array:
        return target
    cells = tuple(Cell(0, from_end=draw.below(3) == 2) for _ in range(draw.choice((1, 1, 1, 2))))
    return target._replace(legs=(*place.legs, *cells, *target.legs[len(place.legs) :]))


def wrapped(draw: Draw, document: View) -> Place:
    """A cell of a scalar or an object, which JSON_SET wraps into an array. The root comes rarely."""
    places = trail(draw, document)
    if len(places) > 1 and draw.below(8) < 7:
        del places[0]
    place = places[-1 - draw.below(len(places))]
    if place.value is None or place.value.is_array:
        place = places[-1]
    if place.value is None or place.value.is_array or len(place.legs) >= DEEPEST:
        return places[-1]
    return Place((*place.legs, draw.choice(_WRAPPING)))


def wrong_kind(draw: Draw, document: View) -> Place:
    """A member of an array or of a scalar."""
    for place in reversed(trail(draw, document)):
        if place.value is not None and not place.value.is_object:
            return Place((*place.legs, Member(scalars.key(draw))))
    return new_member(draw, document)


def no_parent(draw: Draw, document: View) -> Place:
    """A place below a missing member or cell."""
    place = missing(draw, document)
    leg: Leg = Member(scalars.key(draw)) if draw.below(2) == 0 else Cell(draw.below(3), from_end=draw.below(4) == 3)
    return Place((*place.legs, leg))


def root(draw: Draw, document: View) -> Place:
    """``$``, or a cell that means it."""
    if document.is_array or draw.below(3) == 0:
        return Place((), document)
    return Place((Cell(0, from_end=draw.below(2) == 1),), document)


def spell(draw: Draw, legs: tuple[Leg, ...]) -> str:
    """The text of a path: nearly always the canonical one, else another that means the same."""
    if draw.below(16) < 15:
        return str(Path(legs))
    style = draw.below(8)
    space = ("", "", "", "", " ", "\t", "\n", "  ")[style]
    parts = ["$", *(_odd_leg(leg, style, space) for leg in legs)]
    return space.join(parts)


def _odd_leg(leg: Leg, style: int, space: str) -> str:
    if isinstance(leg, Member):
        text = quote(leg.name)
        if style == 1 and leg.name.isascii() and leg.name.isalnum():
            text = '"' + "".join(f"\\u{ord(char):04x}" for char in leg.name) + '"'
        return f".{space}{text}"
    assert isinstance(leg, Cell)
    number = f"{'0' * (style % 3)}{leg.index}"
    if not leg.from_end:
        return f"[{space}{number}{space}]"
    if leg.index or style == 2:
        return f"[{space}last{space}-{space}{number}{space}]"
    return f"[{space}last{space}]"


def _index(draw: Draw, count: int) -> int:
    style = draw.below(4)
    if style == 0 or count == 1:
        return 0
    return count - 1 if style == 1 else draw.below(count)


def _nearest(draw: Draw, document: View, *, arrays: bool) -> Place:
    """An array or object on some way from the root; failing that, where the way ends."""
    places = trail(draw, document)
    for place in reversed(places):
        if place.value is None or len(place.legs) >= DEEPEST:
            continue
        if place.value.is_array if arrays else place.value.is_object:
            return place
    return places[min(len(places), DEEPEST) - 1]


def _length(place: Place) -> int:
    """The number of the value's cells; a value that is no array is its own only cell."""
    return place.value.count if place.value is not None and place.value.is_array else 1


_EXTRA: Final = mix((0, 40), (1, 10), (5, 10), (100, 4), (70000, 1), (2**32, 1))
_WRAPPING: Final = (Cell(1), Cell(1, from_end=True), Cell(2), Cell(7), Cell(3, from_end=True))
_AIMS: Final[tuple[Callable[[Draw, View], Place], ...]] = mix(
    (existing, 62), (new_member, 8), (past_end, 6), (before_front, 3), (zeroth, 6), (wrapped, 5), (wrong_kind, 4),
    (no_parent, 4), (root, 2),
)  # fmt: skip
# For a scalar or an empty container: where everything that exists is the root.
_BARE_AIMS: Final[tuple[Callable[[Draw, View], Place], ...]] = mix(
    (existing, 6), (new_member, 8), (past_end, 8), (before_front, 4), (zeroth, 2), (wrapped, 4), (wrong_kind, 2),
    (no_parent, 2), (root, 2),
)  # fmt: skip
