"""A replica that has the rows in schemas with other names."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from conformance.explore.topologies.starting import GTID, joined, starting
from conformance.explore.world import SIDES, Companion
from conformance.servers.errors import ServerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.explore.followers import Linked
    from conformance.explore.world import World
    from conformance.servers.run.owned import Maker


class Renaming(Companion):
    """Makes the schemas on the replica, as CREATE SCHEMA is not renamed, and tells the applier the names."""

    def __init__(self, world: World, pair: Linked) -> None:
        super().__init__(world)
        self._pair = pair

    def began(self) -> None:
        """Rename the schemas of the episode from now on."""
        pair, world = self._pair, self.world
        with suppress(ServerError):  # a stop is for the oracle to see
            pair.catch_up(world.own.variable("global.gtid_executed") or "")
        names = [world.schema(side) for side in SIDES]
        pairs = ", ".join(f"({name}, {pair.schema(name)})" for name in names)
        with pair.replica.connect() as connection:
            connection.execute("SET SESSION sql_log_bin = 0")
            for (old,) in connection.execute(f"SHOW SCHEMAS LIKE 'binlog\\_lab\\_e%{pair.renamed}'").texts():
                connection.execute(f"DROP SCHEMA `{old}`")
            for name in names:
                connection.execute(f"CREATE SCHEMA {pair.schema(name)} DEFAULT CHARACTER SET utf8mb4")
            connection.execute("STOP REPLICA SQL_THREAD")
            connection.execute(f"CHANGE REPLICATION FILTER REPLICATE_REWRITE_DB = ({pairs})")
            connection.execute("START REPLICA SQL_THREAD")


def rewrite_db(maker: Maker, narrate: Callable[[str], None]) -> World:
    """A replica with a filter that renames the schemas."""
    with starting(maker, narrate, GTID) as world:
        world.companions = (Renaming(world, joined(world, maker, narrate, GTID, renamed="_copy")),)
        return world
