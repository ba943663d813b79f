"""Whether a run judged every requirement by enough Cases: ``python -m tests.volume REPORT`` reads its ``results.json``.

Prints each one that has fewer than its profile asks for and no reason why it is finite; exit status 1 if there is one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from conformance.requirements.catalogue import FULL, QUICK

JUDGED = ("pass", "deviates", "fixed", "lenient", "differs", "fail", "crash", "timeout", "silent-loss")


def thin(results: dict[str, dict[str, dict[str, object]]]) -> list[str]:
    """One line for each."""
    least = QUICK if results["run"]["profile"] == "quick" else FULL  # type: ignore[comparison-overlap]
    return [
        f"{name}: {row['cases']} cases, expected {least} or a reason why it is finite"
        for name, row in results["requirements"].items()
        if row["verdict"] in JUDGED and "finite" not in row and int(str(row["cases"])) < least
    ]


def main(report: str) -> int:
    """Exit status."""
    found = thin(json.loads((Path(report) / "results.json").read_text("utf-8")))
    whole = "every requirement that was judged has enough cases, or says why they are few"
    sys.stdout.write("\n".join(found or [whole]) + "\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
