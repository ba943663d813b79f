"""Conditions on the columns of a row that are known before its images are read: what a query pushes down.

A condition only leaves out rows that the query would leave out too. A column without a value satisfies none, as in SQL.
"""

from __future__ import annotations

from operator import contains, eq, ge, gt, le, lt
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

COLUMNS: Final = ("schema", "table", "operation", "event", "timestamp")
TESTS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "equal": eq,
    "in": lambda value, given: value in given,
    "greater": gt,
    "greater-or-equal": ge,
    "less": lt,
    "less-or-equal": le,
    "starts-with": str.startswith,
    "ends-with": str.endswith,
    "contains": contains,
}


class Condition(NamedTuple):
    """``column test value``, or its opposite; ``test`` is a name of :data:`TESTS`."""

    column: str
    test: str
    value: Any
    negated: bool = False

    def holds(self, value: Any) -> bool:
        """Whether a value satisfies the condition."""
        return value is not None and TESTS[self.test](value, self.value) is not self.negated


class Conditions:
    """Conditions that must all hold."""

    def __init__(self, conditions: Iterable[Condition] = ()) -> None:
        found = tuple(conditions)
        self._event = [item for item in found if item.column in ("event", "timestamp", "operation")]
        self._table = [item for item in found if item.column in ("schema", "table")]

    def wants_event(self, event: str, timestamp: int, operation: str | None) -> bool:
        """Whether rows of an event may be wanted, as far as its header tells."""
        if not self._event:
            return True
        values = {"event": event, "timestamp": timestamp, "operation": operation}
        return all(item.holds(values[item.column]) for item in self._event)

    def wants_table(self, schema: str | None, table: str | None) -> bool:
        """Whether rows of this table may be wanted."""
        if not self._table:
            return True
        values = {"schema": _shown(schema), "table": _shown(table)}
        return all(item.holds(values[item.column]) for item in self._table)


def _shown(name: str | None) -> str | None:
    """A name as the column has it: bytes that are not valid UTF-8 are escapes."""
    return None if name is None else name.encode("utf-8", "backslashreplace").decode()
