"""What Spark costs: a matrix as the product runs it, beside bare loops over the same worker, in turns.

    python tests/benchmarks/bench_matrix.py [--scenarios N] [--pairs N] [--matrix NAME] [--master URL] [--loops N]
    python tests/benchmarks/bench_matrix.py --growth 100000,1000000,10000000

CPU seconds of all processes of a side (driver, JVM, workers), user and system; each side is a process of its own. There
is a bare loop for each core: the same work takes a tenth more CPU where two cores are busy than where one is. Rows are
written as Parquet and counted again as in a run. The start (the session, and a run of one scenario for each cell,
in which everything is used for the first time) is taken off and printed by itself. What such a run takes once more, in
the same session, is the fixed cost of a run: its jobs, and a file for each task. It is part of the ratio;
``--growth`` says the time per scenario with it and without.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from multiprocessing import get_context
from statistics import median
from typing import Any

from scenarios.digest import CellTally, digest
from scenarios.inline import all_rows
from scenarios.matrix import Matrix, load_matrix
from scenarios.plan import groups


def bare(matrix: Matrix, counts: list[int], loops: int) -> dict[str, Any]:
    """A process with a loop for each core, as Spark has them; nothing is kept but a count."""
    shares = [[count if cell % loops == loop else 0 for cell, count in enumerate(counts)] for loop in range(loops)]
    wall = time.monotonic()
    with get_context("fork").Pool(loops) as pool:
        done = pool.map(partial(_loop, matrix), shares, chunksize=1)
    rows, cpu = map(sum, zip(*done, strict=True))
    return {"rows": rows, "cpu": cpu, "wall": time.monotonic() - wall, "start": 0.0}


def _loop(matrix: Matrix, counts: list[int]) -> tuple[int, float]:
    begun = time.process_time()
    return sum(1 for _ in all_rows(matrix, counts)), time.process_time() - begun


def spark(matrix: Matrix, counts: list[int], master: str) -> dict[str, Any]:
    """The product's way from an empty directory to counted rows in Parquet."""
    from scenarios.spark.session import cores_of, session, tuned
    from scenarios.spark.ship import prepare
    from scenarios.spark.store import SparkStore

    with tempfile.TemporaryDirectory(prefix="bench-matrix-") as scratch, session(master) as running, tuned(running):
        prepare(running)

        def run(counts: list[int], place: str) -> dict[int, CellTally]:
            store = SparkStore(running, matrix, f"{scratch}/{place}")
            tallies: dict[int, CellTally] = {}
            for group in groups(matrix, counts, cores_of(running)):
                store.write(group)
                tallies |= store.tally(group)
            return tallies

        one_each = [min(1, count) for count in counts]
        run(one_each, "first")
        start = _cpu_of_tree()
        run(one_each, "again")
        fixed = _cpu_of_tree()
        wall = time.monotonic()
        tallies = run(counts, "rows")
        return {
            "rows": sum(entry.rows for entry in tallies.values()),
            "cpu": _cpu_of_tree() - fixed,
            "wall": time.monotonic() - wall,
            "start": start,
            "fixed": fixed - start,
            "digest": digest(matrix.digest, tallies),
        }


def _cpu_of_tree() -> float:
    """CPU seconds of this process and all below it so far: those that ended are counted by their parents."""
    import psutil

    own = psutil.Process()
    total = 0.0
    for process in (own, *own.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matrix", default="size-budget")
    parser.add_argument("--scenarios", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("--loops", type=int, help="Bare loops at once (default: as many as cores).")
    parser.add_argument("--growth", metavar="N,N,…", help="Spark alone, for each number of scenarios.")
    parser.add_argument("--side", choices=("bare", "spark"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    matrix = load_matrix(options.matrix)
    counts = matrix.share(options.scenarios)
    if options.side:
        loops = options.loops or os.cpu_count() or 1
        side = bare(matrix, counts, loops) if options.side == "bare" else spark(matrix, counts, options.master)
        print(json.dumps(side))  # noqa: T201 - for the process that started this one
        return
    if options.growth:
        for number in map(int, options.growth.split(",")):
            side = spark(matrix, matrix.share(number), options.master)
            each, alone = (seconds / side["rows"] * 1e6 for seconds in (side["cpu"], side["cpu"] - side["fixed"]))
            print(  # noqa: T201 - the figures are the output
                f"{number:>12,} scenarios: {side['cpu']:.1f} CPU s, {each:.1f} µs each; without the fixed"
                f" {side['fixed']:.1f} s: {alone:.1f} µs each; {side['wall']:.0f} s on the clock",
                flush=True,
            )
        return
    ratios = []
    for number in range(options.pairs):
        sides = {}
        for name in ("bare", "spark") if number % 2 == 0 else ("spark", "bare"):
            answer = subprocess.run(
                [sys.executable, __file__, *sys.argv[1:], "--side", name], capture_output=True, text=True, check=True
            )
            sides[name] = json.loads(answer.stdout.splitlines()[-1])
            if sides[name]["rows"] != sum(counts):
                raise SystemExit(f"{name}: expected {sum(counts)} rows, got {sides[name]['rows']}")
        ratios.append(sides["spark"]["cpu"] / sides["bare"]["cpu"])
        said = ", ".join(
            f"{name} {side['cpu']:.1f} CPU s ({side['cpu'] / side['rows'] * 1e6:.0f} µs each,"
            f" {side['wall']:.0f} s on the clock)"
            for name, side in sides.items()
        )
        print(  # noqa: T201 - the figures are the output
            f"pair {number + 1}: {sum(counts):,} scenarios, {said}, start {sides['spark']['start']:.1f} and fixed"
            f" {sides['spark']['fixed']:.1f} CPU s;"
            f" ratio {ratios[-1]:.3f}; digest {sides['spark']['digest']}",
            flush=True,
        )
    print(f"median ratio of {len(ratios)} pairs: {median(ratios):.3f}")  # noqa: T201


if __name__ == "__main__":
    main()
