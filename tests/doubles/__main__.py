"""``python -m tests.doubles VERSION [REQUIREMENT...]``: a run of the kit on a double, and what it said, by row.

``--share N``: one in so many of the Cases of the profile quick (1: all of them). ``--updates N``: generated updates.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import defaultdict
from contextlib import closing

from tests.doubles.run import SHARE, UPDATES, Stage
from tests.faults.servers.bench import words_of


def main(*words: str) -> int:
    """Run it. Exit status 1 if a row is red, or the run broke off."""
    parser = ArgumentParser(prog="python -m tests.doubles")
    parser.add_argument("version")
    parser.add_argument("requirements", nargs="*")
    parser.add_argument("--share", type=int, default=SHARE)
    parser.add_argument("--updates", type=int, default=UPDATES)
    asked = parser.parse_args(words)
    with closing(Stage(asked.version)) as stage:
        outcome = stage.run(
            *asked.requirements,
            share=asked.share,
            updates=asked.updates,
            narrate=lambda text: print(text, file=sys.stderr),  # noqa: T201
        )
    write = sys.stdout.write
    for record in outcome.failing:
        write(f"RED {record.requirement} {record.check}: {words_of(record)[:600]}\n")
    for reason, rows in sorted(outcome.left_out.items()):
        write(f"not applicable: {reason}\n    {', '.join(sorted(rows))}\n")
    for text in outcome.broken:
        write(f"the relay failed:\n{text}\n")
    by: dict[str, list[str]] = defaultdict(list)
    for name, cell in outcome.rows.items():
        by[str(cell.verdict)].append(name)
    for verdict, names in sorted(by.items()):
        write(f"{len(names)} {verdict}: {' '.join(names)}\n")
    write(f"red: {sorted(outcome.red)}, contradicted: {sorted(outcome.contradicted)}\n{outcome.problem}\n")
    write(f"{outcome.selected} checks, {outcome.seconds:.1f} s of CPU\n")
    return int(bool(outcome.red or outcome.contradicted or outcome.problem or outcome.broken))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
