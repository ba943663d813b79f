"""The cost of the docs' queries with and without push-down: decoded bytes and CPU seconds, the same log in turns.

    python -m tests.benchmarks.bench_queries [--megabytes N] [--split BYTES] [--master local[2]]

The log is made here, outside the repository: one transaction in ten is of the table ``orders``, the others are of
``audit``; most are partial updates, and each half of the log has a time of its own. Bytes are those that the tasks
note (option ``metrics``). CPU seconds are those of driver, JVM and workers, behind a first query that starts all.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog.writer import FileWriter
from tests.benchmarks.bench_decode import _SHAPES, _TABLE
from tests.benchmarks.bench_matrix import _cpu_of_tree
from tests.gtids import gtid
from tests.written_logs import row_group

if TYPE_CHECKING:
    from collections.abc import Iterator

BEGUN: Final = 1795154439
QUERIES: Final = {
    "every row, with its images": ("true", "sum(length(after))"),
    "table = 'orders', with its images": ("`table` = 'orders'", "sum(length(after))"),
    "operation = 'delete'": ("operation = 'delete'", "count(*)"),
    "event = 'UPDATE_ROWS_EVENT' (full images)": ("event = 'UPDATE_ROWS_EVENT'", "sum(length(after))"),
    "the later half, by timestamp": (f"timestamp > {BEGUN}", "sum(length(after))"),
    "count by table, no images": ("true", "count(DISTINCT `table`)"),
}


def pieces(megabytes: int) -> Iterator[bytes]:
    """A file in pieces."""
    tables = [replace(_TABLE, schema="shop", table="audit"), replace(_TABLE, schema="shop", table="orders")]
    writer = FileWriter(timestamp=BEGUN)
    yield writer.start()
    for number in count(1):
        if writer.position >= megabytes * 1_000_000:
            return
        if writer.position >= megabytes * 500_000:
            writer.timestamp = BEGUN + 3600
        body = _SHAPES["partial-minimal" if number % 11 else "full-8k"](number)
        table = tables[number % 10 == 0]
        yield writer.group(gtid(number), row_group(table, body, xid=number, limit=1 << 20, update=True))


def ask(spark: Any, log: Path, split: str, condition: str, answer: str, *, push: bool) -> tuple[Any, int, int, float]:
    """The answer of a query, the bytes that it read and decoded, and its CPU seconds."""
    from scenarios.spark.binlogs import NAME, register

    register(spark, push_filters=push)
    metrics = log.parent / "metrics"
    source = spark.read.format(NAME).option("splitBytes", split).option("metrics", str(metrics))
    if push and "after" not in answer:
        source = source.option("columns", "schema,table,operation,event,timestamp")
    before = _cpu_of_tree()
    (row,) = source.load(str(log)).where(condition).selectExpr(answer).collect()
    spent = _cpu_of_tree() - before
    notes = [json.loads(path.read_text("utf-8")) for path in metrics.glob("*.json")]
    shutil.rmtree(metrics)
    return row[0], sum(n["bytes_read"] for n in notes), sum(n["bytes_decoded"] for n in notes), spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--split", default="16m")
    parser.add_argument("--master", default="local[2]")
    options = parser.parse_args()
    from scenarios.spark.session import session

    with tempfile.TemporaryDirectory(prefix="bench-queries-") as scratch, session(options.master) as spark:
        log = Path(scratch) / "binlog.000001"
        with log.open("wb") as out:
            out.writelines(pieces(options.megabytes))
        ask(spark, log, options.split, "operation = 'none'", "count(*)", push=True)
        for name, (condition, answer) in QUERIES.items():
            without, with_it = (ask(spark, log, options.split, condition, answer, push=push) for push in (False, True))
            if without[0] != with_it[0]:
                raise SystemExit(f"{name}: expected {without[0]}, got {with_it[0]}")
            print(  # noqa: T201 - the figures are the output
                f"{name}: read {with_it[1] / 1e6:.1f} MB; decoded {without[2] / 1e6:.1f} MB without push-down,"
                f" {with_it[2] / 1e6:.1f} MB with it; {without[3]:.1f} and {with_it[3]:.1f} CPU s",
                flush=True,
            )


if __name__ == "__main__":
    main()
