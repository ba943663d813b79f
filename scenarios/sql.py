"""The SQL of a matrix: rows with words for codes, and one question for all budgets.

Rows with a wrong verdict have no measures and fail a run by themselves: budgets judge the other rows.

The dialect is the common part of Spark SQL and SQLite, so that the same texts judge a small result without Spark. This
module quotes names of columns; a budget's text has them bare.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from scenarios.codes import FIRST_WRONG
from scenarios.matrix import MatrixError

if TYPE_CHECKING:
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


def budgets_query(matrix: Matrix) -> str:
    """A query for one row: for each budget the number of rows that it meets, and of those that break it."""
    columns = ["count(*)"]
    for budget in matrix.budgets:
        where, must = (expression(matrix, text, budget) for text in (budget.where, budget.must))
        columns += [
            f"coalesce(sum(CASE WHEN {_RIGHT} AND ({where}) THEN 1 ELSE 0 END), 0)",
            f"coalesce(sum(CASE WHEN {_RIGHT} AND ({where}) AND NOT ({must}) THEN 1 ELSE 0 END), 0)",
        ]
    return f"SELECT {', '.join(columns)} FROM {rows_view(matrix)}"


def offenders_query(matrix: Matrix, budget: Budget, *, broken: bool, limit: int) -> str:
    """A query for the worst rows of a budget: those that break it, or those that come nearest to breaking it."""
    where, must, worst = (expression(matrix, text, budget) for text in (budget.where, budget.must, budget.offender))
    condition = f"{_RIGHT} AND ({where})" + (f" AND NOT ({must})" if broken else "")
    return (
        f"SELECT `cell`, `scenario`, {worst} AS worst FROM {rows_view(matrix)} WHERE {condition}"
        f" ORDER BY worst DESC, `cell`, `scenario` LIMIT {limit}"
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
