"""Rows of a run as Parquet, partitioned by cell: written once, asked by Spark SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scenarios.digest import CellTally
from scenarios.spark.blocks import Blocks, ddl
from scenarios.sql import RAW

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scenarios.matrix import Matrix
    from scenarios.plan import Group


KEPT: Final = 3_000_000
"""Up to so many rows are kept between questions: opening a file for each cell again and again takes longer."""


class SparkStore:
    """``path`` may be any that Spark can write to and the executors can reach."""

    def __init__(self, spark: Any, matrix: Matrix, path: str) -> None:
        self.spark = spark
        self.matrix = matrix
        self.path = path
        self.known: Mapping[int, CellTally] | None = None
        self._viewed = False

    def write(self, group: Group) -> None:
        """Run the scenarios of a group; whatever its cells held before is replaced."""
        number = len(group.tasks)
        rows = self.spark.range(0, number, 1, number).mapInArrow(Blocks(self.matrix, group.tasks), ddl(self.matrix))
        writer = rows.write.mode("overwrite").option("partitionOverwriteMode", "dynamic").partitionBy("cell")
        writer.option("compression", "zstd").parquet(self.path)

    def _rows(self) -> Any:
        return self.spark.read.schema(ddl(self.matrix)).parquet(self.path)

    def _view(self, rows: int) -> Any:
        """All rows, under the name that questions have for them; read once if they are not too many to be kept."""
        if not self._viewed:
            found = self._rows()
            if rows <= KEPT:
                found = found.persist()
            found.createOrReplaceTempView(RAW)
            self._viewed = True
        return self.spark.table(RAW)

    def tally(self, cells: Iterable[int], *, last: int | None = None) -> dict[int, CellTally]:
        """The rows of some cells, counted from what was written. ``last``: nothing is written after them, and there
        are about so many rows in all."""
        wanted = ", ".join(map(str, cells))
        rows = self._rows() if last is None else self._view(last)
        return self._tally(rows.where(f"`cell` IN ({wanted})"))

    def _tally(self, rows: Any) -> dict[int, CellTally]:
        hashed = f"xxhash64({', '.join(f'CAST(`{name}` AS BIGINT)' for name in self.matrix.columns)})"
        answer = rows.selectExpr("`cell`", "`scenario`", f"{hashed} AS hash").groupBy("cell")
        from pyspark.sql import functions

        counted = answer.agg(
            functions.count("*"), functions.countDistinct("scenario"), functions.bit_xor("hash")
        ).collect()
        return {int(row[0]): CellTally(int(row[1]), int(row[2]), int(row[3])) for row in counted}

    def tallies(self) -> dict[int, CellTally]:
        """All cells: as noted down when each was finished, if its rows are still as many."""
        if self.known is None:
            return self._tally(self._rows())
        counted = {
            int(row[0]): int(row[1]) for row in self.query(f"SELECT `cell`, count(*) FROM {RAW} GROUP BY `cell`")
        }
        nothing = CellTally(0, 0, 0)
        return {
            cell: known if (known := self.known.get(cell, nothing)).rows == rows else CellTally(rows, 0, 0)
            for cell, rows in counted.items()
        }

    def query(self, text: str) -> list[tuple[Any, ...]]:
        """Answer in plain values."""
        self._view(sum(entry.rows for entry in (self.known or {}).values()))
        return [tuple(row) for row in self.spark.sql(text).collect()]
