"""Moments in the time zone of a session, as far as the log names it as an offset."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from conformance.reference.errors import ReplayError
from conformance.reference.tables.temporal import Datetime, Timestamp

_OFFSET: Final = re.compile(r"([+-])([0-9]{1,2}):([0-9]{2})", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FARTHEST: Final = 14 * 60  # minutes
SYSTEM: Final = "SYSTEM"


def offset_of(time_zone: str | None) -> timedelta:
    """The distance of a time zone from UTC.

    Raises :class:`ReplayError` for one without a fixed distance: its rules are in tables of the server, or on its
    machine.
    """
    if time_zone == "UTC":
        return timedelta()
    match = _OFFSET.fullmatch(time_zone or "")
    if match is None:
        raise ReplayError(
            "time-zone", "a local time in a time zone whose distance from UTC is not in the log",
            expected="an offset such as +02:00, or UTC", got=time_zone,
        )  # fmt: skip
    minutes = int(match[2]) * 60 + int(match[3])
    if minutes > _FARTHEST or int(match[3]) > 59:
        raise ReplayError("time-zone", "no offset of a time zone", expected="-13:59 to +14:00", got=time_zone)
    return timedelta(minutes=-minutes if match[1] == "-" else minutes)


def local_time(value: Timestamp, time_zone: str | None) -> Datetime:
    """A moment as a DATETIME of the session."""
    found = _EPOCH + timedelta(seconds=value.seconds) + offset_of(time_zone)
    return Datetime(found.year, found.month, found.day, found.hour, found.minute, found.second, value.microsecond)


def seconds_of(value: Datetime, time_zone: str | None) -> Timestamp:
    """A DATETIME of the session as a moment. Raises :class:`ReplayError` for a day that does not exist."""
    try:
        found = datetime(*value[:6], tzinfo=UTC) - offset_of(time_zone) - _EPOCH
    except (ValueError, OverflowError):
        raise ReplayError("value", "no moment", got=str(value)) from None
    seconds = found.days * 86400 + found.seconds
    if not 0 < seconds < 1 << 32:
        raise ReplayError("value", "outside the range of TIMESTAMP", got=str(value))
    return Timestamp(seconds, value.microsecond)
