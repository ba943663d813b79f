"""Update Cases, step by step: each step is made for the documents that the model predicts after the steps before it.

The model belongs to the caller. :func:`update_case` asks it through ``advance``; a live run, which must re-synchronise
after a mismatch, calls :func:`start` and :func:`next_step` itself::

    state = start(draw.fork("start"))
    for number in range(steps):
        step = next_step(draw.fork("step", number), state.table, rows)
        rows = ...  # what the model, or the server, says

A row is a mapping of column names to values: JSONB ``bytes`` (``None``: SQL NULL) for JSON columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from conformance.cases.update_case import Step, UpdateCase
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.view import open_document
from conformance.reference.partial.expression import Assignment, Constant, Increment
from generators import documents, updates
from generators.borders import statements as borders
from generators.borders.statements import Border
from generators.documents import Size
from generators.draw import mix
from generators.tables import SELECTOR, column_value, session, sources, table

if TYPE_CHECKING:
    from conformance.cases.session import Session
    from conformance.reference.partial.expression import Expression
    from conformance.reference.tables.definitions import Column, Table
    from generators.draw import Draw

Row: TypeAlias = Mapping[str, object]
Advance: TypeAlias = Callable[["Table", "Session", Sequence[Row], Step], Sequence[Row]]

NESTED_BYTES: Final = 2000
"""A JSON column of more bytes is not put into another document, or into itself: sizes would double with each step."""
MAX_BYTES: Final = 1 << 20
_AIMED_ONE_IN: Final = 6  # assignments of a table with a border
_KEY_SHIFT: Final = 1000  # more than any number of rows: a shifted id is never that of another row
_INT_MAX: Final = 2**31 - 1


class Start(NamedTuple):
    """A Case without steps."""

    table: Table
    session: Session
    rows: tuple[tuple[object, ...], ...]


def start(
    draw: Draw, *, schema: str = "lab", name: str = "t", rows: int | None = None, border: Border | None = None
) -> Start:
    """A table, a session, and start rows (``rows`` of them, or a few). ``border``: what the statements will aim at."""
    shape = table(draw.fork("table"), schema=schema, name=name, border=border)
    part = draw.fork("rows")
    return Start(shape, session(draw.fork("session")), start_rows(part, shape, rows or part.choice(_ROW_COUNTS)))


def start_rows(draw: Draw, shape: Table, count: int) -> tuple[tuple[object, ...], ...]:
    """``count`` rows in column order. Documents of one column are often alike, so that one statement suits them all."""
    if not 1 <= count < _KEY_SHIFT:
        raise ValueError(f"{count} rows")
    made: list[list[object]] = [[] for _ in range(count)]
    for position, column in enumerate(shape.columns):
        if column.is_json:
            # Beyond the first columns documents are small: a row event has all of them.
            sizes = documents.USUAL if shape.json_columns.index(position) < 3 else _SMALL
            values = _documents(draw, column, count, sizes)
        elif column.name == SELECTOR:
            values = list(range(1, count + 1))
        elif column.name == "vkey":
            values = [f"{draw.letters(draw.below(6), 'abcxyz')}{number}".encode() for number in range(count)]
        elif column.name in ("n", "k2"):
            values = [draw.below(3) for _ in range(count)]
        else:
            values = [column_value(draw, column) for _ in range(count)]
        for row, value in zip(made, values, strict=True):
            row.append(value)
    return tuple(map(tuple, made))


def next_step(
    draw: Draw, shape: Table, rows: Sequence[Row], *, refused: bool = False, border: Border | None = None
) -> Step:
    """An UPDATE for ``rows``, which stand in the order of the start rows and have the values of now.

    ``refused``: a statement that the server answers with an error, changing nothing. ``border``: what some of the
    statements aim at.
    """
    chosen = _choose_rows(draw, len(rows))
    lead = rows[chosen[draw.below(len(chosen))]]
    if refused:
        return _refused(draw, shape, rows, chosen)
    scope = _Scope(shape, [rows[index] for index in chosen], border)
    assignments: list[Assignment] = []
    for name in _targets(draw, shape):
        assignments += scope.assignments(draw, name, lead)
    # Another change would hide whether the server takes a value for equal.
    alone = scope.aimed and border in (Border.NUMBER, Border.MOMENT) and draw.below(4) > 0
    others = [] if alone else _other_assignments(draw, shape, rows, chosen)
    # MySQL evaluates from left to right: a value taken from a column is the new one or the old one.
    assignments = [*others, *assignments] if draw.below(3) == 2 else [*assignments, *others]
    return Step(tuple(assignments), chosen, commit=draw.below(4) < 3)


def update_case(
    draw: Draw, *, case_id: str, steps: int, advance: Advance, seed: str = "", rows: int | None = None
) -> UpdateCase:
    """A whole Case. ``advance`` is the model: the rows after a step."""
    if steps < 1:
        raise ValueError(f"{steps} steps")
    border = draw.fork("border").choice(tuple(Border))
    begun = start(draw.fork("start"), rows=rows, border=border)
    names = [column.name for column in begun.table.columns]
    state: Sequence[Row] = [dict(zip(names, row, strict=True)) for row in begun.rows]
    made: list[Step] = []
    for number in range(steps):
        step = next_step(draw.fork("step", number), begun.table, state, border=border)
        if number == steps - 1:
            step = replace(step, commit=True)
        state = advance(begun.table, begun.session, state, step)
        made.append(step)
    return UpdateCase(
        id=case_id,
        seed=seed,
        table=begun.table,
        selector=SELECTOR,
        session=begun.session,
        rows=begun.rows,
        steps=tuple(made),
    )


# --------------------------------------------------------------------------------------------------------------- rows


def _documents(draw: Draw, column: Column, count: int, sizes: tuple[Size, ...]) -> list[object]:
    alike = draw.below(3) == 2
    made: list[object] = []
    for number in range(count):
        if column.nullable and draw.below(25) == 24:
            made.append(None)
        elif alike and number and made[0] is not None:
            made.append(made[0])
        else:
            made.append(encode(documents.document(draw, sizes=sizes)))
    return made


def _choose_rows(draw: Draw, count: int) -> tuple[int, ...]:
    style = draw.below(10)
    if style < 6 or count == 1:
        return (draw.below(count),)
    if style < 8:
        return tuple(range(count))
    return tuple(draw.sample(range(count), draw.integer(1, count)))


# ---------------------------------------------------------------------------------------------------------- statement


def _targets(draw: Draw, shape: Table) -> list[str]:
    """The JSON columns to assign: usually one, in any order."""
    names = [shape.columns[index].name for index in shape.json_columns]
    if len(names) == 1 or draw.below(10) < 6:
        return [draw.choice(names)]
    return draw.shuffled(draw.sample(names, min(len(names), draw.choice((2, 2, 2, 3, 5, 17)))))


class _Scope:
    """The values that the JSON columns of the chosen rows permit in one statement.

    Columns assigned before are no sources any more: they may be NULL or larger by then.
    """

    def __init__(self, shape: Table, rows: Sequence[Row], border: Border | None) -> None:
        self.border = border
        self.aimed = False
        self.moments = [column.name for column in shape.columns if column.type == "TIMESTAMP"]
        self.columns = {column.name: column for column in shape.columns}
        self.plain = sources(shape)
        self.rows = rows
        self.json = [shape.columns[index].name for index in shape.json_columns]
        self.nested = [name for name in self.json if all(_fits_inside(row[name]) for row in rows)]
        self.not_null = {name for name in self.json if all(row[name] is not None for row in rows)}

    def assignments(self, draw: Draw, name: str, lead: Row) -> list[Assignment]:
        """Assignments of one JSON column; of two in one case of twenty."""
        nullable = self.columns[name].nullable
        stored = lead[name]
        assert stored is None or isinstance(stored, bytes)
        # Plain columns are the usual sources; JSON columns, the column itself included, come rarely.
        taken = (*self.plain, *self.nested) if draw.below(3) == 2 else self.plain
        others = [other for other in self.json if other != name and (nullable or other in self.not_null)]
        if stored is not None and len(stored) > MAX_BYTES:
            stored = None
        expressions: list[Expression] = []
        if self.border is not None and draw.below(_AIMED_ONE_IN) == _AIMED_ONE_IN - 1:
            aimed = borders.expression(draw, self.border, name, stored, moments=self.moments)
            expressions += [] if aimed is None else [aimed]
            self.aimed = self.aimed or aimed is not None
        for _ in range(0 if expressions else 1 if draw.below(20) < 19 else 2):
            if draw.below(8) == 7 or (stored is None and draw.below(3) < 2):
                expressions.append(
                    updates.whole(draw, name, stored, sources=taken, documents_from=others, nullable=nullable)
                )
            else:
                expressions.append(updates.partial(draw, name, stored, sources=taken, nullable=nullable))
        self.nested = [other for other in self.nested if other != name]
        self.not_null.discard(name)
        return [Assignment(name, expression) for expression in expressions]


def _fits_inside(stored: object) -> bool:
    """Whether a document is small and flat enough to be put into another one."""
    if stored is None:
        return True
    assert isinstance(stored, bytes)
    if len(stored) > NESTED_BYTES:
        return False
    # Every level of containers takes seven bytes or more.
    return len(stored) < 7 * _FLAT or _levels(stored) <= _FLAT


def _levels(stored: bytes) -> int:
    level = -1
    layer = [open_document(stored)]
    while layer:
        level += 1
        layer = [view.element(index) for view in layer for index in range(view.count)]
    return level


_FLAT: Final = 8


def _other_assignments(draw: Draw, shape: Table, rows: Sequence[Row], chosen: tuple[int, ...]) -> list[Assignment]:
    """Changes of columns that are not JSON: without one, an update that changes nothing is not logged."""
    made: list[Assignment] = []
    style = draw.below(20)
    if style >= 11:
        made.append(Assignment("n", Increment("n", draw.choice((1, 1, 1, 10, -1)))))
    elif style == 10:
        made.append(Assignment("n", Constant(draw.choice((0, 1, None)))))
    if draw.below(8) == 7:
        sides = [column for column in shape.columns if column.type != "JSON" and column.name not in _KEYS_AND_N]
        if sides:
            column = draw.choice(sides)
            made.append(Assignment(column.name, Constant(column_value(draw, column))))
    if len(chosen) == 1 and draw.below(25) == 24:
        made += _key_change(draw, shape, rows, rows[chosen[0]])
    return made


def _key_change(draw: Draw, shape: Table, rows: Sequence[Row], row: Row) -> list[Assignment]:
    names = shape.index_of
    if "vkey" in names and draw.below(2) == 0:
        column = shape.columns[names["vkey"]]
        value = column_value(draw, column)
        assert isinstance(value, bytes)
        # Never that of another row, whatever the collation thinks of it.
        used = {other["vkey"] for other in rows}
        while value in used:
            value += b"x"
        return [Assignment("vkey", Constant(value))] if len(value) <= (column.length or 0) else []
    if "k2" in names and draw.below(2) == 0:
        return [Assignment("k2", Increment("k2", 1))]
    number = row[SELECTOR]
    assert isinstance(number, int)
    return [Assignment(SELECTOR, Increment(SELECTOR, _KEY_SHIFT))] if number < _INT_MAX - _KEY_SHIFT else []


def _refused(draw: Draw, shape: Table, rows: Sequence[Row], chosen: tuple[int, ...]) -> Step:
    name = shape.columns[draw.choice(shape.json_columns)].name
    stored = next((rows[row][name] for row in chosen if rows[row][name] is not None), None)
    assert stored is None or isinstance(stored, bytes)
    return Step((Assignment(name, updates.refused(draw, name, stored)),), chosen)


_KEYS_AND_N: Final = frozenset((SELECTOR, "n", "k2", "vkey"))
_SMALL: Final = mix((Size.TINY, 30), (Size.SMALL, 69), (Size.MEDIUM, 1))
_ROW_COUNTS: Final = mix((1, 10), (2, 8), (3, 8), (4, 6), (6, 4), (10, 2))
