"""Passing: records of blocks as rooms write them that do not use the recorder yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.harness.check import Check
from conformance.judge.problem import Problem
from conformance.stream import Verdict

__all__ = ["Outcome", "Problem", "record"]

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.cases.update_case import UpdateCase
    from conformance.harness.session import Lab


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a block of a check found."""

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
    check = Check(lab, outcome.check, (outcome.requirement,))
    with check.block(
        outcome.block,
        cases=outcome.cases,
        verdict=outcome.verdict,
        case=outcome.case,
        replay=outcome.replay,
        seconds=outcome.seconds,
        texts_compared=outcome.texts,
    ) as block:
        block.differs(*outcome.problems)
        block.info(dict(outcome.listed))
    return check.failures.count
