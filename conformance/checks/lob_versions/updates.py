"""Updates of a JSON column: most change it in place, by a chosen number of bytes at a chosen place."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.innodb.lob_change import SMALL
from conformance.reference.jsonb.view import View, open_document
from conformance.reference.partial.expression import Call, Column, Function, Literal
from conformance.reference.partial.in_place import find_room
from generators import updates
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.reference.partial.expression import Expression
    from generators.draw import Draw

_LETTERS: Final = "zyxwvutsrqponm"
_EXACT: Final = (SMALL - 1, SMALL, SMALL + 1)


class Scene(NamedTuple):
    """A column, its document, and the offsets at which a new piece of its LOB begins."""

    draw: Draw
    column: str
    view: View
    edges: list[int]

    def elements(self, need: int) -> list[int]:
        """The elements with room for ``need`` bytes where they are."""
        return [number for number in range(self.view.count) if self.start(number) is not None
                and find_room(self.view, number, need) == self.start(number)]  # fmt: skip

    def start(self, number: int) -> int | None:
        """Where an element's own bytes begin; None if it is in its entry."""
        place = self.view.place(number)
        return None if place is None else place[0]

    def path(self, number: int) -> str:
        """The path of an element of the root."""
        return f'$."{self.view.key(number).decode()}"' if self.view.is_object else f"$[{number}]"

    def text(self, stored: int) -> Literal:
        """A string of one letter that is stored in ``stored`` bytes, its length included."""
        length = max(stored - (1 if stored <= 128 else 2 if stored <= 16_385 else 3), 0)
        return Literal(self.draw.letters(1, _LETTERS) * length)

    def set(self, *changes: tuple[int, Literal]) -> Call:
        pairs = [(self.path(number), value) for number, value in changes]
        return Call(self.draw.choice((Function.JSON_SET, Function.JSON_REPLACE)), Column(self.column), tuple(pairs))


def update(draw: Draw, column: str, stored: bytes, edges: list[int], *, gentle: bool = False) -> Expression:
    """The new value of a column. Most documents change in place; ``gentle``: by some hundred bytes at most."""
    view = open_document(stored)
    if not (view.is_array or view.is_object) or view.count < 5 or view.end < 600:
        return _grown(Scene(draw, column, view, edges))
    made = draw.choice(_GENTLE if gentle else _KINDS)(Scene(draw, column, view, edges))
    return made if made is not None else updates.partial(draw, column, stored, nullable=False)


def _exact(scene: Scene) -> Expression | None:
    """Exactly 99, 100 or 101 bytes in one string."""
    need = scene.draw.choice(_EXACT)
    found = scene.elements(need)
    return scene.set((scene.draw.choice(found), scene.text(need))) if found else None


def _exact_in_two(scene: Scene) -> Expression | None:
    """Exactly 99, 100 or 101 bytes in two strings, which may be in one piece."""
    need = scene.draw.choice(_EXACT)
    found = scene.elements(need - 20)
    if len(found) < 2:
        return None
    one = 20 + scene.draw.below(need - 40)
    first, second = scene.draw.sample(found, 2)
    return scene.set((first, scene.text(one)), (second, scene.text(need - one)))


def _crossing(scene: Scene) -> Expression | None:
    """A string over the end of a piece: a small one if one begins so near."""
    crossing = list(_over_edges(scene))
    if not crossing:
        return None
    number, least = scene.draw.choice(crossing)
    most = min(least + scene.draw.choice((0, 1, 30, 200, 20_000)), _room(scene, number))
    return scene.set((number, scene.text(max(most, least))))


def _over_edges(scene: Scene) -> Iterator[tuple[int, int]]:
    """The elements whose room crosses an edge, and how many bytes reach over it."""
    for number in range(scene.view.count):
        start = scene.start(number)
        if start is not None:
            edge = next((edge for edge in scene.edges if edge > start), None)
            if edge is not None and _room(scene, number) > edge - start:
                yield number, edge - start + 1


def _room(scene: Scene, number: int) -> int:
    """How many bytes an element can have where it is."""
    start = scene.start(number)
    assert start is not None
    later = scene.view.place(scene.view.first_placed(number + 1, scene.view.count))
    return (scene.view.end if later is None else later[0]) - start


def _at_an_end(scene: Scene) -> Expression | None:
    """A string in the first piece or in the last one."""
    found = scene.elements(2)
    if not found:
        return None
    number = scene.draw.choice((found[0], found[-1]))
    return scene.set((number, scene.text(min(2 + scene.draw.below(300), _room(scene, number)))))


def _neighbours(scene: Scene) -> Expression | None:
    """Two strings side by side: two ranges in one piece, or one range where they touch."""
    found = [pair for pair in pairwise(scene.elements(150)) if pair[1] == pair[0] + 1]
    if not found:
        return None
    first, second = scene.draw.choice(found)
    whole = scene.draw.below(2) and _room(scene, first) < 20_000
    one = _room(scene, first) if whole else 2 + scene.draw.below(140)
    return scene.set((first, scene.text(one)), (second, scene.text(2 + scene.draw.below(140))))


def _long(scene: Scene) -> Expression | None:
    """A string of some hundred bytes to several pages."""
    found = scene.elements(300)
    if not found:
        return None
    number = scene.draw.choice(found)
    return scene.set((number, scene.text(min(300 + scene.draw.below(40_000), _room(scene, number)))))


def _one_byte(scene: Scene) -> Expression | None:
    """The least that a string can change: one byte of text."""
    found = scene.elements(2)
    return scene.set((scene.draw.choice(found), scene.text(2))) if found else None


def _entry(scene: Scene) -> Expression:
    """A number, which stands in the value entry."""
    return scene.set((scene.draw.below(scene.view.count), Literal(scene.draw.below(30_000))))


def _removed(scene: Scene) -> Expression:
    """One element less: the entries behind it move."""
    path = scene.path(scene.draw.below(scene.view.count))
    return Call(Function.JSON_REMOVE, Column(scene.column), ((path, None),))


def _generated(scene: Scene) -> Expression:
    """Any chain of functions."""
    return updates.partial(scene.draw, scene.column, bytes(scene.view.data), nullable=False)


def _grown(scene: Scene) -> Expression:
    """An element more, which makes the server write the document whole."""
    path = "$.grown" if scene.view.is_object else "$[1000]"
    return Call(Function.JSON_SET, Column(scene.column), ((path, scene.text(700)),))


_KINDS: Final[tuple[Callable[[Scene], Expression | None], ...]] = mix(
    (_exact, 8), (_exact_in_two, 4), (_crossing, 6), (_at_an_end, 4), (_neighbours, 3), (_long, 3), (_one_byte, 3),
    (_entry, 2), (_removed, 2), (_generated, 3), (_grown, 1),
)  # fmt: skip
_GENTLE: Final = mix((_exact, 5), (_exact_in_two, 4), (_one_byte, 3), (_entry, 3), (_crossing, 1))
