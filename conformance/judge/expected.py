"""The event groups that a Case must leave in the log, as typed bodies (borrowed facts at neutral values)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.cases.images import RowImage
from conformance.cases.script import Script, Statement
from conformance.cases.session import SQL_MODE, Session
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import EventType
from conformance.reference.binlog.query import Query, Status, StatusInteger, StatusIntegers, StatusText, StatusVariable
from conformance.reference.binlog.rows import Row, rows_body, split_rows
from conformance.reference.binlog.small import RowsQuery, Xid

if TYPE_CHECKING:
    from conformance.cases.predict import StepPrediction

_NO_FOREIGN_KEY_CHECKS = 0x4000000  # bits of FLAGS2
_RELAXED_UNIQUE_CHECKS = 0x8000000


@dataclass(frozen=True, slots=True)
class ExpectedEvent:
    """One event: its body, and the step it belongs to (``None`` for the frame of the transaction)."""

    body: object
    step: int | None


@dataclass(frozen=True, slots=True)
class ExpectedGroup:
    """One transaction. ``steps`` that logged something; empty for the INSERT of the start rows."""

    events: tuple[ExpectedEvent, ...]
    compressed: bool


def expected_groups(script: Script) -> list[ExpectedGroup]:
    """All transactions of a script, in order: the INSERT, then those in which a row changed."""
    sql = {item.step: item.sql for item in script.items if isinstance(item, Statement)}
    session = script.case.session
    groups = [_group(script, session, _insert_events(script), update=False)] if script.case.rows else []
    for steps in script.transactions:
        events: list[ExpectedEvent] = []
        for number in steps:
            prediction = script.predictions[number]
            if prediction.events:
                events += _statement_events(script, prediction, number, sql[number])
        if events:
            groups.append(_group(script, session, events, update=True))
    return groups


def _statement_events(script: Script, prediction: StepPrediction, number: int, sql: str) -> list[ExpectedEvent]:
    bodies: list[object] = []
    if script.case.session.rows_query:
        bodies.append(RowsQuery(text=sql.encode()))
    bodies.append(script.model.table_map)
    bodies += prediction.events
    return [ExpectedEvent(body, number) for body in bodies]


def _insert_events(script: Script) -> list[ExpectedEvent]:
    case, model = script.case, script.model
    table = model.table_map
    # The INSERT names every column, so every image has all of them; only FULL fills the bitmap's unused bits.
    columns = None if case.session.row_image is RowImage.FULL else range(len(table.columns))
    rows = [Row(None, tuple(row)) for row in case.rows]  # type: ignore[arg-type]
    body = rows_body(table, EventType.WRITE_ROWS, rows, after=columns, flags=model.event_flags)
    bodies: list[object] = [table, *split_rows(body, model.row_event_max_size)]
    if case.session.rows_query:
        bodies.insert(0, RowsQuery(text=script.insert.encode()))
    return [ExpectedEvent(body, None) for body in bodies]


def _group(script: Script, session: Session, events: list[ExpectedEvent], *, update: bool) -> ExpectedGroup:
    begin = Query(text=b"BEGIN", schema=script.case.table.schema.encode(), status=_status(session, update=update))
    frame = [ExpectedEvent(Gtid(), None), ExpectedEvent(begin, None), *events, ExpectedEvent(Xid(), None)]
    return ExpectedGroup(tuple(frame), session.compression)


def _status(session: Session, *, update: bool) -> tuple[StatusVariable, ...]:
    """Status variables of BEGIN (observed on 9.7.4): an UPDATE as first statement names the tables it updates."""
    flags = 0 if session.foreign_key_checks else _NO_FOREIGN_KEY_CHECKS
    if not session.unique_checks:
        flags |= _RELAXED_UNIQUE_CHECKS
    variables: list[StatusVariable] = [
        StatusInteger(Status.FLAGS2, flags),
        StatusInteger(Status.SQL_MODE, SQL_MODE),
        StatusText(Status.CATALOG_NZ, b"std"),
        StatusIntegers(Status.CHARSET, (255, 255, 255)),
    ]
    if update:
        variables.append(StatusInteger(Status.TABLE_MAP_FOR_UPDATE, 1))
    variables.append(StatusInteger(Status.DEFAULT_COLLATION_FOR_UTF8MB4, 255))
    return tuple(variables)
