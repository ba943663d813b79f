"""What takes back the changes of a transaction: eight bytes for an insert, and the old row for other changes."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.reference.replay.row_store import Values
    from conformance.reference.replay.table_state import TableState


class _Changes:
    """Changes of one table in a row, either inserts or others. ``old`` is ``None`` for inserts."""

    __slots__ = ("numbers", "old", "table")

    def __init__(self, table: TableState, *, inserts: bool) -> None:
        self.table = table
        self.numbers = array("Q")
        self.old: list[Values] | None = None if inserts else []


class UndoLog:
    """The changes of a transaction in order. Its length is their number."""

    def __init__(self) -> None:
        self._parts: list[_Changes] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def inserted(self, table: TableState, number: int) -> None:
        """Note a new row."""
        self._part(table, inserts=True).numbers.append(number)

    def changed(self, table: TableState, number: int, old: Values) -> None:
        """Note a row that was changed or removed, with its values before that."""
        part = self._part(table, inserts=False)
        assert part.old is not None
        part.numbers.append(number)
        part.old.append(old)

    def _part(self, table: TableState, *, inserts: bool) -> _Changes:
        self._count += 1
        if self._parts:
            last = self._parts[-1]
            if last.table is table and (last.old is None) == inserts:
                return last
        self._parts.append(_Changes(table, inserts=inserts))
        return self._parts[-1]

    def clear(self) -> None:
        """Forget all changes: they stay."""
        self._parts.clear()
        self._count = 0

    def take_back(self, mark: int = 0) -> None:
        """Undo the changes behind the first ``mark``, the last one first."""
        while self._count > mark:
            part = self._parts[-1]
            number = part.numbers.pop()
            old = part.old.pop() if part.old is not None else None
            if not part.numbers:
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
