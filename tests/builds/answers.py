"""Digests of the commands' answers to every log in some folders, one a line: to hold two builds against each other.

    python -m tests.builds.answers [--damaged N] [FOLDER...]

Each command reads each log whole, and ``N`` times with one byte changed or its end cut off, always at the same places.
Two builds of the same sources print the same lines; ``diff`` shows where they do not.
"""

# A program that prints: that is its job.
# ruff: noqa: T201

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.cli.main import run

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDERS: Final = (Path("tests/data/binlogs"), Path("tests/data/mysqlbinlog"))
COMMANDS: Final = (
    ("decode", "-v"),
    ("decode", "-vv", "--table-metadata", "--hexdump"),
    ("decode", "--format", "jsonl"),
    ("decode", "--format", "jsonl", "--types", "--events", "all"),
    ("decode", "--format", "csv", "--resolve"),
    ("explain",),
    ("apply",),
)
_DAMAGED_WITH: Final = (COMMANDS[1], COMMANDS[2], COMMANDS[4])


def answer(command: tuple[str, ...], path: str) -> bytes:
    """Exit code, messages and output of one command; the file's own name is left out."""
    out, messages = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(messages):
        code = run([*command, path])
        out.flush()
    assert isinstance(out.buffer, io.BytesIO)
    said = b"%d\n%b\n%b" % (code, messages.getvalue().encode("utf-8", "backslashreplace"), out.buffer.getvalue())
    return said.replace(path.encode(), b"FILE")


def damaged(data: bytes, count: int) -> Iterator[bytes]:
    """``count`` damaged forms of a log; they depend on the log alone."""
    places = random.Random(len(data))
    for number in range(count):
        place = places.randrange(4, len(data))
        if number % 4:
            yield data[:place] + bytes((data[place] ^ 1 << places.randrange(8),)) + data[place + 1 :]
        else:
            yield data[:place]


def lines(folders: list[Path], count: int) -> Iterator[str]:
    """A line for each log, form and command."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "log"
        for path in sorted(path for each in folders for path in each.rglob("*.binlog")):
            data = path.read_bytes()
            forms = [("whole", data), *((f"damaged {n}", form) for n, form in enumerate(damaged(data, count)))]
            for name, form in forms:
                copy.write_bytes(form)
                for command in COMMANDS if name == "whole" else _DAMAGED_WITH:
                    digest = sha256(answer(command, str(copy))).hexdigest()[:16]
                    print(f"{digest} {path.name} {name}: {' '.join(command)}")
                    yield digest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--damaged", type=int, default=20, help="damaged forms of each log")
    parser.add_argument("folders", nargs="*", type=Path, help="default: the logs in tests/data")
    options = parser.parse_args()
    os.environ["TZ"] = "UTC"
    time.tzset()
    found = list(lines(options.folders or list(FOLDERS), options.damaged))
    if not found:
        sys.exit("no logs there")
    print(f"{len(found)} answers, all together {sha256(''.join(found).encode()).hexdigest()[:16]}")


if __name__ == "__main__":
    main()
