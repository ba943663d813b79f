"""FR5's judge: a faultless server passes, and every planted fault gets the grade that the sheet's sentence asks for."""

from __future__ import annotations

import pytest

from conformance.cases.injection import Injection, InjectionOutcome, predict, state_of
from conformance.judge.diverged import ALLOWED, Grade, judge_injection
from generators import damaged, diverged
from generators.draw import Stream
from tests.checks.planted_injections import FAULTS, PlantedFault, faultless

INJECTIONS = [*diverged.matrix(), *damaged.listed(), *diverged.group(Stream("judge", 1))]
SAFE = [item for item in INJECTIONS if item.hazard == "none"]


def outcome_of(item: Injection) -> InjectionOutcome:
    """Of a server that is right, the numbers of the sheet included."""
    outcome = faultless(item)
    if item.number:
        return InjectionOutcome(error=item.number, before=outcome.before, after=outcome.before)
    return outcome


def test_a_faultless_server_passes_everything() -> None:
    assert {judge_injection(item, outcome_of(item)) for item in SAFE} == {judge_injection(SAFE[0], outcome_of(SAFE[0]))}
    assert judge_injection(SAFE[0], outcome_of(SAFE[0])).grade is Grade.PASS


def test_what_9_7_4_stores_although_it_is_no_json_fails_and_is_explained_by_its_switch() -> None:
    spoiling = [item for item in INJECTIONS if item.hazard == "corrupts-row"]
    judged = [judge_injection(item, outcome_of(item)) for item in spoiling]
    assert {item.grade for item in judged} == {Grade.FAIL}
    assert {item.deviation for item in judged} == {"stores_invalid_text", "copies_full_values"}


def test_a_server_that_refuses_what_9_7_4_stores_passes() -> None:
    for item in INJECTIONS:
        if item.hazard == "corrupts-row":
            before = state_of(item.stored)
            refused = InjectionOutcome(error=3649, before=before, after=before)
            assert judge_injection(item, refused).grade is Grade.PASS


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_caught_wherever_it_shows(fault: PlantedFault) -> None:
    shown = 0
    for item in SAFE:
        doctored = fault.doctor(item, outcome_of(item))
        if doctored is None:
            continue
        shown += 1
        judged = judge_injection(item, doctored)
        assert judged.grade.value == fault.grade, (item.name, judged)
        assert judged.deviation is None
        assert judged.rule
    assert shown


def test_a_server_that_answers_1610_to_everything_meets_every_demand() -> None:
    for item in SAFE:
        if predict(item).error and item.row_exists:
            before = state_of(item.stored)
            judged = judge_injection(item, InjectionOutcome(error=1610, before=before, after=before))
            assert judged.grade in (Grade.PASS, Grade.DIFFERS)


def test_1032_is_for_rows_that_are_not_there() -> None:
    item = next(item for item in SAFE if item.row_exists and predict(item).error == 3648)
    before = state_of(item.stored)
    assert judge_injection(item, InjectionOutcome(error=1032, before=before, after=before)).grade is Grade.FAIL
    assert frozenset((1610, 3142, 3157, 3648, 3649)) == ALLOWED
