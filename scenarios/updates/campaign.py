"""The update campaign as Spark tasks: the blocks of the local run, in block order, and all of them as Parquet.

Blocks come in groups: a group is a job, and the next one runs while the report takes the blocks of the last. A task
that has ended is never run again for an executor that is lost later, because its rows are at the driver.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from conformance.harness.updates.blocks import block_sizes
from conformance.harness.updates.run import CampaignFailed, Totals, server_limits
from conformance.servers.run.owned import OwnServer
from scenarios.spark.interruptible import cancel
from scenarios.spark.session import cores_of
from scenarios.updates.worker import COLUMNS, Blocks, Job, result_of

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from conformance.harness.updates.blocks import BlockResult
    from conformance.servers.base import Server

TASK_BLOCKS: Final = 10  # blocks of a task: about two seconds, and what a worker that is lost had to do at most
TASKS_PER_CORE: Final = 4  # of a group
MOST_GROUPS: Final = 500  # each is a job, and a file


class SparkCampaign:
    """``updates`` generated updates under ``seed``, on the servers of a session's workers.

    ``server`` is the one of the run, whose version and options the workers' servers have. Iterate over
    :meth:`results` once.
    """

    def __init__(
        self,
        spark: Any,
        server: Server,
        *,
        spec: str,
        wrapper: str = "",
        directory: Path,
        seed: int | str,
        updates: int,
        portable: bool = False,
    ) -> None:
        self.spark = spark
        self.updates = updates
        self.directory = directory
        self.totals = Totals()
        self.again = 0
        self.workers: set[str] = set()
        self.job = Job(
            spec=spec,
            options=dict(server.options) if isinstance(server, OwnServer) else {},
            wrapper=wrapper,
            version=server.version,
            seed=seed,
            limits=server_limits(server),
            portable=portable,
        )

    def groups(self) -> list[list[tuple[int, int]]]:
        """The blocks of each group, as (number, updates)."""
        blocks = [*enumerate(block_sizes(self.updates))]
        each = max(TASK_BLOCKS * TASKS_PER_CORE * cores_of(self.spark), -(-len(blocks) // MOST_GROUPS))
        return [blocks[start : start + each] for start in range(0, len(blocks), each)]

    def results(self) -> Generator[BlockResult]:
        """Blocks as they are judged, in order. Raises ``CampaignFailed`` at the first that could not be run."""
        begun = time.perf_counter()
        self.directory.mkdir(parents=True, exist_ok=True)
        groups = self.groups()
        with ThreadPoolExecutor(1) as ahead:
            try:
                waiting = [ahead.submit(self._run, group) for group in groups[:1]]
                for number in range(len(groups)):
                    rows = waiting.pop().result()
                    waiting += [ahead.submit(self._run, group) for group in groups[number + 1 : number + 2]]
                    for row in rows:
                        self.again += row["attempt"] > 0
                        self.workers.add(row["worker"])
                        if row["failure"]:
                            raise CampaignFailed(f"{row['failure']} (worker {row['worker']})", int(row["exit_code"]))
                        result = result_of(row)
                        self.totals.add(result)
                        self.totals.seconds = time.perf_counter() - begun
                        yield result
            finally:
                if any(not job.done() for job in waiting):
                    cancel(self.spark)

    def _run(self, blocks: list[tuple[int, int]]) -> list[dict[str, Any]]:
        """One group: its rows, in order; they are a file of the report too."""
        import pyarrow.parquet as pq

        table = self._answer(tuple(tuple(blocks[at : at + TASK_BLOCKS]) for at in range(0, len(blocks), TASK_BLOCKS)))
        name = f"blocks-{blocks[0][0]:09}-{blocks[-1][0]:09}.parquet"
        pq.write_table(table, self.directory / name, compression="zstd")
        rows: list[dict[str, Any]] = table.to_pylist()
        numbers = [row["block"] for row in rows]
        if numbers != [number for number, _ in blocks]:
            raise CampaignFailed(f"expected blocks {blocks[0][0]} to {blocks[-1][0]}, each once; got {numbers[:20]}")
        return rows

    def _answer(self, tasks: tuple[tuple[tuple[int, int], ...], ...]) -> Any:
        """The rows of all tasks as one Arrow table, in the order of their blocks."""
        ddl = ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())
        rows = self.spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(Blocks(self.job, tasks), ddl)
        return rows.toArrow().sort_by("block")
