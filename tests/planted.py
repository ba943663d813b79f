"""The faults that tests plant: ``python -m tests.planted`` (from the repository's root) plants every one of them, and
says for each requirement how many its checks and judges caught. ``python -m tests.faults`` counts these and all others.

A test plants a fault if one of its parameters is called ``fault`` (or ``checks``: those that must notice). It plants
one too if it is marked ``planted`` with the requirements that the fault breaks (none: it breaks no requirement of a
worklog). A fault that several tests plant is caught if all of them catch it. Options are pytest's: ``-m "not live"``
leaves out what needs a server, ``-k`` selects. Exit status 1 if a fault was missed, if a requirement has too few
faults, or if nothing ran. A requirement with checks of its own must have two, and one that is judged within another
must have one. Where the tests cannot be collected, that and the reason are all that is said: what was not collected is
no missing fault.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from tests.faults.fault import Fault

ROOT: Final = Path(__file__).parents[1]
LEAST: Final = 2  # faults of a requirement with checks of its own
NO_REQUIREMENT: Final = "none"
EVERY_NIGHT: Final = ("-m", "nightly or not nightly")  # the tests of the night too
COLLECTED: Final = pytest.StashKey[list[pytest.Item]]()  # all tests, those of the night too, where a run collects all


@dataclass(frozen=True, slots=True)
class Planted:
    """One fault in one test, or of a kind."""

    name: str
    requirements: tuple[str, ...]
    kind: str = ""


def planted_by(item: pytest.Item) -> Planted | None:
    """The fault that a test plants, if it plants one."""
    from tests.harness.planted import requirements_of

    marks = list(item.iter_markers("planted"))
    requirements = tuple(str(name) for mark in marks for name in mark.args)
    parameters: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
    fault = parameters.get("fault")
    name = item.nodeid
    if isinstance(fault, Fault):
        name, requirements = fault.id, requirements or fault.requirements
    elif fault is None:
        requirements = requirements or requirements_of(parameters.get("checks", ()))
        return Planted(name, requirements) if requirements or marks else None
    elif not marks:
        raise pytest.UsageError(f"{name}: which requirement does the fault break? Mark the test 'planted'")
    else:
        named = (getattr(fault, key, None) for key in ("name", "__name__"))
        name = fault if isinstance(fault, str) else str(next(filter(None, named), name))
    return Planted(f"{requirements[0]} {name}" if requirements else name, requirements)


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason was given"])[-1]


class NotCollectedError(Exception):
    """The tests could not be collected, so nothing can be said of their faults."""


@dataclass(slots=True, eq=False)  # pytest keeps plugins in sets
class Tally:
    """A pytest plugin that keeps the tests with faults, and counts what came of each. ``collected``: whether a
    collection that began came to its end."""

    faults: dict[str, Planted] = field(default_factory=dict)  # by test
    passed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    collected: bool = True
    problems: list[str] = field(default_factory=list)

    def pytest_addoption(self) -> None:
        """Begin, as this is called first: whatever ends pytest before the collection is over leaves ``collected``
        false."""
        self.collected = False

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note what could not be collected, and why."""
        if report.failed:
            self.problems.append(f"{report.nodeid or 'tests'}: {_last_line(report.longreprtext)}")

    def pytest_internalerror(self, excrepr: object) -> None:
        """Note an error of pytest itself, or of a plugin."""
        self.problems.append(f"pytest: {_last_line(str(excrepr))}")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """The collection is over; without any fault something is wrong with it."""
        self.collected = True
        if not self.faults:
            self.problems.append(f"none of the {session.testscollected} collected tests plants a fault")

    def check_collected(self) -> None:
        """Raise if the faults are not known."""
        if self.problems or not self.collected:
            reasons = self.problems or ["pytest ended before the collection was over; its own words stand above"]
            raise NotCollectedError("the tests could not be collected: " + "; ".join(reasons))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the tests that plant something."""
        found = {item.nodeid: planted for item in items if (planted := planted_by(item)) is not None}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in found])
        items[:] = [item for item in items if item.nodeid in found]
        self.faults = found

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what came of a test."""
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def by_requirement(self) -> dict[str, dict[str, str]]:
        """Requirement -> fault -> ``caught``, ``missed`` or ``not run``, the worst of its tests."""
        self.check_collected()
        out: dict[str, dict[str, str]] = defaultdict(dict)
        for test, planted in self.faults.items():
            word = "missed" if test in self.failed else "caught" if test in self.passed else "not run"
            for requirement in planted.requirements or (NO_REQUIREMENT,):
                known = out[requirement].get(planted.name)
                words = {word, known} - {None, "not run"}
                out[requirement][planted.name] = "missed" if "missed" in words else "caught" if words else "not run"
        return out


def table(found: dict[str, dict[str, str]]) -> tuple[list[str], bool]:
    """One line a requirement in the catalogue's order, then what was missed; and whether all is well."""
    from conformance.requirements.catalogue import REQUIREMENTS

    lines = []
    well = True
    for name, row in REQUIREMENTS.items():
        faults = found.get(name, {})
        if not faults and row.explanation is not None:
            continue
        counts = {word: sum(value == word for value in faults.values()) for word in ("caught", "missed", "not run")}
        line = f"{name:6} {counts['caught']:4}/{len(faults)} caught/planted"
        if counts["not run"]:
            line += f", {counts['not run']} not run"
        if row.explanation is None and len(faults) < LEAST:
            line += f", fewer than {LEAST} faults"
        well = well and not counts["missed"] and (row.explanation is not None or len(faults) >= LEAST)
        lines.append(line)
    known = {*REQUIREMENTS, NO_REQUIREMENT}
    lines += [f"no requirement {name}" for name in sorted(set(found) - known)]
    missed = {fault for faults in found.values() for fault, word in faults.items() if word == "missed"}
    lines += [f"missed: {fault}" for fault in sorted(missed)]
    everything: dict[str, set[str]] = defaultdict(set)
    for faults in found.values():
        for fault, word in faults.items():
            everything[word].add(fault)
    said, whole = parts(found)
    lines += said
    total = sum(map(len, everything.values()))
    lines.append(f"{len(everything['caught'])}/{total} caught/planted, {len(everything['not run'])} not run")
    return lines, well and whole and bool(everything["caught"]) and set(found) <= known


def parts(found: dict[str, dict[str, str]]) -> tuple[list[str], bool]:
    """The requirements that are judged within another one: which has no fault of its own, and of how many one was
    caught; and whether each has one."""
    from conformance.requirements.catalogue import REQUIREMENTS

    names = [name for name, row in REQUIREMENTS.items() if row.within and row.reason is None]
    without = [name for name in names if not found.get(name)]
    caught = sum("caught" in found.get(name, {}).values() for name in names)
    lines = [f"{name:6} part without a fault" for name in without]
    lines.append(f"{caught}/{len(names)} parts of requirements with a caught fault")
    return lines, not without


def main(arguments: list[str]) -> int:
    """Plant them all."""
    tally = Tally()
    options = [
        "-q",
        *EVERY_NIGHT,
        "--no-header",
        "--disable-warnings",
        "-p",
        "no:cacheprovider",
        "--tb=line",
        f"--rootdir={ROOT}",
    ]
    code = pytest.main([*options, *arguments, str(ROOT / "tests")], plugins=[tally])
    try:
        lines, well = table(tally.by_requirement())
    except NotCollectedError as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    sys.stdout.write("\n".join(["", *lines, ""]))
    return 0 if well and code == pytest.ExitCode.OK else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
