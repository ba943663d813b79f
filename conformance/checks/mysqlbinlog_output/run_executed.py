"""Generated updates as ``mysqlbinlog -v`` prints them, run on tables with the documents before the updates.

The source copies every row before and after an update, inside the same transaction: real documents, with their types.
The printed text of each column then runs on the old copy. The judge compares the result with the new copy, as text and
by SQL ``=``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cases.case_sql import where_clause
from conformance.cases.script import Control, Statement
from conformance.checks.mysqlbinlog_output.pseudo_statements import (
    Predicted,
    Result,
    expression,
    predict,
    printed_updates,
)
from conformance.judge.problem import Problem
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.definitions import create_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.cases.script import Script
    from conformance.checks.mysqlbinlog_output.run import Client
    from conformance.reference.binlog.rows import RowsBody
    from conformance.reference.partial.update import RowChange
    from conformance.servers.wire.connection import Connection
    from conformance.servers.wire.packets import Result as Answer

BEFORE, AFTER = "pseudo_before", "pseudo_after"
_SHOWN: Final = 300  # characters of a value


class Assigned(NamedTuple):
    """The printed value of one column of one updated row, as a statement."""

    row: int
    column: str
    sql: str
    compare: str
    predicted: Predicted


@dataclass(slots=True)
class Executed:
    """The results of the text: problems, and how often the text could not carry the event's value, by reason."""

    assigned: int = 0
    problems: list[Problem] = field(default_factory=list)
    losses: Counter[str] = field(default_factory=Counter)
    functions: Counter[str] = field(default_factory=Counter)  # how often each was run


def logged_rows(script: Script) -> list[RowChange]:
    """The rows that the updates change, in the order of the log."""
    return [row.change for step in script.predictions if step.error is None for row in step.rows if row.change.logged]


def run_with_copies(client: Client, script: Script) -> None:
    """Run a Case, and copy each row that it changes. Raises :class:`SqlError` for an update that the server refuses."""
    case = script.case
    names = [quote_identifier(case.table.columns[index].name) for index in case.table.json_columns]
    columns = ", ".join(f"{name} JSON" for name in names)
    statements = [*case.session.statements(), f"DROP TABLE IF EXISTS {quote_identifier(case.table.name)}"]
    for name in (BEFORE, AFTER):
        statements += [f"DROP TABLE IF EXISTS {name}", f"CREATE TABLE {name} (number INT PRIMARY KEY, {columns})"]
    statements += [create_table(case.table), script.insert, *_with_copies(script, ", ".join(names))]
    client.connection.execute_many(statements).check()


def _with_copies(script: Script, names: str) -> Iterator[str]:
    case = script.case
    table = quote_identifier(case.table.name)
    number = 0
    for item in script.items:
        if isinstance(item, Control):
            yield item.sql
        elif isinstance(item, Statement) and script.predictions[item.step].error is None:
            changes = [row.change for row in script.predictions[item.step].rows if row.change.logged]
            for target, part in ((BEFORE, "before"), (AFTER, "after")):
                if target == AFTER:
                    yield item.sql
                for place, change in enumerate(changes):
                    where = where_clause(case.table, case.selector, [getattr(change, part)[case.selector]])
                    yield f"INSERT INTO {target} SELECT {number + place}, {names} FROM {table} WHERE {where}"
            number += len(changes)


def assigned_columns(script: Script, schema: str, text: bytes, bodies: Sequence[RowsBody]) -> list[Assigned]:
    """The statements of the printed rows. Raises :class:`ValueError` if the client prints other rows than the changed
    ones."""
    case = script.case
    updates = printed_updates(text, schema, case.table.name)
    changes = logged_rows(script)
    images = [
        dict(zip(_included(body), row.after, strict=True))
        for body in bodies
        if body.map().table == case.table.name
        for row in body.rows
        if row.before is not None and row.after is not None
    ]
    if not len(updates) == len(changes) == len(images):
        raise ValueError(f"{len(updates)} updates are printed, {len(changes)} rows were changed")
    return [
        assigned
        for number, (printed, image, change) in enumerate(zip(updates, images, changes, strict=True))
        for assigned in _of_row(script, number, printed, image, change)
    ]


def _included(body: RowsBody) -> list[int]:
    bitmap = body.after_columns or 0
    return [index for index in range(body.column_count) if bitmap >> index & 1]


def _of_row(
    script: Script, number: int, printed: Mapping[int, bytes], image: Mapping[int, object], change: RowChange
) -> Iterator[Assigned]:
    columns = script.case.table.columns
    for index in script.case.table.json_columns:
        if index not in image and index + 1 not in printed:
            continue
        if index not in image or index + 1 not in printed:
            raise ValueError(f"row {number}: other columns are printed than the event has")
        plain = columns[index].name
        name = quote_identifier(plain)
        before, after = change.before[plain], change.after[plain]
        assert before is None or isinstance(before, bytes)
        assert after is None or isinstance(after, bytes)
        yield Assigned(
            row=number,
            column=plain,
            sql=f"UPDATE {BEFORE} SET {name}={expression(printed[index + 1], index + 1, name)} WHERE number={number}",
            compare=f"SELECT p.{name}, a.{name}, p.{name} <=> a.{name}"
            f" FROM {BEFORE} p JOIN {AFTER} a USING (number) WHERE number={number}",
            predicted=predict(before, image[index], after, script.model.dialect.json),
        )


def execute(connection: Connection, assigned: Sequence[Assigned]) -> Executed:
    """Run the statements one by one, each followed by its comparison."""
    done = Executed(assigned=len(assigned))
    connection.execute("SET SESSION sql_log_bin=0")
    first = 0
    statements = [sql for item in assigned for sql in (item.sql, item.compare)]
    while first < len(statements):
        batch = connection.execute_many(statements[first:])
        for place in range(first, first + len(batch.results)):
            if place % 2:
                _judge_answer(done, assigned[place // 2], batch.results[place - first])
        first += len(batch.results)
        if batch.error is not None:
            _judge(done, assigned[first // 2], Result(error=batch.error.number), None, batch.error.message)
            first += 2 - first % 2
    connection.execute("SET SESSION sql_log_bin=1")
    for item in assigned:
        done.functions.update(
            name
            for name in ("JSON_REPLACE", "JSON_REMOVE", "JSON_INSERT", "JSON_ARRAY_INSERT")
            if f"{name}(" in item.sql
        )
    return done


def _judge_answer(done: Executed, item: Assigned, answer: Answer) -> None:
    if len(answer.rows) != 1:
        done.problems.append(_problem(item, "one copy of the row", f"{len(answer.rows)}", "a copied row is missing"))
        return
    text, source, is_equal = answer.rows[0]
    _judge(done, item, Result(text, is_equal == b"1"), source, "")


def _judge(done: Executed, item: Assigned, got: Result, source: bytes | None, words: str) -> None:
    """The result must be as on the source, by text and by ``=``; or differ by exactly what the text cannot carry."""
    if got.error is None and got.equal and got.text == source:
        return
    if item.predicted.losses and got == item.predicted.result:
        done.losses["; ".join(sorted(item.predicted.losses))] += 1
        return
    expected = item.predicted.result
    if not item.predicted.losses:
        done.problems.append(
            _problem(item, _shown(Result(source, True)), words or _shown(got), "the printed text makes another change")
        )
        return
    done.problems.append(
        _problem(item, _shown(expected), words or _shown(got), "the printed text loses more than it must")
    )


def _problem(item: Assigned, expected: str, got: str, message: str) -> Problem:
    return Problem(f"row {item.row}, column {item.column}", expected, got, message, statements=(item.sql[:2000],))


def _shown(result: Result) -> str:
    if result.error is not None:
        return f"error {result.error}"
    text = "NULL" if result.text is None else result.text[:_SHOWN].decode("utf-8", "backslashreplace")
    return f"{'equal' if result.equal else 'not equal'} by =: {text}"
