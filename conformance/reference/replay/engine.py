"""Replay of row events, and of the DDL that changes tables, from an empty state.

The replay applies changes at once and can undo them: transactions roll back to savepoints, and prepared XA transactions
are decided later, between other transactions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.binlog.control_events import Incident, Opaque, XaPrepare, Xid
from conformance.reference.binlog.event import refusal
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.load import ExecuteLoadQuery
from conformance.reference.binlog.mariadb.events import MariadbGtid
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import (
    DELETE_TYPES,
    USE_SQL_FOREIGN_KEY,
    WRITE_TYPES,
    LazyRows,
    RowsBody,
    included,
)
from conformance.reference.dialect import MYSQL, Dialect
from conformance.reference.errors import CodecError, ReplayError
from conformance.reference.partial.apply import apply_field
from conformance.reference.replay import mariadb
from conformance.reference.replay.ddl import parse_statement
from conformance.reference.replay.session_facts import SessionFacts, session_facts
from conformance.reference.replay.statements import (
    AlterTable,
    ChangesRows,
    CreateLike,
    CreateTable,
    DefaultCharset,
    DefineSchema,
    DropSchema,
    DropTables,
    MoveTable,
    RenameTables,
    SetEngine,
    SetParent,
    Statement,
    Truncate,
    statement_words,
)
from conformance.reference.replay.table_state import TableState
from conformance.reference.replay.transactions import savepoint_of, xa_statement, xid_of
from conformance.reference.replay.undo_log import UndoLog
from conformance.reference.replay.values.time_zones import SYSTEM
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.images import Row
    from conformance.reference.replay.row_store import Values
    from conformance.reference.sql.definition_reader import TableName
    from conformance.reference.sql.statement_words import Word


_WITHOUT_EFFECT = (TableMap, Gtid, GtidTagged)  # half of all events


class Replay:
    """The tables of a replay. Pass it every event in order, events of payloads too; call :meth:`finish` at the end.

    ``lenient``: the replay forgets unknown state instead of refusing it (for ``decode --resolve``, which uses only
    certain documents). ``system_time_zone``: the source's time zone SYSTEM, as an offset; the log does not have it.
    """

    def __init__(self, *, lenient: bool = False, dialect: Dialect = MYSQL, system_time_zone: str | None = None) -> None:
        self._system_time_zone = system_time_zone
        self.tables: dict[TableName, TableState] = {}
        self.lenient = lenient
        self.dialect = dialect
        self.prepared: dict[str, UndoLog] = {}
        self._undo = UndoLog()
        self._savepoints: dict[str, int] = {}
        self._open = False
        self._schemas: dict[str, DefaultCharset] = {}  # the character set of their new tables
        self._mariadb = False
        self._cascades: dict[TableName, set[TableName]] = {}

    # --- events ------------------------------------------------------------------------------------------------------

    def event(self, event: Event) -> None:
        """Take one event."""
        body = event.body
        if isinstance(body, (LazyRows, RowsBody)):
            for row in body.rows if isinstance(body, RowsBody) else body.rows():
                self.row(body, row)
        else:
            self.other(event)

    def other(self, event: Event) -> None:
        """Take an event without rows."""
        if type(event.body) in _WITHOUT_EFFECT:
            return
        try:
            self._other(event)
        except ReplayError:
            if not self.lenient:
                raise
            self.tables.clear()  # the effect of the statement is unknown
            self._undo.clear()

    def _other(self, event: Event) -> None:
        body = event.body
        match body:
            case Query():
                self._query(body, event.header.timestamp)
            case Xid():
                self._commit()
            case XaPrepare():
                self._end_xa(body)
            case MariadbGtid():  # it takes the place of BEGIN
                self.roll_back()
                self._open = body.begins
            case FormatDescription():
                self._mariadb = body.mariadb
                if body.created:  # the server was started: it rolls back open transactions
                    self.roll_back()
            case ExecuteLoadQuery():
                raise ReplayError("statement", "LOAD DATA in statement format cannot be followed")
            case Opaque() if (unknown := refusal(body.type, event.header.flags)) is not None:
                raise ReplayError(unknown.code, unknown.message)
            case Incident():
                raise ReplayError("incident", "the source says that events are lost", got=body.message)

    def finish(self) -> tuple[int, int]:
        """End the input, and roll back undecided transactions.

        Returns the number of changes of an open transaction, and the number of prepared XA transactions.
        """
        open_changes = len(self._undo)
        self.roll_back()
        prepared = len(self.prepared)
        for undo in self.prepared.values():
            undo.take_back()
        self.prepared.clear()
        return open_changes, prepared

    def _query(self, query: Query, seconds: int) -> None:
        text = query.text
        if text == b"BEGIN":
            self.roll_back()
            self._open = True
            return
        if text == b"COMMIT":
            self._commit()
            return
        words = statement_words(query)
        if not words:
            return
        if words[0].among("XA"):
            self._xa_statement(text)
        elif words[0].among("SAVEPOINT") and len(words) > 1:
            self._savepoints[savepoint_of(words) or ""] = len(self._undo)
        elif words[0].among("ROLLBACK"):
            self._roll_back_statement(words)
        elif words[0].among("START") and len(words) > 1 and words[1].among("TRANSACTION"):
            self._open = True
        else:
            # The rows of CREATE TABLE ... SELECT follow in the same transaction.
            replaces = False
            if self._mariadb:
                words, replaces = mariadb.followed(text, words)
            statement = parse_statement(words, query.schema.decode("utf-8", "surrogateescape"))
            if replaces and isinstance(statement, CreateTable | CreateLike):
                self._drop(statement.table)
            if not self._open:
                self._commit()
            if statement is not None:
                session = session_facts(query, seconds)
                if session.time_zone == SYSTEM and self._system_time_zone is not None:
                    session = replace(session, time_zone=self._system_time_zone)
                self._change_tables(statement, session)

    # --- transactions ------------------------------------------------------------------------------------------------

    def _commit(self) -> None:
        self._undo.clear()
        self._savepoints.clear()
        self._open = False

    def roll_back(self) -> None:
        """Undo the changes of the open transaction; tables without transactions stay changed."""
        self._undo.take_back()
        self._commit()

    def _roll_back_statement(self, words: Sequence[Word]) -> None:
        name = savepoint_of(words)
        if name is None:
            self.roll_back()
            return
        if name not in self._savepoints:
            raise ReplayError("savepoint", "no such savepoint in this transaction", got=name)
        mark = self._savepoints[name]
        self._undo.take_back(mark)
        self._savepoints = {other: place for other, place in self._savepoints.items() if place <= mark}

    def _xa_statement(self, text: bytes) -> None:
        found = xa_statement(text)
        if found is None:
            raise ReplayError("statement", "an XA statement without an XID", got=text[:80].decode("ascii", "replace"))
        what, xid = found
        if what in ("START", "BEGIN"):
            self.roll_back()
            self._open = True
        elif what in ("COMMIT", "ROLLBACK"):
            if xid not in self.prepared:
                raise ReplayError("xa", f"XA {what} of a transaction that was prepared before the input", got=xid)
            undo = self.prepared.pop(xid)
            if what == "ROLLBACK":
                undo.take_back()

    def _end_xa(self, event: XaPrepare) -> None:
        if not event.one_phase:
            self.prepared[xid_of(event)], self._undo = self._undo, UndoLog()
        self._commit()

    # --- rows --------------------------------------------------------------------------------------------------------

    def row(self, event: LazyRows | RowsBody, row: Row) -> Mapping[int, bytes]:
        """Apply one row; returns the documents of the columns that were logged as diffs, as far as they are known."""
        table = event.map()
        try:
            return self._row(event, table, row)
        except CodecError as error:
            if not self.lenient:
                raise error.at(f"{table.schema}.{table.table}") from None
            del self.tables[table.schema, table.table]
            return {}

    def _row(self, event: LazyRows | RowsBody, table: TableMap, row: Row) -> Mapping[int, bytes]:
        state = self._state(table)
        state.bind(table)
        count = len(table.columns)
        if event.type in WRITE_TYPES:
            assert row.after is not None
            given = state.given(event.after_columns, row.after)
            values = [given[index] if index in given else state.default(index) for index in range(count)]
            if state.has_key_of(values):
                if not self.lenient:
                    raise state.error("duplicate", "the inserted row's primary key is there already", None, None)
                self._displace(state, values)
            added = state.add(values)
            if state.transactional:
                self._undo.inserted(state, added)
            return {}
        assert row.before is not None
        before = state.given(event.before_columns, row.before)
        number = state.find(before)
        if number is None:
            return self._without_base(state, before, event, row)
        if not event.flags & USE_SQL_FOREIGN_KEY and self._cascades.get(state.name):
            raise state.error("cascade", "other tables change with it, and the log does not say how", None, None)
        if event.type in DELETE_TYPES:
            self._keep(state, number, state.remove(number))
            return {}
        assert row.after is not None
        if self._mariadb:
            _check_virtual(state, event)
        values = list(state.rows[number])
        found = {}
        for index, value in state.given(event.after_columns, row.after).items():
            if isinstance(value, PartialJson):
                document = self._applied(index, values[index], value)
                values[index] = document
                if document is not None:
                    found[index] = document
            else:
                values[index] = value
        if self.lenient and any(values[key] != state.rows[number][key] for key in state.key_columns()):
            self._displace(state, values)
        self._keep(state, number, state.replace(number, values))
        return found

    def _displace(self, state: TableState, values: list[Any]) -> None:
        """Remove the row that has the primary key of these values: what removed it is not in the log."""
        number = state.find(dict(enumerate(values))) if state.has_key_of(values) else None
        if number is not None:
            self._keep(state, number, state.remove(number))

    def _without_base(
        self, state: TableState, before: Mapping[int, Any], event: LazyRows | RowsBody, row: Row
    ) -> Mapping[int, bytes]:
        if not self.lenient:
            shown = {state.column_names()[index]: value for index, value in list(before.items())[:3]}
            raise state.error("no-row", "the row to change is not there", None, str(shown)[:120])
        # A FULL image has the document itself.
        found = {}
        for index, value in zip(included(event.after_columns or 0, event.column_count), row.after or (), strict=True):
            if isinstance(value, PartialJson) and before.get(index) is not None:
                document = self._applied(index, before[index], value)
                if document is not None:
                    found[index] = document
        return found

    def _applied(self, index: int, stored: Any, value: PartialJson) -> bytes | None:
        try:
            return apply_field(stored, value.diffs, self.dialect)
        except CodecError as error:
            raise error.at(f"@{index + 1}") from None

    def _keep(self, state: TableState, number: int, old: Values) -> None:
        if state.transactional:
            self._undo.changed(state, number, old)

    def _state(self, table: TableMap) -> TableState:
        name = (table.schema, table.table)
        state = self.tables.get(name)
        if state is None:
            state = self.tables[name] = TableState(name)
        return state

    # --- DDL ---------------------------------------------------------------------------------------------------------

    def _change_tables(self, statement: Statement, session: SessionFacts) -> None:
        match statement:
            case CreateTable():
                self._create(statement, session)
            case CreateLike():
                if not (statement.if_not_exists and statement.table in self.tables):
                    source = self._known(statement.source)
                    state = TableState(statement.table, transactional=source.transactional)
                    state.columns, state.key = list(source.columns or ()) or None, source.key
                    state.charset, state.ascending = source.charset, source.ascending
                    self.tables[statement.table] = state
            case AlterTable():
                self._alter(statement, session)
            case DefineSchema():
                self._define_schema(statement, session)
            case DropTables(tables=tables):
                for name in tables:
                    self._drop(name)
            case DropSchema(schema=schema):
                self._schemas.pop(schema, None)
                for name in [name for name in self.tables if name[0] == schema]:
                    self._drop(name)
            case Truncate(table=name):
                if name in self.tables:
                    self.tables[name].clear()
            case RenameTables(pairs=pairs):
                for old, new in pairs:
                    self._move(self._known(old), new)

    def _known(self, name: TableName) -> TableState:
        state = self.tables.get(name)
        if state is None:
            raise ReplayError("no-table", "the statement needs a table whose beginning is not in the input", got=name)
        return state

    def _define_schema(self, statement: DefineSchema, session: SessionFacts) -> None:
        if statement.charset is not None:
            self._schemas[statement.schema] = statement.charset
        elif statement.create and session.server is not None:
            self._schemas[statement.schema] = replace(session.server, certain=True)

    def _create(self, statement: CreateTable, session: SessionFacts) -> None:
        if statement.if_not_exists and statement.table in self.tables:
            return
        state = TableState(statement.table, transactional=statement.transactional)
        # The schema's character set, else the server's: the schema may have another one from before the log.
        state.charset = statement.charset or self._schemas.get(statement.table[0], session.server)
        state.columns = [replace(column, charset=state.charset) for column in statement.columns]
        state.key, state.ascending = statement.primary_key, statement.ascending
        self.tables[statement.table] = state
        for parent in statement.cascades_from:
            self._cascades.setdefault(parent, set()).add(statement.table)

    def _drop(self, name: TableName) -> None:
        self.tables.pop(name, None)
        for children in self._cascades.values():
            children.discard(name)

    def _move(self, state: TableState, name: TableName) -> None:
        self.tables[name] = self.tables.pop(state.name)
        if state.name in self._cascades:
            self._cascades[name] = self._cascades.pop(state.name)
        for children in self._cascades.values():
            if state.name in children:
                children.discard(state.name)
                children.add(name)
        state.name = name

    def _alter(self, statement: AlterTable, session: SessionFacts) -> None:
        state = self._known(statement.table)
        for action in statement.actions:
            if isinstance(action, ChangesRows) and state.rows:
                raise state.error("alter", f"ALTER TABLE ... {action.what} changes rows", None, None)
        state.alter_columns(statement.actions, session)
        for action in statement.actions:
            match action:
                case SetEngine(transactional):
                    state.transactional = transactional
                case SetParent(parent):
                    self._cascades.setdefault(parent, set()).add(state.name)
                case MoveTable(name):
                    self._move(state, name)
                case ChangesRows():
                    state.forget_map()


def _check_virtual(state: TableState, event: LazyRows | RowsBody) -> None:
    """Refuse an update that leaves out a column which MariaDB computes: its new value is not in the log."""
    after = event.after_columns or 0
    for index, column in enumerate(state.columns or ()):
        if not after >> index & 1 and mariadb.is_virtual(column):
            raise state.error("virtual", "an update leaves out a virtual column", "its value", column.name)
