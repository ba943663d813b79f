"""Acts of an administrator between the statements: a session is killed, logs are purged, replicas restart."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from conformance.explore.followers import Linked
from conformance.explore.steps import DISCONNECT, KILL_REPLICA, KILL_SESSION, KILL_SOURCE, PURGE, RESTART
from conformance.explore.world import LOCK_SECONDS, SIDES
from conformance.servers.clock import REAL
from conformance.servers.errors import ServerError, SqlError

if TYPE_CHECKING:
    from conformance.explore.steps import Step
    from conformance.explore.world import World

ENDS_SESSION: Final = (DISCONNECT, KILL_SESSION)
ENDS_SERVER: Final = (KILL_SOURCE, KILL_REPLICA)


def is_administration(step: Step) -> bool:
    """Whether a step is none for a session of the workload."""
    return step.text in (*ENDS_SESSION, *ENDS_SERVER, PURGE) or step.text.startswith(RESTART)


def administer(world: World, step: Step) -> None:
    """Do what the step says.

    Raises ``StartFailed``, and ``ReplicaStopped`` for a replica that had stopped by itself.
    """
    if step.text == KILL_SOURCE:
        world.kill_source()
    elif step.text == KILL_REPLICA:
        world.kill_replica()
    elif step.text == DISCONNECT:
        world.disconnect(step.session)
    elif step.text == KILL_SESSION:
        _kill(world, step.session)
    elif step.text == PURGE:
        _purge(world)
    else:
        for pair in world.pairs:
            if isinstance(pair, Linked):
                pair.restart(int(step.text.removeprefix(RESTART)))


def _kill(world: World, number: int) -> None:
    """Kill a session on both sides, and wait until it is gone: what it had open is rolled back, and its locks are."""
    open_ones = (world.sessions.get((number, side)) for side in SIDES)
    killed = {str(one.thread_id) for one in open_ones if one is not None}
    for thread in killed:
        with suppress(SqlError):  # it has ended by itself
            world.own.execute(f"KILL {thread}")
    REAL.until(
        lambda: killed.isdisjoint(str(row[0]) for row in world.own.execute("SHOW PROCESSLIST").texts()),
        LOCK_SECONDS, 0.01,
    )  # fmt: skip
    world.disconnect(number)


def _purge(world: World) -> None:
    """Purge the logs of former episodes, which the replicas have: a log that one of them still reads stays."""
    assert world.start is not None
    executed = world.own.variable("global.gtid_executed") or ""
    with suppress(ServerError):  # a replica that stopped is for the oracle to see
        for pair in world.pairs:
            pair.catch_up(executed)
        world.own.execute(f"PURGE BINARY LOGS TO '{world.start.file}'")
