"""The lab's own source for clients that connect, in the place of a MySQL server: nothing is installed, nothing starts.

It serves the log of a Case as it is. In front of it stands a file with the Case's DDL and the first marker, and behind
it one with the last marker. A server would have the same files. INFORMATION_SCHEMA has the tables that the DDL makes.
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.header import Checksum
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import Row, rows_body
from conformance.reference.binlog.writer import FileWriter, begin
from conformance.reference.event_types import EventType
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.definitions import Column, Table, create_table, table_map
from conformance.servers.closing import Closing
from conformance.servers.source.catalogue import read_tables
from conformance.servers.source.cuts import CutAt
from conformance.servers.source.log_files import LogFile, LogFiles, NoLog
from conformance.servers.source.login import Account
from conformance.servers.source.server import Source as WireSource
from conformance.servers.wire.capture import Position
from conformance.subjects.source import MARKERS, SCHEMA, NotServed, Served

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.cases.decoder_case import DecoderCase
    from conformance.reference.binlog.event import Body
    from conformance.servers.source.packets import Value

VERSION: Final = "9.7.4"
_FILE: Final = "binlog.{:06}"
_TIME: Final = 1_700_000_000
_MARKER: Final = Table(
    schema=SCHEMA,
    name=MARKERS,
    columns=(
        Column(name="id", type="INT", nullable=False, auto_increment=True),
        Column(name="word", type="VARCHAR", length=64, nullable=False),
    ),
    primary_key=((0, 0),),
)
_MAP: Final = table_map(_MARKER, "FULL", table_id=1)
_GLOBALS: Final[dict[str, Value]] = {"binlog_row_metadata": "FULL"}  # as on the server that Cases run on
_SET_GLOBAL: Final = re.compile(r"SET\s+GLOBAL\s+(\w+)\s*=\s*'?(\w+)'?", re.IGNORECASE)
_DDL: Final = ("CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE")
_ANONYMOUS: Final = Gtid(
    type=EventType.ANONYMOUS_GTID, immediate_commit_timestamp=_TIME * 10**6, immediate_server_version=90704
)


class LabSource(Closing):
    """A source for the Cases of a suite, one after the other."""

    any_log = True

    def __init__(self, *, method: str | None = None, tls: bool = True) -> None:
        self._number = 0
        self._schemas: set[str] = set()
        self._executed = ""  # GTIDs in front of the present Case
        self._known = ("CREATE SCHEMA " + SCHEMA, create_table(_MARKER, qualified=True))
        logs = LogFiles([self._file([Query(text=text.encode()) for text in self._known])])
        account = Account(password=secrets.token_urlsafe(12))
        if method:
            account.method = method
        self._source = WireSource(
            logs,
            account=account,
            version=VERSION,
            gtid_mode="OFF_PERMISSIVE",
            prepared=self._known,
            variables=_GLOBALS,
            tls=tls,
        )
        self._source.facts.table_logs = logs

    @property
    def version(self) -> str:
        """The version that the source says it has."""
        return VERSION

    def alive(self) -> bool:
        """The source lives as long as the lab."""
        return True

    def here(self) -> Position:
        """The end of the log."""
        last = self._source.facts.logs.files[-1]
        return Position(file=last.name, offset=last.end)

    def request(self, served: Served | None = None) -> dict[str, Any]:
        """The field ``server`` of a request."""
        start = served.start if served else self.here()
        fields: dict[str, Any] = {
            "host": "127.0.0.1",
            "port": self._source.port,
            "user": self._source.account.user,
            "password": self._source.account.password,
            "tls": self._source.identity is not None,
            "file": start.file,
            "position": start.offset,
        }
        return fields | (served.fields() | {"gtids": self._executed} if served else {})

    def log(self, served: Served) -> bytes:
        """The log of a Case."""
        return next(bytes(file.data) for file in self._source.facts.logs.files if file.name == served.start.file)

    def serve(self, case: DecoderCase, *, exact: bool = False) -> Served:  # noqa: ARG002 - always the exact bytes
        """Give a Case to clients."""
        if case.sparse:
            raise NotServed("a log with gaps is for readers of files")
        self._number += 1
        begun, ended = f"{self._number}:begin", f"{self._number}:end"
        files = self._source.facts.logs.files
        drops = [f"DROP SCHEMA IF EXISTS `{name}`" for name in sorted(self._schemas)]
        self._schemas = set()
        try:
            middle = LogFile.of(self._next(len(files) + 2), bytearray(case.log))
        except NoLog as problem:
            raise NotServed(str(problem)) from problem
        prepare = case.prepare or self._made_up(middle)
        self._executed = str(self._source.facts.logs.executed)
        before = self._file([*self._queries([*drops, *prepare]), *_marked(begun)])
        self._source.facts.prepared = (*self._known, *prepare)
        self._source.facts.variables.follow(_GLOBALS | _set_globals(prepare))
        self._source.facts.table_logs = LogFiles([middle])
        self._source.facts.forget_tables()
        files += [before, middle]
        files.append(self._file(_marked(ended), _checksum(middle)))  # binlog_checksum is that of the last file
        return Served(
            start=Position(file=middle.name, offset=4),
            stop=self.here(),
            begin=begun,
            end=ended,
            columns=self._columns(),
        )

    def record(self) -> list[tuple[bytes, list[bytes]]]:
        """Keep all commands from now on, each with the packets of its answer."""
        tape: list[tuple[bytes, list[bytes]]] = []
        self._source.tape = tape
        return tape

    def answers(self, commands: Iterable[bytes]) -> list[tuple[bytes, list[bytes]]]:
        """Return the source's answers to these commands of one session, without a connection."""
        return self._source.answers(commands)

    def arm(self, served: Served, position: int) -> None:
        """Break the next dump that comes to a position of a Case's log."""
        self._source.armed = CutAt(served.start.file, position)

    @property
    def is_armed(self) -> bool:
        """Whether no dump came to the position yet."""
        return self._source.armed is not None

    def disarm(self) -> None:
        """Break no dump."""
        self._source.armed = None

    def _made_up(self, log: LogFile) -> tuple[str, ...]:
        """Statements that make the tables of a log that has no DDL: clients that follow DDL know no others."""
        tables = read_tables(LogFiles([log]))
        schemas = [f"CREATE SCHEMA {quote_identifier(name)}" for name in sorted({table.schema for table in tables})]
        return (*schemas, *(table.sql(qualified=True) for table in tables))

    def _next(self, number: int) -> str:
        return _FILE.format(number)

    def _file(self, bodies: Iterable[Body], algorithm: int = Checksum.CRC32) -> LogFile:
        writer = FileWriter(format=FormatDescription(algorithm=algorithm), timestamp=_TIME, server_id=71)
        executed = self._source.facts.logs.executed.entries() if hasattr(self, "_source") else ()
        log = writer.start(PreviousGtids(entries=executed))
        group: list[Body] = []
        for body in bodies:
            group.append(body)
            if isinstance(body, Xid) or (isinstance(body, Query) and body.text != b"BEGIN"):
                log += writer.group(_ANONYMOUS, group)
                group = []
        files = self._source.facts.logs.files if hasattr(self, "_source") else []
        return LogFile.of(self._next(len(files) + 1), bytearray(log))

    def _queries(self, statements: Iterable[str]) -> Iterable[Query]:
        """The statements that change tables, in the schema that is in use."""
        schema = ""
        for text in statements:
            words = text.split()
            if words and words[0].upper() == "USE":
                schema = words[1].strip("`;")
            elif words and words[0].upper() in _DDL:
                yield Query(text=text.encode(), schema=schema.encode())
                if words[0].upper() == "CREATE" and words[1].upper() in ("SCHEMA", "DATABASE"):
                    self._schemas.add(words[-1].strip("`;"))

    def _columns(self) -> dict[str, dict[str, str]]:
        """The types of all columns, as clients get them."""
        found: dict[str, dict[str, str]] = {}
        for table in self._source.facts.tables():
            if table.schema != SCHEMA:
                found[f"{table.schema}.{table.name}"] = {
                    column.name: f"{column.type} CHARACTER SET {column.charset}" if column.charset else column.type
                    for column in table.columns
                }
        return found

    def close(self) -> None:
        """End all connections."""
        self._source.close()


def _set_globals(statements: Iterable[str]) -> dict[str, Value]:
    """The global variables that a Case sets."""
    return {found[1].lower(): found[2].upper() for text in statements if (found := _SET_GLOBAL.match(text.strip()))}


def _checksum(log: LogFile) -> int:
    return Checksum.NONE if log.algorithm == Checksum.NONE else Checksum.CRC32


def _marked(word: str) -> list[Body]:
    number = int(word.partition(":")[0]) * 2 + word.endswith("end")
    row = rows_body(_MAP, EventType.WRITE_ROWS, [Row(None, (number, word.encode()))])
    return [begin(SCHEMA), _MAP, row, Xid(xid=number)]
