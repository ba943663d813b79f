"""Digests of the reference's answers to inputs of every kind, one a kind: to hold two Pythons against each other.

    python -m tests.systems.answers [--full] [--kind NAME]... [--lines | --write]

Prints a line for each kind: its name, the number of inputs, the SHA-256 of all answers. Where a digest is not the one
in ``answers.json``, it says so, and the exit code is 1. ``--lines`` prints the answers instead, for ``diff``;
``--write`` renews the file.
"""

# A program that prints: that is its job.
# ruff: noqa: T201

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.systems.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORDED: Final = Path(__file__).with_name("answers.json")


class Digest(NamedTuple):
    """The digest of all answers of a kind, in order, and the number of inputs."""

    inputs: int
    sha256: str


@contextmanager
def utc() -> Iterator[None]:
    """The commands print local time."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
        time.tzset()


def digest(name: str, *, full: bool = False) -> Digest:
    """The digest of a kind."""
    count, summed = 0, sha256()
    with utc():
        for line in KINDS[name](full):
            summed.update(line.encode("ascii") + b"\n")
            count += 1
    return Digest(count, summed.hexdigest())


def recorded(*, full: bool = False) -> dict[str, Digest]:
    """The digests that every Python has to give."""
    content = json.loads(RECORDED.read_text("utf-8")) if RECORDED.exists() else {}
    return {name: Digest(*found) for name, found in content.get("full" if full else "quick", {}).items()}


def main() -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="all inputs: minutes instead of seconds")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only this kind; may be repeated")
    parser.add_argument("--lines", action="store_true", help="print the answers themselves")
    parser.add_argument("--write", action="store_true", help="write the digests into answers.json")
    options = parser.parse_args()
    names = options.kind or list(KINDS)
    if options.lines:
        with utc():
            for name in names:
                for line in KINDS[name](options.full):
                    print(line)
        return 0
    expected, found = recorded(full=options.full), {}
    for name in names:
        found[name] = digest(name, full=options.full)
        other = "" if options.write or expected.get(name) == found[name] else "  differs from answers.json"
        print(f"{name:32} {found[name].inputs:9} {found[name].sha256}{other}", flush=True)
    if options.write:
        content = json.loads(RECORDED.read_text("utf-8")) if RECORDED.exists() else {}
        every = {**expected, **found}
        content["full" if options.full else "quick"] = {name: every[name] for name in KINDS if name in every}
        RECORDED.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
        return 0
    return int(any(expected.get(name) != one for name, one in found.items()))


if __name__ == "__main__":
    sys.exit(main())
