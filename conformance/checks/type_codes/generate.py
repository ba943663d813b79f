"""Tables, rows and statements of updates that touch no document; most of the tables have no JSON column at all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.files import SCHEMA_NAME
from conformance.cases.update_case import Step, UpdateCase
from conformance.reference.partial.expression import Assignment, Constant, Increment
from generators.cases import start_rows
from generators.tables import SELECTOR, column_value, session, table

if TYPE_CHECKING:
    from conformance.reference.tables.definitions import Table
    from generators.draw import Draw

_STEPS: Final = 12
_ROWS: Final = 4
_COUNTS: Final = (0, 0, 0, 1)  # of JSON columns, in turn
_LEFT_ALONE: Final = frozenset((SELECTOR, "n", "k2", "vkey"))  # the keys, and the column that is counted up


def case_of(draw: Draw, number: int) -> UpdateCase:
    """Case ``number``: with the option on, but for one in four, and no other reason for other events."""
    shape = table(draw.fork("table"), schema=SCHEMA_NAME, json_count=_COUNTS[number % len(_COUNTS)])
    rows = start_rows(draw.fork("rows"), shape, _ROWS)
    chosen = replace(session(draw.fork("session")), partial_json=number // len(_COUNTS) % 4 != 3)
    steps = tuple(_step(draw.fork("step", place), shape) for place in range(_STEPS))
    return UpdateCase(
        id="",
        requirements=("F1",),
        table=shape,
        selector=SELECTOR,
        session=chosen,
        rows=rows,
        steps=(*steps[:-1], replace(steps[-1], commit=True)),
    )


def _step(draw: Draw, shape: Table) -> Step:
    """Count ``n`` up, and give other plain columns a value."""
    sides = [column for column in shape.columns if not column.is_json and column.name not in _LEFT_ALONE]
    chosen = draw.sample(sides, draw.below(len(sides) + 1))
    assignments = [Assignment(column.name, Constant(column_value(draw, column))) for column in chosen]
    rows = tuple(draw.sample(range(_ROWS), draw.integer(1, _ROWS)))
    return Step((Assignment("n", Increment("n", 1)), *assignments), rows, commit=draw.below(4) < 3)
