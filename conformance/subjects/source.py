"""The source that clients connect to: a private server of the lab, which writes the log of each Case anew.

Each Case runs in a session of its own: ``prepare`` in front of a log file, ``statements`` in it. A row in a table of
the lab stands before and behind the file. By these rows a client that reads on from where it is knows what belongs to
the Case. For clients that start at a position the Case's own log takes the place of the file. The server listens on
127.0.0.1 and ends with the run.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.servers.auto import Wishes, resolve
from conformance.servers.closing import Closing
from conformance.servers.errors import ConnectionLost, ServerError, ServerUnavailable, SqlError
from conformance.servers.install.cache import silent
from conformance.servers.run.owned import OwnServer
from conformance.servers.wire.capture import Position
from conformance.subjects.answers import SubjectUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.decoder_case import DecoderCase
    from conformance.servers.base import Server
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Address, Connection

SCHEMA: Final = "binlog_lab_wire"
MARKERS: Final = "markers"
_MODE: Final = "OFF_PERMISSIVE"
OPTIONS: Final[dict[str, str | None]] = {
    "binlog-row-metadata": "FULL",
    "enforce-gtid-consistency": "ON",
    # Anonymous and numbered transactions may stand in one log.
    "gtid-mode": _MODE,
    "default-time-zone": "+00:00",
}
_FIRST: Final = 4  # the position of a file's first event
_UUID: Final = re.compile(r"\b([0-9A-Fa-f]{8})((?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})\b")
_WATCHED: Final = ("binlog%", "enforce_gtid_consistency", "time_zone", "sql_mode", "local_infile")
_MODES: Final = ("OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON")  # gtid_mode goes from one to the next only


class NotServed(Exception):
    """The server does not write the Case's log: what it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The place of a Case in the server's log. ``begin`` and ``end`` are the markers' values.

    ``columns``: the types of columns by ``schema.table`` and name, as the server has them at the end: for clients whose
    output does not tell a document from a text.
    """

    start: Position
    stop: Position
    begin: str
    end: str
    columns: dict[str, dict[str, str]]

    def fields(self) -> dict[str, Any]:
        """The fields of a request that say which part of the log to read."""
        return {
            "end_file": self.stop.file,
            "end": self.stop.offset,
            "marker": {"schema": SCHEMA, "table": MARKERS, "begin": self.begin, "end": self.end},
            "columns": self.columns,
        }


class Source(Closing):
    """A private server; :meth:`serve` runs a Case on it."""

    any_log = False  # whether Cases without SQL can be served

    def __init__(self, spec: str = "process", *, narrate: Callable[[str], None] = silent) -> None:
        wishes = Wishes(server_id=71, defaults=OPTIONS)
        try:
            server = resolve(spec, wishes, narrate=narrate)
        except ServerUnavailable as error:
            raise SubjectUnavailable(f"a client that connects needs a server: {error}") from error
        if server is None or not server.started_by_us:
            raise SubjectUnavailable("a client that connects needs a server that the lab starts itself")
        self._server: Server = server
        self._number = 0
        self._capture: Capture | None = None
        self._connection: Connection | None = None
        try:
            self._introduce()
        except BaseException:
            self.close()
            raise

    def _introduce(self) -> None:
        self._capture = self._server.capture()
        session = self._session()
        session.execute(f"CREATE SCHEMA {SCHEMA}")
        session.execute(
            f"CREATE TABLE {SCHEMA}.{MARKERS} (id INT NOT NULL PRIMARY KEY AUTO_INCREMENT, word VARCHAR(64) NOT NULL)"
        )
        with self._server.connect(tcp=True):
            pass  # the server keeps the hash of the password from now on: old clients can log in only then
        self._watched = self._globals()
        self._schemas = self._present()

    def _session(self) -> Connection:
        if self._connection is None or self._connection.closed:
            self._connection = self._server.connect()
        return self._connection

    @property
    def version(self) -> str:
        """The version of the server."""
        return self._server.version

    @property
    def address(self) -> Address:
        """The address and account of clients."""
        return self._server.tcp_address()

    @property
    def pid(self) -> int:
        """The process id of the server; 0 if it is no process of this machine."""
        return int(getattr(self._server, "pid", 0))

    def alive(self) -> bool:
        """Whether the server runs."""
        return self._server.alive()

    def here(self) -> Position:
        """The end of the log."""
        assert self._capture is not None
        return self._capture.mark(self._session())

    def request(self, served: Served | None = None) -> dict[str, Any]:
        """The field ``server`` of a request: where to connect, and which part of the log to read."""
        address = self.address
        start = served.start if served else self.here()
        fields: dict[str, Any] = {
            "host": address.host,
            "port": address.port,
            "user": address.user,
            "password": address.password,
            "file": start.file,
            "position": start.offset,
        }
        return fields | (served.fields() if served else {})

    def log(self, served: Served) -> bytes:
        """The log of a Case, as a file would hold it."""
        assert self._capture is not None
        return self._capture.since(served.start, served.stop).file_bytes()

    # -- one Case ---------------------------------------------------------------------------------------------------

    def serve(self, case: DecoderCase, *, exact: bool = False) -> Served:
        """Give a Case to clients. Its tables stay until the next Case, as clients ask for them.

        ``exact``: the log's own bytes, for clients that start at a position. A client that reads on gets the log that
        the server writes for the Case's statements.
        """
        self._clean()
        self._number += 1
        begin, end = f"{self._number}:begin", f"{self._number}:end"
        try:
            with self._server.connect() as session:
                for statement in case.prepare:
                    session.execute(self._own_gtids(statement))
                self._mark(begin)
                self._session().execute("FLUSH BINARY LOGS")
                start = Position(file=self.here().file, offset=_FIRST)
                for statement in case.statements:
                    session.execute(self._own_gtids(statement))
        except SqlError as error:
            raise NotServed(f"the server refuses the Case's SQL: {error.number} {error.message}") from error
        if exact:
            self._replace(start.file, case.log)
        self._mark(end)
        return Served(start=start, stop=self.here(), begin=begin, end=end, columns=self._columns())

    def _replace(self, name: str, log: bytes) -> None:
        """Put a log in the place of a file that the server has closed.

        Observed on 9.7.4: a client that asks for the file gets its present bytes, and then the next file.
        """
        if not isinstance(self._server, OwnServer):
            raise NotServed("the kit cannot put a log into this server")
        self._session().execute("FLUSH BINARY LOGS")
        self._server.put_data(name, log)

    def _own_gtids(self, statement: str) -> str:
        """A statement whose GTIDs no other Case has used: a server runs a GTID once, and skips it in silence then."""
        if "gtid_next" not in statement.lower():
            return statement
        return _UUID.sub(lambda found: f"{int(found[1], 16) ^ self._number:08x}{found[2]}", statement)

    def _mark(self, word: str) -> None:
        self._session().execute(f"INSERT INTO {SCHEMA}.{MARKERS} (word) VALUES ('{word}')")

    def _columns(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        listed = ", ".join(f"'{name.replace(chr(39), chr(39) * 2)}'" for name in self._schemas)
        rows = self._session().execute(
            "SELECT table_schema, table_name, column_name,"
            " CONCAT_WS(' CHARACTER SET ', column_type, character_set_name) FROM information_schema.columns"
            f" WHERE table_schema NOT IN ({listed}) ORDER BY table_schema, table_name, ordinal_position"
        )
        for schema, table, column, kind in rows.texts():
            found.setdefault(f"{schema}.{table}", {})[str(column)] = str(kind)
        return found

    def _clean(self) -> None:
        """Remove the schemas and prepared transactions of the Case before, and restore global variables."""
        session = self._session()
        for row in session.execute("XA RECOVER CONVERT XID").texts():
            _, global_length, _, data = row
            text = str(data).removeprefix("0x")
            split = 2 * int(global_length or 0)
            session.execute(f"XA ROLLBACK X'{text[:split]}', X'{text[split:]}', {row[0]}")
        for name in self._present() - self._schemas:
            session.execute(f"DROP SCHEMA `{name.replace('`', '``')}`")
        here, target = (_MODES.index(mode) for mode in (session.variable("global.gtid_mode") or "OFF", _MODE))
        step = 1 if here < target else -1
        for mode in range(here + step, target + step, step) if here != target else ():
            session.execute(f"SET GLOBAL gtid_mode = {_MODES[mode]}")
        for name, value in self._globals().items():
            if value != self._watched[name]:
                with contextlib.suppress(SqlError):  # a read-only variable that follows another one
                    session.execute(f"SET GLOBAL {name} = '{self._watched[name]}'")

    def _present(self) -> set[str]:
        return {str(row[0]) for row in self._session().execute("SHOW SCHEMAS").texts()}

    def _globals(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for pattern in _WATCHED:
            rows = self._session().execute(f"SHOW GLOBAL VARIABLES LIKE '{pattern}'").texts()
            found |= {str(name): str(value) for name, value in rows}
        return found

    def close(self) -> None:
        """Stop the server; a second call does nothing."""
        for part in (self._connection, self._capture):
            if part is not None:
                with contextlib.suppress(ServerError, ConnectionLost):
                    part.close()
        self._server.close()
