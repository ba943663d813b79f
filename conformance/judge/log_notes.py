"""What a script says of its transactions for the rules of the log: the rows of each, and its statements' numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.script import Control, ReadBack, Script, Statement
from conformance.judge.log_rules import GroupNote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_REMEMBERED: Final = 5_000  # rows: far less than what a server remembers the writers of (25,000, observed on 9.7.4)


def group_notes(script: Script) -> list[GroupNote]:
    """A note for the INSERT and for each transaction that logs something, as in ``expected_groups``."""
    names = _key_columns(script)
    first = _first_statements(script)
    rows = [
        dict(zip((column.name for column in script.case.table.columns), row, strict=True)) for row in script.case.rows
    ]
    notes = [GroupNote(None if names is None else frozenset(_key(row, names) for row in rows), 0, 0)]
    for steps in script.transactions:
        logged = [number for number in steps if script.predictions[number].events]
        if logged:
            keys = None if names is None else frozenset(_written(script, steps, names))
            notes.append(GroupNote(keys, first[steps[0]][0], first[logged[0]][1]))
    return notes


def _key_columns(script: Script) -> tuple[str, ...] | None:
    """The columns that tell rows apart for the server: the primary key, or a unique one without NULL in its place.
    ``None`` also where two texts may be the same key, and where there are more rows than a server remembers."""
    table = script.case.table
    for key in (table.primary_key, *table.unique_keys):
        columns = [table.columns[index] for index, _ in key]
        if not columns or (key is not table.primary_key and any(column.nullable for column in columns)):
            continue
        names = tuple(column.name for column in columns)
        changed = any(item.column in names for prediction in script.predictions for item in prediction.step.assignments)
        texts = any(column.length is not None for column in columns)
        if (changed and texts) or script.updates + len(script.case.rows) > _REMEMBERED:
            return None
        return names
    return None


def _written(script: Script, steps: list[int], names: tuple[str, ...]) -> Iterator[object]:
    for number in steps:
        for row in script.predictions[number].rows:
            if row.change.logged:
                yield _key(row.change.before, names)
                yield _key(row.change.after, names)


def _key(row: Mapping[str, object], names: tuple[str, ...]) -> object:
    return tuple(row[name] for name in names)


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
