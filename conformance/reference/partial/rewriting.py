"""The same update in a form that MySQL logs as diffs: a chain of JSON_SET and JSON_REMOVE over the column itself.

A form is proposed first from the expression, so that it holds for other rows too: JSON_ARRAY_APPEND becomes a JSON_SET
far behind the end. Where there is none, the differences between both documents give one for this row alone. Every
proposal is evaluated by the model, and given only if it makes the same document and is logged as diffs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.dialect import MYSQL, Dialect
from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.values import same
from conformance.reference.partial.decision import decide
from conformance.reference.partial.expression import (
    Assignment,
    Call,
    Column,
    Columns,
    Expression,
    Function,
    Literal,
    Wrapped,
)
from conformance.reference.partial.paths import Cell, Leg, Member, Path, parse_path
from conformance.reference.partial.update import update_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.reference.jsonb.values import JsonValue

FAR: Final = 1_000_000  # an index behind the end of every array that an application appends to
_MOST: Final = 1000  # changes in a form for one row


class DiffForm(NamedTuple):
    """``general``: made from the expression, not from the two documents of one row."""

    expression: Expression
    general: bool


def diff_form(
    expression: Expression, column: str, row: Mapping[str, object], after: bytes, dialect: Dialect = MYSQL
) -> DiffForm | None:
    """A form that makes ``after`` of the row and is logged as diffs; ``None`` if there is none."""
    before = row[column]
    if not isinstance(before, bytes):
        return None
    general = _general(expression, column)
    if general is not None and _holds(general, column, row, after, dialect):
        return DiffForm(general, True)
    own = _of_documents(column, decode(before), decode(after))
    if own is not None and _holds(own, column, row, after, dialect):
        return DiffForm(own, False)
    return None


def _holds(form: Expression, column: str, row: Mapping[str, object], after: bytes, dialect: Dialect) -> bool:
    others = [name for name, value in row.items() if name != column and isinstance(value, bytes | None)]
    columns = Columns((column, *others))
    try:
        change = update_row(row, [Assignment(column, form)], columns, log_diffs=True, dialect=dialect)
    except CodecError:
        return False
    made = change.after[column]
    if not change.logged or not isinstance(made, bytes) or not same(decode(made), decode(after)):
        return False
    return decide(change.before[column], made, change.columns[column], partial_json=True).partial


# --- from the expression ---------------------------------------------------------------------------------------------


def _general(expression: Expression, column: str) -> Expression | None:
    """The chain with other functions in place of those that make no diffs; ``None`` if one has no counterpart."""
    if isinstance(expression, Wrapped):
        return _general(expression.inner, column)
    if isinstance(expression, Column):
        return expression if expression.name == column else None
    if not isinstance(expression, Call):
        return None
    document = _general(expression.document, column)
    if document is None:
        return None
    function, arguments = expression.function, expression.arguments
    if function.partial:
        return Call(function, document, arguments)
    if any(path is None for path, _ in arguments):
        return None
    if function is Function.JSON_INSERT:
        return Call(Function.JSON_SET, document, arguments)
    spelled = []
    for text, value in arguments:
        assert text is not None
        path = _behind(text) if function is Function.JSON_ARRAY_APPEND else _in_front(text)
        if path is None:
            return None
        spelled.append((path, value))
    return Call(Function.JSON_SET, document, tuple(spelled))


def _behind(text: str) -> str:
    return str(Path((*parse_path(text).legs, Cell(FAR))))


def _in_front(text: str) -> str | None:
    """The path that inserts at the front, for JSON_ARRAY_INSERT there; JSON_SET inserts nowhere else but at the end."""
    legs = parse_path(text).legs
    if not legs or legs[-1] != Cell(0):
        return None
    return str(Path((*legs[:-1], Cell(FAR, from_end=True))))


# --- from the documents ----------------------------------------------------------------------------------------------


def _of_documents(column: str, before: JsonValue, after: JsonValue) -> Expression | None:
    """JSON_SET and JSON_REMOVE that lead from one document to the other."""
    removed: list[tuple[str | None, Expression | None]] = []
    put: list[tuple[str | None, Expression | None]] = []
    for legs, value in _differences((), before, after):
        if not legs or len(removed) + len(put) >= _MOST:
            return None
        path = str(Path(legs))
        if value is None:
            removed.append((path, None))
        else:
            put.append((path, value))
    form: Expression = Column(column)
    if removed:
        form = Call(Function.JSON_REMOVE, form, tuple(removed))
    if put:
        form = Call(Function.JSON_SET, form, tuple(put))
    return form if isinstance(form, Call) else None


def _differences(
    legs: tuple[Leg, ...], before: JsonValue, after: JsonValue
) -> Iterator[tuple[tuple[Leg, ...], Literal | None]]:
    """Places that differ, with the new value, or ``None`` for what goes; of an array the last elements go first."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name, value in before.items():
            here = (*legs, Member(name))
            if name not in after:
                yield here, None
            else:
                yield from _differences(here, value, after[name])
        yield from (((*legs, Member(name)), Literal(value)) for name, value in after.items() if name not in before)
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(len(before) - 1, len(after) - 1, -1):
            yield (*legs, Cell(index)), None
        for index, value in enumerate(after):
            if index < len(before):
                yield from _differences((*legs, Cell(index)), before[index], value)
            else:
                yield (*legs, Cell(index)), Literal(value)
    elif not same(before, after):
        yield legs, Literal(after)
