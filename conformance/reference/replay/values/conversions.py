"""Values of one column type as those of another, as ALTER TABLE and the literals of SQL give them.

A conversion is followed where the result is exact, or rounded in a way that was observed on 9.7.4. Everything else
raises :class:`ReplayError`: what a server cuts, clips or guesses depends on more than the log has.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from struct import error as struct_error
from struct import pack, unpack
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.errors import CodecError, ReplayError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_double, format_text
from conformance.reference.portable import shown
from conformance.reference.replay.values.time_zones import local_time, seconds_of
from conformance.reference.tables import columns as types
from conformance.reference.tables.charsets import BINARY, COLLATIONS, bytes_of, text_of
from conformance.reference.tables.temporal import Date, Datetime, Time, Timestamp, text
from conformance.reference.text.columns import INTEGERS, double_text, member_text, stored_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.tables.metadata import ColumnInfo

_BYTES_OF: Final = {types.TINY: 1, types.SHORT: 2, types.INT24: 3, types.LONG: 4, types.LONGLONG: 8}
_NUMBER: Final = re.compile(
    r"\s*([+-]?(?:[0-9]{1,64}\.?[0-9]{0,64}|\.[0-9]{1,64})(?:[eE][+-]?[0-9]{1,3})?)\s*", re.ASCII
)
_CLOCK: Final = r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\.([0-9]{1,6}))?"
_DATE: Final = re.compile(rf"([0-9]{{4}})-([0-9]{{1,2}})-([0-9]{{1,2}})(?:[ T]{_CLOCK})?", re.ASCII)
_TIME: Final = re.compile(r"(-?)([0-9]{1,3}):([0-9]{1,2}):([0-9]{1,2})(?:\.([0-9]{1,6}))?", re.ASCII)
_DATES: Final = (types.DATE, types.NEWDATE)
_MOMENTS: Final = (types.DATETIME, types.DATETIME2)
_STAMPS: Final = (types.TIMESTAMP, types.TIMESTAMP2)
_TIMES: Final = (types.TIME, types.TIME2)


class Bit(int):
    """A value of a BIT column: a number to columns of numbers, bytes to all others."""


class Document(bytes):
    """A JSON document, as stored."""


def converter(old: ColumnInfo, new: ColumnInfo, time_zone: str | None) -> Callable[[Any], Any]:
    """The function that converts a column's values, NULL among them."""
    if old.type.is_character and new.type.is_character and types.VECTOR not in (old.type.type, new.type.type):
        return lambda value: _checked_null(value, new) if value is None else _string(old, new, value)

    def convert(value: Any) -> Any:
        return _checked_null(value, new) if value is None else stored(new, plain(old, value), time_zone)

    return convert


def _checked_null(value: None, new: ColumnInfo) -> None:
    if not new.nullable:
        raise _refused("NULL in a column that is NOT NULL now")
    return value


def _refused(why: str, got: object = None) -> ReplayError:
    return ReplayError("value", why, got=got)


# --- from a column ---------------------------------------------------------------------------------------------------


def plain(info: ColumnInfo, value: Any) -> Any:
    """A column's value without its column: a number, a date or time, text, bytes, a document."""
    kind = info.type.real_type
    if kind == types.BIT:
        return Bit(value)
    if kind == types.JSON:
        return Document(value)
    if kind in (types.ENUM, types.SET):
        name = member_text(info, value)
        if name is None or (kind == types.ENUM and not value):
            raise _refused("a member without a name", value)
        return name
    if not isinstance(value, bytes):
        return value
    if not info.type.is_character or info.type.type == types.VECTOR:
        raise _refused("a type that no other is made of")
    if info.collation == BINARY:
        return stored_bytes(info, value)
    found = text_of(value, info.collation)
    if found is None:
        raise _refused("text of an unknown character set, or bytes that are no characters", value.hex()[:40])
    return found


# --- into a column ---------------------------------------------------------------------------------------------------


def stored(info: ColumnInfo, value: Any, time_zone: str | None) -> Any:
    """The value as a column of this kind stores it. Raises :class:`ReplayError` where it is not certain."""
    kind = info.type.real_type
    if kind in INTEGERS:
        return _integer(info, value)
    if kind in (types.FLOAT, types.DOUBLE):
        return _float(info, value)
    if kind == types.NEWDECIMAL:
        return _decimal(info, value)
    if kind == types.BIT:
        return _bits(info, value)
    if kind == types.YEAR:
        return _year(value)
    if kind in (*_DATES, *_MOMENTS, *_STAMPS, *_TIMES):
        return _temporal(info, value, time_zone)
    if kind in (types.ENUM, types.SET):
        return _members(info, value)
    if kind == types.JSON:
        return _document(value)
    if info.type.is_character and info.type.type != types.VECTOR:
        return _characters(info, value)
    if kind in (types.GEOMETRY, types.VECTOR) and isinstance(value, bytes) and not isinstance(value, Document):
        return value
    raise _refused("no value of another type becomes one of this type", shown(value)[:40])


def _number(value: Any) -> int | float | Decimal:
    """The number that a value is, with all its digits."""
    if isinstance(value, Document):
        value = decode(value)
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value)
        if match is None:
            raise _refused("text that is no number", value[:40])
        return Decimal(match[1])
    if isinstance(value, int | float | Decimal):
        return value
    raise _refused("no number", shown(value)[:40])


def _integer(info: ColumnInfo, value: Any) -> int:
    number = _number(value)
    if not isinstance(number, int):
        exact = Decimal(number)
        if not exact.is_finite():
            raise _refused("no number", str(number))
        halves = ROUND_HALF_EVEN if isinstance(number, float) else ROUND_HALF_UP
        number = int(exact.to_integral_value(halves))
    size = 8 * _BYTES_OF[info.type.real_type]
    least, most = (0, (1 << size) - 1) if info.unsigned else (-(1 << size - 1), (1 << size - 1) - 1)
    if not least <= number <= most:
        raise _refused("out of the column's range", number)
    return int(number)


def _float(info: ColumnInfo, value: Any) -> float:
    number = float(_number(value))
    if info.unsigned and number < 0:
        raise _refused("out of the column's range", number)
    if info.type.real_type == types.FLOAT:
        try:
            (number,) = unpack("<f", pack("<f", number))
        except (OverflowError, struct_error):
            raise _refused("out of the column's range", number) from None
    if number - number != 0.0:
        raise _refused("out of the column's range", number)
    return number


def _decimal(info: ColumnInfo, value: Any) -> Decimal:
    number = _number(value)
    exact = Decimal(format_double(number)) if isinstance(number, float) else Decimal(number)
    digits, scale = info.type.length, info.type.scale
    with localcontext() as context:
        context.prec = 400
        if abs(exact.adjusted()) > 200:
            raise _refused("out of the column's range", str(value)[:40])
        rounded = exact.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
    if len(rounded.as_tuple().digits) > digits or (info.unsigned and rounded < 0):
        raise _refused("out of the column's range", str(value)[:40])
    return rounded or abs(rounded)


def _bits(info: ColumnInfo, value: Any) -> int:
    if isinstance(value, bytes) and not isinstance(value, Document):
        value = int.from_bytes(value, "big")
    if not isinstance(value, int) or not 0 <= value < 1 << info.type.length:
        raise _refused("no value of the column's bits", shown(value)[:40])
    return int(value)


def _year(value: Any) -> int:
    number = _number(value)
    if isinstance(number, int) and not isinstance(value, Bit) and 0 < number < 100:
        number += 2000 if number < 70 else 1900
    if number != 0 and not 1901 <= number <= 2155:
        raise _refused("no year", value)
    if int(number) != number or (isinstance(value, str) and len(value.strip()) != 4):
        raise _refused("no year of four digits", value)
    return int(number)


def _members(info: ColumnInfo, value: Any) -> int:
    """The number of a member, or the bits of members. Spellings that are equal in a collation only are not."""
    if not isinstance(value, str) or info.members is None:
        raise _refused("no member of the column", shown(value)[:40])
    enum = info.type.real_type == types.ENUM
    names = [member_text(info, number + 1 if enum else 1 << number) for number in range(len(info.members))]
    try:
        if enum:
            return names.index(value) + 1
        return sum({1 << names.index(name) for name in value.split(",")}) if value else 0
    except ValueError:
        raise _refused("no member of the column", value[:40]) from None


def _document(value: Any) -> bytes:
    if isinstance(value, Document):
        return bytes(value)
    if not isinstance(value, str):
        raise _refused("no JSON text", shown(value)[:40])
    try:
        return encode(parse_text(value))
    except CodecError as error:
        raise _refused(f"no JSON text ({error.message})", value[:40]) from None


# --- dates and times -------------------------------------------------------------------------------------------------


def _temporal(info: ColumnInfo, value: Any, time_zone: str | None) -> Any:
    kind = info.type.real_type
    if isinstance(value, str):
        value = _read_time(value) if kind in _TIMES else _read_moment(value)
    if kind in _TIMES:
        if not isinstance(value, Time):
            raise _refused("no time", shown(value)[:40])
        return _fraction(info, value)
    if isinstance(value, Date):
        value = Datetime(*value)
    if kind in _STAMPS:
        return _fraction(info, value if isinstance(value, Timestamp) else _stamp(value, time_zone))
    if isinstance(value, Timestamp):
        value = Datetime(0, 0, 0) if value == Timestamp(0) else local_time(value, time_zone)
    if not isinstance(value, Datetime):
        raise _refused("no date", shown(value)[:40])
    if kind not in _DATES:
        return _fraction(info, value)
    if value.microsecond:
        raise _refused("a fraction of a second, which may round to another day", str(value))
    return Date(*value[:3])


def _stamp(value: Any, time_zone: str | None) -> Timestamp:
    if not isinstance(value, Datetime):
        raise _refused("no date", shown(value)[:40])
    return Timestamp(0) if value == Datetime(0, 0, 0) else seconds_of(value, time_zone)


def _fraction(info: ColumnInfo, value: Any) -> Any:
    """The value, if the column has room for its fraction of a second: how a server rounds depends on its mode."""
    if value.microsecond % 10 ** (6 - info.type.scale):
        raise _refused("more digits of a second than the column has", text(value, 6))
    return value


def _micro(digits: str | None) -> int:
    return int(digits.ljust(6, "0")) if digits else 0


def _read_moment(value: str) -> Datetime:
    match = _DATE.fullmatch(value)
    if match is None:
        raise _refused("no date in the form YYYY-MM-DD HH:MM:SS", value[:40])
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    return Datetime(year, month, day, hour, minute, second, _micro(match[7]))


def _read_time(value: str) -> Time:
    match = _TIME.fullmatch(value)
    if match is None:
        raise _refused("no time in the form HH:MM:SS", value[:40])
    hour, minute, second = int(match[2]), int(match[3]), int(match[4])
    negative = bool(match[1]) and (hour, minute, second, _micro(match[5])) != (0, 0, 0, 0)
    return Time(negative, hour, minute, second, _micro(match[5]))


# --- strings ---------------------------------------------------------------------------------------------------------


def _string(old: ColumnInfo, new: ColumnInfo, value: bytes) -> bytes:
    """A string column's value in another string column: the same bytes, if one side is binary or both are alike."""
    before, after = (COLLATIONS.get(info.collation) if info.collation is not None else None for info in (old, new))
    if (
        before is not None
        and after is not None
        and (before.charset == after.charset or BINARY in (before.id, after.id))
    ):
        return _fitting(new, stored_bytes(old, value))
    return _characters(new, plain(old, value))


def _characters(info: ColumnInfo, value: Any) -> bytes:
    if isinstance(value, Document):
        value = format_text(decode(value))
    elif isinstance(value, bytes):
        if info.collation != BINARY and not value.isascii():
            raise _refused("bytes in a column of text", value.hex()[:40])
        return _fitting(info, value)
    elif isinstance(value, float):
        value = double_text(value)
    elif isinstance(value, Decimal):
        value = f"{value:f}"
    elif isinstance(value, int) and not isinstance(value, Bit):
        value = str(int(value))
    if not isinstance(value, str) or info.collation is None:
        raise _refused("no text, or a column whose character set is not known", shown(value)[:40])
    found = value.encode() if info.collation == BINARY and value.isascii() else bytes_of(value, info.collation)
    if found is None:
        raise _refused("text that is not ASCII, in a character set that lacks it or is not in the log", value[:40])
    return _fitting(info, found)


def _fitting(info: ColumnInfo, value: bytes) -> bytes:
    """The bytes as the log has them, if there is room: without the pads of CHAR and BINARY (binlog-events 10.2)."""
    if info.type.real_type == types.STRING:
        value = value.rstrip(b"\0") if info.collation == BINARY else _without_spaces(value, info.collation)
    room = info.type.length if info.type.type != types.BLOB else (1 << 8 * info.type.length) - 1
    known = COLLATIONS.get(info.collation) if info.collation is not None else None
    if info.type.type != types.BLOB and known is not None and known.max_bytes > 1:
        length, room = len(text_of(value, info.collation) or value), room // known.max_bytes
    else:
        length = len(value)
    if length > room:
        raise _refused("longer than the column", length)
    return value


def _without_spaces(value: bytes, collation: int | None) -> bytes:
    space = bytes_of(" ", collation) if collation is not None else None
    space = space or b" "
    while value.endswith(space) and len(value) % len(space) == 0:
        value = value[: -len(space)]
    return value
