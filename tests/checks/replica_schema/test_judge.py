"""The judges of A8, A9, A10 and of updates without a key: faultless appliers pass, planted faults do not."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from conformance.checks.replica_schema import generate
from conformance.checks.replica_schema.judge import judge
from conformance.judge.damage.applier import judge_ignoring, judge_transaction
from conformance.verdict import Verdict
from generators import applier_transactions
from generators.draw import Stream
from tests.checks.diverged_documents.planted_transactions import faultless
from tests.checks.replica_schema.planted_schemas import (
    IGNORED,
    SCHEMA_FAULTS,
    ZERO_LENGTH,
    ignoring,
    perfect,
)
from tests.faults.runner import assert_caught_wherever_it_shows, each

if TYPE_CHECKING:
    from tests.faults.fault import Fault

TABLES = [generate.other_table(Stream("tables", number), "t") for number in range(60)]
NO_KEY = [generate.without_key(Stream("no key", number), "t") for number in range(60)]
NO_BYTES = [applier_transactions.without_bytes(Stream("no bytes", number)) for number in range(80)]
MATRIX = list(applier_transactions.ignorable(Stream("matrix"), 15))
MODES = (frozenset((1032,)), frozenset((3648,)))


def grade_of(requirement: str) -> Verdict:
    return Verdict.FAIL if requirement == "FR2" else Verdict.DIFFERS


def test_faultless_appliers_pass_everything() -> None:
    for case in (*TABLES, *NO_KEY):
        assert judge(case, perfect(case), Verdict.FAIL).verdict is Verdict.PASS, case.name
    for transaction in NO_BYTES:
        assert judge_transaction(transaction, faultless(transaction)).verdict is Verdict.PASS, transaction.name
    for ignored in MODES:
        for transaction in MATRIX:
            assert judge_ignoring(transaction, ignoring(transaction, ignored), ignored).verdict is Verdict.PASS, (
                transaction.name
            )


def test_every_kind_is_there() -> None:
    assert {case.kind for case in TABLES} == {"fewer", "more", "other type", "without JSON"}
    assert {case.kind for case in NO_KEY} == {"again", "diverged"}
    assert {(case.before is None, len(case.rows) > 1) for case in TABLES} == {
        (full, several) for full in (True, False) for several in (True, False)
    }
    assert {case.single for case in NO_KEY} == {True, False}
    repeated = [case for case in NO_KEY if not case.single and len(case.changes) > len(case.rows)]
    assert len(repeated) > 20
    assert {faultless(case).error for case in NO_BYTES} == {0, 3648}
    for ignored in MODES:
        errors = {ignoring(case, ignored).error for case in MATRIX}
        assert errors == {0, 1032, 3648} - ignored


@each(SCHEMA_FAULTS)
def test_a_fault_on_another_table_is_caught_wherever_it_shows(fault: Fault) -> None:
    grade = grade_of(fault.requirement)
    assert_caught_wherever_it_shows(fault, (*TABLES, *NO_KEY), perfect, lambda case, found: judge(case, found, grade))


@each(ZERO_LENGTH)
def test_a_fault_with_values_of_no_bytes_is_caught_wherever_it_shows(fault: Fault) -> None:
    assert_caught_wherever_it_shows(fault, NO_BYTES, faultless, judge_transaction)


@pytest.mark.parametrize("ignored", MODES, ids=["idempotent", "skip-errors"])
@each(IGNORED)
def test_a_fault_with_ignored_errors_is_caught_wherever_it_shows(fault: Fault, ignored: frozenset[int]) -> None:
    assert_caught_wherever_it_shows(
        fault, MATRIX, partial(ignoring, ignored=ignored), partial(judge_ignoring, ignored=ignored)
    )


def test_a_dying_server_is_a_crash_in_every_mode() -> None:
    for case in MATRIX[:30]:
        for ignored in MODES:
            died = replace(ignoring(case, ignored), death="signal 6: 0a1")
            assert judge_ignoring(case, died, ignored).verdict is Verdict.CRASH
    died = replace(perfect(TABLES[0]), death="signal 6: 0a1")
    assert judge(TABLES[0], died, Verdict.DIFFERS).verdict is Verdict.CRASH
