"""A server that does as the document says passes; the listed difference is one; anything else is a failure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.cases.files import dump_case, load_any_case
from conformance.cases.sql_case import SqlAnswer
from conformance.checks.designed_pages.cases import all_cases
from conformance.judge.sql import SqlVerdict, judge_sql
from conformance.requirements.deviations import load_deviations
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.cases.sql_case import SqlCase

CASES = tuple(all_cases())
LISTED = {entry.id: entry for entry in load_deviations()}
PARTS = {"SDI30": "SDI6", "SDI28": "SDI33"}  # judged by the same pages


def judged(case: SqlCase, answer: SqlAnswer) -> SqlVerdict:
    """The verdict on the last statement; those before it succeed."""
    return judge_sql(case, [*(SqlAnswer() for _ in case.statements[1:]), answer])[-1]


def row(text: str | None) -> SqlAnswer:
    return SqlAnswer(rows=((text,),))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_the_document_says_passes_and_what_shipped_is_listed(case: SqlCase) -> None:
    written, shipped, unseen = case.statements[-1].outcomes
    assert judged(case, SqlAnswer(rows=written.rows or ())).verdict is Verdict.PASS
    found = judged(case, SqlAnswer(rows=shipped.rows or ()))
    assert (found.verdict, found.deviation) == (Verdict.FAIL, shipped.deviation)
    assert case.requirements[0] in LISTED[shipped.deviation].requirements
    assert judged(case, SqlAnswer(rows=unseen.rows or ())).verdict is Verdict.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("case", "answer"),
    [
        pytest.param(case, answer, id=f"{case.id}-{name}",
                     marks=pytest.mark.planted(*filter(None, (case.requirements[0], PARTS.get(case.requirements[0])))))
        for case in CASES
        for name, answer in (("another answer", row("0")), ("no row", SqlAnswer()), ("error", SqlAnswer(error=1290)))
    ],
)  # fmt: skip
def test_any_other_answer_is_a_failure_that_nothing_explains(case: SqlCase, answer: SqlAnswer) -> None:
    found = judged(case, answer)
    assert (found.verdict, found.deviation) == (Verdict.FAIL, "")


def test_each_witness_is_the_first_case_of_its_deviation() -> None:
    first: dict[str, SqlCase] = {}
    for case in CASES:
        (deviation,) = case.statements[-1].deviations
        first.setdefault(deviation, case)
    for deviation, case in first.items():
        witness = LISTED[deviation].witness
        assert witness is not None
        assert dump_case(load_any_case(json.loads(witness))) == dump_case(case)
