"""The outcome table of the scenarios on other tables: one line for each answer, and the Cases of each profile."""

from __future__ import annotations

import pytest

from conformance.cases.sql_case import SqlAnswer, SqlCase
from conformance.checks.table_metadata.check_other_tables import outcome_line
from conformance.checks.table_metadata.other_tables import (
    BOTH,
    LOSSY,
    NONE,
    SCENARIOS,
    WIDER,
    case,
    cases_by_conversions,
)
from conformance.judge.sql import SqlVerdict, judge_sql
from tests.judge.planted_statements import perfect

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}


def judged(name: str, answer: SqlAnswer) -> tuple[SqlCase, SqlVerdict]:
    """The verdict on the first look at the replica, everything else being as it should."""
    made = case(BY_NAME[name], NONE, "FULL")
    answers = [perfect(statement) for statement in made.statements]
    place = next(number for number, statement in enumerate(made.statements) if statement.judges)
    answers[place] = answer
    return made, judge_sql(made, answers)[0]


@pytest.mark.parametrize(
    ("name", "answer", "verdict", "words"),
    [
        ("INT to BIGINT", SqlAnswer(rows=(("1", "2"), ("2", "3"))), "pass", "('1', '2'); ('2', '3') (allowed)"),
        (
            "INT to BIGINT",
            SqlAnswer(error=13146, message="Worker 1 failed; Column 2 cannot be converted"),
            "pass",
            "stops, error 13146: Column 2 cannot be converted (allowed)",
        ),
        ("INT to BIGINT", SqlAnswer(error=1032, message="gone"), "differs", "error 1032 gone (NOT ALLOWED)"),
        (
            "another order of the same types",
            SqlAnswer(rows=(("1", "2", "3"), ("2", "4", "5"))),
            "info",
            "('1', '2', '3'); ('2', '4', '5') (allowed as observed, not what the source has)",
        ),
        ("another order of the same types", SqlAnswer(), "differs", "no rows (NOT ALLOWED)"),
        (
            "INT to BIGINT unsigned",
            SqlAnswer(rows=(("1", "0"), ("2", "5"))),
            "info",
            "('1', '0'); ('2', '5') (allowed as observed, not what the source has)",
        ),
        ("VARCHAR to a shorter one", SqlAnswer(rows=(("1", "abcde"), ("2", "abc"))), "pass", "'abc') (allowed)"),
    ],
)
def test_a_line_says_what_was_there_and_whether_it_may_be(
    name: str, answer: SqlAnswer, verdict: str, words: str
) -> None:
    made, found = judged(name, answer)
    assert found.verdict == verdict
    line = outcome_line(made, found)
    assert line.startswith(f"{name}, FULL, conversions '', INSERT: ")
    assert line.endswith(words)


def test_an_older_number_of_the_same_error_is_allowed_too() -> None:
    _, found = judged("INT to BIGINT", SqlAnswer(error=1677, message="Column 1 of table"))
    assert found.verdict == "pass"


@pytest.mark.parametrize("requirement", ["TMR1", "TMR2", "TMR4"])
def test_a_quick_run_has_some_of_the_cases_of_a_full_one(requirement: str) -> None:
    whole = cases_by_conversions(requirement, brief=False)
    some = cases_by_conversions(requirement, brief=True)
    assert set(whole) <= {NONE, LOSSY, WIDER, BOTH} | {name for name in whole if "SIGNED" in name}
    for conversions, cases in some.items():
        assert 0 < len(cases) < len(whole[conversions])
        assert {item.id for item in cases} <= {item.id for item in whole[conversions]}
        assert all("FULL" in item.statements[0].sql for item in cases)
    for cases in whole.values():
        assert len({"MINIMAL" in item.statements[0].sql for item in cases}) == 2


def test_ids_tell_scenarios_and_settings_apart() -> None:
    names = [
        item.id
        for requirement in ("TMR1", "TMR2", "TMR4")
        for cases in cases_by_conversions(requirement, brief=False).values()
        for item in cases
    ]
    assert len(set(names)) == len(names)
