"""The replica: it applies everything, and then has the rows of its source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.explore.oracles.problem import Problem
from conformance.explore.oracles.tables import Rows, TableFacts, differing_columns, first_difference, read, rows_query
from conformance.explore.world import Died, World
from conformance.servers.errors import ConnectionLost, SqlError
from conformance.servers.roles.pair import ReplicaLate, ReplicaStopped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.explore.followers import Follower


def compare_replicas(
    world: World, tables: Mapping[str, TableFacts], rows: Mapping[str, Mapping[str, Rows]]
) -> Iterator[Problem]:
    """Wait for each replica, and hold its rows against the source's."""
    if not world.pairs:
        return
    executed = world.own.variable("global.gtid_executed") or ""
    for pair in world.pairs:
        try:
            pair.catch_up(executed)
        except ReplicaStopped as error:
            yield Problem("replica", f"stopped {error.number}", f"{error.thread}: {error.number} {error.message}")
            continue
        except ReplicaLate as error:
            yield Problem("replica", "late", str(error))
            continue
        except ConnectionLost as error:
            raise Died("replica", pair.replica, error, None) from error
        yield from _compare(pair, world, tables, rows)


def _compare(
    pair: Follower, world: World, tables: Mapping[str, TableFacts], rows: Mapping[str, Mapping[str, Rows]]
) -> Iterator[Problem]:
    for side in rows:
        try:
            there = read(pair.connection, pair.schema(world.schema(side)), tables)
        except ConnectionLost as error:
            raise Died("replica", pair.replica, error, None) from error
        except SqlError as error:
            yield Problem("replica", f"reading {error.number}", f"reading the replica's tables: {error.message}")
            continue
        for name, table in tables.items():
            if there[name] != rows[side][name]:
                kind = f"rows{' of the twin' if side == 'y' else ''}: " + differing_columns(
                    table, rows[side][name], there[name]
                )
                yield Problem(
                    "replica", kind, first_difference(table, rows[side][name], there[name]), (rows_query(table, ""),)
                )
