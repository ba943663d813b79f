"""Notes of a script on its transactions, for the rules of the log: the rows of each, and its statements' numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.script import Control, ReadBack, Script, Statement
from conformance.judge.updates.log_rules import GroupNote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.tables.definitions import Column

_REMEMBERED: Final = 5_000  # rows: far less than what a server remembers the writers of (25,000, observed on 9.7.4)


def group_notes(script: Script) -> list[GroupNote]:
    """A note for the INSERT and for each transaction that logs something, as in ``expected_groups``."""
    key = _key_columns(script)
    # Two texts may be one key, and a server forgets old writers: rows then give the earliest parent only.
    exact = not _may_meet(script, key) and script.updates + len(script.case.rows) <= _REMEMBERED
    first = _first_statements(script)
    rows = range(len(script.case.rows))
    names = tuple(column.name for column in key)
    places = {column.name: place for place, column in enumerate(script.case.table.columns)}
    start = [tuple(script.case.rows[row][places[name]] for name in names) if exact else row for row in rows]
    notes = [GroupNote(frozenset(start) if key else None, 0, 0, exact)]
    for steps in script.transactions:
        logged = [number for number in steps if script.predictions[number].events]
        if logged:
            keys = frozenset(_written(script, steps, names, exact=exact)) if key else None
            notes.append(GroupNote(keys, first[steps[0]][0], first[logged[0]][1], exact))
    return notes


def _key_columns(script: Script) -> tuple[Column, ...]:
    """The columns that tell rows apart for the server: the primary key, or a unique one without NULL in its place."""
    table = script.case.table
    for key in (table.primary_key, *table.unique_keys):
        columns = tuple(table.columns[index] for index, _ in key)
        if columns and (key is table.primary_key or not any(column.nullable for column in columns)):
            return columns
    return ()


def _may_meet(script: Script, key: tuple[Column, ...]) -> bool:
    """Whether a row may get a text as its key that equals an earlier row's key under a collation."""
    names = {column.name for column in key if column.length is not None}
    return any(item.column in names for prediction in script.predictions for item in prediction.step.assignments)


def _written(script: Script, steps: list[int], names: tuple[str, ...], *, exact: bool) -> Iterator[object]:
    """The keys of the rows before and after, or the rows' numbers.

    The rows that a refused statement changed first count too: the server takes the changes back and keeps their keys
    (observed on 9.7.4).
    """
    for number in steps:
        prediction = script.predictions[number]
        for row in (*prediction.rows, *prediction.undone):
            if row.change.logged and exact:
                yield tuple(row.change.before[name] for name in names)
                yield tuple(row.change.after[name] for name in names)
            elif row.change.logged:
                yield row.index


def _first_statements(script: Script) -> dict[int, tuple[int, int]]:
    """For each step the number of the statement that may begin its transaction, and its own. The INSERT is 0."""
    out: dict[int, tuple[int, int]] = {}
    first: int | None = None
    inside = False
    for number, item in enumerate(script.items, start=1):
        if isinstance(item, Control):
            inside, first = item.sql == "BEGIN", None
        elif isinstance(item, Statement | ReadBack):
            first = number if first is None or not inside else first
            if isinstance(item, Statement):
                out[item.step] = first, number
    return out
