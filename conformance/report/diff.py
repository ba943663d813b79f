"""Two runs side by side: failures that are new, fixed, still there, or gone with the case that showed them.

A requirement and subject is compared by its cell in ``results.json``. Cases are compared by their records. A decoder's
Case has its id in both runs; a generated case has not, so failures of servers are compared by signature.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance.report.conditions import Condition, unlike
from conformance.report.matrix import base_name
from conformance.report.results import Summary
from conformance.stream import DECODER, RUN_FILE, SCHEMA, StreamError, Subject, read_stream
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

RESULTS_FILE = "results.json"
_SAYS_NOTHING = frozenset({Verdict.NOT_RUN, Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE})


class DiffError(Exception):
    """One of the two sides is unreadable: no such file, or no result of a run."""


class Change(StrEnum):
    """The change of a result between the two runs, in the order of reports."""

    NEW = "new"  # fails in B, and did not fail in A
    FIXED = "fixed"  # failed in A; B judged it, and it holds
    LISTED = "listed"  # failed in A; in B a deviation explains it that A did not list
    STILL = "still"  # fails in both
    GONE = "gone"  # failed in A; B did not judge it
    CHANGED = "changed"  # fails in neither, and the verdict is another one


class Result(NamedTuple):
    """A verdict with its counts. ``cases`` is 1 for a case."""

    verdict: Verdict
    failed: int
    cases: int = 1

    @property
    def decides(self) -> bool:
        """Whether the result says anything about the subject."""
        return self.verdict not in _SAYS_NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One requirement or case of one subject. ``case`` is empty in a line about a requirement."""

    change: Change
    subject: str
    requirement: str
    case: str = ""
    before: Result | None
    after: Result | None


@dataclass(slots=True)
class Side:
    """One run. ``cases``: subject -> key -> (requirement, result). ``whole``: subjects with a record for each Case.

    ``commands``: (subject, key) -> the command that shows a failure again.
    """

    name: str
    results: dict[str, Any]
    cases: dict[str, dict[str, tuple[str, Result]]] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()
    commands: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def subjects(self) -> dict[str, Subject]:
        """The subjects by id."""
        return {
            each["id"]: Subject(id=each["id"], role=each["role"], version=each["version"], name=each.get("name", ""))
            for each in self.results["subjects"]
        }

    @property
    def cells(self) -> dict[tuple[str, str], Result]:
        """(subject, requirement) -> result."""
        return {
            (subject, requirement): Result(Verdict(cell["verdict"]), cell["failed"], cell["cases"])
            for requirement, facts in self.results["requirements"].items()
            for subject, cell in facts.get("subjects", {}).items()
        }

    def listed(self, subject: str | None, requirement: str) -> frozenset[str]:
        """The deviations that explained cases of a subject and requirement."""
        return frozenset(
            entry["id"]
            for entry in self.results["deviations"]
            if entry["subject"] == subject
            and entry["verdict"] == Verdict.DEVIATES.value
            and requirement in entry.get("requirements", ())
        )

    @property
    def note(self) -> str:
        """Why the run is incomplete, or nothing."""
        run = self.results["run"]
        return "" if run["complete"] else f"incomplete: {run['incomplete_reason']}"


@dataclass(frozen=True, slots=True)
class Diff:
    """The comparison. ``subjects``: pairs of ids under the name they share; None on the side without it."""

    before: Side
    after: Side
    subjects: dict[str, tuple[str | None, str | None]]
    requirements: tuple[Line, ...]
    cases: tuple[Line, ...]
    conditions: tuple[Condition, ...] = ()

    @property
    def new_failures(self) -> bool:
        """Whether B has a failure that A has not."""
        return any(line.change is Change.NEW for line in (*self.requirements, *self.cases))

    def differing(self) -> Iterator[tuple[Line, str]]:
        """The cases that fail in one run only, each with the command that shows it again, or with nothing."""
        for line in self.cases:
            if line.change not in (Change.STILL, Change.CHANGED):
                a, b = self.subjects[line.subject]
                shown = self.after.commands.get((b or "", line.case)), self.before.commands.get((a or "", line.case))
                yield line, shown[0] or shown[1] or ""

    def to_json(self) -> dict[str, Any]:
        """The comparison for programs."""
        return {
            "a": {"name": self.before.name, "run": self.before.results["run"]},
            "b": {"name": self.after.name, "run": self.after.results["run"]},
            "new_failures": self.new_failures,
            "conditions": [{"what": each.what, "a": each.before, "b": each.after} for each in self.conditions],
            "subjects": {name: {"a": a, "b": b} for name, (a, b) in self.subjects.items()},
            "totals": {"requirements": _totals(self.requirements), "cases": _totals(self.cases)},
            "requirements": [_object(line) for line in self.requirements],
            "cases": [_object(line) for line in self.cases],
        }


class Rechecked(NamedTuple):
    """The end of a case that was run again. ``word`` is that of ``replay``, and empty for one without a stored Case.
    ``told``: its command then, or its error."""

    line: Line
    word: str
    told: str

    @property
    def contradicts(self) -> bool:
        """Whether a failure shows that run B does not have."""
        return self.line.change is not Change.NEW and self.word in ("FAILED", "DIED")

    def to_json(self) -> dict[str, Any]:
        """The case for programs."""
        return {**_object(self.line), "word": self.word or None, "told": self.told or None}


def load(path: Path, present: Callable[[str], str] = str) -> Side:
    """Read a report's directory, a ``results.json`` or a ``run.jsonl``; raises :class:`DiffError`.

    ``present``: turns a signature of an earlier version of the kit into that of today.
    """
    if path.is_dir():
        stream = path / RUN_FILE
        if not stream.exists():
            return _of_results(str(path), path / RESULTS_FILE, present)
        return _of_stream(str(path), stream, present)
    read = _of_stream if path.suffix == ".jsonl" else _of_results
    return read(str(path), path, present)


def compare(before: Side, after: Side) -> Diff:
    """Compare two runs."""
    subjects = dict(_pairs(before.subjects, after.subjects))
    requirements = list(_requirements(before, after, subjects))
    cases = list(_cases(before, after, subjects))
    conditions = unlike(before.results, after.results, subjects)
    return Diff(before, after, subjects, tuple(_sorted(requirements)), tuple(_sorted(cases)), tuple(conditions))


def _of_stream(name: str, path: Path, present: Callable[[str], str]) -> Side:
    try:
        stream = read_stream(path)
    except StreamError as error:
        raise DiffError(str(error)) from error
    summary = Summary(stream.records, problem=stream.problem)
    side = _side(name, summary.to_results(), present)
    for subject, verdicts in summary.matrix.verdicts.items():
        side.cases[subject] = {
            case: (verdict.requirement, Result(verdict.verdict, int(verdict.fails)))
            for case, verdict in verdicts.items()
        }
    side.whole = frozenset(summary.matrix.verdicts)
    return side


def _of_results(name: str, path: Path, present: Callable[[str], str]) -> Side:
    try:
        results = json.loads(path.read_bytes())
        if results["schema"] != SCHEMA:
            raise DiffError(f"{path}: schema {results['schema']} is not known, only {SCHEMA}")
        side = _side(name, results, present)
        _ = side.subjects, side.cells, side.note
    except OSError as error:
        raise DiffError(f"{path}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DiffError(f"{path}: not a results.json of binlog-lab") from error
    return side


def _side(name: str, results: dict[str, Any], present: Callable[[str], str]) -> Side:
    """A run with the failures that ``results.json`` lists."""
    side = Side(name, results)
    roles = {each["id"]: each["role"] for each in results["subjects"]}
    for failure in results["failures"]:
        signature = "" if roles.get(failure["subject"]) == DECODER else failure.get("signature")
        known = present(signature) if signature else failure["case"]
        found = failure["requirement"], Result(Verdict(failure["verdict"]), 1)
        side.cases.setdefault(failure["subject"], {}).setdefault(known, found)
        if failure.get("replay"):
            side.commands.setdefault((failure["subject"], known), failure["replay"])
    return side


def _pairs(
    before: dict[str, Subject], after: dict[str, Subject]
) -> Iterator[tuple[str, tuple[str | None, str | None]]]:
    """The same subject in both runs: the same id, or else the same name, where each side has it once."""
    left, right = dict(before), dict(after)
    for name in [name for name in left if name in right]:
        del left[name], right[name]
        yield name, (name, name)
    names = {base_name(subject): id_ for id_, subject in right.items()}
    often = [Counter(base_name(subject) for subject in side.values()) for side in (left, right)]
    for id_, subject in left.items():
        name = base_name(subject)
        if often[0][name] == often[1][name] == 1:
            yield name, (id_, names[name])
            del right[names[name]]
        else:
            yield id_, (id_, None)
    for id_ in right:
        yield id_, (None, id_)


def _requirements(before: Side, after: Side, subjects: dict[str, tuple[str | None, str | None]]) -> Iterator[Line]:
    left, right = before.cells, after.cells
    for name, (a, b) in subjects.items():
        known = dict.fromkeys(requirement for subject, requirement in (*left, *right) if subject in (a, b))
        for requirement in known:
            one = left.get((a, requirement)) if a else None
            two = right.get((b, requirement)) if b else None
            change = _change(one, two, judged=False, listed=_newly_listed(before, after, (a, b), requirement))
            if change is not None:
                yield Line(change=change, subject=name, requirement=requirement, before=one, after=two)


def _cases(before: Side, after: Side, subjects: dict[str, tuple[str | None, str | None]]) -> Iterator[Line]:
    cells = after.cells
    for name, (a, b) in subjects.items():
        left, right = before.cases.get(a or "", {}), after.cases.get(b or "", {})
        for case in dict.fromkeys((*left, *right)):
            one, two = left.get(case), right.get(case)
            requirement = (two or one or ("",))[0]
            cell = cells.get((b or "", one[0])) if one else None
            judged = b not in after.whole and cell is not None and cell.decides
            listed = _newly_listed(before, after, (a, b), requirement)
            change = _change(one and one[1], two and two[1], judged=judged, listed=listed)
            if change is not None:
                yield Line(
                    change=change, subject=name, requirement=requirement, case=case, before=one and one[1],
                    after=two and two[1],
                )  # fmt: skip


def _newly_listed(before: Side, after: Side, pair: tuple[str | None, str | None], requirement: str) -> bool:
    """Whether run B explains cases of a requirement by deviations that run A did not: what is gone may be one."""
    return bool(after.listed(pair[1], requirement) - before.listed(pair[0], requirement))


def _change(before: Result | None, after: Result | None, *, judged: bool, listed: bool) -> Change | None:
    """Return the change between two results. ``judged``: run B judged the requirement, and records failures alone.

    ``listed``: B lists deviations of the requirement that A did not.
    """
    failed = before is not None and before.failed
    if after is not None and after.failed:
        return Change.STILL if failed else Change.NEW
    if failed:
        if not (judged if after is None else after.decides):
            return Change.GONE
        explained = listed if after is None else after.verdict is Verdict.DEVIATES
        return Change.LISTED if explained else Change.FIXED
    if before is None or after is None or before.verdict is after.verdict:
        return None
    return Change.CHANGED


def _sorted(lines: Iterable[Line]) -> list[Line]:
    order = list(Change)
    return sorted(lines, key=lambda line: order.index(line.change))


def _totals(lines: Iterable[Line]) -> dict[str, int]:
    counts = Counter(line.change for line in lines)
    return {change.value: counts[change] for change in Change}


def _object(line: Line) -> dict[str, Any]:
    out: dict[str, Any] = {"change": line.change.value, "subject": line.subject, "requirement": line.requirement}
    if line.case:
        out["case"] = line.case
    for key, result in (("a", line.before), ("b", line.after)):
        counts = {} if line.case or result is None else {"failed": result.failed, "cases": result.cases}
        out[key] = result and {"verdict": result.verdict.value, **counts}
    return out
