"""FR5 on a real applier: an error that changes nothing, or readable documents in all rows; and the applier can start
again.

The judge takes the rows as those of any injected event (:mod:`conformance.judge.damage.diverged`). An applier has
further rules (requirements FR5). It stops with an error; its transaction is rolled back or complete. After a repair it
starts again, and then applies the same transaction and the later ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.applier_transaction import AFTER_ANOTHER
from conformance.cases.by_hand.damaged_frame import READ_FAILURE
from conformance.cases.by_hand.injection import InjectionOutcome, predict, state_of
from conformance.judge.damage.diverged import JudgedOutcome, expected_of, judge_injection, show
from conformance.reference.binlog.rows import V1_TYPES
from conformance.reference.dialect import MYSQL
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.cases.by_hand.applier_transaction import ApplierOutcome, ApplierTransaction
    from conformance.cases.by_hand.damaged_frame import DamagedFrame
    from conformance.cases.by_hand.injection import Injection, RowState
    from conformance.reference.dialect import Dialect

_TYPE_AT: Final = 4  # of an event: where its type code stands


def judge_transaction(case: ApplierTransaction, outcome: ApplierOutcome, dialect: Dialect = MYSQL) -> JudgedOutcome:
    """Judge one transaction. A broken demand of the worklog comes before a mere difference from the reference."""
    broken = broken_stop(outcome)
    if broken is not None:
        return broken
    judged = [
        *_rows(case, outcome, dialect),
        *([_again(case, outcome, dialect)] if outcome.stopped else _whole(case, outcome)),
    ]
    waited = outcome.coordinator == AFTER_ANOTHER and case.beside
    if outcome.error != outcome.coordinator and not waited:
        judged.append(
            JudgedOutcome(
                Verdict.DIFFERS,
                "Last_SQL_Errno is not the number of the worker",
                str(outcome.error),
                str(outcome.coordinator),
            )
        )
    order = list(Verdict)
    # One that no switch explains hides no other.
    return min(judged, key=lambda item: (order.index(item.verdict), item.deviation is not None))


def judge_ignoring(
    case: ApplierTransaction, outcome: ApplierOutcome, ignored: frozenset[int], dialect: Dialect = MYSQL
) -> JudgedOutcome:
    """Judge one transaction of an applier whose settings ignore some errors. The applier passes over the event: its row
    is as before, and the rest of the transaction is there. All other errors still stop the applier.

    The applier may apply a complete row in front of the damage: the row stays when the error behind it is ignored
    (observed on 9.7.4).
    """
    expected = next((number for row in case.rows if (number := expected_of(row, dialect).error)), 0)
    if expected not in ignored or _stops_behind_its_end(outcome, ignored, dialect):
        return judge_transaction(case, outcome, dialect)
    if outcome.death or outcome.silent:
        return judge_transaction(case, outcome, dialect)
    if outcome.stopped or not outcome.committed:
        got = f"{outcome.error} {outcome.message}".rstrip() if outcome.stopped else "not there"
        return JudgedOutcome(
            Verdict.DIFFERS, f"an error to be ignored ({expected}) is not", "the rest of the transaction", got
        )
    for row, before, after in zip(case.rows, outcome.before, outcome.after, strict=True):
        if before != after and (after is None or after != _in_front(row, dialect)):
            return JudgedOutcome(Verdict.FAIL, "an event that was passed over changed a row", show(before), show(after))
    return JudgedOutcome(Verdict.PASS)


def _stops_behind_its_end(outcome: ApplierOutcome, ignored: frozenset[int], dialect: Dialect) -> bool:
    """Whether the number of the error is chance: the version does not look at the end of a row (1610, or another)."""
    return outcome.stopped and not dialect.log.row_end_checked and outcome.error not in ignored


def _in_front(row: Injection, dialect: Dialect) -> RowState | None:
    """The result of a row whose image is complete, with damage behind it; ``None`` where no part of the bytes is a
    row."""
    parts = (replace(row, image=row.image[:size], number=None) for size in range(1, len(row.image)))
    return next((state for part in parts if (state := predict(part, dialect).state) is not None), None)


def judge_damaged_frame(case: DamagedFrame, outcome: ApplierOutcome, dialect: Dialect = MYSQL) -> JudgedOutcome:
    """Judge a transaction in a damaged file: an error and no change, and the whole transaction after the file is
    repaired."""
    broken = broken_stop(outcome)
    if broken is not None:
        return broken
    if not outcome.error:
        return JudgedOutcome(Verdict.FAIL, "a damaged event is applied", "an error", "none")
    if outcome.after != outcome.before:
        rule = "the row changed although the event was refused"
        return JudgedOutcome(Verdict.FAIL, rule, show(outcome.before[0]), show(outcome.after[0]))
    # The same demands hold after any repair.
    repaired = replace(case.transaction, repaired=tuple(row.stored or b"" for row in case.transaction.rows))
    judged = _again(repaired, outcome, dialect)
    if judged.verdict is Verdict.PASS and outcome.coordinator != READ_FAILURE and not _is_another_type(case, dialect):
        rule = "another error than was observed for an event that cannot be parsed"
        return JudgedOutcome(
            Verdict.DIFFERS, rule, str(READ_FAILURE), f"{outcome.coordinator} {outcome.message}".rstrip()
        )
    return judged


def _is_another_type(case: DamagedFrame, dialect: Dialect) -> bool:
    """Whether the version parses the event as one of another type: rows of version 1, which it then refuses."""
    damage = case.damage
    return dialect.log.reads_v1_rows and damage.offset == _TYPE_AT and damage.data[0] in V1_TYPES


def broken_stop(outcome: ApplierOutcome) -> JudgedOutcome | None:
    """The rule that no applier may break, whatever event it gets: die, hang, stop without an error, apply half of a
    transaction, lose one."""
    if outcome.death:
        return JudgedOutcome(Verdict.CRASH, "the server dies", "a living server", outcome.death)
    if outcome.silent:
        return JudgedOutcome(Verdict.TIMEOUT, "the applier neither stops nor goes on", "one of them", "none")
    if outcome.stopped and not outcome.error:
        return JudgedOutcome(Verdict.FAIL, "the applier stops without an error", "an error", outcome.message or "none")
    if outcome.error and outcome.committed:
        return JudgedOutcome(
            Verdict.FAIL, "the transaction is there although it was refused", "no transaction", "its mark"
        )
    if not outcome.stopped and not outcome.committed:
        return JudgedOutcome(
            Verdict.FAIL, "the transaction is neither refused nor applied", "an error, or its mark", "neither of them"
        )
    return None


def _whole(case: ApplierTransaction, outcome: ApplierOutcome) -> list[JudgedOutcome]:
    if outcome.beside != case.beside:
        return [_lost(case.beside, outcome.beside)]
    return []


def _lost(expected: int, got: int) -> JudgedOutcome:
    return JudgedOutcome(Verdict.FAIL, "transactions beside this one are lost", str(expected), str(got))


def _rows(case: ApplierTransaction, outcome: ApplierOutcome, dialect: Dialect) -> list[JudgedOutcome]:
    """Judge every row; of a refused event the refused row stands for its error, the others must be as before."""
    if not outcome.error:
        return [judge_injection(row, outcome.of_row(number), dialect) for number, row in enumerate(case.rows)]
    reason = next((number for number, row in enumerate(case.rows) if expected_of(row, dialect).error), 0)
    judged = [judge_injection(case.rows[reason], outcome.of_row(reason), dialect)]
    for before, after in zip(outcome.before, outcome.after, strict=True):
        if before != after:
            rule = "the row changed although the event was refused"
            judged.append(JudgedOutcome(Verdict.FAIL, rule, show(before), show(after)))
    return judged


def _again(case: ApplierTransaction, outcome: ApplierOutcome, dialect: Dialect) -> JudgedOutcome:
    """Judge the start after a repair, or after the transaction was skipped."""
    second = outcome.second_start
    how = "its rows were repaired" if case.repaired is not None else "the transaction was skipped"
    if second is None or second.error:
        got = "no start" if second is None else f"{second.error} {second.message}".rstrip()
        return JudgedOutcome(Verdict.FAIL, f"the applier does not go on after {how}", "it goes on", got)
    if second.beside != case.beside:
        return _lost(case.beside, second.beside)
    if second.committed is not (case.repaired is not None):
        rule = f"the transaction is {'there' if second.committed else 'not there'} after {how}"
        return JudgedOutcome(Verdict.FAIL, rule, str(not second.committed), str(second.committed))
    if case.repaired is None:
        for before, after in zip(outcome.before, second.after, strict=True):
            if before != after:
                return JudgedOutcome(Verdict.FAIL, "a skipped transaction changed a row", show(before), show(after))
        return JudgedOutcome(Verdict.PASS)
    for row, after in zip(case.after_repair(), second.after, strict=True):
        # Only the result is known: that the repair itself arrived was seen when it was made.
        judged = judge_injection(row, InjectionOutcome(before=state_of(row.stored), after=after), dialect)
        if judged.verdict is not Verdict.PASS:
            return judged._replace(rule=f"after the repair: {judged.rule}")
    return JudgedOutcome(Verdict.PASS)
