"""Members of ENUM and SET columns: many or few, long and short, in the character set of the column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.tables.charsets import BINARY, COLLATIONS, bytes_of
from generators.draw import mix

if TYPE_CHECKING:
    from generators.draw import Draw

_BYTES: Final = 60_000  # of all members of a column, so that ordinary packets hold the statement
_LONGEST: Final = 255  # bytes of a member, in its own character set
_ODD: Final = (
    "it's", "b\\s", 'q"q', "a b", "-- ", "/*", "`", "\n", "\t", "\r\n", "%s", "(", ")", "'", "\x01", "\x1a", "\b", "~^",
)  # fmt: skip
_LETTERS: Final = "éüßñøāžєжЯάΩאבتไกあア亜漢字한글😀𐍈"
_COUNTS: Final = {
    "ENUM": mix(((1, 4), 60), ((5, 40), 25), ((250, 260), 8), ((261, 600), 2), ((2_000, 3_000), 1)),
    "SET": mix(((1, 4), 60), ((5, 20), 25), ((7, 9), 5), ((16, 17), 3), ((24, 33), 4), ((63, 64), 4)),
}


def members(draw: Draw, kind: str, collation: int) -> tuple[str, ...]:
    """The members of an ENUM or SET column with this collation. Their numbers make them distinct in every collation."""
    low, high = draw.choice(_COUNTS[kind])
    known = COLLATIONS[collation]
    letters = _writable(_LETTERS, collation) if collation != BINARY else ""
    longest = _LONGEST // known.max_bytes
    found: list[str] = []
    size = 0
    for number in range(draw.integer(low, high)):
        text = str(number)
        if draw.below(4) == 3:
            text = _writable(draw.choice(_ODD), collation) + text
        elif letters and draw.below(3) == 2:
            text = "".join(draw.choice(letters) for _ in range(1 + draw.below(6))) + text
        if draw.below(40) == 39:
            text = ("x" * longest)[: longest - len(text)] + text
        size += len(text) * known.max_bytes
        if size > _BYTES:
            break
        found.append(text)
    if kind == "ENUM" and draw.below(6) == 5:
        found.append("")
    if draw.below(12) == 11 and len(found[0]) + 2 <= longest:
        found[0] += "  "  # spaces at the end are cut off, but not from binary members
    return tuple(found)


def _writable(text: str, collation: int) -> str:
    """The part of the text that the character set can write."""
    return "".join(letter for letter in text if collation == BINARY or bytes_of(letter, collation) is not None)
