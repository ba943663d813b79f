"""A table on two servers, row by row: stored bytes from an update that logs them, texts, and the SQL ``=``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.case_sql import where_clause
from conformance.judge.replica import Sides, compare_tables
from conformance.judge.updates.events import iter_events
from conformance.reference.binlog.rows import UPDATE_TYPES, RowsBody
from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.reference.sql.as_read import as_written
from conformance.reference.sql.formatting import format_document
from conformance.reference.sql.quoting import quote_identifier
from conformance.requirements.versions import dialect_of
from conformance.servers.errors import ServerError, SqlError
from conformance.servers.wire.connection import version_number
from conformance.servers.wire.groups import groups_of_thread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.cases.script import Script
    from conformance.cases.update_case import UpdateCase
    from conformance.judge.replica import Relation, ReplicaModel, Table, TableComparison, Texts, Verdicts
    from conformance.reference.dialect import JsonForms
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection

COUNTER: Final = "n"


def json_names(case: UpdateCase) -> list[str]:
    """The JSON columns of the Case's table."""
    return [case.table.columns[index].name for index in case.table.json_columns]


def compare_sides(
    source: Connection,
    source_log: Capture,
    replica: Connection,
    replica_log: Capture,
    script: Script,
    model: ReplicaModel,
    relations: Mapping[tuple[int, str], Relation],
) -> TableComparison:
    """The source's table and a replica's as they are. The replica is read first: the source's probe is an update that
    reaches it."""
    case = script.case
    names = [column.name for column in case.table.columns]
    json = json_names(case)
    order = sorted(range(len(case.rows)), key=lambda index: script.model.rows[index][case.selector])  # type: ignore[arg-type,return-value]
    theirs = probe(replica, replica_log, case, revert=True)
    their_texts = _texts(replica, case, json)
    our_texts = _texts(source, case, json)
    ours = probe(source, source_log, case, revert=False)
    places = {name: names.index(name) for name in json}
    documents = [{name: row[place] for name, place in places.items()} for row in ours]
    keys = [row[names.index(case.selector)] for row in ours]
    equal = _equal(replica, case, keys, documents, dialect_of(version_number(replica.server_version)).json)
    sides = Sides(source=ours, replica=theirs, source_texts=our_texts, replica_texts=their_texts, equal=equal)
    return compare_tables(names, json, sides, order, model, relations or None)


def probe(connection: Connection, log: Capture, case: UpdateCase, *, revert: bool) -> Table:
    """The rows in their stored bytes: the before-image of an update with image FULL and the option off."""
    table = quote_identifier(case.table.name)
    # Its own inverse, and a change for every row.
    change = f"{COUNTER} = IF({COUNTER} IS NULL, -99999, IF({COUNTER} = -99999, NULL, -1 - {COUNTER}))"
    update = f"UPDATE {table} SET {change} ORDER BY {quote_identifier(case.selector)}"
    connection.execute(
        "SET SESSION sql_log_bin = 1, SESSION binlog_row_image = 'FULL', SESSION binlog_row_value_options = '', "
        "SESSION binlog_transaction_compression = 0"
    )
    start = log.mark(connection)
    connection.execute(update)
    captured = log.since(start, log.mark(connection))
    if revert:
        connection.execute("SET SESSION sql_log_bin = 0")
        connection.execute(update)
    rows: list[tuple[object, ...]] = []
    for _, event, error in iter_events(groups_of_thread(captured.events, connection.thread_id)):
        if event is None:
            raise ServerError(f"an event of the probe cannot be read: {error}")
        if isinstance(event.body, RowsBody) and event.body.type in UPDATE_TYPES:
            rows += [row.before or () for row in event.body.rows]
    return tuple(rows)


def _texts(connection: Connection, case: UpdateCase, json: Sequence[str]) -> Texts:
    columns = ", ".join(map(quote_identifier, json))
    table, selector = quote_identifier(case.table.name), quote_identifier(case.selector)
    try:
        return connection.execute(f"SELECT {columns} FROM {table} ORDER BY {selector}").rows
    except SqlError as error:
        if error.number != 3157:  # a document that is too deep has no text (partial-update 8.3)
            raise
        return tuple((None,) * len(json) for _ in case.rows)


def _equal(
    connection: Connection,
    case: UpdateCase,
    keys: Sequence[object],
    documents: Sequence[Mapping[str, object]],
    forms: JsonForms,
) -> Verdicts:
    """Whether each document of the replica equals the source's by =, written as an SQL literal of its types."""
    statements: list[str] = []
    for key, row in zip(keys, documents, strict=True):
        where = where_clause(case.table, case.selector, [key])
        parts = []
        for name, value in row.items():
            assert value is None or isinstance(value, bytes)
            if value is None:
                parts.append(f"{quote_identifier(name)} IS NULL")
                continue
            try:
                parts.append(f"{quote_identifier(name)} <=> {format_document(as_written(decode(value), forms))}")
            except CodecError:  # no literal makes it, see cases.sql_format
                parts.append("NULL")
        statements.append(f"SELECT {', '.join(parts)} FROM {quote_identifier(case.table.name)} WHERE {where}")
    verdicts: list[tuple[bool | None, ...]] = []
    while len(verdicts) < len(statements):
        batch = connection.execute_many(statements[len(verdicts) :])
        for result in batch.results:
            values = result.rows[0] if result.rows else ()
            verdicts.append(tuple(None if value is None else value == b"1" for value in values))
        if batch.error is not None:
            if batch.error.number != 3157:
                raise batch.error
            verdicts.append(())
    # A row that is not there, or too deep a document, has no answer.
    return tuple(row or (None,) * len(documents[0]) for row in verdicts)
