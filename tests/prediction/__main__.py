# ruff: noqa: T201 (it prints)
"""``python -m tests.prediction``: what ``predict`` says of generated statements, and what a real server does."""

from __future__ import annotations

import argparse
import sys

from conformance.servers.auto import find_installation
from conformance.servers.run.process import launch
from conformance.servers.specs import parse_spec
from tests.prediction.campaign import run_updates
from tests.prediction.odd_answers import RECORDED, recorded
from tests.prediction.odd_statements import odd_update
from tests.prediction.statements import application_update


def main() -> int:
    """Run, print the figures, and every difference."""
    parser = argparse.ArgumentParser(prog="python -m tests.prediction", description=__doc__)
    parser.add_argument("--updates", type=int, default=1000)
    parser.add_argument("--seed", default="predict")
    parser.add_argument("--odd", action="store_true", help="statements that nobody writes")
    parser.add_argument("--record", metavar="COUNT", type=int, help="the server's answers to so many, for the tests")
    arguments = parser.parse_args()
    installation = find_installation(parse_spec("process"), narrate=lambda text: print(text, file=sys.stderr))
    with launch(installation) as server:
        if arguments.record:
            RECORDED.write_text(recorded(server, arguments.record), encoding="utf-8")
            return 0
        result = run_updates(
            server,
            seed=arguments.seed,
            updates=arguments.updates,
            make=odd_update if arguments.odd else application_update,
            narrate=lambda text: print(text, file=sys.stderr),
        )
    for name, count in sorted(result.counts.items()):
        print(f"{count:>8,} {name}")
    print(f"\n{len(result.problems)} differences")
    for problem in result.problems:
        print(problem)
    return int(bool(result.problems))


if __name__ == "__main__":
    sys.exit(main())
