"""Whether a run judged every requirement by enough Cases.

``python -m tests.volume REPORT...`` writes ``volume.toml`` of whole quick runs on sound servers and decoders: what each
experiment must look at.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.cli.conformance import _pytest
from conformance.harness.settings import Settings
from conformance.report.results import Summary
from conformance.requirements.catalogue import FULL, QUICK
from conformance.runs.check_runs.check_items import check_name, experiment_of, requirements_of
from conformance.runs.check_runs.lab_run import LabRun
from conformance.stream import MODEL, read_stream

if TYPE_CHECKING:
    from collections.abc import Iterable

VOLUME: Final = Path(__file__).parents[1] / "conformance" / "requirements" / "volume.toml"
_HEAD: Final = """\
# What each experiment looks at in the profile quick, at least: Cases by requirement. Of the experiments on generated
# updates it is all that were asked for. Written by: python -m tests.volume REPORT...
"""
_SMALL: Final = 5
_SHARE: Final = 0.7  # of a number that all runs have: half of a list is fewer

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


def marked_requirements() -> dict[str, set[str]]:
    """The requirements that each experiment is marked with, whatever its blocks are about."""
    run = LabRun(lambda _: Settings(), kinds=frozenset({False}))
    _pytest(run, "--collect-only")
    found: defaultdict[str, set[str]] = defaultdict(set)
    for item in run.selected:
        found[experiment_of(check_name(item))] |= requirements_of(item)
    return found


def volume_of(summaries: Iterable[Summary]) -> str:
    """The text of ``volume.toml``: seven tenths of what all these runs had alike, and 1 where they differ."""
    marks = marked_requirements()
    found: defaultdict[str, list[dict[str, int]]] = defaultdict(list)
    for summary in summaries:
        for name in summary.looked_at.keys() - {MODEL}:
            counted = summary.looked_at_of(name)
            of_run: defaultdict[str, dict[str, int]] = defaultdict(dict)
            for (experiment, requirement), cases in counted.items():
                marked = requirement in marks.get(experiment, ())
                if marked and (experiment, requirement) not in summary.excused[name] | summary.excused[MODEL]:
                    of_run[experiment][requirement] = cases
            for experiment, rows in of_run.items():
                found[experiment].append(rows)
    lines = [_HEAD]
    for experiment, runs in sorted(found.items()):
        # A version may have requirements of its own, by the deviations that it shows.
        common = sorted(set.intersection(*(set(rows) for rows in runs)))
        lines.append(f'\n["{experiment}"]')
        least = {name: _least([rows[name] for rows in runs]) for name in common}
        lines += [f'"{name}" = {cases}' for name, cases in least.items() if cases]
    return "\n".join(lines) + "\n"


def _least(cases: list[int]) -> int:
    """The least number that a run must have. Where all runs had the same number, it is seven tenths of that, but at
    least 1. Where they differ between seeds and versions, it is 1, or 0 if the number can be small."""
    if len({*cases}) == 1:
        return max(1, int(cases[0] * _SHARE))
    return int(min(cases) >= _SMALL)


def main(*reports: str) -> None:
    """Write the file."""
    summaries = [Summary(read_stream(Path(report) / "run.jsonl").records) for report in reports]
    for report, summary in zip(reports, summaries, strict=True):
        if not summary.complete:
            raise SystemExit(f"{report}: expected a complete run")
    VOLUME.write_text(volume_of(summaries), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
