"""A Case with its predictions, laid out in the order in which a server will be asked: statements and read-backs.

A script updates several rows between two read-backs as long as it touches no row twice. So a few round trips compare
size, free space and text after *every* update.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.cases.case_sql import insert_statement, read_back_statement, update_statement
from conformance.cases.predict import Model, StepPrediction
from conformance.reference.dialect import MYSQL, Dialect
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.sql.as_read import document_as_read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.cases.update_case import Step, UpdateCase


TRIGGER_SWITCHES: Final = ("diffs_miss_triggers", "storage_misses_triggers")
"""Switches of the dialect that leave out of the log, or of the row, what a trigger did."""


@dataclass(frozen=True, slots=True)
class Statement:
    """Statement number ``step`` of the Case."""

    step: int
    sql: str


@dataclass(frozen=True, slots=True)
class ReadBack:
    """A SELECT, the rows it must find (in order, as predicted values) and the step that touched each last."""

    sql: str
    rows: tuple[tuple[int, int, Mapping[str, object]], ...]  # (start row index, step, predicted values)


@dataclass(frozen=True, slots=True)
class Control:
    """BEGIN or COMMIT. A transaction of one statement needs neither: the session commits by itself."""

    sql: str


@dataclass(slots=True)
class Script:
    """``insert`` makes the start rows; ``items`` follow in order; ``predictions`` are parallel to the Case's steps."""

    case: UpdateCase
    insert: str
    model: Model
    items: list[Statement | ReadBack | Control] = field(default_factory=list)
    predictions: list[StepPrediction] = field(default_factory=list)
    transactions: list[list[int]] = field(default_factory=list)  # numbers of the steps in each

    @property
    def start_rows(self) -> list[Mapping[str, object]]:
        """The start rows as the server stores them, by column. Those of a Case are what its INSERT says."""
        return stored_rows(self.case, self.model.dialect)

    @property
    def updates(self) -> int:
        """Rows visited by update statements: what a run counts as updates."""
        return sum(len(prediction.step.rows) for prediction in self.predictions)


class ScriptBuilder:
    """Builds a script step by step, so that a generator can look at the predicted rows before it makes the next."""

    def __init__(
        self,
        case: UpdateCase,
        *,
        row_metadata: str = "MINIMAL",
        row_event_max_size: int = 8192,
        dialect: Dialect = MYSQL,
    ) -> None:
        self.model = Model(
            case.table,
            case.selector,
            case.session,
            stored_rows(case, dialect),
            row_metadata=row_metadata,
            row_event_max_size=row_event_max_size,
            trigger=case.trigger,
            dialect=dialect,
        )
        self.script = Script(case, insert_statement(case.table, case.rows), self.model)
        self._touched: dict[int, int] = {}
        self._open = False

    def add(self, step: Step) -> StepPrediction:
        """Predict a step, render it, advance the model."""
        model, script = self.model, self.script
        number = len(script.predictions)
        if any(row in self._touched for row in step.rows):
            self.read_back()
        keys = [model.rows[index][model.selector] for index in model.visit_order(step)]
        sql = update_statement(model.table, model.selector, step.assignments, keys)
        prediction = model.predict(step)
        model.advance(prediction)
        script.predictions.append(prediction)
        if self._open:
            script.transactions[-1].append(number)
        else:
            script.transactions.append([number])
            if not step.commit:
                script.items.append(Control("BEGIN"))
        script.items.append(Statement(number, sql))
        for row in step.rows:
            self._touched[row] = number
        if step.commit and self._open:
            script.items.append(Control("COMMIT"))
        self._open = not step.commit
        return prediction

    def read_back(self) -> None:
        """Read back the rows touched since the last time."""
        model = self.model
        if not self._touched or not model.columns.json:
            self._touched.clear()
            return
        order = sorted(self._touched, key=lambda index: model.rows[index][model.selector])  # type: ignore[arg-type,return-value]
        keys = [model.rows[index][model.selector] for index in order]
        sql = read_back_statement(model.table, model.selector, keys)
        rows = tuple((index, self._touched[index], model.rows[index]) for index in order)
        self.script.items.append(ReadBack(sql, rows))
        self._touched.clear()

    def finish(self) -> Script:
        """The whole script, its last read-back included."""
        self.read_back()
        if self._open:
            self.script.items.append(Control("COMMIT"))
            self._open = False
        return self.script


def stored_rows(case: UpdateCase, dialect: Dialect) -> list[Mapping[str, object]]:
    """The start rows of a Case as a server of a dialect stores them, by column."""
    names = [column.name for column in case.table.columns]
    rows: list[dict[str, object]] = [dict(zip(names, row, strict=True)) for row in case.rows]
    for index in case.table.json_columns:
        for row in rows:
            document = row[names[index]]
            if isinstance(document, bytes) and dialect.json != MYSQL.json:
                row[names[index]] = encode(document_as_read(decode(document), dialect.json))
    return rows  # type: ignore[return-value]


def build_script(
    case: UpdateCase, *, row_metadata: str = "MINIMAL", row_event_max_size: int = 8192, dialect: Dialect = MYSQL
) -> Script:
    """The script of a Case whose steps are known."""
    builder = ScriptBuilder(case, row_metadata=row_metadata, row_event_max_size=row_event_max_size, dialect=dialect)
    for step in case.steps:
        builder.add(step)
    return builder.finish()
