"""The worker is a function of matrix, cell and index, and its rows are facts."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing

import pytest

from scenarios.budgets import judge
from scenarios.codes import Code
from scenarios.digest import digest, row_hash, tally, unsound
from scenarios.engines import update
from scenarios.inline import SqliteStore, all_rows
from scenarios.matrix import load_matrix, matrix_names
from scenarios.worker import run_block, settings_of

SMALL_SIZE = 4096


def cells_of(name: str) -> list[int]:
    """Cells with documents that are quick to make."""
    matrix = load_matrix(name)
    return [cell for cell in range(matrix.cells) if int(matrix.cell(cell).get("size", 0)) <= SMALL_SIZE]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", matrix_names())
def test_a_matrix_holds_on_a_few_scenarios_of_each_cell(name: str) -> None:
    matrix = load_matrix(name)
    counts = [3 if cell in set(cells_of(name)) else 0 for cell in range(matrix.cells)]
    with closing(SqliteStore(matrix, all_rows(matrix, counts))) as store:
        judgement = judge(matrix, store, counts)
    assert judgement.passed, judgement
    assert judgement.rows == sum(counts)


def test_rows_have_the_columns_of_the_matrix_and_integers_only() -> None:
    for name in matrix_names():
        matrix = load_matrix(name)
        (row,) = run_block(matrix, 1, 7, 1)
        assert len(row) == len(matrix.columns)
        assert row[:2] == (1, 7)
        assert {type(value) for value in row} <= {int}


@pytest.mark.parametrize("name", matrix_names())
def test_a_scenario_is_the_same_in_whatever_block_it_is(name: str) -> None:
    matrix = load_matrix(name)
    whole = list(run_block(matrix, 5, 0, 12))
    assert [*run_block(matrix, 5, 0, 5), *run_block(matrix, 5, 5, 7)] == whole
    assert list(run_block(matrix, 5, 11, 1)) == whole[11:]


def test_a_scenario_does_not_depend_on_the_hash_seed_of_the_process() -> None:
    program = (
        "from scenarios.matrix import *; from scenarios.worker import *; from scenarios.digest import *\n"
        "for name in matrix_names():\n"
        "    matrix = load_matrix(name)\n"
        "    rows = (row for cell in (0, 7, 40) for row in run_block(matrix, cell, 0, 5))\n"
        "    print(name, digest(matrix.digest, tally(rows)))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL,
        ).stdout
        for seed in ("0", "77")
    }  # fmt: skip
    assert len(answers) == 1


def test_documents_have_about_the_size_of_their_cell() -> None:
    matrix = load_matrix("size-budget")
    place = matrix.columns.index("document")
    for cell in range(0, matrix.cells, 8):
        size = int(matrix.cell(cell)["size"])
        for row in run_block(matrix, cell, 0, 3):
            assert size * 0.6 - 60 <= row[place] <= size * 1.4 + 60, matrix.cell(cell)


def test_a_failure_of_the_lab_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = load_matrix("images")
    good = list(run_block(matrix, 3, 0, 2))

    def broken(*_: object, **__: object) -> object:
        raise ZeroDivisionError

    monkeypatch.setattr("scenarios.engines.update.document", broken)
    rows = list(run_block(matrix, 3, 0, 2))
    place = matrix.columns.index("verdict")
    assert [row[place] for row in rows] == [Code.BROKEN] * 2
    assert [row[: place - 1] for row in rows] == [row[: place - 1] for row in good]


def test_a_scenario_is_a_case_too() -> None:
    matrix = load_matrix("size-budget")
    settings, draw = settings_of(matrix, 9, 4)
    case = update.scenario(draw, settings).case("x")
    assert case.selector == "id"
    assert len(case.rows) == 1
    assert len(case.steps) == (2 if settings["padding"] == "hole" else 1)


# ------------------------------------------------------------------------------------------------------------- digests


def test_the_hash_of_a_row_is_sparks() -> None:
    # SELECT xxhash64(1L), xxhash64(0L, -1L), xxhash64(42L, 1099511627776L, -7L) of Spark 4.
    assert [row_hash(row) - (1 << 64) * (row_hash(row) >> 63) for row in ((1,), (0, -1), (42, 1 << 40, -7))] == [
        -7001672635703045582, -3422729216832164903, -1658384686041016756,
    ]  # fmt: skip


def test_the_digest_does_not_know_the_order_of_rows() -> None:
    matrix = load_matrix("break-even")
    rows = [row for cell in (1, 2, 3) for row in run_block(matrix, cell, 0, 4)]
    assert digest("m", tally(rows)) == digest("m", tally(reversed(rows)))
    assert digest("n", tally(rows)) != digest("m", tally(rows))


@pytest.mark.parametrize("column", range(len(load_matrix("break-even").columns)))
def test_every_column_is_in_the_digest(column: int) -> None:
    rows = list(run_block(load_matrix("break-even"), 100, 0, 3))
    other = [list(row) for row in rows]
    other[1][column] += 1
    assert digest("m", tally(other)) != digest("m", tally(rows))


def test_rows_that_are_missing_or_twice_are_noticed() -> None:
    matrix = load_matrix("break-even")
    rows = [row for cell in (0, 1) for row in run_block(matrix, cell, 0, 3)]
    assert unsound(tally(rows), [3, 3]) == []
    assert unsound(tally(rows[1:]), [3, 3]) == ["cell 0: expected 3 rows, got 2 of 2 scenarios"]
    assert unsound(tally([*rows, rows[0]]), [3, 3]) == ["cell 0: expected 3 rows, got 4 of 3 scenarios"]
    assert unsound(tally([*rows[1:], rows[1]]), [3, 3]) == ["cell 0: expected 3 rows, got 3 of 2 scenarios"]
    assert unsound(tally(rows[:3]), [3, 3]) == ["cell 1: expected 3 rows, got 0 of 0 scenarios"]
    assert unsound(tally(rows), [3]) == ["cell 1: 3 rows that nobody asked for"]
