"""The only writer of result records: blocks, verdicts of cases, and findings.

A check opens a block, reports differences, and leaves it. The block counts cases, limits the verdicts shown, and stores
the Case. It knows whether a difference counts as a failure on this version.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.files import case_id, dump_case
from conformance.harness import findings
from conformance.harness.findings import StoredCase
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.requirements.versions import in_observed_range
from conformance.servers.recording.tape import NoAnswer
from conformance.stream import MODEL, Block, CaseVerdict, Finding, Notice
from conformance.verdict import SEVERITY, Verdict, failing_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from conformance.cases.update_case import UpdateCase
    from conformance.harness.session import Lab
    from conformance.judge.problem import Problem
    from conformance.requirements.versions import Version
    from conformance.stream import AnyRecord

_REASONS: Final = 5  # reasons that the failure of a check names


@dataclass(slots=True)
class Failures:
    """The failures that make a check fail at its end."""

    count: int = 0
    reasons: dict[str, None] = field(default_factory=dict)

    def add(self, reason: str, count: int = 1) -> None:
        """Count failures; ``reason`` is a sentence for the end of the check."""
        self.count += count
        self.reasons[reason] = None

    def __str__(self) -> str:
        reasons = list(self.reasons)
        more = f"; and {len(reasons) - _REASONS} more" if len(reasons) > _REASONS else ""
        return f"{self.count} failed: {'; '.join(reasons[:_REASONS])}{more}; see the report"


@dataclass(slots=True, kw_only=True)
class BlockRecord:
    """One block of cases while it is judged; leaving the context writes its record, unless an error was raised.

    ``cases``: their number; cases without a verdict passed. ``None``: as many as were counted. ``verdict``: for
    differences. ``case``: the Case to store where something differs; ``replays``: ``binlog-lab replay`` judges it as
    the block does. ``replay``: another command that shows the block again.
    """

    check: Recorder
    requirements: tuple[str, ...]
    number: int
    cases: int | None
    verdict: Verdict
    version: Version | None = None  # whose observed behaviour decides whether a mere difference counts
    case: UpdateCase | None = None
    replay: str | None = None
    replays: bool = False
    seconds: float | None = None  # measured, if not given
    figures: dict[str, Any] = field(default_factory=dict)  # further fields of the record: texts_compared, census ...
    _begun: float = 0.0
    _verdicts: Counter[Verdict] = field(default_factory=Counter)
    _deviations: Counter[str] = field(default_factory=Counter)
    _broken: dict[str, Counter[Verdict]] = field(default_factory=dict)  # of a block about several requirements
    _broken_failed: Counter[str] = field(default_factory=Counter)
    _uncounted: int = 0  # differing cases that are no failures
    _counted: int = 0  # failures that the verdict alone does not show
    _shown: int = 0
    _seen: Counter[str] = field(default_factory=Counter)
    _stored: StoredCase | None = None

    # --- what a check says ---------------------------------------------------------------------------------------

    def differs(self, *problems: Problem, verdict: Verdict | None = None, signature: str = "") -> None:
        """Record problems: each is a case that is wrong, or that a listed deviation explains."""
        verdict = verdict or self.verdict
        for problem in problems:
            self.count(verdict, deviation=problem.deviation, reason=problem.message, broken=problem.requirements)
            self._shown += problem.deviation is None
            if problem.deviation is None and self._shown > findings.SHOWN_OF_BLOCK:
                continue
            self.show(
                verdict,
                field=problem.field,
                expected=problem.expected,
                got=problem.got,
                message=problem.message,
                signature=signature or f"{self.check.id}:{problem.deviation or problem.message}",
                statements=problem.statements,
                deviation=problem.deviation,
                broken=problem.requirements,
                **self._store().fields,
            )

    def info(self, counts: dict[str, int]) -> None:
        """Record cases that differ only as the documentation says they may, in its words."""
        for words, count in counts.items():
            self.count(Verdict.INFO, count, broken=self.requirements)
            self.show(
                Verdict.INFO,
                case=self._name if self._stored is None else self._stored.id,
                field=words,
                got=f"{count} of {self.cases}",
                message=words,
                signature=f"{self.check.id}:{words}",
            )

    def judged(self, verdict: Verdict, message: str, *, record: bool = True, **fields: Any) -> None:
        """Record one verdict about all cases of the block. ``record``: whether to show it, also when it is a pass."""
        cases = self.cases or 0
        self.count(verdict, cases, reason=message, broken=self.requirements)
        if record:
            signature = fields.pop("signature", f"{self.check.id}:{message}")
            self.show(verdict, message=message, signature=signature, **fields)

    def inconclusive(self, reason: str) -> None:
        """Record that the evidence of the block cannot decide about any of its cases."""
        self.judged(Verdict.INCONCLUSIVE, reason)

    # --- what experiments with verdicts of their own use ---------------------------------------------------------

    def count(
        self,
        verdict: Verdict,
        number: int = 1,
        *,
        deviation: str | None = None,
        failed: bool | None = None,
        reason: str = "",
        broken: Sequence[str] = (),
    ) -> None:
        """Count cases. ``deviation``: the listed one that explains them. ``failed``: whether they are failures, where
        the verdict alone does not say. ``reason``: the failing check's sentence at its end. ``broken``: the
        requirements that they are about, in a block about several; without them, all."""
        if deviation is not None:
            self._deviations[deviation] += number
            self._attribute(Verdict.DEVIATES, number, broken, failed=False)
            return
        self._verdicts[verdict] += number
        if failed is None:
            failed = verdict.failing and (
                verdict is not Verdict.DIFFERS or in_observed_range(self.version or self.check.lab.version)
            )
        if failed:
            self.check.failures.add(reason or str(verdict), number)
        self._attribute(verdict, number, broken, failed=failed)
        self._counted += number * (failed and not verdict.failing)
        self._uncounted += number * (verdict.failing and not failed)

    def _attribute(self, verdict: Verdict, number: int, broken: Sequence[str], *, failed: bool) -> None:
        """Count cases for each requirement that they are about. Where a case names none, none of them is green."""
        if len(self.requirements) == 1 or verdict is Verdict.PASS:
            return
        if not set(broken) <= set(self.requirements):
            raise ValueError(f"{self.check.id}: a case names {broken}, expected some of {self.requirements}")
        for requirement in broken or self.requirements:
            self._broken.setdefault(requirement, Counter())[verdict] += number
            self._broken_failed[requirement] += number * failed

    def judge(self, verdict: Verdict, message: str, *, signature: str, deviation: str | None = None) -> bool:
        """Count one case with a verdict of its own; returns whether to show it: one of the first of its signature."""
        self.count(verdict, deviation=deviation, reason=message)
        if verdict is Verdict.PASS:
            return False
        self._seen[signature] += 1
        return self._seen[signature] <= findings.ALIKE

    def show(self, verdict: Verdict, **fields: Any) -> None:
        """Write the verdict of one case; ``fields`` are those of the record. What a case of the update campaign breaks
        there is all about the one requirement of another check."""
        broken = fields.pop("broken", ())
        if len(self.requirements) == 1:
            broken = ()
        if len(broken) > 1:
            fields["broken"] = tuple(broken)
        requirement = fields.get("requirement") or (broken or self.requirements)[0]
        if fields.get("replay") is None and (verdict.failing or fields.get("deviation")):
            fields["replay"] = self.check.lab.settings.again(requirement)
        defaults = {"case": self._name, "requirement": requirement}
        self.check.write(
            CaseVerdict(
                verdict=verdict,
                subject=self.subject,
                check=self.check.id,
                block=self.number,
                **{**defaults, **fields},
            )
        )

    def find(
        self, signature: str, stored: StoredCase, shrink: Callable[[float], dict[str, Any] | None] | None, **fields: Any
    ) -> None:
        """Make the first failure of its signature a finding, where the run keeps its Case.

        ``shrink`` gives the data of a smaller Case that shows the same, within so many seconds; ``None`` without one.
        """
        policy = self.check.lab.findings
        if stored.path is None or not policy.first(f"finding:{signature}"):
            return
        small = stored
        if shrink is not None and policy.shrinks(self.check.id):
            self.check.lab.narrate(f"shrinking {stored.path.name} ({signature})")
            with suppress(NoAnswer):  # a recording made before this failure was known has no smaller Cases
                data = shrink(findings.SECONDS)
                small = stored if data is None else policy.store(data)
        sizes = {"size_before": stored.size, "size_after": small.size}
        about = {"subject": self.subject, "requirement": self.requirements[0]}
        self.check.found(signature, small, **{**sizes, **about, **fields})

    def compared(self, **figures: Any) -> None:
        """Add figures to the block's record, by the names of its fields."""
        self.figures.update(figures)

    def exercised(self, rules: Mapping[str, str], counts: Mapping[str, int]) -> None:
        """Add the experiment's own rules of the census, with their sentences, and how often the block exercised each:
        a rule that ``counts`` lacks was not exercised."""
        known, counted = self.figures.get("census_rules", {}), Counter(self.figures.get("census", {}))
        counted.update({**dict.fromkeys(rules, 0), **counts})
        self.compared(census_rules={**known, **rules}, census=dict(counted))

    # --- the record ----------------------------------------------------------------------------------------------

    @property
    def subject(self) -> str:
        """Who is judged: the server under test, or the kit's own model. One block never is about both."""
        of_server, of_model = _apart(self.requirements)
        if of_server and of_model:
            raise ValueError(f"{self.check.id}: a block about {self.requirements} is about a server and the model")
        return MODEL if of_model else self.check.subject

    @property
    def _name(self) -> str:
        return f"{self.check.id}/{self.number}"

    def _store(self) -> StoredCase:
        """The block's Case; the first call stores it."""
        if self._stored is None:
            stored = StoredCase(self._name)
            if self.case is not None:
                stored = self.check.lab.findings.store(dump_case(replace(self.case, id=case_id(self.case))))
            self._stored = stored if self.replays and stored.path else replace(stored, replay=self.replay)
        return self._stored

    def __enter__(self) -> Self:
        self._begun = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Failures that were found stay found, whatever the check cannot go on with behind them.
        if kind is None or any(verdict.failing for verdict in self._verdicts):
            self.check.write(self._record())

    def _record(self) -> Block:
        deviating = self._deviations.total()
        cases = self._verdicts.total() + deviating if self.cases is None else self.cases
        verdicts = _at_most(cases, self._verdicts)
        verdicts[Verdict.PASS] += max(0, cases - verdicts.total() - deviating)
        failing = failing_of(verdicts)
        failed = max(0, failing - self._uncounted) + self._counted
        broken = {name: _at_most(cases, counts) for name, counts in self._broken.items()}
        broken_failed = {name: min(cases, self._broken_failed[name]) for name in broken}
        return Block(
            check=self.check.id,
            subject=self.subject,
            requirements=self.requirements,
            block=self.number,
            cases=cases,
            verdicts=_written(verdicts),
            failed=None if failed == failing else failed,
            mismatches=failing,
            deviating=deviating,
            deviations=dict(self._deviations),
            broken={name: _written(counts) for name, counts in broken.items()},
            broken_failed={name: n for name, n in broken_failed.items() if n != failing_of(broken[name])},
            seconds=time.perf_counter() - self._begun if self.seconds is None else self.seconds,
            **self.figures,
        )


def _at_most(cases: int, counts: Counter[Verdict]) -> Counter[Verdict]:
    """The counts, worst first, of no more cases than there are: every line of one text can be wrong."""
    found: Counter[Verdict] = Counter()
    for verdict in sorted(counts, key=SEVERITY.index):
        found[verdict] = min(counts[verdict], cases - found.total())
    return found


def _apart(requirements: Iterable[str]) -> tuple[list[str], list[str]]:
    """The requirements that are judged on a subject, and those that are judged on the kit's own model."""
    out: tuple[list[str], list[str]] = [], []
    for name in requirements:
        out[name in REQUIREMENTS and REQUIREMENTS[name].judged_on == MODEL].append(name)
    return out


def _written(counts: Mapping[Verdict, int]) -> dict[str, int]:
    return {str(verdict): count for verdict, count in counts.items() if count}


class Recorder:
    """The writer of one check's records: under its id, about its requirements."""

    def __init__(
        self, lab: Lab, name: str, requirements: Iterable[str] = (), *, failures: Failures | None = None
    ) -> None:
        self.lab = lab
        self.id = name
        self.requirements = tuple(requirements)
        self.failures = Failures() if failures is None else failures

    @property
    def subject(self) -> str:
        """The name of the server under test in the stream."""
        return self.lab.subject

    def named(self, name: str, *requirements: str) -> Self:
        """A recorder with another check id, whose failures count for this check. Without ``requirements``: those of
        this one."""
        return type(self)(self.lab, name, requirements or self.requirements, failures=self.failures)

    def part(self, name: str, *requirements: str) -> Self:
        """A recorder with this check's id and a name behind it."""
        return self.named(f"{self.id}/{name}", *requirements)

    def block(
        self,
        number: int = 0,
        *,
        cases: int | None = 0,
        requirement: str = "",
        requirements: Sequence[str] = (),
        verdict: Verdict = Verdict.FAIL,
        version: Version | None = None,
        case: UpdateCase | None = None,
        replay: str | None = None,
        replays: bool = False,
        seconds: float | None = None,
        **figures: Any,
    ) -> BlockRecord:
        """A block of cases as a context; see :class:`BlockRecord`. ``cases`` can be set inside as well."""
        return BlockRecord(
            check=self,
            requirements=(requirement,) if requirement else tuple(requirements) or self.requirements,
            number=number,
            cases=cases,
            verdict=verdict,
            version=version,
            case=case,
            replay=replay,
            replays=replays,
            seconds=seconds,
            figures=figures,
        )

    def record(self, number: int = 0, problems: Iterable[Problem] = (), **options: Any) -> None:
        """Record a block that is judged already: :meth:`block` with its problems, all at once."""
        with self.block(number, **options) as block:
            block.differs(*problems)

    def write(self, record: AnyRecord) -> None:
        """Write a record to the stream."""
        self.lab.sink(record)

    def found(self, signature: str, stored: StoredCase, **fields: Any) -> None:
        """Write a finding: the smallest Case that shows this failure."""
        about = {"subject": self.subject, "check": self.id, **stored.fields}
        self.write(Finding(signature=signature, **{**about, **fields}))

    def notice(self, kind: str, message: str) -> None:
        """Record a fact about the surroundings, which is no verdict."""
        self.write(Notice(subject=self.subject, kind=kind, message=message, check=self.id))

    def clock_was_set(self, step: int, block: int) -> None:
        """Record that a server's clock was set during a block, by so many microseconds; nothing if it ran on."""
        if step:
            words = "its times are judged as those of before and of behind that"
            self.notice("clock-step", f"a server's clock was set by {step / 1e6:+,.3f} s during block {block}; {words}")

    def not_applicable(self, reason: str, *requirements: str) -> None:
        """Record that the subject's own features exclude this check, or some requirements of it."""
        for requirement in requirements or self.requirements:
            with self.block(cases=1, requirement=requirement, seconds=0.0) as block:
                block.count(Verdict.NOT_APPLICABLE)
                block.show(Verdict.NOT_APPLICABLE, case=self.id, message=reason)

    def not_run(self, reason: str) -> None:
        """Record that the check was selected and has no result."""
        for requirements in filter(None, _apart(self.requirements)):
            with self.block(cases=1, requirements=requirements, seconds=0.0) as block:
                block.count(Verdict.NOT_RUN, broken=requirements)
                for requirement in requirements:
                    block.show(Verdict.NOT_RUN, case=self.id, requirement=requirement, message=reason)
