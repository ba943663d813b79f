"""Faults of the servers of a topology, which the oracle ``replica`` must see: a table for ``test_topology_faults.py``.

Each is planted when all replicas have the rows of a script; then the script's updates run once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.explore.topologies.linked import _APPLIER
from tests.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.explore.followers import Follower
    from conformance.explore.world import World

APPEND: Final = "UPDATE {}.t0 SET j = JSON_SET(j, '$.a[999]', 4)"
"""Adds a member: a second time shows."""


def _fault(topology: str, name: str, kind: str, plant: Callable[[World], None], *, replicas: int = 1) -> Fault:
    """A fault that so many ``replicas`` show, each with a problem of a kind that fits this pattern."""
    words = name.replace("-", " ")
    return Fault(f"{topology}-{name}", "", words, plant, "replica", at=topology, says=kind, run={"replicas": replicas})


def _alter(world: World, number: int, statement: str, *, logged: bool = False) -> None:
    """Change the base schema of a replica behind the back of replication."""
    pair = world.pairs[number]
    with pair.replica.connect() as connection:
        was = connection.variable("global.super_read_only")
        connection.execute("SET GLOBAL super_read_only = OFF")
        connection.execute(f"SET SESSION sql_log_bin = {int(logged)}")
        connection.execute(statement.format(pair.schema(world.schema("x"))))
        connection.execute(f"SET GLOBAL super_read_only = {was}")


def _altered(number: int, statement: str, *, logged: bool = False) -> Callable[[World], None]:
    return lambda world: _alter(world, number, statement, logged=logged)


def _skip(pair: Follower, world: World) -> None:
    """Let a replica take the source's next transaction for applied."""
    own = world.own
    uuid = own.variable("global.server_uuid") or ""
    last = own.execute(f"SELECT REGEXP_SUBSTR(@@GLOBAL.gtid_executed, '(?<={uuid}:1-)[0-9]+')").scalar()
    pair.connection.execute_many(
        [f"SET gtid_next = '{uuid}:{int(last or 0) + 1}'", "BEGIN", "COMMIT", "SET gtid_next = 'AUTOMATIC'"]
    ).check()


def _skipped(number: int) -> Callable[[World], None]:
    return lambda world: _skip(world.pairs[number], world)


def _skipped_after_a_kill(world: World) -> None:
    world.kill_replica()
    _skip(world.pairs[0], world)


def _skipped_by_counter(world: World) -> None:
    connection = world.pairs[0].connection
    for statement in ("STOP REPLICA", "SET GLOBAL sql_replica_skip_counter = 1", "START REPLICA"):
        connection.execute(statement)


def _right_revoked(world: World) -> None:
    with world.pairs[0].replica.connect() as connection:
        connection.execute("SET SESSION sql_log_bin = 0")
        connection.execute(f"REVOKE UPDATE ON `binlog\\_lab\\_e%`.* FROM {_APPLIER}")


def _member_left(world: World) -> None:
    world.pairs[0].connection.execute("STOP GROUP_REPLICATION")


CHANGED: Final = "UPDATE {}.t0 SET j = JSON_SET(j, '$.s', 'a text that no later diff changes') WHERE id = 1"
DIVERGED: Final = "UPDATE {}.t0 SET j = '[7]' WHERE id = 2"  # no diff has a place there
GONE: Final = "DELETE FROM {}.t0 WHERE id = 1"
FAULTS: Final = (
    _fault("chain", "middle-row-changed", "rows: ", _altered(0, CHANGED)),
    _fault("chain", "middle-writes-alone", "rows: ", _altered(0, CHANGED, logged=True), replicas=2),
    _fault("chain", "middle-skips-a-transaction", "rows: ", _skipped(0), replicas=2),
    _fault("chain", "last-skips-a-transaction", "rows: ", _skipped(1)),
    _fault("chain", "middle-document-diverged", "stopped 3648", _altered(0, DIVERGED)),
    _fault("chain", "last-row-gone", "stopped 1032", _altered(1, GONE)),
    _fault("clone", "skips-after-the-clone", "rows: ", _skipped(0)),
    _fault("clone", "row-gone-after-the-clone", "stopped 1032", _altered(0, GONE)),
    _fault("durable", "skips-after-a-kill", "rows: ", _skipped_after_a_kill),
    _fault("parallel", "applied-twice", "rows: ", _altered(0, APPEND)),
    _fault("positions", "skips-by-counter", "rows: ", _skipped_by_counter),
    _fault("assign-gtids", "row-gone", "stopped 1032", _altered(0, GONE)),
    _fault("rewrite-db", "applied-twice", "rows: ", _altered(0, APPEND)),
    _fault("privileges", "right-revoked", "stopped 1142", _right_revoked),
    _fault("semisync", "row-gone", "stopped 1032", _altered(0, GONE)),
    _fault("group", "member-left", "stopped 0", _member_left, replicas=2),
    _fault("group", "applied-twice", "rows: ", _altered(1, APPEND)),
    _fault("group-multi", "row-changed", "rows: ", _altered(0, CHANGED)),
)
