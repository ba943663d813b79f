"""Counts of a digest: who writes what, when and how much, and the largest transactions and documents."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import heappush, heapreplace
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from conformance.reference.binlog.gtid import Gtid, GtidTagged, gtid_text
from conformance.reference.binlog.mariadb.events import MariadbGtid
from conformance.reference.binlog.rows import DELETE_TYPES, WRITE_TYPES, LazyRows, included
from conformance.reference.event_types import EventType

if TYPE_CHECKING:
    from conformance.reference.binlog.event import Event

_T = TypeVar("_T", "Transaction", "Document")
_STEPS: Final = (1, 5, 15, 60, 180, 720, 1440, 10080)  # minutes
_MOST: Final = 24  # lines of a timeline


class Transaction(NamedTuple):
    """A transaction by its bytes in the file. ``tables``: those whose rows it changes."""

    size: int
    file: str
    position: int
    gtid: str | None
    rows: int
    tables: tuple[str, ...]


class Document(NamedTuple):
    """A whole document in a row image, by its bytes as stored."""

    size: int
    file: str
    position: int
    table: str
    column: str


@dataclass(slots=True)
class Amount:
    """Transactions, changed rows, and bytes in the file."""

    transactions: int = 0
    rows: int = 0
    size: int = 0

    def add(self, other: Amount) -> None:
        """Add another amount."""
        self.transactions += other.transactions
        self.rows += other.rows
        self.size += other.size


@dataclass(slots=True)
class TableAmount:
    """The row events of a table, compressed ones as they are without compression. ``rows``: by operation."""

    events: int = 0
    size: int = 0
    partial: int = 0
    rows: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Open:
    file: str
    position: int
    gtid: str | None
    writer: tuple[int, str]
    minute: int
    size: int = 0
    rows: int = 0
    tables: dict[str, None] = field(default_factory=dict)


class Digest:
    """Takes every event of the logs, those of payloads too, between :meth:`start_file` and the next one.

    ``top``: how many of the largest are kept.
    """

    def __init__(self, top: int) -> None:
        self._top = top
        self._file = ""
        self._open: _Open | None = None
        self._times: dict[int, Amount] = {}  # by minute
        self._transactions: list[Transaction] = []  # heaps
        self._documents: list[Document] = []
        self.total = Amount()
        self.writers: dict[tuple[int, str], Amount] = {}  # by server id, and UUID with tag
        self.tables: dict[str, TableAmount] = {}

    def start_file(self, name: str) -> None:
        """The name of the file whose events come next."""
        self._end()
        self._file = name

    def event(self, event: Event) -> None:
        """Take one event."""
        body = event.body
        if isinstance(body, (Gtid, GtidTagged, MariadbGtid)):
            self._begin(event)
        elif event.header.type in (EventType.ROTATE, EventType.STOP):
            self._end()
        if self._open is not None and event.inner is None:
            self._open.size += event.header.length
        if isinstance(body, LazyRows):
            self._rows(event, body)

    def finish(self) -> None:
        """End the input."""
        self._end()

    @property
    def transactions(self) -> list[Transaction]:
        """The largest transactions, the largest first."""
        return sorted(self._transactions, reverse=True)

    @property
    def documents(self) -> list[Document]:
        """The largest documents, the largest first."""
        return sorted(self._documents, reverse=True)

    def timeline(self) -> tuple[int, dict[int, Amount]]:
        """Amounts by the second at which a span begins, and the minutes of a span: so many that there are few spans."""
        if not self._times:
            return 1, {}
        first, last = min(self._times), max(self._times)
        step = next((step for step in _STEPS if last // step - first // step < _MOST), _STEPS[-1])
        spans: dict[int, Amount] = {}
        for minute in sorted(self._times):
            spans.setdefault(minute // step * step * 60, Amount()).add(self._times[minute])
        return step, spans

    def _begin(self, event: Event) -> None:
        self._end()
        body, header = event.body, event.header
        if isinstance(body, MariadbGtid):
            gtid: str | None = body.text(header.server_id)
        else:
            gtid = gtid_text(body)
        source = gtid.rpartition(":")[0] if gtid and ":" in gtid else ""
        self._open = _Open(self._file, event.position or 0, gtid, (header.server_id, source), header.timestamp // 60)

    def _end(self) -> None:
        done, self._open = self._open, None
        if done is None:
            return
        amount = Amount(1, done.rows, done.size)
        self.total.add(amount)
        self.writers.setdefault(done.writer, Amount()).add(amount)
        self._times.setdefault(done.minute, Amount()).add(amount)
        found = Transaction(done.size, done.file, done.position, done.gtid, done.rows, tuple(done.tables))
        _keep(self._transactions, found, self._top)

    def _document(self, value: object, event: Event, table: str, column: str) -> None:
        """Take a value of a JSON column. Of documents of one column and size, the first is kept: images repeat them."""
        if not isinstance(value, bytes):  # NULL, or diffs
            return
        size = len(value)
        if len(self._documents) == self._top and size <= self._documents[0].size:
            return
        if not any((size, table, column) == (each.size, each.table, each.column) for each in self._documents):
            _keep(self._documents, Document(size, self._file, event.position or 0, table, column), self._top)

    def _rows(self, event: Event, body: LazyRows) -> None:
        table = body.map()
        name = f"{table.schema}.{table.table}"
        found = self.tables.setdefault(name, TableAmount())
        found.events += 1
        found.size += event.header.length
        found.partial += body.type == EventType.PARTIAL_UPDATE_ROWS
        kind = "insert" if body.type in WRITE_TYPES else "delete" if body.type in DELETE_TYPES else "update"
        places = [
            [(at, column) for at, column in enumerate(included(bitmap or 0, len(table.columns)))
             if column in table.json_columns]
            for bitmap in (body.before_columns, body.after_columns)
        ]  # fmt: skip
        rows = 0
        for row in body.rows():
            rows += 1
            for image, columns in zip((row.before, row.after), places, strict=True):
                if image is not None:
                    for at, column in columns:
                        self._document(image[at], event, name, table.column_names[column])
        found.rows[kind] += rows
        if self._open is not None:
            self._open.rows += rows
            self._open.tables[name] = None


def _keep(heap: list[_T], item: _T, top: int) -> None:
    """Keep an item if it is one of the largest."""
    if len(heap) < top:
        heappush(heap, item)
    elif item > heap[0]:
        heapreplace(heap, item)
