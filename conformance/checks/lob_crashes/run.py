"""One server that is killed again and again, always on the same data."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Final, Self

from conformance.checks.lob_crashes.files import read_files
from conformance.checks.lob_crashes.generate import DONE, FORMATS, SESSIONS, Place, tables
from conformance.checks.lob_crashes.judge import Crash
from conformance.checks.lob_crashes.sessions import Moment, Session
from conformance.reference.binlog.files import read_events
from conformance.reference.innodb.pages import Tablespace
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.text import format_text
from conformance.reference.replay.data_files import DataFiles
from conformance.reference.replay.engine import Replay
from conformance.servers import clock
from conformance.servers.errors import StartFailed
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.reference.replay.data_files import Comparison
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw

OPTIONS: Final = {
    "sync-binlog": "1",  # what is acknowledged is durable: the log is a witness
    "innodb-flush-log-at-trx-commit": "1",
    "innodb-buffer-pool-size": "5M",  # pages of unfinished transactions reach the files
    "loose-innodb-redo-log-capacity": "16M",
    "innodb-file-per-table": "ON",
    "innodb-max-dirty-pages-pct": "0",
    "innodb-max-dirty-pages-pct-lwm": "0",
    "innodb-io-capacity": "20000",
}
_SCHEMA: Final = "crashes"
_TABLES: Final = (*FORMATS, DONE)
_TARGETS: Final = (None, None, None, Moment.STATEMENT, Moment.BETWEEN, Moment.COMMIT, Moment.ROLLBACK)
_LONGEST: Final = 500  # milliseconds of work before a kill
_PATIENCE: Final = 60.0  # seconds for the end of recovery
_AIM: Final = 0.5  # seconds to wait for a moment


class Victim:
    """The server, and the tables that its log gives."""

    def __init__(self, launch: Callable[[], OwnServer], seed: str) -> None:
        self._seed = seed
        self._replay = Replay()
        self._read: set[str] = set()
        self._texts: dict[Place, tuple[bytes, str]] = {}
        self._acknowledged = dict.fromkeys(range(SESSIONS), 0)
        self.server = launch()

    def __enter__(self) -> Self:
        with self.server.connect() as connection:
            connection.execute_many([f"CREATE SCHEMA {_SCHEMA}", f"USE {_SCHEMA}", *tables()]).check()
            with _exported(connection):  # so that every file has every row
                pass
        return self

    def __exit__(self, *_: object) -> None:
        self.server.close()

    def kill(self, number: int) -> Crash:
        """Let sessions work, kill the server, read its files, start it again, and read what is there."""
        draw = Stream("lob-crashes", self._seed, number)
        crash, sessions = self._killed(draw)
        crash.before = read_files(self.server.files.matching(f"{_SCHEMA}/*.ibd"))
        self.server.start()
        with self.server.connect(database=_SCHEMA) as connection:
            self._read_log(connection)
            crash.log = self._documents()
            crash.logged = dict(map(tuple, self._replay.tables[_SCHEMA, DONE].rows.values()))
            crash.server = _selected(connection)
            crash.recovered = {
                int(key or 0): int(n or 0) for key, n in connection.execute(f"SELECT id, n FROM {DONE}").texts()
            }
            _await_rollback(connection)
            crash.files = self._compared(connection)
        self._acknowledged |= crash.logged
        crash.undone = frozenset(place for session in sessions for place in self._undone(session, crash))
        return crash

    @staticmethod
    def _undone(session: Session, crash: Crash) -> set[Place]:
        """The documents whose last change was not committed; whether a COMMIT without answer was, the log says."""
        if crash.logged.get(session.number, 0) > session.acknowledged:
            return session.undone - session.touched
        return session.undone | session.touched

    def _killed(self, draw: Draw) -> tuple[Crash, list[Session]]:
        sessions = [
            Session(self.server, _SCHEMA, number, self._acknowledged[number], draw.fork(number))
            for number in range(SESSIONS)
        ]
        with ExitStack() as stack:
            reader = stack.enter_context(self.server.connect())
            reader.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")  # purge waits for it
            for session in sessions:
                session.start()
            clock.sleep(draw.below(_LONGEST) / 2000)
            if draw.below(3):
                reader.execute("COMMIT")
            clock.sleep(draw.below(_LONGEST) / 2000)
            _aim(draw.choice(_TARGETS), sessions, self.server)
            clock.sleep(draw.below(8) / 2000)
            seen = self.server.observed("moments", lambda _: [str(session.moment) for session in sessions])
            moments = Counter(map(Moment, seen))
            opened = sum(moment != Moment.IDLE for moment in seen)
            self.server.kill()
        for session in sessions:
            session.join()
            if session.error is not None:
                raise session.error
        crash = Crash(
            moments=moments,
            open=opened,
            acknowledged={session.number: session.acknowledged for session in sessions},
            sent={session.number: session.sent for session in sessions},
            statements=sum(session.statements for session in sessions),
            committed=sum(session.acknowledged - self._acknowledged[session.number] for session in sessions),
        )
        return crash, sessions

    def _read_log(self, connection: Connection) -> None:
        """Replay the logs that the server will not write to any more: all but the newest."""
        *closed, _ = [str(row[0]) for row in connection.execute("SHOW BINARY LOGS").texts()]
        for name in closed:
            if name not in self._read:
                self._read.add(name)
                for event in read_events(BytesIO(self.server.files.read(name)), expand=True):
                    self._replay.event(event)
        self._replay.roll_back()

    def _documents(self) -> dict[Place, str]:
        """Every document by the log, as text; the text of one that did not change is kept."""
        found: dict[Place, str] = {}
        for table in FORMATS:
            for key, document in self._replay.tables[_SCHEMA, table].rows.values():
                place = Place(table, key)
                known = self._texts.get(place)
                if known is None or known[0] != document:
                    known = self._texts[place] = document, format_text(decode(document))
                found[place] = known[1]
        return found

    def _compared(self, connection: Connection) -> tuple[Comparison, ...]:
        """Every row of the files against the log."""
        with _exported(connection):
            found = self.server.files.matching(*(f"{_SCHEMA}/{name}.ibd" for name in _TABLES))
        files = [(f"{name}.ibd", _tablespace(found[f"{_SCHEMA}/{name}.ibd"])) for name in _TABLES]
        return tuple(DataFiles(files).compare(self._replay.tables))


def _tablespace(data: bytes) -> Tablespace:
    """A file whose every value is compared, so that checksums would show nothing more."""
    return Tablespace(lambda at, count: data[at : at + count], len(data), verify=False)


def _aim(target: Moment | None, sessions: list[Session], server: OwnServer) -> None:
    """Wait until a session is at the moment that the kill is for, unless that takes long."""
    server.observed("moment for the kill", lambda _: _reached(target, sessions))


def _reached(target: Moment | None, sessions: list[Session]) -> bool:
    return target is not None and clock.REAL.until(
        lambda: any(session.moment is target for session in sessions), _AIM, 0.0002
    )


@contextmanager
def _exported(connection: Connection) -> Iterator[None]:
    connection.execute(f"FLUSH TABLES {', '.join(_TABLES)} FOR EXPORT")
    try:
        yield
    finally:
        connection.execute("UNLOCK TABLES")


def _selected(connection: Connection) -> dict[Place, str | None]:
    """Each document; of an id that has several rows, that it has."""
    found: dict[Place, str | None] = {}
    for table in FORMATS:
        for key, text in connection.execute(f"SELECT id, j FROM {table}").texts():
            place = Place(table, int(key or 0))
            found[place] = "several rows" if place in found else text
    return found


def _await_rollback(connection: Connection) -> None:
    """Wait until the server has rolled back what recovery found open: until then its files may have it."""
    query = "SELECT COUNT(*) FROM information_schema.INNODB_TRX"
    if not clock.until(lambda: connection.execute(query).scalar() == "0", _PATIENCE, 0.01):
        raise StartFailed("recovery does not end: transactions are still open")
