"""Folds a result stream into one summary: the content of ``results.json`` and of the other reports.

The summary never mixes kinds of results. Cases that could not run, do not apply or cannot be decided are counted under
their own names. A summary of many cases names the worst of them (:func:`conformance.verdict.summarise`). A stream
without its end stays incomplete.
"""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
from collections import Counter, defaultdict
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from conformance.exit_code import ExitCode
from conformance.report.cells import Cell, CheckTotals, cell_of
from conformance.report.census import Census
from conformance.report.kinds import FailureKind, Figures, ended, kinds_of
from conformance.report.matrix import Matrix
from conformance.stream import (
    MODEL,
    SCHEMA,
    Asked,
    Block,
    CaseInfo,
    CaseVerdict,
    DeviationInfo,
    End,
    Finding,
    KnownIssue,
    LobUpdate,
    Notice,
    RequirementInfo,
    Run,
    Subject,
    Suite,
)
from conformance.verdict import FAILING, Verdict, failing_of, summarise
from conformance.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from conformance.stream import AnyRecord

RATE = "updates_per_second"  # among the totals of the last record
WITNESS = "/witness"  # suffix of the names of checks that run the witness of each listed deviation
OWNERS = ("bytes_predicted", "bytes_by_rule", "bytes_on_trust")  # of all bytes compared
COUNTERS = (
    "updates_compared",
    "updates_given_up",
    "bytes_compared",
    *OWNERS,
    "texts_compared",
    "sizes_compared",
    "mismatches",
    "deviating",
)
NO_END = "the run was broken off before its last record"
_NOTHING_LOOKED_AT = {str(Verdict.NOT_APPLICABLE), str(Verdict.NOT_RUN)}
SAMPLES_KEPT = 200  # passes whose verdict record is kept in memory


class RunOutcome(StrEnum):
    """How a run ended, in the words of the reports."""

    CONFORMANT = "conformant"
    DEVIATES = "conformant except known deviations"
    NONCONFORMANT = "nonconformant"
    COULD_NOT_RUN = "could not run"
    INCOMPLETE = "incomplete"
    REFUSED = "refused"  # every Case, by a decoder that says so
    NOTHING = "nothing judged"


class Coverage(StrEnum):
    """Whether and how a run judges a requirement of the catalogue."""

    JUDGED = "judged"
    WITHIN = "within"  # as part of another requirement
    MODEL = "model"  # on the kit's own model: no verdict about the subject
    NOT_JUDGED = "not-judged"


EXIT_CODES: dict[RunOutcome, ExitCode] = {
    RunOutcome.CONFORMANT: ExitCode.OK,
    RunOutcome.DEVIATES: ExitCode.OK,
    RunOutcome.NONCONFORMANT: ExitCode.NONCONFORMANT,
    RunOutcome.COULD_NOT_RUN: ExitCode.COULD_NOT_RUN,
    RunOutcome.INCOMPLETE: ExitCode.INCOMPLETE,
    RunOutcome.REFUSED: ExitCode.OK,
    RunOutcome.NOTHING: ExitCode.USAGE,
}


class Summary:
    """The state of a run, built from one record at a time; usable at any moment, also before the end record."""

    def __init__(self, records: Iterable[AnyRecord] = (), *, problem: str | None = None) -> None:
        self.run: Run | None = None
        self.end: End | None = None
        self.problem = problem
        self.subjects: dict[str, Subject] = {}
        self.asked: dict[str, Asked] = {}
        self.notices: Counter[Notice] = Counter()
        self.lob_updates: dict[str, LobUpdate] = {}  # by subject
        self.counters: Counter[str] = Counter()
        self.census = Census()
        self.matrix = Matrix()
        self.failures: list[CaseVerdict] = []  # failing verdicts that no listed deviation explains
        self.others: list[CaseVerdict] = []  # the rest: not run, refused, inconclusive, samples of passes ...
        self.fixed: list[CaseVerdict] = []  # listed deviations that are gone: inside their observed versions a failure
        self.findings: dict[tuple[str, str | None], Finding] = {}  # by signature; of decoders by subject as well
        self.looked_at: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        """By subject: Cases of each experiment for a requirement."""
        self.excused: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        """By subject: experiment and requirement, where it is said that there are none."""
        self._blocks: dict[tuple[str, str], CheckTotals] = {}
        self._blocks_seen: set[tuple[str, str, int | None]] = set()
        self._deviations: Counter[tuple[str, str]] = Counter()  # (id, subject): as blocks count
        self._shown: set[tuple[str, str]] = set()  # confirmed by its witness
        self._deviation_records: Counter[tuple[str, str]] = Counter()  # the same as verdict records name
        self._sampled = 0
        self._updates_differing = 0
        for record in records:
            self.add(record)

    # -- taking records -------------------------------------------------------------------------------------------

    def add(self, record: AnyRecord) -> None:
        """Take one record; ignore progress records."""
        match record:
            case Run():
                self.run = self.census.run = record
            case Subject():
                self.subjects[record.id] = record
                self.matrix.add_subject(record)
            case Suite():
                self.matrix.suites[record.name] = record
            case CaseInfo():
                self.matrix.cases[record.id] = record
            case KnownIssue():
                self.matrix.add_issue(record)
            case Asked():
                self.asked[record.subject] = record
            case Notice():
                self.notices[record] += 1
            case LobUpdate():
                self.lob_updates[record.subject] = record
            case Block():
                self._add_block(record)
            case CaseVerdict():
                self._add_verdict(record)
            case Finding():
                decoder = record.subject if record.subject in self.matrix.decoders else None
                self.findings[record.signature, decoder] = record
                self.matrix.add_finding(record)
            case End():
                self.end = record

    def _add_block(self, block: Block) -> None:
        totals = self._blocks.setdefault((block.check, block.subject), CheckTotals())
        # A block without any case says nothing: it is no reason for there being none.
        silent = bool(block.verdicts) and not block.deviating and block.verdicts.keys() <= _NOTHING_LOOKED_AT
        for requirement in block.requirements:
            key = block.experiment, requirement
            if silent:
                self.excused[block.subject].add(key)
            elif block.cases:
                self.looked_at[block.subject][key] += block.cases
        self._blocks_seen.update({(block.check, block.subject, block.block), (block.check, block.subject, None)})
        for requirement in block.requirements:
            totals.requirements[requirement].add(cell_of(block, requirement))
        totals.verdicts.update(block.verdicts)
        totals.cases += block.cases
        totals.failed += block.failures
        totals.verdicts[Verdict.DEVIATES] += block.deviating
        totals.mismatches += block.mismatches
        totals.seconds += block.seconds
        totals.blocks += 1
        for deviation, count in block.deviations.items():
            self._deviations[deviation, block.subject] += count
            if block.check.endswith(WITNESS):
                self._shown.add((deviation, block.subject))
        for name in COUNTERS:
            self.counters[name] += getattr(block, name)
        if block.updates_compared:
            self._updates_differing += block.failures
        self.census.add(block)

    def _add_verdict(self, verdict: CaseVerdict) -> None:
        decoder = self.matrix.add(verdict)
        if verdict.verdict is Verdict.DEVIATES:
            assert verdict.deviation is not None
            self._deviation_records[verdict.deviation, verdict.subject] += 1
            return
        if verdict.verdict is Verdict.FIXED:
            self.fixed.append(verdict)
        if verdict.verdict is Verdict.PASS:
            if decoder or self._sampled >= SAMPLES_KEPT:
                return
            self._sampled += 1
        (self.failures if verdict.fails else self.others).append(verdict)

    def looked_at_of(self, subject: str) -> Counter[tuple[str, str]]:
        """Cases of each experiment for a requirement, in the run of one subject: what it judged on the kit's own model
        is a part of that run, and alike in all of them."""
        runs = len(self.columns) or 1
        of_model = {key: cases // runs for key, cases in self.looked_at[MODEL].items()}
        return self.looked_at[subject] + Counter(of_model)

    # -- totals and the outcome -------------------------------------------------------------------------------------

    @property
    def complete(self) -> bool:
        """Whether the run judged its whole selection and the stream has its end."""
        return self.problem is None and self.end is not None and self.end.complete

    @property
    def incomplete_reason(self) -> str | None:
        """Why the run is incomplete, or None."""
        if self.complete:
            return None
        if self.end is not None and self.end.incomplete_reason:
            return self.end.incomplete_reason
        return self.problem or NO_END

    @property
    def exit_code(self) -> int | None:
        """The run's exit code; None if the stream has no end."""
        return None if self.end is None else self.end.exit_code

    @property
    def outcome(self) -> RunOutcome:
        """How the run ended. A proven failure outweighs missing results; the reports show both."""
        code = self.exit_code
        if self.failed or code == ExitCode.NONCONFORMANT:
            return RunOutcome.NONCONFORMANT
        if code == ExitCode.COULD_NOT_RUN:
            return RunOutcome.COULD_NOT_RUN
        if not self.complete or code == ExitCode.INCOMPLETE or self.verdicts[Verdict.NOT_RUN]:
            return RunOutcome.INCOMPLETE
        if self.verdicts[Verdict.DEVIATES]:
            return RunOutcome.DEVIATES
        if self.verdicts[Verdict.PASS] or self.verdicts[Verdict.LENIENT] or self.fixed:
            return RunOutcome.CONFORMANT
        return RunOutcome.REFUSED if self.verdicts[Verdict.REFUSED] else RunOutcome.NOTHING

    def conclude(
        self,
        *,
        seconds: float,
        incomplete_reason: str | None = None,
        could_not_run: str | None = None,
        updates_per_second: float | None = None,
    ) -> End:
        """The last record for what was counted so far, with the exit code that follows from it.

        ``could_not_run`` says why a subject, a server or the lab itself failed. ``incomplete_reason`` says why the run
        stopped early: budget, interruption, or a required rule that a full run did not exercise. The caller that ran
        the updates measures ``updates_per_second``: blocks run side by side, so their seconds do not add up.
        """
        not_run = self.verdicts[Verdict.NOT_RUN]
        reason = could_not_run or incomplete_reason or (f"{not_run:,} selected cases did not run" if not_run else None)
        code = ExitCode.COULD_NOT_RUN if could_not_run else ExitCode.INCOMPLETE if reason else ExitCode.OK
        ended = copy.copy(self)
        measured = {RATE: round(updates_per_second)} if updates_per_second else {}
        ended.end = End(
            exit_code=code, seconds=seconds, complete=reason is None, incomplete_reason=reason, totals=measured
        )
        totals = ended.to_results()["totals"]
        return dataclasses.replace(ended.end, exit_code=int(EXIT_CODES[ended.outcome]), totals=totals)

    @property
    def columns(self) -> dict[str, Subject]:
        """The servers under test; several in a matrix of versions. Replicas have no verdicts of their own."""
        return {name: subject for name, subject in self.subjects.items() if subject.role == "source"}

    @property
    def rate(self) -> float | None:
        """Updates compared per second, start-up excluded, as the end record states it."""
        rate = self.end.totals.get(RATE) if self.end else None
        return float(rate) if isinstance(rate, int | float) and rate else None

    @property
    def updates(self) -> int | None:
        """How many updates the user asked for."""
        asked = self.run.options.get("updates") if self.run else None
        return asked if isinstance(asked, int) else None

    @property
    def checks(self) -> dict[tuple[str, str], CheckTotals]:
        """The findings of each check about each subject.

        A verdict without a block counts as a case of its own, so that it is not lost. Its run died inside the block, or
        its check could not start.
        """
        orphans: defaultdict[tuple[str, str], dict[str, list[CaseVerdict]]] = defaultdict(lambda: defaultdict(list))
        for verdict in (*self.failures, *self.others):
            seen = (verdict.check, verdict.subject, verdict.block) in self._blocks_seen
            if not seen and verdict.verdict is not Verdict.PASS:
                orphans[verdict.check, verdict.subject][verdict.case].append(verdict)
        if not orphans:
            return self._blocks
        out = {key: copy.deepcopy(totals) for key, totals in self._blocks.items()}
        for key, cases in orphans.items():
            totals = out.setdefault(key, CheckTotals())
            for verdicts in cases.values():
                worst = summarise(Counter(verdict.verdict for verdict in verdicts))
                totals.cases += 1
                totals.verdicts[worst] += 1
                totals.failed += worst in FAILING
                for requirement in {name for verdict in verdicts for name in verdict.requirements}:
                    own = Counter(
                        [str(summarise(Counter(v.verdict for v in verdicts if requirement in v.requirements)))]
                    )
                    totals.requirements[requirement].add(Cell(verdicts=own, cases=1, failed=failing_of(own)))
        return out

    def kind_of(self, verdict: CaseVerdict) -> tuple[str, str | None]:
        """Return the kind of a failure: signature and decoder, as failures of two decoders are never of one kind."""
        decoder = verdict.subject if verdict.subject in self.matrix.decoders else None
        cause = self.matrix.cause_of(verdict) if decoder else None
        return cause.signature if cause else verdict.signature or verdict.case, decoder

    def kinds(self, failures: Iterable[CaseVerdict] | None = None) -> list[FailureKind]:
        """The kinds of these failures, or of all, in the order of :func:`conformance.report.kinds.kinds_of`."""
        chosen = self.failures if failures is None else failures
        return kinds_of(chosen, self.kind_of, self.findings, list(self.requirement_rows()))

    @property
    def failed(self) -> int:
        """Cases that count as failures."""
        return sum(totals.failed for totals in self.checks.values())

    @property
    def verdicts(self) -> Counter[str]:
        """Cases by verdict."""
        out: Counter[str] = Counter()
        for totals in self.checks.values():
            out.update(totals.verdicts)
        return out

    @property
    def cases(self) -> int:
        """Cases judged, or selected and not run."""
        return sum(totals.cases for totals in self.checks.values())

    def cells(self) -> dict[str, dict[str, Cell]]:
        """Requirement -> subject -> cell.

        A case belongs to all requirements of its block, its failure to those that the block names with it. Decoders
        have a record for each Case, and the matrix of these counts them.
        """
        out: dict[str, dict[str, Cell]] = defaultdict(dict)
        for (check, subject), totals in self.checks.items():
            if (check, subject) in self.matrix.checks:
                continue
            for requirement, cell in totals.requirements.items():
                out[requirement].setdefault(subject, Cell()).add(cell)
        for requirement, cells in self.matrix.cells().items():
            for subject, cell in cells.items():
                out[requirement].setdefault(subject, Cell()).add(cell)
        return dict(out)

    def requirement_rows(self) -> dict[str, tuple[RequirementInfo, Cell, dict[str, Cell]]]:
        """Every requirement of the catalogue, in its order: information, the sum, and the cell of each subject."""
        cells = self.cells()
        catalogue = dict(self.run.requirements) if self.run else {}
        for requirement in cells:
            catalogue.setdefault(requirement, RequirementInfo(title=""))
        out = {}
        for requirement, info in catalogue.items():
            total = Cell()
            for cell in cells.get(requirement, {}).values():
                total.add(cell)
            out[requirement] = (info, total, cells.get(requirement, {}))
        return out

    def digest(self) -> str:
        """SHA-256 of verdict, Cases and failures of each requirement: two runs that judge alike have the same."""
        rows = {
            name: [str(total.verdict), total.cases, total.failed]
            for name, (_, total, _) in sorted(self.requirement_rows().items())
        }
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()

    def coverage(self) -> dict[str, Coverage]:
        """Every requirement of the catalogue: judged in this run, judged as part of another one, or not judged."""
        rows = self.requirement_rows()
        nothing_said = (Verdict.NOT_APPLICABLE, Verdict.NOT_RUN)
        judged = {name for name, (_, total, _) in rows.items() if total.cases and total.verdict not in nothing_said}
        out = {}
        for name, (info, _, _) in rows.items():
            state = Coverage.MODEL if info.judged_on == MODEL else Coverage.JUDGED
            within = Coverage.MODEL if info.judged_on == MODEL else Coverage.WITHIN
            out[name] = state if name in judged else within if info.within in judged else Coverage.NOT_JUDGED
        return out

    def coverage_counts(self) -> dict[Coverage, int]:
        """How many requirements each kind of coverage has."""
        counts = Counter(self.coverage().values())
        return {state: counts[state] for state in Coverage}

    @property
    def figures(self) -> Figures:
        """The counts that every report shows."""
        rows, kinds = self.requirement_rows(), self.kinds()
        judged = [rows[name][1] for name, state in self.coverage().items() if state is Coverage.JUDGED]
        return Figures(
            requirements_judged=len(judged),
            requirements_passed=sum(cell.verdict is Verdict.PASS for cell in judged),
            requirements_failed=sum(cell.failed > 0 for cell in judged),
            kinds_failed=len(kinds),
            cases_failed=self.failed,
            updates_compared=self.counters["updates_compared"],
            updates_differing=self._updates_differing,
            ended=ended(kinds),
        )

    @property
    def trust(self) -> dict[str, str]:
        """The facts that a run took on trust, for lack of a rule, when it compared bytes: each with the part of it."""
        return self.run.trust if self.run and self.counters["bytes_compared"] else {}

    def table_findings(self) -> list[dict[str, Any]]:
        """Findings about the table of versions: rows that it claimed to know, and a server contradicted."""
        return [
            {"subject": name, "version": self.subjects[name].version if name in self.subjects else None, **row}
            for name, asked in self.asked.items()
            for row in asked.contradictions()
        ]

    def deviations(self) -> list[dict[str, Any]]:
        """Listed deviations that explained a difference, with count and reason, and those that are gone.

        ``confirmed``: seen on this version before, or shown by its witness in this run. ``failed``: gone inside the
        versions on which it was observed.

        Blocks count every deviating case. Verdict records may list only some of them, and may precede the block that
        counts them.
        """
        out: list[dict[str, Any]] = []
        for (deviation, subject), count in sorted((self._deviations | self._deviation_records).items()):
            info = self._listed(deviation)
            confirmed = (deviation, subject) in self._shown or self._is_observed(subject, info)
            entry = {"id": deviation, "subject": subject, "cases": count, "verdict": Verdict.DEVIATES.value}
            out.append({**entry, "confirmed": confirmed, "reason": info.reason, **_about(info)})
        for gone in self.fixed:
            entry = {"id": gone.deviation, "subject": gone.subject, "cases": 0, "verdict": Verdict.FIXED.value}
            about = _about(self._listed(gone.deviation or ""))
            out.append({**entry, "confirmed": False, "reason": gone.message, **about, "failed": gone.fails})
        return out

    def _listed(self, deviation: str) -> DeviationInfo:
        return (self.run.deviations if self.run else {}).get(deviation, DeviationInfo(reason=""))

    def _is_observed(self, subject: str, info: DeviationInfo) -> bool:
        known = self.subjects.get(subject)
        return (
            known is None or not info.observed or (known.version or "").partition("-")[0] in info.observed.split(", ")
        )

    # -- results.json ---------------------------------------------------------------------------------------------

    def to_results(self) -> dict[str, Any]:
        """The object of ``results.json`` (contract, design 6)."""
        run, end, coverage = self.run, self.end, self.coverage()
        return {
            "schema": SCHEMA,
            "kit": run.kit if run else __version__,
            "run": {
                "seed": run.seed if run else None,
                "profile": run.profile if run else None,
                "started": run.started if run else None,
                "seconds": round(end.seconds, 3) if end else None,
                "complete": self.complete,
                "incomplete_reason": self.incomplete_reason,
                "exit_code": self.exit_code,
                "selected": run.selected if run else 0,
                "updates": self.updates,
                "command": run.command if run else None,
            },
            "subjects": [
                {
                    "id": subject.id,
                    "role": subject.role,
                    "version": subject.version,
                    "dialect": subject.dialect,
                    "capabilities": list(subject.capabilities),
                    **({"asked": list(self.asked[subject.id].rows)} if subject.id in self.asked else {}),
                    **self._decoder(subject),
                }
                for subject in sorted(self.subjects.values(), key=lambda subject: subject.role == MODEL)
            ],
            **({"suite": _without_type(self.matrix.suite)} if self.matrix.suite else {}),
            "digest": self.digest(),
            "requirements": {
                requirement: _requirement(info, total, cells, coverage[requirement])
                for requirement, (info, total, cells) in self.requirement_rows().items()
            },
            "figures": self.figures.to_json(),
            "coverage": {state.value: count for state, count in self.coverage_counts().items()},
            "totals": {
                "cases": self.cases,
                "verdicts": {verdict.value: self.verdicts.get(verdict, 0) for verdict in Verdict},
                **{name: self.counters[name] for name in COUNTERS},
                **({RATE: round(self.rate)} if self.rate else {}),
            },
            "census": self.census.complete(),
            "failures": [_failure(verdict) for verdict in self.failures],
            "findings": [_without_type(finding) for finding in self.findings.values()],
            **({"trust": self.trust} if self.trust else {}),
            "table_findings": self.table_findings(),
            **self._noticed(),
            "deviations": self.deviations(),
        }

    def _noticed(self) -> dict[str, Any]:
        """Return the part of ``results.json`` about the surroundings of the run."""
        rows = [{**_without_type(notice), "count": count} for notice, count in self.notices.items()]
        return {"notices": rows} if rows else {}

    def _decoder(self, subject: Subject) -> dict[str, Any]:
        """Return the part of ``results.json`` for a decoder: facts, Cases by verdict, and distinct defects."""
        facts = {name: getattr(subject, name) for name in ("name", "language", "url", "spec", "unavailable")}
        out: dict[str, Any] = {name: value for name, value in facts.items() if value}
        if subject.id in self.matrix.verdicts:
            counts = self.matrix.counts(subject.id)
            out["verdicts"] = {verdict.value: counts[verdict] for verdict in Verdict if counts[verdict]}
            out["support"] = dataclasses.asdict(self.matrix.support(subject.id))
            out["defects"] = [
                {
                    "signature": defect.signature,
                    "verdict": defect.first.verdict.value,
                    "requirement": defect.requirement,
                    "cases": defect.counted,
                    "smallest": defect.first.case,
                    **({"behind": defect.behind} if defect.behind else {}),
                    **({"reason": defect.finding.reason} if defect.finding and defect.finding.reason else {}),
                    **({"issues": [issue.issue for issue in defect.issues]} if defect.issues else {}),
                }
                for defect in self.matrix.defects(subject.id)
            ]
        return out


def _about(info: DeviationInfo) -> dict[str, Any]:
    about = {"versions": info.versions, "observed": info.observed, "ends": info.ends}
    return {"requirements": list(info.requirements), **about}


def _requirement(info: RequirementInfo, total: Cell, cells: dict[str, Cell], coverage: Coverage) -> dict[str, Any]:
    judged_elsewhere = not total.cases and info.within is not None and coverage is not Coverage.NOT_JUDGED
    out: dict[str, Any] = {
        "verdict": Coverage.WITHIN.value if judged_elsewhere else total.verdict.value,
        "cases": total.cases,
        "failed": total.failed,
        "basis": info.basis,
        "title": info.title,
        "level": info.level,
        **{
            name: value
            for name, value in (
                ("group", info.group),
                ("source", info.source),
                ("allowed", info.allowed),
                ("needs", list(info.needs)),
                ("within", info.within),
                ("finite", info.finite),
                ("judged_on", info.judged_on if info.judged_on != "server" else None),
            )
            if value
        },
    }
    if info.reason:
        out["reason"] = info.reason
    elif not total.cases:
        out["reason"] = "no case of it was selected"
    out["subjects"] = {
        subject: {
            "verdict": cell.verdict.value,
            "cases": cell.cases,
            "failed": cell.failed,
            "not_run": cell.not_run,
            "deviations": cell.deviations,
        }
        for subject, cell in cells.items()
    }
    return out


def _failure(verdict: CaseVerdict) -> dict[str, Any]:
    data = _without_type(verdict)
    data.pop("evidence", None)  # bytes are in run.jsonl and the page
    return data


def _without_type(record: CaseVerdict | Finding | Suite | Notice) -> dict[str, Any]:
    data = record.to_json()
    del data["type"]
    return data


def write_results(summary: Summary, path: Path) -> None:
    """Write ``results.json``; the caller puts it into place."""
    path.write_text(json.dumps(summary.to_results(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
