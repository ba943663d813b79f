"""A real MySQL replica behind the lab's source: it must end with the rows that the same SQL gives on the server.

The log is the predicted one, and no server wrote it. The rows that it must leave come from the server itself, which
runs the statements in another schema, outside of any log. Storage sizes are not compared: a document that was logged
whole is stored anew on a replica, and may stay in its place on the source.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.cases.script import ReadBack
from conformance.harness.updates.predicted_log import LogForm, predicted_log
from conformance.reference.event_types import EventType
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.definitions import create_table
from conformance.servers.errors import SqlError
from conformance.servers.roles.relay_log import terms_of
from conformance.servers.source.log_files import LogFiles
from conformance.servers.source.server import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.script import Script
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.connection import Connection

OPTIONS: Final[dict[str, str | None]] = {
    "gtid-mode": "ON",
    "enforce-gtid-consistency": "ON",
    "default-time-zone": "+00:00",
    "replica-parallel-workers": "1",
}
BY_SQL: Final = "binlog_lab_by_sql"
FILE: Final = "binlog.000001"
_PATIENCE: Final = 600.0


@dataclass(slots=True)
class Followed:
    """Result of a replica that follows a log. ``different``: tables whose rows differ, with the first difference."""

    updates: int = 0
    tables: int = 0
    rows: int = 0
    documents: int = 0
    partial: int = 0  # PARTIAL_UPDATE_ROWS events of the log
    error: str = ""
    different: list[str] = field(default_factory=list)
    path: str = ""


def follow(
    server: OwnServer,
    seed: str,
    updates: int,
    form: LogForm,
    *,
    by_gtid: bool = True,
    tls: bool = False,
    alter: Callable[[bytes], bytes] = bytes,
) -> Followed:
    """Let ``server`` replicate a predicted log. ``alter``: changes the log, as planted faults do."""
    made = predicted_log(seed, updates, form)
    events = [event for script in made.scripts for step in script.predictions for event in step.events]
    partial = sum(event.type == EventType.PARTIAL_UPDATE_ROWS for event in events)
    found = Followed(updates=made.updates, tables=len(made.scripts), partial=partial)
    log = alter(made.log)
    said: list[str] = []
    with server.connect() as connection, Source(LogFiles.of_bytes([(FILE, log)]), narrate=said.append) as source:
        _by_sql(connection, made.scripts)
        found.error = _replicate(server, connection, source, len(log), by_gtid=by_gtid, tls=tls)
        found.path = next((line for line in said if "logged in" in line), "")
        for script in made.scripts:
            _compare(connection, script, found)
        _clean(server, connection, made.scripts[0].case.table.schema)
    return found


def _by_sql(connection: Connection, scripts: tuple[Script, ...]) -> None:
    """Run the statements themselves, outside of the log."""
    connection.execute("SET SESSION sql_log_bin = 0")
    connection.execute(f"CREATE SCHEMA {BY_SQL}")
    connection.execute(f"USE {BY_SQL}")
    for script in scripts:
        case = script.case
        connection.execute_many([*case.session.statements(), create_table(case.table), script.insert]).check()
        for item in script.items:
            if not isinstance(item, ReadBack):
                try:
                    connection.execute(item.sql)
                except SqlError:
                    continue  # a statement that the server must refuse, as the prediction says


def _replicate(server: OwnServer, connection: Connection, source: Source, end: int, *, by_gtid: bool, tls: bool) -> str:
    """Link the server and wait until it has everything; the error with which it stopped, if it did."""
    terms = terms_of(server)
    word = terms.change_source
    place = f"{word}_AUTO_POSITION=1" if by_gtid else f"{word}_LOG_FILE='{FILE}', {word}_LOG_POS=4"
    connection.execute(
        f"{terms.change} {word}_HOST='127.0.0.1', {word}_PORT={source.port}, {word}_USER='{source.account.user}', "
        f"{word}_PASSWORD='{source.account.password}', {word}_CONNECT_RETRY=1, {word}_SSL={int(tls)}, "
        f"GET_{word}_PUBLIC_KEY=1, {place}"
    )
    connection.execute(f"START {terms.replica}")
    deadline = time.monotonic() + _PATIENCE
    while True:
        shown = connection.execute(terms.replica_status).named()[0]
        row = {terms.today(name): value for name, value in shown.items()}
        if (row["Relay_Source_Log_File"], int(row["Exec_Source_Log_Pos"] or 0)) == (FILE, end):
            return ""
        for kind in ("IO", "SQL"):
            if row[f"Last_{kind}_Errno"] not in ("0", None) and row[f"Replica_{kind}_Running"] == "No":
                worker = connection.execute(
                    "SELECT LAST_ERROR_MESSAGE FROM performance_schema.replication_applier_status_by_worker"
                ).texts()
                return f"{kind}: {row[f'Last_{kind}_Error']} {worker}"
        if time.monotonic() > deadline:
            return f"late: at {row['Exec_Source_Log_Pos']} of {end}"
        time.sleep(0.1)


def _compare(connection: Connection, script: Script, found: Followed) -> None:
    """Compare a table, as the server prints it, with the one that SQL made; documents with their types."""
    case = script.case
    columns = []
    for column in case.table.columns:
        name = quote_identifier(column.name)
        columns += [name, f"JSON_TYPE({name})"] if column.is_json else [name]
    selector = quote_identifier(case.selector)
    tables = [
        f"{quote_identifier(schema)}.{quote_identifier(case.table.name)}" for schema in (case.table.schema, BY_SQL)
    ]
    try:
        here, there = (
            connection.execute(f"SELECT {', '.join(columns)} FROM {name} ORDER BY {selector}").rows for name in tables
        )
    except SqlError as error:
        found.different.append(f"{case.table.name}: {error.message}")
        return
    found.rows += len(there)
    found.documents += len(there) * len(case.table.json_columns)
    if here != there:
        pair = next((p for p in zip(here, there, strict=False) if p[0] != p[1]), (len(here), len(there)))
        found.different.append(f"{case.table.name}: {pair[0]!r:.300} and {pair[1]!r:.300}")


def _clean(server: OwnServer, connection: Connection, schema: str) -> None:
    terms = terms_of(server)
    connection.execute(f"STOP {terms.replica}")
    connection.execute(f"RESET {terms.replica} ALL")
    connection.execute_many([f"DROP SCHEMA IF EXISTS {quote_identifier(schema)}", f"DROP SCHEMA {BY_SQL}"]).check()
    connection.execute("RESET BINARY LOGS AND GTIDS")
