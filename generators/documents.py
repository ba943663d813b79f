"""JSON documents, by class of encoded size.

A class gives the rough size only, except :data:`Size.BORDER`, whose documents are exactly at the limits of the small
format and of the depth. Bulk is made of repeated patterns: a document of 300 KB takes about as many decisions as one of
300 bytes. No two places of a document share a container, so a caller may change it in place.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

from conformance.reference.jsonb.values import MAX_DEPTH, MAX_KEY
from generators import scalars
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.jsonb.values import JsonValue
    from generators.draw import Draw


class Size(IntEnum):
    """Classes of documents; the sizes are those of the JSONB encoding."""

    TINY = 0  # scalars, empty containers and one or two elements: where a diff is as large as the document
    SMALL = 1  # some members, a few levels: up to 1 KB or so
    TUNED = 2  # two elements whose lengths put a diff at the size of the document, give or take two bytes
    MEDIUM = 3  # 4 KB to 60 KB
    LARGE = 4  # over 64 KB, a few of several hundred
    BORDER = 5  # exactly at a limit


_SHALLOW: Final = ((Size.TINY, 13), (Size.SMALL, 64), (Size.TUNED, 4), (Size.MEDIUM, 16), (Size.LARGE, 3))
SHALLOW: Final = mix(*_SHALLOW)
"""Documents of few levels, for any place in another one."""

USUAL: Final = mix(*_SHALLOW, (Size.BORDER, 1))
"""About 15 % of the documents over 4 KB and 2 to 3 % over 64 KB."""


def document(draw: Draw, *, sizes: tuple[Size, ...] = USUAL) -> JsonValue:
    """A document of one of ``sizes`` (a :func:`~generators.draw.mix`)."""
    if not sizes:
        raise ValueError("sizes: there must be one")
    return _MAKERS[draw.choice(sizes)](draw)


def value(draw: Draw, *, nodes: int = 6) -> JsonValue:
    """A value for a document: a scalar two times out of three, else a container of up to ``nodes`` values."""
    if nodes < 1:
        raise ValueError("nodes is at least 1")
    if nodes == 1 or draw.below(12) < 8:
        return scalars.scalar(draw)
    return _Tree(draw, nodes).container(draw.integer(1, 3))


def tiny(draw: Draw) -> JsonValue:
    """A scalar, an empty container, or one or two short elements."""
    style = draw.below(10)
    if style == 0:
        return scalars.scalar(draw)
    if style == 1:
        return draw.choice(_EMPTY)()
    values = [_short(draw) for _ in range(draw.integer(1, 3))]
    if style < 6:
        return values
    return {draw.choice(_SHORT_KEYS): item for item in values}


def small(draw: Draw) -> JsonValue:
    """A tree of 3 to 40 values."""
    tree = _Tree(draw, draw.choice(_SMALL_NODES))
    return tree.container(draw.integer(2, 6))


def tuned(draw: Draw) -> JsonValue:
    """One element and a pad of nearly no bytes.

    Replacing the element by one of equal length costs E = 4 + 1 + 1 + path + 1 + 1 + element bytes. The document has L
    bytes: for these shapes the difference L - E is -2 .. 2 (partial-update 5).
    """
    length = draw.choice((4, 1, 2, 8, 20, 100, 120, 130))
    main = draw.letters(min(length, 8), scalars.LOWER) * (length // 8 or 1)
    pad: JsonValue = draw.choice(_PADS)
    if draw.below(2):
        return [pad, main] if draw.below(3) == 2 else [main, pad]
    name = draw.choice(("a", "b", "cd", "pad", ""))
    if draw.below(3) == 2:
        return {name: main, "z": pad}
    return {name: main}


def medium(draw: Draw) -> JsonValue:
    """A small tree with bulk of 4 KB to 60 KB in it."""
    return _bulky(draw, draw.choice(_MEDIUM_BYTES))


def large(draw: Draw) -> JsonValue:
    """A small tree with more than 64 KB in it."""
    return _bulky(draw, draw.choice(_LARGE_BYTES))


def border(draw: Draw) -> JsonValue:
    """A document at one limit: just below it, exactly there, or just over."""
    return draw.choice(_BORDERS)(draw)


def nested(draw: Draw, levels: int, *, leaf: JsonValue = 1) -> JsonValue:
    """``levels`` containers inside each other, arrays and objects mixed, around ``leaf``."""
    if levels < 0:
        raise ValueError(f"{levels} levels")
    style = draw.below(3)
    pattern = draw.below(1 << 8)
    result = leaf
    for level in range(levels):
        array = style == 0 or (style == 2 and pattern >> level % 8 & 1)
        result = [result] if array else {"a": result}
    return result


# ------------------------------------------------------------------------------------------------------------- the tree


class _Tree:
    """Fills containers with a given number of values. Some values equal earlier ones: setting one may change
    nothing."""

    __slots__ = ("draw", "left", "seen")

    def __init__(self, draw: Draw, nodes: int) -> None:
        self.draw = draw
        self.left = nodes
        self.seen: list[JsonValue] = []

    def container(self, levels: int) -> JsonValue:
        draw = self.draw
        width = min(self.left, draw.integer(1, 7))
        self.left -= width
        if draw.below(2) == 0:
            members: dict[str, JsonValue] = {}
            for _ in range(width):
                members[scalars.key(draw, long=True)] = self.element(levels)
            return members
        return [self.element(levels) for _ in range(width)]

    def element(self, levels: int) -> JsonValue:
        draw = self.draw
        style = draw.below(20)
        if levels > 1 and self.left > 0 and style >= 10:
            return self.container(levels - 1)
        if style == 9:
            return draw.choice(_EMPTY)()
        if style in (7, 8) and self.seen:
            return draw.choice(self.seen)
        made = scalars.scalar(draw)
        self.seen.append(made)
        return made


def _short(draw: Draw) -> JsonValue:
    style = draw.below(8)
    if style < 4:
        return draw.letters(draw.below(7), scalars.LOWER)
    if style < 6:
        return draw.integer(0, 300)
    return scalars.scalar(draw)


# ------------------------------------------------------------------------------------------------------------- the bulk


def _bulky(draw: Draw, size: int) -> JsonValue:
    """A small tree with one to three pieces of bulk, ``size`` bytes in all."""
    pieces = draw.choice((1, 1, 1, 2, 3))
    # Somewhat around the wanted size, so that sizes do not come in steps.
    size += draw.below(size // 8)
    bulk = [draw.choice(_BULK)(draw, size // pieces) for _ in range(pieces)]
    place = draw.below(10)
    if place == 0 and pieces == 1:
        return bulk[0]
    body = _Tree(draw, draw.integer(2, 12)).container(draw.integer(1, 3))
    if isinstance(body, dict):
        names = ("pad", "list", "zz")
        if place < 4:
            return {**dict(zip(names, bulk, strict=False)), **body}
        body.update(zip(names, bulk, strict=False))
        return body
    assert isinstance(body, list)
    at = draw.below(len(body) + 1)
    body[at:at] = bulk
    return body


def _long_string(draw: Draw, size: int) -> JsonValue:
    return scalars.text(draw, size)


def _integers(draw: Draw, size: int) -> JsonValue:
    """Inlined, or int32 and int64 which are inlined in the large format only, or not at all."""
    unit = draw.choice(_ITEMS)
    each = draw.choice((3, 5)) if unit[0] in (0, 1) else 8
    return list(unit) * max(1, size // each // len(unit))


def _strings(draw: Draw, size: int) -> JsonValue:
    length = draw.choice((10, 30, 100, 127, 128, 1000, 4000))
    unit = scalars.text(draw, length)
    return [f"{number}{unit}" for number in range(max(1, size // (length + 7)))]


def _records(draw: Draw, size: int) -> JsonValue:
    """An array of objects of one shape, as programs write them."""
    name, tag = scalars.text(draw, draw.integer(4, 40)), scalars.scalar(draw)
    each = 45 + len(name)
    return [{"id": number, "name": name, "tags": [tag, number]} for number in range(max(1, size // each))]


def _members(draw: Draw, size: int) -> JsonValue:
    unit = draw.choice((1, None, "abc", 2**33))
    first = draw.below(1000)
    return {f"k{number}": unit for number in range(first, first + max(1, size // 14))}


def _matrix(draw: Draw, size: int) -> JsonValue:
    row = [scalars.scalar(draw) for _ in range(draw.integer(1, 9))]
    each = 10 + sum(14 + (len(item) if isinstance(item, str) else 0) for item in row)
    return [list(row) for _ in range(max(1, size // each))]


# Strings first: they are the simplest, and the cheapest for everything that comes after the generator.
_BULK: Final[tuple[Callable[[Draw, int], JsonValue], ...]] = mix(
    (_long_string, 10), (_strings, 4), (_integers, 4), (_records, 2), (_members, 2), (_matrix, 1)
)  # fmt: skip
_MEDIUM_BYTES: Final = mix(
    (4500, 10), (6000, 10), (9000, 10), (14000, 6), (20000, 4), (33000, 3), (50000, 2), (58000, 1)
)  # fmt: skip
_LARGE_BYTES: Final = mix((67000, 20), (75000, 12), (100000, 8), (140000, 3), (220000, 1), (400000, 1))


# ----------------------------------------------------------------------------------------------------------- the limits


def _border_integers(draw: Draw) -> JsonValue:
    """21843 inlinable integers are the most that the small format holds."""
    return [draw.choice((1, 0, -1, 32767))] * (21843 + draw.integer(-1, 1))


def _border_string(draw: Draw) -> JsonValue:
    """A string as the only element: 65525 characters in an array, 65520 in a member of one letter."""
    extra = draw.integer(-1, 1)
    if draw.below(2):
        return {"a": scalars.text(draw, 65520 + extra)}
    return [scalars.text(draw, 65525 + extra)]


def _border_offset(draw: Draw) -> JsonValue:
    """A container whose *last value offset* is at the limit: the value behind it fits or just does not."""
    # Array of two: header 4, entries 6, first string 3 + n bytes, then the last value.
    lasts: tuple[JsonValue, ...] = ("", "x", [], 2**40)
    last = draw.choice(lasts)
    return [scalars.text(draw, 65535 - 13 - draw.integer(0, 20)), last]


def _border_members(draw: Draw) -> JsonValue:
    """An object whose size is near 65535 because of its keys: 11 bytes for each member, and the last key is longer."""
    count = 5957
    result: dict[str, JsonValue] = {f"{number:04}": 1 for number in range(count - 1)}
    result["k" * (4 + draw.integer(2, 6))] = 1
    return result


def _border_child(draw: Draw) -> JsonValue:
    """A container at the limit inside another one: too big for a small parent makes both large."""
    child: list[JsonValue] = [1] * (21843 - draw.choice((0, 1, 3, 4, 5)))
    if draw.below(2):
        return {"a": child}
    return [child, *([draw.letters(4, scalars.LOWER)] * draw.below(3))]


def _border_large_parent(draw: Draw) -> JsonValue:
    """A large parent with children that are small, and one at the limit of it."""
    child: list[JsonValue] = [1] * (21843 + draw.integer(-1, 1))
    return [child, [100000, "a"], {"a": 100000}, 100000]


def _border_key(draw: Draw) -> JsonValue:
    """A key of the greatest length makes any object large; shorter ones need not."""
    return {scalars.text(draw, MAX_KEY - draw.choice((0, 1, 17, 18, 19))): 1}


def _border_depth(draw: Draw) -> JsonValue:
    """At the limit of the depth, or one below."""
    return nested(draw, MAX_DEPTH - draw.below(2), leaf=draw.choice((1, "a", None)))


def _border_short(draw: Draw) -> JsonValue:
    """Strings whose length needs one byte more than that of a shorter one."""
    return [scalars.text(draw, draw.choice((127, 128))), scalars.text(draw, draw.choice((16383, 16384)))]


_ITEMS: Final[tuple[tuple[JsonValue, ...], ...]] = (
    (1,), (1, 2, 3), (0, None, True), (70000,), (1, 100000, -1), (2**40,), (1, 2.5, "x")
)  # fmt: skip
_EMPTY: Final[tuple[Callable[[], JsonValue], ...]] = (list, dict)
_SHORT_KEYS: Final = ("a", "b", "", "k", "ab", "1", "é", "a b")
_SMALL_NODES: Final = mix((3, 6), (5, 8), (8, 12), (12, 14), (20, 10), (40, 5), (80, 1))
_PADS: Final[tuple[JsonValue, ...]] = ("", "z", 1, "zz", None, "zzz")
_BORDERS: Final[tuple[Callable[[Draw], JsonValue], ...]] = mix(
    (_border_depth, 8), (_border_short, 8), (_border_integers, 3), (_border_string, 8), (_border_offset, 3),
    (_border_child, 2), (_border_large_parent, 1), (_border_members, 1), (_border_key, 2),
)  # fmt: skip
_MAKERS: Final[dict[Size, Callable[[Draw], JsonValue]]] = {
    Size.TINY: tiny,
    Size.SMALL: small,
    Size.TUNED: tuned,
    Size.MEDIUM: medium,
    Size.LARGE: large,
    Size.BORDER: border,
}
