"""Planted faults of FR5 on a real applier, written down from requirements FR5 before the check that must catch
them.

Each is an applier that does one thing wrong: it changes what a faultless one does with a transaction, or leaves it
alone (``None``) where the fault would not show.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.applier_transaction import ApplierOutcome, ApplierTransaction, SecondStart
from conformance.cases.by_hand.injection import RowState, predict, state_of
from conformance.reference.jsonb.encode import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.by_hand.damaged_frame import DamagedFrame
    from conformance.cases.by_hand.injection import Injection

_OTHER: Final = state_of(encode({"planted": 1}))


@dataclass(frozen=True, slots=True)
class TransactionFault:
    """``grade``: what the judge must call it. ``requirement``: whose checks must find it."""

    name: str
    sentence: str
    grade: str
    doctor: Callable[[ApplierTransaction, ApplierOutcome], ApplierOutcome | None]
    requirement: str = "FR5"


def _start(row: Injection) -> RowState | None:
    return state_of(row.stored) if row.row_exists else None


def number_of(row: Injection) -> int:
    """The error that a faultless applier gives for one row."""
    return row.number or predict(row).error


def faultless(case: ApplierTransaction) -> ApplierOutcome:
    """The outcome of a transaction on an applier that is right in everything."""
    before = tuple(map(_start, case.rows))
    error = next(filter(None, map(number_of, case.rows)), 0)
    if not error:
        return ApplierOutcome(
            before=before,
            after=tuple(predict(row).state for row in case.rows),
            committed=True,
            beside=case.beside,
        )
    again = SecondStart(after=before, committed=False, beside=case.beside)
    if case.repaired is not None:
        again = SecondStart(
            after=tuple(predict(row).state for row in case.after_repair()), committed=True, beside=case.beside
        )
    return ApplierOutcome(
        stopped=True, error=error, coordinator=error, before=before, after=before, committed=False, second_start=again
    )


def _on_stop(change: Callable[[ApplierOutcome], ApplierOutcome]) -> Callable[..., ApplierOutcome | None]:
    return lambda _, outcome: change(outcome) if outcome.stopped else None


def _on_again(
    change: Callable[[SecondStart], SecondStart], *, repaired: bool = True
) -> Callable[..., ApplierOutcome | None]:
    def doctor(case: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome | None:
        if outcome.second_start is None or (case.repaired is not None) is not repaired:
            return None
        return replace(outcome, second_start=change(outcome.second_start))

    return doctor


def _on_applied(change: Callable[[ApplierOutcome], ApplierOutcome]) -> Callable[..., ApplierOutcome | None]:
    return lambda _, outcome: (
        change(outcome) if not outcome.stopped and all(row is not None and row.sound for row in outcome.after) else None
    )


def _last(states: tuple[RowState | None, ...], state: RowState | None) -> tuple[RowState | None, ...]:
    return (*states[:-1], state)


def _beside_lost(case: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome | None:
    if not case.beside or outcome.second_start is None:
        return None
    return replace(outcome, second_start=replace(outcome.second_start, beside=case.beside - 1))


def faultless_frame(case: DamagedFrame) -> ApplierOutcome:
    """The outcome of a damaged file on an applier that is right in everything."""
    applied = faultless(case.transaction)
    again = SecondStart(after=applied.after, committed=True, beside=applied.beside)
    return ApplierOutcome(
        stopped=True, error=13121, coordinator=13121, before=applied.before, after=applied.before, second_start=again
    )


# A damaged event is an error, nothing of its transaction is there, and the repaired file is applied (requirements 0.3).
FRAME_FAULTS: Final[dict[str, tuple[str, Callable[[DamagedFrame, ApplierOutcome], ApplierOutcome]]]] = {
    "damage-is-applied": ("fail", lambda case, _: faultless(case.transaction)),
    "damage-is-passed-over": (
        "fail",
        lambda case, outcome: ApplierOutcome(
            before=outcome.before, after=outcome.before, beside=case.transaction.beside
        ),
    ),
    "stopped-without-an-error": ("fail", lambda _, outcome: replace(outcome, error=0, coordinator=0)),
    "half-of-it-is-there": ("fail", lambda _, outcome: replace(outcome, committed=True)),
    "row-changed": ("fail", lambda _, outcome: replace(outcome, after=(_OTHER,))),
    "no-start-after-the-repair": ("fail", lambda _, outcome: replace(outcome, second_start=SecondStart(error=13121))),
    "lost-after-the-repair": (
        "fail",
        lambda case, outcome: replace(
            outcome, second_start=SecondStart(after=outcome.before, beside=case.transaction.beside)
        ),
    ),
    "other-number": ("differs", lambda _, outcome: replace(outcome, error=1236, coordinator=1236)),
    "server-dies": ("crash", lambda _, outcome: replace(outcome, death="signal 11: 0a1")),
}


FAULTS: Final = (
    TransactionFault(
        "stopped-without-an-error",
        "applier state on error: SQL thread No, Last_SQL_Errno 3648",
        "fail",
        _on_stop(lambda outcome: replace(outcome, error=0, coordinator=0)),
    ),
    TransactionFault(
        "passed-over-without-an-error",
        "an error, or the event is applied",
        "fail",
        _on_stop(lambda outcome: replace(outcome, stopped=False, error=0, coordinator=0, second_start=None)),
    ),
    TransactionFault(
        "row-changed-though-error",
        "event rolled back",
        "fail",
        _on_stop(lambda outcome: replace(outcome, after=_last(outcome.after, _OTHER))),
    ),
    TransactionFault(
        "row-lost-though-error",
        "event rolled back",
        "fail",
        lambda case, outcome: (
            replace(outcome, after=_last(outcome.after, None)) if outcome.stopped and case.rows[-1].row_exists else None
        ),
    ),
    TransactionFault(
        "transaction-kept-though-error",
        "transaction unchanged on error",
        "fail",
        _on_stop(lambda outcome: replace(outcome, committed=True)),
    ),
    TransactionFault(
        "number-of-another-class",
        "any of 1610, 3649, 3142, 3157, 3648",
        "fail",
        _on_stop(lambda outcome: replace(outcome, error=1062, coordinator=1062)),
    ),
    TransactionFault(
        "coordinator-says-another-number",
        "Last_SQL_Errno 3648 (or 1032)",
        "differs",
        _on_stop(lambda outcome: replace(outcome, coordinator=13117)),
    ),
    TransactionFault(
        "json-invalid-after",
        "JSON_VALID=1",
        "fail",
        _on_applied(
            lambda outcome: (
                replace(outcome, after=_last(outcome.after, replace(outcome.after[-1], valid=False, is_null=False)))
                if outcome.after[-1] is not None
                else outcome
            )
        ),
    ),
    TransactionFault(
        "json-unreadable-after",
        "never invalid JSON",
        "fail",
        _on_applied(lambda outcome: replace(outcome, after=_last(outcome.after, RowState(error=3142)))),
    ),
    TransactionFault(
        "half-a-transaction",
        "an update that applies is applied whole",
        "fail",
        _on_applied(lambda outcome: replace(outcome, committed=False)),
    ),
    TransactionFault(
        "applier-not-restartable",
        "applier restarts after the row is repaired",
        "fail",
        _on_again(lambda again: replace(again, error=3648)),
    ),
    TransactionFault(
        "applier-not-restartable-after-skip",
        "applier restartable",
        "fail",
        _on_again(lambda again: replace(again, error=3649), repaired=False),
    ),
    TransactionFault(
        "repaired-but-passed-over",
        "after the repair the event applies",
        "fail",
        _on_again(lambda again: replace(again, committed=False)),
    ),
    TransactionFault(
        "repaired-but-row-kept",
        "after the repair the event applies",
        "differs",
        _on_again(lambda again: replace(again, after=_last(again.after, _OTHER))),
    ),
    TransactionFault(
        "repaired-but-invalid",
        "JSON_VALID=1",
        "fail",
        _on_again(lambda again: replace(again, after=_last(again.after, RowState(error=1815)))),
    ),
    TransactionFault(
        "skipped-but-applied",
        "row and transaction unchanged",
        "fail",
        _on_again(lambda again: replace(again, committed=True), repaired=False),
    ),
    TransactionFault("later-transactions-lost", "later events apply too", "fail", _beside_lost),
    TransactionFault(
        "never-started-again",
        "applier restarts after the row is repaired",
        "fail",
        _on_stop(lambda outcome: replace(outcome, second_start=None)),
    ),
    TransactionFault(
        "death-unnoticed", "process alive", "crash", lambda _, outcome: replace(outcome, death="signal 6: 0a1,b2c")
    ),
    TransactionFault("hang-unnoticed", "process alive", "timeout", lambda _, outcome: replace(outcome, silent=True)),
    TransactionFault(
        "other-document",
        "the document after the diffs is the one that the applier's rules give",
        "differs",
        _on_applied(lambda outcome: replace(outcome, after=_last(outcome.after, _OTHER))),
    ),
    TransactionFault(
        "number-inside-the-class",
        "a difference of the number from the table is differs, never fail",
        "differs",
        _on_stop(
            lambda outcome: replace(
                outcome,
                error=3649 if outcome.error != 3649 else 3648,
                coordinator=3649 if outcome.error != 3649 else 3648,
            )
        ),
    ),
)
