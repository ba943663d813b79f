"""Updates of partitioned tables, many of which move rows from one partition to another.

The table is small and known, ``t (id, n, j, k, c)``; the generator draws its partitions, key, documents and updates.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.row_images import RowImage
from conformance.cases.script import ScriptBuilder
from conformance.cases.session import Session
from conformance.cases.update_case import Step, UpdateCase
from conformance.reference.partial.expression import Assignment, Constant, Increment
from conformance.reference.tables.definitions import Column, Table
from conformance.reference.tables.partitions import Partitions
from generators.cases import next_step, start_rows

if TYPE_CHECKING:
    from conformance.reference.dialect import Dialect
    from generators.draw import Draw

METHODS: Final = ("HASH", "LINEAR HASH", "KEY", "LINEAR KEY", "RANGE", "LIST")
_LISTED: Final = ((0, 3, 6, None), (1, 4), (2, 5, 7, 8, 9))  # for n
_SMALL: Final = tuple(range(10))


def case(draw: Draw, number: int, dialect: Dialect, *, steps: int = 6) -> UpdateCase:
    """Case ``number`` of a seed: the partitioning methods take turns, and so do updates that move rows and that do
    not."""
    method = METHODS[number % len(METHODS)]
    moving = number // len(METHODS) % 4 != 3  # divided by n, which the updates change; otherwise by the id
    keyed = draw.below(3) > 0
    nullable = moving and not keyed
    kind = draw.choice(("INT", "BIGINT", "SMALLINT")) if moving else "INT"
    columns = (
        Column(name="id", type="INT", nullable=False),
        Column(name="n", type=kind if moving else "INT", nullable=nullable),
        Column(name="j", type="JSON"),
        Column(name="k", type="JSON"),
        Column(name="c", type="TEXT"),
    )
    key = ((0, 0), (1, 0)) if moving else ((0, 0),)
    by = "n" if moving else "id"
    table = Table(
        schema="lab",
        name="t",
        columns=columns,
        primary_key=key if keyed else (),
        partitions=_partitions(draw, method, by, kind),
    )
    session = Session(row_image=draw.choice(tuple(RowImage)), partial_json=draw.below(10) < 8)
    rows = start_rows(draw.fork("rows"), table, 2 + draw.below(7))
    begun = UpdateCase(id="", requirements=("F3",), table=table, selector="id", session=session, rows=rows, steps=())
    builder = ScriptBuilder(begun, dialect=dialect)
    made: list[Step] = []
    for place in range(steps):
        part = draw.fork("step", place)
        step = _step(part, next_step(part, table, builder.model.rows), nullable=nullable, listed=method == "LIST")
        builder.add(step)
        made.append(step)
    return replace(begun, steps=tuple(made))


def _step(draw: Draw, step: Step, *, nullable: bool, listed: bool) -> Step:
    """An update with the same documents, and a value of n that the table has a partition for."""
    documents = tuple(item for item in step.assignments if item.column not in ("id", "n"))
    if draw.below(3) == 2:
        return replace(step, assignments=documents)
    if nullable and draw.below(6) == 5:
        value = Assignment("n", Constant(None))
    elif listed or draw.below(2):
        value = Assignment("n", Constant(draw.choice(_SMALL)))
    else:
        value = Assignment("n", Increment("n", draw.choice((1, 2, 5, -1, -7))))
    return replace(step, assignments=(value, *documents) if draw.below(2) else (*documents, value))


def _partitions(draw: Draw, method: str, by: str, kind: str) -> Partitions:
    if method == "RANGE":
        bounds = (*sorted(draw.sample(range(-3, 10), 1 + draw.below(4))), None)
        return Partitions(method=method, column=by, kind=kind, bounds=bounds, sub=_sub(draw))
    if method == "LIST":
        values = _LISTED if by == "n" else (tuple(range(2, 9, 2)), tuple(range(1, 10, 2)))
        return Partitions(method=method, column=by, kind=kind, values=values, sub=_sub(draw))
    return Partitions(method=method, column=by, kind=kind, count=draw.choice((2, 3, 4, 5, 7, 8)))


def _sub(draw: Draw) -> Partitions | None:
    if draw.below(2):
        return None
    return Partitions(method=draw.choice(("HASH", "LINEAR KEY", "KEY")), column="id", count=2 + draw.below(3))
