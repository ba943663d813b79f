"""FR5's judge: a faultless server passes, and every planted fault gets the grade that requirements FR5 asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.cases.by_hand.injection import (
    Demand,
    Injection,
    InjectionOutcome,
    RowState,
    full_image,
    partial_image,
    predict,
    state_of,
)
from conformance.judge.damage.diverged import ALLOWED, judge_injection
from conformance.reference.dialect import MYSQL, flipped
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import DATE, DECIMAL, Opaque
from conformance.reference.partial.diffs import Operation, encode_diff
from conformance.reference.partial.paths import parse_path
from conformance.verdict import Verdict
from generators import damaged_events, diverged
from generators.draw import Stream
from tests.checks.diverged_documents.planted_injections import FAULTS, faultless
from tests.faults.runner import assert_caught_wherever_it_shows, each
from tests.reference.jsonb.jsonb_vectors import FREE

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue
    from tests.faults.fault import Fault

INJECTIONS = [*diverged.matrix(), *damaged_events.listed(), *diverged.group(Stream("judge", 1))]
SAFE = [item for item in INJECTIONS if item.hazard == "none"]


def outcome_of(item: Injection) -> InjectionOutcome:
    """The outcome on a server that is right, the observed numbers included."""
    outcome = faultless(item)
    if item.number:
        return InjectionOutcome(error=item.number, before=outcome.before, after=outcome.before)
    return outcome


def test_a_faultless_server_passes_everything() -> None:
    assert {judge_injection(item, outcome_of(item)) for item in SAFE} == {judge_injection(SAFE[0], outcome_of(SAFE[0]))}
    assert judge_injection(SAFE[0], outcome_of(SAFE[0])).verdict is Verdict.PASS


def test_what_9_7_4_stores_although_it_is_no_json_fails_and_is_explained_by_its_switch() -> None:
    spoiling = [item for item in INJECTIONS if item.hazard == "corrupts-row"]
    judged = [judge_injection(item, outcome_of(item)) for item in spoiling]
    assert {item.verdict for item in judged} == {Verdict.FAIL}
    assert {item.deviation for item in judged} == {"stores_invalid_text", "copies_full_values"}


@pytest.mark.parametrize(("rule", "document", "free"), FREE, ids=[row[0] for row in FREE])
def test_a_full_value_without_a_free_space_is_explained_by_its_switch(
    rule: str, document: bytes, free: int | None
) -> None:
    item = Injection(name=rule, stored=encode({}), image=full_image(document))
    predicted = predict(item).state
    assert predicted is not None
    judged = judge_injection(item, InjectionOutcome(before=state_of(item.stored), after=predicted))
    if free is None:
        assert not predicted.sound
        assert (judged.verdict, judged.deviation) == (Verdict.FAIL, "copies_full_values")
    else:
        assert judged.verdict is Verdict.PASS


def test_a_server_that_refuses_what_9_7_4_stores_passes() -> None:
    for item in INJECTIONS:
        if item.hazard == "corrupts-row":
            before = state_of(item.stored)
            refused = InjectionOutcome(error=3649, before=before, after=before)
            assert judge_injection(item, refused).verdict is Verdict.PASS


@pytest.mark.sampled(7)
@each(FAULTS)
def test_a_planted_fault_is_caught_wherever_it_shows(fault: Fault) -> None:
    assert_caught_wherever_it_shows(fault, SAFE, outcome_of, judge_injection)


def test_a_diverged_update_may_apply_or_be_refused_and_there_is_no_third_thing() -> None:
    """NR1: whatever the reference does with it, a server that does the other is no failure; one that spoils is."""
    shown = 0
    for number in range(12):
        for item in diverged.group(Stream("liberties", number)):
            if not item.row_exists or item.stored is None:
                continue
            shown += 1
            before = state_of(item.stored)
            unreadable = RowState(error=3142)
            for outcome, free in (
                (InjectionOutcome(error=3648, before=before, after=before), True),
                (InjectionOutcome(before=before, after=before), True),
                (InjectionOutcome(before=before, after=unreadable), False),
                (InjectionOutcome(error=3648, before=before, after=unreadable), False),
            ):
                grade = judge_injection(item, outcome).verdict
                assert (grade in (Verdict.PASS, Verdict.DIFFERS)) == free, (item.name, outcome)
    assert shown > 50


def test_a_server_that_answers_1610_to_everything_meets_every_demand() -> None:
    for item in SAFE:
        if predict(item).error and item.row_exists:
            before = state_of(item.stored)
            judged = judge_injection(item, InjectionOutcome(error=1610, before=before, after=before))
            assert judged.verdict in (Verdict.PASS, Verdict.DIFFERS)


def test_1032_for_a_decimal_that_cannot_be_written_is_explained_by_its_switch_and_nothing_else_is() -> None:
    stored = encode({"a": 1})
    diff = encode_diff(Operation.INSERT, parse_path("$.b"), encode(Opaque(DECIMAL, bytes.fromhex("01008a"))))
    wide = Injection(name="", stored=stored, image=partial_image(diff), demand=Demand.ERROR)
    before = state_of(stored)
    refused = InjectionOutcome(error=1032, before=before, after=before)
    assert judge_injection(wide, refused)[0::4] == (Verdict.FAIL, "reads_wide_decimals")
    assert judge_injection(wide, replace(refused, error=3142)).verdict is Verdict.PASS
    for changed in (None, state_of(None), state_of(encode({"a": 1, "b": 10}))):
        assert judge_injection(wide, replace(refused, after=changed))[0::4] == (Verdict.FAIL, None)
    assert judge_injection(wide, replace(refused, error=1062))[0::4] == (Verdict.FAIL, None)
    assert judge_injection(wide, replace(refused, error=0))[0::4] == (Verdict.FAIL, None)
    for damage in damaged_events.listed():
        if damage.hazard == "none" and damage.number and damage.row_exists:
            before = state_of(damage.stored)
            refused = InjectionOutcome(error=1032, before=before, after=before)
            assert judge_injection(damage, refused)[0::4] == (Verdict.FAIL, None), damage.name


def decimal_in_diff(payload: bytes, *, nested: bool = False, demand: Demand = Demand.EITHER) -> Injection:
    value = Opaque(DECIMAL, payload)
    diff = encode_diff(Operation.INSERT, parse_path("$.b"), encode([1, {"k": value}] if nested else value))
    return Injection(name="", stored=encode({"a": 1}), image=partial_image(diff), demand=demand)


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("demand", [Demand.EITHER, Demand.ERROR])
def test_a_decimal_that_is_read_from_bytes_behind_it_may_come_to_anything_but_harm(
    nested: bool, demand: Demand
) -> None:
    item = decimal_in_diff(bytes((19, 37)) + bytes(9), nested=nested, demand=demand)
    before = state_of(item.stored)
    number = Opaque(DECIMAL, bytes.fromhex("0201 8705"))  # 7.5, as bytes behind the value may give
    made: JsonValue = {"a": 1, "b": [1, {"k": number}] if nested else number}
    explained = [
        InjectionOutcome(error=1032, before=before, after=before),
        InjectionOutcome(before=before, after=state_of(encode(made))),
        InjectionOutcome(before=before, after=RowState(error=3142)),
    ]
    for outcome in explained:
        judged = judge_injection(item, outcome)
        assert judged.verdict in (Verdict.FAIL, Verdict.DIFFERS)
        assert judged.deviation == "reads_wide_decimals"
        strict = flipped(MYSQL, "reads_wide_decimals")
        assert judge_injection(item, outcome, strict).deviation is None
    refused = InjectionOutcome(error=3142, before=before, after=before)
    assert judge_injection(item, refused).verdict is Verdict.PASS
    for outcome in (
        replace(refused, error=1062),
        replace(refused, error=1032, after=state_of(encode({"a": 2}))),
        InjectionOutcome(before=before, after=None),
        InjectionOutcome(before=before, after=state_of(encode({"a": 2, "b": 7.5}))),
        InjectionOutcome(before=before, after=state_of(encode({"a": 1, "b": "7.5"}))),
        InjectionOutcome(before=before, after=state_of(encode({"a": 1}))),
        InjectionOutcome(before=before, after=RowState(error=1064)),
        InjectionOutcome(before=before, after=RowState(valid=True, size=9, free=0)),
        InjectionOutcome(before=before, death="signal 11"),
        InjectionOutcome(before=before, silent=True),
    ):
        assert judge_injection(item, outcome).verdict is not Verdict.PASS
        assert judge_injection(item, outcome).deviation is None


@pytest.mark.parametrize(
    "payload",
    [
        bytes((19, 36)) + bytes(9),  # eight digits more behind the point than there are
        bytes((19, 37)) + bytes(8),
        bytes((19, 37)) + bytes(10),
        bytes((19, 19)) + bytes(9),  # as many: a DECIMAL
        bytes((19,)),
    ],
)
def test_other_decimals_are_read_as_what_they_are(payload: bytes) -> None:
    item = decimal_in_diff(payload)
    before = state_of(item.stored)
    assert judge_injection(item, InjectionOutcome(error=1032, before=before, after=before))[0::4] == (
        Verdict.FAIL,
        None,
    )


def test_a_decimal_elsewhere_than_in_a_diff_is_not_read() -> None:
    value = encode([Opaque(DECIMAL, bytes((19, 37)) + bytes(9))])
    item = Injection(name="", stored=encode({"a": 1}), image=full_image(value))
    before = state_of(item.stored)
    assert judge_injection(item, InjectionOutcome(error=1032, before=before, after=before))[0::4] == (
        Verdict.FAIL,
        None,
    )


@pytest.mark.parametrize("payload", [b"", b"abc", b"12345678", b"123456789"])
def test_a_date_of_any_length_is_judged(payload: bytes) -> None:
    value = encode([{"k": Opaque(DATE, payload)}, "text"])
    for image in (full_image(value), partial_image(encode_diff(Operation.INSERT, parse_path("$.b"), value))):
        item = Injection(name="", stored=encode({"a": 1}), image=image)
        before = state_of(item.stored)
        for outcome in (
            InjectionOutcome(before=before, after=predict(item).state),
            InjectionOutcome(before=before, after=RowState(error=3142)),
            InjectionOutcome(error=3142, before=before, after=before),
        ):
            assert judge_injection(item, outcome).verdict is not Verdict.CRASH


def test_1032_is_for_rows_that_are_not_there() -> None:
    item = next(item for item in SAFE if item.row_exists and predict(item).error == 3648)
    before = state_of(item.stored)
    assert judge_injection(item, InjectionOutcome(error=1032, before=before, after=before)).verdict is Verdict.FAIL
    assert frozenset((1610, 3142, 3157, 3648, 3649)) == ALLOWED
