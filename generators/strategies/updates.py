"""Strategies for what is made for a given document: paths, assignments, tables, and whole sequences of updates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from conformance.cases.predict import Model
from conformance.reference.errors import MysqlError
from conformance.reference.partial.expression import Assignment, Columns
from conformance.reference.partial.update import update_row
from generators import cases, path_targets, updates
from generators import tables as make_tables
from generators.strategies.arguments import is_container, stored_document
from generators.strategies.draw import drawn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import SearchStrategy

    from conformance.cases.session import Session
    from conformance.cases.update_case import Step, UpdateCase
    from conformance.reference.partial.diffs import Diff
    from conformance.reference.tables.definitions import Table
    from generators.cases import Advance, Row
    from generators.draw import Draw


_COLUMN: Final = "j"


def paths(stored: bytes, *, existing: bool = False) -> SearchStrategy[str]:
    """Path texts for a stored document: to values that are there (``existing``), or to any kind of place.

    Raises TypeError for what is not bytes, and :class:`DecodeError` for bytes that begin no document.
    """
    document = stored_document(stored, "paths")
    find = path_targets.existing if existing else path_targets.aim
    return drawn(lambda draw: path_targets.spell(draw, find(draw, document).legs))


def assignments(
    stored: bytes | None, *, column: str = _COLUMN, partial_only: bool = False
) -> SearchStrategy[Assignment]:
    """``column = ...`` for a column that holds ``stored``; with ``partial_only`` eligible for partial update.

    ``stored`` is ``None`` for SQL NULL. Raises as :func:`paths`, and ValueError for a column without a name.
    """
    if not column:
        raise ValueError("a column has a name")
    if stored is not None:
        stored_document(stored, "assignments")

    def make(draw: Draw) -> Assignment:
        if partial_only or draw.below(8) < 7:
            return Assignment(column, updates.partial(draw, column, stored))
        return Assignment(column, updates.whole(draw, column, stored))

    return drawn(make)


def diffs(stored: bytes) -> SearchStrategy[tuple[Diff, ...]]:
    """One diff or more, as a server logs them for an update of a stored document; a replica applies them all.

    No diff fits a document that is a scalar: Hypothesis leaves such an example out. Raises as :func:`paths`.
    """
    if not is_container(stored_document(stored, "diffs")):
        return st.nothing()

    def logged(assignment: Assignment) -> tuple[Diff, ...]:
        try:
            row = update_row({_COLUMN: stored}, (assignment,), Columns((_COLUMN,)), log_diffs=True)
        except MysqlError:
            return ()
        return row.columns[_COLUMN].diffs or ()

    return assignments(stored, column=_COLUMN, partial_only=True).map(logged).filter(bool)


def tables() -> SearchStrategy[Table]:
    """Tables with one or more JSON columns."""
    return drawn(make_tables.table)


def advance(table: Table, session: Session, rows: Sequence[Row], step: Step) -> Sequence[Row]:
    """The rows behind a step, as the reference predicts them; a refused step changes none."""
    model = Model(table, make_tables.SELECTOR, session, list(rows))
    model.advance(model.predict(step))
    return model.rows


def sequences(advance: Advance = advance, *, steps: int = 5, rows: int = 2) -> SearchStrategy[UpdateCase]:
    """Whole update Cases of up to ``steps`` steps, each made for the rows that ``advance`` gives for those before.

    Raises ValueError for less than one step or row, and TypeError for an ``advance`` that cannot be called.
    """
    if not callable(advance):
        raise TypeError(f"advance is a function of table, session, rows and step, not {advance!r}")
    if steps < 1 or rows < 1:
        raise ValueError("steps and rows are at least 1")
    return drawn(
        lambda draw: cases.update_case(
            draw, case_id="hypothesis", steps=draw.integer(1, steps), rows=draw.integer(1, rows), advance=advance
        )
    )
