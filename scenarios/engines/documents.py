"""Documents of a wanted size and shape, cheap enough to make one for every scenario.

The number of values is bounded, so a document of 1 MB costs little more than its bytes: large documents have long
strings. Every fourth value is an integer, so that inlined values occur everywhere.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from scenarios.expected.columns import diff_size
from scenarios.expected.layout import value_size

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue
    from generators.draw import Draw

SHAPES: Final = ("flat", "nested", "array", "text")
SMALL: Final[JsonValue] = [1, "two"]  # what JSON columns hold that no statement assigns
MOST: Final = 32  # the most values of a document
_GROUP: Final = 4  # values of an object inside another
_NAMES: Final = tuple(f"k{index}" for index in range(MOST))


class Leaf(NamedTuple):
    """A value that an update can change: its path, and its length (-1: an integer)."""

    path: str
    length: int


class Made(NamedTuple):
    """A document, its values that can be changed, and a place for new values (the path ends before its number)."""

    value: JsonValue
    leaves: tuple[Leaf, ...]
    room: str


def pattern_of(draw: Draw) -> str:
    """Eight characters from which all strings of a document are made: one decision, whatever the document's size."""
    return f"{draw.below(1 << 32):08x}"


def text(pattern: str, length: int) -> str:
    """``length`` characters of a repeated pattern."""
    return (pattern * (length // len(pattern) + 1))[:length]


def document(draw: Draw, shape: str, size: int) -> Made:
    """A document of about ``size`` bytes, within an eighth."""
    pattern = pattern_of(draw)
    size += draw.below(size // 4 + 1) - size // 8
    if shape == "text":
        return _text(draw, pattern, size)
    count = max(2, min(MOST, size // 64))
    # Bytes of an entry, a key and the header of a container; the rest is for the strings.
    frame = {"flat": 11, "nested": 14, "array": 4}[shape]
    strings = count - count // 4
    length = max(1, (size - 5 - frame * count) // strings)
    texts = [text(pattern[start:] + pattern, length) for start in range(8)]
    values: list[JsonValue] = [draw.below(1 << 16) if index % 4 == 3 else texts[index % 8] for index in range(count)]
    leaves = _leaves(shape, count, length)
    if shape == "array":
        return Made(values, leaves, "$[")
    if shape == "flat":
        return Made(dict(zip(_NAMES, values, strict=False)), leaves, "$.new")
    groups: dict[str, JsonValue] = {}
    for start in range(0, count, _GROUP):
        end = start + _GROUP
        groups[f"g{start // _GROUP}"] = dict(zip(_NAMES[start:end], values[start:end], strict=False))
    return Made(groups, leaves, "$.g0.new")


@lru_cache(maxsize=4096)
def _leaves(shape: str, count: int, length: int) -> tuple[Leaf, ...]:
    """The leaves that all documents of a shape with so many values share; strings have this length."""
    paths = {
        "array": [f"$[{index}]" for index in range(count)],
        "flat": [f"$.{name}" for name in _NAMES[:count]],
        "nested": [f"$.g{index // _GROUP}.{name}" for index, name in enumerate(_NAMES[:count])],
    }[shape]
    return tuple(Leaf(path, -1 if index % 4 == 3 else length) for index, path in enumerate(paths))


def _text(draw: Draw, pattern: str, size: int) -> Made:
    body = max(1, size - 60)
    value: JsonValue = {
        "id": draw.below(1 << 16),
        "tags": [pattern[:3], pattern[3:]],
        "body": text(pattern, body),
    }
    leaves = (Leaf("$.id", -1), Leaf("$.tags[0]", 3), Leaf("$.tags[1]", 5), Leaf("$.body", body))
    return Made(value, leaves, "$.new")


def tight(draw: Draw, shape: str, length: int, pairs: int, margin: int) -> Made:
    """A document whose full form is ``margin`` bytes longer than the diffs that replace its first leaves.

    The new leaves are as long as the old: L - (4 + D) = margin (partial-update 5). All leaves but the pad are to be
    replaced. In objects the keys contain quotes, which a path must escape: without quotes the diffs are never that
    long.
    """
    pattern = pattern_of(draw)
    while True:
        main = text(pattern, length)
        paths = [f"$[{index}]" if shape == "array" else f'$."{_QUOTES}{index}"' for index in range(pairs)]
        diffs = sum(diff_size(path, main) for path in paths)
        pad = margin + 4 + diffs - value_size(_padded(shape, main, pairs, ""))
        if pad >= 0:
            leaves = tuple(Leaf(path, length) for path in paths)
            return Made(_padded(shape, main, pairs, text(pattern, pad)), leaves, "$.new")
        pairs += 1  # more diffs for the same document: each costs more than the value that it replaces


_QUOTES: Final = r"\"" * 6  # in a path; in a key they stand without the backslashes


def _padded(shape: str, main: str, pairs: int, pad: str) -> JsonValue:
    if shape == "array":
        return [*([main] * pairs), pad]
    return {**{'"' * 6 + str(index): main for index in range(pairs)}, "p": pad}
