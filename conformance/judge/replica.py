"""The model of a replica: the reference applier over the source's events, and the comparison of two tables. Pure.

The model follows the applier's documents byte by byte (requirements FR2, requirements FR4, partial-update 6.2). So it
predicts a stop by its transaction, row and column. It still compares exactly a row that was repaired, or that started
with other bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.judge.updates.events import first_difference, iter_events, split_groups
from conformance.judge.updates.mismatch import Mismatch
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import kind_of
from conformance.reference.binlog.rows import UPDATE_TYPES, RowsBody, included
from conformance.reference.binlog.statement_events import RowsQuery
from conformance.reference.dialect import MYSQL, Dialect, flipped
from conformance.reference.errors import CodecError, MysqlError
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.compare import equal
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.layout import decode_stored, storage_free
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import same
from conformance.reference.partial.apply import apply_field
from conformance.reference.portable import shown
from conformance.reference.tables.columns import PartialJson

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.cases.script import Script

LOOKUP: Final = "looks_up_by_before_image"
DEPTH: Final = "nests_without_limit"
TOO_DEEP: Final = 3157
SWITCHES: Final = ("refuse_unchanging_replace", LOOKUP)
"""Switches of the dialect that explain a stop of the applier."""

Documents = dict[str, bytes | None]
Table = tuple[tuple[object, ...], ...]
Texts = tuple[tuple[bytes | None, ...], ...]
Verdicts = tuple[tuple[bool | None, ...], ...]


NO_IMAGE: Final[Mapping[str, object]] = MappingProxyType({})


class LoggedRow(NamedTuple):
    """An updated row of the log: its statement, its start row, the after-image by column, and the before-image.

    ``end``: where its event ends (0 inside a compressed transaction). The row also knows which of the log's row events
    holds it.
    """

    step: int
    row: int
    values: Mapping[str, object]
    end: int = 0
    before: Mapping[str, object] = NO_IMAGE
    event: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """A transaction of the source's log with its updates. ``start`` and ``end`` are offsets in its file. ``head`` is
    its GTID event. ``rows_query``: the log has the texts of its statements."""

    start: int
    end: int
    gtid: str | None
    rows: tuple[LoggedRow, ...]
    head: Gtid | None = None
    rows_query: bool = False

    @property
    def first_step(self) -> int:
        """The first statement with a logged row; -1 without one."""
        return min((row.step for row in self.rows), default=-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The applier refuses a diff, or finds no row. ``switch``: flipped alone, the diff applies. ``says``: a part of the
    applier's message."""

    step: int
    row: int
    column: str
    number: int
    reason: str
    switch: str | None
    end: int = 0
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """A real applier stopped: its error, and the end of the event that it could not apply."""

    number: int
    message: str
    offset: int


class LogDiffersError(Exception):
    """The source's log does not fit its prediction; the check of the source's own events says how."""


def log_mismatch(error: LogDiffersError) -> Mismatch:
    """A source's log that does not fit its prediction, as a finding: its replica has nothing to be compared with."""
    return Mismatch(
        kind="log",
        step=None,
        field="the source's log",
        expected="the predicted updates",
        got=str(error),
        message="the source's log is not that of the updates",
    )


def transactions(script: Script, events: Sequence[bytes], steps: int | None = None) -> list[Transaction]:
    """The transactions of a Case's session (or of its first ``steps`` statements), each logged row with its statement
    and start row."""
    visited = [
        (step, row.index)
        for step, prediction in enumerate(script.predictions[:steps])
        for row in prediction.rows
        if row.change.logged
    ]
    names = [column.name for column in script.case.table.columns]
    found: list[Transaction] = []
    place = number = 0
    read = {
        value
        for prediction in script.predictions
        for row in prediction.rows
        for image in (row.change.before, row.change.after)
        for value in map(image.get, script.model.columns.json)
        if isinstance(value, bytes)
    }
    for group in split_groups(events):
        rows: list[LoggedRow] = []
        keys: list[object] = []
        gtid = head = None
        rows_query = False
        plain = all(kind_of(event) != EventType.TRANSACTION_PAYLOAD for event in group)
        for raw, event, error in iter_events(group):
            if event is None:
                raise LogDiffersError(f"an event cannot be read: {error}")
            if isinstance(event.body, Gtid):
                head = event.body
                gtid = f"{head.uuid}:{head.gno}" if head.gno else None
            rows_query = rows_query or isinstance(event.body, RowsQuery)
            if not isinstance(event.body, RowsBody) or event.body.type not in UPDATE_TYPES:
                continue
            number += 1
            _check_columns(script, event.body, read)
            columns = included(event.body.after_columns or 0, event.body.column_count)
            old = list(included(event.body.before_columns or 0, event.body.column_count))
            for row in event.body.rows:
                if place >= len(visited):
                    raise LogDiffersError(f"more rows are logged than the {len(visited)} that change")
                values = {names[index]: value for index, value in zip(columns, row.after or (), strict=True)}
                before = {names[index]: value for index, value in zip(old, row.before or (), strict=True)}
                keys.append(before.get(script.case.selector))
                rows.append(LoggedRow(*visited[place], values, _end(raw) if plain else 0, before, number))
                place += 1
        found.append(
            Transaction(
                start=_end(group[0]) - len(group[0]),
                end=_end(group[-1]),
                gtid=gtid,
                rows=tuple(_by_key(script, rows, keys)),
                head=head,
                rows_query=rows_query,
            )
        )
    if place != len(visited):
        raise LogDiffersError(f"{place} rows are logged of the {len(visited)} that change")
    return found


def _check_columns(script: Script, body: RowsBody, read: set[bytes]) -> None:
    """Raise :class:`LogDiffersError` where the log has another table, or a document that no model can follow.

    ``read``: the documents that the model predicts, which it can follow, and those of the log so far.
    """
    if body.column_count != len(script.case.table.columns) or body.map().columns != script.model.table_map.columns:
        raise LogDiffersError("the log has another table")
    json = set(script.case.table.json_columns)
    for row in body.rows:
        for bitmap, image in ((body.before_columns, row.before), (body.after_columns, row.after)):
            for index, value in zip(included(bitmap or 0, body.column_count), image or (), strict=True):
                if index not in json or not isinstance(value, bytes) or value in read:
                    continue
                read.add(value)
                try:
                    decode_stored(value)
                except CodecError as error:
                    if error.code != f"mysql-{TOO_DEEP}":
                        raise LogDiffersError(f"a document in the log cannot be read: {error}") from None


def key_before(script: Script, step: int, row: int) -> object:
    """The selector's value of a start row before a statement."""
    rows = script.predictions[step].rows
    return next(item.change.before[script.case.selector] for item in rows if item.index == row)


def _by_key(script: Script, rows: Sequence[LoggedRow], keys: Sequence[object]) -> Iterator[LoggedRow]:
    """Rows of a transaction with the start rows that their keys name.

    A replica without a key meets the rows of a statement in the order of its own table, and logs them so (observed on
    9.7.4).
    """
    place = 0
    for step, group in groupby(rows, lambda row: row.step):
        logged = list(group)
        there = keys[place : place + len(logged)]
        place += len(logged)
        by_key = {key_before(script, step, row.row): row.row for row in logged}
        if set(there) == set(by_key):
            yield from (row._replace(row=by_key[key]) for row, key in zip(logged, there, strict=True))
        else:
            yield from logged


def _end(event: bytes) -> int:
    """The end_log_pos of the header."""
    return int.from_bytes(event[13:17], "little")


class ReplicaModel:
    """The JSON columns of a replica's rows, as the reference applier leaves them. ``rows`` are in start order.

    ``keyless``: the table has no key, so that the applier looks for a row by its before-image. Observed on 9.7.4, with
    the option on or off: it finds a row whose documents are equal by = and as text; otherwise it stops (1032).
    """

    def __init__(
        self,
        rows: Sequence[Mapping[str, object]],
        json: Sequence[str],
        dialect: Dialect = MYSQL,
        *,
        keyless: bool = False,
    ) -> None:
        self.json = tuple(json)
        self.dialect = dialect
        self.keyless = keyless
        self.rows = [self.documents(row) for row in rows]

    @classmethod
    def of(cls, script: Script) -> ReplicaModel:
        """The model of a replica that has just got the start rows of a Case."""
        table = script.case.table
        names = [column.name for column in table.columns]
        json = [names[index] for index in table.json_columns]
        keyless = not table.primary_key and not table.unique_keys
        return cls(script.start_rows, json, script.model.dialect, keyless=keyless)

    def documents(self, row: Mapping[str, object]) -> Documents:
        """The JSON columns of a row."""
        return {name: value for name in self.json if isinstance(value := row[name], bytes | None)}

    def apply(self, transaction: Transaction, *, unless: str | None = None) -> Refusal | None:
        """Apply a whole transaction, or nothing and return what is refused. ``unless``: a switch to flip."""
        before = {row.row: self.rows[row.row] for row in transaction.rows}
        for _, event in groupby(transaction.rows, lambda row: (row.step, row.end)):
            refusal = self._apply_event(tuple(event), unless)
            if refusal is not None:
                for index, documents in before.items():
                    self.rows[index] = documents
                return refusal
        return None

    def _apply_event(self, event: Sequence[LoggedRow], unless: str | None) -> Refusal | None:
        """Apply the rows of an event; rows that are found change before a missing row ends the event."""
        missed: Refusal | None = None
        for row in event:
            column = self._unlike(row, unless)
            if column is not None:
                missed = missed or Refusal(
                    step=row.step,
                    row=row.row,
                    column=column,
                    number=1032,
                    reason="no row with a document that is equal by = and as text",
                    switch=LOOKUP,
                    end=row.end,
                    says="Can't find record",
                )
                continue
            refusal = self.apply_row(row, unless=unless)
            if refusal is not None:
                return refusal
        return missed

    def _unlike(self, row: LoggedRow, unless: str | None) -> str | None:
        """A column in which the replica's row differs from the wanted row."""
        if not self.keyless or not self._dialect(unless).behaviour.looks_up_by_before_image:
            return None
        for name in self.json:
            theirs = self.rows[row.row][name]
            ours = row.before.get(name, theirs)
            assert ours is None or isinstance(ours, bytes)
            if ours != theirs and relation_of(ours, theirs) != SAME:
                return name
        return None

    def _dialect(self, unless: str | None) -> Dialect:
        return self.dialect if unless is None else flipped(self.dialect, unless)

    def apply_row(self, row: LoggedRow, *, unless: str | None = None) -> Refusal | None:
        """Apply one row, or nothing and return what is refused."""
        dialect = self.dialect if unless is None else flipped(self.dialect, unless)
        state = dict(self.rows[row.row])
        for name in self.json:
            if name not in row.values:
                continue
            try:
                state[name] = _applied(state[name], row.values[name], dialect)
            except MysqlError as error:
                deep = error.number == TOO_DEEP
                return Refusal(
                    step=row.step,
                    row=row.row,
                    column=name,
                    number=error.number,
                    reason=str(error),
                    # No source without this behaviour logs what leads to such a document.
                    switch=DEPTH if deep else _explanation(state[name], row.values[name], dialect),
                    end=row.end,
                    says="maximum depth" if deep else f"column {name}.",
                )
        self.rows[row.row] = state
        return None


def _applied(stored: bytes | None, value: object, dialect: Dialect) -> bytes | None:
    if isinstance(value, PartialJson):
        return apply_field(stored, value.diffs, dialect)
    assert value is None or isinstance(value, bytes)
    return value


def _explanation(stored: bytes | None, value: object, dialect: Dialect) -> str | None:
    for switch in SWITCHES:
        try:
            _applied(stored, value, flipped(dialect, switch))
        except CodecError:
            continue
        return switch
    return None


def judge_stop(expected: Refusal | None, transaction: Transaction | None, stop: Stop) -> Mismatch:
    """Judge a stop of the applier.

    The refusal's switch explains it only if the stop is that refusal: the number, the event (in a compressed
    transaction: the transaction), and the column that its message names.
    """
    message, deviation = "the applier stopped", None
    if expected is not None and transaction is not None:
        message += (
            f"; predicted is {expected.number} at {expected.end or transaction.end}, column {expected.column}: "
            f"{expected.reason}"
        )
        there = stop.offset == expected.end if expected.end else transaction.start < stop.offset <= transaction.end
        if there and stop.number == expected.number and expected.says in stop.message:
            deviation = expected.switch
    return Mismatch(
        kind="stop",
        step=None if expected is None else expected.step,
        rows=() if expected is None else (expected.row,),
        field="applier" if expected is None else expected.column,
        expected="the replica applies the update, and goes on",
        got=f"{stop.number} at {stop.offset}: {stop.message}",
        message=message,
        deviation=deviation,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """A table on the source and on its replica, rows in order of the selector.

    ``stored`` rows have all columns as a row event has them, documents in their stored bytes. ``texts`` and ``equal``
    (the SQL ``=`` of the two documents) are of the JSON columns; ``None`` where a document has no text (3157).
    """

    source: Table
    replica: Table
    source_texts: Texts
    replica_texts: Texts
    equal: Verdicts


@dataclass(frozen=True, slots=True)
class Relation:
    """How two documents must relate."""

    text: bool = True
    equal: bool = True


SAME: Final = Relation()


def relation_of(ours: bytes | None, theirs: bytes | None) -> Relation:
    """How two documents relate now. FR4 wants the relation kept; a relation that does not hold now is not wanted
    later."""
    if ours is None or theirs is None:
        return Relation(ours is theirs, ours is theirs)
    a, b = decode(ours), decode(theirs)
    return Relation(format_text(a) == format_text(b), equal(a, b))


def differences_of(ours: bytes | None, theirs: bytes | None) -> frozenset[str]:
    """How two documents with different bytes differ: ``padded`` (free space on a side), and in their values ``numbers``
    (equal by =), ``retyped`` (equal text), or ``diverged``."""
    if ours is None or theirs is None:
        return frozenset(("diverged",))
    found = {"padded"} if storage_free(ours) or storage_free(theirs) else set()
    a, b = decode(ours), decode(theirs)
    if not same(a, b):
        found.add("numbers" if equal(a, b) else "retyped" if format_text(a) == format_text(b) else "diverged")
    return frozenset(found)


@dataclass(slots=True)
class TableComparison:
    """The findings of a comparison of two tables. ``other_bytes``: documents stored differently on the source, as the
    applier makes them."""

    texts: int = 0
    bytes: int = 0
    other_bytes: int = 0
    found: list[Mismatch] = field(default_factory=list)


def compare_tables(
    names: Sequence[str],
    json: Sequence[str],
    sides: Sides,
    order: Sequence[int],
    predicted: ReplicaModel,
    relations: Mapping[tuple[int, str], Relation] | None = None,
) -> TableComparison:
    """Compare every row of both sides. ``order``: the start row of each; ``relations``: where not both text and ``=``
    hold."""
    result = TableComparison()
    if not len(sides.source) == len(sides.replica) == len(order):
        result.found.append(
            Mismatch(
                kind="rows",
                step=None,
                field="rows",
                expected=f"{len(order)}, and {len(sides.source)} on the source",
                got=str(len(sides.replica)),
                message="another number of rows",
            )
        )
        return result
    for place, index in enumerate(order):
        for column, name in enumerate(names):
            ours, theirs = sides.source[place][column], sides.replica[place][column]
            if name not in json:
                if ours != theirs:
                    result.found.append(_differs("column", index, name, shown(ours), shown(theirs)))
                continue
            relation = SAME if relations is None else relations[index, name]
            at = json.index(name)
            result.found += _compare_documents(sides, place, at, index, name, relation, result)
            wanted = predicted.rows[index][name]
            assert theirs is None or isinstance(theirs, bytes)
            result.bytes += len(theirs or b"")
            if theirs != wanted:
                result.found.append(_differs("bytes", index, name, _hex(wanted), _hex(theirs), wanted, theirs))
            elif theirs != ours:
                result.other_bytes += 1
    return result


def explain_lost_triggers(script: Script, predicted: ReplicaModel, tables: TableComparison) -> None:
    """Give their switch to documents that differ because the log lacks what a trigger did.

    The source's document is the predicted one, and the replica's is what the applier makes of the predicted log.
    """
    if not script.case.trigger:
        return
    fired = {assignment.column for assignment in script.case.trigger}
    other = {(item.rows, item.field) for item in tables.found if item.kind == "bytes"}
    for place, item in enumerate(tables.found):
        if item.kind not in ("text", "equal") or item.field not in fired or (item.rows, item.field) in other:
            continue
        index = item.rows[0]
        source = script.model.rows[index][item.field]
        assert source is None or isinstance(source, bytes)
        wanted = "NULL" if source is None else format_text(decode(source))
        lost = any(
            row.index == index and row.decisions[item.field].partial and row.change.logged
            for prediction in script.predictions
            for row in prediction.rows
        )
        if lost and source != predicted.rows[index][item.field] and (item.kind == "equal" or item.expected == wanted):
            tables.found[place] = replace(item, deviation="diffs_miss_triggers")


def _compare_documents(
    sides: Sides, place: int, at: int, index: int, name: str, relation: Relation, result: TableComparison
) -> Iterator[Mismatch]:
    if relation.text:
        result.texts += 1
        ours, theirs = sides.source_texts[place][at], sides.replica_texts[place][at]
        if ours != theirs:
            yield _differs("text", index, name, _text(ours), _text(theirs), ours, theirs)
    if relation.equal and sides.equal[place][at] is False:
        source, replica = _text(sides.source_texts[place][at]), _text(sides.replica_texts[place][at])
        got = replica if source != replica else "the same text, and not equal by ="
        yield _differs("equal", index, name, source, got)


def _differs(
    kind: str, row: int, name: str, expected: str, got: str, a: bytes | None = None, b: bytes | None = None
) -> Mismatch:
    return Mismatch(
        kind=kind,
        step=None,
        rows=(row,),
        field=name,
        offset=first_difference(a, b) if a is not None and b is not None else None,
        expected=expected,
        got=got,
        message=_MESSAGES[kind],
    )


_MESSAGES: Final = {
    "column": "a column that is not JSON has another value on the replica",
    "text": "the document prints otherwise on the replica",
    "equal": "the documents are not equal by =",
    "bytes": "the stored document is not the one that the applier makes",
}


def _hex(data: bytes | None) -> str:
    return "NULL" if data is None else data.hex()


def _text(data: bytes | None) -> str:
    return "NULL" if data is None else data.decode("utf-8", "replace")
