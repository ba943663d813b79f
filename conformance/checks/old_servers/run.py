"""A new server that logs updates and an old one that gets their events, by BINLOG statements or as a relay log.

The writing session has latin1 collations: an old server does not know the newer ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cases.case_sql import binlog_statement
from conformance.checks.old_servers.generate import OFF, ON, create, insert
from conformance.reference.event_types import EventType
from conformance.servers.errors import SqlError
from conformance.servers.roles.old_server import apply_relay_log
from conformance.servers.wire.groups import groups_of_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.servers.base import Server
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw

TABLE_MAP: Final = EventType.TABLE_MAP
_ROWS: Final = (
    TABLE_MAP,
    EventType.WRITE_ROWS,
    EventType.UPDATE_ROWS,
    EventType.DELETE_ROWS,
    EventType.PARTIAL_UPDATE_ROWS,
)
GTIDS: Final = (EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED)
SESSION: Final = (
    "SET NAMES latin1",
    "SET SESSION collation_connection='latin1_swedish_ci', SESSION collation_server='latin1_swedish_ci'",
    "SET SESSION binlog_format='ROW'",
)

Rows = list[tuple[bytes | None, ...]]


class Answer(NamedTuple):
    """The error that an old server gave for an event (``None``: none), and the rows of its table afterwards."""

    error: int | None
    rows: Rows


def read(connection: Connection, table: str) -> Rows:
    """All rows as text."""
    return list(connection.execute(f"SELECT * FROM {table} ORDER BY id").rows)


@dataclass(slots=True)
class NewAndOld:
    """The same two tables on a new server and an old one, and a writing session with its log on the new one."""

    new: Server
    schema: str
    writer: Connection
    reader: Connection
    old: Connection
    capture: Capture
    events: list[bytes] = field(default_factory=list)

    def begin(self, draw: Draw) -> None:
        """Make the tables with the same rows on both servers."""
        self.old.execute(f"CREATE SCHEMA {self.schema} DEFAULT CHARACTER SET latin1")
        self.reader.execute(f"USE {self.schema}")
        for connection in (self.writer, self.old):
            connection.execute(f"USE {self.schema}")
        self.writer.execute_many(SESSION).check()
        for table in (OFF, ON):
            rows = insert(draw.fork("rows"), table)
            for connection in (self.writer, self.old):
                connection.execute_many([create(table), rows]).check()

    def logged(self, statement: str, *, partial: bool) -> list[bytes]:
        """Run an update on the new server: the events of its transaction, without the GTID."""
        self.writer.execute(f"SET SESSION binlog_row_value_options='{'PARTIAL_JSON' if partial else ''}'")
        start = self.capture.mark(self.writer)
        self.writer.execute(statement)
        events = self.capture.since(start, self.capture.mark(self.writer)).events
        return [event for event in groups_of_thread(events, self.writer.thread_id) if event[4] not in GTIDS]


def row_part(events: Sequence[bytes]) -> list[bytes]:
    """The table map and row events of a transaction."""
    return [event for event in events if event[4] in _ROWS]


def by_statement(connection: Connection, events: Sequence[bytes], table: str) -> Answer:
    """Give a transaction's rows to a server as a BINLOG statement."""
    error = None
    try:
        connection.execute(binlog_statement(*row_part(events)))
    except SqlError as refused:
        error = refused.number
    return Answer(error, read(connection, table))


def by_relay_log(server: OwnServer, connection: Connection, data: bytes) -> tuple[int, int, Rows]:
    """Give a relay log to an old applier: the error that stopped it, its position, and the rows it leaves."""
    applied = apply_relay_log(server, connection, data)
    return applied.error, applied.position, read(connection, OFF)
