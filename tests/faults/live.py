"""``python -m tests.faults --live``: every fault of ``live.toml`` under the main job, and nothing else.

A run is that of ``binlog-lab conformance --updates N`` with the faulty reference, and it ends at its first failure. To
save time a fault meets parts of the job first: some updates, then the requirements of its own room. A part does what
the whole job does, update by update, so its failure is one of the whole. Only what survives meets the whole.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from tests.faults.tools import Step

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

    from tests.faults.__main__ import Kept, Outcome
    from tests.faults.fault import Fault

LEAST: Final = 0.9
UPDATES: Final = 10_000
SECONDS: Final = 1800  # of CPU, for each process of a run, the server included
LAB: Final = "the lab fails: "
_FIRST: Final = 2_100  # updates that every fault meets first: three tables of each theme
_ROOMS: Final = {
    "boundaries": ("TF1", "TF2", "TM1", "TN2", "TP2", "TP3"),
    "jsonb": ("FR2", "FR4", "IP2"),
    "partial.apply": ("A7", "FR4"),
    "partial.in_place": ("LOB8", "LOB23"),
    "tables": ("TMM1", "TMV1"),
    "text": ("FR3", "FR7"),
}
"""Requirements whose checks use a package or module most: the part of the job that a fault there meets second."""


def steps(fault: Fault, updates: int, seed: str, server: str) -> list[Step]:
    """The runs against a fault, the cheapest first; the last is the whole job. ``server``: one that the first may use;
    the others have demands of their own."""
    package = fault.at.partition(".")[0]
    room = _ROOMS.get(fault.at) or _ROOMS.get(package)
    first = Step("live", "updates", 0, ("live", server, seed, str(min(_FIRST, updates)), "FR1"))
    whole = Step("live", "the whole job", 2, ("live", "auto", seed, str(updates)))
    own = [Step("live", "its own room", 1, ("live", "auto", seed, str(min(_FIRST, updates)), *room))] if room else []
    return [first, *own, whole]


def run(arguments: list[str]) -> str | None:
    """In the child: one run, ``SERVER SEED UPDATES REQUIREMENT...``. What failed first, or none."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    import pytest

    from conformance.cli.conformance import _pytest
    from conformance.harness.settings import Settings
    from conformance.runs.check_runs.lab_run import LabRun
    from conformance.stream import CaseVerdict

    server, seed, updates, *requirements = arguments
    wanted = frozenset(requirements)

    class First(LabRun):
        """A run that ends with its first failure."""

        failure: str | None = None

        def sink(self, record: Any) -> None:
            if not isinstance(record, CaseVerdict) or self.failure is not None:
                return
            if record.verdict.failing and record.deviation is None:
                self.failure = f"{record.check} ({record.requirement}): {record.message or record.field}"
                pytest.exit("that is enough", returncode=1)

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed and self.failure is None and self.could_not_run is None:
                self.failure = report.nodeid.rpartition("/")[2]

    with TemporaryDirectory() as cases:
        settings = Settings(server=server, updates=int(updates), requirements=wanted, seed=seed, cases=Path(cases))
        job = First(lambda _: settings, requirements=wanted)
        _pytest(job)
    problem = job.could_not_run or job.usage_error or ("" if job.selected else "no check was selected")
    if job.failure is not None:
        return job.failure
    return f"{LAB}{problem}"[:300] if problem else None


def judge(
    fault: Fault, planned: Sequence[Step], kept: Kept, run_child: Callable[[str, Step], Outcome]
) -> dict[str, Outcome]:
    """The runs against one fault until one fails. What is known of a run is not run again."""
    found = kept.of(fault)
    for step in planned:
        if any(outcome.by for outcome in found.values()):
            break
        if step.name not in found:
            found[step.name] = run_child(fault.id, step)
            kept.store(fault, found)
    return found


def line(fault: Fault, found: dict[str, Outcome]) -> str:
    """A fault, and which run saw what."""
    name, by = next(((name, outcome.by) for name, outcome in found.items() if outcome.by), ("", None))
    verdict = "LIVES " if by is None else "lab   " if by.startswith(LAB) else "caught"
    words = "" if by is None else f"{name}: {' '.join(by.split())[:150]}"
    return f"{verdict} {fault.at:20} {fault.id:38} {words}".rstrip()


def summary(results: dict[str, dict[str, Outcome]]) -> list[str]:
    """How many were caught, how many of them by an error of the lab alone, and what lives."""
    first = {name: next((one.by for one in found.values() if one.by), None) for name, found in results.items()}
    caught = [by for by in first.values() if by is not None]
    errors = sum(by.startswith(LAB) for by in caught)
    lives = [name for name, by in first.items() if by is None]
    seconds = sum(outcome.seconds for found in results.values() for outcome in found.values())
    return [
        f"lives: {', '.join(lives) or 'none'}",
        f"{len(caught)}/{len(results)} caught/planted, {errors} of them by an error of the lab, {seconds:.0f} s of CPU",
    ]


def main(faults: Sequence[Fault], options: Namespace, kept: Kept, run_child: Callable[[str, Step], Outcome]) -> int:
    """All of them, one after the other: two servers at a time only disturb each other."""
    results: dict[str, dict[str, Outcome]] = {}
    for fault in faults:
        planned = steps(fault, options.updates, str(options.seed), options.server)
        results[fault.id] = judge(fault, planned[:-1] if options.parts else planned, kept, run_child)
        sys.stdout.write(f"{line(fault, results[fault.id])}\n")
        sys.stdout.flush()
    sys.stdout.write("\n".join(["", *summary(results), ""]))
    caught = sum(any(outcome.by for outcome in found.values()) for found in results.values())
    return int(caught < LEAST * len(results))
