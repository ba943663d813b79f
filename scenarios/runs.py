"""A run of a matrix on a Spark session: its rows, its verdicts, its report.

The caller provides the session: a local one that the command started, one of spark-submit, of a notebook or of a
managed platform, or a client of Spark Connect. This module never starts or stops a session.
"""

from __future__ import annotations

import platform
import shutil
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.report.directory import taken
from conformance.version import __version__
from scenarios.budgets import judge
from scenarios.costs import costs
from scenarios.manifest import MANIFEST, Manifest
from scenarios.matrix import Matrix, load_matrix
from scenarios.overview import overview
from scenarios.plan import groups
from scenarios.rendered import SUMMARY, write
from scenarios.results import Facts, results
from scenarios.spark.interruptible import interruptible
from scenarios.spark.memory import Sampler, sampled
from scenarios.spark.session import cores_of, is_connect, tuned
from scenarios.spark.ship import prepare
from scenarios.spark.store import SparkStore
from scenarios.spark.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from scenarios.budgets import Judgement
    from scenarios.live import Live

ROWS: Final = "rows"


@dataclass(frozen=True, slots=True)
class Ran:
    """The results of a run, for callers of the API; ``results`` is the content of ``results.json``."""

    judgement: Judgement
    facts: Facts
    results: dict[str, Any]


def run_matrix(
    name: str | Matrix,
    *,
    spark: Any,
    report: str | Path,
    scenarios: int | None = None,
    rows: str | None = None,
    narrate: Callable[[str], None] = print,
    command: str | None = None,
    live: Live | None = None,
) -> Ran:
    """Run a matrix, judge it, and write ``index.html``, ``results.json``, ``summary.md`` and the rows.

    ``rows``: the Parquet directory, if not the report's: executors on other machines must reach it too. ``live``: the
    result of a comparison with a real server, for the report. A broken-off run continues if the caller requests the
    same scenarios with the same report. Raises ``MatrixError``, ``SparkUnavailable``, ``DirectoryInUseError``.
    """
    matrix = load_matrix(name) if isinstance(name, str) else name
    counts = matrix.share(matrix.total if scenarios is None else scenarios)
    total = sum(counts)
    directory = Path(report).absolute()
    begun, started = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")

    def work(sampler: Sampler) -> Ran:
        place = f"{rows.rstrip('/') if rows else directory / ROWS}/{matrix.name}-{matrix.digest}-{total}"
        manifest = Manifest(directory, matrix, counts, place, cores_of(spark))
        if not manifest.resumed:
            shutil.rmtree(directory / ROWS, ignore_errors=True)
            manifest.start()
        (directory / SUMMARY).unlink(missing_ok=True)
        prepare(spark)
        store = SparkStore(spark, matrix, place, resumed=manifest.resumed)
        parts = [store.remaining(group) for group in groups(matrix, counts, manifest.cores, manifest.cells)]
        resumed = total - sum(group.scenarios for group in parts)
        if manifest.resumed:
            narrate(f"going on with {directory}: {resumed:,} of {total:,} scenarios are there")
        watch = Watch(spark, total, resumed, narrate)
        for group in parts:
            with watch.group(group.scenarios):
                store.write(group)
            manifest.add(store.tally(group, last=total if group is parts[-1] else None))
        narrate(f"{total:,} scenarios are done; judging")
        store.known = manifest.cells
        judgement = judge(matrix, store, counts)
        seen = overview(matrix, store)
        facts = Facts(
            matrix=matrix,
            started=started,
            seconds=time.monotonic() - begun,
            scenarios=total - resumed,
            resumed=resumed,
            command=command,
            environment=environment(spark),
            live=live,
            costs=tuple(costs(matrix, store)),
            memory=sampler.peak,
        )
        content = results(facts, judgement, seen)
        write(directory, content)
        return Ran(judgement, facts, content)

    with taken(directory), tuned(spark), sampled() as sampler:
        return interruptible(spark, lambda: work(sampler))


def environment(spark: Any) -> dict[str, Any]:
    """The environment of a run."""
    found: dict[str, Any] = {
        "python": platform.python_version(),
        "spark": str(spark.version),
        "connect": is_connect(spark),
        "cores": cores_of(spark),
        "machine": platform.machine(),
        "system": platform.system(),
        "kit": __version__,
    }
    if not is_connect(spark):
        found["master"] = str(spark.sparkContext.master)
    return found


__all__ = ["MANIFEST", "Facts", "Ran", "run_matrix"]
