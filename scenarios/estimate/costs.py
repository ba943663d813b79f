"""Bytes of one JSON column of one updated row in the log, with and without partial JSON (partial-update 5).

The documents alone give the exact cost only if one outcome is possible. That holds for a document whose bytes stay the
same, a root of another kind, and diffs that could never be smaller than the document. Elsewhere the cost has bounds.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from conformance.reference.partial.decision import diffs_pay
from scenarios.estimate.difference import difference

LENGTH: Final = 4  # bytes of a JSON value's length in a row


class FieldCost(NamedTuple):
    """Bytes of a column's after-image field, its length included; 0 for SQL NULL.

    ``whole``: with the option off. The others are with the option on. ``least`` and ``most`` are bounds for any
    statement. ``leaves`` and ``members`` are the costs if every statement sets single values, or whole elements of the
    root.
    """

    whole: int
    least: int
    leaves: int
    members: int
    most: int


def field_cost(before: bytes | None, after: bytes | None) -> FieldCost:
    """The cost from the stored documents; ``None`` is SQL NULL."""
    if after is None:
        return FieldCost(0, 0, 0, 0, 0)
    whole = LENGTH + len(after)
    if before is None:  # a function of NULL is NULL: only assigning a whole document replaces NULL
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
    """The known cost of a column that was logged as diffs, which led to ``after``."""
    whole = 0 if after is None else LENGTH + len(after)
    cost = LENGTH + len(diffs)
    return FieldCost(whole, cost, cost, cost, cost)
