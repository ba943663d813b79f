"""Servers that take over what the source of a world writes, and the replica that follows a source's log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from conformance.servers.roles.pair import Pair

if TYPE_CHECKING:
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.connection import Connection

CATCH_UP_SECONDS: Final = 60.0


class Follower(Protocol):
    """A server that must have the source's rows. ``connection`` is the lab's session on it."""

    replica: OwnServer
    connection: Connection

    def schema(self, name: str) -> str:
        """The name there of a schema of the source."""

    def catch_up(self, executed: str) -> None:
        """Wait until it has applied the set of transactions ``executed`` and all that its own source has logged.

        Raises ``ReplicaStopped`` and ``ReplicaLate``.
        """

    def mend(self) -> None:
        """Let it go on behind everything; whatever stopped it is forgotten. A ``ServerError`` where it cannot."""

    def close(self) -> None:
        """Close the session."""


class Linked(Pair):
    """A replica that follows the log of ``source`` from now on, by GTID or by positions.

    ``extra`` adds options of CHANGE REPLICATION SOURCE; the names of its schemas have the ending ``renamed`` more.
    """

    source: OwnServer
    replica: OwnServer

    def __init__(
        self, source: OwnServer, replica: OwnServer, *, gtid: bool = True, extra: str = "", renamed: str = ""
    ) -> None:
        super().__init__(source, replica)
        self.renamed = renamed
        self._gtid = gtid
        self._extra = extra
        self.go_on()

    def schema(self, name: str) -> str:
        """The name there of a schema of the source."""
        return name + self.renamed

    def go_on(self) -> None:
        """Follow from the present end of the source's log; what came before counts as applied."""
        with self.source.connect() as own:
            here = self.source.capture().mark(own)
            executed = own.variable("global.gtid_executed") or ""
        self.follow(here, executed if self._gtid else None, extra=self._extra)

    def catch_up(self, executed: str) -> None:
        """Wait, by GTID where there are any: one question instead of many."""
        if self.by_gtid:
            asked = f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 0.5)"
            if self.connection.execute(asked).scalar() == "0":
                return
        with self.source.connect() as own:
            end = self.source.capture().mark(own)
        self.wait(end, timeout=CATCH_UP_SECONDS)

    def mend(self) -> None:
        """Drop the episodes' schemas on the replica, and go on."""
        self.stop()
        with self.replica.connect() as connection:
            connection.execute("SET SESSION sql_log_bin = 0, lock_wait_timeout = 5")
            for (name,) in connection.execute("SHOW SCHEMAS LIKE 'binlog\\_lab\\_e%'").texts():
                connection.execute(f"DROP SCHEMA `{name}`")
        self.go_on()

    def restart(self, workers: int) -> None:
        """Stop the replica, and let it go on with another number of workers.

        Raises ``ReplicaStopped`` if it had stopped by itself.
        """
        self.stop()
        status = self.status()
        if status.sql_errno:
            raise self._stopped(status)
        self.connection.execute(f"SET GLOBAL {self._terms.named('replica_parallel_workers')} = {workers}")
        self.start()

    def reopen(self) -> None:
        """Start the replica after its end."""
        self.connection.close()
        self.replica.start()
        self.connection = self.replica.connect()
