"""Builds the compiled wheel, runs the tests of what is compiled on it, and compares its answers with the sources'.

    python -m tests.builds.compiled [--damaged N] [--wheel FILE] [PYTEST WORDS...]

The tests run in a copy of the tree whose packages are those of the wheel. Tests that replace functions of the
reference stay with the sources: a compiled function calls its neighbours without asking the module.
"""

# A program that runs programs and prints: that is its job.
# ruff: noqa: T201

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.builds.wheel import ROOT, unpacked

TESTS: Final = (
    "tests/reference/jsonb",
    "tests/reference/text",
    "tests/reference/boundaries",
    "tests/reference/binlog/test_passing_over.py",
    "tests/reference/test_kernels.py",
    "tests/reference/test_reference_cursor.py",
)
_EVERY_KIND: Final = ("-m", "tests.systems.answers")  # its exit code is 1 where a digest is not the recorded one
_BUILD: Final = "from conformance.builds import build; print(build())"


def tree(place: Path, wheel: Path | None) -> Path:
    """A copy of the tests and corpora beside the packages of the compiled wheel, which is built if it is not there."""
    folder = unpacked(place, compiled=True, wheel=wheel)
    for name in ("tests", "docs", "docker", "fuzz/corpora"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
    shutil.copy(ROOT / "pyproject.toml", folder / "pyproject.toml")
    return folder


def run(folder: Path, *words: str, pure: bool = False) -> str:
    """Run a Python program that finds the packages in ``folder``, and return what it prints."""
    environment = {**os.environ, "BINLOG_LAB_PURE": str(int(pure)), "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def compare(folder: Path, damaged: int) -> None:
    """End the program where the builds give other answers about sound and damaged logs."""
    words = ("-m", "tests.builds.answers", "--damaged", str(damaged))
    compiled, pure = (run(folder, *words, pure=each).splitlines() for each in (False, True))
    for one, other in zip(compiled, pure, strict=True):
        if one != other:
            sys.exit(f"the builds differ:\n  compiled {one}\n  pure     {other}")
    print(f"both builds say the same: {compiled[-1]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--damaged", type=int, default=10, help="damaged forms of each log; 0: no comparison")
    parser.add_argument("--wheel", type=Path, help="a compiled wheel of this tree; without it, one is built")
    parser.add_argument("tests", nargs="*", default=TESTS, help="tests for the compiled build")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="binlog-lab-compiled-") as place:
        folder = tree(Path(place), options.wheel)
        builds = [run(folder, "-c", _BUILD, pure=pure).strip() for pure in (False, True)]
        if builds != ["compiled", "pure"]:
            sys.exit(f"the wheel holds no two builds: {builds}")
        print(run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options.tests).splitlines()[-1])
        if options.damaged:
            compare(folder, options.damaged)
        print(f"and the same as every Python, of {len(run(folder, *_EVERY_KIND).splitlines())} kinds of inputs")


if __name__ == "__main__":
    main()
