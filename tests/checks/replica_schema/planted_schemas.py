"""Planted faults of A8, A9, A10 and of updates without a key, written down from requirements FR5 before the checks.

Each is an applier that does one thing wrong; it leaves a Case alone (``None``) where the fault would not show.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.applier_transaction import ApplierOutcome, ApplierTransaction, SecondStart
from conformance.cases.by_hand.injection import RowState, predict, state_of
from conformance.checks.replica_schema.case import ReplicaSchema, states
from conformance.reference.jsonb.encode import encode
from tests.checks.diverged_documents.planted_transactions import faultless
from tests.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

_OTHER: Final = RowState(valid=True, text=b"planted")


def perfect(case: ReplicaSchema) -> ApplierOutcome:
    """The outcome of a Case on an applier that is right in everything."""
    held = states(case.replica, case.held)
    if not case.number:
        return ApplierOutcome(before=held, after=states(case.replica, case.expected), committed=True)
    again = SecondStart(after=states(case.source, case.expected), committed=True)
    return ApplierOutcome(
        stopped=True, error=case.number, coordinator=case.number, before=held, after=held, second_start=again
    )


def _at(
    kinds: str, change: Callable[[ReplicaSchema, ApplierOutcome], ApplierOutcome]
) -> Callable[[ReplicaSchema, ApplierOutcome], ApplierOutcome | None]:
    return lambda case, outcome: change(case, outcome) if case.kind in kinds.split(",") else None


def _stopped(case: ReplicaSchema, outcome: ApplierOutcome) -> ApplierOutcome:
    return replace(
        outcome,
        stopped=True,
        error=13146,
        coordinator=13146,
        committed=False,
        after=outcome.before,
        second_start=SecondStart(after=outcome.before),
    )


def _applied(case: ReplicaSchema, outcome: ApplierOutcome) -> ApplierOutcome:
    return replace(outcome, stopped=False, error=0, coordinator=0, committed=True, second_start=None)


def _last(outcome: ApplierOutcome, state: RowState) -> ApplierOutcome:
    return replace(outcome, after=(*outcome.after[:-1], state))


SCHEMA_FAULTS: Final = (
    Fault("fewer-columns-stop", "A8", "lacks a trailing column: applies", _at("fewer", _stopped), "differs"),
    Fault("absent-json-stops", "A8", "lacks the JSON column", _at("without JSON", _stopped), "differs"),
    Fault("more-columns-stop", "A8", "columns beyond are left alone", _at("more", _stopped), "differs"),
    Fault("more-columns-changed", "A8", "columns beyond are left alone",
          _at("more", lambda _, outcome: _last(outcome, _OTHER)), "differs"),
    Fault("remaining-columns-kept", "A8", "applies",
          lambda case, outcome: (
              replace(outcome, after=outcome.before)
              if case.kind in ("fewer", "more") and outcome.after != outcome.before
              else None
          ), "differs"),
    Fault("text-is-taken", "A8", "TEXT or BLOB: 13146", _at("other type", _applied), "differs"),
    Fault("text-gives-another-number", "A8", "TEXT or BLOB: 13146",
          _at("other type", lambda _, outcome: replace(outcome, error=1677, coordinator=1677)), "differs"),
    Fault("text-is-changed-though-error", "A8", "row unchanged on error",
          _at("other type", lambda _, outcome: _last(outcome, _OTHER))),
    Fault("table-repaired-but-no-start", "A8", "applier restarts after the repair",
          _at(
              "other type",
              lambda _, outcome: replace(outcome, second_start=SecondStart(error=13146, after=outcome.before)),
          )),
    Fault("table-repaired-but-event-lost", "A8", "after the repair the event applies",
          lambda case, outcome: (
              replace(outcome, second_start=replace(outcome.second_start, after=states(case.source, case.rows)))
              if case.kind == "other type"
              and outcome.second_start
              and states(case.source, case.rows) != outcome.second_start.after
              else None
          ), "differs"),
    Fault("second-update-of-a-row-lost", "FR2", "the same row updated several times in one event group",
          lambda case, outcome: (
              replace(outcome, after=outcome.before)
              if case.kind == "again" and outcome.after != outcome.before
              else None
          )),
    Fault("row-without-a-key-not-found", "FR2", "the same row updated several times in one event group",
          _at("again", lambda case, outcome: replace(_stopped(case, outcome), error=1032, coordinator=1032))),
    Fault("diverged-row-taken", "FR2", "without a key a diverged row is a missing row: 1032",
          _at("diverged", _applied)),
)  # fmt: skip


def _whole(
    case: ApplierTransaction, change: Callable[[RowState], RowState], outcome: ApplierOutcome
) -> ApplierOutcome | None:
    state = outcome.after[0] if outcome.after else None
    if outcome.stopped or state is None or state.size != 0:
        return None
    return replace(outcome, after=(change(state),))


def _size(case: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome | None:
    return _whole(case, lambda state: replace(state, size=2), outcome)


def _text(case: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome | None:
    return _whole(case, lambda state: replace(state, text=None), outcome)


def _null(case: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome | None:
    return _whole(case, lambda _: RowState(is_null=True), outcome)


def _refused(case: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome | None:
    if outcome.stopped:
        return None
    return replace(
        outcome,
        stopped=True,
        error=1610,
        coordinator=1610,
        committed=False,
        after=outcome.before,
        second_start=SecondStart(after=outcome.before, beside=case.beside),
    )


def _diff_taken(case: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome | None:
    if not outcome.stopped or case.rows[0].stored != b"":
        return None
    after = (state_of(encode({})),)
    return replace(
        outcome,
        stopped=False,
        error=0,
        coordinator=0,
        committed=True,
        second_start=None,
        after=after,
        beside=case.beside,
    )


ZERO_LENGTH: Final = (
    Fault("zero-length-gets-bytes", "A9", "storage size 0", _size, "differs"),
    Fault("zero-length-reads-as-no-text", "A9", "reads as JSON null", _text),
    Fault("zero-length-becomes-sql-null", "A9", "reads as JSON null", _null, "differs"),
    Fault("zero-length-is-refused", "A9", "is stored", _refused, "differs"),
    Fault("zero-length-takes-diffs", "A9", "no diff fits it but the empty list", _diff_taken, "differs"),
)  # fmt: skip


def ignoring(case: ApplierTransaction, ignored: frozenset[int]) -> ApplierOutcome:
    """The outcome on an applier that ignores some errors and is right in everything else."""
    outcome = faultless(case)
    if outcome.error not in ignored:
        return outcome
    return ApplierOutcome(before=outcome.before, after=outcome.before, committed=True, beside=case.beside)


def _on_ignored(
    change: Callable[[ApplierTransaction, ApplierOutcome], ApplierOutcome | None], *, errors: bool = True
) -> Callable[[ApplierTransaction, ApplierOutcome], ApplierOutcome | None]:
    """At what was ignored, or at what was not (``errors=False``)."""

    def doctor(case: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome | None:
        if not predict(case.rows[0]).error or outcome.stopped is errors:
            return None
        return change(case, outcome)

    return doctor


def _stops(case: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome:
    number = predict(case.rows[0]).error
    return replace(outcome, stopped=True, error=number, coordinator=number, committed=False, second_start=SecondStart())


IGNORED: Final = (
    Fault("ignored-error-stops", "A10", "1032 ignored; event skipped", _on_ignored(_stops), "differs"),
    Fault("ignored-error-loses-the-transaction", "A10", "event skipped",
          _on_ignored(lambda _, outcome: replace(outcome, committed=False)), "differs"),
    Fault("ignored-error-changes-the-row", "A10", "row unchanged",
          _on_ignored(lambda _, outcome: replace(outcome, after=(state_of(encode({"planted": 1})),)))),
    Fault("everything-is-ignored", "A10", "3648 still stops",
          _on_ignored(
              lambda _, outcome: replace(outcome, stopped=False, error=0, coordinator=0, second_start=None),
              errors=False,
          )),
)  # fmt: skip
