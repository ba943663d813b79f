"""Transactions taken back: their row events reversed, newest first, from FULL images.

An insert becomes a delete, a delete an insert, and an update goes from the after image to the before image; diffs are
resolved first. What cannot be taken back is refused: images without all columns, statements that change tables, XA, and
what later changes forbid (:mod:`.later_changes`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.control_events import Incident, XaPrepare, Xid
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged, gtid_text
from conformance.reference.binlog.header import MAGIC
from conformance.reference.binlog.load import ExecuteLoadQuery
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import (
    STMT_END,
    LazyRows,
    PartitionInfo,
    Row,
    RowsBody,
    included,
)
from conformance.reference.errors import CodecError, ReplayError
from conformance.reference.event_types import EventType
from conformance.reference.replay.ddl import parse_statement
from conformance.reference.replay.full_rows import FullRows
from conformance.reference.replay.later_changes import LaterChanges, tables_of
from conformance.reference.replay.statements import DefineSchema, statement_words
from conformance.reference.text.event_filter import GtidChoice, Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.header import Header
    from conformance.reference.sql.definition_reader import TableName
    from conformance.reference.sql.statement_words import Word

_REVERSED: Final = {
    EventType.WRITE_ROWS: EventType.DELETE_ROWS,
    EventType.DELETE_ROWS: EventType.WRITE_ROWS,
    EventType.UPDATE_ROWS: EventType.UPDATE_ROWS,
}
_TEXT: Final = 60  # bytes of a statement that an error shows
WHOLE: Final = Selection(start_position=len(MAGIC))


@dataclass(frozen=True, slots=True)
class ReversedRows:
    """One reversed row event, with the header of the original."""

    header: Header
    rows: RowsBody


@dataclass(slots=True)
class Transaction:
    """A transaction of the log; ``events`` are reversed, the last one first once it is complete."""

    file: str
    position: int
    gtid: str | None
    format: FormatDescription | None
    events: list[ReversedRows] = field(default_factory=list)
    is_wanted: bool = True
    has_begun: bool = False  # by BEGIN or XA START; a statement without them is a transaction of its own
    refusal: str | None = None  # why no row of it can be taken back

    @property
    def names(self) -> set[str]:
        """The words that choose the transaction: its GTID, its position, or file and position."""
        return {name for name in (self.gtid, str(self.position), f"{self.file}:{self.position}") if name}


class Reversal:
    """Takes every event of the logs in order, those of payloads too.

    ``wanted``: names of transactions; empty: all. ``selection``: the transactions that begin between two times or two
    positions, and the tables whose rows are taken back.
    """

    def __init__(self, wanted: Iterable[str] = (), selection: Selection = WHOLE) -> None:
        self.wanted = frozenset(wanted)
        self._selection = selection
        self._one_table = selection.table is not None or selection.database is not None
        self._file = ""
        self._is_first = self._is_last = True
        self._gtids = GtidChoice(selection)
        self._format: FormatDescription | None = None
        self._open: Transaction | None = None
        self._full = FullRows(follow=False)
        whole = replace(selection, start_position=max(selection.start_position, len(MAGIC))) == WHOLE
        self._later = LaterChanges(selective=bool(self.wanted) or not whole)
        self._done: list[Transaction] = []
        self.found: Counter[str] = Counter()  # of the names that are wanted

    def start_file(self, name: str, *, first: bool = True, last: bool = True) -> None:
        """The name of the file whose events come next, and whether positions of the selection are places in it."""
        self._file, self._is_first, self._is_last = name, first, last

    def event(self, event: Event) -> None:
        """Take one event."""
        body = event.body
        match body:
            case FormatDescription(mariadb=True):
                raise ReplayError("no-undo", "a log of MariaDB", expected="a log of MySQL", got=body.server_version)
            case FormatDescription():
                self._format = body
            case Gtid() | GtidTagged():
                self._begin(event)
            case Query():
                self._query(event, body)
            case Xid():
                self._end()
            case XaPrepare():
                self._refuse("an XA transaction: what decides it is another transaction")
            case Incident() | ExecuteLoadQuery():
                if self._open is None or self._open.is_wanted:
                    raise self._refused("changes that are not in row events")
                self._later.unknown(event.name)
            case LazyRows():
                self._rows(event, body)

    def transactions(self) -> list[Transaction]:
        """The wanted transactions, newest first. Raises if the last one has no end."""
        if self._open is not None and self._open.events:
            self._refuse("the input ends inside the transaction")
        return self._done[::-1]

    # --- transactions ------------------------------------------------------------------------------------------------

    def _begin(self, event: Event) -> None:
        self._end()
        self._later.begin()
        self._open = Transaction(self._file, event.position or 0, gtid_text(event.body), self._format)
        self._open.is_wanted = self._is_selected(event)
        if self.wanted:
            names = self._open.names & self.wanted
            self.found.update(names)
            self._open.is_wanted &= bool(names)

    def _is_selected(self, event: Event) -> bool:
        """Whether times, positions and GTIDs of the selection take the transaction that begins with this event."""
        chosen, position, moment = self._selection, event.position or 0, event.header.timestamp
        body = event.body
        named = self._gtids.takes(body) if isinstance(body, (Gtid, GtidTagged)) else not self._gtids.includes
        return (
            named
            and moment >= chosen.start
            and (chosen.stop is None or moment < chosen.stop)
            and not (self._is_first and position < chosen.start_position)
            and not (self._is_last and chosen.stop_position is not None and position >= chosen.stop_position)
        )

    def _takes(self, name: TableName) -> bool:
        """Whether the selection takes rows of this table."""
        return self._selection.takes(*name)

    def _end(self) -> None:
        done, self._open = self._open, None
        if done is not None and done.events:
            done.events.reverse()
            self._done.append(done)

    def _refuse(self, why: str) -> None:
        """Raise, unless the present transaction stays. Without rows that are taken back, the next one raises."""
        if self._open is None or self._open.is_wanted:
            if self._open is not None and self._one_table and not self._open.events:
                self._open.refusal = why
            else:
                raise self._refused(why)

    def _refused(self, why: str, *, got: str | None = None) -> ReplayError:
        return ReplayError("no-undo", why, expected="row events with FULL images", got=got or self._shown())

    def _refused_statement(self, text: str) -> ReplayError:
        return self._refused(f"the statement cannot be taken back: {text}", got=f"a statement in {self._shown()}")

    def _shown(self) -> str:
        return "no transaction" if self._open is None else f"transaction {self._open.gtid or self._open.position}"

    def _query(self, event: Event, body: Query) -> None:
        words = statement_words(body)
        if self._open is None:
            self._begin(event)
        assert self._open is not None
        if body.text == b"BEGIN":
            self._open.has_begun = True
        elif not words or words[0].among("SAVEPOINT"):
            return
        elif body.text == b"COMMIT":
            self._end()
        elif words[0].among("ROLLBACK"):
            self._refuse("it is rolled back, wholly or to a savepoint")
        elif words[0].among("XA"):
            self._open.has_begun |= len(words) > 1 and words[1].among("START", "BEGIN")
            self._refuse("an XA transaction: what decides it is another transaction")
        else:
            self._statement(body, words)

    def _statement(self, body: Query, words: Sequence[Word]) -> None:
        """A statement that changes tables cannot be taken back, and may not change those of rows that are."""
        assert self._open is not None
        text = body.text[:_TEXT].decode("utf-8", "backslashreplace") + ("…" if len(body.text) > _TEXT else "")
        try:
            statement = parse_statement(words, body.schema.decode("utf-8", "surrogateescape"))
        except CodecError:
            if self._open.is_wanted:
                raise self._refused_statement(text) from None
            self._later.unknown(text)
            statement = None
        if statement is not None and not isinstance(statement, DefineSchema):
            if self._open.is_wanted and (not self._one_table or any(map(self._takes, tables_of(statement, ())))):
                raise self._refused_statement(text)
            self._later.statement(statement, text)
        if not self._open.has_begun:
            self._end()

    # --- rows --------------------------------------------------------------------------------------------------------

    def _rows(self, event: Event, body: LazyRows) -> None:
        if self._open is None:
            self._begin(event)
        assert self._open is not None
        table = body.map()
        if not self._open.is_wanted or not self._takes((table.schema, table.table)):
            self._later.stays(body, self._shown())
            return
        if self._open.refusal is not None:
            raise self._refused(self._open.refusal)
        count = len(table.columns)
        for bitmap in (body.before_columns, body.after_columns):
            if bitmap is not None and len(included(bitmap, count)) != count:
                raise ReplayError(
                    "no-undo",
                    f"{table.schema}.{table.table}: the image lacks columns",
                    expected=f"all {count} columns (binlog_row_image=FULL)",
                    got=len(included(bitmap, count)),
                )
        rows = body.typed()
        if rows.type == EventType.PARTIAL_UPDATE_ROWS:
            rows = self._full.rows(rows)
        if rows.type not in _REVERSED:
            raise ReplayError("no-undo", "rows in the form of version 1", expected="WRITE_ROWS", got=event.name)
        self._later.taken(rows)
        self._open.events.append(ReversedRows(event.header, _reversed(rows)))


def _reversed(rows: RowsBody) -> RowsBody:
    """The event that takes the rows back, the last one first, as a statement of its own."""
    extra = tuple(
        PartitionInfo(info.source, info.partition)
        if isinstance(info, PartitionInfo) and info.source is not None
        else info
        for info in rows.extra
    )
    return replace(
        rows,
        type=_REVERSED[EventType(rows.type)],
        flags=rows.flags | STMT_END,
        extra=extra,
        before_columns=rows.after_columns,
        after_columns=rows.before_columns,
        rows=tuple(Row(row.after, row.before) for row in reversed(rows.rows)),
    )
