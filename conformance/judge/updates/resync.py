"""Going on after a mismatch: its rows take the *observed* documents, and the reference predicts the later steps anew.

Without this, one wrong byte would spoil every later comparison of its row. A row that the log does not show completely
stays marked for the rest of the Case.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.cases.script import ReadBack, Script, Statement
from conformance.judge.updates.events import iter_events
from conformance.reference.binlog.rows import UPDATE_TYPES, RowsBody, included
from conformance.reference.dialect import SOURCE
from conformance.reference.errors import CodecError
from conformance.reference.jsonb.layout import decode_strict
from conformance.reference.partial.apply import apply_field
from conformance.reference.tables.columns import PartialJson

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.cases.observation import Observation
    from conformance.reference.binlog.rows import Row

Rows = dict[int, "Mapping[str, object]"]


def resynchronised(script: Script, observation: Observation, step: int) -> Script | None:
    """The script with new predictions for the steps after ``step``, from the log of ``step``.

    ``None`` where the log does not show the rows: rows of the statement are missing, its diffs do not apply, or they
    lead to rows that no model can go on from.
    """
    observed = _observed_rows(script, observation, step)
    if observed is None or not all(_is_sound(script, values) for values in observed.values()):
        return None
    case = script.case
    model = replace(script.model, rows=script.start_rows)
    resumed = Script(case, script.insert, model, transactions=script.transactions)
    for item in script.items:
        if isinstance(item, Statement):
            number = item.step
            old = script.predictions[number]
            prediction = old if number <= step else model.predict(old.step)
            model.advance(prediction)
            if number == step:
                for index, values in observed.items():
                    model.rows[index] = values
            resumed.predictions.append(prediction)
            resumed.items.append(item)
        elif isinstance(item, ReadBack):
            rows = tuple((index, number, model.rows[index]) for index, number, _ in item.rows)
            resumed.items.append(ReadBack(item.sql, rows))
        else:
            resumed.items.append(item)
    return resumed


def _is_sound(script: Script, values: Mapping[str, object]) -> bool:
    """Whether a model can go on from a row: a writer could make every document, and NULL stands only where it may."""
    for column in script.case.table.columns:
        value = values[column.name]
        if value is None:
            if not column.nullable:
                return False
        elif column.is_json:
            assert isinstance(value, bytes)
            try:
                decode_strict(value)
            except CodecError:
                return False
    return True


def _observed_rows(script: Script, observation: Observation, step: int) -> Rows | None:
    """The rows that a statement visited, as the log leaves them."""
    outcome = observation.outcomes[step]
    prediction = script.predictions[step]
    before = {row.index: row.change.before for row in prediction.rows} or _rows_before(script, step)
    if outcome.error is not None or not outcome.changed:
        return {index: before[index] for index in prediction.step.rows}
    logged_steps = [number for number, item in enumerate(observation.outcomes) if item.changed and item.error is None]
    statements = list(_statements(observation))
    if len(statements) != len(logged_steps):
        return None
    captured = statements[logged_steps.index(step)]
    visited = [row.index for row in prediction.rows]
    if len(captured) != len(visited):
        visited = [row.index for row in prediction.rows if row.change.logged]
    if len(captured) != len(visited):
        return None
    names = [column.name for column in script.case.table.columns]
    if not all(_is_of_table(script, body) for body, _ in captured):
        return None
    try:
        return {
            index: _after(before[index], body, row, names) for index, (body, row) in zip(visited, captured, strict=True)
        }
    except CodecError:
        return None


def _is_of_table(script: Script, body: RowsBody) -> bool:
    """Whether the log has the columns of the Case's table; otherwise values have other types or other places."""
    logged, table = body.map(), script.model.table_map
    return (
        body.column_count == len(table.columns)
        and logged.columns == table.columns
        and logged.unsigned == table.unsigned
    )


def _rows_before(script: Script, step: int) -> Rows:
    """All rows before a statement that was predicted to be refused and therefore names none."""
    rows: Rows = dict(enumerate(script.start_rows))
    for prediction in script.predictions[:step]:
        for row in prediction.rows:
            rows[row.index] = row.change.after
    return rows


def _after(before: Mapping[str, object], body: RowsBody, row: Row, names: list[str]) -> Mapping[str, object]:
    after = dict(before)
    columns = included(body.after_columns or 0, body.column_count)
    for index, value in zip(columns, row.after or (), strict=True):
        name = names[index]
        if isinstance(value, PartialJson):
            stored = before[name]
            assert stored is None or isinstance(stored, bytes)
            after[name] = apply_field(stored, value.diffs, SOURCE)
        else:
            after[name] = value
    return after


def _statements(observation: Observation) -> Iterator[list[tuple[RowsBody, Row]]]:
    """The rows of each UPDATE statement in the log; an unreadable event ends them."""
    rows: list[tuple[RowsBody, Row]] = []
    for _, event, _ in iter_events(observation.events):
        if event is None:
            return
        body = event.body
        if isinstance(body, RowsBody) and body.type in UPDATE_TYPES:
            rows += [(body, row) for row in body.rows]
            if body.statement_end:
                yield rows
                rows = []
