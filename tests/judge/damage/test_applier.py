"""FR5's judge for appliers: a faultless one passes, and every planted fault gets the grade of its sentence
(requirements FR5)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.cases.by_hand.applier_transaction import AFTER_ANOTHER, ApplierOutcome, ApplierTransaction
from conformance.cases.by_hand.injection import row_event_body, state_of
from conformance.judge.damage.applier import judge_damaged_frame, judge_ignoring, judge_transaction
from conformance.reference.jsonb.encode import encode
from conformance.requirements.versions import dialect_of
from conformance.verdict import Verdict
from generators import applier_transactions
from generators.draw import Stream
from tests.checks.diverged_documents.planted_transactions import (
    FAULTS,
    FRAME_FAULTS,
    faultless,
    faultless_frame,
    number_of,
)
from tests.faults.runner import assert_caught_wherever_it_shows, each

if TYPE_CHECKING:
    from tests.faults.fault import Fault

DRAW = Stream("applier-judge", 1)
CASES = [
    *applier_transactions.matrix(DRAW.fork("matrix"), 6),
    *applier_transactions.listed_damage(DRAW.fork("damage")),
    *(case for number in range(2) for case in applier_transactions.group(DRAW.fork("group", number))),
]
FILES = [applier_transactions.damaged_frame(DRAW.fork("file", number)) for number in range(60)]
SAFE = [case for case in CASES if case.hazard == "none"]
MIDDLE = [
    case
    for case in SAFE
    if len(case.rows) > 2 and number_of(case.rows[1]) and not number_of(case.rows[0]) and not number_of(case.rows[2])
]


def test_a_faultless_applier_passes_everything() -> None:
    assert {judge_transaction(case, faultless(case)).verdict for case in SAFE} == {Verdict.PASS}


def test_the_cases_have_every_kind_of_company() -> None:
    assert {case.beside for case in SAFE} >= {0, 1, 3}
    assert {len(case.rows) for case in SAFE} >= {1, 2, 3, 4}
    assert len(MIDDLE) >= 3
    stops = [case for case in SAFE if faultless(case).stopped]
    repaired = [case for case in stops if case.repaired is not None]
    assert len(repaired) > len(stops) // 3
    assert {case.repaired is None for case in stops} == {True, False}


@pytest.mark.sampled(10)
@each(FAULTS)
def test_a_planted_fault_is_caught_wherever_it_shows(fault: Fault) -> None:
    assert_caught_wherever_it_shows(fault, SAFE, faultless, judge_transaction)


@pytest.mark.planted("FR5", "SC2")
@pytest.mark.parametrize("row", [0, 2])
def test_a_row_before_or_behind_the_failing_one_must_be_as_before(row: int) -> None:
    case = MIDDLE[0]
    outcome = faultless(case)
    after = list(outcome.after)
    applied = faultless(ApplierTransaction(rows=(case.rows[row],))).after[0]
    assert applied != after[row]
    after[row] = applied
    assert judge_transaction(case, replace(outcome, after=tuple(after))).verdict is Verdict.FAIL


def test_the_coordinator_may_name_a_worker_that_waited_only_where_one_did() -> None:
    stops = [case for case in SAFE if faultless(case).stopped]
    for beside, grade in ((0, Verdict.DIFFERS), (1, Verdict.PASS)):
        case = replace(stops[0], beside=beside)
        assert judge_transaction(case, replace(faultless(case), coordinator=AFTER_ANOTHER)).verdict is grade


def test_what_9_7_4_stores_although_it_is_no_json_fails_and_is_explained_by_its_switch() -> None:
    spoiling = [case for case in CASES if case.hazard == "corrupts-row"]
    judged = [judge_transaction(case, faultless(case)) for case in spoiling]
    assert {item.verdict for item in judged} == {Verdict.FAIL}
    assert {item.deviation for item in judged} == {"stores_invalid_text", "copies_full_values"}


def test_a_faultless_applier_passes_damaged_files() -> None:
    for case in FILES:
        assert judge_damaged_frame(case, faultless_frame(case)).verdict is Verdict.PASS, case.name


@each(FRAME_FAULTS)
def test_a_fault_with_a_damaged_file_is_caught(fault: Fault) -> None:
    assert_caught_wherever_it_shows(fault, FILES, faultless_frame, judge_damaged_frame)


def test_damages_leave_the_length_and_change_the_event() -> None:
    event = bytes(range(19)) + row_event_body((1, FILES[0].transaction.rows[0].image)) + bytes(4)
    for case in FILES:
        damaged = case.damage.apply(event)
        assert len(damaged) == len(event)
        assert damaged != event
    assert {case.name.split()[0] for case in FILES} == {"checksum", "byte", "type", "length"}


@pytest.mark.planted("A10")
def test_only_a_row_in_front_of_the_damage_may_change_where_its_error_is_ignored() -> None:
    cases = {case.name: case for case in applier_transactions.refused_damage(Stream("in-front", 1), 1)}
    assert len(cases) == 85
    assert {case.rows[0].number for case in cases.values()} == {1610, 3142, 3157, 3648, 3649}
    ignored = frozenset((1610, 3142, 3157, 3648, 3649))
    applied = state_of(
        encode({"n": 2, "s": "abc", "o": {"x": 1}, "arr": [1, 2, 3, [4, 5]], "t": True, "pad": "p" * 120})
    )
    other = state_of(encode({"planted": 1}))
    for name, case in cases.items():
        before = (state_of(case.rows[0].stored),)
        outcome = ApplierOutcome(before=before, after=before, committed=True, beside=case.beside)
        assert judge_ignoring(case, outcome, ignored).verdict is Verdict.PASS
        grade = Verdict.PASS if name == "byte-after-the-row" else Verdict.FAIL
        assert judge_ignoring(case, replace(outcome, after=(applied,)), ignored).verdict is grade, name
        for wrong in (other, None):
            assert judge_ignoring(case, replace(outcome, after=(wrong,)), ignored).verdict is Verdict.FAIL, name


def test_rows_of_version_1_are_refused_as_rows_where_they_are_known() -> None:
    """Another type code is another event: a version that reads it refuses its content, with that content's error."""
    made = (applier_transactions.damaged_frame(DRAW.fork("file", number)) for number in range(300))
    cases = [case for case in made if case.name == "type 23"]
    assert cases
    for case in cases:
        refused = replace(faultless_frame(case), error=1610, coordinator=1610)
        assert judge_damaged_frame(case, refused, dialect_of((8, 0, 45))).verdict is Verdict.PASS
        assert judge_damaged_frame(case, refused, dialect_of((9, 7, 4))).verdict is Verdict.DIFFERS
