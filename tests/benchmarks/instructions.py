"""Hot paths by counted instructions: ``python -m tests.benchmarks.instructions [--write]``.

Valgrind counts what the sources execute for one transaction of a log of ``bench_decode.py``: a run on many less a run
on none. The count is the same on a busy machine. A path that needs a tenth more than ``instructions.json`` says, for
this Python, is an error: exit code 1. ``--write`` renews that file. Exit code 3: no valgrind here, or no counts of this
Python.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.benchmarks.bench_decode import transactions
from tests.benchmarks.bench_programs import RUN, Program, seconds
from tests.builds.wheel import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

RECORDED: Final = Path(__file__).with_suffix(".json")
ALLOWED: Final = 1.1  # of what is recorded
_PATHS: Final = (  # a command, a log, how many transactions of it
    ("decode --format jsonl", "partial-minimal", 200),
    ("decode --format jsonl", "full-8k", 10),
    ("decode -vv", "partial-minimal", 200),
)
_COUNT: Final = re.compile(r"I\s+refs:\s+([\d,]+)")


def counted(command: str, log: Path) -> int:
    """The instructions of one run of the sources. Raises :class:`subprocess.CalledProcessError`."""
    valgrind = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT), "BINLOG_LAB_PURE": "1"}
    done = subprocess.run(
        [*valgrind, sys.executable, "-c", RUN, *command.split(), log.name],
        cwd=log.parent, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    found = _COUNT.search(done.stderr)
    assert found is not None, done.stderr
    return int(found[1].replace(",", ""))


def counts(place: Path) -> dict[str, int]:
    """The instructions of a transaction on each path."""
    found, empty = {}, dict[str, int]()
    for command, shape, number in _PATHS:
        log, none = place / shape, place / "none"
        pieces = transactions(shape, number)
        none.write_bytes(next(pieces))
        log.write_bytes(none.read_bytes() + b"".join(pieces))
        if command not in empty:
            seconds(Program("", (sys.executable, "-c", RUN, *command.split()), ROOT, pure=True), none)  # for bytecode
            empty[command] = counted(command, none)
        found[f"{command}, {shape}"] = (counted(command, log) - empty[command]) // number
    return found


def slower(found: dict[str, int], recorded: dict[str, int]) -> list[str]:
    """The paths that need too much, in a sentence each."""
    return [
        f"{path}: {found[path]:,} instructions a transaction, {found[path] / known:.2f} times the {known:,} recorded"
        for path, known in recorded.items()
        if found[path] > ALLOWED * known
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Count and compare; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.instructions", description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew the counts of this Python")
    asked = parser.parse_args(arguments)
    python = ".".join(map(str, sys.version_info[:2]))
    known = json.loads(RECORDED.read_text("utf-8"))
    if shutil.which("valgrind") is None or not (asked.write or python in known):
        sys.stderr.write(f"hot paths are not compared: there is no valgrind, or no count of Python {python}\n")
        return 3
    with tempfile.TemporaryDirectory() as place:
        found = counts(Path(place))
    if asked.write:
        known[python] = found
        RECORDED.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", "utf-8")
    for path, count in found.items():
        sys.stdout.write(f"{path}: {count:,} instructions a transaction, {count / known[python][path]:.3f}\n")
    wrong = slower(found, known[python])
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
