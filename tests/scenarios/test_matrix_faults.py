"""The planted faults of scenario matrices are caught: in the worker, in the budgets, in the aggregation."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import pytest

from conformance.reference.jsonb.encode import encode
from generators.draw import Stream
from scenarios import digest, results, worker
from scenarios.budgets import Judgement, judge
from scenarios.codes import Code
from scenarios.inline import SqliteStore, all_rows
from scenarios.matrix import Matrix, load_matrix, matrix_names
from scenarios.overview import Overview
from tests.faults.fault import Fault
from tests.faults.runner import each
from tests.faults.spark.catalogue import BROKEN_BY, FAULTS
from tests.faults.spark.planting import planted
from tests.scenarios.faults_of_matrices import WORKER_FAULTS

if TYPE_CHECKING:
    from collections.abc import Sequence


pytestmark = pytest.mark.slow

PER_CELL = 3


def counts_of(matrix: Matrix, each: int = PER_CELL) -> list[int]:
    return [each if int(matrix.cell(cell).get("size", 0)) <= 4096 else 0 for cell in range(matrix.cells)]


def judged(matrix: Matrix, rows_: Sequence[Sequence[int]], counts: list[int]) -> Judgement:
    with closing(SqliteStore(matrix, rows_)) as store:
        return judge(matrix, store, counts)


# -------------------------------------------------------------------------------------------------------------- worker


@pytest.mark.sampled(8)
@pytest.mark.parametrize("fault", WORKER_FAULTS, ids=lambda fault: f"{fault.id}-{fault.at}")
def test_a_fault_of_the_worker_is_caught(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = load_matrix(fault.at)
    counts = counts_of(matrix)
    if fault.says == "digest":
        counts = counts[:4] + [0] * (matrix.cells - 4)
        good = digest.tally(row for cell in (0, 1, 2, 3) for row in worker.run_block(matrix, cell, 0, PER_CELL))
        assert good == digest.tally(_backwards(matrix, counts))
        number = count()
        monkeypatch.setattr(worker, "Stream", lambda *_: Stream("whatever comes", next(number)))
        once = digest.tally(row for cell in (0, 1, 2, 3) for row in worker.run_block(matrix, cell, 0, PER_CELL))
        assert once != digest.tally(_backwards(matrix, counts))
        return
    with planted(fault.id):
        rows_ = list(all_rows(matrix, counts))
    judgement = judged(matrix, rows_, counts)
    assert not judgement.passed
    (item,) = (item for item in judgement.budgets if item.budget.id == fault.says)
    assert item.verdict == "fail"
    assert item.offenders
    content = results.results(_facts(matrix, sum(counts)), judgement, Overview())
    assert content["requirements"][item.budget.requirement]["verdict"] == "fail"
    assert content["run"]["exit_code"] == 1


def _facts(matrix: Matrix, scenarios: int) -> results.Facts:
    return results.Facts(matrix=matrix, started="2026-01-01", seconds=2.0, scenarios=scenarios, resumed=0)


@pytest.mark.parametrize(
    ("name", "code", "breaks"),
    [
        ("safety", Code.UNREADABLE, ["FR5"]), ("equivalence", Code.RELATION, ["FR4"]),
        ("size-budget", Code.APPLIED, ["FR4"]), ("size-budget", Code.OFF, ["FR13"]),
        ("size-budget", Code.READ_BACK, ["FR11", "FR12", "FR13"]),
    ],
)  # fmt: skip
@pytest.mark.planted("FR4", "FR5", "FR11", "FR12", "FR13")
def test_a_wrong_row_fails_the_requirement_that_it_breaks(
    name: str, code: Code, breaks: list[str], good_rows: dict[str, list[tuple[int, ...]]]
) -> None:
    matrix = load_matrix(name)
    rows_ = [list(row) for row in good_rows[name]]
    rows_[5][matrix.columns.index("verdict")] = code
    budgets = tuple(budget for budget in matrix.budgets if budget.rows == "right")
    found = judged(replace(matrix, budgets=budgets), rows_, [])
    content = results.results(_facts(matrix, len(rows_)), found, Overview())
    verdicts = {name: entry["verdict"] for name, entry in content["requirements"].items()}
    assert [name for name, verdict in verdicts.items() if verdict == "fail"] == breaks


def test_every_budget_has_three_faults_that_must_break_it() -> None:
    assert {name: [*budgets] for name, budgets in BROKEN_BY.items()} == {
        name: [budget.id for budget in load_matrix(name).budgets] for name in BROKEN_BY
    }
    assert sorted(BROKEN_BY) == matrix_names()
    listed = [faults for budgets in BROKEN_BY.values() for faults in budgets.values()]
    assert min(len(set(faults)) for faults in listed) >= 3
    assert {fault for faults in listed for fault in faults} == set(FAULTS)


def _backwards(matrix: Matrix, counts: list[int]) -> list[worker.Row]:
    return [
        row
        for cell in reversed(range(matrix.cells))
        for index in reversed(range(counts[cell]))
        for row in worker.run_block(matrix, cell, index, 1)
    ]


# ------------------------------------------------------------------------------------------------------------- budgets

ZERO = -(1 << 30)  # no change: the value becomes 0

# For each budget: the column of a row that meets it, and by how much it is changed to break the rule by one (a verdict:
# to which it is changed).
BREAKS: dict[str, dict[str, tuple[str, int]]] = {
    "size-budget": {
        "rows-with-diffs": ("diffs", ZERO), "diffs": ("diffs", 1), "def1-constant": ("diff_size", 1),
        "border": ("partial_columns", 1), "partial-saves-the-difference": ("event_on", 1),
        "partial-is-smaller": ("event_on", 1), "full-plus-one": ("event_on", 1), "off-unchanged": ("event_off", 1),
    },
    "break-even": {
        "rows-with-diffs": ("diffs", ZERO), "diffs": ("full_size", 1), "margin": ("full_size", 1),
        "border": ("partial_columns", 1), "costs": ("event_on", -1), "saves": ("event_on", 1),
    },
    "images": {
        "rows-with-diffs": ("diffs", ZERO), "diffs": ("diff_size", 1), "full-images": ("before_count", -1),
        "minimal-before": ("before_count", 1), "minimal-after": ("after_count", 1),
        "noblob-keeps-json": ("after_count", 1), "untouched-is-empty": ("partial_diff", 1), "bits": ("partial_bits", 1),
        "null-has-no-bit": ("partial_bits", 1),
    },
    "compression": {
        "rows-with-diffs": ("diffs", ZERO), "diffs": ("diffs", -1), "payload-only-when-on": ("outside_on", 1),
        "events-are-the-same": ("rows_on", 1), "frame-is-bounded": ("payload_on", 257),
    },
    "equivalence": {
        "rows-with-diffs": ("partial", ZERO), "diffs": ("diff_size", 1), "equal-afterwards": ("verdict", Code.RELATION),
        "same-document-same-bytes": ("same_after", -1), "order-of-members": ("same_before", -1),
        "stops-only-when-retyped": ("error", 1), "padding-never-stops": ("verdict", Code.EXPLAINED),
    },
    "safety": {
        "rows-with-diffs": ("due_diffs", ZERO), "refused-or-readable": ("verdict", Code.QUIET),
        "logged-applies-to-itself": ("agrees", -1), "nothing-applies-to-null": ("error", 1),
        "empty-list-changes-nothing": ("result", 1), "damage-is-met": ("error", 1),
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def good_rows() -> dict[str, list[tuple[int, ...]]]:
    out = {}
    for name in matrix_names():
        matrix = load_matrix(name)
        out[name] = list(all_rows(matrix, counts_of(matrix, 5 if name == "safety" else PER_CELL)))
    return out


def _doctored(matrix: Matrix, good: list[tuple[int, ...]], budget_id: str) -> list[list[int]]:
    """Good rows, each changed so far that it just breaks the rule if it meets it."""
    column, change = BREAKS[matrix.name][budget_id]
    place = matrix.columns.index(column)
    out = [list(row) for row in good]
    for row in out:
        if change == ZERO:
            row[place] = 0
        elif budget_id == "partial-is-smaller":
            row[place] = row[matrix.columns.index("event_off")] - 2
        elif budget_id == "frame-is-bounded":
            names = dict(zip(matrix.columns, row, strict=True))
            row[place] = names["due_on"] + names["table_map"] + change
        elif column == "verdict":
            row[place] = change
        else:
            row[place] += change
    return out


ALL_BUDGETS = [(name, budget.id) for name in matrix_names() for budget in load_matrix(name).budgets]


@pytest.mark.parametrize(("name", "budget_id"), ALL_BUDGETS)
def test_a_budget_passes_good_rows_and_fails_on_rows_that_break_it_by_one(
    name: str, budget_id: str, good_rows: dict[str, list[tuple[int, ...]]]
) -> None:
    matrix = load_matrix(name)
    for rows_, word in ((good_rows[name], "pass"), (_doctored(matrix, good_rows[name], budget_id), "fail")):
        (item,) = (item for item in judged(matrix, rows_, []).budgets if item.budget.id == budget_id)
        assert item.verdict == word, (item.met, item.broken)


_CAN_FAIL = "A rule fails on rows that break it by one."
BUDGET_FAULTS = (
    Fault("always", "FR11", _CAN_FAIL, lambda budget: replace(budget, must="verdict = verdict")),
    Fault("off-by-one", "FR11", _CAN_FAIL,
          lambda budget: replace(budget, constants=tuple((key, value + 1) for key, value in budget.constants))),
    Fault("of-another-option", "FR11", _CAN_FAIL, lambda budget: replace(budget, where="event_on < 0")),
)  # fmt: skip


@each(BUDGET_FAULTS)
@pytest.mark.parametrize(("name", "budget_id"), [("size-budget", "full-plus-one"), ("break-even", "margin")])
def test_a_budget_that_cannot_fail_is_caught(
    fault: Fault, name: str, budget_id: str, good_rows: dict[str, list[tuple[int, ...]]]
) -> None:
    matrix = load_matrix(name)
    (budget,) = (budget for budget in matrix.budgets if budget.id == budget_id)
    planted = replace(matrix, budgets=(fault.change(budget),))
    good, bad = (
        judged(planted, rows_, []).budgets[0].verdict
        for rows_ in (good_rows[name], _doctored(matrix, good_rows[name], budget_id))
    )
    assert (good, bad) != ("pass", "fail")


# --------------------------------------------------------------------------------------------------------- aggregation


def _without_wrong_rows(rows_: list[list[int]]) -> list[list[int]]:
    """Leave out the wrong rows."""
    verdict = load_matrix("break-even").columns.index("verdict")
    rows_[9][verdict] = 11
    return [row for row in rows_ if row[verdict] < 10]


_ROWS = "Every row is counted once."
AGGREGATION_FAULTS = (
    Fault("a-cell-is-left-out", "FR11 FR12", _ROWS, lambda rows: [row for row in rows if row[0] != 7]),
    Fault("wrong-rows-are-left-out", "FR11 FR12", _ROWS, _without_wrong_rows),
    Fault("a-row-is-counted-twice", "FR11 FR12", _ROWS, lambda rows: [*rows, rows[5]]),
    Fault("a-block-is-missing", "FR11 FR12", _ROWS,
          lambda rows: [row for row in rows if not (row[0] == 3 and row[1] >= 2)]),
    Fault("a-finished-cell-is-added-again", "FR11 FR12", _ROWS,
          lambda rows: [*rows, *(row for row in rows if row[0] == 8)]),
)  # fmt: skip


@each(AGGREGATION_FAULTS)
def test_a_fault_of_the_aggregation_is_caught(fault: Fault) -> None:
    matrix = load_matrix("break-even")
    counts = [4] * matrix.cells
    rows_ = [list(row) for row in all_rows(matrix, counts)]
    assert judged(matrix, rows_, counts).passed
    judgement = judged(matrix, fault.change(rows_), counts)
    assert judgement.unsound
    assert not judgement.passed


def test_a_wrong_row_is_unexplained() -> None:
    matrix = load_matrix("break-even")
    counts = [4] * matrix.cells
    rows_ = [list(row) for row in all_rows(matrix, counts)]
    rows_[9][matrix.columns.index("verdict")] = 11
    assert judged(matrix, rows_, counts).unexplained == 1


@pytest.mark.planted("FR11", "FR12")
def test_a_digest_without_a_column_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = load_matrix("break-even")
    rows_ = [list(row) for row in all_rows(matrix, [4] * matrix.cells)]
    last = [[*row[:-1], row[-1] + 1] for row in rows_]
    assert digest.tally(last) != digest.tally(rows_)
    whole = digest.row_hash
    monkeypatch.setattr(digest, "row_hash", lambda row: whole(row[:-1]))
    assert digest.tally(last) == digest.tally(rows_)  # what test_every_column_is_in_the_digest forbids


def test_the_encoder_is_not_what_the_tests_patched() -> None:
    assert encode(1) == b"\x05\x01\x00"
