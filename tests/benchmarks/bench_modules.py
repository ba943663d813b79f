"""The worth of each compiled module: whole commands with all modules compiled, and without one of them.

    python -m tests.benchmarks.bench_modules [--updates N] [--rounds N] [--compiled FOLDER] [--only MODULE...]

A module that others use from C is taken away with those. Each figure is the CPU time without the module as a part of
that with all of them, medians of the rounds in turn: 1.00 buys nothing. The last column is the size of what was taken
away. ``--compiled`` is a folder with the compiled package; without it, one is built.
"""

# A program that runs programs and prints: that is its job.
# ruff: noqa: T201

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from tests.benchmarks.bench_decode import transactions
from tests.benchmarks.bench_programs import RUN, Program, seconds
from tests.builds.wheel import ROOT, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator

_RUNS: Final = (  # a command, and a log of bench_decode.py
    ("decode --format jsonl", "partial-minimal"),
    ("decode -vv", "partial-minimal"),
    ("decode --format jsonl", "full-8k"),
    ("decode -vv", "full-8k"),
    ("expand -o {out}", "partial-full"),
)
_CIMPORT: Final = re.compile(r"^from (conformance[\w.]*) cimport", re.MULTILINE)
_ALL: Final = "all modules are compiled"


def uses() -> dict[str, set[str]]:
    """Compiled module -> the modules whose C functions it calls."""
    found = {}
    for types in sorted((ROOT / "conformance").rglob("*.pxd")):
        name = ".".join(types.relative_to(ROOT).with_suffix("").parts)
        written = types.with_suffix(".pyx")
        text = types.read_text("utf-8") + (written.read_text("utf-8") if written.exists() else "")
        found[name] = {*_CIMPORT.findall(text)}
    return found


def needing(module: str, used: dict[str, set[str]]) -> set[str]:
    """A module, and all that cannot be loaded without it."""
    found, more = set[str](), {module}
    while more:
        found |= more
        more = {name for name, its in used.items() if its & found} - found
    return found


def without(full: Path, gone: set[str], place: Path) -> int:
    """Make a folder with the package less some compiled modules, whose sources stay; their size."""
    shutil.copytree(full, place, copy_function=os.link)
    size = 0
    for name in gone:
        (library,) = (place / name.replace(".", "/")).parent.glob(f"{name.rpartition('.')[2]}{EXTENSION_SUFFIXES[0]}")
        size += library.stat().st_size
        library.unlink()
    return size


def ratios(folders: dict[str, Path], place: Path, rounds: int) -> Iterator[dict[str, float]]:
    """For each run, the CPU time of each folder's package as a part of that of all modules."""
    for command, log in _RUNS:
        words = (sys.executable, "-c", RUN, *command.format(out=place / "out").split())
        spent: dict[str, list[float]] = {name: [] for name in folders}
        for _ in range(rounds):
            for name, folder in folders.items():
                took = seconds(Program(name, words, folder), place / log)
                if took is None:
                    sys.exit(f"{command}, {log}: refused without {name}")
                spent[name].append(took)
        print(f"{command}, {log}: {median(spent[_ALL]):.2f} s", file=sys.stderr, flush=True)
        yield {name: median(times) / median(spent[_ALL]) for name, times in spent.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=20_000, help="partial updates (a tenth of it for full-8k)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compiled", type=Path, help="a folder with the compiled package")
    parser.add_argument("--only", nargs="*", help="modules, without the name of the package")
    options = parser.parse_args()
    used = uses()
    asked = [f"conformance.{name}" for name in options.only] if options.only else list(used)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        full = options.compiled or unpacked(place, compiled=True)
        if full.stat().st_dev != place.stat().st_dev:
            full = shutil.copytree(full, place / "full")
        folders, sizes, gone = {_ALL: full.resolve()}, {_ALL: 0}, {}
        for number, name in enumerate(asked):
            gone[name] = needing(name, used)
            folders[name] = place / str(number)
            sizes[name] = without(full, gone[name], folders[name])
        for log in {log for _, log in _RUNS}:
            with (place / log).open("wb") as out:
                for piece in transactions(log, options.updates // (10 if log == "full-8k" else 1)):
                    out.write(piece)
        found = list(ratios(folders, place, options.rounds))
        print(f"{'':<38}" + "".join(f"{number:>6}" for number in range(1, len(_RUNS) + 1)) + "    KB")
        for name in sorted(gone, key=lambda name: max(run[name] for run in found)):
            also = len(gone[name]) - 1
            title = name.removeprefix("conformance.") + (f" and {also} more" if also else "")
            print(f"{title:<38}" + "".join(f"{run[name]:>6.2f}" for run in found) + f"{sizes[name] // 1024:>6}")
        print(*(f"{number}: {command}, {log}" for number, (command, log) in enumerate(_RUNS, 1)), sep="\n")


if __name__ == "__main__":
    main()
