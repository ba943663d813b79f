"""Whether a run judged every requirement by enough Cases."""

from __future__ import annotations

from conformance.requirements.catalogue import FULL, QUICK

JUDGED = ("pass", "deviates", "fixed", "lenient", "differs", "fail", "crash", "timeout", "silent-loss")


def thin(results: dict[str, dict[str, dict[str, object]]]) -> list[str]:
    """One line for each requirement that has fewer Cases than the profile asks for, and no reason why it is finite.

    ``results``: as in ``results.json``.
    """
    least = QUICK if results["run"]["profile"] == "quick" else FULL  # type: ignore[comparison-overlap]
    return [
        f"{name}: {row['cases']} cases, expected {least} or a reason why it is finite"
        for name, row in results["requirements"].items()
        if row["verdict"] in JUDGED and "finite" not in row and int(str(row["cases"])) < least
    ]
