"""The judge of a replica whose table differs: it applied the event as observed, or stopped with the number and changed
nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.checks.replica_schema.case import states
from conformance.judge.damage.applier import broken_stop
from conformance.judge.damage.diverged import JudgedOutcome, show
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.cases.by_hand.applier_transaction import ApplierOutcome
    from conformance.cases.by_hand.injection import RowState
    from conformance.checks.replica_schema.case import ReplicaSchema


def judge(case: ReplicaSchema, outcome: ApplierOutcome, verdict: Verdict) -> JudgedOutcome:
    """Judge one Case. ``verdict``: the verdict for an outcome that is wrong and leaves the replica sound, by
    the basis of the requirement."""
    broken = broken_stop(outcome)
    if broken is not None:
        return broken
    held = states(case.replica, case.held)
    if outcome.before != held:
        return _rows(Verdict.DIFFERS, "the rows before the event read otherwise", held, outcome.before)
    if outcome.error and outcome.after != outcome.before:
        return _rows(Verdict.FAIL, "rows changed although the event was refused", outcome.before, outcome.after)
    if outcome.error != case.number:
        expected, got = (f"error {number}" if number else "applied" for number in (case.number, outcome.error))
        return JudgedOutcome(
            verdict, "another outcome than was observed", expected, f"{got} {outcome.message}".rstrip()
        )
    # After the repair the table has the source's shape.
    wanted = states(case.source if case.number else case.replica, case.expected)
    if not case.number:
        return (
            JudgedOutcome(Verdict.PASS)
            if outcome.after == wanted
            else _rows(verdict, "other rows", wanted, outcome.after)
        )
    second = outcome.second_start
    if second is None or second.error or not second.committed:
        got = "no start" if second is None else f"{second.error} {second.message}".rstrip()
        return JudgedOutcome(Verdict.FAIL, "the applier does not go on after the table was repaired", "it goes on", got)
    if second.after != wanted:
        return _rows(verdict, "other rows after the repair", wanted, second.after)
    return JudgedOutcome(Verdict.PASS)


def _rows(
    verdict: Verdict, rule: str, expected: tuple[RowState | None, ...], got: tuple[RowState | None, ...]
) -> JudgedOutcome:
    """The first column with a wrong value."""
    for wanted, found in zip(expected, got, strict=False):
        if wanted != found:
            return JudgedOutcome(verdict, rule, show(wanted), show(found))
    return JudgedOutcome(verdict, rule, f"{len(expected)} columns", f"{len(got)} columns")
