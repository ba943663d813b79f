"""Planted faults of an applier that meets damaged events under IDEMPOTENT mode and with errors to ignore: written down
from requirements FR5 and WL#2955, 7.1, before the checks that must catch them.

Each changes what a server did, or leaves it alone (``None``) where the fault would not show. The item that must fail
stands with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.applier_transaction import ApplierOutcome, SecondStart
from conformance.cases.by_hand.injection import state_of
from conformance.checks.replica_schema import check_ignored_errors as items
from conformance.reference.jsonb.encode import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.by_hand.applier_transaction import ApplierTransaction

_OTHER: Final = (state_of(encode({"planted": 1})),)


@dataclass(frozen=True, slots=True)
class DamageFault:
    """``item`` must fail under ``requirement`` with the verdict ``grade``."""

    name: str
    sentence: str
    item: Callable[..., None]
    requirement: str
    grade: str
    doctor: Callable[[ApplierTransaction, ApplierOutcome], ApplierOutcome | None]


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
    DamageFault(
        "goes-on-silently", "7.1: a bad format is an error", _IDEMPOTENT, "FR5", "fail",
        lambda case, outcome: _passed_over(case, outcome) if case.rows[0].number != 3648 else None,
    ),
    DamageFault("row-changed", "the row is unchanged", _IDEMPOTENT, "FR5", "fail", _changed),
    DamageFault("transaction-kept", "the transaction is rolled back", _IDEMPOTENT, "FR5", "fail", _kept),
    DamageFault("not-restartable", "the applier can be started again", _IDEMPOTENT, "FR5", "fail", _stays_down),
    DamageFault("dies", "the process is alive", _IDEMPOTENT, "FR5", "crash", _dies),
    DamageFault("wrong-error-ignored", "exactly that error is ignored", _SKIPPED, "A10", "differs", _passed_over),
    DamageFault(
        "wrong-damage-ignored", "3648 alone is ignored", items.test_skipped_errors, "A10", "fail",
        lambda case, outcome: _passed_over(case, outcome) if case.rows[0].number in (1610, 3649) else None,
    ),
    DamageFault("ignored-error-stops", "the ignored event is passed over", _SKIPPED, "A10", "differs", _stops),
    DamageFault(
        "ignored-event-changes-the-row", "the row is unchanged", _SKIPPED, "A10", "fail", _changed_though_ignored
    ),
    DamageFault(
        "rest-of-the-transaction-lost", "the rest is there", _SKIPPED, "A10", "differs", _lost_though_ignored
    ),
)  # fmt: skip
