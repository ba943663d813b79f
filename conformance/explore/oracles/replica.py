"""The replica: it applies everything, and then has the rows of its source."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from conformance.explore.oracles.problem import Problem
from conformance.explore.oracles.tables import Rows, TableFacts, differing_columns, first_difference, read, rows_query
from conformance.explore.world import Died, World
from conformance.servers.errors import ConnectionLost, SqlError
from conformance.servers.roles.pair import Pair, ReplicaLate, ReplicaStopped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.servers.run.owned import OwnServer


CATCH_UP_SECONDS = 60.0


def compare_replicas(
    world: World, tables: Mapping[str, TableFacts], rows: Mapping[str, Mapping[str, Rows]]
) -> Iterator[Problem]:
    """Wait for each replica, and hold its rows against the source's."""
    if not world.pairs:
        return
    end = world.source.capture().mark(world.own)
    for pair in world.pairs:
        try:
            _wait(pair, end, world)
        except ReplicaStopped as error:
            yield Problem("replica", f"stopped {error.number}", f"{error.thread}: {error.number} {error.message}")
            continue
        except ReplicaLate as error:
            yield Problem("replica", "late", str(error))
            continue
        except ConnectionLost as error:
            raise Died("replica", cast("OwnServer", pair.replica), error, None) from error
        yield from _compare(pair, world, tables, rows)


def _wait(pair: Pair, end: object, world: World) -> None:
    """By GTID where there are any: one question instead of many."""
    if pair.by_gtid:
        executed = world.own.variable("global.gtid_executed") or ""
        asked = f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 0.5)"
        if pair.connection.execute(asked).scalar() == "0":
            return
    pair.wait(end, timeout=CATCH_UP_SECONDS)  # type: ignore[arg-type]


def _compare(
    pair: Pair, world: World, tables: Mapping[str, TableFacts], rows: Mapping[str, Mapping[str, Rows]]
) -> Iterator[Problem]:
    for side in rows:
        try:
            there = read(pair.connection, world.schema(side), tables)
        except ConnectionLost as error:
            raise Died("replica", cast("OwnServer", pair.replica), error, None) from error
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
