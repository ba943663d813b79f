"""A small result without Spark: runs the same worker in a loop, and puts the same questions to SQLite."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from scenarios.digest import CellTally, tally
from scenarios.sql import RAW
from scenarios.worker import run_block

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scenarios.matrix import Matrix


def all_rows(matrix: Matrix, counts: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The rows of a run, cell by cell."""
    for cell, count in enumerate(counts):
        yield from run_block(matrix, cell, 0, count)


class SqliteStore:
    """The rows of a run in memory, until :meth:`close`."""

    def __init__(self, matrix: Matrix, rows: Iterable[Sequence[int]]) -> None:
        self.rows = list(rows)
        self._connection = sqlite3.connect(":memory:")
        names = ", ".join(f"`{name}` BIGINT" for name in matrix.columns)
        self._connection.execute(f"CREATE TABLE {RAW} ({names})")
        places = ", ".join("?" * len(matrix.columns))
        self._connection.executemany(f"INSERT INTO {RAW} VALUES ({places})", self.rows)

    def query(self, text: str) -> list[tuple[Any, ...]]:
        """The answer in plain values."""
        return self._connection.execute(text).fetchall()

    def tallies(self) -> dict[int, CellTally]:
        """The tallies of the rows, by cell."""
        return tally(self.rows)

    def close(self) -> None:
        """Forget the rows."""
        self._connection.close()
