"""The prediction: the bytes of an update in the log are those that the reference makes of its statement and old row."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final

from conformance.explore.oracles.logged import logged_events
from conformance.explore.oracles.problem import Problem
from conformance.explore.oracles.updates import Update, Updates, read_update
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import STMT_END, UPDATE_TYPES, LazyRows, included
from conformance.reference.binlog.statement_events import RowsQuery
from conformance.reference.dialect import MYSQL
from conformance.reference.errors import CodecError, MysqlError
from conformance.reference.event_types import EventType
from conformance.reference.partial.decision import decide
from conformance.reference.partial.expression import Assignment, Columns
from conformance.reference.partial.update import RowChange, update_row
from conformance.reference.sql.row_expressions import RowFacts, read_expression
from conformance.reference.tables.columns import JSON, PartialJson
from conformance.requirements.versions import dialect_of

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Container, Iterable, Iterator, Mapping

    from conformance.explore.oracles.tables import TableFacts
    from conformance.explore.world import World
    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.images import Row
    from conformance.reference.dialect import Dialect
    from conformance.reference.tables.table_map import TableMap

_ENGINE: Final = re.compile(rb"CREATE TABLE (\w+) .* ENGINE=(?!InnoDB)\w", re.DOTALL)
_SHOWN: Final = 160  # bytes of a field in a problem's words


class NotCovered(Exception):
    """The model says nothing about a statement; the text is for the census."""


def compare_log(
    world: World, tables: Mapping[str, TableFacts], updates: Updates, tried: Counter[str]
) -> Iterator[Problem]:
    """Predict each update of the first schema whose text is in the log, from the rows that the log has before it.

    ``tried`` counts the rows that were predicted, the statements whose rows all were, and by their reasons those that
    the model does not cover.
    """
    schema = world.schema("x")
    triggered = world.own.execute(
        "SELECT EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS "
        f"WHERE TRIGGER_SCHEMA = '{schema}' AND ACTION_TIMING = 'BEFORE' AND EVENT_MANIPULATION = 'UPDATE'"
    ).texts()
    names = frozenset(name or "" for (name,) in triggered)
    judge = LogJudge(schema, tables, updates, tried, names, dialect_of(world.source.number))
    yield from judge.problems(logged_events(world))


@dataclass(slots=True)
class LogJudge:
    """Holds the updates of a schema in a log against their prediction. ``triggered``: tables of BEFORE UPDATE triggers.

    ``foreign``: tables that were not of InnoDB once; updates of others are never logged as diffs.
    """

    schema: str
    tables: Mapping[str, TableFacts]
    updates: Updates
    tried: Counter[str]
    triggered: frozenset[str] = frozenset()
    dialect: Dialect = MYSQL
    foreign: set[str] = field(default_factory=set)

    def problems(self, events: Iterable[Event]) -> Iterator[Problem]:
        """The first difference, if there is one."""
        try:
            yield from islice(self._differences(events), 1)
        except CodecError as error:
            yield Problem("prediction", f"unreadable: {error.code}", str(error)[:400])

    def _differences(self, events: Iterable[Event]) -> Iterator[Problem]:
        statement: str | None = None
        outcome = ""
        for event in events:
            match event.body:
                case RowsQuery(text=text):
                    statement = text.decode("utf-8", "surrogateescape")
                case Query() as query:
                    made = _ENGINE.match(query.text)
                    if made is not None and query.schema.decode() == self.schema:
                        self.foreign.add(made[1].decode())
                case LazyRows() as body if body.map().schema == self.schema:
                    if body.type in UPDATE_TYPES:
                        try:
                            yield from self._event(body, statement)
                            outcome = outcome or "statements"
                        except NotCovered as reason:
                            outcome = f"not covered: {reason}"
                    if body.flags & STMT_END:
                        if outcome:
                            self.tried[f"prediction/{outcome}"] += 1
                        statement, outcome = None, ""

    def _event(self, body: LazyRows, statement: str | None) -> Iterator[Problem]:
        """Hold the rows of one event against their prediction. Raises :class:`NotCovered`."""
        update = self._covered(statement)
        table = body.map()
        if table.table != update.table:
            return  # a trigger's
        partial = body.type == EventType.PARTIAL_UPDATE_ROWS
        if partial not in self.updates.sent[statement or ""]:
            words = "with" if partial else "without"
            yield Problem("prediction", "event", f"table {table.table}: an event {words} diffs for {statement}"[:400])
            return
        place = _places(self.tables[table.table], table)
        count = len(table.columns)
        if any(len(included(bits or 0, count)) < count for bits in (body.before_columns, body.after_columns)):
            raise NotCovered("row image")
        required = {name for name, at in place.items() if not table.nullable[at]}
        for row in body.rows():
            for kind, detail in self._row(update, place, required, row, partial=partial):
                yield Problem("prediction", kind, f"table {table.table}, {detail}, by {statement}"[:1000])
            self.tried["prediction/rows"] += 1

    def _covered(self, statement: str | None) -> Update:
        if statement is None:
            raise NotCovered("no statement in the log")
        if statement not in self.updates.sent:
            raise NotCovered("no UPDATE as a session sent it")
        update = read_update(statement)
        if update is None:
            raise NotCovered("not of one table alone")
        facts = self.tables.get(update.table)
        if facts is None:
            raise NotCovered("a view")
        if update.table in self.foreign:
            raise NotCovered("engine")
        if update.table in self.triggered:
            raise NotCovered("a trigger")
        return update

    def _row(
        self, update: Update, place: Mapping[str, int], required: Container[str], row: Row, *, partial: bool
    ) -> Iterator[tuple[str, str]]:
        """Hold one row against its prediction: kinds of differences, and their words."""
        assert row.before is not None
        assert row.after is not None
        facts = self.tables[update.table]
        documents: dict[str, bytes | None] = {
            column.name: row.before[place[column.name]]  # type: ignore[misc]
            for column in facts.columns
            if column.type == "json" and not column.expression and column.name in place
        }
        change = _predicted(update, documents, required, self.dialect, log_diffs=partial)
        assigned = {column for column, _ in update.assignments}
        if not change.logged and assigned <= documents.keys():
            yield "unchanged row", f"the row {_words(row.before)} does not change"
        for name, at in place.items():
            got = row.after[at]
            if name in documents:
                made = change.columns.get(name)  # also where the row changes by another column alone
                expected = decide(
                    documents[name], documents[name] if made is None else made.after, made, partial_json=partial
                )
                if (isinstance(got, PartialJson), _data(got)) != (expected.partial, expected.data):
                    form = isinstance(got, PartialJson) == expected.partial
                    kind = ("diffs" if expected.partial else "document") if form else "form"
                    words = f"predicted {_words(expected.data)} ({expected.reason}), logged {_words(_data(got))}"
                    yield kind, f"column {name}: {words}"
            elif name not in assigned and got != row.before[at]:
                yield "another column", f"column {name}: {_words(row.before[at])} became {_words(got)}"


def _places(facts: TableFacts, table: TableMap) -> dict[str, int]:
    """The places of the columns that are not generated. Raises :class:`NotCovered` where the log does not name them."""
    if any(info.name is None for info in table.described):
        raise NotCovered("no names of columns in the log")
    known = {column.name: column for column in facts.columns}
    if any(table.columns[at].type == JSON and table.column_names[at] not in known for at in range(len(table.columns))):
        raise NotCovered("the table is another one now")
    return {name: at for at, name in enumerate(table.column_names) if name in known and not known[name].expression}


def _predicted(
    update: Update,
    documents: Mapping[str, bytes | None],
    required: Container[str],
    dialect: Dialect,
    *,
    log_diffs: bool,
) -> RowChange:
    """Let the reference evaluate the assignments to JSON columns. Raises :class:`NotCovered`.

    ``required``: the columns without NULL, for which IGNORE and some modes of SQL take another value.
    """
    columns = Columns(tuple(documents))
    row: dict[str, object] = dict(documents)
    now = dict(documents)
    assignments: list[Assignment] = []
    change: RowChange | None = None
    for column, sql in update.assignments:
        if column not in documents:
            continue
        try:
            expression = read_expression(sql, RowFacts(now), dialect.json).expression
            assignments.append(Assignment(column, expression))
            change = update_row(row, assignments, columns, log_diffs=log_diffs, dialect=dialect)
        except MysqlError as error:
            raise NotCovered(f"the model refuses it: {error.number}") from error
        except CodecError as error:
            raise NotCovered(f"an expression: {error.code}") from error
        now[column] = change.columns[column].after
        if now[column] is None and column in required:
            raise NotCovered("NULL for a column that takes none")
    if change is None:
        raise NotCovered("no document is assigned")
    return change


def _data(value: object) -> object:
    return value.diffs if isinstance(value, PartialJson) else value


def _words(value: object) -> str:
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text if len(text) <= 2 * _SHOWN else f"{text[: 2 * _SHOWN]}…"
