"""A replica behind a source: linking, waiting until everything arrived, and the applier's errors.

Facts: servers 4, requirements 0.3 (both GTID and file positions were tried on 9.7.4). The lab links only servers that
it started: a guest's replication settings are not the lab's to change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.cases.by_hand.applier_transaction import AFTER_ANOTHER
from conformance.requirements.versions import dialect_of
from conformance.servers import clock
from conformance.servers.errors import ServerError, ServerUnavailable, SpecError, SqlError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.servers.base import Server
    from conformance.servers.wire.capture import Position
    from conformance.servers.wire.connection import Connection

SHA2 = "caching_sha2_password"
_POLL_SECONDS = 0.02
FAILED_WORKER = (
    "SELECT LAST_ERROR_NUMBER, LAST_ERROR_MESSAGE FROM performance_schema.replication_applier_status_by_worker "
    f"WHERE LAST_ERROR_NUMBER <> 0 ORDER BY LAST_ERROR_NUMBER = {AFTER_ANOTHER}, LAST_ERROR_TIMESTAMP"
)
_PLACE = re.compile(r"(?:(\S+), )?end_log_pos (\d+)")


def place_of(message: str) -> tuple[str, int] | None:
    """The log and the end of the event that an applier's error names; the name of the log may be missing.

    The position of SHOW REPLICA STATUS lags behind: with several workers the server updates it at checkpoints (observed
    on 9.7.4).
    """
    found = _PLACE.search(message)
    return None if found is None else (found[1] or "", int(found[2]))


def first_cause(errors: Sequence[tuple[int, str]]) -> tuple[int, str]:
    """Return the error of the first event among several workers' errors (number, message).

    A later transaction can fail beside it, and waits for its commit with the older error (observed on 9.7.4).
    """
    causes = [error for error in errors if error[0] != AFTER_ANOTHER] or errors
    places = [place_of(message) or ("", 0) for _, message in causes]
    last = max(log for log, _ in places)
    return min(zip(places, causes, strict=True), key=lambda each: (each[0][0] or last, each[0][1]))[1]


class ReplicaStopped(ServerError):
    """A thread of the replica stopped. ``number`` and ``message`` are that thread's error."""

    def __init__(self, number: int, message: str, thread: str) -> None:
        self.number = number
        self.message = message
        self.thread = thread
        super().__init__(f"the replica's {thread} thread stopped: {number} {message}")


class ReplicaLate(ServerError):
    """The replica did not reach a position in the stated time, and no thread reports an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaStatus:
    """The part of SHOW REPLICA STATUS that the lab asks for."""

    io_running: str
    sql_running: str
    io_errno: int
    io_error: str
    sql_errno: int
    sql_error: str
    source_file: str
    executed_offset: int


class Pair:
    """A source and a replica; ``connection`` is the pair's own session on the replica.

    ``by_gtid``: auto-position links the two.
    """

    def __init__(self, source: Server, replica: Server) -> None:
        if not replica.started_by_us:
            raise SpecError(replica.id, "the lab links only replicas that it started", expected="process or docker")
        self.source = source
        self.replica = replica
        self.connection: Connection = replica.connect()
        self.dialect = dialect_of(replica.number)
        self._terms = self.dialect.terms
        self.by_gtid = False

    def link(self, position: Position | None = None, *, extra: str = "") -> None:
        """Point the replica at the source and start it: by GTID, or from ``position``. ``extra`` adds options.

        The lab makes an account with a random password on the source, outside its log. On a source at an address it
        uses the address's account.
        """
        self._require_login()
        account = self.source.address_for(self.replica)
        word = self._terms.change_source
        settings = [
            f"{word}_HOST = '{account.host}'",
            f"{word}_PORT = {account.port}",
            f"{word}_USER = '{account.user}'",
            f"{word}_PASSWORD = '{account.password}'",
            f"{word}_CONNECT_RETRY = 1",
        ]
        if self.dialect.server.authentication == SHA2:
            settings.append(f"GET_{word}_PUBLIC_KEY = 1")
        if position is None:
            settings.append(f"{word}_AUTO_POSITION = 1")
        else:
            settings.extend((f"{word}_LOG_FILE = '{position.file}'", f"{word}_LOG_POS = {position.offset}"))
        if extra:
            settings.append(extra)
        self.by_gtid = position is None
        self.connection.execute(f"{self._terms.change} {', '.join(settings)}")
        self.start()

    def _require_login(self) -> None:
        """A replica from before caching_sha2_password cannot log in with it (2059, observed on 5.6.24)."""
        source = dialect_of(self.source.number).server.authentication
        if source == SHA2 and self.dialect.server.authentication != SHA2:
            raise ServerUnavailable(
                f"a replica of MySQL {self.replica.version} cannot log in to MySQL {self.source.version}, whose "
                f"accounts use {SHA2}",
                "give events to a server so old by BINLOG statements or as a relay log",
            )

    def follow(self, position: Position, gtid_executed: str | None = None, *, extra: str = "") -> None:
        """Follow the source's log from ``position`` on, whatever the replica followed before; with GTIDs by
        auto-position.

        ``gtid_executed`` is the source's set at that position; transactions of the set that the replica lacks count as
        applied.
        """
        if self.linked():
            self.unlink()
        if gtid_executed is not None:
            lacking = self.connection.execute(f"SELECT GTID_SUBTRACT('{gtid_executed}', @@global.gtid_executed)")
            if lacking.scalar():
                self.connection.execute(f"SET GLOBAL gtid_purged = '+{lacking.scalar()}'")
        self.link(None if gtid_executed is not None else position, extra=extra)

    def linked(self) -> bool:
        """Whether the replica has a source."""
        return bool(self.connection.execute(self._terms.replica_status).rows)

    def configure(self, settings: Mapping[str, str]) -> None:
        """Set global variables of the replica. The applier reads them when it starts (requirements FR6.1)."""
        self.connection.execute(f"STOP {self._terms.replica} SQL_THREAD")
        for name, value in settings.items():
            if name.startswith("binlog_transaction_compression") and not self.dialect.log.payload_event:
                continue  # a version that compresses nothing
            self.connection.execute(f"SET GLOBAL {self._terms.named(name)} = {value}")
        self.connection.execute(f"START {self._terms.replica} SQL_THREAD")

    def skip(self, gtid: str) -> None:
        """Skip the transaction that stopped the applier, and start the applier again."""
        self.connection.execute_many(
            [f"SET gtid_next = '{gtid}'", "BEGIN", "COMMIT", "SET gtid_next = 'AUTOMATIC'"]
        ).check()
        self.connection.execute(f"START {self._terms.replica} SQL_THREAD")

    def start(self) -> None:
        """Run START REPLICA."""
        self.connection.execute(f"START {self._terms.replica}")

    def stop(self) -> None:
        """Run STOP REPLICA."""
        self.connection.execute(f"STOP {self._terms.replica}")

    def unlink(self) -> None:
        """Stop the replica; forget the source and everything fetched from it."""
        self.stop()
        self.connection.execute(f"RESET {self._terms.replica} ALL")

    def status(self) -> ReplicaStatus:
        """The replica's present status."""
        rows = self.connection.execute(self._terms.replica_status).named()
        if not rows:
            raise ServerError(f"{self.replica.id} is not linked to a source")
        row = {self._terms.today(name): value for name, value in rows[0].items()}
        return ReplicaStatus(
            io_running=row["Replica_IO_Running"] or "",
            sql_running=row["Replica_SQL_Running"] or "",
            io_errno=int(row["Last_IO_Errno"] or 0),
            io_error=row["Last_IO_Error"] or "",
            sql_errno=int(row["Last_SQL_Errno"] or 0),
            sql_error=row["Last_SQL_Error"] or "",
            source_file=row["Relay_Source_Log_File"] or "",
            executed_offset=int(row["Exec_Source_Log_Pos"] or 0),
        )

    def wait(self, position: Position, *, timeout: float = 60.0) -> None:
        """Wait until the replica has applied everything before ``position`` of the source's log.

        Raises :class:`ReplicaStopped` as soon as a thread reports an error, :class:`ReplicaLate` after the timeout.
        """

        def applied(status: ReplicaStatus) -> bool:
            if (status.source_file, status.executed_offset) >= (position.file, position.offset):
                return True
            if status.sql_errno and status.sql_running == "No":  # the server shows the error before the thread is down
                raise self._stopped(status)
            if status.io_errno and status.io_running == "No":
                raise ReplicaStopped(status.io_errno, status.io_error, "receiver")
            return False

        status = clock.until(self.status, timeout, _POLL_SECONDS, applied)
        if not applied(status):
            raise ReplicaLate(
                f"{self.replica.id} is at {status.source_file}:{status.executed_offset} after {timeout:g} s, "
                f"expected {position} (receiver {status.io_running}, applier {status.sql_running})"
            )

    def _stopped(self, status: ReplicaStatus) -> ReplicaStopped:
        """The worker's own error if the performance schema is on: the coordinator only summarises."""
        try:
            rows = [(int(row[0] or 0), row[1] or "") for row in self.connection.execute(FAILED_WORKER).texts()]
        except SqlError:
            rows = []
        if rows:
            return ReplicaStopped(*first_cause(rows), "applier")
        return ReplicaStopped(status.sql_errno, status.sql_error, "applier")

    def close(self) -> None:
        """Close the session. The servers belong to their makers."""
        self.connection.close()
