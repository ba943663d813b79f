"""Values that JSON has no type for: DECIMAL, dates and times, and the bytes of other column types.

jsonb 5. The packed decimal is the one of DECIMAL columns in row events as well
(binlog-events 10.2): :func:`pack_decimal` and :func:`unpack_decimal` know nothing of JSON.
"""

from __future__ import annotations

import re
from binascii import b2a_base64
from decimal import Decimal
from struct import Struct
from typing import Final, NamedTuple

from conformance.reference.errors import DecodeError, EncodeError, MysqlError
from conformance.reference.jsonb.values import DATE, DATETIME, DECIMAL, TIME, TIMESTAMP, VAR_STRING, Opaque

_GROUP: Final = 9  # decimal digits in four bytes
_GROUPS: Final = 9  # groups in a number, before and behind the point together
MAX_PRECISION: Final = 65  # of a column; a literal inside JSON may have more, up to 9 groups (observed on 9.7.4)
_SHORT: Final = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)  # bytes for 0..9 digits
_LIMIT: Final = tuple(10**digits for digits in range(_GROUP + 1))
_PACKED = Struct("<q")
_DATE_BITS: Final = (1 << 63) - 1
_LITERAL: Final = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?", re.ASCII)


# --- packed decimals -------------------------------------------------------------------------------------------------


def decimal_size(precision: int, scale: int) -> int:
    """The size in bytes of a packed DECIMAL(precision, scale) (jsonb 5.1)."""
    whole, fraction = precision - scale, scale
    return whole // _GROUP * 4 + _SHORT[whole % _GROUP] + fraction // _GROUP * 4 + _SHORT[fraction % _GROUP]


def _groups(digits: int) -> int:
    return -(-digits // _GROUP)


def _exists(precision: int, scale: int) -> bool:
    return precision >= 1 and 0 <= scale <= precision and _groups(precision - scale) + _groups(scale) <= _GROUPS


def pack_decimal(negative: bool, digits: str, precision: int, scale: int) -> bytes:
    """The packed DECIMAL(precision, scale) of ``digits``, whose last ``scale`` digits stand behind the point. Never a
    minus zero.
    """
    if not _exists(precision, scale):
        raise EncodeError("decimal-type", f"DECIMAL({precision},{scale}) does not exist", got=(precision, scale))
    digits = digits.lstrip("0").zfill(precision)
    if len(digits) > precision:
        raise EncodeError("decimal-overflow", "the number has too many digits", expected=precision, got=len(digits))
    whole = precision - scale
    out = bytearray()
    end = whole % _GROUP
    if end:
        out += int(digits[:end]).to_bytes(_SHORT[end], "big")
    for start in range(end, whole + scale - scale % _GROUP, _GROUP):
        out += int(digits[start : start + _GROUP]).to_bytes(4, "big")
    if scale % _GROUP:
        out += int(digits[precision - scale % _GROUP :]).to_bytes(_SHORT[scale % _GROUP], "big")
    if negative and int(digits):
        out = bytearray(byte ^ 0xFF for byte in out)
    out[0] ^= 0x80
    return bytes(out)


def _unpack(data: bytes, precision: int, scale: int, *, lenient: bool = False) -> tuple[bool, str, str]:
    """(negative, digits before the point, digits behind it), as stored; a zero may be negative.

    ``lenient``: a short first group may have one digit more than its count. A short last group may hold any number that
    the server's shift leaves in range.
    """
    size = decimal_size(precision, scale)
    if len(data) != size:
        raise DecodeError(
            "decimal-length", f"DECIMAL({precision},{scale}) has another length", expected=size, got=len(data)
        )
    negative = not data[0] & 0x80
    raw = bytearray(data)
    raw[0] ^= 0x80
    if negative:
        raw = bytearray(byte ^ 0xFF for byte in raw)
    whole = precision - scale
    counts = [whole % _GROUP] if whole % _GROUP else []
    counts += [_GROUP] * (whole // _GROUP + scale // _GROUP)
    if scale % _GROUP:
        counts.append(scale % _GROUP)
    parts = []
    pos = 0
    for index, count in enumerate(counts):
        width = _SHORT[count]
        number = int.from_bytes(raw[pos : pos + width], "big")
        limit = _LIMIT[count]
        if lenient and scale and index == len(counts) - 1:
            number = _shifted(number, count)
        elif lenient and whole % _GROUP and not index:
            limit *= 10
        if number >= limit:
            raise DecodeError(
                "decimal-digits", f"a group of {count} decimal digits is too large", offset=pos, got=number
            )
        parts.append(f"{number:0{count}d}")
        pos += width
    digits = "".join(parts)
    end = len(digits) - scale
    return negative, digits[:end], digits[end:]


def _shifted(number: int, count: int) -> int:
    """A short group of ``count`` digits behind the point, as the server moves it to the front of nine digits: from a
    number with a sign, in 32 bits. What is out of range before may be in range after (observed on 9.7.4)."""
    bits = 8 * _SHORT[count]
    signed = number - (1 << bits) if number >> (bits - 1) else number
    shift: int = _LIMIT[_GROUP - count]
    return (signed * shift & 0xFFFFFFFF) // shift


def unpack_decimal(data: bytes, precision: int, scale: int) -> Decimal:
    """The number with its full scale; never a negative zero."""
    if not _exists(precision, scale):
        raise DecodeError("decimal-type", f"DECIMAL({precision},{scale}) does not exist", got=(precision, scale))
    return _number(*_unpack(data, precision, scale))


def _number(negative: bool, whole: str, fraction: str) -> Decimal:
    digits = whole + fraction
    return Decimal((int(negative and int(digits) != 0), tuple(map(int, digits)), -len(fraction)))


# --- DECIMAL inside JSON ---------------------------------------------------------------------------------------------


def literal_digits(text: str) -> tuple[bool, str, str]:
    """(negative, digits before the point, digits behind it) of a number in SQL, as the server keeps them.

    The server keeps one leading zero, in ``01.5`` too. It has room for nine groups of nine digits, and cuts digits
    behind the point that do not fit. A number with more than 81 digits before the point becomes the largest of 65
    digits (all observed on 9.7.4).
    """
    match = _LITERAL.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        raise EncodeError("decimal-text", "not a DECIMAL literal", expected="digits with an optional point", got=text)
    whole = match[2]
    if whole.startswith("0"):
        whole = "0" + whole.lstrip("0")
    room = _GROUPS - _groups(len(whole))
    if room < 0:
        return match[1] == "-", "9" * MAX_PRECISION, ""
    return match[1] == "-", whole, (match[3] or "")[: room * _GROUP]


def decimal_from_text(text: str) -> Opaque:
    """The DECIMAL that a SQL literal makes: its precision counts the digits written (jsonb 5.1)."""
    negative, whole, fraction = literal_digits(text)
    return decimal_value(negative, whole + fraction, len(whole) + len(fraction), len(fraction))


def decimal_value(negative: bool, digits: str, precision: int, scale: int) -> Opaque:
    """The DECIMAL of a number with the least precision for it, as columns and arithmetic make it."""
    return Opaque(DECIMAL, bytes((precision, scale)) + pack_decimal(negative, digits, precision, scale))


def _invalid(message: str) -> MysqlError:
    return MysqlError(3142, "ER_INVALID_JSON_BINARY_DATA", message)


def decimal_parts(payload: bytes, *, lenient: bool = False) -> tuple[bool, str, str]:
    """(negative, digits before the point, digits behind it), with the leading zeros of the precision.

    ``lenient`` reads as the server does (observed on 9.7.4). A short first group may have one digit more than its
    count. A short last group may hold a number that is in range after a shift in 32 bits. A zero may be negative, and
    precision 0 without any bytes is 0. Raises 3142 for all other bytes.
    """
    if len(payload) < 2:
        raise _invalid(f"a DECIMAL of {len(payload)} bytes has no precision and scale")
    precision, scale = payload[0], payload[1]
    if lenient and payload == b"\0\0":
        return False, "0", ""
    if not _exists(precision, scale):
        raise _invalid(f"DECIMAL({precision},{scale}) does not exist")
    try:
        negative, whole, fraction = _unpack(payload[2:], precision, scale, lenient=lenient)
    except DecodeError as error:
        raise _invalid(f"DECIMAL: {error.message}") from None
    if not lenient and negative and not int(whole + fraction):
        raise _invalid("a DECIMAL of minus zero")
    return negative, whole, fraction


def decimal_is_wide(payload: bytes) -> bool:
    """Whether a DECIMAL has a digit too many before the point, which only the lenient reading accepts. Raises 3142 as
    :func:`decimal_parts`.
    """
    whole = decimal_parts(payload, lenient=True)[1]
    return len(whole) > max(1, payload[0] - payload[1])


def decimal_as_written(payload: bytes) -> bytes:
    """The payload that the server writes for the number it reads from a payload.

    The server writes no negative zero, each group in its range, and a byte for an empty payload. Not for a wide DECIMAL
    (:func:`decimal_is_wide`). Raises 3142 as :func:`decimal_parts`.
    """
    negative, whole, fraction = decimal_parts(payload, lenient=True)
    precision, scale = payload[0] or 1, payload[1]
    return bytes((precision, scale)) + pack_decimal(negative, whole + fraction, precision, scale)


def decimal_to_text(payload: bytes, *, lenient: bool = False) -> str:
    """The text of a DECIMAL payload, with its full scale. Raises 3142 if the payload is no DECIMAL."""
    negative, whole, fraction = decimal_parts(payload, lenient=lenient)
    whole = whole.lstrip("0") or "0"
    text = f"{whole}.{fraction}" if fraction else whole
    return f"-{text}" if negative else text


def decimal_number(payload: bytes) -> Decimal:
    """The number of a DECIMAL payload, read leniently; never a negative zero."""
    return _number(*decimal_parts(payload, lenient=True))


# --- dates and times -------------------------------------------------------------------------------------------------

# Payloads are arbitrary 64-bit numbers: a year may have five digits and a fraction eight. Of those the server prints
# the last four and six (observed on 9.7.4).


class Date(NamedTuple):
    """A DATE as stored; zero parts are possible."""

    year: int
    month: int
    day: int

    def __str__(self) -> str:
        return f"{self.year % 10000:04}-{self.month:02}-{self.day:02}"


class Time(NamedTuple):
    """A TIME as stored."""

    negative: bool
    hour: int
    minute: int
    second: int
    microsecond: int

    def __str__(self) -> str:
        sign = "-" if self.negative else ""
        return f"{sign}{self.hour:02}:{self.minute:02}:{self.second:02}.{self.microsecond % 1_000_000:06}"


class DateTime(NamedTuple):
    """A DATETIME or TIMESTAMP as stored; zero parts are possible."""

    year: int
    month: int
    day: int
    hour: int = 0
    minute: int = 0
    second: int = 0
    microsecond: int = 0

    def __str__(self) -> str:
        return (
            f"{self.year % 10000:04}-{self.month:02}-{self.day:02} "
            f"{self.hour:02}:{self.minute:02}:{self.second:02}.{self.microsecond % 1_000_000:06}"
        )


def _require(condition: bool, what: tuple[int, ...]) -> None:
    if not condition:
        raise EncodeError("temporal-range", f"{type(what).__name__} has a part that cannot be stored", got=tuple(what))


def pack_datetime(value: DateTime) -> int:
    """The 64-bit number of a DATETIME (jsonb 5.2)."""
    year, month, day, hour, minute, second, micro = value
    _require(
        0 <= year <= 9999
        and 0 <= month <= 12
        and 0 <= day <= 31
        and 0 <= hour <= 23
        and 0 <= minute <= 59
        and 0 <= second <= 59
        and 0 <= micro <= 999_999,
        value,
    )
    return ((((year * 13 + month) << 5 | day) << 17) | (hour << 12 | minute << 6 | second)) << 24 | micro


def unpack_datetime(number: int) -> DateTime:
    """The parts of a DATETIME's number, unchecked, as in the server."""
    number = abs(number)
    clock = number >> 24
    day = clock >> 17
    month = day >> 5
    return DateTime(month // 13, month % 13, day & 31, clock >> 12 & 31, clock >> 6 & 63, clock & 63, number & 0xFFFFFF)


def pack_date(value: Date) -> int:
    """The 64-bit number of a DATE: that of midnight (jsonb 5.2)."""
    return pack_datetime(DateTime(*value))


def unpack_date(number: int) -> Date:
    """The parts of a DATE's number. The server ignores its sign bit (observed on 9.7.4)."""
    return Date(*unpack_datetime(number & _DATE_BITS)[:3])


def pack_time(value: Time) -> int:
    """The 64-bit number of a TIME; a negative time is the negated number (jsonb 5.2)."""
    negative, hour, minute, second, micro = value
    _require(0 <= hour <= 838 and 0 <= minute <= 59 and 0 <= second <= 59 and 0 <= micro <= 999_999, value)
    number = (hour << 12 | minute << 6 | second) << 24 | micro
    return -number if negative else number


def unpack_time(number: int) -> Time:
    """The parts of a TIME's number."""
    magnitude = abs(number)
    clock = magnitude >> 24
    return Time(number < 0, clock >> 12 & 1023, clock >> 6 & 63, clock & 63, magnitude & 0xFFFFFF)


def date(year: int, month: int, day: int) -> Opaque:
    """A JSON DATE."""
    return Opaque(DATE, _PACKED.pack(pack_date(Date(year, month, day))))


def time(hour: int, minute: int = 0, second: int = 0, microsecond: int = 0, *, negative: bool = False) -> Opaque:
    """A JSON TIME."""
    return Opaque(TIME, _PACKED.pack(pack_time(Time(negative, hour, minute, second, microsecond))))


def datetime(
    year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0, microsecond: int = 0
) -> Opaque:
    """A JSON DATETIME."""
    parts = DateTime(year, month, day, hour, minute, second, microsecond)
    return Opaque(DATETIME, _PACKED.pack(pack_datetime(parts)))


def timestamp(
    year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0, microsecond: int = 0
) -> Opaque:
    """A JSON DATETIME from a TIMESTAMP column: another field type, the same bytes."""
    return Opaque(TIMESTAMP, datetime(year, month, day, hour, minute, second, microsecond).payload)


def temporal_number(value: Opaque) -> int:
    """The 64-bit number of a temporal value. The payload must have 8 bytes: the server reads 8 whatever the length
    says.
    """
    if len(value.payload) != 8:
        raise DecodeError(
            "temporal-length",
            f"a temporal value (field type {value.field_type}) has another length",
            expected=8,
            got=len(value.payload),
        )
    number: int = _PACKED.unpack(value.payload)[0]
    return number


# --- text ------------------------------------------------------------------------------------------------------------

_TEMPORAL: Final = {
    DATE: unpack_date,
    TIME: unpack_time,
    DATETIME: unpack_datetime,
    TIMESTAMP: unpack_datetime,
}
_BASE64_LINE: Final = 76


def opaque_text(value: Opaque) -> str:
    """The text without quotes (jsonb 6.3). MySQL prints opaque values as JSON strings, except a DECIMAL, which is a
    number.
    """
    field_type, payload = value
    if field_type == DECIMAL:
        return decimal_to_text(payload, lenient=True)
    unpack = _TEMPORAL.get(field_type)
    if unpack is not None:
        return str(unpack(temporal_number(value)))
    if field_type == VAR_STRING:
        return payload.decode("utf-8", "surrogateescape")
    encoded = b2a_base64(payload, newline=False).decode("ascii")
    lines = [encoded[start : start + _BASE64_LINE] for start in range(0, len(encoded), _BASE64_LINE)]
    return f"base64:type{field_type}:" + "\n".join(lines)
