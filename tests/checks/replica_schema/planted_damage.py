"""Planted faults of an applier that meets damaged events under IDEMPOTENT mode and with errors to ignore: written down
from requirements FR5 and WL#2955, 7.1, before the checks that must catch them.

Each changes what a server did, or leaves it alone (``None``) where the fault would not show. The item that must fail
stands with it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.applier_transaction import ApplierOutcome, SecondStart
from conformance.cases.by_hand.injection import state_of
from conformance.checks.replica_schema import check_ignored_errors as items
from conformance.reference.jsonb.encode import encode
from tests.faults.fault import Fault

if TYPE_CHECKING:
    from conformance.cases.by_hand.applier_transaction import ApplierTransaction

_OTHER: Final = (state_of(encode({"planted": 1})),)


def _passed_over(case: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome | None:
    """As if the error had been ignored."""
    if not outcome.stopped:
        return None
    return ApplierOutcome(before=outcome.before, after=outcome.before, committed=True, beside=case.beside)


def _changed(_: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome | None:
    return replace(outcome, after=_OTHER) if outcome.stopped else None


def _stays_down(_: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome | None:
    return replace(outcome, second_start=SecondStart(error=outcome.error)) if outcome.stopped else None


def _kept(_: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome | None:
    return replace(outcome, committed=True) if outcome.stopped else None


def _dies(_: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome | None:
    return replace(outcome, death="signal 6: 0a1") if outcome.stopped else None


def _stops(_: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome | None:
    if outcome.stopped:
        return None
    again = SecondStart(after=outcome.before, beside=outcome.beside)
    return replace(outcome, stopped=True, error=3649, coordinator=3649, committed=False, second_start=again)


def _changed_though_ignored(_: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome | None:
    return None if outcome.stopped else replace(outcome, after=_OTHER)


def _lost_though_ignored(_: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome | None:
    return None if outcome.stopped else replace(outcome, committed=False)


_IDEMPOTENT, _SKIPPED = items.test_damaged_events_in_idempotent_mode, items.test_skipped_damage

DAMAGE_FAULTS: Final = (
    Fault("goes-on-silently", "FR5", "7.1: a bad format is an error",
          lambda case, outcome: _passed_over(case, outcome) if case.rows[0].number != 3648 else None, at=_IDEMPOTENT),
    Fault("row-changed", "FR5", "the row is unchanged", _changed, at=_IDEMPOTENT),
    Fault("transaction-kept", "FR5", "the transaction is rolled back", _kept, at=_IDEMPOTENT),
    Fault("not-restartable", "FR5", "the applier can be started again", _stays_down, at=_IDEMPOTENT),
    Fault("dies", "FR5", "the process is alive", _dies, "crash", at=_IDEMPOTENT),
    Fault("wrong-error-ignored", "A10", "exactly that error is ignored", _passed_over, "differs", at=_SKIPPED),
    Fault("wrong-damage-ignored", "A10", "3648 alone is ignored",
          lambda case, outcome: _passed_over(case, outcome) if case.rows[0].number in (1610, 3649) else None,
          at=items.test_skipped_errors),
    Fault("ignored-error-stops", "A10", "the ignored event is passed over", _stops, "differs", at=_SKIPPED),
    Fault("ignored-event-changes-the-row", "A10", "the row is unchanged", _changed_though_ignored, at=_SKIPPED),
    Fault("rest-of-the-transaction-lost", "A10", "the rest is there", _lost_though_ignored, "differs", at=_SKIPPED),
)  # fmt: skip
