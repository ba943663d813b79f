"""The rows of a table during a replay, in the least memory: eight bytes for a row that others are equal to."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Values: TypeAlias = "tuple[Any, ...]"

_REMEMBERED: Final = 1024  # rows that later ones are compared with
_FEW: Final = 16


class RowStore:
    """Rows by number. Numbers grow and are never used again, but a removed row may return under its own."""

    def __init__(self) -> None:
        self._rows: list[Values | None] = []
        self._count = 0
        self._shared: dict[Values, Values] = {}

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        return (number for number, _ in self.items())

    def __contains__(self, number: int) -> bool:
        return number < len(self._rows) and self._rows[number] is not None

    def __getitem__(self, number: int) -> Values:
        values = self._rows[number]
        if values is None:
            raise KeyError(number)
        return values

    def __setitem__(self, number: int, values: Iterable[Any]) -> None:
        """Replace a row, or let a removed one return."""
        self._count += self._rows[number] is None
        self._rows[number] = self._one(tuple(values))

    def add(self, values: Iterable[Any]) -> int:
        """Add a row; returns its number."""
        self._rows.append(self._one(tuple(values)))
        self._count += 1
        return len(self._rows) - 1

    def pop(self, number: int) -> Values:
        """Remove a row; returns its values."""
        values = self[number]
        self._rows[number] = None
        self._count -= 1
        return values

    def clear(self) -> None:
        """Remove all rows."""
        self._rows = [None] * len(self._rows)
        self._count = 0

    def values(self) -> Iterator[Values]:
        return (values for values in self._rows if values is not None)

    def items(self) -> Iterator[tuple[int, Values]]:
        return ((number, values) for number, values in enumerate(self._rows) if values is not None)

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
