"""Shares of cells, rows with a wrong code, and the rows that a report lists."""

from __future__ import annotations

from contextlib import closing

import pytest

from scenarios.budgets import JudgedBudget, judge
from scenarios.codes import Code
from scenarios.inline import SqliteStore
from scenarios.matrix import Matrix, parse_matrix

TEXT = """
name = "small"
title = "Small"
engine = "update"
[axes]
size = [100, 200]
[scenarios]
total = 20
[[budgets]]
id = "b"
requirement = "FR11"
title = "A budget"
where = "verdict >= 0"
must = "diffs > 0"
{more}
"""


def judged(more: str, *rows: dict[str, int]) -> JudgedBudget:
    """The budget over rows that are 0 where nothing else is said."""
    matrix: Matrix = parse_matrix(TEXT.format(more=more), "small.toml")
    made = [
        tuple({"scenario": number, **row}.get(name, 0) for name in matrix.columns) for number, row in enumerate(rows)
    ]
    with closing(SqliteStore(matrix, made)) as store:
        return judge(matrix, store, []).budgets[0]


@pytest.mark.parametrize(
    ("good", "bad", "verdict"),
    [(18, 2, "pass"), (17, 3, "fail"), (0, 2, "fail"), (9, 1, "pass"), (1, 1, "pass"), (0, 1, "pass")],
)
def test_a_share_is_of_each_cell_and_one_row_is_none(good: int, bad: int, verdict: str) -> None:
    cell = [{"cell": 1, "diffs": 1}] * good + [{"cell": 1}] * bad
    found = judged("share = 90", *[{"cell": 0, "diffs": 1}] * 500, *cell)
    assert found.verdict == verdict
    assert found.met == 500 + good + bad
    assert found.broken == (bad if verdict == "fail" else 0)
    assert {item.replay.split("/")[1] for item in found.offenders} == ({"1"} if verdict == "fail" else set())


@pytest.mark.parametrize(("more", "verdict"), [("", "pass"), ('rows = "all"', "fail")])
def test_rows_with_a_wrong_code_are_judged_where_the_budget_says_so(more: str, verdict: str) -> None:
    assert judged(more, {"diffs": 1}, {"verdict": Code.APPLIED}).verdict == verdict


def test_the_nearest_rows_are_those_with_the_least_distance_from_the_border() -> None:
    rows = [{"diffs": number} for number in (7, 1, 3, 9, 2)]
    assert [item.value for item in judged('distance = "diffs - 1"', *rows).offenders] == [0, 1, 2, 6, 8]
    assert judged('offender = "diffs"', *rows).offenders == ()


def test_the_rows_that_break_a_budget_come_with_the_worst_first() -> None:
    rows = [{"diffs": 0, "event_on": number} for number in (7, 1, 9)] + [{"diffs": 4, "event_on": 20}]
    found = judged('offender = "event_on"\ndistance = "diffs"', *rows)
    assert [item.value for item in found.offenders] == [9, 7, 1]
