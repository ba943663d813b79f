"""Expressions and JSON values to SQL that makes exactly them (jsonb 4.2).

For the default sql_mode and a utf8mb4 connection. :mod:`.expressions` reads the SQL back to an equal expression, as far
as its grammar goes.
"""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Final

from conformance.reference.errors import CodecError, EncodeError, MysqlError, too_deep
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.text import format_double, quote
from conformance.reference.jsonb.values import (
    DATE,
    DATETIME,
    DECIMAL,
    MAX_DEPTH,
    TIME,
    VARCHAR,
    JsonValue,
    Opaque,
    UInt,
)
from conformance.reference.partial.expression import (
    Call,
    Column,
    Computed,
    Constant,
    Expression,
    Increment,
    Literal,
    Old,
    SqlNull,
    Wrapped,
    Wrapper,
)
from conformance.reference.sql import values as sql_values
from conformance.reference.sql.quoting import quote_identifier, quote_string
from conformance.reference.sql.values import SqlType, SqlValue

_TEMPORALS: Final = {
    DATE: ("DATE", sql_values.date_literal),
    TIME: ("TIME", sql_values.time_literal),
    DATETIME: ("TIMESTAMP", sql_values.timestamp_literal),
}


# Deeper than MySQL accepts, so that this module can also write the statement that MySQL refuses with 3157.
_RENDER_DEPTH: Final = 2 * MAX_DEPTH


def format_sql(value: JsonValue) -> str:
    """A value argument that makes exactly this JSON value.

    Raises :class:`EncodeError` for values that no literal makes: BIT and BLOB values, TIMESTAMPs and zero dates (they
    come from columns), NaN and infinity, strings of invalid UTF-8. Not for a whole document: see
    :func:`format_document`.
    """
    plain, text = _render(value, _RENDER_DEPTH)
    return f"CAST({quote_string(text)} AS JSON)" if plain and isinstance(value, (list, dict)) else _scalar(value, text)


def format_document(value: JsonValue) -> str:
    """A JSON-typed expression, for a JSON column or a first argument; there MySQL would parse a plain string."""
    plain, text = _render(value, _RENDER_DEPTH)
    if plain:
        return f"CAST({quote_string(text)} AS JSON)"
    return text if isinstance(value, (list, dict)) else f"CAST({text} AS JSON)"


def is_plain(scalar: JsonValue) -> bool:
    """Whether JSON text can say this scalar value, so that containers of such values are written as text."""
    return not isinstance(scalar, Opaque) and _render(scalar, 0)[0]


def _scalar(value: JsonValue, text: str) -> str:
    """A value argument from what :func:`_render` made; containers are SQL already."""
    if isinstance(value, str):
        return quote_string(value)
    if isinstance(value, float):
        return text if "e" in text else f"{text}e0"
    if isinstance(value, UInt):
        return f"CAST({int(value)} AS UNSIGNED)"
    if value is None or isinstance(value, bool):
        return text.upper()
    return text


def _render(value: JsonValue, room: int) -> tuple[bool, str]:
    """(True, JSON text) if the text parses back to the value, else (False, SQL)."""
    kind = type(value)
    if kind is str:
        return True, quote(value)  # type: ignore[arg-type]
    if kind is int:
        return _integer(value)  # type: ignore[arg-type]
    if value is None or kind is bool:
        return True, "null" if value is None else "true" if value else "false"
    if kind is float:
        if not isfinite(value):  # type: ignore[arg-type]
            raise EncodeError("not-finite", "no SQL literal makes NaN or an infinity", got=value)
        return True, format_double(value)  # type: ignore[arg-type]
    if kind is UInt:
        if not 0 <= value < 1 << 64:  # type: ignore[operator]
            raise EncodeError("integer-range", "a JSON UNSIGNED INTEGER has 64 bits", got=value)
        plain = value >= 1 << 32  # type: ignore[operator]
        return plain, str(int(value)) if plain else f"CAST({int(value)} AS UNSIGNED)"  # type: ignore[arg-type]
    if kind is Opaque:
        return False, _opaque(value)  # type: ignore[arg-type]
    if not isinstance(value, (list, dict)):
        raise EncodeError("not-a-json-value", f"{kind.__name__} is not a JSON value", got=kind.__name__)
    if not room:
        raise too_deep()
    if isinstance(value, list):
        items = [(item, *_render(item, room - 1)) for item in value]
        if all(plain for _, plain, _ in items):
            return True, "[" + ", ".join([text for _, _, text in items]) + "]"
        return False, f"JSON_ARRAY({', '.join(_argument(*item) for item in items)})"
    members = [(key, item, *_render(item, room - 1)) for key, item in value.items()]
    if all(plain for _, _, plain, _ in members):
        return True, "{" + ", ".join([f"{quote(key)}: {text}" for key, _, _, text in members]) + "}"
    arguments = ", ".join(f"{quote_string(key)}, {_argument(item, plain, text)}" for key, item, plain, text in members)
    return False, f"JSON_OBJECT({arguments})"


def _argument(value: JsonValue, plain: bool, text: str) -> str:
    """A rendered value, as an argument of JSON_ARRAY or JSON_OBJECT."""
    if plain and isinstance(value, (list, dict)):
        return f"CAST({quote_string(text)} AS JSON)"
    return _scalar(value, text)


def _integer(value: int) -> tuple[bool, str]:
    if not -(1 << 63) <= value < 1 << 63:
        raise EncodeError("integer-range", "a JSON INTEGER has 64 bits", got=value)
    return value < 1 << 32, str(value)  # a larger one in JSON text would be an UNSIGNED INTEGER


def _opaque(value: Opaque) -> str:
    field_type, payload = value
    if field_type == VARCHAR:
        return f"x'{payload.hex()}'"
    if field_type == DECIMAL:
        return _decimal(value)
    if field_type in _TEMPORALS:
        text = opaque.opaque_text(value)
        name, make = _TEMPORALS[field_type]
        try:
            same = make(text).json == value
        except CodecError:
            same = False
        if same:
            return f"{name}'{text}'"
    raise EncodeError("no-literal", "no SQL literal makes this value: it comes from a column", got=value)


def _decimal(value: Opaque) -> str:
    """The literal whose written digits give the precision; else a CAST that does."""
    try:
        negative, whole, fraction = opaque.decimal_parts(value.payload)
    except MysqlError as error:
        raise EncodeError("no-literal", f"no SQL literal makes a damaged value ({error.message})", got=value) from None
    literal = f"{'-' * negative}{whole}.{fraction}"
    if sql_values.decimal_literal(literal).json == value:
        return literal
    text = opaque.decimal_to_text(value.payload)
    scale = len(fraction)
    precision = max(1, len(whole.lstrip("0")) + scale)
    try:
        if sql_values.cast_decimal(SqlValue(SqlType.STRING, text), precision, scale).json == value:
            return f"CAST('{text}' AS DECIMAL({precision},{scale}))"
    except MysqlError:
        pass
    raise EncodeError("no-literal", "no SQL literal makes a DECIMAL of this precision", got=value)


def format_expression(expression: Expression, *, new: str = "") -> str:
    """The SQL of a whole right-hand side. ``new``: the prefix of columns (``NEW.`` in a trigger)."""
    if isinstance(expression, Literal):
        return format_document(expression.value)
    if isinstance(expression, Column):
        return new + quote_identifier(expression.name)
    if isinstance(expression, Old):
        return f"OLD.{quote_identifier(expression.name)}"
    if isinstance(expression, SqlNull):
        return "NULL"
    if isinstance(expression, Call):
        parts = [format_expression(expression.document, new=new)]
        for path, value in expression.arguments:
            parts.append("NULL" if path is None else quote_string(path))
            if value is not None:
                parts.append(
                    format_sql(value.value) if isinstance(value, Literal) else format_expression(value, new=new)
                )
        return f"{expression.function.value}({', '.join(parts)})"
    if isinstance(expression, Wrapped):
        inner = format_expression(expression.inner, new=new)
        if expression.wrapper is Wrapper.CAST:
            return f"CAST({inner} AS JSON)"
        if expression.wrapper is Wrapper.IFNULL:
            return f"IFNULL({inner}, NULL)"
        return f"COALESCE({inner})" if expression.wrapper is Wrapper.COALESCE else f"IF(TRUE, {inner}, NULL)"
    if isinstance(expression, Computed):
        return expression.sql
    if isinstance(expression, Increment):
        sign = "-" if expression.by < 0 else "+"
        return f"{new}{quote_identifier(expression.column)} {sign} {abs(expression.by)}"
    return _constant(expression)


def _constant(expression: Constant) -> str:
    value = expression.value
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, Decimal)):
        return format(value, "f") if isinstance(value, Decimal) else str(int(value))
    if isinstance(value, float) and isfinite(value):
        text = repr(value)
        return text if "e" in text else f"{text}e0"
    if isinstance(value, str):
        return quote_string(value)
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    if isinstance(value, (date, time, datetime)):
        return f"'{value}'"
    raise EncodeError("no-literal", "this constant needs its column's type to be written", got=type(value).__name__)
