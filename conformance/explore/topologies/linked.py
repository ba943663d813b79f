"""A source alone, and worlds whose replicas differ in their settings only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.explore.scripts import SCHEMA
from conformance.explore.topologies.starting import ANONYMOUS, GTID, joined, starting

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.explore.world import World
    from conformance.servers.run.owned import Maker, OwnServer

    Narrate = Callable[[str], None]

_DURABLE: Final = {**GTID, "innodb-flush-log-at-trx-commit": "1", "sync-binlog": "1"}
_ASSIGNED: Final = "8d0a5d3c-4f3b-4f0e-9d55-2b1c0d6e7f80"
_APPLIER: Final = "'lab_applier'@'localhost'"
# What the row events and the definitions of a workload need, and no more.
_EVERYWHERE: Final = (
    "REPLICATION_APPLIER", "SESSION_VARIABLES_ADMIN", "SYSTEM_USER", "SET_ANY_DEFINER", "ALLOW_NONEXISTENT_DEFINER",
    "FLUSH_STATUS", "FLUSH_TABLES",
)  # fmt: skip
_IN_SCHEMAS: Final = (
    "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "INDEX", "REFERENCES", "TRIGGER",
    "CREATE VIEW", "SHOW VIEW", "CREATE ROUTINE", "ALTER ROUTINE", "EXECUTE",
)  # fmt: skip


def single(maker: Maker, narrate: Narrate) -> World:
    """One server."""
    with starting(maker, narrate, GTID) as world:
        return world


def pair(maker: Maker, narrate: Narrate) -> World:
    """A source and a replica by GTID, with a parallel applier."""
    with starting(maker, narrate, GTID) as world:
        joined(world, maker, narrate, GTID)
        return world


def positions(maker: Maker, narrate: Narrate) -> World:
    """A source and a replica by positions, with one worker and full row images in the replica's log."""
    with starting(maker, narrate, ANONYMOUS) as world:
        joined(world, maker, narrate, {**ANONYMOUS, "replica-parallel-workers": "1"}, gtid=False)
        return world


def chain(maker: Maker, narrate: Narrate) -> World:
    """A source, a replica of it, and a replica of the replica."""
    with starting(maker, narrate, GTID) as world:
        middle = joined(world, maker, narrate, GTID)
        joined(world, maker, narrate, GTID, behind=middle.replica)
        return world


def durable(maker: Maker, narrate: Narrate) -> World:
    """A source and a replica that keep what they acknowledged when they are killed."""
    with starting(maker, narrate, _DURABLE) as world:
        joined(world, maker, narrate, {**_DURABLE, "relay-log-recovery": "ON"})
        world.durable = True
        return world


def semisync(maker: Maker, narrate: Narrate) -> World:
    """A source whose commits wait until the replica has received them."""
    options = {
        **GTID, "loose-rpl-semi-sync-source-enabled": "ON", "loose-rpl-semi-sync-source-timeout": "2000",
        "plugin-load-add": "semisync_source.so",
    }  # fmt: skip
    with starting(maker, narrate, options) as world:
        replica = {**GTID, "plugin-load-add": "semisync_replica.so", "loose-rpl-semi-sync-replica-enabled": "ON"}
        joined(world, maker, narrate, replica)
        return world


def privileges(maker: Maker, narrate: Narrate) -> World:
    """A replica whose applier has the rights of an account that may do just what the workload needs."""

    def prepare(replica: OwnServer) -> None:
        with replica.connect() as connection:
            connection.execute("SET SESSION sql_log_bin = 0")
            connection.execute(f"CREATE USER {_APPLIER} ACCOUNT LOCK")
            connection.execute(f"GRANT {', '.join(_EVERYWHERE)} ON *.* TO {_APPLIER}")
            for schemas in ("`binlog\\_lab\\_e%`", SCHEMA):
                connection.execute(f"GRANT {', '.join(_IN_SCHEMAS)} ON {schemas}.* TO {_APPLIER}")

    with starting(maker, narrate, GTID) as world:
        extra = f"PRIVILEGE_CHECKS_USER = {_APPLIER}"
        joined(world, maker, narrate, GTID, extra=extra, prepare=prepare)
        return world


def assign_gtids(maker: Maker, narrate: Narrate) -> World:
    """A source without GTIDs, and a replica that gives each of its transactions one."""
    with starting(maker, narrate, {**ANONYMOUS, "enforce-gtid-consistency": "ON"}) as world:
        extra = f"ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS = '{_ASSIGNED}'"
        joined(world, maker, narrate, GTID, gtid=False, extra=extra)
        return world
