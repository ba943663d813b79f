"""Planted faults of A8, A9, A10 and of updates without a key, written down from requirements FR5 before the checks.

Each is an applier that does one thing wrong; it leaves a Case alone (``None``) where the fault would not show.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.applier_transaction import ApplierOutcome, ApplierTransaction, SecondStart
from conformance.cases.by_hand.injection import RowState, predict, state_of
from conformance.checks.replica_schema.case import ReplicaSchema, states
from conformance.reference.jsonb.encode import encode
from tests.checks.diverged_documents.planted_transactions import TransactionFault, faultless

if TYPE_CHECKING:
    from collections.abc import Callable

_OTHER: Final = RowState(valid=True, text=b"planted")


@dataclass(frozen=True, slots=True)
class ReplicaSchemaFault:
    """``requirement``: whose check must find it; ``grade``: what the judge must call it."""

    name: str
    sentence: str
    requirement: str
    grade: str
    doctor: Callable[[ReplicaSchema, ApplierOutcome], ApplierOutcome | None]


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
    ReplicaSchemaFault(
        "fewer-columns-stop", "lacks a trailing column: applies", "A8", "differs", _at("fewer", _stopped)
    ),
    ReplicaSchemaFault("absent-json-stops", "lacks the JSON column", "A8", "differs", _at("without JSON", _stopped)),
    ReplicaSchemaFault("more-columns-stop", "columns beyond are left alone", "A8", "differs", _at("more", _stopped)),
    ReplicaSchemaFault(
        "more-columns-changed",
        "columns beyond are left alone",
        "A8",
        "differs",
        _at("more", lambda _, outcome: _last(outcome, _OTHER)),
    ),
    ReplicaSchemaFault(
        "remaining-columns-kept",
        "applies",
        "A8",
        "differs",
        lambda case, outcome: (
            replace(outcome, after=outcome.before)
            if case.kind in ("fewer", "more") and outcome.after != outcome.before
            else None
        ),
    ),
    ReplicaSchemaFault("text-is-taken", "TEXT or BLOB: 13146", "A8", "differs", _at("other type", _applied)),
    ReplicaSchemaFault(
        "text-gives-another-number",
        "TEXT or BLOB: 13146",
        "A8",
        "differs",
        _at("other type", lambda _, outcome: replace(outcome, error=1677, coordinator=1677)),
    ),
    ReplicaSchemaFault(
        "text-is-changed-though-error",
        "row unchanged on error",
        "A8",
        "fail",
        _at("other type", lambda _, outcome: _last(outcome, _OTHER)),
    ),
    ReplicaSchemaFault(
        "table-repaired-but-no-start",
        "applier restarts after the repair",
        "A8",
        "fail",
        _at(
            "other type",
            lambda _, outcome: replace(outcome, second_start=SecondStart(error=13146, after=outcome.before)),
        ),
    ),
    ReplicaSchemaFault(
        "table-repaired-but-event-lost",
        "after the repair the event applies",
        "A8",
        "differs",
        lambda case, outcome: (
            replace(outcome, second_start=replace(outcome.second_start, after=states(case.source, case.rows)))
            if case.kind == "other type"
            and outcome.second_start
            and states(case.source, case.rows) != outcome.second_start.after
            else None
        ),
    ),
    ReplicaSchemaFault(
        "second-update-of-a-row-lost",
        "the same row updated several times in one event group",
        "FR2",
        "fail",
        lambda case, outcome: (
            replace(outcome, after=outcome.before) if case.kind == "again" and outcome.after != outcome.before else None
        ),
    ),
    ReplicaSchemaFault(
        "row-without-a-key-not-found",
        "the same row updated several times in one event group",
        "FR2",
        "fail",
        _at(
            "again",
            lambda case, outcome: replace(_stopped(case, outcome), error=1032, coordinator=1032),
        ),
    ),
    ReplicaSchemaFault(
        "diverged-row-taken",
        "without a key a diverged row is a missing row: 1032",
        "FR2",
        "fail",
        _at("diverged", _applied),
    ),
)


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
    TransactionFault("zero-length-gets-bytes", "storage size 0", "differs", _size, "A9"),
    TransactionFault("zero-length-reads-as-no-text", "reads as JSON null", "fail", _text, "A9"),
    TransactionFault("zero-length-becomes-sql-null", "reads as JSON null", "differs", _null, "A9"),
    TransactionFault("zero-length-is-refused", "is stored", "differs", _refused, "A9"),
    TransactionFault("zero-length-takes-diffs", "no diff fits it but the empty list", "differs", _diff_taken, "A9"),
)


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
    TransactionFault("ignored-error-stops", "1032 ignored; event skipped", "differs", _on_ignored(_stops), "A10"),
    TransactionFault(
        "ignored-error-loses-the-transaction",
        "event skipped",
        "differs",
        _on_ignored(lambda _, outcome: replace(outcome, committed=False)),
        "A10",
    ),
    TransactionFault(
        "ignored-error-changes-the-row",
        "row unchanged",
        "fail",
        _on_ignored(lambda _, outcome: replace(outcome, after=(state_of(encode({"planted": 1})),))),
        "A10",
    ),
    TransactionFault(
        "everything-is-ignored",
        "3648 still stops",
        "fail",
        _on_ignored(
            lambda _, outcome: replace(outcome, stopped=False, error=0, coordinator=0, second_start=None), errors=False
        ),
        "A10",
    ),
)
