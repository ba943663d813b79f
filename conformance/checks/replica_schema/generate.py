"""Replicas whose table differs from the source's, and tables without a key (requirements FR5)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import MISSING_ROW, SCHEMA
from conformance.checks.replica_schema.case import CANNOT_CONVERT, ReplicaSchema
from conformance.reference.binlog.images import Row
from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.apply import apply_field
from conformance.reference.partial.diffs import encode_diffs
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.definitions import Column, Table
from generators import documents
from generators.diverged import logged
from generators.documents import Size
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.binlog.images import Image
    from conformance.reference.tables.columns import Value
    from generators.draw import Draw

KINDS: Final = ("fewer", "fewer", "more", "other type", "other type", "without JSON")
_SIZES: Final = mix((Size.TINY, 40), (Size.SMALL, 60))
_SIDES: Final = ("INT", "VARCHAR", "JSON")
_TEXTS: Final = ("TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB")
_ID: Final = Column(name="id", type="INT", nullable=False)


def other_table(draw: Draw, name: str) -> ReplicaSchema:
    """A replica with fewer columns, more, or with another type in the place of JSON."""
    kind = draw.choice(KINDS)
    # JSON first, something behind it that can be missing.
    columns = [
        _ID,
        _column(draw, 1, "JSON"),
        *(_column(draw, 2 + n, draw.choice(_SIDES)) for n in range(draw.below(4))),
    ]
    if kind == "fewer":
        columns.append(_column(draw, len(columns), draw.choice(_SIDES)))
    if kind == "without JSON":
        columns = [_ID, *([_column(draw, 9, "INT")] if draw.below(2) else []), *columns[1:]]
    source = _table(name, columns, key=True)
    rows = _rows(draw, source, 1 + draw.below(3))
    case = _updates(draw, kind, source, rows, 1 + draw.below(2), full=draw.below(2) == 0)
    if kind == "fewer":
        return _narrow(case, 2 + draw.below(len(columns) - 2))
    if kind == "without JSON":
        return _narrow(case, source.json_columns[0])
    if kind == "more":
        extra = [_column(draw, 20 + n, draw.choice(_SIDES)) for n in range(1 + draw.below(3))]
        values = tuple(_value(draw, column) for column in extra)
        return replace(
            case,
            replica=_table(name, [*columns, *extra], key=True),
            held=tuple((*row, *values) for row in case.held),
            expected=tuple((*row, *values) for row in case.expected),
        )
    return _retyped(draw, case)


def without_key(draw: Draw, name: str) -> ReplicaSchema:
    """A table without a key: several updates of a few rows; or a document that diverged.

    No source logs a row twice in one event, and a hash scan would find it by its first image only. So one event holds
    all updates only where each row is in it once.
    """
    diverged = draw.below(4) == 3
    columns = [
        _ID,
        _column(draw, 1, "JSON"),
        *(_column(draw, 2 + n, draw.choice(_SIDES)) for n in range(draw.below(2))),
    ]
    source = _table(name, columns, key=False)
    rows = _rows(draw, source, 1 + draw.below(3))
    case = _updates(draw, "diverged" if diverged else "again", source, rows, 2 + draw.below(5), full=True)
    touched = [change.before[0] for change in case.changes if change.before is not None]
    case = replace(case, single=len(set(touched)) == len(touched) and draw.below(2) == 0)
    if not diverged:
        return case
    held = tuple((row[0], encode({"diverged": 1}), *row[2:]) if row[0] == touched[-1] else row for row in case.held)
    return replace(case, held=held, number=MISSING_ROW)


def _table(name: str, columns: Sequence[Column], *, key: bool) -> Table:
    return Table(schema=SCHEMA, name=name, columns=tuple(columns), primary_key=((0, 0),) if key else ())


def _column(draw: Draw, number: int, kind: str) -> Column:
    del draw
    return Column(name=f"c{number}", type=kind, length=100 if kind == "VARCHAR" else None)


def _value(draw: Draw, column: Column) -> Value:
    match column.type:
        case "JSON":
            return encode(documents.document(draw, sizes=_SIZES))
        case "INT":
            return draw.integer(-1000, 1000)
        case _:
            return draw.letters(draw.below(12), "abc xyz").strip().encode()


def _rows(draw: Draw, table: Table, count: int) -> list[Image]:
    made: list[Image] = []
    for number in range(1, count + 1):
        part = draw.fork("row", number)
        rest = (None if part.below(8) == 7 else _value(part.fork(c.name), c) for c in table.columns[1:])
        made.append((number, *rest))
    return made


def _updates(draw: Draw, kind: str, source: Table, rows: Sequence[Image], count: int, *, full: bool) -> ReplicaSchema:
    """Updates as a source logs them: diffs where there are any, else documents; the replica has the same rows."""
    now = {row[0]: row for row in rows}
    assigned = sorted(draw.sample(tuple(range(1, len(source.columns))), 1 + draw.below(len(source.columns) - 1)))
    before = None if full else (0,)
    after = None if full else tuple(assigned)
    changes = []
    for number in range(count):
        part = draw.fork("update", number)
        old = now[1 + part.below(len(rows))]
        new: list[Value | None] = list(old)
        image: list[Value | None] = []
        for index, column in enumerate(source.columns):
            value = old[index]
            if index in assigned:
                value, new[index] = _change(part.fork(index), column, old[index])
            elif column.is_json and value is not None:
                value = PartialJson(b"")
            if full or index in assigned:
                image.append(value)
        now[old[0]] = tuple(new)
        changes.append(Row(old if full else (old[0],), tuple(image)))
    end = tuple(now[row[0]] for row in rows)
    return ReplicaSchema(
        kind=kind,
        source=source,
        replica=source,
        rows=tuple(rows),
        held=tuple(rows),
        changes=tuple(changes),
        expected=end,
        before=before,
        after=after,
    )


def _change(draw: Draw, column: Column, old: Value | None) -> tuple[Value | None, Value | None]:
    """A new value, as the event and as the table have it."""
    if column.is_json and isinstance(old, bytes) and draw.below(5):
        data = encode_diffs(logged(draw.fork("diffs"), old)[0])
        try:
            return PartialJson(data), apply_field(old, data)
        except MysqlError:  # a REPLACE that changes nothing there
            pass
    value = _value(draw.fork("value"), column)
    return value, value


def _narrow(case: ReplicaSchema, count: int) -> ReplicaSchema:
    """The replica has the first columns only."""
    return replace(
        case,
        replica=replace(case.replica, columns=case.replica.columns[:count]),
        held=tuple(row[:count] for row in case.held),
        expected=tuple(row[:count] for row in case.expected),
    )


def _retyped(draw: Draw, case: ReplicaSchema) -> ReplicaSchema:
    """The replica has another type for one of its JSON columns."""
    index = draw.choice(case.source.json_columns)
    kind = draw.choice((*_TEXTS, *_TEXTS, "VARCHAR", "INT"))
    column = _column(draw, index, kind)
    columns = list(case.source.columns)
    columns[index] = replace(column, name=columns[index].name)
    other: Value = 7 if kind == "INT" else b"text"
    return replace(
        case,
        replica=replace(case.replica, columns=tuple(columns)),
        held=tuple((*row[:index], other, *row[index + 1 :]) for row in case.held),
        number=CANNOT_CONVERT,
    )
