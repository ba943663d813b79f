"""The SQL of a matrix: rows with words for codes, and one question for all budgets.

Rows with a wrong verdict have no measures and fail a run by themselves: budgets judge the other rows, and all rows
where the budget says so.

The dialect is the common part of Spark SQL and SQLite, so that the same texts judge a small result without Spark. This
module quotes names of columns; a budget's text has them bare.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from scenarios.codes import FIRST_WRONG
from scenarios.matrix import MatrixError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scenarios.matrix import Budget, Matrix

RAW: Final = "scenario_rows"
"""The table or view that holds the worker's rows."""

_RIGHT: Final = f"`verdict` < {FIRST_WRONG}"
_TOKEN: Final = re.compile(r"'[^']*'|[A-Za-z_]\w*|[^\w']+|\d+")
_WORDS: Final = frozenset(
    ("AND", "OR", "NOT", "IN", "BETWEEN", "CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "AS", "BIGINT", "ABS")
)


def expression(matrix: Matrix, text: str, budget: Budget | None = None) -> str:
    """A budget's text with its names quoted and its constants filled in."""
    constants = dict(budget.constants) if budget is not None else {}
    out = []
    for token in _TOKEN.findall(text):
        if token[0].isalpha() or token[0] == "_":
            if token in constants:
                token = str(constants[token])
            elif token in matrix.columns:
                token = f"`{token}`"
            elif token.upper() not in _WORDS:
                where = f"matrix {matrix.name}" + (f", budget {budget.id}" if budget is not None else "")
                raise MatrixError(f"{where}: expected a column, a constant or a word of SQL, got {token!r} in {text!r}")
        out.append(token)
    return "".join(out)


def rows_view(matrix: Matrix) -> str:
    """A subquery: the worker's rows with the codes of settings replaced by their words."""
    columns = []
    settings = {*matrix.axes, *matrix.ranges}
    for name in matrix.columns:
        words = matrix.words(name) if name in settings else None
        if words is None:
            columns.append(f"`{name}`")
        else:
            cases = " ".join(f"WHEN {code} THEN '{word}'" for code, word in enumerate(words))
            columns.append(f"CASE `{name}` {cases} END AS `{name}`")
    return f"(SELECT {', '.join(columns)} FROM {RAW}) AS scenario_view"


def _met(matrix: Matrix, budget: Budget) -> str:
    where = f"({expression(matrix, budget.where, budget)})"
    return where if budget.rows == "all" else f"{_RIGHT} AND {where}"


def _broken(matrix: Matrix, budget: Budget) -> str:
    return f"{_met(matrix, budget)} AND NOT ({expression(matrix, budget.must, budget)})"


def _counts(matrix: Matrix, budgets: Iterable[Budget]) -> list[str]:
    return [
        f"coalesce(sum(CASE WHEN {condition(matrix, budget)} THEN 1 ELSE 0 END), 0)"
        for budget in budgets
        for condition in (_met, _broken)
    ]


def budgets_query(matrix: Matrix) -> str:
    """A query for one row: for each budget the number of rows that it meets, and of those that break it."""
    return f"SELECT {', '.join(['count(*)', *_counts(matrix, matrix.budgets)])} FROM {rows_view(matrix)}"


def shares_query(matrix: Matrix, budgets: Sequence[Budget]) -> str:
    """A query for one row a cell: its number, then the two counts of each budget."""
    return f"SELECT {', '.join(['`cell`', *_counts(matrix, budgets)])} FROM {rows_view(matrix)} GROUP BY `cell`"


def offenders_query(matrix: Matrix, budget: Budget, *, cells: Sequence[int] | None, limit: int) -> str:
    """A query for the rows that break a budget, the worst first. ``cells``: only these."""
    worst = expression(matrix, budget.offender, budget)
    inside = "" if cells is None else f" AND `cell` IN ({', '.join(map(str, cells))})"
    return _listed(matrix, worst, "DESC", _broken(matrix, budget) + inside, limit)


def nearest_query(matrix: Matrix, budget: Budget, limit: int) -> str:
    """A query for the good rows that come nearest to the border of a budget, the nearest first."""
    return _listed(matrix, expression(matrix, budget.distance, budget), "ASC", _met(matrix, budget), limit)


def _listed(matrix: Matrix, value: str, order: str, condition: str, limit: int) -> str:
    return (
        f"SELECT `cell`, `scenario`, {value} AS listed FROM {rows_view(matrix)} WHERE {condition}"
        f" ORDER BY listed {order}, `cell`, `scenario` LIMIT {limit}"
    )


def verdicts_query() -> str:
    """A query for the count of each verdict."""
    return f"SELECT `verdict`, count(*) FROM {RAW} GROUP BY `verdict`"


def wrong_query(limit: int) -> str:
    """A query for the first rows with a wrong verdict."""
    return (
        f"SELECT `cell`, `scenario`, `verdict`, `error` FROM {RAW} WHERE NOT ({_RIGHT})"
        f" ORDER BY `cell`, `scenario` LIMIT {limit}"
    )
