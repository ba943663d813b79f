"""The rows of a table during a replay, in the least memory: at most eight bytes for a row that others are equal to."""

from __future__ import annotations

from collections import deque
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Values: TypeAlias = "tuple[Any, ...]"

_REMEMBERED: Final = 1024  # rows that later ones are compared with
_FEW: Final = 16
_BLOCK: Final = 4096  # rows


class RowStore:
    """Rows by number. Numbers grow and are never used again, but a removed row may return under its own."""

    def __init__(self) -> None:
        self._blocks: list[list[Values | None]] = [[]]  # all full but the last
        self._repeated: dict[int, list[Values | None]] = {}  # by the row that a block is full of: blocks may share it
        self._count = 0
        self._shared: dict[Values, Values] = {}

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        return (number for number, _ in self.items())

    def __contains__(self, number: int) -> bool:
        block, place = divmod(number, _BLOCK)
        return block < len(self._blocks) and place < len(self._blocks[block]) and self._blocks[block][place] is not None

    def __getitem__(self, number: int) -> Values:
        values = self._blocks[number // _BLOCK][number % _BLOCK]
        if values is None:
            raise KeyError(number)
        return values

    def __setitem__(self, number: int, values: Iterable[Any]) -> None:
        """Replace a row, or let a removed one return."""
        block, place = self._own(number // _BLOCK), number % _BLOCK
        self._count += block[place] is None
        block[place] = self._one(tuple(values))

    def add(self, values: Iterable[Any]) -> int:
        """Add a row; returns its number."""
        last = self._blocks[-1]
        last.append(self._one(tuple(values)))
        self._count += 1
        number = len(self._blocks) * _BLOCK - _BLOCK + len(last) - 1
        if len(last) == _BLOCK:
            first = last[0]
            if all(row is first for row in last):
                self._blocks[-1] = self._repeated.setdefault(id(first), last)
            self._blocks.append([])
        return number

    def pop(self, number: int) -> Values:
        """Remove a row; returns its values."""
        values = self[number]
        self._own(number // _BLOCK)[number % _BLOCK] = None
        self._count -= 1
        return values

    def clear(self) -> None:
        """Remove all rows."""
        nothing: list[Values | None] = [None] * _BLOCK
        self._repeated = {id(None): nothing}
        self._blocks = [nothing] * (len(self._blocks) - 1) + [[None] * len(self._blocks[-1])]
        self._count = 0

    def values(self) -> Iterator[Values]:
        return (row for row in chain.from_iterable(self._blocks) if row is not None)

    def items(self) -> Iterator[tuple[int, Values]]:
        return ((number, row) for number, row in enumerate(chain.from_iterable(self._blocks)) if row is not None)

    def _own(self, number: int) -> list[Values | None]:
        """A block to write in, which it does not share."""
        block = self._blocks[number]
        if block and block is self._repeated.get(id(block[0])):
            block = self._blocks[number] = block.copy()
        return block

    def _one(self, values: Values) -> Values:
        """The values, or an equal row of before. Zeros of two signs are equal and are not the same."""
        if float in map(type, values):
            return values
        known = self._shared.get(values)
        if known is not None:
            return known
        if len(self._shared) >= _REMEMBERED:
            self._shared.clear()
        self._shared[values] = values
        return values


class RowIndex:
    """The numbers of the rows that have a key. For most keys that is one number."""

    def __init__(self) -> None:
        self._numbers: dict[Values, int | list[int] | deque[int]] = {}

    def __contains__(self, key: Values) -> bool:
        return key in self._numbers

    def add(self, key: Values, number: int) -> None:
        """Add a row behind those with the same key."""
        known = self._numbers.setdefault(key, number)
        if known is number:
            return
        if isinstance(known, int):
            self._numbers[key] = [known, number]
        elif len(known) == _FEW and isinstance(known, list):
            self._numbers[key] = deque((*known, number))  # the first of many leaves it at once
        else:
            known.append(number)

    def discard(self, key: Values, number: int) -> None:
        """Remove a row."""
        known = self._numbers[key]
        if isinstance(known, int):
            del self._numbers[key]
            return
        known.remove(number)
        if not known:
            del self._numbers[key]

    def numbers(self, key: Values) -> Iterator[int]:
        """The rows with a key, in the order in which they came."""
        known = self._numbers.get(key, ())
        return iter((known,) if isinstance(known, int) else known)
