"""SQL values as MySQL types them, and what CAST, REPEAT and CONCAT make of them (jsonb 4.2, jsonb 5.1).

The rules for precision and errors were observed on 9.7.4 inside INSERT and UPDATE under the default sql_mode. There, a
warning of SELECT is an error. Combinations outside predict's grammar raise :class:`Unsupported`.
"""

from __future__ import annotations

import re
import sys
from calendar import monthrange
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from enum import Enum
from typing import TYPE_CHECKING, Final

from conformance.reference.errors import MysqlError
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_double
from conformance.reference.jsonb.values import DATE, DATETIME, VARCHAR, JsonValue, Opaque, UInt
from conformance.reference.sql.tokens import outside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.dialect import JsonForms

MAX_PACKET: Final = 64 << 20  # max_allowed_packet by default; strings beyond it cannot be made
_LONG_MIN: Final = -(1 << 63)
_LONG_MAX: Final = (1 << 63) - 1
_ULONG_MAX: Final = (1 << 64) - 1
_LARGEST: Final = sys.float_info.max

_INTEGER_TEXT: Final = re.compile(r"\s*([+-]?)([0-9]+)\s*", re.ASCII)
NUMBER: Final = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
"""A number in a string, as a pattern."""
_NUMBER_START: Final = re.compile(rf"\s*({NUMBER})", re.ASCII)
_DATE_TEXT: Final = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})", re.ASCII)
_CLOCK: Final = r"([0-9]{1,3}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]{1,6}))?)?"
_TIME_TEXT: Final = re.compile(f"(-?){_CLOCK}", re.ASCII)
_DATETIME_TEXT: Final = re.compile(rf"{_DATE_TEXT.pattern}(?:[ T]{_CLOCK})?", re.ASCII)


class SqlType(Enum):
    """The SQL type of a value, as far as the rules differ."""

    NULL = "NULL"
    STRING = "a character string"
    BINARY = "a binary string"
    BOOLEAN = "a boolean"
    INTEGER = "an integer"
    DECIMAL = "a DECIMAL"
    DOUBLE = "a DOUBLE"
    TEMPORAL = "a date or time"
    JSON = "a JSON value"


class Origin(Enum):
    """The origin of a string.

    It decides which number a string stands for that only begins with one (observed on 9.7.4).
    """

    LITERAL = "the statement itself: none"
    COLUMN = "a column: none"
    FUNCTION = "a function: the one at its start as a DECIMAL, else none"
    CHOICE = "IFNULL or COALESCE: the one at its start as a DECIMAL or a DOUBLE, and 0 as a DOUBLE without any"


@dataclass(frozen=True, slots=True)
class SqlValue:
    """A value and its SQL type; ``json`` is what it becomes as a JSON value.

    ``null_of``: for NULL, the type that the expression has otherwise, if known. ``origin``: the origin of a string.
    """

    type: SqlType
    json: JsonValue = None
    null_of: SqlType | None = field(default=None, compare=False)
    origin: Origin = field(default=Origin.FUNCTION, compare=False)


NULL: Final = SqlValue(SqlType.NULL)


def _truncated(kind: str, text: object) -> MysqlError:
    return MysqlError(1292, "ER_TRUNCATED_WRONG_VALUE", f"truncated incorrect {kind} value", got=text)


def decimal_text(value: SqlValue) -> str:
    """The number that a string is as a DECIMAL. A string that is none is one of two errors."""
    text = str(value.json)
    match = _NUMBER_START.match(text)
    if match is not None and (value.origin in (Origin.FUNCTION, Origin.CHOICE) or not text[match.end() :].strip()):
        return match[1]
    if value.origin is Origin.LITERAL or (value.origin is Origin.COLUMN and match is not None):
        raise _truncated("DECIMAL", value.json)
    raise MysqlError(1366, "ER_TRUNCATED_WRONG_VALUE_FOR_FIELD", "incorrect DECIMAL value", got=value.json)


def double_prefix(text: str) -> float:
    """The number at the start of a text as a DOUBLE, 0 without one; the largest DOUBLE for what is larger."""
    match = _NUMBER_START.match(text)
    return max(-_LARGEST, min(float(match[1]) if match else 0.0, _LARGEST))


def _wrong_value(kind: str, text: str) -> MysqlError:
    return MysqlError(1525, "ER_WRONG_VALUE", f"incorrect {kind} value", got=text)


# --- numbers ---------------------------------------------------------------------------------------------------------


def integer_literal(digits: str, *, negative: bool) -> SqlValue:
    """A literal without point and exponent: 64 bits signed, then unsigned, then DECIMAL."""
    number = _bounded("", digits)
    if negative:
        if number <= -_LONG_MIN:
            return SqlValue(SqlType.INTEGER, -number)
        if number <= _ULONG_MAX:
            # An unsigned literal under a minus sign is arithmetic: digits before the point form whole groups of nine.
            return SqlValue(SqlType.DECIMAL, opaque.decimal_value(negative, digits, 27, 0))
        return SqlValue(SqlType.DECIMAL, opaque.decimal_from_text("-" + digits))
    if number <= _LONG_MAX:
        return SqlValue(SqlType.INTEGER, number)
    if number <= _ULONG_MAX:
        return SqlValue(SqlType.INTEGER, UInt(number))
    return SqlValue(SqlType.DECIMAL, opaque.decimal_from_text(digits))


def decimal_literal(text: str) -> SqlValue:
    """A literal with a point."""
    return SqlValue(SqlType.DECIMAL, opaque.decimal_from_text(text))


def double_literal(text: str) -> SqlValue:
    """A literal with an exponent. MySQL refuses one beyond the largest double."""
    number = float(text)
    if number - number != 0.0:
        raise MysqlError(1367, "ER_ILLEGAL_VALUE_FOR_TYPE", "illegal double value", got=text)
    return SqlValue(SqlType.DOUBLE, number)


def binary_literal(data: bytes) -> SqlValue:
    """``x''`` and ``b''``: a VARBINARY."""
    return SqlValue(SqlType.BINARY, Opaque(VARCHAR, data))


def cast_integer(value: SqlValue, *, unsigned: bool) -> SqlValue:
    """CAST(value AS SIGNED) or UNSIGNED."""
    raw = value.json
    if value.type is SqlType.NULL:
        return NULL
    if value.type is SqlType.STRING:
        match = _INTEGER_TEXT.fullmatch(str(raw))
        if match is None or not _LONG_MIN <= (number := _bounded(*match.groups())) <= _ULONG_MAX:
            raise _truncated("INTEGER", raw)
    elif value.type in (SqlType.INTEGER, SqlType.BOOLEAN):
        assert isinstance(raw, int)
        number = int(raw)
    elif value.type is SqlType.DECIMAL:
        assert isinstance(raw, Opaque)
        exact = opaque.decimal_number(raw.payload)
        number = int(exact.to_integral_value(ROUND_HALF_UP))
        if not _LONG_MIN <= number <= (_ULONG_MAX if unsigned else _LONG_MAX):
            raise _truncated("DECIMAL", opaque.decimal_to_text(raw.payload))
    elif value.type is SqlType.DOUBLE:
        assert isinstance(raw, float)
        if raw < _LONG_MIN:
            raise outside("a CAST of a double below -2^63 to an integer", got=raw)
        # The double goes through a signed integer, for UNSIGNED too.
        number = _LONG_MAX if raw >= -float(_LONG_MIN) else int(Decimal(raw).to_integral_value(ROUND_HALF_EVEN))
    else:
        raise outside(f"CAST of {value.type.value} to an integer", expected="a string or a number")
    number &= _ULONG_MAX
    if unsigned:
        return SqlValue(SqlType.INTEGER, UInt(number))
    return SqlValue(SqlType.INTEGER, number - (1 << 64) if number > _LONG_MAX else number)


def _bounded(sign: str, digits: str) -> int:
    """The integer; a number out of range becomes one that is out of range too, and not too long for Python."""
    return int(sign + (digits.lstrip("0")[:25] or "0"))


def cast_decimal(value: SqlValue, precision: int, scale: int) -> SqlValue:
    """CAST(value AS DECIMAL(precision, scale)).

    The result of the server's rounding has whole groups of nine digits before the point, so its precision is not the
    one of the type: ``CAST('1.5' AS DECIMAL(10,2))`` has precision 11. There are three exceptions. A number without
    digits before the point (``.5``) gets none. A number that rounds to zero has one digit there. A carry out of the
    first group adds one digit.
    """
    if scale > precision:
        raise MysqlError(1427, "ER_M_BIGGER_THAN_D", "the scale is larger than the precision", got=scale)
    if precision > opaque.MAX_PRECISION:
        raise MysqlError(1426, "ER_TOO_BIG_PRECISION", "the largest precision is 65", got=precision)
    if scale > 30:
        raise MysqlError(1425, "ER_TOO_BIG_SCALE", "the largest scale is 30", got=scale)
    precision = precision or 10
    raw = value.json
    if value.type is SqlType.NULL:
        return NULL
    if value.type is SqlType.STRING:
        text = decimal_text(value)
        if "e" in text.lower():
            raise outside("a string with an exponent in a CAST to DECIMAL", got=raw)
    elif value.type in (SqlType.INTEGER, SqlType.BOOLEAN):
        assert isinstance(raw, int)
        text = str(int(raw))
    elif value.type is SqlType.DECIMAL:
        assert isinstance(raw, Opaque)
        return _round_decimal(*opaque.decimal_parts(raw.payload), precision, scale)
    elif value.type is SqlType.DOUBLE:
        assert isinstance(raw, float)
        text = format_double(raw).removesuffix(".0")
        if "e-" in text:
            raise outside("a double that is written with a negative exponent in a CAST to DECIMAL", got=text)
        if "e" in text:
            text = format(Decimal(text), "f")
            if len(text.lstrip("-")) > 81:
                raise _truncated("DECIMAL", raw)
    else:
        raise outside(f"CAST of {value.type.value} to DECIMAL", expected="a string or a number")
    return _round_decimal(*opaque.literal_digits(text), precision, scale)


def _round_decimal(negative: bool, whole: str, fraction: str, precision: int, scale: int) -> SqlValue:
    kept = -(-len(whole) // 9) * 9
    digits = whole.zfill(kept) + fraction.ljust(scale, "0")[:scale]
    if scale < len(fraction):
        if fraction[scale] >= "5":
            digits = str(int("1" + digits) + 1)
            carried = digits[0] == "2"
            digits = "1" + digits[1:] if carried else digits[1:]
            kept += carried
        if not digits.strip("0"):
            kept, digits = 1, "0"
    if len(digits[:kept].lstrip("0")) > precision - scale:
        raise MysqlError(
            1264, "ER_WARN_DATA_OUT_OF_RANGE", "out of range for the DECIMAL", got=digits[:kept].lstrip("0")
        )
    return SqlValue(SqlType.DECIMAL, opaque.decimal_value(negative, digits, kept + scale, scale))


# --- dates and times -------------------------------------------------------------------------------------------------


def _valid_day(year: int, month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= monthrange(year or 1, month)[1]  # year 0 has no leap day


def _micro(fraction: str | None) -> int:
    return int(fraction.ljust(6, "0")) if fraction else 0


def date_literal(text: str) -> SqlValue:
    """DATE'YYYY-MM-DD'. Zero dates and days that do not exist are errors."""
    match = _DATE_TEXT.fullmatch(text)
    if match is None:
        raise outside("a DATE literal in another form", expected="YYYY-MM-DD", got=text)
    year, month, day = map(int, match.groups())
    if not _valid_day(year, month, day):
        raise _wrong_value("DATE", text)
    return SqlValue(SqlType.TEMPORAL, opaque.date(year, month, day))


def time_literal(text: str) -> SqlValue:
    """TIME'[-]HH:MM[:SS[.ffffff]]'."""
    match = _TIME_TEXT.fullmatch(text)
    if match is None:
        raise outside("a TIME literal in another form", expected="[-]HH:MM[:SS[.ffffff]]", got=text)
    hour, minute, second = int(match[2]), int(match[3]), int(match[4] or 0)
    micro = _micro(match[5])
    if minute > 59 or second > 59 or (hour, minute, second, micro) > (838, 59, 59, 0):
        raise _wrong_value("TIME", text)
    return SqlValue(SqlType.TEMPORAL, opaque.time(hour, minute, second, micro, negative=match[1] == "-"))


def _datetime_parts(text: str, *, what: str) -> tuple[int, ...] | None:
    """The seven numbers of a date and time, or ``None`` if they are no valid moment."""
    match = _DATETIME_TEXT.fullmatch(text)
    if match is None:
        raise outside(f"a {what} in another form", expected="YYYY-MM-DD[ HH:MM[:SS[.ffffff]]]", got=text)
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    if not _valid_day(year, month, day) or hour > 23 or minute > 59 or second > 59:
        return None
    return year, month, day, hour, minute, second, _micro(match[7])


def timestamp_literal(text: str) -> SqlValue:
    """TIMESTAMP'YYYY-MM-DD HH:MM[:SS[.ffffff]]': a DATETIME."""
    parts = _datetime_parts(text, what="TIMESTAMP literal")
    if parts is None or ":" not in text:
        raise _wrong_value("DATETIME", text)
    return SqlValue(SqlType.TEMPORAL, opaque.datetime(*parts))


def cast_datetime(value: SqlValue, digits: int) -> SqlValue:
    """CAST(value AS DATETIME(digits)): rounds the fraction."""
    if digits > 6:
        raise MysqlError(1426, "ER_TOO_BIG_PRECISION", "the largest precision is 6", got=digits)
    raw = value.json
    if value.type is SqlType.NULL:
        return NULL
    if value.type is SqlType.STRING:
        parts = _datetime_parts(str(raw), what="string in a CAST to DATETIME")
        if parts is None:
            raise MysqlError(1292, "ER_TRUNCATED_WRONG_VALUE", "incorrect datetime value", got=raw)
    elif isinstance(raw, Opaque) and raw.field_type in (DATE, DATETIME):
        parts = opaque.unpack_datetime(opaque.temporal_number(raw))
    else:
        raise outside(f"CAST of {value.type.value} to DATETIME", expected="a string, DATE or TIMESTAMP literal")
    *clock, micro = parts
    year, month, day, hour, minute, second = clock
    unit = 10 ** (6 - digits)
    micro = (micro + unit // 2) // unit * unit
    if micro >= 1_000_000:
        micro = 0
        year, month, day, hour, minute, second = _next_second(clock)
    return SqlValue(SqlType.TEMPORAL, opaque.datetime(year, month, day, hour, minute, second, micro))


def _next_second(clock: Sequence[int]) -> tuple[int, ...]:
    year, month, day, hour, minute, second = clock
    second += 1
    if second > 59:
        minute, second = minute + 1, 0
    if minute > 59:
        hour, minute = hour + 1, 0
    if hour > 23:
        day, hour = day + 1, 0
        if not _valid_day(year, month, day):
            month, day = month + 1, 1
        if month > 12:
            year, month = year + 1, 1
        if year > 9999:
            raise MysqlError(1441, "ER_DATETIME_FUNCTION_OVERFLOW", "datetime field overflow")
    return year, month, day, hour, minute, second


# --- strings and documents -------------------------------------------------------------------------------------------


def cast_json(value: SqlValue, forms: JsonForms | None = None) -> SqlValue:
    """CAST(value AS JSON): a character string is parsed, with numbers as ``forms`` reads them; every other value
    becomes its JSON value.
    """
    if value.type is SqlType.NULL:
        return NULL
    if value.type is not SqlType.STRING:
        return SqlValue(SqlType.JSON, value.json)
    try:
        return SqlValue(SqlType.JSON, parse_text(str(value.json), forms))
    except MysqlError as error:
        if error.number != 3140:
            raise
        raise MysqlError(
            3141, "ER_INVALID_JSON_TEXT_IN_PARAM", error.message, offset=error.offset, got=error.got
        ) from None


def _piece(value: SqlValue, function: str) -> str | bytes:
    """An argument of a string function."""
    raw = value.json
    if value.type is SqlType.STRING:
        return str(raw)
    if value.type in (SqlType.BINARY, SqlType.DECIMAL):
        assert isinstance(raw, Opaque)
        return raw.payload if value.type is SqlType.BINARY else opaque.decimal_to_text(raw.payload)
    if value.type in (SqlType.INTEGER, SqlType.BOOLEAN):
        assert isinstance(raw, int)
        return str(int(raw))
    raise outside(f"{value.type.value} in {function}", expected="strings, integers and DECIMALs")


def _encoded(piece: str | bytes) -> bytes:
    return piece if isinstance(piece, bytes) else piece.encode()


def _check_size(size: int, function: str) -> None:
    if size > MAX_PACKET:
        raise MysqlError(
            1301,
            "ER_WARN_ALLOWED_PACKET_OVERFLOWED",
            f"the result of {function} is larger than max_allowed_packet",
            expected=MAX_PACKET,
            got=size,
        )


def _string(pieces: Sequence[str | bytes]) -> SqlValue:
    if any(isinstance(piece, bytes) for piece in pieces):
        return binary_literal(b"".join(map(_encoded, pieces)))
    return SqlValue(SqlType.STRING, "".join(map(str, pieces)))


def concat(values: Sequence[SqlValue]) -> SqlValue:
    """CONCAT: binary if one argument is binary, NULL if one is NULL."""
    if any(value.type is SqlType.NULL for value in values):
        kinds = {value.type for value in values} | {value.null_of for value in values}
        return SqlValue(SqlType.NULL, null_of=SqlType.BINARY if SqlType.BINARY in kinds else SqlType.STRING)
    pieces = [_piece(value, "CONCAT") for value in values]
    _check_size(sum(len(_encoded(piece)) for piece in pieces), "CONCAT")
    return _string(pieces)


def repeat(value: SqlValue, count: SqlValue) -> SqlValue:
    """REPEAT."""
    if SqlType.NULL in (value.type, count.type):
        return SqlValue(SqlType.NULL, null_of=SqlType.BINARY if value.type is SqlType.BINARY else SqlType.STRING)
    if count.type is not SqlType.INTEGER:
        raise outside(f"{count.type.value} as the count of REPEAT", expected="an integer")
    piece = _piece(value, "REPEAT")
    assert isinstance(count.json, int)
    times = max(0, int(count.json))
    _check_size(len(_encoded(piece)) * times, "REPEAT")
    return _string([piece * times if piece else piece])  # Python's longest count is shorter than the server's


def member_name(value: SqlValue) -> str:
    """A key of JSON_OBJECT."""
    if value.type is SqlType.NULL:
        raise MysqlError(3158, "ER_JSON_DOCUMENT_NULL_KEY", "a JSON document cannot have a NULL member name")
    if value.type is SqlType.BINARY:
        raise MysqlError(3144, "ER_INVALID_JSON_CHARSET", "a member name cannot be a binary string")
    return str(_piece(value, "a member name"))
