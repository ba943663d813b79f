"""Dates and times as columns store them (binlog-events 10.2).

The values are plain numbers, not :mod:`datetime` objects: zero dates, 2024-02-31 and -838:59:59 are ordinary values of
a row. Every bit pattern of the wire form has a value here, so damaged rows can be shown and written again. Fractions
are microseconds; the wire form has one to three bytes for them, in hundredths, ten-thousandths or millionths.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, NamedTuple

from conformance.reference.errors import EncodeError

_UNIT: Final = (1_000_000, 10_000, 100, 1)  # microseconds per unit, by number of fraction bytes


class Date(NamedTuple):
    year: int
    month: int
    day: int

    def __str__(self) -> str:
        return f"{self.year:04}-{self.month:02}-{self.day:02}"


class Time(NamedTuple):
    """A time. ``negative`` applies to the whole value."""

    negative: bool
    hour: int
    minute: int
    second: int
    microsecond: int = 0

    def __str__(self) -> str:
        fraction = f".{self.microsecond:06}" if self.microsecond else ""
        return f"{'-' if self.negative else ''}{self.hour:02}:{self.minute:02}:{self.second:02}{fraction}"


class Datetime(NamedTuple):
    year: int
    month: int
    day: int
    hour: int = 0
    minute: int = 0
    second: int = 0
    microsecond: int = 0

    def __str__(self) -> str:
        fraction = f".{self.microsecond:06}" if self.microsecond else ""
        return (
            f"{self.year:04}-{self.month:02}-{self.day:02} {self.hour:02}:{self.minute:02}:{self.second:02}{fraction}"
        )


class Timestamp(NamedTuple):
    """Seconds since 1970-01-01 00:00:00 UTC; 0 is the zero date."""

    seconds: int
    microsecond: int = 0


def text(value: Date | Time | Datetime | Timestamp, precision: int = 0) -> str:
    """The text that MySQL prints for a column of this precision; a TIMESTAMP in UTC, its zero as the zero date."""
    if isinstance(value, Date):
        return str(value)
    fraction = f".{value.microsecond:06}"[: precision + 1] if precision else ""
    if isinstance(value, Timestamp):
        if not value.seconds:
            return f"0000-00-00 00:00:00{fraction}"
        moment = datetime.fromtimestamp(value.seconds, UTC)
        return f"{moment:%Y-%m-%d %H:%M:%S}{fraction}"
    return str(value._replace(microsecond=0)) + fraction


def fraction_bytes(precision: int) -> int:
    return (precision + 1) // 2


def _fraction(microsecond: int, size: int) -> int:
    value, left = divmod(microsecond, _UNIT[size])
    if left or not 0 <= value < 1 << 8 * size:
        raise EncodeError(
            "fraction",
            f"the fraction does not fit in {size} bytes",
            expected=f"multiple of {_UNIT[size]} us",
            got=microsecond,
        )
    return value


def _parts(value: tuple[int, ...], limits: tuple[int, ...]) -> None:
    for part, limit in zip(value, limits, strict=False):
        if not 0 <= part <= limit:
            raise EncodeError("out-of-range", "a part of a date or time does not fit", expected=f"0..{limit}", got=part)


def decode_date(raw: int) -> Date:
    return Date(raw >> 9, raw >> 5 & 15, raw & 31)


def encode_date(value: Date) -> bytes:
    _parts(value, (0x7FFF, 15, 31))
    return (value[0] << 9 | value[1] << 5 | value[2]).to_bytes(3, "little")


def decode_time(raw: bytes, size: int) -> Time:
    """Decode ``raw``, 3 + ``size`` bytes. Sign and fraction form one number (binlog-events 10.2): cut the magnitude,
    not the three bytes.
    """
    shift = 8 * size
    value = int.from_bytes(raw, "big") - (0x800000 << shift)
    negative = value < 0
    if negative:
        value = -value
    whole = value >> shift
    microsecond = (value & ((1 << shift) - 1)) * _UNIT[size]
    return Time(negative, whole >> 12, whole >> 6 & 63, whole & 63, microsecond)


def encode_time(value: Time, size: int) -> bytes:
    negative, hour, minute, second, microsecond = value
    # 2048 hours is the one magnitude that only a negative value has: all bits zero.
    _parts((hour, minute, second), (0x800 if negative else 0x7FF, 63, 63))
    shift = 8 * size
    magnitude = (hour << 12 | minute << 6 | second) << shift | _fraction(microsecond, size)
    stored = (0x800000 << shift) + (-magnitude if negative else magnitude)
    if stored < 0:
        raise EncodeError("out-of-range", "the time is too far below zero", got=str(value))
    return stored.to_bytes(3 + size, "big")


def decode_datetime(raw: bytes, size: int) -> Datetime:
    value = int.from_bytes(raw[:5], "big") - 0x8000000000
    months = value >> 22
    return Datetime(
        months // 13,
        months % 13,
        value >> 17 & 31,
        value >> 12 & 31,
        value >> 6 & 63,
        value & 63,
        int.from_bytes(raw[5:], "big") * _UNIT[size],
    )


def encode_datetime(value: Datetime, size: int) -> bytes:
    year, month, day, hour, minute, second, microsecond = value
    _parts((month, day, hour, minute, second), (12, 31, 31, 63, 63))
    stored = 0x8000000000 + ((year * 13 + month) << 22 | day << 17 | hour << 12 | minute << 6 | second)
    if not 0 <= stored < 1 << 40:
        raise EncodeError("out-of-range", "the year does not fit", got=year)
    return stored.to_bytes(5, "big") + _fraction(microsecond, size).to_bytes(size, "big")


def decode_timestamp(raw: bytes, size: int) -> Timestamp:
    return Timestamp(int.from_bytes(raw[:4], "big"), int.from_bytes(raw[4:], "big") * _UNIT[size])


def encode_timestamp(value: Timestamp, size: int) -> bytes:
    _parts(value[:1], (0xFFFFFFFF,))
    return value[0].to_bytes(4, "big") + _fraction(value[1], size).to_bytes(size, "big")


def decode_old_time(raw: int) -> Time:
    """The form of tables made before 5.6.4: a signed 24-bit HHMMSS."""
    if raw >= 1 << 23:
        raw -= 1 << 24
    whole = abs(raw)
    return Time(raw < 0, whole // 10000, whole // 100 % 100, whole % 100)


def encode_old_time(value: Time) -> bytes:
    negative, hour, minute, second, microsecond = value
    _parts((hour, minute, second, microsecond), (838, 99, 99, 0))
    whole = hour * 10000 + minute * 100 + second
    return (-whole if negative else whole).to_bytes(3, "little", signed=True)


def decode_old_datetime(raw: int) -> Datetime:
    """The form of tables made before 5.6.4: YYYYMMDDHHMMSS as a 64-bit integer."""
    day, clock = divmod(raw, 1_000_000)
    return Datetime(day // 10000, day // 100 % 100, day % 100, clock // 10000, clock // 100 % 100, clock % 100)


def encode_old_datetime(value: Datetime) -> bytes:
    year, month, day, hour, minute, second, microsecond = value
    _parts((month, day, hour, minute, second, microsecond), (99, 99, 99, 99, 99, 0))
    number = (((((year * 100 + month) * 100 + day) * 100 + hour) * 100) + minute) * 100 + second
    if not 0 <= number < 1 << 64:
        raise EncodeError("out-of-range", "the year does not fit", got=year)
    return number.to_bytes(8, "little")
