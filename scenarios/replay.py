"""Replays one scenario of a matrix by its replay id ``matrix:NAME/CELL/INDEX``."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.replay_word import Word
from scenarios.budgets import judge
from scenarios.codes import Code, Wrong
from scenarios.engines import update
from scenarios.inline import SqliteStore
from scenarios.matrix import MatrixError, load_matrix
from scenarios.worker import run_block, settings_of

if TYPE_CHECKING:
    from conformance.cases.update_case import UpdateCase
    from scenarios.matrix import Matrix

PREFIX: Final = "matrix:"
_ID: Final = re.compile(r"matrix:([a-z0-9-]+)/(\d+)/(\d+)")


@dataclass(frozen=True, slots=True)
class ReplayOutcome:
    """``word``: PASS, FAILED or ERROR (the lab itself failed). ``lines`` for people."""

    word: Word
    lines: tuple[str, ...]


def parse(text: str) -> tuple[Matrix, int, int]:
    """Matrix, cell and index of a replay id."""
    match = _ID.fullmatch(text)
    if match is None:
        raise MatrixError(f"expected matrix:NAME/CELL/INDEX, got {text!r}")
    matrix, cell, index = load_matrix(match[1]), int(match[2]), int(match[3])
    matrix.cell(cell)
    return matrix, cell, index


def replay_scenario(matrix: Matrix, cell: int, index: int) -> ReplayOutcome:
    """Run and judge the scenario: the worker's own verdict, then every budget on its one row."""
    settings, draw = settings_of(matrix, cell, index)
    lines = ["settings: " + ", ".join(f"{name} {value}" for name, value in settings.items())]
    try:
        matrix.module.measure(draw, settings)
    except Wrong as wrong:
        lines.append(f"{wrong.code.name}: {wrong}")
    except Exception as error:  # noqa: BLE001 - shown to the user: the row only says that the lab failed
        lines.append(f"{Code.BROKEN.name}: {type(error).__name__}: {error}")
    (row,) = run_block(matrix, cell, index, 1)
    measures = dict(zip(matrix.columns, row, strict=True))
    code = Code(measures["verdict"])
    lines.append("measures: " + ", ".join(f"{name} {measures[name]}" for name in matrix.module.MEASURES))
    with closing(SqliteStore(matrix, [row])) as store:
        judgement = judge(matrix, store, [])
    broken = [item for item in judgement.budgets if item.broken]
    lines += [f"budget {item.budget.id} ({item.budget.requirement}) is broken: {item.title}" for item in broken]
    if code is Code.BROKEN:
        return ReplayOutcome(Word.ERROR, tuple(lines))
    return ReplayOutcome(Word.FAILED if code.wrong or broken else Word.PASS, tuple(lines))


def as_case(matrix: Matrix, cell: int, index: int) -> UpdateCase:
    """The scenario as a Case for a real server: possible for scenarios of the update engine."""
    if matrix.engine != "update":
        raise MatrixError(f"matrix {matrix.name}: its scenarios are no updates, so no Case stands for one")
    settings, draw = settings_of(matrix, cell, index)
    return update.scenario(draw, settings).case(f"{matrix.name}-{cell}-{index}")
