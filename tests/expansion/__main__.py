# ruff: noqa: T201 (it prints)
"""``python -m tests.expansion``: expand logs of generated updates on a real server; exit code 1 if anything differs."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from conformance.servers.auto import find_installation
from conformance.servers.run.process import launch
from conformance.servers.specs import parse_spec
from tests.expansion.campaign import run_blocks
from tests.expansion.naive_events import BORROWED


def main() -> int:
    """Run, print the figures, and every difference."""
    parser = argparse.ArgumentParser(prog="python -m tests.expansion", description=__doc__)
    parser.add_argument("--updates", type=int, default=1000)
    parser.add_argument("--seed", default="expand")
    parser.add_argument("--block", type=int, default=250, help="updates of one table")
    arguments = parser.parse_args()
    installation = find_installation(parse_spec("process"), narrate=lambda text: print(text, file=sys.stderr))
    with tempfile.TemporaryDirectory(prefix="binlog-lab-") as directory, launch(installation) as server:
        result = run_blocks(
            server,
            Path(directory),
            seed=arguments.seed,
            updates=arguments.updates,
            block=arguments.block,
            narrate=lambda text: print(text, file=sys.stderr),
        )
    for name, count in sorted(result.counts.items()):
        print(f"{count:>12,} {name}")
    print("\nfields that were not compared:")
    for name, meaning in BORROWED.items():
        print(f"  {name}: {meaning}")
    print(f"\n{len(result.problems)} differences")
    for problem in result.problems:
        print(problem)
    return int(bool(result.problems))


if __name__ == "__main__":
    sys.exit(main())
