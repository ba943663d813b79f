"""Rows of every type that an old server knows, written by one server and applied by another (WL#4618, NF1 and NF2).

Both servers have the table. One of them logs rows; the other gets them as BINLOG statements, or the old server gets
them as a relay log. Both must then show the same rows. Only the log of the new server has metadata.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cases.case_sql import binlog_statement
from conformance.checks.old_servers.run import GTIDS, SESSION, TABLE_MAP, Rows, row_part
from conformance.judge.updates.events import readable_events
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.definitions import Column, Table, create_table
from conformance.reference.tables.table_map import TableMap
from conformance.servers.errors import SqlError
from conformance.servers.roles.old_server import apply_relay_log
from conformance.servers.roles.relay_log import log_file
from conformance.servers.wire.groups import groups_of_thread
from generators.row_values import SHAPES, column, literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw

COLUMNS: Final = 12
NAME: Final = "t"
_NEW_TYPES: Final = ("JSON", "VECTOR")
_NEW_CHARSETS: Final = ("gb18030", "utf8mb3")  # the second one under another name
_GEOMETRY: Final = ("GEOMETRY", "POINT", "LINESTRING", "POLYGON")
KNOWN: Final = tuple(
    shape
    for shape in SHAPES
    if shape.type not in _NEW_TYPES
    and shape.charset not in _NEW_CHARSETS
    and not shape.type.startswith(("MULTI", *_GEOMETRY))
)
_SESSION: Final = (*SESSION, "SET SESSION sql_mode='ALLOW_INVALID_DATES', SESSION time_zone='+00:00'")


class Taken(NamedTuple):
    """A server's error for the rows of the other one (``None``: no error), and its rows afterwards."""

    error: int | None
    rows: Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A table's log and rows. ``metadata``: how many items each of its TABLE_MAPs has."""

    table: Table
    statements: tuple[str, ...]
    events: list[bytes]
    rows: Rows
    metadata: tuple[int, ...]


def table(draw: Draw, number: int) -> Table:
    """Table ``number``: consecutive kinds of the columns that an old server knows."""
    columns = [Column(name="id", type="INT", nullable=False)]
    for place in range(COLUMNS):
        shape = KNOWN[(number * COLUMNS + place) % len(KNOWN)]
        made = column(draw.fork("column", place), shape, f"c{place}")
        # Collations come and go; the character set is what matters to the values.
        columns.append(Column(**{**{name: getattr(made, name) for name in Column.__slots__}, "collation": None}))
    return Table(schema="", name=NAME, columns=tuple(columns), primary_key=((0, 0),), charset="latin1")


def make(connection: Connection, made: Table) -> None:
    """Make the table anew, empty."""
    connection.execute_many([*_SESSION, f"DROP TABLE IF EXISTS {NAME}", create_table(made)]).check()


def write(connection: Connection, capture: Capture, draw: Draw, made: Table, rows: int) -> Written:
    """Insert rows, change half of them and delete some: the logged events and the remaining rows."""
    columns = made.columns[1:]

    def values(*key: str | int) -> list[str]:
        part = draw.fork(*key)
        return [literal(part.fork(place), item) for place, item in enumerate(columns)]

    statements = [
        f"INSERT INTO {NAME} VALUES " + ", ".join(f"({key}, {', '.join(values('insert', key))})" for key in range(rows))
    ]
    for key in range(0, rows, 2):
        changes = ", ".join(
            f"{quote_identifier(item.name)}={value}" for item, value in zip(columns, values("update", key), strict=True)
        )
        statements.append(f"UPDATE {NAME} SET {changes} WHERE id={key}")
    statements.append(f"DELETE FROM {NAME} WHERE id % 5 = 4")
    start = capture.mark(connection)
    connection.execute_many(statements).check()
    captured = capture.since(start, capture.mark(connection)).events
    events = [event for event in groups_of_thread(captured, connection.thread_id) if event[4] not in GTIDS]
    maps = [event.body for _, event in readable_events(events) if isinstance(event.body, TableMap)]
    return Written(
        table=made,
        statements=(create_table(made), *statements),
        events=events,
        rows=read(connection, made),
        metadata=tuple(len(body.metadata) for body in maps),
    )


def read(connection: Connection, made: Table) -> Rows:
    """All rows by key, with strings as bytes: two servers may show the same characters differently."""
    fields = ", ".join(
        f"HEX({quote_identifier(item.name)})" if item.charset else quote_identifier(item.name) for item in made.columns
    )
    return list(connection.execute(f"SELECT {fields} FROM {NAME} ORDER BY id").rows)


def by_statement(connection: Connection, written: Written) -> Taken:
    """Give the rows to a server as BINLOG statements, one for each transaction."""
    error = None
    try:
        for events in _transactions(row_part(written.events)):
            connection.execute(binlog_statement(*events))
    except SqlError as refused:
        error = refused.number
    return Taken(error, read(connection, written.table))


def by_relay_log(server: OwnServer, connection: Connection, description: bytes, written: Written) -> Taken:
    """Give the transactions to an old server's applier, as a relay log."""
    data, _ = log_file([description, *written.events])
    applied = apply_relay_log(server, connection, data)
    return Taken(applied.error or None, read(connection, written.table))


def _transactions(events: Sequence[bytes]) -> list[list[bytes]]:
    """Each TABLE_MAP with the row events behind it, which end at the next TABLE_MAP."""
    found: list[list[bytes]] = []
    for event in events:
        if event[4] == TABLE_MAP or not found:
            found.append([])
        found[-1].append(event)
    return found
