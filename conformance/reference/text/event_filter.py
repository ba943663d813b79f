"""Which events mysqlbinlog prints with its options that leave events out (mysqlbinlog-output 8).

``--table`` is not an option of mysqlbinlog: it leaves out rows as ``--database`` does, and no statements.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from enum import Enum
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from conformance.reference.binlog.gtid import NIL_UUID, Gtid, GtidTagged
from conformance.reference.binlog.load import ExecuteLoadQuery
from conformance.reference.binlog.mariadb.events import MariadbGtid
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import STMT_END, LazyRows, RowsBody
from conformance.reference.boundaries.shipped import EventClass, classify_query
from conformance.reference.event_types import EventType
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from conformance.reference.binlog.event import Body, Event
    from conformance.reference.binlog.gtid_set import PreviousGtids

_ALWAYS: Final = frozenset(
    (
        EventType.STOP, EventType.FORMAT_DESCRIPTION, EventType.ROTATE, EventType.IGNORABLE, EventType.INCIDENT,
        EventType.PREVIOUS_GTIDS,
    )
)  # fmt: skip
_ENDS: Final = frozenset((EventClass.END_TRX, EventClass.END_XA_TRX))
_WORDS: Final = (b"BEGIN", b"COMMIT")
_PREFIXES: Final = (
    b"SAVEPOINT", b"ROLLBACK", b"XA START", b"XA END", b"XA PREPARE", b"XA COMMIT", b"XA ROLLBACK",
)  # fmt: skip


Name: TypeAlias = "tuple[str, str | None]"  # a schema, and one of its tables


class Choice(Enum):
    """The decision about an event: whether and how it is printed."""

    PRINTED = "it is printed"
    ABSENT = "it is before the start, or inside a payload that is not printed: nothing is printed"
    OTHER_TRANSACTION = "its transaction is left out: only its position is printed"
    OTHER_TABLE = "its schema or table is left out: its position is printed, and its transaction gets an end"
    STOP = "the output ends before it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The options. Times are seconds since 1970; positions are places in a file."""

    start: int = 0
    stop: int | None = None
    start_position: int = 0
    stop_position: int | None = None
    database: str | None = None
    table: str | None = None
    include_gtids: PreviousGtids | None = None
    exclude_gtids: PreviousGtids | None = None

    def takes(self, schema: str, table: str) -> bool:
        """Whether the names choose this table: ``table`` is a name, or SCHEMA.TABLE."""
        return self.database in (None, schema) and self.table in (None, table, f"{schema}.{table}")


class EventFilter:
    """The filter of one run over one or more files. Give it every event, also those inside payloads.

    ``met``: the schemas and tables of the events, if the selection has such names.
    """

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._start = selection.start
        self._stop_position: int | None = None
        self._gtids = GtidChoice(selection)
        self._other_transaction = False
        self._other_tables: set[int] = set()
        self._payload = Choice.PRINTED
        self._looks = selection.database is not None or selection.table is not None
        self.met: set[Name] = set()
        self._schema = None if selection.database is None else _bytes(selection.database)

    def start_file(self, *, last: bool) -> None:
        """Begin a file: the position of the end is one in the last file."""
        self._stop_position = self._selection.stop_position if last else None

    @property
    def state(self) -> tuple[Any, ...]:
        """All that the choice of later events depends on, but for the options and the file."""
        return self._start, self._other_transaction, frozenset(self._other_tables), self._payload

    @state.setter
    def state(self, state: tuple[Any, ...]) -> None:
        self._start, self._other_transaction, tables, self._payload = state
        self._other_tables = set(tables)

    @property
    def takes_all(self) -> bool:
        """Whether it leaves nothing out, so that nobody needs to ask."""
        return replace(self._selection, start_position=0) == Selection()

    def choose(self, event: Event) -> Choice:
        """Decide whether and how the next event is printed."""
        if self._looks:
            self._meet(event.body)
        if event.inner is not None and self._payload is not Choice.PRINTED:
            return Choice.ABSENT
        choice = self._by_place(event)
        if choice is Choice.PRINTED:
            choice = self._by_gtid(event)
        if choice is Choice.PRINTED:
            choice = self._by_name(event)
        if isinstance(event.body, TransactionPayload):
            self._payload = choice
        return choice

    def _meet(self, body: Body) -> None:
        if isinstance(body, TableMap):
            self.met.add((body.schema, body.table))
        elif isinstance(body, (Query, ExecuteLoadQuery)):
            self.met.add((body.schema.decode("utf-8", "surrogateescape"), None))

    def _by_place(self, event: Event) -> Choice:
        """By time and position. Once the start is found, no later event is too early."""
        when = event.header.timestamp
        if event.header.type != EventType.FORMAT_DESCRIPTION:
            if when < self._start:
                return Choice.ABSENT
            self._start = 0
        if self._selection.stop is not None and when >= self._selection.stop:
            return Choice.STOP
        if self._stop_position is not None and event.inner is None and (event.position or 0) >= self._stop_position:
            return Choice.STOP
        return Choice.PRINTED

    def _by_gtid(self, event: Event) -> Choice:
        """By the transaction, from its GTID to its end; the frame of the file is in no transaction."""
        kind = event.header.type
        if kind in _ALWAYS:
            return Choice.PRINTED
        body = event.body
        if isinstance(body, (Gtid, GtidTagged)):
            self._other_transaction = not self._gtids.takes(body)
        elif isinstance(body, MariadbGtid):  # in no set of MySQL's
            self._other_transaction = self._gtids.includes
        choice = Choice.OTHER_TRANSACTION if self._other_transaction else Choice.PRINTED
        if kind == EventType.XID or (isinstance(body, Query) and classify_query(body.text) in _ENDS):
            self._other_transaction = False
        return choice

    def _by_name(self, event: Event) -> Choice:
        """By schema and table. Words that begin or end a transaction are in no schema."""
        body = event.body
        other = False
        if isinstance(body, Query):
            other = self._schema not in (None, body.schema) and not _is_transaction_word(body.text)
        elif isinstance(body, ExecuteLoadQuery):
            other = self._schema not in (None, body.schema)
        elif isinstance(body, TableMap):
            other = self._schema not in (None, _bytes(body.schema))
            other = other or not self._selection.takes(body.schema, body.table)
            if other:
                self._other_tables.add(body.table_id)
        elif isinstance(body, (LazyRows, RowsBody)):
            other = body.table_id in self._other_tables
            if body.flags & STMT_END:
                self._other_tables.clear()
        return Choice.OTHER_TABLE if other else Choice.PRINTED


class GtidChoice:
    """The transactions that the sets of a selection take. ``includes``: whether there is a set to be in."""

    def __init__(self, selection: Selection) -> None:
        self._include = _Set.of(selection.include_gtids)
        self._exclude = _Set.of(selection.exclude_gtids)
        self.includes = self._include is not None

    def takes(self, gtid: Gtid | GtidTagged) -> bool:
        """Whether the transaction with this GTID is chosen."""
        if self._include is not None and gtid not in self._include:
            return False
        return self._exclude is None or gtid not in self._exclude


class _Set:
    """A set of GTIDs that is asked often."""

    def __init__(self, gtids: PreviousGtids) -> None:
        self._intervals = {(entry.uuid, entry.tag): entry.intervals for entry in gtids.entries}

    @classmethod
    def of(cls, gtids: PreviousGtids | None) -> _Set | None:
        return None if gtids is None else cls(gtids)

    def __contains__(self, gtid: Gtid | GtidTagged) -> bool:
        """Whether the set has this GTID; a transaction without one is in no set."""
        number = gtid.gno
        if gtid.type == EventType.ANONYMOUS_GTID or number is None:
            return False
        tag = gtid.tag if isinstance(gtid, GtidTagged) else ""
        intervals = self._intervals.get((gtid.uuid or NIL_UUID, tag or ""), ())
        place = bisect_right(intervals, number, key=itemgetter(0)) - 1
        return place >= 0 and number < intervals[place][1]


def _is_transaction_word(text: bytes) -> bool:
    """The client compares BEGIN and COMMIT over the length of the text, so B and COMM match too."""
    return any(word.startswith(text) for word in _WORDS) or text[:11].upper().startswith(_PREFIXES)


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
