"""Transactions taken back: their row events reversed, newest first, from FULL images.

An insert becomes a delete, a delete an insert, and an update goes from the after image to the before image; diffs are
resolved first. What cannot be taken back is refused: images without all columns, statements that change tables, XA, and
a row that a later transaction changed, which stays.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog.control_events import Incident, XaPrepare, Xid
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged, gtid_text
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
from conformance.reference.replay.statements import statement_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.header import Header
    from conformance.reference.sql.definition_reader import TableName

_REVERSED: Final = {
    EventType.WRITE_ROWS: EventType.DELETE_ROWS,
    EventType.DELETE_ROWS: EventType.WRITE_ROWS,
    EventType.UPDATE_ROWS: EventType.UPDATE_ROWS,
}


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

    @property
    def names(self) -> set[str]:
        """The words that choose the transaction: its GTID, its position, or file and position."""
        return {name for name in (self.gtid, str(self.position), f"{self.file}:{self.position}") if name}


class Reversal:
    """Takes every event of the logs in order, those of payloads too. ``wanted``: names of transactions; empty: all."""

    def __init__(self, wanted: Iterable[str] = ()) -> None:
        self._wanted = frozenset(wanted)
        self._file = ""
        self._format: FormatDescription | None = None
        self._open: Transaction | None = None
        self._full = FullRows(follow=False)
        # Rows as the wanted transactions left them: a later change of one that stays would be lost.
        self._left: dict[TableName, Counter[Any]] = {}
        self._done: list[Transaction] = []
        self.found: Counter[str] = Counter()  # of the names that are wanted

    def start_file(self, name: str) -> None:
        """The name of the file whose events come next."""
        self._file = name

    def event(self, event: Event) -> None:
        """Take one event."""
        body = event.body
        match body:
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
                self._refuse("changes that are not in row events")
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
        self._open = Transaction(self._file, event.position or 0, gtid_text(event.body), self._format)
        if self._wanted:
            names = self._open.names & self._wanted
            self.found.update(names)
            self._open.is_wanted = bool(names)

    def _end(self) -> None:
        done, self._open = self._open, None
        if done is not None and done.events:
            done.events.reverse()
            self._done.append(done)

    def _refuse(self, why: str) -> None:
        """Raise, unless the present transaction stays."""
        if self._open is None or self._open.is_wanted:
            raise ReplayError("no-undo", why, expected="row events with FULL images", got=self._shown())

    def _shown(self) -> str:
        return "no transaction" if self._open is None else f"transaction {self._open.gtid or self._open.position}"

    def _query(self, event: Event, body: Query) -> None:
        if self._open is None:
            self._begin(event)
        words = statement_words(body)
        if body.text == b"BEGIN" or not words or words[0].among("SAVEPOINT"):
            return
        if body.text == b"COMMIT":
            self._end()
        elif words[0].among("ROLLBACK"):
            self._refuse("it is rolled back, wholly or to a savepoint")
        elif words[0].among("XA"):
            self._refuse("an XA transaction: what decides it is another transaction")
        else:
            self._statement(body)

    def _statement(self, body: Query) -> None:
        """A statement that changes tables cannot be taken back, and may not stand behind what is."""
        schema = body.schema.decode("utf-8", "surrogateescape")
        try:
            harmless = parse_statement(statement_words(body), schema) is None
        except CodecError:
            harmless = False
        if harmless:
            return
        text = body.text[:60].decode("utf-8", "backslashreplace")
        self._refuse(f"the statement cannot be taken back: {text}")
        if self._done:
            raise ReplayError(
                "no-undo",
                "a statement behind the transaction changes tables, and stays",
                expected="row events only, up to the end of the input",
                got=text,
            )

    # --- rows --------------------------------------------------------------------------------------------------------

    def _rows(self, event: Event, body: LazyRows) -> None:
        if self._open is None:
            self._begin(event)
        assert self._open is not None
        if not self._open.is_wanted:
            self._stays(body)
            return
        table = body.map()
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
        if self._wanted:
            left = self._left.setdefault((table.schema, table.table), Counter())
            left.subtract(row.before for row in rows.rows if row.before is not None)
            left.update(row.after for row in rows.rows if row.after is not None)
        self._open.events.append(ReversedRows(event.header, _reversed(rows)))

    def _stays(self, body: LazyRows) -> None:
        """A later transaction that stays may not change the rows that the wanted ones left."""
        table = body.map()
        left = self._left.get((table.schema, table.table))
        if left is None or body.before_columns is None:
            return
        whole = len(included(body.before_columns, len(table.columns))) == len(table.columns)
        for row in body.rows():
            if not whole or left[row.before] > 0:
                raise ReplayError(
                    "no-undo",
                    f"{table.schema}.{table.table}: a later transaction, which stays, "
                    + ("changes the same row" if whole else "has an image without all columns"),
                    expected="no later change of the rows",
                    got=self._shown(),
                )


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
