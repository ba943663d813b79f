"""Planted faults of FR5, written down from requirements FR5 before the checks that must catch them.

Each is a server that does one thing wrong: it changes what a faultless server (the reference) does with an injected
event, or leaves it alone (``None``) where the fault would not show.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import Demand, Injection, InjectionOutcome, RowState, predict, state_of
from conformance.reference.dialect import MYSQL, flipped
from conformance.reference.jsonb.encode import encode
from tests.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.dialect import Dialect

_OTHER: Final = state_of(encode({"planted": 1}))


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
    Fault("row-changed-on-error", "FR5", "row unchanged on error",
          _on_error(lambda outcome: replace(outcome, after=_OTHER))),
    Fault("space-changed-on-error", "FR5", "row unchanged on error: not even by a hole in the document",
          lambda injection, outcome: (
              replace(outcome, after=replace(outcome.after, free=(outcome.after.free or 0) + 1))
              if outcome.error and outcome.after is not None and not outcome.after.is_null and injection.row_exists
              else None
          )),
    Fault("row-lost-on-error", "FR5", "row unchanged on error",
          _on_error(lambda outcome: replace(outcome, after=None))),
    Fault("number-of-another-class", "FR5", "a must case allows any of 1610, 3649, 3142, 3157, 3648",
          _on_error(lambda outcome: replace(outcome, error=1064))),
    Fault("unknown-error", "FR5", "a must case allows any of 1610, 3649, 3142, 3157, 3648",
          _on_error(lambda outcome: replace(outcome, error=1105))),
    Fault("text-of-another-error", "FR5", "3648, 3649 and 1610 have their texts",
          lambda _, outcome: (
              replace(outcome, message="Could not apply JSON diff in table t, column k.")
              if outcome.error in (1610, 3648, 3649)
              else None
          ), "differs"),
    Fault("invalid-stored", "FR5", "JSON_VALID=1", _applied(lambda state: replace(state, valid=False))),
    Fault("unreadable-stored", "FR5", "never invalid JSON", _applied(lambda _: RowState(error=3142))),
    Fault("text-is-null", "FR5", "never invalid JSON", _applied(lambda state: replace(state, text=None))),
    Fault("death-unnoticed", "FR5", "process alive", lambda _, outcome: replace(outcome, death="signal 11: 0a1,b2c"),
          "crash"),
    Fault("hang-unnoticed", "FR5", "process alive", lambda _, outcome: replace(outcome, silent=True), "timeout"),
    Fault("null-taken-as-document", "FR5", "REPLACE: 3648 on SQL NULL", _null_becomes_document, "differs"),
    Fault("null-becomes-json-null-on-error", "FR5", "row unchanged on error", _null_becomes_json_null),
    Fault("damage-applied", "FR5", "an error is demanded for a bad format", _accepts_damage),
    Fault("number-inside-the-class", "FR5", "a difference of the number from the table is differs, never fail",
          _on_error(lambda outcome: replace(outcome, error=1610 if outcome.error != 1610 else 3649)), "differs"),
    Fault("other-document", "FR5", "the document after the diffs is the one that the applier's rules give",
          _applied(lambda _: _OTHER), "differs"),
    Fault("start-document-misread", "FR5", "the row in front of the event is the one that was stored there",
          lambda injection, outcome: (
              replace(outcome, before=_OTHER, after=_OTHER if outcome.error else outcome.after)
              if injection.row_exists
              else None
          ), "differs"),
    Fault("applier-takes-unchanging-replace", "FR5", "3648 for a REPLACE by the bytes that are there already, in place",
          _other_switch("refuse_unchanging_replace"), "differs"),
    Fault("applier-keeps-null-on-empty-diffs", "FR5", "empty diff: SQL NULL becomes a JSON null",
          _other_switch("null_takes_empty_diffs"), "differs"),
)  # fmt: skip
