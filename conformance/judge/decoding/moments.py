"""Dates and times in all their forms, compared as numbers."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, TypeAlias

from conformance.judge.decoding.numbers import number_of

Moment: TypeAlias = tuple[int, ...]

_CLOCK: Final = r"(\d{1,3}):(\d\d):(\d\d)(?:\.(\d{1,9}))?"
_TIME: Final = re.compile(rf"(-?){_CLOCK}", re.ASCII)
_SECONDS: Final = re.compile(r"(\d{1,10})(?:\.(\d{1,9}))?", re.ASCII)
_DATE: Final = re.compile(rf"(\d{{4}})-(\d\d)-(\d\d)(?:[ T]{_CLOCK}( ?(?:Z|UTC|[+-]00:?00))?)?", re.ASCII)


def moment_of(kind: str, value: Any) -> Moment | None:
    """DATE, DATETIME, TIMESTAMP or TIME as numbers; ``None`` if the value is none of that kind.

    A fraction may have any number of zeros; the date and the clock may be separated by a ``T``. A DATE may have a clock
    at midnight, as some decoders print it. Only a TIMESTAMP may name a zone, and only UTC; it may also be the seconds
    since 1970, as the log has it, with a fraction.
    """
    text = _text(value, utc=kind == "TIMESTAMP")
    if text is None:
        return None
    if kind == "TIMESTAMP" and (seconds := _SECONDS.fullmatch(text)):
        return _since_1970(int(seconds[1]), seconds[2])
    if kind == "TIME":
        found = _TIME.fullmatch(text)
        if found is None:
            return None
        clock = _clock(found.group(2), found.group(3), found.group(4), found.group(5))
        return None if clock is None else tuple(-part for part in clock) if found.group(1) else clock
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    if zone is not None and kind != "TIMESTAMP":
        return None
    if hour is None:
        return (int(year), int(month), int(day), 0, 0, 0, 0) if kind == "DATE" else None
    clock = _clock(hour, minute, second, fraction)
    if clock is None or (kind == "DATE" and any(clock)):
        return None
    return (int(year), int(month), int(day), *clock)


def _clock(hour: str, minute: str, second: str, fraction: str | None) -> Moment | None:
    digits = (fraction or "").ljust(9, "0")
    return None if digits[6:].strip("0") else (int(hour), int(minute), int(second), int(digits[:6]))


def _since_1970(seconds: int, fraction: str | None) -> Moment | None:
    if not seconds:  # TIMESTAMP begins one second later: this is the zero date
        return (0, 0, 0, 0, 0, 0, 0)
    moment = datetime.fromtimestamp(seconds, UTC)
    clock = _clock(str(moment.hour), str(moment.minute), str(moment.second), fraction)
    return None if clock is None else (moment.year, moment.month, moment.day, *clock)


def _text(value: Any, *, utc: bool) -> str | None:
    if isinstance(value, str):
        return value
    if utc and (number := number_of(value)) is not None:
        return f"{number:f}"
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            if not utc:
                return None
            value = value.astimezone(UTC).replace(tzinfo=None)
        return str(value)
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        micros = abs(value) // timedelta(microseconds=1)
        seconds, fraction = divmod(micros, 1_000_000)
        sign = "-" if value < timedelta(0) else ""
        return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"
    return None


def temporal_cause(kind: str, expected: Any, got: Any) -> str:
    """The class of a difference between two texts of that kind."""
    one, other = moment_of(kind, expected), moment_of(kind, got)
    if one is None or other is None:
        return "no " + kind
    if tuple(map(abs, one)) == tuple(map(abs, other)):
        return "sign"
    return "fraction" if one[:-1] == other[:-1] else ""
