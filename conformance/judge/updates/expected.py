"""The event groups that a Case must leave in the log, as typed bodies (binlog-events 11.3).

Facts that no model can know have neutral values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from conformance.cases.row_images import RowImage
from conformance.cases.script import Script, Statement
from conformance.cases.session import SQL_MODE, Session
from conformance.cases.time_zone import has_datetime
from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import Flag
from conformance.reference.binlog.query import Query, Status, StatusInteger, StatusIntegers, StatusText, StatusVariable
from conformance.reference.binlog.rows import PartitionInfo, Row, one_statement, rows_body, split_rows
from conformance.reference.binlog.statement_events import RowsQuery
from conformance.reference.binlog.versions import written
from conformance.reference.dialect import MYSQL
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.decode import decode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.binlog.rows import RowsBody
    from conformance.reference.dialect import Dialect
    from conformance.reference.tables.definitions import Table
    from conformance.reference.tables.table_map import TableMap

_NO_FOREIGN_KEY_CHECKS = 0x4000000  # bits of FLAGS2
_RELAXED_UNIQUE_CHECKS = 0x8000000
_NO_AUTO_VALUE_ON_ZERO = 0x80000  # of SQL_MODE


@dataclass(frozen=True, slots=True)
class ExpectedEvent:
    """One event: its body, and the step it belongs to (``None`` for the frame of the transaction).

    ``flags``: those of its header where they differ from what its type always has.
    """

    body: object
    step: int | None
    flags: int | None = None


@dataclass(frozen=True, slots=True)
class ExpectedGroup:
    """One transaction. ``steps`` that logged something; empty for the INSERT of the start rows."""

    events: tuple[ExpectedEvent, ...]
    compressed: bool


def expected_groups(script: Script, schema: str, *, gtids: bool = True) -> list[ExpectedGroup]:
    """All transactions of a script, in order: the INSERT, then those in which a row changed.

    ``schema``: where the Case was run; a stored Case has a name of its own. ``gtids``: transactions have one.
    """
    table = replace(script.model.table_map, schema=schema)
    sql = {item.step: item.sql for item in script.items if isinstance(item, Statement)}
    session = script.case.session
    frame = _Frame(schema, session, Gtid() if gtids else Gtid(type=EventType.ANONYMOUS_GTID))
    groups = [frame.group(insert_events(script, table), update=False, time_zone=_insert_names_time_zone(script))]
    for steps in script.transactions:
        events: list[ExpectedEvent] = []
        time_zone = False
        for number in steps:
            prediction = script.predictions[number]
            if prediction.events:
                time_zone = time_zone or (prediction.time_zone and not events)
                events += statement_events(table, prediction.events, number, sql[number] if session.rows_query else "")
        if events:
            # A table with a trigger is not named (observed on 9.7.4).
            groups.append(frame.group(events, update=not script.case.trigger, time_zone=time_zone))
    return [in_version(group, script.model.dialect) for group in groups]


def in_version(group: ExpectedGroup, dialect: Dialect) -> ExpectedGroup:
    """The transaction as a version writes it; the model has the events of the newest one."""
    if dialect.log == MYSQL.log:
        return group
    bodies = ((event, written(event.body, dialect)) for event in group.events)  # type: ignore[arg-type]
    events = tuple(replace(event, body=body) for event, body in bodies if body is not None)
    return replace(group, events=events)


def statement_events(table: TableMap, rows: Sequence[RowsBody], number: int | None, sql: str) -> list[ExpectedEvent]:
    """TABLE_MAP and row events of a statement. ``sql``: its text where the session logs it, else empty."""
    bodies: list[object] = [RowsQuery(text=sql.encode())] if sql else []
    bodies += (table, *rows)
    return [ExpectedEvent(body, number) for body in bodies]


def insert_events(script: Script, table: TableMap) -> list[ExpectedEvent]:
    """The events of the INSERT of the start rows, as the session of the script's model writes them."""
    case, model = script.case, script.model
    # The INSERT names every column, so every image has all of them; only FULL fills the bitmap's unused bits.
    columns = None if model.session.row_image is RowImage.FULL else range(len(table.columns))
    bodies: list[RowsBody] = []
    stored = [tuple(row.values()) for row in script.start_rows]
    for extra, run in groupby(stored, lambda row: _partition(case.table, row)):
        rows = [Row(None, tuple(row)) for row in run]  # type: ignore[arg-type]
        body = rows_body(table, EventType.WRITE_ROWS, rows, after=columns, flags=model.event_flags, extra=extra)
        bodies += split_rows(body, model.row_event_max_size)
    sql = script.insert if model.session.rows_query else ""
    return statement_events(table, one_statement(bodies), None, sql)


def _partition(table: Table, row: Sequence[object]) -> tuple[PartitionInfo, ...]:
    """The partition that an event names for an inserted row; nothing for a table without partitions."""
    if table.partitions is None:
        return ()
    return (PartitionInfo(table.partitions.place(dict(zip(table.index_of, row, strict=True)))),)


def _insert_names_time_zone(script: Script) -> bool:
    """Whether the INSERT names the time zone.

    Literals and FROM_UNIXTIME() of all rows count, as the server evaluates them ahead. A DATETIME set from text counts
    in the first row only, whose logging writes the BEGIN (observed on 9.7.4).
    """
    for number, row in enumerate(script.case.rows):
        for column, value in zip(script.case.table.columns, row, strict=True):
            if value is None:
                continue
            if column.type == "TIMESTAMP" or (column.type == "DATETIME" and number == 0):
                return True
            if column.is_json and isinstance(value, bytes) and has_datetime(decode(value)):
                return True
    return False


@dataclass(frozen=True, slots=True)
class _Frame:
    """The events around the statements of every transaction."""

    schema: str
    session: Session
    start: Gtid

    def group(self, events: list[ExpectedEvent], *, update: bool, time_zone: bool) -> ExpectedGroup:
        begin = Query(
            text=b"BEGIN", schema=self.schema.encode(), status=_status(self.session, update=update, time_zone=time_zone)
        )
        frame = [ExpectedEvent(self.start, None), ExpectedEvent(begin, None), *events, ExpectedEvent(Xid(), None)]
        return ExpectedGroup(tuple(frame), self.session.compression)


def _status(session: Session, *, update: bool, time_zone: bool) -> tuple[StatusVariable, ...]:
    """Status variables of BEGIN (observed on 9.7.4): an UPDATE as first statement names the tables it updates."""
    variables: list[StatusVariable] = [
        StatusInteger(Status.FLAGS2, _flags2(session)),
        StatusInteger(Status.SQL_MODE, SQL_MODE),
        StatusText(Status.CATALOG_NZ, b"std"),
        StatusIntegers(Status.CHARSET, (255, 255, 255)),
    ]
    if time_zone:
        variables.append(StatusText(Status.TIME_ZONE, b"+00:00"))
    if update:
        variables.append(StatusInteger(Status.TABLE_MAP_FOR_UPDATE, 1))
    variables.append(StatusInteger(Status.DEFAULT_COLLATION_FOR_UTF8MB4, 255))
    return tuple(variables)


def applied_group(
    schema: str, session: Session, start: Gtid, events: Sequence[ExpectedEvent], *, compressed: bool
) -> ExpectedGroup:
    """A transaction as an applier logs it (observed on 9.7.4).

    BEGIN keeps the checks of the source's session and names neither catalog, time zone nor tables. The applier writes
    rows with NO_AUTO_VALUE_ON_ZERO; an ANONYMOUS_GTID is flagged as ignorable. ``start``: what its GTID event keeps of
    the source's.
    """
    status = (
        StatusInteger(Status.FLAGS2, _flags2(session)),
        StatusInteger(Status.SQL_MODE, SQL_MODE | _NO_AUTO_VALUE_ON_ZERO),
        StatusIntegers(Status.CHARSET, (255, 255, 255)),
        StatusInteger(Status.DEFAULT_COLLATION_FOR_UTF8MB4, 255),
    )
    begin = Query(text=b"BEGIN", schema=schema.encode(), status=status)
    flags = Flag.IGNORABLE if start.type == EventType.ANONYMOUS_GTID else None
    frame = (ExpectedEvent(start, None, flags), ExpectedEvent(begin, None), *events, ExpectedEvent(Xid(), None))
    return ExpectedGroup(frame, compressed)


def _flags2(session: Session) -> int:
    flags = 0 if session.foreign_key_checks else _NO_FOREIGN_KEY_CHECKS
    return flags if session.unique_checks else flags | _RELAXED_UNIQUE_CHECKS
