"""``+ - * / % DIV`` and the minus sign on SQL values, as MySQL types and bounds them.

Operands that are strings, doubles or JSON values make a DOUBLE, also where the JSON value is an integer. Two integers
stay integers, and a DECIMAL makes a DECIMAL. Under the default sql_mode what cannot be converted, a division by zero
and a result out of range are errors of an UPDATE (partial-update 2.4).
"""

from __future__ import annotations

import math
import operator
import re
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, Final

from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.values import DECIMAL, JsonValue, Opaque, UInt
from conformance.reference.sql import decimals
from conformance.reference.sql.tokens import outside
from conformance.reference.sql.values import NUMBER, Origin, SqlType, SqlValue, decimal_text, double_prefix

if TYPE_CHECKING:
    from collections.abc import Callable

_DOUBLE_TEXT: Final = re.compile(rf"\s*({NUMBER})?\s*", re.ASCII)
_NUMBER_IN_JSON: Final = re.compile(NUMBER, re.ASCII)
_INTEGER_IN_JSON: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_LONG_MIN: Final = -(1 << 63)
_LONG_MAX: Final = (1 << 63) - 1
_ULONG_MAX: Final = (1 << 64) - 1
_TOO_LARGE: Final = 10**81  # a DECIMAL of the server's calculations has 81 digits at most
_FLOATING: Final = frozenset((SqlType.STRING, SqlType.DOUBLE, SqlType.JSON))
_EXACT: Final = frozenset((SqlType.INTEGER, SqlType.BOOLEAN, SqlType.DECIMAL))
_ON_NUMBERS: Final[dict[str, Callable[[int, int], int]]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_ON_DOUBLES: Final[dict[str, Callable[[float, float], float]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "%": math.fmod,
}  # fmt: skip
_ON_DECIMALS: Final[dict[str, Callable[[decimals.Exact, decimals.Exact], decimals.Exact]]] = {
    "+": decimals.add, "-": decimals.subtract, "*": decimals.multiply, "/": decimals.divide, "%": decimals.modulo,
}  # fmt: skip


def combine(sign: str, one: SqlValue, other: SqlValue) -> SqlValue:
    """``one sign other``; ``sign`` is one of ``+ - * / % DIV``."""
    for value in (one, other):
        kind = value.type if value.type is not SqlType.NULL else value.null_of
        if kind not in _FLOATING | _EXACT | {None}:
            raise outside(f"{(kind or value.type).value} in arithmetic", expected="numbers, strings and JSON values")
    if sign == "DIV":
        return _whole_quotient(one, other)
    null = null_of(sign, one, other)
    if null.null_of is SqlType.DOUBLE:
        # The server converts both operands, also where one is NULL.
        a, b = (None if value.type is SqlType.NULL else number(value) for value in (one, other))
        return null if a is None or b is None else SqlValue(SqlType.DOUBLE, _double(sign, a, b))
    if SqlType.NULL in (one.type, other.type):
        return null
    if null.null_of is SqlType.DECIMAL:
        return SqlValue(SqlType.DECIMAL, decimals.as_opaque(_ON_DECIMALS[sign](_exact(one), _exact(other))))
    return _integer(sign, one, other)


def null_of(sign: str, *operands: SqlValue) -> SqlValue:
    """NULL of the type that an operation has whatever its operands hold."""
    types = {value.type if value.type is not SqlType.NULL else value.null_of for value in operands}
    if sign == "DIV":
        kind = SqlType.INTEGER
    elif types & _FLOATING or None in types:  # NULL itself makes a DOUBLE
        kind = SqlType.DOUBLE
    else:
        kind = SqlType.DECIMAL if SqlType.DECIMAL in types or sign == "/" else SqlType.INTEGER
    return SqlValue(SqlType.NULL, null_of=kind)


def converted(sign: str, value: SqlValue) -> SqlValue:
    """The first operand as the server converts it before it evaluates the second."""
    if sign == "DIV" and value.type in _FLOATING | _EXACT:
        _number_of(value)
        return value
    return SqlValue(SqlType.DOUBLE, number(value)) if value.type in _FLOATING else value


def negate(value: SqlValue, *, constant: bool = False) -> SqlValue:
    """``-value``, of what is no literal. ``constant``: the value is the same for every row.

    The server calls a constant integer below 0 too large for an integer with another sign (observed on 9.7.4).
    """
    if value.type is SqlType.NULL:
        return null_of("-", value)
    if value.type in _FLOATING:
        return SqlValue(SqlType.DOUBLE, -number(value))
    if value.type in _EXACT:
        raw = value.json
        if isinstance(raw, int) and not (constant and (raw < 0 or raw > -_LONG_MIN)):
            return _bounded(-int(raw), unsigned=False)
        exact = _exact(value)
        return SqlValue(SqlType.DECIMAL, decimals.as_opaque(exact._replace(number=exact.number.copy_negate())))
    raise outside(f"a minus sign before {value.type.value}", expected="a number")


def number(value: SqlValue) -> float:
    """The DOUBLE that a value is converted to."""
    if value.type is SqlType.STRING:
        text = str(value.json)
        return double_prefix(text) if value.origin is Origin.CHOICE else _from_text(text)
    if value.type is SqlType.JSON:
        return _from_json(value.json)
    if value.type is SqlType.DECIMAL:
        return float(_exact(value).number)
    assert isinstance(value.json, int | float)
    return float(value.json)


def scalar(value: SqlValue, wanted: str) -> SqlValue:
    """The SQL value of a JSON value that a CAST or DIV converts. Raises 3156 for what is no number and no text."""
    if value.type is not SqlType.JSON:
        return value
    raw = value.json
    if isinstance(raw, bool):
        return SqlValue(SqlType.BOOLEAN, raw)
    if isinstance(raw, int):
        return SqlValue(SqlType.INTEGER, raw)
    if isinstance(raw, float):
        return SqlValue(SqlType.DOUBLE, raw)
    if isinstance(raw, str):
        if (_INTEGER_IN_JSON if wanted == "INTEGER" else _NUMBER_IN_JSON).fullmatch(raw) is None:
            raise _invalid(wanted)
        return SqlValue(SqlType.STRING, raw)
    if isinstance(raw, Opaque) and raw.field_type == DECIMAL:
        return SqlValue(SqlType.DECIMAL, raw)
    if isinstance(raw, Opaque):
        raise outside(f"a date, a time or bytes inside JSON as {wanted}")
    raise _invalid(wanted)


def _invalid(wanted: str) -> MysqlError:
    return MysqlError(3156, "ER_INVALID_JSON_VALUE_FOR_CAST", f"invalid JSON value for a cast to {wanted}")


def _from_text(text: str) -> float:
    match = _DOUBLE_TEXT.fullmatch(text)
    if match is None:
        raise MysqlError(1292, "ER_TRUNCATED_WRONG_VALUE", "truncated incorrect DOUBLE value", got=text)
    value = float(match[1] or "0")
    if math.isinf(value):
        raise outside("a string beyond the largest double in arithmetic", got=text)
    return value


def _from_json(value: JsonValue) -> float:
    if value == "":
        return 0.0
    return number(scalar(SqlValue(SqlType.JSON, value), "DOUBLE"))


def _double(sign: str, one: float, other: float) -> float:
    if sign in ("/", "%") and not other:
        raise MysqlError(1365, "ER_DIVISION_BY_ZERO", "division by 0")
    result = _ON_DOUBLES[sign](one, other)
    if math.isinf(result):
        raise MysqlError(1690, "ER_DATA_OUT_OF_RANGE", "DOUBLE value is out of range")
    return result


def _exact(value: SqlValue) -> decimals.Exact:
    if value.type is SqlType.DECIMAL:
        assert isinstance(value.json, Opaque)
        return decimals.of_opaque(value.json)
    assert isinstance(value.json, int)
    return decimals.of_integer(int(value.json))


def _integer(sign: str, one: SqlValue, other: SqlValue) -> SqlValue:
    a, b = one.json, other.json
    assert isinstance(a, int)
    assert isinstance(b, int)
    unsigned = isinstance(a, UInt) or isinstance(b, UInt)
    if sign == "%":
        if not b:
            raise MysqlError(1365, "ER_DIVISION_BY_ZERO", "division by 0")
        return _bounded(int(math.copysign(1, a)) * (abs(int(a)) % abs(int(b))), unsigned=isinstance(a, UInt))
    return _bounded(_ON_NUMBERS[sign](int(a), int(b)), unsigned=unsigned)


def _whole_quotient(one: SqlValue, other: SqlValue) -> SqlValue:
    """``one DIV other``: the quotient of exact numbers, without what is behind the point."""
    unsigned = any(value.type is SqlType.INTEGER and isinstance(value.json, UInt) for value in (one, other))
    null = null_of("DIV", one, other)
    a = _number_of(one)
    if a is None:
        return null  # here the server does not convert the other one
    b = _number_of(other)
    if b is None:
        return null
    if not b:
        raise MysqlError(1365, "ER_DIVISION_BY_ZERO", "division by 0")
    with localcontext() as context:
        context.prec = 100
        quotient = int(a / b)
    if {one.type, other.type} <= {SqlType.INTEGER, SqlType.BOOLEAN}:
        if quotient == _LONG_MIN:  # the server takes no sign into account
            raise _out_of_range(quotient, unsigned=unsigned)
    elif not _fits(quotient, unsigned=unsigned):
        raise MysqlError(1292, "ER_TRUNCATED_WRONG_VALUE", "truncated incorrect DECIMAL value", got=quotient)
    return _bounded(quotient, unsigned=unsigned)


def _number_of(value: SqlValue) -> Decimal | None:
    value = scalar(value, "DECIMAL")
    if value.type is SqlType.NULL:
        return None
    if value.type in _EXACT:
        return _exact(value).number
    made = Decimal(decimal_text(value) if value.type is SqlType.STRING else repr(number(value)))
    if abs(made) >= _TOO_LARGE:
        raise MysqlError(1292, "ER_TRUNCATED_WRONG_VALUE", "truncated incorrect DECIMAL value", got=made)
    return made


def _fits(value: int, *, unsigned: bool) -> bool:
    return (0 if unsigned else _LONG_MIN) <= value <= (_ULONG_MAX if unsigned else _LONG_MAX)


def _out_of_range(value: int, *, unsigned: bool) -> MysqlError:
    kind = "BIGINT UNSIGNED" if unsigned else "BIGINT"
    return MysqlError(1690, "ER_DATA_OUT_OF_RANGE", f"{kind} value is out of range", got=value)


def _bounded(value: int, *, unsigned: bool) -> SqlValue:
    if not _fits(value, unsigned=unsigned):
        raise _out_of_range(value, unsigned=unsigned)
    return SqlValue(SqlType.INTEGER, UInt(value) if unsigned else value)
