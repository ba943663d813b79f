"""A parallel applier that has to try transactions again, as another session holds the rows for a moment."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from conformance.explore.topologies.starting import GTID, joined, starting
from conformance.explore.world import SIDES, Companion
from conformance.servers.errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.explore.steps import Step
    from conformance.explore.world import World
    from conformance.servers.run.owned import Maker
    from conformance.servers.wire.connection import Connection

DATA: Final = ("UPDATE", "INSERT", "DELETE", "REPLACE")
RETRIES: Final = "transactions tried again by the applier"
_EVERY: Final = 15  # steps that change data from one hold to the next
_HOLD_SECONDS: Final = 1.2  # a worker waits for a second


class RowLocks(Companion):
    """Locks all rows of the episode on the replica now and then, for longer than a worker waits."""

    def __init__(self, world: World, every: int = _EVERY) -> None:
        super().__init__(world)
        self._replica = world.pairs[0].replica
        self._every = every
        self._steps = 0
        self._retries = 0
        self._until = 0.0
        self._holder: Connection | None = None

    def before(self, step: Step) -> None:
        """Lock, or end a hold that was long enough."""
        if self._holder is not None:
            if time.monotonic() >= self._until:
                self._release()
            return
        self._steps += step.base.startswith(DATA)
        if self._steps >= self._every:
            self._steps = 0
            self._lock()

    def settle(self) -> None:
        """Hold for the rest of the time, and count."""
        if self._holder is not None:
            time.sleep(max(0.0, self._until - time.monotonic()))
            self._release()
        self._count()

    def ended(self) -> None:
        """Unlock."""
        self._release()
        self._count()

    def _lock(self) -> None:
        self._holder = holder = self._replica.connect()
        holder.execute("SET SESSION lock_wait_timeout = 1")
        holder.execute("BEGIN")
        schemas = ", ".join(f"'{self.world.schema(side)}'" for side in SIDES)
        tables = holder.execute(
            "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES "
            f"WHERE TABLE_SCHEMA IN ({schemas}) AND TABLE_TYPE = 'BASE TABLE' AND ENGINE = 'InnoDB'"
        ).texts()
        for schema, table in tables:
            try:
                holder.execute(f"SELECT COUNT(*) FROM (SELECT 1 FROM `{schema}`.`{table}` FOR UPDATE SKIP LOCKED) AS d")
            except SqlError:  # the applier changes its definition
                continue
        self._until = time.monotonic() + _HOLD_SECONDS
        self.happened["rows of the replica locked"] += 1

    def _release(self) -> None:
        if self._holder is not None:
            self._holder.close()
            self._holder = None

    def _count(self) -> None:
        with self._replica.connect() as connection:
            asked = "SELECT SUM(COUNT_TRANSACTIONS_RETRIES) FROM performance_schema.replication_applier_status"
            retries = int(connection.execute(asked).scalar() or 0)
        self.happened[RETRIES] += retries - (self._retries if retries >= self._retries else 0)
        self._retries = retries


def parallel(maker: Maker, narrate: Callable[[str], None]) -> World:
    """A replica with eight workers, whose transactions meet locks and are tried again."""
    source = {**GTID, "loose-binlog-transaction-dependency-tracking": "WRITESET"}  # the only way since 8.4
    replica = {
        **source, "replica-parallel-workers": "8", "loose-replica-parallel-type": "LOGICAL_CLOCK",
        "replica-preserve-commit-order": "ON", "replica-transaction-retries": "100", "innodb-lock-wait-timeout": "1",
    }  # fmt: skip
    with starting(maker, narrate, source) as world:
        joined(world, maker, narrate, replica)
        world.companions = (RowLocks(world),)
        return world
