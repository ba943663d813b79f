"""Rows in columns below each other, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDEST: Final = 40  # cells; a longer value stands as it is, and moves what follows


class Alignment:
    """The widths of columns. ``numbers``: which columns stand to the right."""

    def __init__(self, names: Sequence[str], numbers: Sequence[bool]) -> None:
        self._names = names
        self._numbers = numbers
        self._widths = [min(cell_len(name), _WIDEST) for name in names]

    def measure(self, row: Sequence[str]) -> None:
        """Take the widths of a row into account."""
        for place, text in enumerate(row):
            width = cell_len(text)
            if self._widths[place] < width <= _WIDEST:
                self._widths[place] = width

    def head(self) -> str:
        """The line with the names."""
        return self.line(self._names)

    def line(self, row: Sequence[str]) -> str:
        """One row."""
        return "  " + "  ".join(map(self._cell, range(len(row)), row)).rstrip()

    def _cell(self, place: int, text: str) -> str:
        room = " " * max(0, self._widths[place] - cell_len(text))
        return f"{room}{text}" if self._numbers[place] else f"{text}{room}"
