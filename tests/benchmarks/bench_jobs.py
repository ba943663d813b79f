"""The commands with ``--jobs`` on one large log: wall and CPU time for each number of jobs, in turn.

    python -m tests.benchmarks.bench_jobs [--megabytes N] [--rounds N] [--jobs N...] [--only COMMAND...]

The log is one of ``bench_decode.py`` of at least 100 MB by default. CPU time is that of the command and all its
workers. Each figure is the median of the rounds. All runs of a command must print the same bytes, or the benchmark
ends. Wall time says little where other work shares the cores.
"""

# A program that runs programs and prints: that is its job.
# ruff: noqa: T201

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final, NamedTuple

from tests.benchmarks.bench_decode import transactions
from tests.live import PROGRAM, ROOT, environment

_COMMANDS: Final = {
    "decode -vv": ("decode", "-vv"),
    "decode --format jsonl": ("decode", "--format", "jsonl"),
    "matrix estimate": ("matrix", "estimate", "--master", "none"),
}
_PIECE: Final = 1 << 20


class Run(NamedTuple):
    """One run: seconds, and what it printed."""

    wall: float
    cpu: float
    size: int
    digest: str


def write(file: Path, shape: str, megabytes: int) -> None:
    """A log of this size."""
    size = 0
    with file.open("wb") as out:
        for piece in transactions(shape, 1 << 30):
            size += out.write(piece)
            if size >= megabytes * 1_000_000:
                return


def run(words: tuple[str, ...], jobs: int, file: Path) -> Run:
    """Run a command to its end."""
    start = perf_counter()
    with subprocess.Popen(
        [*PROGRAM, *words, "--jobs", str(jobs), str(file)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(), cwd=ROOT,
    ) as started:  # fmt: skip
        assert started.stdout is not None
        digest, size = hashlib.sha256(), 0
        while piece := started.stdout.read(_PIECE):
            digest.update(piece)
            size += len(piece)
        _, status, usage = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode:
        sys.exit(f"{' '.join(words)} --jobs {jobs} ended with {started.returncode}")
    return Run(perf_counter() - start, usage.ru_utime + usage.ru_stime, size, digest.hexdigest())


def measure(name: str, words: tuple[str, ...], file: Path, jobs: list[int], rounds: int) -> None:
    """All numbers of jobs in turn, and a line for each."""
    runs: dict[int, list[Run]] = {number: [] for number in jobs}
    for _ in range(rounds):
        for number in jobs:
            runs[number].append(run(words, number, file))
    if len({(each.size, each.digest) for found in runs.values() for each in found}) > 1:
        sys.exit(f"{name}: not all runs printed the same bytes")
    first = runs[jobs[0]]
    print(f"{name}: {first[0].size / 1e6:.1f} MB printed, the same bytes in all runs")
    for number, found in runs.items():
        wall, cpu = median(each.wall for each in found), median(each.cpu for each in found)
        ratio = median(each.wall for each in first) / wall
        print(f"  --jobs {number}: {wall:7.2f} s wall, {cpu:7.2f} s CPU, {ratio:5.2f} times as fast", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--shape", default="partial-full", help="a shape of bench_decode.py")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", nargs="+", choices=list(_COMMANDS), default=list(_COMMANDS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.binlog"
        write(file, options.shape, options.megabytes)
        print(f"{options.shape}: {file.stat().st_size / 1e6:.0f} MB")
        for name in options.only:
            measure(name, _COMMANDS[name], file, options.jobs, options.rounds)


if __name__ == "__main__":
    main()
