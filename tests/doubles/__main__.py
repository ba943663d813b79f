"""``python -m tests.doubles VERSION [REQUIREMENT...]``: a run of the kit on a double, and what it said, by row."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import closing

from conformance.stream import CaseVerdict
from tests.doubles.run import Stage
from tests.faults.servers.bench import words_of


def main(version: str, *requirements: str) -> int:
    """Run it. Exit status 1 if a row is red, or the run broke off."""
    with closing(Stage(version)) as stage:
        outcome = stage.run(*requirements, narrate=lambda text: print(text, file=sys.stderr))  # noqa: T201
    write = sys.stdout.write
    for record in outcome.failing:
        write(f"RED {record.requirement} {record.check}: {words_of(record)[:600]}\n")
    for reason, rows in sorted(outcome.left_out.items()):
        write(f"not applicable: {reason}\n    {', '.join(sorted(rows))}\n")
    for text in outcome.broken:
        write(f"the relay failed:\n{text}\n")
    verdicts = Counter(str(record.verdict) for record in outcome.records if isinstance(record, CaseVerdict))
    write(f"{outcome.problem}\n{dict(verdicts)}\n{outcome.selected} checks, {outcome.seconds:.1f} s of CPU\n")
    return int(bool(outcome.failing or outcome.problem or outcome.broken))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
