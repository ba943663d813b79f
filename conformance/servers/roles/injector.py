"""Row events that the reference builds and BINLOG statements put into a real server (requirements 0.3, fuzzing 6).

The target is a server of the lab's own with ``gtid_mode=OFF``: with GTIDs on, a session that was given a
FORMAT_DESCRIPTION cannot go on (1782). Each event works on a row of its own that holds a known document. A WRITE_ROWS
event stores the document with its exact bytes, and the lab commits it. The lab rolls back the transaction of the tested
event, so that any number of events meet the same row. Measured on 9.7.4: 6,000 events a second, two packets for each.

The lab watches the server. When it dies, the outcome of the event is the death with its signature: signal, build, and
the names of the upper frames. Without names, the signature has the last three hex digits of the frames, which address
randomisation leaves alone. The server starts again on the same data and the remaining events follow.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from conformance.cases.by_hand.injection import SCHEMA, TABLE, TABLE_MAP, InjectionOutcome, RowState, row_event_body
from conformance.cases.case_sql import binlog_statement
from conformance.cases.server_death import format_death
from conformance.cases.session import SORT_BUFFER
from conformance.reference.binlog.control_events import Opaque
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.rows import Row, rows_body
from conformance.reference.event_types import EventType
from conformance.reference.tables.definitions import create_table
from conformance.servers import clock
from conformance.servers.closing import Closing
from conformance.servers.errors import ConnectionLost, ProtocolError, ServerDied, ServerError, SqlError
from conformance.servers.install.cache import silent
from conformance.servers.run.process import status_words
from conformance.servers.run.stack import build_of, upper_frames

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from conformance.cases.by_hand.injection import Injection
    from conformance.reference.tables.definitions import Table
    from conformance.servers.install.cache import Narrate
    from conformance.servers.run.owned import Maker, OwnServer
    from conformance.servers.wire.connection import Connection

# A stored document -> the id of its row, and the document as the server prints it.
Rows: TypeAlias = "dict[bytes | None, tuple[int, RowState]]"

SERVER_ID: Final = 91
OPTIONS: Final[dict[str, str | None]] = {
    "gtid-mode": "OFF",
    "enforce-gtid-consistency": "OFF",
    # Committed rows must outlive a crash of the server (not of the machine): the next event starts from them.
    "innodb-flush-log-at-trx-commit": "2",
    "innodb-file-per-table": "OFF",
}
NO_REPORT: Final = "no crash report"
"""How the signature of a death begins whose error log does not tell its place."""
_MISSING_ROW: Final = 1 << 30  # an id that no row has
_ROWS_PER_EVENT: Final = 100
_PATIENCE: Final = 30.0  # seconds for one answer
_WRITING: Final = 300.0  # seconds that a server may write its crash report
# At the start of a line: 9.7.4 repeats the report as messages of its log (MY-013951) when it is started again.
_SIGNAL: Final = re.compile(r"^\S+ UTC - \w+ got (?:signal|exception) (\S+)", re.MULTILINE)
_FRAME: Final = re.compile(r"^\s*#(\d+) 0x([0-9a-f]+)", re.MULTILINE)
_FRAMES: Final = range(4, 17)  # the ones above belong to the handler of the signal
STATE: Final = "SELECT j IS NULL, JSON_VALID(j), CAST(j AS CHAR), JSON_STORAGE_SIZE(j), JSON_STORAGE_FREE(j)"


def row_event(*rows: tuple[int, bytes]) -> bytes:
    """A PARTIAL_UPDATE_ROWS event from numbers of rows and, for each, the bytes of its ``image``."""
    return encode_event(Opaque(type=EventType.PARTIAL_UPDATE_ROWS, data=row_event_body(*rows)), server_id=SERVER_ID)


def write_event(rows: Sequence[tuple[int, bytes | None]]) -> bytes:
    """A WRITE_ROWS event that stores documents under ids."""
    body = rows_body(TABLE_MAP, EventType.WRITE_ROWS, [Row(None, row) for row in rows])
    return encode_event(body, server_id=SERVER_ID)


def empty_tables(*tables: Table) -> list[str]:
    """Statements that make empty tables in the schema of injections."""
    out = [f"CREATE SCHEMA IF NOT EXISTS {SCHEMA} DEFAULT CHARACTER SET utf8mb4"]
    for table in tables:
        out += [f"DROP TABLE IF EXISTS {SCHEMA}.{table.name}", create_table(table, qualified=True)]
    return out


def script(injection: Injection, version: str) -> tuple[str, ...]:
    """Statements that repeat an injection on any server with gtid_mode=OFF."""
    table_map = encode_event(TABLE_MAP, server_id=SERVER_ID)
    row = 1 if injection.row_exists else 2
    return (
        f"CREATE SCHEMA {SCHEMA} DEFAULT CHARACTER SET utf8mb4",
        create_table(TABLE, qualified=True),
        binlog_statement(encode_event(FormatDescription(server_version=version))),
        binlog_statement(table_map, write_event([(1, injection.stored)])),
        binlog_statement(table_map, row_event((row, injection.image))),
        f"{STATE} FROM {SCHEMA}.t",
    )


def crash_report(log: str, death: str = "", program: Path | None = None) -> str:
    """The last crash report in an error log with the text after it; the report of ``death`` if given."""
    end = len(log)
    for found in reversed([*_SIGNAL.finditer(log)]):
        if not death or _signature(log[found.start() : end], program) == death:
            return log[found.start() : end]
        end = found.start()
    return ""


def crash_signature(log: str, program: Path | None = None) -> str:
    """Signal, place and build of the last crash report in an error log.

    ``program``: the server's file, which supplies names that the report lacks.
    """
    report = crash_report(log)
    return _signature(report, program) if report else NO_REPORT


def _signature(report: str, program: Path | None) -> str:
    found = _SIGNAL.match(report)
    assert found is not None
    addresses = [address[-3:] for number, address in _FRAME.findall(report) if int(number) in _FRAMES]
    return format_death(
        found.group(1).rstrip(";"), upper_frames(report, program), build_of(report), ",".join(addresses)
    )


def _place_of_crash(server: OwnServer) -> str:
    return crash_signature(server.error_log(), server.program_file)


def launch_target(
    maker: Maker,
    *,
    options: Mapping[str, str | None] | None = None,
    keep: bool = False,
    narrate: Narrate = silent,
) -> OwnServer:
    """A server that takes injections."""
    return maker.launch(server_id=SERVER_ID, options={**(options or {}), **OPTIONS}, keep=keep, narrate=narrate)


class Injector(Closing):
    """Runs injections on a server from :func:`launch_target`, and keeps it running. ``deaths`` counts its crashes."""

    def __init__(self, server: OwnServer, *, described: bool = True) -> None:
        self.server = server
        self.deaths = 0
        self._described = described  # whether sessions must accept BINLOG statements
        self._connection: Connection | None = None
        self._pid = 0  # of the session's server
        self._table_map = encode_event(TABLE_MAP, server_id=SERVER_ID)

    def session(self) -> Connection:
        """A session that knows the format of the events; starts the server again if it died."""
        if self._connection is None or self._connection.closed or self._pid != self.server.pid:
            self.hang_up()
            if not self.server.alive():
                self.server.stop()
                self.server.start()
            self._connection = self.server.connect(timeout=_PATIENCE)
            self._pid = self.server.pid
            self._connection.execute(f"SET SESSION sql_log_bin = 0, SESSION sort_buffer_size = {SORT_BUFFER}")
            if self._described:
                description = FormatDescription(server_version=self.server.version)
                self._connection.execute(binlog_statement(encode_event(description, server_id=SERVER_ID)))
        return self._connection

    def load(self, documents: Sequence[bytes | None]) -> Rows:
        """Make a table with one row for each document: return each row's id and printed document."""
        session = self.session()
        session.execute_many(empty_tables(TABLE)).check()
        rows = list(enumerate(dict.fromkeys(documents), 1))
        self.write(rows)
        states = session.execute(f"{STATE} FROM {SCHEMA}.t ORDER BY id").rows
        return {document: (number, state_in(row)) for (number, document), row in zip(rows, states, strict=True)}

    def write(self, rows: Sequence[tuple[int, bytes | None]]) -> None:
        """Store rows with exactly these documents, in the session's transaction."""
        session = self.session()
        for start in range(0, len(rows), _ROWS_PER_EVENT):
            session.execute(binlog_statement(self._table_map, write_event(rows[start : start + _ROWS_PER_EVENT])))

    def run(self, injections: Sequence[Injection]) -> Iterator[InjectionOutcome]:
        """The outcome of each injection, in order."""
        rows = self.load([injection.stored for injection in injections])
        try:
            yield from self._each(injections, rows)
        finally:
            if self._connection is not None and not self._connection.closed:
                self._connection.execute("ROLLBACK")

    def _each(self, injections: Sequence[Injection], rows: Rows) -> Iterator[InjectionOutcome]:
        for injection in injections:
            outcome = self.inject(injection, rows)
            yield outcome
            if outcome.death or outcome.silent:
                self.session()  # starts the server again: committed rows are still there

    def inject(self, injection: Injection, rows: Rows) -> InjectionOutcome:
        """The outcome of one injection on the rows of :meth:`load`. The next use starts a dead server again."""
        number, before = rows[injection.stored]
        if not injection.row_exists:
            number = _MISSING_ROW
        return self._inject(number, injection.image, before if injection.row_exists else None)

    def _inject(self, row: int, image: bytes, before: RowState | None) -> InjectionOutcome:
        read = f"{STATE} FROM {SCHEMA}.t WHERE id = {row}"
        session = self.session()
        reading = False
        try:
            event = binlog_statement(self._table_map, row_event((row, image)))
            # Observed on 9.7.4: the server silently drops statements that follow a BINLOG statement in the same packet.
            refused = session.execute_many(["ROLLBACK", "BEGIN", event]).error
            if refused is not None and refused.position < 2:
                raise refused
            reading = True
            (after,) = read_states(session, read)
        except ConnectionLost as error:
            return replace(self.lost(error, before), reading=reading)
        if refused is None:
            return InjectionOutcome(before=before, after=after)
        message = refused.message or "no text at all"
        return InjectionOutcome(error=refused.number, message=message, before=before, after=after)

    def lost(self, error: ConnectionLost, before: RowState | None) -> InjectionOutcome:
        """The outcome when the server died, hangs, or has closed this session."""
        silent = took_too_long(error)
        if isinstance(error, ServerDied) or not (silent or self._lives_on()):
            self.deaths += 1
            place = self.server.observed("place of the crash", _place_of_crash)
            if place == NO_REPORT and isinstance(error, ServerDied):
                place = f"{NO_REPORT} ({status_words(error.status)})"
            return InjectionOutcome(before=before, death=place)
        if silent:
            self.server.kill()
            return InjectionOutcome(before=before, silent=True)
        return InjectionOutcome(before=before, death="the connection was broken off, the server lives")

    def _lives_on(self) -> bool:
        """Whether the server is still there much later: one that writes its crash report still greets, and on a busy
        machine its report begins late."""
        begun = clock.monotonic()
        while self.server.alive():
            waited = clock.monotonic() - begun
            if waited > _WRITING or (waited > _PATIENCE and not crash_report(self.server.error_log())):
                return True
            clock.sleep(0.01)
        return False

    def hang_up(self) -> None:
        """Close the session; the next use opens a new one."""
        with contextlib.suppress(ServerError):
            if self._connection is not None:
                self._connection.close()

    def close(self) -> None:
        """Close the session and the server."""
        self.hang_up()
        self.server.close()


def took_too_long(error: ConnectionLost) -> bool:
    """Whether the lab gave up a connection because no answer came in the stated time."""
    return isinstance(error.__cause__, TimeoutError)


def read_states(session: Connection, query: str, *, most: int = 1) -> list[RowState | None]:
    """The row states that a query finds, row by row; ``None``: the row does not exist.

    The columns of the query come in fives, see :data:`STATE`. Raises :class:`ProtocolError` for more than ``most``
    rows.
    """
    try:
        rows = session.execute(query).rows
    except SqlError as error:
        return [RowState(error=error.number)]
    if len(rows) > most:
        raise ProtocolError(f"expected {most} rows at most, got {len(rows)}: {query}")
    return [state_in(row[start : start + 5]) for row in rows for start in range(0, len(row), 5)] or [None]


def state_in(row: tuple[bytes | None, ...]) -> RowState:
    """The row state from the columns of :data:`STATE`; a column that is no JSON has neither size nor free space.

    Raises :class:`ProtocolError` where they contradict each other.
    """
    null, valid, text, size, free = row
    if row == (b"1", None, None, None, None):
        return RowState(is_null=True)
    if null != b"0" or valid not in (b"0", b"1") or (size is None) != (free is None):
        told = ", ".join("NULL" if value is None else repr(value[:40])[1:] for value in row)
        raise ProtocolError(f"NULL or not, JSON_VALID, text, size and free contradict each other: {told}")
    return RowState(valid=valid == b"1", text=text, size=_number(size), free=_number(free))


def _number(value: bytes | None) -> int | None:
    return None if value is None else int(value)
