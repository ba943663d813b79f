"""The undo log of a transaction's changes: inserts as ranges of numbers, and the old row for other changes."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.reference.replay.row_store import Values
    from conformance.reference.replay.table_state import TableState


class _Inserts:
    """New rows of one table with consecutive numbers."""

    __slots__ = ("count", "first", "table")

    def __init__(self, table: TableState, first: int) -> None:
        self.table = table
        self.first = first
        self.count = 1

    def pop(self) -> tuple[int, Values | None]:
        """Forget the last change; returns its row, and no values."""
        self.count -= 1
        return self.first + self.count, None

    def __len__(self) -> int:
        return self.count


class _Changes:
    """Changes of rows of one table, with the values before them."""

    __slots__ = ("numbers", "old", "table")

    def __init__(self, table: TableState) -> None:
        self.table = table
        self.numbers = array("Q")
        self.old: list[Values] = []

    def pop(self) -> tuple[int, Values | None]:
        """Forget the last change; returns its row and the values before it."""
        return self.numbers.pop(), self.old.pop()

    def __len__(self) -> int:
        return len(self.old)


class UndoLog:
    """The changes of a transaction in order. Its length is their number."""

    def __init__(self) -> None:
        self._parts: list[_Inserts | _Changes] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def inserted(self, table: TableState, number: int) -> None:
        """Note a new row."""
        self._count += 1
        last = self._parts[-1] if self._parts else None
        if isinstance(last, _Inserts) and last.table is table and last.first + last.count == number:
            last.count += 1
        else:
            self._parts.append(_Inserts(table, number))

    def changed(self, table: TableState, number: int, old: Values) -> None:
        """Note a row that was changed or removed, with its values before that."""
        self._count += 1
        last = self._parts[-1] if self._parts else None
        if not isinstance(last, _Changes) or last.table is not table:
            last = _Changes(table)
            self._parts.append(last)
        last.numbers.append(number)
        last.old.append(old)

    def clear(self) -> None:
        """Forget all changes: they stay."""
        if not self._count:
            return
        self._parts.clear()
        self._count = 0

    def take_back(self, mark: int = 0) -> None:
        """Undo the changes behind the first ``mark``, the last one first."""
        while self._count > mark:
            part = self._parts[-1]
            number, old = part.pop()
            if not part:
                self._parts.pop()
            self._count -= 1
            _take_back(part.table, number, old)


def _take_back(table: TableState, number: int, old: Values | None) -> None:
    there = number in table.rows
    if old is None:
        if there:
            table.remove(number)
    elif there:
        table.replace(number, old)
    else:
        table.restore(number, old)
