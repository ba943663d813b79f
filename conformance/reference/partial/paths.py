"""JSON paths: parsed from text as MySQL parses them, written back as it writes them into diffs.

Parsing accepts white space between tokens, needless quotes and leading zeros; ``str(path)`` is the canonical text of
partial-update 4.1. Wildcards, ranges and ``**`` parse too: a diff with such a path is read without error, and then
refused by the applier (3648).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.text import quote
from conformance.reference.jsonb.text_reader import half_pair

MAX_INDEX: Final = (1 << 32) - 1
_SPACE: Final = " \t\n\r\v\f"
_NAME_ENDS: Final = frozenset(_SPACE + ".[*")


class Member(NamedTuple):
    """``.name``"""

    name: str


class Cell(NamedTuple):
    """``[index]``, or ``[last-index]`` when counted from the end."""

    index: int  # type: ignore[assignment]  # the name that everyone uses; nobody wants tuple.index() of a leg
    from_end: bool = False

    def position(self, count: int) -> tuple[int, bool]:
        """(position, in bounds) in an array of ``count`` elements. A cell past the end is at ``count``, one before the
        front at 0.
        """
        if self.from_end:
            return (count - 1 - self.index, True) if self.index < count else (0, False)
        return (self.index, True) if self.index < count else (count, False)

    @property
    def finds_scalar(self) -> bool:
        """Whether the cell selects the value itself if that is no array: ``[0]`` and ``[last]``."""
        return self.index == 0


class CellRange(NamedTuple):
    """``[first to last]``"""

    first: Cell
    last: Cell


@dataclass(frozen=True, slots=True)
class Wildcard:
    """``.*``, ``[*]`` or ``**``, distinguished by ``text``. No tuple: a member may also have the name ``**``."""

    text: str


Leg: TypeAlias = Member | Cell | CellRange | Wildcard
_EXACT: Final = frozenset((Member, Cell))


class Path(NamedTuple):
    """A path from the root ``$``; ``str()`` gives its canonical text."""

    legs: tuple[Leg, ...]

    @property
    def is_exact(self) -> bool:
        """Whether the path has no wildcard, range or ``**``, so that it selects at most one value."""
        return _EXACT.issuperset(map(type, self.legs))

    def __str__(self) -> str:
        return _format(self.legs)


@lru_cache(maxsize=8192)
def _format(legs: tuple[Leg, ...]) -> str:
    return "$" + "".join(map(_format_leg, legs))


def _format_leg(leg: Leg) -> str:
    if isinstance(leg, Member):
        return "." + (leg.name if is_identifier(leg.name) else quote(leg.name))
    if isinstance(leg, Cell):
        return f"[{_format_cell(leg)}]"
    if isinstance(leg, CellRange):
        return f"[{_format_cell(leg.first)} to {_format_cell(leg.last)}]"
    return leg.text


def _format_cell(cell: Cell) -> str:
    if not cell.from_end:
        return str(cell.index)
    return f"last-{cell.index}" if cell.index else "last"


def _is_letter(point: int) -> bool:
    """Whether the server takes a code point for a letter: it checks the low eight bits only (observed on 9.7.4, 130 965
    keys).
    """
    if 0xDC80 <= point <= 0xDCFF:  # a byte that is not UTF-8 is legal between quotes only (observed on 9.7.4)
        return False
    low = point & 0xFF
    return (0x41 <= low <= 0x5A or 0x61 <= low <= 0x7A or 0x80 <= low <= 0xFE) and not 0x300 <= point <= 0x36F


# Code points that may follow the first one, beside letters and digits (partial-update 4.1).
_CONNECTORS: Final = frozenset(
    (0x203F, 0x2040, 0x2054, 0xFE33, 0xFE34, 0xFE4D, 0xFE4E, 0xFE4F, 0xFF3F, 0x200C, 0x200D, *range(0x300, 0x370))
)


def is_identifier(name: str) -> bool:
    """Whether a member name may stand in a path without quotes."""
    if name.isascii() and name.isidentifier():
        return True
    first = True
    for char in name:
        point = ord(char)
        if not (
            char in "$_" or _is_letter(point) or (not first and (0x30 <= point & 0xFF <= 0x39 or point in _CONNECTORS))
        ):
            return False
        first = False
    return not first


def bad_path(position: int, message: str) -> MysqlError:
    """The error 3143 at a character of the path text."""
    return MysqlError(3143, "ER_INVALID_JSON_PATH", message, offset=position)


@lru_cache(maxsize=8192)
def parse_path(text: str) -> Path:
    """Parse a path. Raises :class:`MysqlError` 3143 with the position of the character that is not allowed."""
    return _Parser(text).path()


class _Parser:
    """One pass over the text. Positions in errors are characters from its start."""

    __slots__ = ("pos", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0

    def path(self) -> Path:
        self.space()
        if not self.accept("$"):
            raise bad_path(self.pos, "a path begins with $")
        legs: list[Leg] = []
        self.space()
        while self.pos < len(self.text):
            legs.append(self.leg())
            self.space()
        if legs and legs[-1] == Wildcard("**"):
            raise bad_path(self.pos, "a path cannot end with **")
        return Path(tuple(legs))

    def space(self) -> None:
        text, pos = self.text, self.pos
        while pos < len(text) and text[pos] in _SPACE:
            pos += 1
        self.pos = pos

    def accept(self, token: str) -> bool:
        if self.text.startswith(token, self.pos):
            self.pos += len(token)
            return True
        return False

    def leg(self) -> Leg:
        if self.accept("."):
            self.space()
            if self.accept("*"):
                return Wildcard(".*")
            if self.text.startswith('"', self.pos):
                return Member(self.quoted_name())
            return Member(self.bare_name())
        if self.accept("["):
            self.space()
            leg = self.cells()
            self.space()
            if not self.accept("]"):
                raise bad_path(self.pos, "an array cell ends with ]")
            return leg
        if self.accept("**"):
            if self.text.startswith("*", self.pos):
                raise bad_path(self.pos, "*** is not a path leg")
            return Wildcard("**")
        raise bad_path(self.pos, "a path leg begins with ., [ or **")

    def bare_name(self) -> str:
        start = pos = self.pos
        text = self.text
        while pos < len(text) and text[pos] not in _NAME_ENDS:
            pos += 1
        name = text[start:pos]
        if not is_identifier(name):
            raise bad_path(start, "this member name needs double quotes")
        self.pos = pos
        return name

    def quoted_name(self) -> str:
        start = pos = self.pos
        text = self.text
        pos += 1
        while pos < len(text) and text[pos] != '"':
            pos += 2 if text[pos] == "\\" else 1
        self.pos = pos + 1
        raw = text[start : pos + 1]
        try:
            name: str = json.loads(raw)
            name.encode("utf-8", "surrogateescape")
        except ValueError:
            raise bad_path(start, "the quoted member name is not a JSON string") from None
        if half_pair(raw, len(raw)):
            raise bad_path(start, "the quoted member name has half a surrogate pair")
        return name

    def cells(self) -> Leg:
        if self.accept("*"):
            return Wildcard("[*]")
        first = self.cell()
        mark = self.pos
        self.space()
        if self.pos > mark and self.accept("to"):
            end = self.pos
            self.space()
            if self.pos == end:  # also "[1 to]" (observed on 9.7.4)
                raise bad_path(end, "behind to stands white space")
            last = self.cell()
            if first.from_end == last.from_end and (
                first.index < last.index if first.from_end else first.index > last.index
            ):
                raise bad_path(mark, "a range of cells runs backwards")
            return CellRange(first, last)
        return first

    def cell(self) -> Cell:
        if self.accept("last"):
            mark = self.pos
            self.space()
            if self.accept("-"):
                self.space()
                return Cell(self.index(), from_end=True)
            self.pos = mark
            return Cell(0, from_end=True)
        return Cell(self.index())

    def index(self) -> int:
        start = pos = self.pos
        text = self.text
        while pos < len(text) and text[pos] in "0123456789":
            pos += 1
        if pos == start:
            raise bad_path(start, "an array cell is a number or last")
        self.pos = pos
        digits = text[start:pos].lstrip("0")
        if len(digits) > 10 or int(digits or "0") > MAX_INDEX:
            raise bad_path(start, "an array index is over 2^32-1")
        return int(digits or "0")
