"""Runs an update Case on a server: its table, its statements, its read-backs, and the events it wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.cases.case_sql import trigger_statement
from conformance.cases.observation import Observation, ReadBackRow, StatementOutcome
from conformance.cases.script import ReadBack, Script, Statement
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.definitions import create_table
from conformance.servers.wire.groups import placed_groups
from conformance.servers.wire.log_facts import facts_before, facts_behind, log_facts

if TYPE_CHECKING:
    from conformance.servers.errors import SqlError
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection


def run_case(connection: Connection, capture: Capture, script: Script, schema: str) -> Observation:
    """Run a Case in ``schema``, which must be the connection's present one.

    Statements travel in packets of many. A refused statement ends its packet, and the lab sends the rest again: an
    error costs one round trip and no statement is skipped.
    """
    case = script.case
    begin = capture.mark(connection)
    connection.execute_many(
        [
            *case.session.statements(),
            f"DROP TABLE IF EXISTS {quote_identifier(case.table.name)}",
            create_table(case.table),
            *([trigger_statement(case.table, case.trigger)] if case.trigger else []),
        ]
    ).check()
    start = capture.mark(connection)
    first_moment = facts_before(connection)
    outcomes: dict[int, StatementOutcome] = {}
    read_backs: list[tuple[tuple[ReadBackRow, ...], int]] = []
    refused: list[tuple[str, StatementOutcome]] = []
    inserted = connection.execute_many([script.insert])
    if inserted.error is not None:
        refused.append((script.insert, _outcome(inserted.error)))
    items = script.items
    first = 0
    while first < len(items):
        batch = connection.execute_many([item.sql for item in items[first:]])
        for item, result in zip(items[first:], batch.results, strict=False):
            if isinstance(item, Statement):
                outcomes[item.step] = StatementOutcome(result.affected)
            elif isinstance(item, ReadBack):
                read_backs.append((result.rows, 0))
        first += len(batch.results)
        if batch.error is not None:
            item = items[first]
            if isinstance(item, Statement):
                outcomes[item.step] = _outcome(batch.error)
            elif isinstance(item, ReadBack):
                read_backs.append(((), batch.error.number))
            else:
                refused.append((item.sql, _outcome(batch.error)))
            first += 1
    last_moment = facts_behind(connection)
    captured = capture.since(begin, capture.mark(connection))
    events, places = placed_groups(
        captured.events, connection.thread_id, begin.offset, (start.number - begin.number, start.offset)
    )
    return Observation(
        outcomes=tuple(outcomes[number] for number in range(len(script.predictions))),
        read_backs=tuple(rows for rows, _ in read_backs),
        read_back_errors=tuple(error for _, error in read_backs),
        refused=tuple(refused),
        events=tuple(events),
        server_version=connection.server_version,
        thread_id=connection.thread_id,
        schema=schema,
        log=log_facts(
            first_moment,
            last_moment,
            places,
            sequence=capture.transactions_before(begin),
            writesets=capture.writesets(connection),
            alone=capture.started_by_us,
        ),
    )


def _outcome(error: SqlError) -> StatementOutcome:
    return StatementOutcome(0, error.number, error.message)
