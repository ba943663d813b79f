"""Spark's filters as conditions of the source.

Spark applies each filter again to what the source gives, so a filter that is not known here costs time and no row.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from conformance.logs.rows.conditions import COLUMNS, Condition

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def conditions_of(filters: Iterable[Any]) -> tuple[Condition, ...]:
    """The conditions that the source can use."""
    return tuple(_conditions(filters))


def _conditions(filters: Iterable[Any]) -> Iterator[Condition]:
    from pyspark.sql import datasource

    tests: dict[type, str] = {
        datasource.EqualTo: "equal",
        datasource.EqualNullSafe: "equal",
        datasource.In: "in",
        datasource.GreaterThan: "greater",
        datasource.GreaterThanOrEqual: "greater-or-equal",
        datasource.LessThan: "less",
        datasource.LessThanOrEqual: "less-or-equal",
        datasource.StringStartsWith: "starts-with",
        datasource.StringEndsWith: "ends-with",
        datasource.StringContains: "contains",
    }
    for given in filters:
        negated = isinstance(given, datasource.Not)
        inside = given.child if negated else given
        test = tests.get(type(inside))
        if test is None or len(inside.attribute) != 1 or inside.attribute[0] not in COLUMNS:
            continue
        # NULL <=> NULL holds for rows without a value, which no condition lets through.
        if isinstance(inside, datasource.EqualNullSafe) and (negated or inside.value is None):
            continue
        if inside.value is not None:
            yield Condition(inside.attribute[0], test, _seconds(inside.value), negated)


def _seconds(value: Any) -> Any:
    """A time as seconds since 1970, which conditions compare; anything else as it is."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_seconds, value))
    return value.timestamp() if isinstance(value, datetime) else value
