"""The code that executors run: blocks of scenarios in, Arrow batches of rows out.

One input row is one task number. All columns are 64-bit integers. Spark's schema and the batches use the same names:
the matrix's, and the costs of the rows, which belong to no result and no digest.
"""

from __future__ import annotations

import gc
from itertools import islice
from time import process_time_ns
from typing import TYPE_CHECKING, Any, Final

from scenarios.costs import TOOK
from scenarios.worker import run_block

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scenarios.matrix import Matrix
    from scenarios.plan import Task

BATCH: Final = 2000  # rows; a worker can stop between two batches


def ddl(matrix: Matrix) -> str:
    """The schema of a row for Spark. No column is null, and Spark writes such rows faster."""
    return ", ".join(f"`{name}` BIGINT NOT NULL" for name in (*matrix.columns, TOOK))


class Blocks:
    """The function for ``mapInArrow``. Spark ships it by reference to this module, so executors need the package."""

    def __init__(self, matrix: Matrix, tasks: tuple[Task, ...]) -> None:
        self.matrix = matrix
        self.tasks = tasks

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        gc.freeze()  # the modules stay, also Spark's: the garbage collector need not visit them
        gc.set_threshold(10_000)  # scenarios make many objects and few cycles
        schema = pa.schema([(name, pa.int64()) for name in (*self.matrix.columns, TOOK)])
        before = process_time_ns()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for cell, first, count in self.tasks[number]:
                    rows = run_block(self.matrix, cell, first, count)
                    while part := list(islice(rows, BATCH)):
                        columns = [pa.array(column, pa.int64()) for column in zip(*part, strict=True)]
                        now = process_time_ns()
                        columns.append(pa.array([now - before] + [0] * (len(part) - 1), pa.int64()))
                        before = now
                        yield pa.RecordBatch.from_arrays(columns, schema=schema)
