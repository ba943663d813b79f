"""The cost of Spark: a matrix as the product runs it, beside bare loops over the same worker, in turns.

    python tests/benchmarks/bench_matrix.py [--scenarios N] [--pairs N] [--matrix NAME] [--master URL] [--loops N]
    python tests/benchmarks/bench_matrix.py --growth 100000,1000000,10000000

CPU seconds of all processes of a side (driver, JVM, workers), user and system; each side is a process of its own. They
take turns of a few seconds, and the processes of the side that waits are stopped: the speed of a machine drifts by
more than the sides differ. There is a bare loop for each core: the same work takes a tenth more CPU where two cores are
busy than where one is. All pairs are added up, because chance makes a process one per cent faster or slower.

Rows are written as Parquet and counted again as in a run. The start is taken off and printed by itself: the session,
and a run of one scenario for each cell, in which everything is used for the first time. A second such run in the same
session gives the fixed cost of a run: its jobs, and a file for each task. It is part of the ratio. ``--growth`` says
the time per scenario with it and without, and the most memory that was resident at once. Driver, JVM and workers are
added up, so pages that processes share are counted in each.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from threading import Event, Thread
from typing import Any, Final, Self

import psutil

from scenarios.digest import CellTally, digest
from scenarios.inline import all_rows
from scenarios.matrix import Matrix, load_matrix
from scenarios.plan import groups

TURN: Final = 5.0  # seconds: half of the shortest time-out between Spark's JVM and its workers
SAMPLE: Final = 1.0  # seconds between two looks at the memory


def bare(matrix: Matrix, counts: list[int], loops: int) -> dict[str, Any]:
    """A process with a loop for each core, as Spark has them; nothing is kept but a count."""
    shares = [[count if cell % loops == loop else 0 for cell, count in enumerate(counts)] for loop in range(loops)]
    with get_context("fork").Pool(loops) as pool:
        done = pool.map(partial(_loop, matrix), shares, chunksize=1)
    rows, cpu = map(sum, zip(*done, strict=True))
    return {"rows": rows, "cpu": cpu}


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
        with Memory() as memory:
            tallies = run(counts, "rows")
        return {
            "rows": sum(entry.rows for entry in tallies.values()),
            "cpu": _cpu_of_tree() - fixed,
            "wall": time.monotonic() - wall,
            "start": start,
            "fixed": fixed - start,
            "digest": digest(matrix.digest, tallies),
            "memory": memory.peak,
            "jvm": memory.jvm,
        }


def _cpu_of_tree() -> float:
    """CPU seconds of this process and all below it so far: those that ended are counted by their parents."""
    total = 0.0
    for process in _tree(psutil.Process()):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


@dataclass
class Memory:
    """The most bytes that this process and all below it had resident at once, and of these the JVM's own peak."""

    peak: int = 0
    jvm: int = 0
    _ended: Event = field(default_factory=Event)

    def __enter__(self) -> Self:
        self._thread = Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        more = True
        while more:
            more = not self._ended.wait(SAMPLE)  # so that a short run is seen once, at its end
            total = 0
            for process in _tree(psutil.Process()):
                with suppress(psutil.NoSuchProcess):
                    resident = process.memory_info().rss
                    total += resident
                    if process.name() == "java":
                        self.jvm = max(self.jvm, resident)
            self.peak = max(self.peak, total)


def _tree(process: psutil.Process) -> list[psutil.Process]:
    return [process, *process.children(recursive=True)]


def in_turns(commands: dict[str, list[str]]) -> dict[str, str]:
    """Run the commands in turns, and return the output of each. While one has its turn, the processes of the others are
    stopped."""
    running = {name: psutil.Popen(command, stdout=subprocess.PIPE, text=True) for name, command in commands.items()}
    try:
        for process in running.values():
            _stop(process)
        while waiting := {name: process for name, process in running.items() if process.poll() is None}:
            for name, process in waiting.items():
                for each in reversed(_tree(process)):
                    each.resume()
                with suppress(psutil.TimeoutExpired):
                    process.wait(TURN if len(waiting) > 1 else None)
                _stop(process)
                if process.poll():
                    raise SystemExit(f"{name}: exit code {process.returncode}")
    finally:
        for process in running.values():
            with suppress(psutil.NoSuchProcess):
                for each in _tree(process):
                    each.kill()
    return {name: process.communicate()[0] for name, process in running.items()}


def _stop(process: psutil.Popen) -> None:
    """Stop a process and all below it, also those that start while this goes through them."""
    stopped: set[psutil.Process] = set()
    with suppress(psutil.NoSuchProcess):
        while new := set(_tree(process)) - stopped:
            for each in new:
                with suppress(psutil.NoSuchProcess):
                    each.suspend()
            stopped |= new


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
                f" {side['fixed']:.1f} s: {alone:.1f} µs each; {side['wall']:.0f} s on the clock, at most"
                f" {side['memory'] / 1e6:,.0f} MB resident, of which the JVM {side['jvm'] / 1e6:,.0f}",
                flush=True,
            )
        return
    total = dict.fromkeys(("bare", "spark"), 0.0)
    for number in range(options.pairs):
        names = tuple(total) if number % 2 == 0 else tuple(reversed(total))
        said = in_turns({name: [sys.executable, __file__, *sys.argv[1:], "--side", name] for name in names})
        sides = {name: json.loads(said[name].splitlines()[-1]) for name in total}
        for name, side in sides.items():
            if side["rows"] != sum(counts):
                raise SystemExit(f"{name}: expected {sum(counts)} rows, got {side['rows']}")
            total[name] += side["cpu"]
        figures = ", ".join(
            f"{name} {side['cpu']:.1f} CPU s ({side['cpu'] / side['rows'] * 1e6:.0f} µs each)"
            for name, side in sides.items()
        )
        print(  # noqa: T201 - the figures are the output
            f"pair {number + 1}: {sum(counts):,} scenarios, {figures}, start {sides['spark']['start']:.1f} and fixed"
            f" {sides['spark']['fixed']:.1f} CPU s; ratio {sides['spark']['cpu'] / sides['bare']['cpu']:.3f};"
            f" digest {sides['spark']['digest']}",
            flush=True,
        )
    print(f"ratio of all {options.pairs} pairs, added up: {total['spark'] / total['bare']:.3f}")  # noqa: T201


if __name__ == "__main__":
    main()
