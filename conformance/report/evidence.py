"""Expected and observed values side by side: bytes in pairs, the equal part shortened, the first difference marked.

Text is compared by word: marks on single letters would only show what letters two words share.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.stream import CaseVerdict

COLUMNS = 3  # characters that a byte in hex takes on a line, its space included
LONGEST_NUMBER = 20  # digits; a longer row of digits is hex
LONGEST_WORD = 40  # characters; of a longer one only the part from its first difference on is marked
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+\Z")
_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)
_WORD_CHARACTER = re.compile(r"\w")
_LAST_WORD = re.compile(r"\w*\Z")


@dataclass(frozen=True, slots=True)
class Window:
    """How many bytes the evidence shows before and after the first difference; text gets as many characters as fill the
    line.
    """

    before: int
    after: int


PAGE = Window(12, 52)


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of text; ``mark`` is ``first`` for the first difference, ``more`` for later ones, else empty."""

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
        """Whether the two sides differ."""
        return self.expected != self.got


def rows(verdict: CaseVerdict, *, window: Window = PAGE) -> list[Row]:
    """The evidence of one verdict, field by field; one row of the bare values if there is no field to compare."""
    if not verdict.evidence or of_log(verdict):
        if verdict.expected is None and verdict.got is None:
            return []
        expected, got = align(verdict.expected, verdict.got, window=window)
        return [Row(verdict.field or "value", verdict.offset, expected, got, first=True)]
    out: list[Row] = []
    found = False
    for item in verdict.evidence:
        first = not found and item.expected != item.got
        found = found or first
        expected, got = align(item.expected, item.got, mark="first" if first else "more", window=window)
        out.append(Row(item.field, item.offset, expected, got, first))
    return out


def of_log(verdict: CaseVerdict) -> bool:
    """Whether the evidence is bytes of the log alone: a decoder gives values, and no bytes to compare them with."""
    return any(item.first for item in verdict.evidence)


Sides: TypeAlias = tuple[tuple[Piece, ...] | None, tuple[Piece, ...] | None]


def align(expected: str | None, got: str | None, *, mark: str = "first", window: Window = PAGE) -> Sides:
    """Both sides as pieces. Hex is compared by byte, other text by word."""
    if not _is_hex(expected, got):
        return _aligned_text(expected, got, mark, Window(window.before * COLUMNS, window.after * COLUMNS))
    left, right = _bytes(expected), _bytes(got)
    if left is None or right is None or left == right:
        return _whole(left, " ", window), _whole(right, " ", window)
    first = _equal_part(left, right)
    return _pieces(left, right, first, mark, window), _pieces(right, left, first, mark, window)


def _aligned_text(expected: str | None, got: str | None, mark: str, window: Window) -> Sides:
    first = _equal_part(expected or "", got or "")
    if not first or expected is None or got is None or expected == got:
        # Two sentences, say: marks inside would only show what words they share.
        return _whole_text(expected, window), _whole_text(got, window)
    word = _begin_of_word(expected, got, first)
    ours, theirs = (_WORD.findall(side[word : first + window.after]) for side in (expected, got))
    changes = [code for code in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes() if code[0] != "equal"]
    return (
        _marked_words(expected, ours, [(start, end) for _, start, end, _, _ in changes], word, mark, window),
        _marked_words(got, theirs, [(start, end) for _, _, _, start, end in changes], word, mark, window),
    )


def _equal_part(left: Sequence[str], right: Sequence[str]) -> int:
    """How many units both begin with."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(left), len(right)))


def _begin_of_word(left: str, right: str, first: int) -> int:
    """Where the word begins in which the sides part; of a long one, where they part."""
    if not any(_WORD_CHARACTER.match(side[first : first + 1]) for side in (left, right)):
        return first
    found = _LAST_WORD.search(left[max(0, first - LONGEST_WORD) : first])
    length = len(found[0]) if found else 0
    return first if length == LONGEST_WORD else first - length


def _marked_words(
    side: str, words: Sequence[str], changed: Sequence[tuple[int, int]], begin: int, mark: str, window: Window
) -> tuple[Piece, ...]:
    """One side from a little before the first word that differs to a little after it."""
    start = max(0, begin - window.before)
    out = [Piece(f"({start:,} equal) … ")] if start else []
    out.append(Piece(side[start:begin]))
    done = 0
    for number, (left, right) in enumerate(changed):
        out += [Piece("".join(words[done:left])), Piece("".join(words[left:right]), "more" if number else mark)]
        done = right
    out.append(Piece("".join(words[done:])))
    end = begin + sum(map(len, words))
    if begin >= len(side):
        out.append(Piece(" (ends here)", mark))
    if end < len(side):
        out.append(Piece(f"… {_more(len(side) - end, '')}"))
    return tuple(piece for piece in out if piece.text)


def spaced(text: str | None) -> str:
    """Bytes in hex, in pairs; a remark behind them stays as it is."""
    digits, mark, rest = (text or "").partition("\N{HORIZONTAL ELLIPSIS}")
    return f"{' '.join(_bytes(digits) or ())}{f' {mark}{rest}' if mark else ''}"


def _is_hex(*sides: str | None) -> bool:
    """Whether every text is bytes in hex, and no number in decimal."""
    texts = [text for text in sides if text]
    if not all(_HEX.match(text) for text in texts):
        return False
    return any(len(text) > LONGEST_NUMBER or not text.isdecimal() for text in texts)


def _bytes(text: str | None) -> list[str] | None:
    return None if text is None else [text[i : i + 2] for i in range(0, len(text), 2)]


def _whole(units: list[str] | None, joiner: str, window: Window) -> tuple[Piece, ...] | None:
    """All of a side that has no counterpart, or equals it."""
    if units is None:
        return None
    shown = window.before + window.after
    if len(units) <= shown:
        return (Piece(joiner.join(units)),) if units else ()
    return (Piece(f"{joiner.join(units[:shown])}{joiner}… {_more(len(units) - shown, joiner)}"),)


def _whole_text(text: str | None, window: Window) -> tuple[Piece, ...] | None:
    return _whole(None if text is None else list(text), "", window)


def _more(count: int, joiner: str) -> str:
    return f"({count:,} more {'bytes' if joiner else 'characters'})"


def _pieces(own: list[str], other: list[str], first: int, mark: str, window: Window) -> tuple[Piece, ...]:
    """One side's bytes from a little before the first difference to a little after it."""
    start, end = max(0, first - window.before), min(len(own), first + window.after)
    out: list[Piece] = []
    if start:
        out.append(Piece(f"({start:,} equal) … "))
    run: list[str] = []
    run_mark = ""
    for index in range(start, end):
        differs = index >= len(other) or own[index] != other[index]
        kind = "" if not differs else mark if index == first else "more"
        if run and kind != run_mark:
            out.append(Piece(" ".join(run), run_mark))
            out.append(Piece(" "))
            run = []
        run_mark = kind
        run.append(own[index])
    if run:
        out.append(Piece(" ".join(run), run_mark))
    if end == len(own) < len(other):
        out += [Piece(" "), Piece("(ends here)", mark if first >= len(own) else "more")]
    if end < len(own):
        out.append(Piece(f" … {_more(len(own) - end, ' ')}"))
    return tuple(piece for piece in out if piece.text)
