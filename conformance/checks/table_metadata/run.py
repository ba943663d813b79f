"""Tables made on a server, and the TABLE_MAP events that it writes for them with each ``binlog_row_metadata``.

Many tables travel in one packet, and one capture serves the block: a row is inserted into every table with MINIMAL, and
deleted from every table with FULL. The variable is global, so this is for servers that the lab started itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.definitions import create_table
from conformance.servers.wire.groups import placed_groups
from conformance.servers.wire.log_facts import facts_before, facts_behind, log_facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.cases.observation import LogFacts
    from conformance.reference.tables.definitions import Table
    from conformance.servers.wire.capture import Capture, Captured
    from conformance.servers.wire.connection import Connection

MODES: Final = ("MINIMAL", "FULL")
_VARIABLE: Final = "binlog_row_metadata"
_TABLE_MAP: Final = 19
# Defaults for every column, and rows that are too long only if they are filled.
_SESSION: Final = ("SET SESSION sql_mode = ''", "SET SESSION innodb_strict_mode = 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A table, and SQL values for a row of it where there is no default."""

    table: Table
    values: Mapping[str, str]

    @property
    def name(self) -> str:
        return quote_identifier(self.table.name)

    def statements(self) -> tuple[str, ...]:
        """Return the statements that make the table."""
        created = create_table(self.table)
        if not self.table.generated_primary_key:
            return (created,)
        switch = "SET SESSION sql_generate_invisible_primary_key ="
        return f"{switch} 1", created, f"{switch} 0"

    def insert(self) -> str:
        """Return the statement that writes one row."""
        names = ", ".join(map(quote_identifier, self.values))
        return f"INSERT INTO {self.name} ({names}) VALUES ({', '.join(self.values.values())})"


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionLog:
    """The log of a block, and the TABLE_MAP events in it: by mode, one for each table in their order. ``facts`` are
    about the transactions of the session ``thread_id``, whose events are ``own``."""

    captured: Captured
    maps: dict[str, tuple[bytes, ...]]
    own: tuple[bytes, ...] = ()
    thread_id: int = 0
    facts: LogFacts | None = None

    @property
    def algorithm(self) -> int:
        """The checksum of the events."""
        return self.captured.algorithm


def make_tables(connection: Connection, definitions: Sequence[Definition]) -> None:
    """Make the tables in the present schema. Raises ``SqlError`` at one that the server refuses."""
    statements = [statement for item in definitions for statement in item.statements()]
    connection.execute_many([*_SESSION, *statements]).check()


def log_definitions(connection: Connection, capture: Capture, definitions: Sequence[Definition]) -> DefinitionLog:
    """One row in and out of each table; the variable is put back."""
    saved = connection.variable(f"global.{_VARIABLE}")
    start = capture.mark(connection)
    first = facts_before(connection)
    try:
        connection.execute_many(
            [
                f"SET GLOBAL {_VARIABLE} = MINIMAL",
                *(item.insert() for item in definitions),
                f"SET GLOBAL {_VARIABLE} = FULL",
                *(f"DELETE FROM {item.name}" for item in definitions),
            ]
        ).check()
    finally:
        connection.execute(f"SET GLOBAL {_VARIABLE} = '{saved}'")
    last = facts_behind(connection)
    captured = capture.since(start, capture.mark(connection))
    own, places = placed_groups(captured.events, connection.thread_id, start.offset, (0, start.offset))
    found = [event for event in captured.events if event[4] == _TABLE_MAP]
    half = len(definitions)
    return DefinitionLog(
        captured=captured,
        maps={"MINIMAL": tuple(found[:half]), "FULL": tuple(found[half:])},
        own=tuple(own),
        thread_id=connection.thread_id,
        facts=log_facts(
            first,
            last,
            places,
            sequence=capture.transactions_before(start),
            writesets=capture.writesets(connection),
            alone=capture.started_by_us,
        ),
    )
