"""Matrices are data: what they say, and what is said of one that is wrong."""

from __future__ import annotations

import pytest

from scenarios.matrix import MatrixError, load_matrix, matrix_names, parse_matrix
from scenarios.sql import budgets_query, expression

SMALL = """
name = "small"
title = "Small"
engine = "update"
[axes]
size = [100, 200]
shape = ["flat", "array"]
[ranges]
pairs = [1, 1, 2]
[scenarios]
total = 100
[[budgets]]
id = "b"
requirement = "FR11"
title = "at most {most}"
where = "diffs > 0"
must = "diff_size <= most"
constants = { most = 7 }
"""


def test_the_promised_matrices_are_there() -> None:
    assert matrix_names() == ["break-even", "compression", "equivalence", "images", "safety", "size-budget"]


@pytest.mark.parametrize("name", matrix_names())
def test_a_matrix_of_the_package_is_sound(name: str) -> None:
    matrix = load_matrix(name)
    assert matrix.name == name
    assert sum(matrix.share(matrix.total)) == matrix.total
    assert len(set(matrix.columns)) == len(matrix.columns)
    assert budgets_query(matrix)
    for budget in matrix.budgets:
        assert budget.title.format(**dict(budget.constants))


def test_cells_are_numbered_with_the_last_axis_fastest() -> None:
    matrix = parse_matrix(SMALL, "small.toml")
    assert [tuple(matrix.cell(number).values()) for number in range(matrix.cells)] == [
        (100, "flat"), (100, "array"), (200, "flat"), (200, "array"),
    ]  # fmt: skip
    with pytest.raises(MatrixError, match="no cell 4; cells are 0 to 3"):
        matrix.cell(4)


def test_words_stand_in_rows_as_their_place_and_numbers_as_themselves() -> None:
    matrix = parse_matrix(SMALL, "small.toml")
    assert matrix.words("shape") == ("flat", "array")
    assert matrix.words("pairs") is None
    assert (matrix.code("shape", "array"), matrix.code("pairs", 2)) == (1, 2)


def test_scenarios_are_shared_by_weight_to_exactly_the_total() -> None:
    matrix = parse_matrix(SMALL.replace("total = 100", "total = 100\nsize = [9, 1]"), "small.toml")
    counts = matrix.share(1003)
    assert sum(counts) == 1003
    assert counts[0] in range(449, 452)
    assert counts[3] in range(49, 52)
    assert matrix.share(4) == [1, 1, 1, 1]
    with pytest.raises(MatrixError, match="has 4 cells: --scenarios is 4 or more, got 3"):
        matrix.share(3)


def test_size_budget_has_enough_large_documents_in_ten_million() -> None:
    matrix = load_matrix("size-budget")
    counts = matrix.share(10_000_000)
    for cell, count in enumerate(counts):
        size = int(matrix.cell(cell)["size"])
        assert count >= (500 if size >= 1 << 20 else 5000 if size >= 1 << 16 else 1)


def test_the_digest_is_that_of_what_makes_scenarios() -> None:
    plain = parse_matrix(SMALL, "small.toml").digest
    assert parse_matrix(SMALL.replace("most = 7", "most = 8"), "small.toml").digest == plain
    assert parse_matrix(SMALL.replace("total = 100", "total = 200"), "small.toml").digest == plain
    assert parse_matrix(SMALL.replace("[100, 200]", "[100, 201]"), "small.toml").digest != plain
    assert parse_matrix(SMALL.replace("[1, 1, 2]", "[1, 2]"), "small.toml").digest != plain


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('engine = "update"', 'engine = "other"', "engine: expected one of update, equivalence, safety, got other"),
        ("size = [100, 200]", "size = [1, 200]", "axes.size: expected 4 to 4194304, got 1"),
        ("size = [100, 200]", "size = []", r"axes.size: expected a list of values, got \[\]"),
        ("size = [100, 200]", "size = [100, 100]", "axes.size: expected each value once"),
        ('"flat", "array"', '"flat", "round"', "axes.shape: expected one of flat, nested, array, text, got 'round'"),
        ("pairs = [1, 1, 2]", "pears = [1]", "ranges.pears: expected one of .*pairs.*, got pears"),
        ("pairs = [1, 1, 2]", "pairs = [true]", "ranges.pairs: expected 1 to 32, got True"),
        ("pairs = [1, 1, 2]", "size = [100]", "ranges: expected no name that is an axis too, got size"),
        ("total = 100", "total = 0", "scenarios.total: expected a number of scenarios, got 0"),
        (
            "total = 100",
            "total = 100\nsize = [1]",
            r"scenarios.size: expected 2 weights, .*got \[1\]",
        ),
        (
            "total = 100",
            "total = 100\npairs = [1]",
            "scenarios: expected total, .*one axis, got pairs",
        ),
        ('must = "diff_size <= most"', "", r"budgets\[0\].must: expected a text, got None"),
        ("{ most = 7 }", '{ most = "x" }', r"budgets\[0\].constants.most: expected an integer, got 'x'"),
        ('id = "b"', 'id = "b"\nrows = "some"', r"budgets\[0\].rows: expected right or all, got 'some'"),
        ('id = "b"', 'id = "b"\nshare = 101', r"budgets\[0\].share: expected a number of per cent, got 101"),
        ('id = "b"', 'id = "b"\nlimit = 3', r"budgets\[0\].limit: expected no such key, got it"),
        ('title = "Small"', 'title = "Small"\nmore = 1', "more: expected no such key, got it"),
        ("[axes]", "[axes", "small.toml: not TOML"),
    ],
)
def test_what_is_wrong_with_a_matrix_is_said_with_its_place(old: str, new: str, message: str) -> None:
    assert old in SMALL
    with pytest.raises(MatrixError, match=message):
        parse_matrix(SMALL.replace(old, new), "small.toml")


def test_a_matrix_that_does_not_exist_is_said_with_those_that_do() -> None:
    with pytest.raises(MatrixError, match=r"no matrix 'nothing'; there are break-even, .*size-budget"):
        load_matrix("nothing")


def test_a_budget_may_name_columns_and_constants_only() -> None:
    matrix = parse_matrix(SMALL.replace("diff_size <= most", "diff_sise <= most"), "small.toml")
    with pytest.raises(MatrixError, match=r"matrix small, budget b: expected a column.*got 'diff_sise'"):
        budgets_query(matrix)
    budget = parse_matrix(SMALL, "small.toml").budgets[0]
    assert expression(matrix, "diff_size <= most AND shape = 'most'", budget) == "`diff_size` <= 7 AND `shape` = 'most'"
