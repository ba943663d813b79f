"""Helpers for every message to people: text that cannot steer a terminal, counts, and the nearest known name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

# Unicode's category Cc, but for the two that lay out lines. A terminal obeys the others (ECMA-48).
_CONTROLS: Final = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    r"""The text with control characters as ``\x1b``; line feeds and tabs stay."""
    return text.translate(_CONTROLS)


def counted(number: int, noun: str) -> str:
    """``1 event``, ``2 events``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question with the nearest known names, whatever their case, in parentheses and behind a blank; or nothing."""
    from difflib import get_close_matches  # most runs of a command never need it

    by_folded = {item.casefold(): item for item in known}
    folded = name.casefold()
    near = [folded] if folded in by_folded else get_close_matches(folded, by_folded)
    return f" (did you mean {' or '.join(by_folded[item] for item in near)}?)" if near else ""
