"""Updates of a table without JSON columns, for a server that has none, and what an old server makes of their events.

Event 39 is written for such tables too (requirements 0.2). The session that writes them has latin1 collations:
an old server does not know the newer ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cases.case_sql import binlog_statement
from conformance.harness.outcomes import Problem
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

ROWS: Final = 20
COLUMNS: Final = {
    "a": "SMALLINT",
    "b": "BIGINT UNSIGNED",
    "c": "DECIMAL(18,9)",
    "d": "DOUBLE",
    "e": "VARCHAR(300)",
    "f": "VARBINARY(20)",
    "g": "DATETIME(3)",
    "h": "TIME(6)",
    "i": "YEAR",
    "k": "BIT(9)",
    "l": "DATE",
    "m": "BLOB",
}
OFF, ON = "plain", "diffs"  # the tables whose updates are logged without and with the option
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

_SHOWN: Final = 1000  # characters of a row

Rows = list[tuple[bytes | None, ...]]


class Answer(NamedTuple):
    """What an old server said to an event of type 39 (``None``: taken), and the rows of its table afterwards."""

    error: int | None
    rows: Rows


def create(table: str) -> str:
    """The table, in words that servers of all versions know."""
    columns = ", ".join(f"{name} {kind} NULL" for name, kind in COLUMNS.items())
    return (
        f"CREATE TABLE {table} (id INT NOT NULL PRIMARY KEY, n INT NOT NULL, {columns}) "
        "ENGINE=InnoDB DEFAULT CHARSET=latin1"
    )


def insert(draw: Draw, table: str, first: int = 1, count: int = ROWS) -> str:
    """Rows with made-up values."""
    rows = (
        f"({number}, 0, {', '.join(value(draw, name) for name in COLUMNS)})" for number in range(first, first + count)
    )
    return f"INSERT INTO {table} VALUES {', '.join(rows)}"


def update(draw: Draw, table: str) -> str:
    """An update of one or several rows; ``n`` grows, so that every row changes."""
    names = draw.sample(tuple(COLUMNS), 1 + draw.below(4))
    changes = ", ".join(f"{name}={value(draw, name)}" for name in names)
    first = 1 + draw.below(ROWS)
    return f"UPDATE {table} SET n=n+1, {changes} WHERE id BETWEEN {first} AND {first + draw.choice((0, 0, 2, 9))}"


def value(draw: Draw, column: str) -> str:
    """A literal for a column."""
    if draw.below(8) == 7:
        return "NULL"
    match column:
        case "a":
            return str(draw.integer(-32768, 32767))
        case "b":
            return str(draw.choice((0, 1, 2**63, 2**64 - 1, draw.bits(64))))
        case "c":
            return f"{draw.integer(-(10**9) + 1, 10**9 - 1)}.{draw.below(10**9):09}"
        case "d":
            return f"{draw.integer(-9999, 9999) / 8!r}e0"
        case "e":
            return f"'{draw.letters(draw.below(300), 'abc XYZ09_')}'"
        case "f" | "m":
            return f"x'{draw.bits(8 * 20):040x}'" if column == "f" else f"x'{draw.bits(8 * 300):0600x}'"
        case "g":
            return f"'{draw.integer(1000, 9999)}-{_day(draw)} {_clock(draw)}.{draw.below(1000):03}'"
        case "h":
            return f"'{'-' * draw.below(2)}{draw.below(800)}:{_clock(draw)[3:]}.{draw.below(10**6):06}'"
        case "i":
            return str(draw.choice((0, 1901, 2155, 2024)))
        case "k":
            return f"b'{draw.bits(9):09b}'"
        case _:
            return f"'{draw.integer(1000, 9999)}-{_day(draw)}'"


def _day(draw: Draw) -> str:
    return f"{draw.integer(1, 12):02}-{draw.integer(1, 28):02}"


def _clock(draw: Draw) -> str:
    return f"{draw.below(24):02}:{draw.below(60):02}:{draw.below(60):02}"


def read(connection: Connection, table: str) -> Rows:
    """All rows as text."""
    return list(connection.execute(f"SELECT * FROM {table} ORDER BY id").rows)


@dataclass(slots=True)
class Twins:
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


def answer(connection: Connection, events: Sequence[bytes], table: str) -> Answer:
    """Give a transaction's rows to a server as a BINLOG statement."""
    error = None
    try:
        connection.execute(binlog_statement(*row_part(events)))
    except SqlError as refused:
        error = refused.number
    return Answer(error, read(connection, table))


def come_to_rest(server: OwnServer, connection: Connection, data: bytes) -> tuple[int, int, Rows]:
    """Let an old applier work through a relay log: the error that stopped it, its position, and the rows it leaves."""
    applied = apply_relay_log(server, connection, data)
    return applied.error, applied.position, read(connection, OFF)


def compare_rows(expected: Rows, got: Rows, statement: str, message: str) -> list[Problem]:
    """The rows of two servers, or of one before and after."""
    if expected == got:
        return []
    field, wanted, found = "rows", str(len(expected)), str(len(got))
    for number, (row, other) in enumerate(zip(expected, got, strict=False)):
        if row != other:
            field, wanted, found = f"row {number}", repr(row)[:_SHOWN], repr(other)[:_SHOWN]
            break
    return [Problem(field=field, expected=wanted, got=found, message=message, statements=(statement,))]
