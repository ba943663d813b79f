"""Documents of 1 to 600 KB whose strings begin at chosen places, such as just before the end of a LOB page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.innodb.lob import CHUNK, DATA, FIRST_DATA
from conformance.reference.innodb.pages import FIL_TRAILER
from generators import documents

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue
    from generators.draw import Draw

PAGE: Final = 16384
LONGEST: Final = 600_000
_SHORTEST: Final = 1_000
_SMALL_FORMAT: Final = 60_000  # longer documents may have the large format
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_AHEAD: Final = 120  # a string that is to cross a border begins at most so many bytes before it


def borders(length: int, *, prefix: int, compressed: bool) -> list[int]:
    """The offsets in a value of ``length`` bytes at which a new piece of its LOB begins (innodb-lob 3, 5, 10.2)."""
    if compressed:
        return list(range(CHUNK, length, CHUNK))
    first = prefix + PAGE - FIRST_DATA - FIL_TRAILER
    return list(range(first, length, PAGE - DATA - FIL_TRAILER))


def size(draw: Draw, *, shortest: int = _SHORTEST) -> int:
    """A length from ``shortest`` to 600 KB; as many below 24 KB as above."""
    low = shortest
    while low * 5 < LONGEST and draw.below(3):
        low *= 5
    return low + draw.below(min(low * 4, LONGEST - low))


def document(draw: Draw, length: int, edges: list[int]) -> JsonValue:
    """An array or object of about ``length`` bytes; a string crosses each second of the ``edges`` on average."""
    if draw.below(6) == 5 and length > 8_000:
        return documents.medium(draw) if length < _SMALL_FORMAT else documents.large(draw)
    count = 6 + min(length // 3_000, 150)
    is_object = bool(draw.below(2))
    header = 9 + (15 if is_object else 5) * count
    wished = [edge - 1 - draw.below(_AHEAD) for edge in edges if draw.below(2)]
    wished += [header + 20 + draw.below(max(length - header - 20, 1)) for _ in range(count)]
    cuts = sorted({place for place in wished if place > header + 4})[: count - 1]
    count = len(cuts) + 1
    large = length >= _SMALL_FORMAT
    if is_object:
        start = 1 + (8 + 11 * count if large else 4 + 7 * count) + 4 * count
    else:
        start = 1 + (8 + 5 * count if large else 4 + 3 * count)
    strings = [_string(draw, end - begin) for begin, end in zip([start, *cuts], [*cuts, length], strict=True)]
    return {f"k{place:03}": text for place, text in enumerate(strings)} if is_object else list(strings)


def _string(draw: Draw, stored: int) -> str:
    """A string that is stored in so many bytes, its length included."""
    length = max(stored - (1 if stored <= 128 else 2 if stored <= 16_385 else 3), 1)
    word = draw.letters(min(length, 24), _LETTERS)
    return (word * (length // len(word) + 1))[:length]
