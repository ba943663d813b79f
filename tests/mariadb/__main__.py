# ruff: noqa: T201 (it prints)
"""``python -m tests.mariadb captures``: logs of a real MariaDB."""

from __future__ import annotations

import argparse
import sys

from tests.mariadb import captures


def _captures(arguments: argparse.Namespace) -> int:
    captures.PLACE.mkdir(parents=True, exist_ok=True)
    for name in arguments.name or captures.CAPTURES:
        captures.make(name, captures.PLACE)
        print(f"{captures.PLACE / name}.binlog")
    return 0


def main() -> int:
    """Run one of the parts."""
    parser = argparse.ArgumentParser(prog="python -m tests.mariadb", description=__doc__)
    parts = parser.add_subparsers(required=True)
    part = parts.add_parser("captures", help="make the logs in tests/data/mariadb again")
    part.add_argument("name", nargs="*", choices=(*captures.CAPTURES, []))
    part.set_defaults(run=_captures)
    arguments = parser.parse_args()
    return int(arguments.run(arguments))


if __name__ == "__main__":
    sys.exit(main())
