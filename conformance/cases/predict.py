"""The reference's prediction for an update Case: rows, sizes and row events, statement by statement.

The next statement starts from the *predicted* rows of the one before, so a :class:`Model` advances step by step. Facts
that no model can know have neutral values here; the judge fills them in from the observation (``judge.borrowed`` lists
them).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from conformance.cases.row_images import RowImage, after_columns, before_columns, read_columns
from conformance.cases.time_zone import ZONED_TYPES, needs_time_zone
from conformance.reference.binlog.rows import (
    NO_FOREIGN_KEY_CHECKS,
    NO_UNIQUE_CHECKS,
    STMT_END,
    USE_SQL_FOREIGN_KEY,
    PartitionInfo,
    Row,
    RowsBody,
    full_bitmap,
    image_bitmap,
    one_statement,
    split_rows,
)
from conformance.reference.dialect import MYSQL, Dialect
from conformance.reference.errors import MysqlError
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.sql_times import scalar_of_sql
from conformance.reference.partial.decision import Decision, decide
from conformance.reference.partial.expression import Columns, Constant, referenced_columns
from conformance.reference.partial.update import RowChange, update_row
from conformance.reference.sql.as_read import argument_as_read, document_as_read, reads_exactly
from conformance.reference.tables.column_json import column_as_json
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.definitions import Table, table_map

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.cases.session import Session
    from conformance.cases.update_case import Step
    from conformance.reference.jsonb.values import JsonValue
    from conformance.reference.partial.expression import Assignment


class RowPrediction(NamedTuple):
    """One visited row: its index among the start rows, what happens to it, and how its JSON columns are logged."""

    index: int  # type: ignore[assignment]  # as in paths.Cell: nobody wants tuple.index() of one
    change: RowChange
    decisions: Mapping[str, Decision]


class StepPrediction(NamedTuple):
    """One statement. ``events`` is empty when no row changes; ``error`` set when the server refuses the statement.

    ``time_zone``: a TIMESTAMP was converted, so that the BEGIN in front of this statement names the time zone.
    ``undone``: the rows that a refused statement had changed before the row at which it was refused.
    """

    step: Step
    rows: tuple[RowPrediction, ...] = ()
    events: tuple[RowsBody, ...] = ()
    error: MysqlError | None = None
    time_zone: bool = False
    undone: tuple[RowPrediction, ...] = ()

    @property
    def changed(self) -> int:
        """Rows that change, as the server counts them."""
        return sum(row.change.logged for row in self.rows)


class _Images(NamedTuple):
    """Bitmaps and names of the columns in the before and in the after image."""

    before: int
    after: int
    before_names: list[str]
    after_names: list[str]


@dataclass
class Model:
    """The predicted state of a Case's table. ``rows`` map column names to values; they are replaced, never edited.

    ``literals_are_sql``: the server reads the literals from the SQL that the lab writes for them; otherwise they are
    what it has made of other SQL.
    """

    table: Table
    selector: str
    session: Session
    rows: list[Mapping[str, object]]
    row_metadata: str = "MINIMAL"
    row_event_max_size: int = 8192
    trigger: tuple[Assignment, ...] = ()
    dialect: Dialect = MYSQL
    literals_are_sql: bool = True
    columns: Columns = field(init=False)
    zone_used: bool = field(default=False, init=False)
    _known_images: dict[frozenset[int], _Images] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        definitions = {column.name: self.table.settled(column) for column in self.table.columns}

        forms = self.dialect.json

        def as_json(name: str, value: object) -> JsonValue:
            column = definitions[name]
            if column.type == "TIMESTAMP":
                self.zone_used = True
            return scalar_of_sql(column_as_json(column, value), forms)

        names = tuple(column.name for column in self.table.columns if column.is_json)
        self.columns = Columns(names, as_json)
        if self.literals_are_sql and not reads_exactly(forms):
            argument, document = partial(argument_as_read, forms=forms), partial(document_as_read, forms=forms)
            self.columns = replace(self.columns, argument=argument, document=document)

    @cached_property
    def table_map(self):  # type: ignore[no-untyped-def]
        """The TABLE_MAP of every statement; its table id is borrowed."""
        return table_map(self.table, metadata=self.row_metadata)

    @cached_property
    def key(self) -> tuple[int, ...]:
        """Columns that identify a row in a MINIMAL before image; empty without a usable key."""
        return tuple(index for index, _ in self.table.row_key)

    @cached_property
    def event_flags(self) -> int:
        flags = STMT_END | USE_SQL_FOREIGN_KEY
        if not self.session.foreign_key_checks:
            flags |= NO_FOREIGN_KEY_CHECKS
        if not self.session.unique_checks:
            flags |= NO_UNIQUE_CHECKS
        return flags

    def visit_order(self, step: Step) -> list[int]:
        """The rows of a statement in the order it visits them: by the selector, which its ORDER BY names."""
        return sorted(step.rows, key=lambda index: self.rows[index][self.selector])  # type: ignore[arg-type,return-value]

    def predict(self, step: Step) -> StepPrediction:
        """The outcome of a statement, without advancing."""
        order = self.visit_order(step)
        rows: list[RowPrediction] = []
        # The log names the time zone when the first logged row's evaluation, or one before it, needed it.
        self.zone_used = self._names_time_zone(step)
        time_zone = False
        logged_one = False
        comparable = self._comparable(step)
        try:
            for index in order:
                change = update_row(
                    self.rows[index],
                    step.assignments,
                    self.columns,
                    log_diffs=self.session.partial_json,
                    comparable=comparable,
                    trigger=self.trigger,
                    dialect=self.dialect,
                )
                rows.append(RowPrediction(index, change, self.decide(change)))
                if change.logged and not logged_one:
                    logged_one, time_zone = True, self.zone_used
        except MysqlError as error:
            return StepPrediction(step, error=error, undone=tuple(rows))
        return self._logged(step, rows, time_zone=time_zone)

    def logged_as(self, prediction: StepPrediction) -> StepPrediction:
        """The prediction of the same statement in another session: the table and its rows change alike, whatever that
        session logs.

        ``prediction`` is of a model of the same table and row image, in which diffs were collected.
        """
        if prediction.error is not None:
            return prediction
        rows = [RowPrediction(row.index, row.change, self.decide(row.change)) for row in prediction.rows]
        return self._logged(prediction.step, rows, time_zone=prediction.time_zone)

    def _logged(self, step: Step, rows: list[RowPrediction], *, time_zone: bool) -> StepPrediction:
        index_of = self.table.index_of
        assigned = {index_of[item.column] for item in (*step.assignments, *self.trigger)}
        # A column that a trigger names as NEW is in the image as if it were assigned (observed on 9.7.4).
        for item in self.trigger:
            assigned |= {index_of[name] for name in referenced_columns(item.expression, old=False)}
        logged = [row for row in rows if row.change.logged]
        events = self.events_of(logged, frozenset(assigned)) if logged else ()
        return StepPrediction(step, tuple(rows), events, time_zone=time_zone)

    def _comparable(self, step: Step) -> bool:
        """Whether the server reads the old value of every assigned column."""
        index_of = self.table.index_of
        every = (*step.assignments, *self.trigger)
        assigned = {index_of[item.column] for item in every}
        if assigned <= self._always_read:
            return True
        referenced = {index_of[name] for item in every for name in referenced_columns(item.expression)}
        # What a trigger assigns is read as well (observed on 9.7.4).
        referenced |= {index_of[item.column] for item in self.trigger}
        return assigned <= self._read(referenced)

    @cached_property
    def _always_read(self) -> set[int]:
        return self._read(set())

    @cached_property
    def _reads_all(self) -> bool:
        """NOBLOB starts from all columns of a partitioned table, as FULL does everywhere (observed on 9.7.4)."""
        return self.table.partitions is not None and self.session.row_image is RowImage.NOBLOB

    def _read(self, referenced: set[int]) -> set[int]:
        if self._reads_all:
            return set(range(len(self.table.columns)))
        primary = [index for index, _ in self.table.primary_key]
        referenced = {*referenced, self.table.index_of[self.selector]}
        return read_columns(self.table_map, self.key, primary, referenced, self.session.row_image)

    def _names_time_zone(self, step: Step) -> bool:
        """Whether the statement's text alone needs the time zone, whatever the rows hold."""
        columns, index_of = self.table.columns, self.table.index_of
        for item in step.assignments:
            expression = item.expression
            if isinstance(expression, Constant):
                if columns[index_of[item.column]].type in ZONED_TYPES and expression.value is not None:
                    return True
            elif needs_time_zone(expression):
                return True
        return False

    def advance(self, prediction: StepPrediction) -> None:
        """Take the predicted rows as the state before the next statement."""
        for row in prediction.rows:
            self.rows[row.index] = row.change.stored

    def decide(self, change: RowChange) -> dict[str, Decision]:
        """The form of every JSON column in the after-image of a row."""
        partial_json = self.session.partial_json
        return {
            name: decide(change.before[name], change.after[name], change.columns.get(name), partial_json=partial_json)
            for name in self.columns.json
        }

    def images(self, assigned: frozenset[int]) -> _Images:
        """The columns of both images of a statement that assigns these; the result is cached, as few sets of columns
        recur."""
        images = self._known_images.get(assigned)
        if images is None:
            table, image = self.table_map, self.session.row_image
            before = before_columns(table, self.key, [index for index, _ in self.table.primary_key], image)
            after = after_columns(table, assigned, image)
            names = [column.name for column in self.table.columns]
            images = self._known_images[assigned] = _Images(
                image_bitmap(before, len(names)) | self._unused_bits,
                image_bitmap(after, len(names)),
                names if before is None else [names[index] for index in before],
                names if after is None else [names[index] for index in after],
            )
        return images

    @cached_property
    def _unused_bits(self) -> int:
        """The unused bits of a before-image's bitmap, where it starts from all columns."""
        if not self._reads_all:
            return 0
        count = len(self.table.columns)
        return full_bitmap(count) & ~((1 << count) - 1)

    def events_of(self, rows: Iterable[RowPrediction], assigned: frozenset[int]) -> tuple[RowsBody, ...]:
        """The row events of a statement that changes these rows and assigns these columns, under the session's
        settings.

        Rows of another partition than those before them stand in an event of their own.
        """
        partitions = self.table.partitions
        if partitions is None:
            return tuple(self._events(rows, assigned))

        def moved(row: RowPrediction) -> PartitionInfo:
            return PartitionInfo(partitions.place(row.change.after), partitions.place(row.change.before))

        runs = groupby(rows, moved)
        return tuple(one_statement(event for info, run in runs for event in self._events(run, assigned, (info,))))

    def _events(
        self, rows: Iterable[RowPrediction], assigned: frozenset[int], extra: tuple[PartitionInfo, ...] = ()
    ) -> list[RowsBody]:
        table, partial = self.table_map, self.session.partial_json
        before, after, before_names, after_names = self.images(assigned)
        json_names = self.columns.json
        typed: list[Row] = []
        for row in rows:
            values: list[object] = []
            bits = 0
            for name in after_names:
                decision = row.decisions.get(name)
                if decision is None:
                    values.append(row.change.after[name])
                elif decision.partial:
                    assert decision.data is not None
                    bits |= 1 << json_names.index(name)
                    values.append(PartialJson(decision.data))
                else:
                    values.append(decision.data)
            old = tuple(row.change.before[name] for name in before_names)
            options = (int(bits > 0), bits or None) if partial else (None, None)
            typed.append(Row(old, tuple(values), *options))  # type: ignore[arg-type]
        body = RowsBody(
            type=EventType.PARTIAL_UPDATE_ROWS if partial else EventType.UPDATE_ROWS,
            table_id=table.table_id,
            flags=self.event_flags,
            extra=extra,
            column_count=len(table.columns),
            before_columns=before,
            after_columns=after,
            table=table,
            rows=tuple(typed),
        )
        return split_rows(body, self.row_event_max_size)
