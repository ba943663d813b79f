"""A planted fault in a process that runs scenarios: in this one, or in the workers of a Spark session.

A worker of Spark lives longer than a task, so the fault ends with the task.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from scenarios.engines.update import frame_of
from scenarios.plan import Block
from scenarios.spark.blocks import Blocks, ddl
from tests.faults.spark.catalogue import FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scenarios.matrix import Matrix


@contextmanager
def planted(fault: str) -> Iterator[None]:
    """The fault as long as the context lasts; what the process knows of its tables is forgotten before and after."""
    frame_of.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        FAULTS[fault].change(patch)
        yield
    frame_of.cache_clear()


def faulty_rows(
    spark: Any, matrix: Matrix, counts: Sequence[int], faults: Sequence[str]
) -> dict[str, list[tuple[int, ...]]]:
    """The rows that Spark's workers make with each fault: one task a fault."""
    root = str(Path(__file__).parents[3])
    task = tuple(Block(cell, 0, count) for cell, count in enumerate(counts) if count)
    work = Blocks(matrix, (task,))

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import sys

        import pyarrow as pa

        if root not in sys.path:  # Spark ships this function, but no tests
            sys.path.insert(0, root)
        from tests.faults.spark.planting import planted

        first = pa.RecordBatch.from_pydict({"id": [0]})
        for batch in batches:
            for number in batch.column(0).to_pylist():
                with planted(faults[number]):
                    for rows in work(iter([first])):
                        names = ["fault", *rows.schema.names]
                        place = pa.array([number] * rows.num_rows, pa.int64())
                        yield pa.RecordBatch.from_arrays([place, *rows.columns], names=names)

    made = spark.range(0, len(faults), 1, len(faults)).mapInArrow(run, f"fault BIGINT, {ddl(matrix)}")
    out: dict[str, list[tuple[int, ...]]] = {fault: [] for fault in faults}
    for row in made.collect():
        out[faults[row[0]]].append(tuple(row[1 : 1 + len(matrix.columns)]))
    return out
