"""Expected and observed values side by side: bytes in pairs, the equal part shortened, the first difference marked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.stream import CaseVerdict

BEFORE, AFTER = 12, 52  # bytes shown before and after the first difference
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+\Z")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text; ``mark`` is ``first`` for the first difference, ``more`` for later ones, else empty."""

    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One field of the evidence. ``None``: this side has no such field."""

    field: str
    offset: int | None
    expected: tuple[Piece, ...] | None
    got: tuple[Piece, ...] | None
    first: bool = False

    @property
    def differs(self) -> bool:
        """Whether the two sides are not the same."""
        return self.expected != self.got


def rows(verdict: CaseVerdict) -> list[Row]:
    """The evidence of one verdict, field by field; one row of the bare values where it came without fields."""
    if not verdict.evidence:
        if verdict.expected is None and verdict.got is None:
            return []
        expected, got = align(verdict.expected, verdict.got)
        return [Row(verdict.field or "value", verdict.offset, expected, got, first=True)]
    out: list[Row] = []
    found = False
    for item in verdict.evidence:
        first = not found and item.expected != item.got
        found = found or first
        expected, got = align(item.expected, item.got, mark="first" if first else "more")
        out.append(Row(item.field, item.offset, expected, got, first))
    return out


def align(
    expected: str | None, got: str | None, *, mark: str = "first"
) -> tuple[tuple[Piece, ...] | None, tuple[Piece, ...] | None]:
    """Both sides as pieces. Hex is compared by byte, other text by character."""
    left, right = _units(expected), _units(got)
    if not (_is_hex(expected) and _is_hex(got)):
        left, right = _characters(expected), _characters(got)
        joiner = ""
    else:
        joiner = " "
    if left is None or right is None:
        return _whole(left, joiner), _whole(right, joiner)
    first = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    if left == right:
        return _whole(left, joiner), _whole(right, joiner)
    return _pieces(left, right, first, joiner, mark), _pieces(right, left, first, joiner, mark)


def _is_hex(text: str | None) -> bool:
    return not text or _HEX.match(text) is not None


def _units(text: str | None) -> list[str] | None:
    return None if text is None else [text[i : i + 2] for i in range(0, len(text), 2)]


def _characters(text: str | None) -> list[str] | None:
    return None if text is None else list(text)


def _whole(units: list[str] | None, joiner: str) -> tuple[Piece, ...] | None:
    """A side with nothing to compare it with, or equal to the other."""
    if units is None:
        return None
    if len(units) <= BEFORE + AFTER:
        return (Piece(joiner.join(units)),)
    hidden = len(units) - BEFORE - AFTER
    return (Piece(f"{joiner.join(units[: BEFORE + AFTER])}{joiner}… {_more(hidden, joiner)}"),)


def _more(count: int, joiner: str) -> str:
    return f"({count:,} more {'bytes' if joiner else 'characters'})"


def _pieces(own: list[str], other: list[str], first: int, joiner: str, mark: str) -> tuple[Piece, ...]:
    """One side from a little before the first difference to a little after it."""
    start, end = max(0, first - BEFORE), min(len(own), first + AFTER)
    out: list[Piece] = []
    if start:
        out.append(Piece(f"({start:,} equal) … "))
    run: list[str] = []
    run_mark = ""
    for index in range(start, end):
        differs = index >= len(other) or own[index] != other[index]
        kind = "" if not differs else mark if index == first else "more"
        if run and kind != run_mark:
            out.append(Piece(joiner.join(run), run_mark))
            out.append(Piece(joiner))
            run = []
        run_mark = kind
        run.append(own[index])
    if run:
        out.append(Piece(joiner.join(run), run_mark))
    if end == len(own) < len(other):
        out += [Piece(joiner or " "), Piece("(ends here)", mark if first >= len(own) else "more")]
    if end < len(own):
        out.append(Piece(f"{joiner}… {_more(len(own) - end, joiner)}"))
    return tuple(piece for piece in out if piece.text)
