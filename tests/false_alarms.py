"""Whether the kit accuses sound servers: ``python -m tests.false_alarms`` runs it with many seeds on the real server.

Each seed is a run of the quick profile; the last ``--larger`` of them have four times the size in the checks of FR4 and
FR5. A run that does not end with 0, or that judges a requirement by too few cases, is an alarm: its report stays in the
directory. ``--results FILE`` keeps a line of JSON for each run, with its command, commit and day; a run that was broken
off goes on from it, and an alarm is run again once its line is gone. Exit status 1 if there was an alarm, or if nothing
ran. ``docs/records/false-alarms.jsonl`` is such a file.

``python -m tests.false_alarms --enlarged conformance …`` is one run with those sizes.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.cli import main as program
from conformance.harness.experiments.manifests import facts_of
from conformance.harness.profiles import SIZES
from conformance.verdict import FAILING
from tests.live import ROOT
from tests.volume import thin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NORMAL: Final = ("binlog-lab",)
ENLARGED: Final = ("python", "-m", "tests.false_alarms", "--enlarged")
PROGRAMS: dict[tuple[str, ...], tuple[str, ...]] = {
    NORMAL: (sys.executable, "-m", "conformance"),
    ENLARGED: (sys.executable, *ENLARGED[1:]),
}
_TIMES: Final = 4
_JUDGED: Final = (("FR4",), ("FR5",))  # by the checks that get more Cases


def runs(seeds: int, larger: int, first: int) -> Iterator[tuple[str, ...]]:
    """The command of every run, with its seed."""
    for number in range(first, first + seeds):
        yield *(NORMAL if number < first + seeds - larger else ENLARGED), "conformance", "--seed", str(number)


def enlarge() -> None:
    """Give the quick profile of this process the larger sizes, at most those of ``full``."""
    for name, sizes in SIZES.items():
        facts = facts_of(name)
        if facts is not None and facts.requirements in _JUDGED:
            if sizes["quick"] > sizes["full"]:  # of so many Cases one is taken
                sizes["quick"] = max(sizes["quick"] // _TIMES, sizes["full"])
            else:
                sizes["quick"] = min(sizes["quick"] * _TIMES, sizes["full"])


def run(command: Sequence[str], report: Path) -> dict[str, Any]:
    """One run. Its report goes if there is nothing to look at."""
    begun = time.monotonic()
    start = next(start for start in PROGRAMS if tuple(command[: len(start)]) == start)
    words = [*PROGRAMS[start], *command[len(start) :], "--report", str(report)]
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    row: dict[str, Any] = {
        "command": shlex.join(command),
        "exit_code": done.returncode,
        "seconds": round(time.monotonic() - begun),
        "day": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": _commit(),
    }
    results = report / "results.json"
    if results.exists():
        row |= judged(json.loads(results.read_text("utf-8")))
    row["alarm"] = alarm = done.returncode != 0 or not results.exists() or bool(row["failing"] or row["thin"])
    if alarm:
        report.mkdir(parents=True, exist_ok=True)
        (report / "output.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    else:
        shutil.rmtree(report)
    return row


def _commit() -> str:
    """The commit of this tree; empty outside of a clone, or without git."""
    if shutil.which("git") is None:
        return ""
    words = ["git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()


def judged(results: dict[str, Any]) -> dict[str, Any]:
    """The figures of a run, the requirements that do not hold, and those that were judged by too few cases."""
    requirements = results["requirements"].items()
    failing = {name: row["verdict"] for name, row in requirements if row["verdict"] in FAILING}
    totals = results["totals"]
    counts = {name: totals[name] for name in ("cases", "updates_compared", "bytes_compared", "mismatches")}
    return {**counts, "failing": failing, "thin": thin(results)}


def main(arguments: Sequence[str]) -> int:
    """Run them all, or those that are left."""
    if arguments[:1] == ["--enlarged"]:
        enlarge()
        return program.run(arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m tests.false_alarms", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--larger", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--results", type=Path, default=Path("false-alarms.jsonl"), metavar="FILE")
    parser.add_argument("--reports", type=Path, default=Path("false-alarms"), metavar="DIR", help="of alarms")
    options = parser.parse_args(arguments)
    known: dict[str, dict[str, Any]] = {}
    if options.results.exists():
        for line in options.results.read_text("utf-8").splitlines():
            known[json.loads(line)["command"]] = json.loads(line)
    rows = []
    for words in runs(options.seeds, options.larger, options.first):
        row = known.get(shlex.join(words))
        if row is None:
            row = run(words, options.reports / f"seed-{words[-1]}")
            with options.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            sys.stdout.write(f"{'ALARM' if row['alarm'] else 'ok':6}{row['seconds']:5} s  {row['command']}\n")
            sys.stdout.flush()
        rows.append(row)
    alarms = [row for row in rows if row["alarm"]]
    for row in alarms:
        sys.stdout.write(f"ALARM {json.dumps(row)}\n")
    updates = sum(row.get("updates_compared", 0) for row in rows)
    cases = sum(row.get("cases", 0) for row in rows)
    sys.stdout.write(f"{len(rows)} runs, {cases:,} cases, {updates:,} updates, {len(alarms)} alarms\n")
    return int(bool(alarms) or not rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
