"""A planted fault in a process that runs scenarios: in this one, or in the workers of a Spark session.

A worker of Spark lives longer than a task, so the fault ends with the task.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from scenarios.engines.update import frame_of
from scenarios.spark.blocks import Blocks
from tests.faults.spark.catalogue import FAULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scenarios.matrix import Matrix
    from scenarios.plan import Task

_ROOT: Final = str(Path(__file__).parents[3])


@contextmanager
def planted(fault: str) -> Iterator[None]:
    """The fault as long as the context lasts; what the process knows of its tables is forgotten before and after."""
    frame_of.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        FAULTS[fault].plant(patch)
        yield
    frame_of.cache_clear()


def faulty_blocks(fault: str) -> Callable[[Matrix, tuple[Task, ...]], Any]:
    """What takes the place of :class:`Blocks`: its work, in a worker with the fault."""
    root = _ROOT

    def blocks(matrix: Matrix, tasks: tuple[Task, ...]) -> Any:
        work = Blocks(matrix, tasks)

        def run(batches: Iterator[Any]) -> Iterator[Any]:
            import sys

            if root not in sys.path:  # Spark ships this function, but no tests
                sys.path.insert(0, root)
            from tests.faults.spark.planting import planted

            with planted(fault):
                yield from work(batches)

        return run

    return blocks
