"""The answers of the Spark source about damaged logs, and the partitions of a large log: two tables in Markdown.

    python -m tests.benchmarks.bench_spark [--log FILE] [--columns NAMES] [--skip-damage]

The first table: five logs, of which one is cut off, by query and mode. Each cell has the answer, or the first words of
the error, and the number of warnings on the driver. The second table, with ``--log``: partitions of that log at the
default size, its rows, and the seconds of a count. It has a line for one core and one for two.
"""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from tests.benchmarks.bench_binlogs import say, tree

if TYPE_CHECKING:
    from collections.abc import Callable

DATA: Final = Path(__file__).parents[1] / "data/binlogs"
LOGS: Final = (
    *("01-partial-minimal", "04-partial-multi-json-full", "12-compressed-payload", "14-rotate-a"),
    "16-row-split-partition-gipk",
)
MODES: Final = ("FAILFAST", "PERMISSIVE", "DROPMALFORMED")
QUERIES: Final[dict[str, Callable[[Any], Any]]] = {
    "`count()`": lambda frame: frame.count(),
    "`where operation='insert'`, count": lambda frame: frame.where("operation = 'insert'").count(),
    "join with the tables' names, count": lambda frame: frame.join(
        frame.select("table").where("table IS NOT NULL").distinct(), "table"
    ).count(),
    "`groupBy(operation).count()`": lambda frame: ", ".join(
        f"{row[0] or 'null'} {row[1]}" for row in frame.groupBy("operation").count().orderBy("operation").collect()
    ),
    "`limit(1)` of the damaged log": lambda frame: len(
        frame.sparkSession.read.format("mysql-binlog").option("mode", frame.mode).load(frame.cut).limit(1).collect()
    ),
}


class _Counted(logging.Handler):
    """Counts the warnings of a query."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def emit(self, _: logging.LogRecord) -> None:
        self.count += 1


def damage(spark: Any, folder: Path) -> None:
    """Print the table of modes and queries."""
    for name in LOGS:
        (folder / f"{name}.binlog").write_bytes((DATA / f"{name}.binlog").read_bytes())
    cut = folder / f"{LOGS[1]}.binlog"
    cut.write_bytes(cut.read_bytes()[:-100])
    told = _Counted()
    logging.getLogger("mysql-binlog").addHandler(told)
    say("| query | " + " | ".join(f"`{mode}`" for mode in MODES) + " |")
    say("|---" * (len(MODES) + 1) + "|")
    for name, query in QUERIES.items():
        cells = []
        for mode in MODES:
            frame = spark.read.format("mysql-binlog").option("mode", mode).load(str(folder))
            frame.mode, frame.cut, told.count = mode, str(cut), 0
            try:
                answer = query(frame)
            except Exception as error:  # noqa: BLE001 - what the user sees
                answer = "error: " + str(error).partition("BinlogProblem: ")[2].splitlines()[0].rpartition("/")[2]
            cells.append(f"{answer}; warnings: {told.count}")
        say(f"| {name} | {' | '.join(cells)} |")


def partitions(spark: Any, log: str, columns: str | None) -> str:
    """A row of the table of partitions."""
    source = spark.read.format("mysql-binlog")
    begun = monotonic()
    frame = (source if columns is None else source.option("columns", columns)).load(log)
    parts, planned = frame.rdd.getNumPartitions(), monotonic() - begun
    begun, used = monotonic(), tree(os.getpid())
    rows = frame.count()
    return f"{parts} | {rows:,} | {planned:.1f} | {monotonic() - begun:.1f} | {tree(os.getpid()) - used:.1f}"


def main() -> None:
    from scenarios.spark.binlogs import register
    from scenarios.spark.session import session

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log")
    parser.add_argument("--columns", help="the option columns of the count: without images it decodes none")
    parser.add_argument("--skip-damage", action="store_true")
    options = parser.parse_args()
    if not options.skip_damage:
        with tempfile.TemporaryDirectory(prefix="binlog-lab-bench-") as folder, session("local[2]") as spark:
            register(spark)
            damage(spark, Path(folder))
    if options.log:
        say("\n| cores | bytes | partitions | rows | seconds to plan | seconds of the count | its CPU seconds |")
        say("|---|---|---|---|---|---|---|")
        for cores in (1, 2):
            with session(f"local[{cores}]") as spark:
                register(spark)
                row = partitions(spark, options.log, options.columns)
            say(f"| {cores} | {Path(options.log).stat().st_size:,} | {row} |")


if __name__ == "__main__":
    main()
