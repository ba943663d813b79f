"""Rows of a run as Parquet: written once, queried by Spark SQL.

Each group of cells has a directory, ``cells=0-31``, and each task a file, its rows in the order of their cells. One
directory for each cell costs more than 100,000 scenarios do: Spark takes 20 ms of CPU for a file, however small.

A task's file is in its place, whole, as soon as the task has ended (the second algorithm of Hadoop's committer): a run
that is broken off goes on with the tasks that have none.
"""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from scenarios.digest import CellTally
from scenarios.plan import Group
from scenarios.spark.blocks import Blocks, ddl
from scenarios.sql import RAW

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scenarios.matrix import Matrix

_COMMIT: Final = {"mapreduce.fileoutputcommitter.algorithm.version": "2"}
KEPT: Final = 3_000_000
"""Up to so many rows are kept between questions: opening all files again and again takes longer."""


@contextmanager
def full_disk_at(place: str) -> Iterator[None]:
    """Raise an OSError where Spark says in hundreds of lines that a disk is full."""
    try:
        yield
    except Exception as error:
        if (said := os.strerror(errno.ENOSPC)) in str(error):
            raise OSError(errno.ENOSPC, said, place) from error
        raise


class SparkStore:
    """The rows below ``path``, which may be any path that Spark can write to and the executors can reach."""

    def __init__(self, spark: Any, matrix: Matrix, path: str, *, resumed: bool = False) -> None:
        self.spark = spark
        self.matrix = matrix
        self.path = path
        self.resumed = resumed
        self.known: Mapping[int, CellTally] | None = None
        self._viewed = False

    def remaining(self, group: Group) -> Group:
        """The group without the tasks whose rows an earlier run wrote."""
        if not self.resumed:
            return group
        firsts = {(task[0].cell, task[0].first): task for task in group.tasks}
        wanted = ", ".join(f"({cell}L, {first}L)" for cell, first in firsts)
        try:
            rows = self._rows(self._place(group)).where(f"(`cell`, `scenario`) IN ({wanted})")
            there = {(int(row[0]), int(row[1])) for row in rows.select("cell", "scenario").collect()}
        except Exception as error:
            if "PATH_NOT_FOUND" not in str(error):
                raise
            there = set()
        tasks = tuple(task for first, task in firsts.items() if first not in there)
        return Group(group.cells, tasks, sum(block.length for task in tasks for block in task))

    def write(self, group: Group) -> None:
        """Run the tasks of a group. A new run replaces the earlier content of its directory, a resumed one adds."""
        number = len(group.tasks)
        if not number:
            return
        rows = self.spark.range(0, number, 1, number).mapInArrow(Blocks(self.matrix, group.tasks), ddl(self.matrix))
        written = rows.write.mode("append" if self.resumed else "overwrite").options(**_COMMIT)
        place = self._place(group)
        with full_disk_at(place):
            written.option("compression", "zstd").parquet(place)

    def _place(self, group: Group) -> str:
        return f"{self.path}/cells={group.cells[0]}-{group.cells[-1]}"

    def _rows(self, path: str | None = None) -> Any:
        return self.spark.read.schema(ddl(self.matrix)).parquet(path or self.path).drop("cells")

    def _view(self, rows: int) -> Any:
        """All rows under the name that questions use; cached if they are few enough."""
        if not self._viewed:
            found = self._rows()
            if rows <= KEPT:
                found = found.persist()
            found.createOrReplaceTempView(RAW)
            self._viewed = True
        return self.spark.table(RAW)

    def tally(self, group: Group, *, last: int | None = None) -> dict[int, CellTally]:
        """The tallies of a group's rows, counted from the written files.

        ``last``: this is the last group, and the run has about this many rows in all.
        """
        if last is None:
            return self._tally(self._rows(self._place(group)))
        return self._tally(self._view(last).where(f"`cell` IN ({', '.join(map(str, group.cells))})"))

    def _tally(self, rows: Any) -> dict[int, CellTally]:
        from pyspark.sql import functions

        hashed = f"xxhash64({', '.join(f'CAST(`{name}` AS BIGINT)' for name in self.matrix.columns)})"
        # Different scenarios by bitmaps: an aggregation by their numbers would have a row for each.
        buckets = rows.selectExpr(
            "`cell`", "bitmap_bucket_number(`scenario`) AS bucket", "bitmap_bit_position(`scenario`) AS bit",
            f"{hashed} AS hash",
        ).groupBy("cell", "bucket").agg(
            functions.count("*").alias("rows"), functions.bitmap_construct_agg("bit").alias("bits"),
            functions.bit_xor("hash").alias("hash"),
        )  # fmt: skip
        counted = (
            buckets.groupBy("cell")
            .agg(functions.sum("rows"), functions.sum(functions.bitmap_count("bits")), functions.bit_xor("hash"))
            .collect()
        )
        return {int(row[0]): CellTally(int(row[1]), int(row[2]), int(row[3])) for row in counted}

    def tallies(self) -> dict[int, CellTally]:
        """All cells: the tallies noted when each was finished, if its rows still have that count."""
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
        """The answer in plain values."""
        self._view(sum(entry.rows for entry in (self.known or {}).values()))
        return [tuple(row) for row in self.spark.sql(text).collect()]
