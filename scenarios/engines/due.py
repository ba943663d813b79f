"""The numbers that a scenario must give, by :mod:`scenarios.expected`: its statement and documents as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.partial.expression import Call, Function, Literal, SqlNull
from scenarios.engines.documents import SMALL
from scenarios.expected import columns as expected
from scenarios.expected.events import Due, due
from scenarios.expected.layout import value_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.reference.jsonb.values import JsonValue
    from conformance.reference.partial.expression import Assignment, Expression
    from conformance.reference.tables.definitions import Table

_SMALL_SIZE: Final = value_size(SMALL)


def due_of(
    table: Table, image: str, values: Sequence[JsonValue], hole: str | None, assignments: Iterable[Assignment]
) -> Due:
    """The numbers that a statement must give. ``values``: the JSON columns, before the first of them got its hole."""
    documents = {
        place: expected.before(value, None if place else hole)
        for place, value in enumerate(values)
        if value is not SMALL
    }
    sizes = [documents[place].size if place in documents else _SMALL_SIZE for place in range(len(values))]
    names = [column.name for column in table.columns if column.is_json]
    outcomes = {}
    counted = False
    for item in assignments:
        if item.column == "n":
            counted = True
        else:
            place = names.index(item.column)
            outcomes[place] = outcome_of(documents[place], item.expression)
    keyed = bool(table.primary_key or table.unique_keys)
    return due(image, keyed=keyed, sizes=sizes, outcomes=outcomes, counted=counted)


def outcome_of(document: expected.Document, expression: Expression) -> expected.ColumnOutcome:
    """The outcome of a statement for one JSON column, by :mod:`scenarios.expected`."""
    if isinstance(expression, SqlNull):
        return expected.ColumnOutcome(0)
    if isinstance(expression, Literal):
        return expected.ColumnOutcome(value_size(expression.value))
    assert isinstance(expression, Call)
    if expression.function is Function.JSON_REMOVE:
        return expected.removed(document, [str(path) for path, _ in expression.arguments])
    pairs = tuple([
        (str(path), value.value) for path, value in expression.arguments if isinstance(value, Literal)
    ])  # fmt: skip
    if expression.function is Function.JSON_INSERT:
        return expected.inserted(document, pairs)
    return expected.replaced_or_set(document, pairs)
