"""Why an UPDATE of a JSON column is logged whole: a reason for each rule of the server (partial-update 1, 2 and 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.dialect import MYSQL, Dialect
from conformance.reference.partial.expression import Call, Column, Computed, Expression, Function, Wrapped

if TYPE_CHECKING:
    from conformance.reference.partial.decision import Decision
    from conformance.reference.partial.update import ColumnChange

_PARTIAL: Final = "JSON_SET, JSON_REPLACE and JSON_REMOVE"
_ROOT_RULES: Final = frozenset(("tree/replace-root", "tree/auto-wrap-root"))


class Reason(NamedTuple):
    """``code`` is for programs. ``eligible``: the statement could have been logged as diffs, the row made it whole."""

    code: str
    text: str
    eligible: bool = False


def why_whole(
    expression: Expression, column: str, change: ColumnChange, decision: Decision, dialect: Dialect = MYSQL
) -> Reason | None:
    """The reason, or ``None`` where the column is logged as diffs or as SQL NULL."""
    if decision.partial or decision.data is None:
        return None
    if not dialect.log.has_event39:
        return Reason("version", "this version of the server has no partial JSON events")
    if decision.reason == "option-off":
        return Reason("option-off", "binlog_row_value_options of the session does not contain PARTIAL_JSON", True)
    reason = form_reason(expression, column, dialect)
    if reason is not None:
        return reason
    if _ROOT_RULES.intersection(change.rules):
        return Reason("root-replaced", "a path leads to the root: the whole document was replaced", True)
    if change.diffs is None:
        return Reason("no-document", "the document or a path was NULL on the way", True)
    size, diffs = len(decision.data), len(change.encoded)
    return Reason("not-smaller", f"the diffs have {diffs} bytes and a length of 4, the whole document has {size}", True)


def form_reason(expression: Expression, column: str, dialect: Dialect = MYSQL) -> Reason | None:
    """Why an assignment of this form never makes diffs, from the outer call to the innermost first argument."""
    inside = ""
    while isinstance(expression, Call):
        function = expression.function
        if not function.partial:
            return _function(function.value, inside)
        if function is Function.JSON_REMOVE and not dialect.behaviour.partial_remove:
            return Reason("version", "this version of the server logs no JSON_REMOVE as a diff")
        inside = function.value
        expression = expression.document
    if isinstance(expression, Column):
        if expression.name != column:
            what = f"the first argument of {inside} is" if inside else "the new value is"
            return Reason("other-column", f"{what} the column {expression.name}, not {column} itself")
        return None if inside else Reason("plain-value", f"{column} itself is no call of {_PARTIAL}")
    if isinstance(expression, Wrapped):
        return _function(expression.wrapper.value, inside)
    if isinstance(expression, Computed) and expression.name:
        return _function(expression.name, inside)
    if inside:
        return Reason("other-document", f"the first argument of {inside} is another document, not {column} itself")
    return Reason("plain-value", f"the new document is a value; only calls of {_PARTIAL} make diffs")


def _function(name: str, inside: str) -> Reason:
    where = f" as the first argument of {inside}" if inside else ""
    return Reason("not-a-partial-function", f"{name}{where} makes no diffs; only {_PARTIAL} do")
