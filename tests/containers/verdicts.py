"""Two reports of the same seed, row by row: ``python -m tests.containers.verdicts PROCESS CONTAINER``.

Each argument is the folder of a report (``results.json`` in it): of ``conformance --server process`` and of
``conformance --server docker:IMAGE``. The rows that differ are printed with the reason that is listed for them here.
The exit code is 1 if a row has none, or if a listed row does not differ any more and so needs no reason.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Requirement -> why a container has another verdict than a process. docs/tasks/judge-a-server.md names each.
LISTED: Final[dict[str, str]] = {}
_MOST: Final = 10
_NOT_JUDGED: Final = "not-run"  # by nothing of a run of this profile, or within another row


class Row(NamedTuple):
    """A requirement whose verdicts differ. ``reason``: nothing where none is listed."""

    requirement: str
    process: str
    container: str
    reason: str


def verdicts(results: Mapping[str, Any]) -> dict[str, str]:
    """The verdict of each requirement."""
    return {name: str(row["verdict"]) for name, row in results["requirements"].items()}


def differing(process: Mapping[str, str], container: Mapping[str, str]) -> Iterator[Row]:
    """The rows that differ, in the order of the catalogue; a row that one report lacks differs too."""
    for name in dict.fromkeys((*process, *container)):
        here, there = process.get(name, "absent"), container.get(name, "absent")
        if here != there:
            yield Row(name, here, there, LISTED.get(name, ""))


def judged(verdict_of: Mapping[str, str]) -> str:
    """Counts of the verdicts in words."""
    counts = Counter(verdict_of.values())
    return ", ".join(f"{count} {name}" for name, count in counts.most_common() if name != _NOT_JUDGED)


def compare(process: Mapping[str, Any], container: Mapping[str, Any]) -> tuple[str, bool]:
    """The table of two results as text, and whether it shows nothing that is not listed."""
    here, there = verdicts(process), verdicts(container)
    rows = list(differing(here, there))
    lines = [
        f"process   {process['run'].get('seed')}: {judged(here)}",
        f"container {container['run'].get('seed')}: {judged(there)}",
        "",
        "| requirement | process | container | reason |",
        "|---|---|---|---|",
        *(
            f"| {row.requirement} | {row.process} | {row.container} | {row.reason or '**none listed**'} |"
            for row in rows
        ),
    ]
    needless = sorted(LISTED.keys() - {row.requirement for row in rows})
    equal = sum(here[name] == there.get(name) != _NOT_JUDGED for name in here)
    lines += ["", f"{equal} judged rows with the same verdict, {len(rows)} with another"]
    if needless:
        lines.append(f"listed, and the same today: {', '.join(needless)}")
    return "\n".join(lines), all(row.reason for row in rows) and not needless and len(rows) <= _MOST


def main() -> int:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.containers.verdicts", description=(__doc__ or "")[:70])
    parser.add_argument("process", type=Path)
    parser.add_argument("container", type=Path)
    arguments = parser.parse_args()
    found = [
        json.loads((folder / "results.json").read_text("utf-8")) for folder in (arguments.process, arguments.container)
    ]
    text, good = compare(*found)
    sys.stdout.write(f"{text}\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
