"""Problems of one block of a check as records of the stream: a verdict for each of the first, and the counts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from conformance.cases.files import case_id, dump_case
from conformance.requirements.versions import in_observed_range
from conformance.stream import Block, CaseVerdict, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.cases.update_case import UpdateCase
    from conformance.harness.lab import Lab

_SHOWN: Final = 5  # problems of a block with a record of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is not as it must be. ``deviation``: id of the listed deviation that explains it."""

    field: str
    expected: str
    got: str
    message: str
    statements: tuple[str, ...] = ()
    deviation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a block of a check found. ``verdict`` is that of its problems; ``replay`` shows them again. ``listed``: how
    many cases differ only as the documentation says they must, by its words; their verdict is ``info``."""

    check: str
    requirement: str
    block: int
    cases: int
    problems: Sequence[Problem] = ()
    listed: Mapping[str, int] = field(default_factory=dict)
    verdict: Verdict = Verdict.FAIL
    case: UpdateCase | None = None
    replay: str | None = None
    texts: int = 0
    seconds: float = 0.0


def record(lab: Lab, outcome: Outcome) -> int:
    """Write the records; the number of problems that count as failures."""
    failing = [problem for problem in outcome.problems if problem.deviation is None]
    deviating = len(outcome.problems) - len(failing)
    counts = outcome.verdict is not Verdict.DIFFERS or in_observed_range(lab.version)
    identity, stored = f"{outcome.check}/{outcome.block}", None
    if outcome.case is not None and outcome.problems:
        identity = case_id(outcome.case)
        path = lab.store(dump_case(replace(outcome.case, id=identity)))
        stored = None if path is None else str(path)
    for problem in (*failing[:_SHOWN], *(item for item in outcome.problems if item.deviation)):
        lab.sink(
            CaseVerdict(
                case=identity,
                requirement=outcome.requirement,
                verdict=outcome.verdict,
                subject=lab.subject,
                check=outcome.check,
                block=outcome.block,
                field=problem.field,
                expected=problem.expected,
                got=problem.got,
                message=problem.message,
                signature=f"{outcome.check}:{problem.deviation or problem.message}",
                replay=outcome.replay,
                statements=problem.statements,
                deviation=problem.deviation,
                case_file=stored,
            )
        )
    for words, count in outcome.listed.items():
        lab.sink(
            CaseVerdict(
                case=identity,
                requirement=outcome.requirement,
                verdict=Verdict.INFO,
                subject=lab.subject,
                check=outcome.check,
                block=outcome.block,
                field=words,
                got=f"{count} of {outcome.cases}",
                message=words,
                signature=f"{outcome.check}:{words}",
            )
        )
    # A block may have more problems than cases: every line of a text can be wrong.
    wrong = min(len(failing), outcome.cases)
    listed = sum(outcome.listed.values())
    passed = max(0, outcome.cases - wrong - deviating - listed)
    verdicts = {str(Verdict.PASS): passed, str(outcome.verdict): wrong, str(Verdict.INFO): listed}
    lab.sink(
        Block(
            check=outcome.check,
            subject=lab.subject,
            requirements=(outcome.requirement,),
            block=outcome.block,
            cases=outcome.cases,
            verdicts={name: count for name, count in verdicts.items() if count},
            failed=None if counts else 0,
            texts_compared=outcome.texts,
            mismatches=wrong,
            deviating=deviating,
            deviations=_by_id(outcome.problems),
            seconds=outcome.seconds,
        )
    )
    return len(failing) if counts else 0


def _by_id(problems: Sequence[Problem]) -> dict[str, int]:
    out: dict[str, int] = {}
    for problem in problems:
        if problem.deviation is not None:
            out[problem.deviation] = out.get(problem.deviation, 0) + 1
    return out
