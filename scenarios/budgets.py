"""Budgets as verdicts: what the rows of a run show about the requirements, and which rows show it.

A budget that meets too few rows does not pass: it shows nothing. Missing or doubled rows end every verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from conformance.verdict import Verdict
from scenarios import digest as digests
from scenarios import sql
from scenarios.codes import Code

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scenarios.digest import CellTally
    from scenarios.matrix import Budget, Matrix

OFFENDERS: Final = 10  # rows listed for a budget
WRONG_ROWS: Final = 50


class Store(Protocol):
    """The rows of a run, wherever they are: Parquet behind Spark, or SQLite in memory."""

    def query(self, text: str) -> list[tuple[Any, ...]]:
        """The answer to one of the questions of ``scenarios.sql``."""

    def tallies(self) -> dict[int, CellTally]:
        """The tallies of the rows, by cell."""


@dataclass(frozen=True, slots=True)
class Offender:
    """A row by its replay id, and the size of its violation or its distance from the border."""

    replay: str
    value: int


@dataclass(frozen=True, slots=True)
class JudgedBudget:
    """One budget, the rows that it met, and the rows that break it.

    A budget with a share is broken by the rows that break its rule in cells where these are too many, and two at
    least. ``offenders``:
    rows that break it, the worst first; if there are none, those that come nearest to its border.
    """

    budget: Budget
    met: int
    broken: int
    offenders: tuple[Offender, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict: rows that break the budget fail it; too few rows decide nothing."""
        if self.broken:
            return Verdict.FAIL
        return Verdict.PASS if self.met >= self.budget.least else Verdict.INCONCLUSIVE

    @property
    def title(self) -> str:
        """The budget's title with its constants filled in."""
        return self.budget.title.format(**dict(self.budget.constants))


@dataclass(frozen=True, slots=True)
class WrongRow:
    """A row with a wrong code that no deviation explains."""

    replay: str
    code: str
    error: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """All verdicts of a run."""

    digest: str
    rows: int
    verdicts: Mapping[str, int]
    budgets: tuple[JudgedBudget, ...]
    wrong: tuple[WrongRow, ...]
    unsound: tuple[str, ...]
    cells: Mapping[int, CellTally]

    @property
    def unexplained(self) -> int:
        """The number of rows whose code is wrong."""
        return sum(count for word, count in self.verdicts.items() if Code[word].wrong)

    @property
    def passed(self) -> bool:
        """Whether all budgets hold and all rows were there."""
        return not self.unexplained and not self.unsound and all(item.verdict is Verdict.PASS for item in self.budgets)


def replay_id(matrix: Matrix, cell: int, scenario: int) -> str:
    """A scenario's name on the command line."""
    return f"matrix:{matrix.name}/{cell}/{scenario}"


def judge(matrix: Matrix, store: Store, counts: Sequence[int]) -> Judgement:
    """Judge the rows of a run; ``counts`` are the scenarios that each cell should have."""
    cells = store.tallies()
    (answer,) = store.query(sql.budgets_query(matrix))
    short = _short(matrix, store)
    budgets = []
    for number, budget in enumerate(matrix.budgets):
        met, broken = int(answer[1 + 2 * number]), int(answer[2 + 2 * number])
        below = short.get(budget.id) if budget.share else None
        if budget.share:
            broken = sum((below or {}).values())
        listed: list[tuple[Any, ...]] = []
        if broken:
            listed = store.query(
                sql.offenders_query(matrix, budget, cells=sorted(below) if below else None, limit=OFFENDERS)
            )
        elif met and budget.distance:
            listed = store.query(sql.nearest_query(matrix, budget, OFFENDERS))
        offenders = tuple(Offender(replay_id(matrix, int(row[0]), int(row[1])), int(row[2])) for row in listed)
        budgets.append(JudgedBudget(budget, met, broken, offenders))
    wrong = tuple(
        WrongRow(replay_id(matrix, int(cell), int(index)), Code(int(verdict)).name, int(error))
        for cell, index, verdict, error in store.query(sql.wrong_query(WRONG_ROWS))
    )
    return Judgement(
        digest=digests.digest(matrix.digest, cells),
        rows=int(answer[0]),
        verdicts={Code(int(code)).name: int(count) for code, count in sorted(store.query(sql.verdicts_query()))},
        budgets=tuple(budgets),
        wrong=wrong,
        unsound=tuple(digests.unsound(cells, counts)),
        cells=cells,
    )


def _short(matrix: Matrix, store: Store) -> dict[str, dict[int, int]]:
    """For each budget with a share the cells that fall short of it, with their rows that break the rule."""
    budgets = [budget for budget in matrix.budgets if budget.share]
    if not budgets:
        return {}
    found: dict[str, dict[int, int]] = {}
    for cell, *counts in store.query(sql.shares_query(matrix, budgets)):
        for number, budget in enumerate(budgets):
            met, broken = int(counts[2 * number]), int(counts[2 * number + 1])
            if broken > 1 and broken * 100 > (100 - budget.share) * met:  # one row is no share
                found.setdefault(budget.id, {})[int(cell)] = broken
    return found
