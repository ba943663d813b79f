"""Relay logs of any events, sound or damaged, for a real applier: whether the server that reads them survives.

The lab requires only that the server lives; it ignores which events the applier takes, refuses or skips. Two settings
let the applier come as far as it can. It accepts transactions with and without GTIDs (gtid_mode=OFF_PERMISSIVE). Errors
of statements do not stop it (replica_skip_errors=all); errors of the log itself do.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.requirements.versions import dialect_of
from conformance.servers import clock
from conformance.servers.closing import Closing
from conformance.servers.errors import ConnectionLost, ServerError, SqlError
from conformance.servers.install.cache import silent
from conformance.servers.roles.injector import SERVER_ID, Injector, crash_report, took_too_long
from conformance.servers.roles.relay_log import (
    RELAY_LOG,
    applier_status,
    kill_applier,
    last_commit,
    put_relay_log,
    put_relay_log_script,
    start_applier,
    terms_of,
    workers_wait,
)
from conformance.servers.run.options import option_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from conformance.servers.install.cache import Narrate
    from conformance.servers.run.owned import Maker, OwnServer
    from conformance.servers.wire.connection import Connection

_REPLICA_ID: Final = SERVER_ID + 1  # differs from the server id of the events
_OPTIONS: Final[dict[str, str | None]] = {
    "gtid-mode": "OFF_PERMISSIVE",
    "enforce-gtid-consistency": "OFF",
    "innodb-file-per-table": "OFF",
    "innodb-stats-persistent": "OFF",
    "relay-log": RELAY_LOG,
    "replica-parallel-workers": "4",
    "replica-preserve-commit-order": "ON",
    "replica-skip-errors": "all",
}
# What a crash of the machine would lose is nothing here, and the disk is not waited for. The redo log is as small as in
# the template: a server fills all of a larger one with zeros each time that it begins anew.
_NOT_DURABLE: Final = {
    "innodb-flush-log-at-trx-commit": "2",
    "loose-innodb-redo-log-capacity": "8M",
    "sync-binlog": "0",
    "sync-relay-log": "0",
}
_PATIENCE: Final = 20.0  # seconds for one answer
_STANDING: Final = 3.0  # seconds without a change after which an applier counts as waiting
_SOON: Final = 0.2  # seconds without a change after which a steady reader looks at the workers
_QUIET: Final = 20  # looks in a row at which no worker works: at one alone, its work may still be on the way to it
_SHORTEST, _LONGEST = 0.0005, 0.01  # seconds between two looks at the applier
_READ: Final = "Replica has read all relay log"  # the state of an applier that has nothing left to do


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEnd:
    """The end of a log at a server. ``death``: the signature of a crash; ``silent``: the server does not answer.

    ``refused``: CHANGE REPLICATION SOURCE refused the log. ``error``: the error number of the refusal or of the
    applier's stop. ``waits``: the applier neither stops nor goes on, which is allowed, as the missing part may still
    come. ``report``: the server's own report of its crash.
    """

    refused: bool = False
    error: int = 0
    waits: bool = False
    death: str = ""
    silent: bool = False
    report: str = field(default="", compare=False)


def launch_replica(maker: Maker, *, narrate: Narrate = silent) -> OwnServer:
    """A server that reads such logs. The options use current names."""
    named = dialect_of(maker.number).terms.named
    options = {named(name): value for name, value in {**_OPTIONS, **_NOT_DURABLE}.items()}
    return maker.launch(server_id=_REPLICA_ID, options=options, keep=False, narrate=narrate)


def log_script(data: bytes, prepare: Iterable[str] = ()) -> tuple[str, ...]:
    """Statements that repeat a log, on a server with an empty secure_file_priv."""
    options = " ".join(option_words({**_OPTIONS, "secure-file-priv": "", "skip-replica-start": None}))
    return (
        f"/* needs a server with {options} */ DO 0",
        *prepare,
        *put_relay_log_script(data),
        "START REPLICA SQL_THREAD",
        "DO SLEEP(1)",
        "SHOW REPLICA STATUS",
        "STOP REPLICA SQL_THREAD",
    )


def _report(server: OwnServer, death: str) -> str:
    return crash_report(server.error_log(), death, server.program_file)


class LogReader(Closing):
    """Gives relay logs to a server of :func:`launch_replica`, and replaces the server when it dies or must be ended.

    The new server has data of its own: a server ended over a damaged log may not start again. ``deaths`` counts
    crashes, ``restarts`` all new servers; ``server`` is the server of the last log.
    """

    def __init__(self, launch: Callable[[], OwnServer]) -> None:
        self.server = launch()
        self.deaths = self.restarts = 0
        self._launch = launch

    def read(self, data: bytes, prepare: Iterable[str] = ()) -> LogEnd:
        """Let the server read a log, and return the result. ``prepare``: statements for the tables of its events."""
        if not self.server.alive():
            self.server.close()
            self.server = self._launch()
            self.restarts += 1
        try:
            with self._session() as session:
                for statement in prepare:
                    session.execute(statement)
                return self._read(session, data)
        except ConnectionLost as error:
            lost = Injector(self.server, described=False).lost(error, None)
            self.deaths += bool(lost.death)
            report = self.server.observed("report", lambda server: _report(server, lost.death)) if lost.death else ""
            self.server.kill()
            return LogEnd(death=lost.death, silent=lost.silent, report=report)

    @contextmanager
    def _session(self) -> Iterator[Connection]:
        with self.server.connect(timeout=_PATIENCE) as session:
            session.execute("SET SESSION sql_log_bin = 0")
            yield session

    def _read(self, session: Connection, data: bytes) -> LogEnd:
        try:
            put_relay_log(self.server, session, data)
            start_applier(self.server, session)
        except SqlError as error:
            return LogEnd(refused=True, error=error.number)
        seen: object = None
        changed, pause = clock.monotonic(), _SHORTEST
        while True:
            status = applier_status(self.server, session)
            if not status.running:
                return LogEnd(error=status.error)
            if status.state.startswith(_READ):
                return self._stopped(session, len(data))
            if status != seen:
                seen, changed = status, clock.monotonic()
            if self._waits(session, clock.monotonic() - changed):
                return self._end_waiting(session)
            clock.sleep(pause)
            pause = min(2 * pause, _LONGEST)

    def _waits(self, _: Connection, unchanged: float) -> bool:
        """Whether an applier whose status has not changed for so many seconds waits for something that cannot come."""
        return unchanged > _STANDING

    def _end_waiting(self, session: Connection) -> LogEnd:
        self._await_death(session)
        self.server.kill()
        return LogEnd(waits=True)

    def _await_death(self, session: Connection) -> None:
        """Where the server writes the report of a crash, its other threads still answer: ask until they do not.

        Raises :class:`ConnectionLost` then.
        """

        def quiet() -> bool:
            if not crash_report(self.server.error_log()):
                return True
            session.execute("DO 0")
            return False

        clock.until(quiet, _PATIENCE, _LONGEST)

    def _stopped(self, session: Connection, _: int) -> LogEnd:
        """Stop an applier that has read all of a log of this size.

        It waits for the rest of a transaction before it stops, for a year if nobody changes rpl_stop_replica_timeout.
        """
        try:
            with self.server.connect(timeout=_STANDING) as other:
                other.execute(f"STOP {terms_of(self.server).replica} SQL_THREAD")
        except ConnectionLost as error:
            if not took_too_long(error):
                raise
            return self._end_waiting(session)
        return LogEnd()

    def retire(self) -> None:
        """Give the next log to a new server: this one may have suffered damage that shows later."""
        self.server.kill()

    def close(self) -> None:
        """Close the server."""
        self.server.close()


class SteadyLogReader(LogReader):
    """A reader for many logs: it keeps its session, and kills an applier that waits instead of the server."""

    def __init__(self, launch: Callable[[], OwnServer]) -> None:
        super().__init__(launch)
        self._kept: Connection | None = None
        self._pid = 0  # of the session's server

    @contextmanager
    def _session(self) -> Iterator[Connection]:
        if self._kept is None or self._kept.closed or self._pid != self.server.pid:
            self._hang_up()
            self._kept = self.server.connect(timeout=_PATIENCE)
            self._pid = self.server.pid
            self._kept.execute("SET SESSION sql_log_bin = 0")
        yield self._kept

    def _waits(self, session: Connection, unchanged: float) -> bool:
        return unchanged > _STANDING or (unchanged > _SOON and workers_wait(session))

    def _stopped(self, session: Connection, size: int) -> LogEnd:
        """Stop an applier whose last transaction ends with the log; kill any other one, which waits for the rest.

        Observed on 9.7.4: after a STOP, an applier inside a transaction does not end when it is killed either.
        """
        deadline, quiet = clock.monotonic() + _STANDING, 0
        while quiet < _QUIET and clock.monotonic() < deadline:
            if not workers_wait(session):
                quiet = 0
            elif last_commit(session) == size:
                return super()._stopped(session, size)
            else:
                quiet += 1
            clock.sleep(_SHORTEST)
        return self._end_waiting(session)

    def _end_waiting(self, session: Connection) -> LogEnd:
        """Kill the applier's threads, or the server where they do not end. A death now is the lab's own doing."""
        end = LogEnd(waits=True)
        self._await_death(session)
        try:
            kill_applier(session)
            if clock.until(lambda: not applier_status(self.server, session).running, _STANDING / 6, _LONGEST):
                return end
        except ConnectionLost:
            pass
        self.server.kill()
        return end

    def _hang_up(self) -> None:
        with suppress(ServerError):
            if self._kept is not None:
                self._kept.close()

    def close(self) -> None:
        """Close the session and the server."""
        self._hang_up()
        super().close()
