"""The right-hand sides of ``SET column = ...`` that the model evaluates, as plain values.

An :class:`Assignment` of a JSON column may hold a chain of JSON functions over the column itself: such a column is
eligible for partial update. Every other form makes the column ineligible for the whole statement (partial-update 1).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from conformance.reference.jsonb.encode import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.errors import MysqlError
    from conformance.reference.jsonb.values import JsonValue


class Function(StrEnum):
    """JSON functions that change a document. Only the first three can update it partially."""

    JSON_SET = "JSON_SET"
    JSON_REPLACE = "JSON_REPLACE"
    JSON_REMOVE = "JSON_REMOVE"
    JSON_INSERT = "JSON_INSERT"
    JSON_ARRAY_APPEND = "JSON_ARRAY_APPEND"
    JSON_ARRAY_INSERT = "JSON_ARRAY_INSERT"

    @property
    def partial(self) -> bool:
        """Whether the server may log the function as a diff (observed on 9.7.4; the worklog omits JSON_REMOVE)."""
        return self in _PARTIAL


_PARTIAL: Final = frozenset((Function.JSON_SET, Function.JSON_REPLACE, Function.JSON_REMOVE))


class Wrapper(StrEnum):
    """Forms around a call that keep its value but make the column ineligible."""

    COALESCE = "COALESCE"  # COALESCE(x)
    IF = "IF"  # IF(TRUE, x, NULL)
    CAST = "CAST"  # CAST(x AS JSON)
    IFNULL = "IFNULL"  # IFNULL(x, NULL)


@dataclass(frozen=True, slots=True)
class Column:
    """The value of a column of the same row, as the previous assignments left it."""

    name: str


@dataclass(frozen=True, slots=True)
class Old:
    """In a trigger: the value of a column before the statement; there ``Column`` is the new value."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A SQL value, as the JSON value that it becomes as a function argument (jsonb 4.2).

    SQL NULL as a value argument is JSON null: ``Literal(None)``. As a *document* or a whole assignment it is
    :class:`SqlNull`.
    """

    value: JsonValue


@dataclass(frozen=True, slots=True)
class SqlNull:
    """SQL NULL as a document or as the assigned value."""


@dataclass(frozen=True, slots=True)
class Call:
    """One JSON function: ``function(document, path, value, path, value, ...)``.

    ``arguments`` are (path text, value) pairs; the value is ``None`` for JSON_REMOVE. A path of ``None`` is SQL NULL.
    """

    function: Function
    document: Expression
    arguments: tuple[tuple[str | None, Expression | None], ...]


@dataclass(frozen=True, slots=True)
class Wrapped:
    """``wrapper(inner)``."""

    wrapper: Wrapper
    inner: Expression


class Known(NamedTuple):
    """A JSON value, where ``None`` would be SQL NULL."""

    value: JsonValue


@dataclass(frozen=True, slots=True)
class Computed:
    """A JSON value that was evaluated for one row beforehand: what another function made, or a part of a document.

    ``data``: the part's JSONB as the server holds it, with the holes of its document; what a function made is a value,
    which may be deeper than a document. ``None`` is SQL NULL.
    ``name``: the function, for words about it; ``sql``: the text it comes from. ``error``: what the server answers when
    it comes to this value.
    """

    name: str
    data: bytes | Known | None
    sql: str = field(default="", compare=False)
    error: MysqlError | None = None

    def value(self) -> bytes | Known | None:
        """The data; raises the error."""
        if self.error is not None:
            raise self.error
        return self.data

    def stored(self) -> bytes | None:
        """The bytes as a document; raises 3157 for a value too deep."""
        data = self.value()
        return encode(data.value) if isinstance(data, Known) else data


@dataclass(frozen=True, slots=True)
class Increment:
    """``column + by`` for an integer column that is not JSON."""

    column: str
    by: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A value for a column that is not JSON, in the Python form of ``reference.binlog.columns``; ``None`` is NULL."""

    value: object


Expression: TypeAlias = "Column | Old | Literal | SqlNull | Call | Wrapped | Computed | Increment | Constant"


@dataclass(frozen=True, slots=True)
class Assignment:
    """``column = expression``."""

    column: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Columns:
    """The facts that the model needs: the table's JSON columns, and how other columns' values become JSON values.

    ``argument`` and ``document``: what the server makes of a literal, as an argument of a function and as a document.
    """

    json: tuple[str, ...]
    as_json: Callable[[str, object], JsonValue] = lambda _name, value: value  # type: ignore[assignment,return-value]
    argument: Callable[[JsonValue], JsonValue] = lambda value: value
    document: Callable[[JsonValue], JsonValue] = lambda value: value


def referenced_columns(expression: Expression, *, old: bool = True) -> set[str]:
    """Names of the columns whose values an expression reads; with ``old``, those of OLD too."""
    match expression:
        case Column(name):
            return {name}
        case Old(name):
            return {name} if old else set()
        case Increment(column, _):
            return {column}
        case Wrapped(_, inner):
            return referenced_columns(inner, old=old)
        case Call(_, document, arguments):
            names = referenced_columns(document, old=old)
            for _, value in arguments:
                if value is not None:
                    names |= referenced_columns(value, old=old)
            return names
    return set()
