"""Planted faults of FR5 on a real applier, written down from requirements FR5 before the check that must catch
them.

Each is an applier that does one thing wrong: it changes what a faultless one does with a transaction, or leaves it
alone (``None``) where the fault would not show.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.applier_transaction import ApplierOutcome, ApplierTransaction, SecondStart
from conformance.cases.by_hand.injection import RowState, predict, state_of
from conformance.reference.jsonb.encode import encode
from tests.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.by_hand.damaged_frame import DamagedFrame
    from conformance.cases.by_hand.injection import Injection

_OTHER: Final = state_of(encode({"planted": 1}))


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
_FRAME: Final = "damage is an error, nothing of its transaction is there, the repaired file is applied"
FRAME_FAULTS: Final = (
    Fault("damage-is-applied", "FR5", _FRAME, lambda case, _: faultless(case.transaction)),
    Fault("damage-is-passed-over", "FR5", _FRAME,
          lambda case, outcome: ApplierOutcome(
              before=outcome.before, after=outcome.before, beside=case.transaction.beside
          )),
    Fault("stopped-without-an-error", "FR5", _FRAME, lambda _, outcome: replace(outcome, error=0, coordinator=0)),
    Fault("half-of-it-is-there", "FR5", _FRAME, lambda _, outcome: replace(outcome, committed=True)),
    Fault("row-changed", "FR5", _FRAME, lambda _, outcome: replace(outcome, after=(_OTHER,))),
    Fault("no-start-after-the-repair", "FR5", _FRAME,
          lambda _, outcome: replace(outcome, second_start=SecondStart(error=13121))),
    Fault("lost-after-the-repair", "FR5", _FRAME,
          lambda case, outcome: replace(
              outcome, second_start=SecondStart(after=outcome.before, beside=case.transaction.beside)
          )),
    Fault("other-number", "FR5", _FRAME, lambda _, outcome: replace(outcome, error=1236, coordinator=1236), "differs"),
    Fault("server-dies", "FR5", _FRAME, lambda _, outcome: replace(outcome, death="signal 11: 0a1"), "crash"),
)  # fmt: skip


FAULTS: Final = (
    Fault("stopped-without-an-error", "FR5", "applier state on error: SQL thread No, Last_SQL_Errno 3648",
          _on_stop(lambda outcome: replace(outcome, error=0, coordinator=0))),
    Fault("passed-over-without-an-error", "FR5", "an error, or the event is applied",
          _on_stop(lambda outcome: replace(outcome, stopped=False, error=0, coordinator=0, second_start=None))),
    Fault("row-changed-though-error", "FR5", "event rolled back",
          _on_stop(lambda outcome: replace(outcome, after=_last(outcome.after, _OTHER)))),
    Fault("row-lost-though-error", "FR5", "event rolled back",
          lambda case, outcome: (
              replace(outcome, after=_last(outcome.after, None))
              if outcome.stopped and case.rows[-1].row_exists
              else None
          )),
    Fault("transaction-kept-though-error", "FR5", "transaction unchanged on error",
          _on_stop(lambda outcome: replace(outcome, committed=True))),
    Fault("number-of-another-class", "FR5", "any of 1610, 3649, 3142, 3157, 3648",
          _on_stop(lambda outcome: replace(outcome, error=1062, coordinator=1062))),
    Fault("coordinator-says-another-number", "FR5", "Last_SQL_Errno 3648 (or 1032)",
          _on_stop(lambda outcome: replace(outcome, coordinator=13117)), "differs"),
    Fault("json-invalid-after", "FR5", "JSON_VALID=1",
          _on_applied(
              lambda outcome: (
                  replace(outcome, after=_last(outcome.after, replace(outcome.after[-1], valid=False, is_null=False)))
                  if outcome.after[-1] is not None
                  else outcome
              )
          )),
    Fault("json-unreadable-after", "FR5", "never invalid JSON",
          _on_applied(lambda outcome: replace(outcome, after=_last(outcome.after, RowState(error=3142))))),
    Fault("half-a-transaction", "FR5", "an update that applies is applied whole",
          _on_applied(lambda outcome: replace(outcome, committed=False))),
    Fault("applier-not-restartable", "FR5", "applier restarts after the row is repaired",
          _on_again(lambda again: replace(again, error=3648))),
    Fault("applier-not-restartable-after-skip", "FR5", "applier restartable",
          _on_again(lambda again: replace(again, error=3649), repaired=False)),
    Fault("repaired-but-passed-over", "FR5", "after the repair the event applies",
          _on_again(lambda again: replace(again, committed=False))),
    Fault("repaired-but-row-kept", "FR5", "after the repair the event applies",
          _on_again(lambda again: replace(again, after=_last(again.after, _OTHER))), "differs"),
    Fault("repaired-but-invalid", "FR5", "JSON_VALID=1",
          _on_again(lambda again: replace(again, after=_last(again.after, RowState(error=1815))))),
    Fault("skipped-but-applied", "FR5", "row and transaction unchanged",
          _on_again(lambda again: replace(again, committed=True), repaired=False)),
    Fault("later-transactions-lost", "FR5", "later events apply too", _beside_lost),
    Fault("never-started-again", "FR5", "applier restarts after the row is repaired",
          _on_stop(lambda outcome: replace(outcome, second_start=None))),
    Fault("death-unnoticed", "FR5", "process alive", lambda _, outcome: replace(outcome, death="signal 6: 0a1,b2c"),
          "crash"),
    Fault("hang-unnoticed", "FR5", "process alive", lambda _, outcome: replace(outcome, silent=True), "timeout"),
    Fault("other-document", "FR5", "the document after the diffs is the one that the applier's rules give",
          _on_applied(lambda outcome: replace(outcome, after=_last(outcome.after, _OTHER))), "differs"),
    Fault("number-inside-the-class", "FR5", "a difference of the number from the table is differs, never fail",
          _on_stop(
              lambda outcome: replace(
                  outcome,
                  error=3649 if outcome.error != 3649 else 3648,
                  coordinator=3649 if outcome.error != 3649 else 3648,
              )
          ), "differs"),
)  # fmt: skip
