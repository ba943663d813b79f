"""A server that takes changes back passes; one that keeps a small change is a listed difference; all else fails."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.cases.files import dump_case, load_any_case
from conformance.cases.sql_case import SqlAnswer
from conformance.checks.inherited_lobs.cases import DEVIATION, all_cases
from conformance.judge.sql import judge_sql
from conformance.requirements.deviations import load_deviations
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.cases.sql_case import SqlCase
    from conformance.judge.sql import SqlVerdict

CASES = tuple(all_cases())


def judged(case: SqlCase, answer: SqlAnswer) -> SqlVerdict:
    """The verdict on the last statement; those before it do what they should."""
    before = [SqlAnswer(error=1062) if statement.judges else SqlAnswer() for statement in case.statements[:-1]]
    return judge_sql(case, [*before, answer])[-1]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_was_there_before_passes(case: SqlCase) -> None:
    kept, *shipped = case.statements[-1].outcomes
    assert judged(case, SqlAnswer(rows=kept.rows or ())).verdict is Verdict.PASS
    for outcome in shipped:
        found = judged(case, SqlAnswer(rows=outcome.rows or ()))
        assert (found.verdict, found.deviation) == (Verdict.FAIL, DEVIATION)


@pytest.mark.planted("LOB31")
@pytest.mark.parametrize("answer", [(("c",),), ((None,),), ()], ids=["another", "NULL", "no row"])
@pytest.mark.parametrize("case", CASES[:6], ids=lambda case: case.id)
def test_any_other_document_is_a_failure_that_nothing_explains(
    case: SqlCase, answer: tuple[tuple[str | None, ...], ...]
) -> None:
    found = judged(case, SqlAnswer(rows=answer))
    assert (found.verdict, found.deviation) == (Verdict.FAIL, "")


@pytest.mark.planted("LOB31")
@pytest.mark.parametrize("case", [case for case in CASES if "large" in case.id], ids=lambda case: case.id)
def test_no_list_explains_a_large_change_that_is_kept(case: SqlCase) -> None:
    found = judged(case, SqlAnswer(rows=(("b" * 300,),)))
    assert (found.verdict, found.deviation) == (Verdict.FAIL, "")


def test_the_witness_is_the_first_case() -> None:
    (entry,) = [entry for entry in load_deviations() if entry.id == DEVIATION]
    assert entry.requirements == ("LOB31",)
    assert entry.witness is not None
    assert dump_case(load_any_case(json.loads(entry.witness))) == dump_case(CASES[0])
