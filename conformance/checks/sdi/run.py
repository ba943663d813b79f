"""A sequence on a server: its statements, its tables as the server shows them, and the files that it leaves."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.checks.sdi.data_file import read_file
from conformance.reference.innodb.sdi_views.information_schema import facts_of_server, tablespace_facts_of_server
from conformance.reference.sql.quoting import quote_identifier as quoted
from conformance.servers.errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.checks.sdi.data_file import SdiFile
    from conformance.checks.sdi.generate import DdlSequence
    from conformance.reference.innodb.sdi_views.information_schema import Facts, Row
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.connection import Connection

NAME: Final = "name"
_SHARED: Final = re.compile(r"\n\).* TABLESPACE `(?!innodb_file_per_table`)")  # in SHOW CREATE TABLE
AUXILIARY: Final = "fts_"  # files of a FULLTEXT index, which FOR EXPORT does not write
_TABLES: Final = (
    "SELECT TABLE_SCHEMA, TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA IN ({schemas})"
    " AND ENGINE = 'InnoDB' ORDER BY 1, 2"
)
_TABLESPACES: Final = (
    "SELECT SPACE, NAME FROM INFORMATION_SCHEMA.INNODB_TABLESPACES WHERE SPACE_TYPE <> 'Undo' AND NAME LIKE '{names}'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTable:
    """A table as the server shows it. ``rows``: its rows with all columns, sorted."""

    schema: str
    name: str
    create: str
    facts: Facts
    rows: tuple[tuple[bytes | None, ...], ...]

    @property
    def own_file(self) -> bool:
        """Whether the table, or each partition, has a file of its own."""
        return _SHARED.search(self.create) is None

    @property
    def place(self) -> str:
        return f"{quoted(self.schema)}.{quoted(self.name)}"


@dataclass(slots=True, kw_only=True)
class SequenceOutcome:
    """The results of a sequence. ``refused``: error numbers of changes that the server did not take.

    ``exported``: by its name, each file that the server wrote for an export.
    """

    sequence: DdlSequence
    refused: list[int] = field(default_factory=list)
    tables: list[ShownTable] = field(default_factory=list)
    files: list[SdiFile] = field(default_factory=list)
    exported: dict[str, bytes] = field(default_factory=dict)
    spaces: dict[int, Facts] = field(default_factory=dict)


def run_sequence(connection: Connection, sequence: DdlSequence) -> SequenceOutcome:
    """Execute the statements."""
    outcome = SequenceOutcome(sequence=sequence)
    for statement in sequence.made:
        connection.execute(statement)
    for statement in sequence.changes:
        try:
            connection.execute(statement)
        except SqlError as error:
            outcome.refused.append(error.number)
    return outcome


def observe(server: OwnServer, connection: Connection, outcome: SequenceOutcome) -> None:
    """Ask for the tables, and export their files."""
    schemas = outcome.sequence.schemas
    outcome.tables = [*shown_tables(connection, schemas)]
    outcome.spaces = tablespace_facts(connection)
    connection.execute(f"FLUSH TABLES {', '.join(table.place for table in outcome.tables)} FOR EXPORT")
    try:
        found = server.files.matching(*(f"{schema}/*" for schema in schemas))
    finally:
        connection.execute("UNLOCK TABLES")
    outcome.exported = {name: data for name, data in found.items() if not name.partition("/")[2].startswith(AUXILIARY)}
    ibd2sdi = server.client_program("ibd2sdi")
    outcome.files = [read_file(name, data, ibd2sdi) for name, data in outcome.exported.items() if name.endswith(".ibd")]


def shown_tables(connection: Connection, schemas: Sequence[str]) -> Iterator[ShownTable]:
    """The tables of some schemas."""

    def query(sql: str) -> Sequence[Row]:
        return connection.execute(sql).texts()

    for schema, name in query(_TABLES.format(schemas=", ".join(f"'{schema}'" for schema in schemas))):
        assert schema is not None
        assert name is not None
        place = f"{quoted(schema)}.{quoted(name)}"
        yield ShownTable(
            schema=schema,
            name=name,
            create=str(query(f"SHOW CREATE TABLE {place}")[0][1]),
            facts=facts_of_server(query, schema, name),
            rows=rows_of(connection, schema, name),
        )


def rows_of(connection: Connection, schema: str, name: str) -> tuple[tuple[bytes | None, ...], ...]:
    """The rows with their invisible columns."""
    place = f"{quoted(schema)}.{quoted(name)}"
    columns = ", ".join(quoted(str(row[0])) for row in connection.execute(f"SHOW COLUMNS FROM {place}").texts())
    rows = connection.execute(f"SELECT {columns} FROM {place}").rows
    return tuple(sorted(rows, key=lambda row: [value or b"" for value in row]))


def tablespace_facts(connection: Connection, names: str = "%") -> dict[int, Facts]:
    """Return the server's facts about each tablespace, by its id. The name is one fact more. ``names``: as LIKE has
    it."""
    found = connection.execute(_TABLESPACES.format(names=names)).texts()
    return {
        int(str(space)): {
            **tablespace_facts_of_server(lambda sql: connection.execute(sql).texts(), str(name)),
            NAME: str(name),
        }
        for space, name in found
    }


def drop(connection: Connection, sequence: DdlSequence) -> None:
    """Remove what a sequence made."""
    connection.execute("SET foreign_key_checks = 0")
    for schema in sequence.schemas:
        connection.execute(f"DROP SCHEMA {schema}")
    connection.execute(f"DROP TABLESPACE {sequence.tablespace}")
