"""What one JSON column of one updated row takes in the log, with and without partial JSON (partial-update 5).

From the documents alone the cost is known exactly where only one outcome is possible (a document whose bytes are the
same, a root of another kind, diffs that could never be smaller than the document); elsewhere it has bounds.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from conformance.reference.partial.decision import diffs_pay
from scenarios.estimate.difference import difference

LENGTH: Final = 4  # bytes of a JSON value's length in a row


class FieldCost(NamedTuple):
    """Bytes of a column's after-image field, its length included; 0 for SQL NULL.

    ``whole``: with the option off. With the option on: ``least`` and ``most`` are bounds for any statement, ``leaves``
    and ``members`` are the costs if every statement sets single values, or whole elements of the root.
    """

    whole: int
    least: int
    leaves: int
    members: int
    most: int


def field_cost(before: bytes | None, after: bytes | None) -> FieldCost:
    """From the stored documents; ``None`` is SQL NULL."""
    if after is None:
        return FieldCost(0, 0, 0, 0, 0)
    whole = LENGTH + len(after)
    if before is None:  # a function of NULL is NULL: a document comes by an assignment of the whole
        return FieldCost(whole, whole, whole, whole, whole)
    if before == after:
        return FieldCost(whole, LENGTH, LENGTH, LENGTH, LENGTH)
    found = difference(before, after)
    if found is None:
        return FieldCost(whole, whole, whole, whole, whole)
    least, leaves, members = (
        LENGTH + diffs if diffs_pay(diffs, len(after)) else whole
        for diffs in (found.least, found.leaves, found.members)
    )
    return FieldCost(whole, least, leaves, members, whole)


def logged_cost(after: bytes | None, diffs: bytes) -> FieldCost:
    """Of a column that was logged as diffs, which led to ``after``: what it cost is what it costs."""
    whole = 0 if after is None else LENGTH + len(after)
    cost = LENGTH + len(diffs)
    return FieldCost(whole, cost, cost, cost, cost)
