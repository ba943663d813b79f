# ruff: noqa: T201 (it prints)
"""``python -m tests.mariadb captures|changes|replica``: a real MariaDB; exit code 1 if anything differs."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from conformance.servers.auto import find_installation
from conformance.servers.run.process import launch
from conformance.servers.specs import parse_spec
from tests.mariadb import campaign, captures, replica


def _captures(arguments: argparse.Namespace) -> int:
    captures.PLACE.mkdir(parents=True, exist_ok=True)
    for name in arguments.name or captures.CAPTURES:
        captures.make(name, captures.PLACE)
        print(f"{captures.PLACE / name}.binlog")
    return 0


def _told(counts: dict[str, int], problems: list[str]) -> int:
    for name, count in sorted(counts.items()):
        print(f"{count:>12,} {name}")
    print(f"{len(problems)} differences")
    for problem in problems:
        print(problem)
    return int(bool(problems))


def _changes(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="binlog-lab-") as directory:
        place = arguments.keep or Path(directory)
        result = campaign.run(arguments.changes, arguments.seed, place, _note)
    print(result.version)
    return _told(result.counts, result.problems)


def _replica(arguments: argparse.Namespace) -> int:
    installation = find_installation(parse_spec("process"), narrate=_note)
    with tempfile.TemporaryDirectory(prefix="binlog-lab-") as directory, launch(installation) as server:
        result = replica.run(server, arguments.updates, arguments.seed, Path(directory), _note)
    print(result.version)
    return _told(result.counts, result.problems)


def _note(text: str) -> None:
    print(text, file=sys.stderr)


def main() -> int:
    """Run one of the parts."""
    parser = argparse.ArgumentParser(prog="python -m tests.mariadb", description=__doc__)
    parts = parser.add_subparsers(required=True)
    part = parts.add_parser("captures", help="make the logs in tests/data/mariadb again")
    part.add_argument("name", nargs="*", choices=(*captures.CAPTURES, []))
    part.set_defaults(run=_captures)
    part = parts.add_parser("changes", help="generated changes, read by decode and apply")
    part.add_argument("--changes", type=int, default=10000)
    part.add_argument("--seed", default="1")
    part.add_argument("--keep", type=Path, help="the folder in which the logs stay")
    part.set_defaults(run=_changes)
    part = parts.add_parser("replica", help="partial JSON of MySQL, expanded for MariaDB and replicated there")
    part.add_argument("--updates", type=int, default=1000)
    part.add_argument("--seed", default="1")
    part.set_defaults(run=_replica)
    arguments = parser.parse_args()
    return int(arguments.run(arguments))


if __name__ == "__main__":
    sys.exit(main())
