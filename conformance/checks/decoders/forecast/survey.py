"""Counts of what stands in binary logs: features by table, transactions, tables, files, and facts that stop readers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.checks.decoders.forecast.features import features_of
from conformance.checks.decoders.forecast.limits import DEFAULTS, Limit, Measure, Near, near
from conformance.reference.binlog.control_events import Incident, Opaque
from conformance.reference.binlog.event import UnreadEvents
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged, gtid_text
from conformance.reference.binlog.header import FOOTER_SIZE, Checksum, Flag
from conformance.reference.binlog.load import ExecuteLoadQuery
from conformance.reference.binlog.mariadb.events import MariadbGtid
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import DELETE_TYPES, WRITE_TYPES, LazyRows
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType, writer_of
from conformance.reference.replay.ddl import parse_statement
from conformance.reference.replay.statements import statement_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.binlog.event import Event

PACKET: Final = (1 << 24) - 1  # bytes of a packet of the protocol: a larger event travels in several
LARGEST: Final = 1 << 30  # the most that replica_max_allowed_packet can be: no replica takes a larger event
_NEAR: Final = LARGEST // 2
_CONTROL: Final = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "XA", "START")


@dataclass(slots=True)
class File:
    """One log file."""

    name: str
    version: str = ""
    checksums: bool = True
    is_open: bool = False
    mariadb: bool = False
    events: int = 0
    size: int = 0
    error: str = ""


@dataclass(slots=True)
class Table:
    """The row events of one table."""

    name: str
    json_columns: int = 0
    rows: Counter[str] = field(default_factory=Counter)  # by operation
    events: int = 0
    size: int = 0  # bytes of the row events, compressed ones as they are without compression
    features: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Transaction:
    """One transaction: where it begins, its bytes in the file, and how many rows it changes.

    ``plain``: its bytes in the cache, without compression; ``payload``: the largest content of a payload.
    """

    file: str
    position: int
    gtid: str | None
    size: int = 0
    rows: int = 0
    plain: int = 0
    payload: int = 0


class Survey:
    """Takes every event of the logs, those of payloads too, between :meth:`start_file` and the next one."""

    def __init__(self, *, top: int, limits: Sequence[Limit] = DEFAULTS) -> None:
        self._top = top
        self._limits = limits
        self._open: Transaction | None = None
        self._largest: list[Transaction] = []
        self.files: list[File] = []
        self.tables: dict[str, Table] = {}
        self.features: Counter[str] = Counter()
        self.transactions = 0
        self.near: list[Near] = []
        self.largest_event = (0, "", 0)  # bytes, file, position
        self.large_events = 0  # above a packet
        self.statements: list[tuple[str, int, str]] = []  # that change rows and are not in row events
        self.incidents = 0
        self.unread = UnreadEvents()  # the reader's record of events that nobody reads
        self.foreign = UnreadEvents()  # events of other servers that are read

    def start_file(self, name: str) -> None:
        """The name of the file whose events come next."""
        self._end()
        self.files.append(File(name))
        self.foreign.source = name

    def event(self, event: Event) -> None:
        """Take one event."""
        file, body = self.files[-1], event.body
        if writer_of(event.header.type) and not isinstance(body, Opaque):
            self.foreign.add(event.header.type, event.header.flags, event.position)
        for feature in features_of(event):
            if file.mariadb and feature == "rows-v1":
                continue  # MariaDB has no other rows
            self.features[feature] += 1
            if isinstance(body, LazyRows):
                self._table(body).features[feature] += 1
        if event.inner is None:
            self._in_file(file, event)
        elif self._open is not None:
            self._open.plain += event.header.length
        match body:
            case FormatDescription():
                file.version = body.server_version
                file.mariadb = body.mariadb
                file.checksums = body.algorithm == Checksum.CRC32
                file.is_open = bool(event.header.flags & Flag.IN_USE)
            case LazyRows():
                self._rows(event, body)
            case Query() if _changes_rows(body):
                text = body.text[:80].decode("utf-8", "backslashreplace")
                self.statements.append((file.name, event.position or 0, text))
            case ExecuteLoadQuery():
                self.statements.append((file.name, event.position or 0, "LOAD DATA"))
            case Incident():
                self.incidents += 1

    def finish(self) -> None:
        """End the input."""
        self._end()

    @property
    def largest(self) -> list[Transaction]:
        """The largest transactions, the largest first."""
        return sorted(self._largest, key=lambda each: -each.size)[: self._top]

    @property
    def busiest(self) -> list[Table]:
        """The tables with the most bytes in row events."""
        return sorted(self.tables.values(), key=lambda each: (-each.size, each.name))[: self._top]

    @property
    def is_near_limit(self) -> bool:
        """Whether an event is larger than half of what a replica can take at all."""
        return self.largest_event[0] >= _NEAR

    def _in_file(self, file: File, event: Event) -> None:
        length, position = event.header.length, event.position or 0
        file.events += 1
        file.size = position + length
        self.large_events += length > PACKET
        self.largest_event = max(self.largest_event, (length, file.name, position))
        if isinstance(event.body, Gtid | GtidTagged | MariadbGtid):
            self._end()
            self._open = Transaction(file.name, position, _gtid(event))
        elif event.header.type in (EventType.ROTATE, EventType.STOP):
            self._end()
        if self._open is None:
            return
        self._open.size += length
        if isinstance(event.body, TransactionPayload):
            self._open.payload = max(self._open.payload, event.body.uncompressed_size or 0)
        elif not isinstance(
            event.body, Gtid | GtidTagged | MariadbGtid
        ):  # the cache of a transaction has neither GTID nor checksums
            self._open.plain += length - (FOOTER_SIZE if file.checksums else 0)

    def _end(self) -> None:
        if self._open is None:
            return
        self.transactions += 1
        done, self._open = self._open, None
        self._largest.append(done)
        sizes = {Measure.WRITTEN: done.size, Measure.PLAIN: done.plain, Measure.PAYLOAD: done.payload}
        self.near += near(self._limits, sizes, done.file, done.position, done.gtid)
        if len(self._largest) > 4 * self._top + 64:
            self._largest = self.largest

    def _table(self, body: LazyRows) -> Table:
        table = body.map()
        name = f"{table.schema}.{table.table}"
        found = self.tables.setdefault(name, Table(name))
        found.json_columns = len(table.json_columns)
        return found

    def _rows(self, event: Event, body: LazyRows) -> None:
        table = self._table(body)
        operation = "insert" if body.type in WRITE_TYPES else "delete" if body.type in DELETE_TYPES else "update"
        rows = sum(1 for _ in body.rows())
        table.rows[operation] += rows
        table.events += 1
        table.size += event.header.length
        if self._open is not None:
            self._open.rows += rows


def _gtid(event: Event) -> str | None:
    body = event.body
    return body.text(event.header.server_id) if isinstance(body, MariadbGtid) else gtid_text(body)


def _changes_rows(body: Query) -> bool:
    """Whether a statement changes rows itself: in statement format nobody but a server knows which."""
    words = statement_words(body)
    if not words or words[0].among(*_CONTROL):
        return False
    try:
        parse_statement(words, body.schema.decode("utf-8", "surrogateescape"))
    except CodecError:
        return words[0].among("INSERT", "UPDATE", "DELETE", "REPLACE", "CALL", "WITH", "LOAD")
    return False
