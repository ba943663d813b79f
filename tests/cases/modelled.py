"""A Case's rows and predictions, step by step, from the model alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.cases.predict import Model
from generators.strategies import advance
from generators.tables import SELECTOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.predict import StepPrediction
    from conformance.cases.session import Session
    from conformance.cases.update_case import Step, UpdateCase
    from conformance.reference.tables.definitions import Table
    from generators.cases import Row


def taken(table: Table, session: Session, rows: Sequence[Row], step: Step) -> Sequence[Row]:
    """The same, of a step that no server refuses. Raises :class:`AssertionError` for another."""
    prediction = Model(table, SELECTOR, session, list(rows)).predict(step)
    assert prediction.error is None, (prediction.error, step)
    return advance(table, session, rows, step)


def predictions(case: UpdateCase) -> list[StepPrediction]:
    """Return the model's prediction of each step."""
    names = [column.name for column in case.table.columns]
    rows: list[Row] = [dict(zip(names, row, strict=True)) for row in case.rows]
    model = Model(case.table, case.selector, case.session, rows)
    made = []
    for step in case.steps:
        made.append(model.predict(step))
        model.advance(made[-1])
    return made
