"""A snapshot: a transaction that began before some statements still reads the rows of its beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.explore.oracles.problem import Problem
from conformance.explore.oracles.tables import Rows, TableFacts, first_difference, read, rows_query
from conformance.servers.errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.explore.world import World
    from conformance.servers.wire.connection import Connection


class Snapshot:
    """A consistent snapshot of one schema, and the rows that it showed first."""

    def __init__(self, world: World, tables: Mapping[str, TableFacts]) -> None:
        self._schema = world.schema("x")
        self._tables = {name: table for name, table in tables.items() if table.engine == "InnoDB"}
        self._connection: Connection = world.source.connect()
        self._rows: dict[str, Rows] = {}
        try:
            self._connection.execute("SET SESSION transaction_isolation = 'REPEATABLE-READ', sql_log_bin = 0")
            self._connection.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            self._rows = read(self._connection, self._schema, self._tables)
        except SqlError:
            self._tables = {}

    def compare(self) -> Iterator[Problem]:
        """Read again; a table whose definition changed has no rows for this snapshot any more."""
        for name, table in self._tables.items():
            try:
                rows = read(self._connection, self._schema, {name: table})[name]
            except SqlError:
                continue
            if rows != self._rows[name]:
                yield Problem(
                    "snapshot", "rows", first_difference(table, self._rows[name], rows), (rows_query(table, ""),)
                )

    def close(self) -> None:
        """End the transaction."""
        self._connection.close()
