"""Cases by decoders: each subject's verdicts and distinct defects, in the order in which reports show them.

A requirement counts the Cases that name it. A Case that failed counts under one requirement alone, that of its defect,
or of its verdict where no defect was found: about its other requirements it decides nothing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.report.cells import Cell
from conformance.stream import DECODER, CaseInfo, CaseVerdict
from conformance.verdict import FAILING, SEVERITY, Verdict, summarise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.stream import Finding, KnownIssue, Subject, Suite

SUBJECTS_DIR: Final = "subjects"  # the directory of a report that holds a page for each decoder
CALM: Final = frozenset({Verdict.PASS, Verdict.NOT_APPLICABLE})  # a row of these alone is no anomaly
SHRUNK: Final = "shrunk"  # the group of Cases that a run makes out of those of the suite
_NO_NAME: Final = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One Case and the verdict of each subject that has one."""

    info: CaseInfo
    verdicts: dict[str, CaseVerdict]

    @property
    def worst(self) -> Verdict:
        """The worst verdict of the row."""
        return min((verdict.verdict for verdict in self.verdicts.values()), key=SEVERITY.index, default=Verdict.NOT_RUN)

    @property
    def anomalies(self) -> int:
        """Subjects that neither pass the Case nor are excluded from it."""
        return sum(verdict.verdict not in CALM for verdict in self.verdicts.values())


@dataclass(frozen=True, slots=True)
class Defect:
    """The Cases of one subject that fail for one cause. ``cases`` begin with the worst verdict and the smallest log.

    Each failing Case stands in one defect. ``behind``: how many more Cases show this one behind another.
    """

    signature: str
    cases: tuple[CaseVerdict, ...]
    info: CaseInfo
    finding: Finding | None = None
    issues: tuple[KnownIssue, ...] = ()

    @property
    def first(self) -> CaseVerdict:
        """The verdict about the smallest Case."""
        return self.cases[0]

    @property
    def alone(self) -> bool:
        """Whether no Case of the suite counts for it: Cases show it behind other defects only."""
        return self.info.group == SHRUNK

    @property
    def counted(self) -> int:
        """Cases of the suite that count for it."""
        return 0 if self.alone else len(self.cases)

    @property
    def behind(self) -> int:
        """Cases that show it behind another defect."""
        return self.finding.behind if self.finding else 0

    @property
    def requirement(self) -> str:
        """The requirement of the cause, or else that of the smallest Case's verdict."""
        own = self.finding.requirement if self.finding and self.finding.cases else None
        return own or self.first.requirement


@dataclass(frozen=True, slots=True)
class Support:
    """All Cases of a suite as a user sees them: read as they should be, not supported, wrong, or not decided."""

    supported: int = 0
    unsupported: int = 0
    wrong: int = 0
    undecided: int = 0

    @property
    def total(self) -> int:
        """All Cases, those that do not apply included."""
        return self.supported + self.unsupported + self.wrong + self.undecided


def support_of(counts: Mapping[Verdict, int]) -> Support:
    """Return what is supported and what is not, of Cases by verdict."""
    supported = sum(counts.get(verdict, 0) for verdict in (Verdict.PASS, Verdict.LENIENT))
    unsupported = sum(counts.get(verdict, 0) for verdict in (Verdict.REFUSED, Verdict.NOT_APPLICABLE))
    wrong = sum(counts.get(verdict, 0) for verdict in FAILING)
    return Support(supported, unsupported, wrong, sum(counts.values()) - supported - unsupported - wrong)


@dataclass(slots=True)
class Matrix:
    """Filled record by record. It is false while there is no Case or no decoder."""

    suites: dict[str, Suite] = field(default_factory=dict)  # by name, in the order in which they were told
    cases: dict[str, CaseInfo] = field(default_factory=dict)
    decoders: dict[str, Subject] = field(default_factory=dict)  # id -> record; also those that could not be had
    verdicts: dict[str, dict[str, CaseVerdict]] = field(default_factory=dict)  # subject -> case -> the worst verdict
    checks: set[tuple[str, str]] = field(default_factory=set)  # check and subject whose verdicts stand here
    issues: list[KnownIssue] = field(default_factory=list)
    findings: dict[str, dict[str, Finding]] = field(default_factory=dict)  # subject -> signature -> finding
    _causes: dict[tuple[str, str], Finding] = field(default_factory=dict)  # of a subject and a Case

    @property
    def suite(self) -> Suite | None:
        """The first suite of the run."""
        return next(iter(self.suites.values()), None)

    def __bool__(self) -> bool:
        return bool(self.cases and self.decoders)

    def add_subject(self, subject: Subject) -> None:
        """Take a subject, if it is a decoder."""
        if subject.role == DECODER:
            self.decoders[subject.id] = subject

    def add_issue(self, issue: KnownIssue) -> None:
        """Take a public report, once."""
        if issue not in self.issues:
            self.issues.append(issue)

    def add_finding(self, finding: Finding) -> None:
        """Take a defect of a decoder; any other finding is left out."""
        if finding.subject not in self.decoders:
            return
        self.findings.setdefault(finding.subject, {})[finding.signature] = finding
        self._causes.update({(finding.subject, case): finding for case in finding.cases})

    def cause_of(self, verdict: CaseVerdict) -> Finding | None:
        """The defect that a decoder's Case counts for; one without a list of Cases has those of its signature."""
        known = self._causes.get((verdict.subject, verdict.case))
        if known is None and verdict.signature:
            known = self.findings.get(verdict.subject, {}).get(verdict.signature)
            return None if known is not None and known.cases else known
        return known

    def add(self, verdict: CaseVerdict) -> bool:
        """Take a verdict about a Case of the suite; false for any other."""
        if verdict.case not in self.cases or verdict.subject not in self.decoders:
            return False
        own = self.verdicts.setdefault(verdict.subject, {})
        known = own.get(verdict.case)
        if known is None or SEVERITY.index(verdict.verdict) < SEVERITY.index(known.verdict):
            own[verdict.case] = verdict
        self.checks.add((verdict.check, verdict.subject))
        return True

    def holds(self, verdict: CaseVerdict) -> bool:
        """Whether the matrix shows this verdict, or a worse one about the same Case and subject."""
        return verdict.case in self.verdicts.get(verdict.subject, ())

    def shows(self, subject: Subject) -> bool:
        """Whether the subject is a decoder of the matrix, and no column of the other tables."""
        return bool(self) and subject.id in self.decoders

    @property
    def judged(self) -> list[Subject]:
        """The subjects with a verdict, in the order of the run."""
        return [subject for name, subject in self.decoders.items() if name in self.verdicts]

    @property
    def absent(self) -> list[Subject]:
        """The subjects without any verdict: each says why."""
        return [subject for name, subject in self.decoders.items() if name not in self.verdicts] if self.cases else []

    def names(self) -> dict[str, str]:
        """A short name for each subject, fit for a file: without the version, unless two subjects share it."""
        short = {subject.id: _file_name(base_name(subject)) for subject in self.decoders.values()}
        shared = Counter(name.lower() for name in short.values())
        out: dict[str, str] = {}
        for id_, name in short.items():
            wanted = name if shared[name.lower()] == 1 else _file_name(id_)
            taken = {other.lower() for other in out.values()}
            number = 2
            while wanted.lower() in taken:
                wanted, number = f"{_file_name(id_)}-{number}", number + 1
            out[id_] = wanted
        return out

    def counts(self, subject: str) -> Counter[Verdict]:
        """Cases of one subject by verdict."""
        return Counter(verdict.verdict for verdict in self.verdicts.get(subject, {}).values())

    def support(self, subject: str) -> Support:
        """The Cases of one subject by what a user has of them."""
        return support_of(self.counts(subject))

    def worst(self, subject: str) -> Verdict:
        """One verdict for all Cases of a subject."""
        return summarise({verdict.value: count for verdict, count in self.counts(subject).items()})

    def rows(self) -> list[CaseRow]:
        """The Cases with any verdict; anomalies first: the worst, then those that most subjects have."""
        rows = [
            CaseRow(info, {name: own[case] for name, own in self.verdicts.items() if case in own})
            for case, info in self.cases.items()
        ]
        return sorted(
            (row for row in rows if row.verdicts),
            key=lambda row: (not row.anomalies, SEVERITY.index(row.worst), -row.anomalies, row.info.id),
        )

    def cells(self) -> dict[str, dict[str, Cell]]:
        """Requirement -> subject -> cell."""
        out: dict[str, dict[str, Cell]] = {}
        for subject, own in self.verdicts.items():
            for case, verdict in own.items():
                named = self.cases[case].requirements if verdict.verdict in CALM else (self._broken(verdict),)
                for requirement in named or (verdict.requirement,):
                    cell = out.setdefault(requirement, {}).setdefault(subject, Cell())
                    cell.verdicts[verdict.verdict] += 1
                    cell.cases += 1
                    cell.failed += verdict.fails
        return dict(sorted(out.items(), key=lambda item: _numbered(item[0])))

    def _broken(self, verdict: CaseVerdict) -> str:
        """The requirement that a failed Case counts under: that of its cause."""
        cause = self.cause_of(verdict)
        return (cause.requirement if cause and cause.cases else None) or verdict.requirement

    def _rank(self, verdict: CaseVerdict, finding: Finding | None) -> tuple[object, ...]:
        """The order of a defect's Cases: the worst verdict, the one that the finding was made of, the smallest."""
        chosen = finding is not None and finding.case == verdict.case
        return SEVERITY.index(verdict.verdict), not chosen, self.cases[verdict.case].size, verdict.case

    def defects(self, subject: str) -> list[Defect]:
        """The distinct defects of a subject, worst first. Passes and exclusions are none."""
        grouped: defaultdict[tuple[str, bool], list[CaseVerdict]] = defaultdict(list)
        for verdict in self.verdicts.get(subject, {}).values():
            if verdict.verdict not in CALM:
                cause = self.cause_of(verdict)
                signature = verdict.signature or f"{verdict.requirement}/{verdict.verdict}"
                name = cause.signature if cause else signature
                grouped[name, verdict.verdict is Verdict.INCONCLUSIVE].append(verdict)
        findings = self.findings.get(subject, {})
        out = []
        for (signature, _), members in grouped.items():
            finding = findings.get(signature)
            members.sort(key=lambda one, known=finding: self._rank(one, known))  # type: ignore[misc]
            info = self.cases[members[0].case]
            issues = self._issues(subject, {self._broken(member) for member in members}, signature)
            out.append(Defect(signature, tuple(members), info, finding, issues))
        for signature, finding in findings.items():
            if (signature, False) not in grouped and (signature, True) not in grouped and finding.verdict is not None:
                verdict, info = _alone(finding, subject)
                issues = self._issues(subject, {verdict.requirement}, signature)
                out.append(Defect(signature, (verdict,), info, finding, issues))
        return sorted(out, key=lambda one: (SEVERITY.index(one.first.verdict), -one.counted, one.signature))

    def accusations(self, subject: str) -> list[Defect]:
        """The distinct defects that may be said of a subject: without those that nothing has shown of it alone."""
        return [defect for defect in self.defects(subject) if defect.first.verdict is not Verdict.INCONCLUSIVE]

    def _issues(self, subject: str, requirements: set[str], signature: str) -> tuple[KnownIssue, ...]:
        """Public reports of this defect; those that name its signature are all, if there are any."""
        own = self.issues_of(subject)
        exact = tuple(issue for issue in own if any(signature.startswith(part) for part in issue.signatures))
        return exact or tuple(
            issue for issue in own if not issue.signatures and requirements.intersection(issue.requirements)
        )

    def issues_of(self, subject: str) -> list[KnownIssue]:
        """Public reports about a subject, in all its versions."""
        names = {subject, base_name(self.decoders[subject])}
        return [issue for issue in self.issues if issue.subject in names]


def _alone(finding: Finding, subject: str) -> tuple[CaseVerdict, CaseInfo]:
    """A finding that no Case of the suite shows first, as verdict and Case."""
    assert finding.verdict is not None
    name = finding.case or finding.signature
    requirement = finding.requirement or ""
    verdict = CaseVerdict(
        case=name, requirement=requirement, verdict=finding.verdict, subject=subject, check=finding.check or "",
        field=finding.field, expected=finding.expected, got=finding.got, kind=finding.kind,
        message=finding.message, signature=finding.signature, replay=finding.replay, program=finding.program,
        proof=finding.proof,
    )  # fmt: skip
    info = CaseInfo(
        id=name, title=finding.title, why=finding.why, group=SHRUNK, requirements=(requirement,),
        size=finding.size_after or 0,
    )  # fmt: skip
    return verdict, info


def base_name(subject: Subject) -> str:
    """The subject's name without its version."""
    if subject.name:
        return subject.name
    for joint in ("-", "@", " ", ":"):
        if subject.version and subject.id.endswith(f"{joint}{subject.version}"):
            return subject.id.removesuffix(f"{joint}{subject.version}")
    return subject.id


def issue_url(issue: KnownIssue) -> str:
    """The address of a public report."""
    repository, _, number = issue.issue.partition("#")
    return f"https://github.com/{repository}/issues/{number}"


def _file_name(text: str) -> str:
    return _NO_NAME.sub("-", text).strip("-.") or "subject"


def _numbered(requirement: str) -> tuple[str, int, str]:
    """The sort key of an id: DEC9 before DEC10."""
    head = requirement.rstrip("0123456789.")
    number = re.match(r"\d+", requirement[len(head) :])
    return head, int(number[0]) if number else 0, requirement
