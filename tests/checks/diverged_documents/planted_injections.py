"""Planted faults of FR5, written down from requirements FR5 before the checks that must catch them.

Each is a server that does one thing wrong: it changes what a faultless server (the reference) does with an injected
event, or leaves it alone (``None``) where the fault would not show.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import Demand, Injection, InjectionOutcome, RowState, predict, state_of
from conformance.reference.dialect import MYSQL, flipped
from conformance.reference.jsonb.encode import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.dialect import Dialect

_OTHER: Final = state_of(encode({"planted": 1}))


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """``grade``: what the judge must call it."""

    name: str
    sentence: str
    grade: str
    doctor: Callable[[Injection, InjectionOutcome], InjectionOutcome | None]


def faultless(injection: Injection, dialect: Dialect = MYSQL) -> InjectionOutcome:
    """The outcome of an injection on a server that is right in everything."""
    predicted = predict(injection, dialect)
    before = state_of(injection.stored) if injection.row_exists else None
    if predicted.error:
        return InjectionOutcome(error=predicted.error, before=before, after=before)
    return InjectionOutcome(before=before, after=predicted.state)


def _on_error(change: Callable[[InjectionOutcome], InjectionOutcome]) -> Callable[..., InjectionOutcome | None]:
    return lambda injection, outcome: change(outcome) if outcome.error and injection.row_exists else None


def _applied(change: Callable[[RowState], RowState]) -> Callable[..., InjectionOutcome | None]:
    def doctor(_: Injection, outcome: InjectionOutcome) -> InjectionOutcome | None:
        if outcome.after is None or outcome.error or outcome.after.is_null or not outcome.after.sound:
            return None
        return replace(outcome, after=change(outcome.after))

    return doctor


def _null_becomes_document(injection: Injection, outcome: InjectionOutcome) -> InjectionOutcome | None:
    return replace(outcome, error=0, after=_OTHER) if injection.stored is None and outcome.error == 3648 else None


def _null_becomes_json_null(injection: Injection, outcome: InjectionOutcome) -> InjectionOutcome | None:
    return replace(outcome, after=state_of(encode(None))) if injection.stored is None and outcome.error else None


def _accepts_damage(injection: Injection, outcome: InjectionOutcome) -> InjectionOutcome | None:
    if injection.demand is not Demand.ERROR or not outcome.error:
        return None
    return replace(outcome, error=0, after=outcome.before)


def _other_switch(switch: str) -> Callable[[Injection, InjectionOutcome], InjectionOutcome | None]:
    def doctor(injection: Injection, outcome: InjectionOutcome) -> InjectionOutcome | None:
        other = faultless(injection, flipped(MYSQL, switch))
        return other if other != outcome else None

    return doctor


FAULTS: Final = (
    PlantedFault(
        "row-changed-on-error",
        "row unchanged on error",
        "fail",
        _on_error(lambda outcome: replace(outcome, after=_OTHER)),
    ),
    PlantedFault(
        "space-changed-on-error",
        "row unchanged on error: not even by a hole in the document",
        "fail",
        lambda injection, outcome: (
            replace(outcome, after=replace(outcome.after, free=(outcome.after.free or 0) + 1))
            if outcome.error and outcome.after is not None and not outcome.after.is_null and injection.row_exists
            else None
        ),
    ),
    PlantedFault(
        "row-lost-on-error", "row unchanged on error", "fail", _on_error(lambda outcome: replace(outcome, after=None))
    ),
    PlantedFault(
        "number-of-another-class",
        "a must case allows any of 1610, 3649, 3142, 3157, 3648",
        "fail",
        _on_error(lambda outcome: replace(outcome, error=1064)),
    ),
    PlantedFault(
        "unknown-error",
        "a must case allows any of 1610, 3649, 3142, 3157, 3648",
        "fail",
        _on_error(lambda outcome: replace(outcome, error=1105)),
    ),
    PlantedFault(
        "text-of-another-error",
        "3648, 3649 and 1610 have their texts",
        "differs",
        lambda _, outcome: (
            replace(outcome, message="Could not apply JSON diff in table t, column k.")
            if outcome.error in (1610, 3648, 3649)
            else None
        ),
    ),
    PlantedFault("invalid-stored", "JSON_VALID=1", "fail", _applied(lambda state: replace(state, valid=False))),
    PlantedFault("unreadable-stored", "never invalid JSON", "fail", _applied(lambda _: RowState(error=3142))),
    PlantedFault("text-is-null", "never invalid JSON", "fail", _applied(lambda state: replace(state, text=None))),
    PlantedFault(
        "death-unnoticed", "process alive", "crash", lambda _, outcome: replace(outcome, death="signal 11: 0a1,b2c")
    ),
    PlantedFault("hang-unnoticed", "process alive", "timeout", lambda _, outcome: replace(outcome, silent=True)),
    PlantedFault("null-taken-as-document", "REPLACE: 3648 on SQL NULL", "differs", _null_becomes_document),
    PlantedFault("null-becomes-json-null-on-error", "row unchanged on error", "fail", _null_becomes_json_null),
    PlantedFault("damage-applied", "an error is demanded for a bad format", "fail", _accepts_damage),
    PlantedFault(
        "number-inside-the-class",
        "a difference of the number from the table is differs, never fail",
        "differs",
        _on_error(lambda outcome: replace(outcome, error=1610 if outcome.error != 1610 else 3649)),
    ),
    PlantedFault(
        "other-document",
        "the document after the diffs is the one that the applier's rules give",
        "differs",
        _applied(lambda _: _OTHER),
    ),
    PlantedFault(
        "start-document-misread",
        "the row in front of the event is the one that was stored there",
        "differs",
        lambda injection, outcome: (
            replace(outcome, before=_OTHER, after=_OTHER if outcome.error else outcome.after)
            if injection.row_exists
            else None
        ),
    ),
    PlantedFault(
        "applier-takes-unchanging-replace",
        "3648 for a REPLACE by the bytes that are there already, in place",
        "differs",
        _other_switch("refuse_unchanging_replace"),
    ),
    PlantedFault(
        "applier-keeps-null-on-empty-diffs",
        "empty diff: SQL NULL becomes a JSON null",
        "differs",
        _other_switch("null_takes_empty_diffs"),
    ),
)
