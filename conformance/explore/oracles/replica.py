"""The replica: it applies everything, and then has the rows, definitions and indexes of its source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.explore.oracles.indexes import indexes_of
from conformance.explore.oracles.problem import Problem
from conformance.explore.oracles.tables import (
    Rows,
    TableFacts,
    describe,
    differing_columns,
    first_difference,
    read,
    rows_query,
)
from conformance.explore.world import Died, World
from conformance.servers.errors import ConnectionLost, SqlError
from conformance.servers.roles.pair import ReplicaLate, ReplicaStopped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.explore.followers import Follower


_DEFINITIONS: Final = tuple(
    f"SELECT {columns} FROM information_schema.{table} WHERE TABLE_SCHEMA = DATABASE() ORDER BY {columns}"
    for table, columns in (
        ("TABLES", "TABLE_NAME, ENGINE"),
        ("COLUMNS", "TABLE_NAME, ORDINAL_POSITION, COLUMN_NAME, COLUMN_TYPE, GENERATION_EXPRESSION"),
        ("STATISTICS", "TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, INDEX_TYPE, COLUMN_NAME, EXPRESSION"),
    )
)


def compare_replicas(
    world: World, tables: Mapping[str, TableFacts], rows: Mapping[str, Mapping[str, Rows]]
) -> Iterator[Problem]:
    """Wait for each replica; hold its rows and definitions against the source's, its indexes against its rows."""
    if not world.pairs:
        return
    executed = world.own.variable("global.gtid_executed") or ""
    for pair in world.pairs:
        try:
            pair.catch_up(executed)
        except ReplicaStopped as error:
            yield stopped(error)
            continue
        except ReplicaLate as error:
            yield Problem("replica", "late", str(error))
            continue
        except ConnectionLost as error:
            raise Died("replica", pair.replica, error, None) from error
        yield from _compare(pair, world, tables, rows)


def stopped(error: ReplicaStopped) -> Problem:
    """A replica's stop as a problem."""
    return Problem("replica", f"stopped {error.number}", f"{error.thread}: {error.number} {error.message}")


def _compare(
    pair: Follower, world: World, tables: Mapping[str, TableFacts], rows: Mapping[str, Mapping[str, Rows]]
) -> Iterator[Problem]:
    try:
        for side in rows:
            yield from _rows(read(pair.connection, pair.schema(world.schema(side)), tables), side, tables, rows[side])
        schema = pair.schema(world.schema("x"))
        described = describe(pair.connection, schema)
        for name, table in tables.items():
            if described.get(name) != table:
                detail = f"source {table}, replica {described.get(name)}"
                yield Problem("replica", "definition", detail[:700], _DEFINITIONS)
        for found in indexes_of(pair.connection, schema, tables):
            yield Problem("replica", f"index: {found.kind}", found.detail, found.show[:1])
    except ConnectionLost as error:
        raise Died("replica", pair.replica, error, None) from error
    except SqlError as error:
        yield Problem("replica", f"reading {error.number}", f"reading the replica's tables: {error.message}")


def _rows(
    there: Mapping[str, Rows], side: str, tables: Mapping[str, TableFacts], here: Mapping[str, Rows]
) -> Iterator[Problem]:
    for name, table in tables.items():
        if there[name] != here[name]:
            kind = f"rows{' of the twin' if side == 'y' else ''}: " + differing_columns(table, here[name], there[name])
            yield Problem("replica", kind, first_difference(table, here[name], there[name]), (rows_query(table, ""),))
