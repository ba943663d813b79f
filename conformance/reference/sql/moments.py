"""Functions of the present moment: what each gives at a moment, in a session whose time zone is UTC."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from conformance.reference.errors import MysqlError
from conformance.reference.jsonb import opaque
from conformance.reference.sql.values import SqlType, SqlValue

_DATE, _TIME, _DATETIME, _SECONDS = "date", "time", "datetime", "seconds"
FUNCTIONS: Final = {
    "NOW": _DATETIME,
    "CURRENT_TIMESTAMP": _DATETIME,
    "LOCALTIME": _DATETIME,
    "LOCALTIMESTAMP": _DATETIME,
    "UTC_TIMESTAMP": _DATETIME,
    "CURDATE": _DATE,
    "CURRENT_DATE": _DATE,
    "UTC_DATE": _DATE,
    "CURTIME": _TIME,
    "CURRENT_TIME": _TIME,
    "UTC_TIME": _TIME,
    "UNIX_TIMESTAMP": _SECONDS,
}
WITHOUT_BRACKETS: Final = frozenset(FUNCTIONS) - {"NOW", "CURDATE", "CURTIME", "UNIX_TIMESTAMP"}
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - moments have no zone here


def takes_digits(function: str) -> bool:
    """Whether a number in the brackets says how many digits stand behind the second."""
    return FUNCTIONS[function] in (_DATETIME, _TIME)


def value_at(function: str, moment: datetime, digits: int) -> SqlValue:
    """Return the value of a function at a moment; what is behind its digits is cut."""
    if digits > 6:
        raise MysqlError(1426, "ER_TOO_BIG_PRECISION", "the largest precision is 6", got=digits)
    unit = 10 ** (6 - digits)
    micro = moment.microsecond // unit * unit
    kind = FUNCTIONS[function]
    if kind == _SECONDS:
        return SqlValue(SqlType.INTEGER, int((moment - _EPOCH).total_seconds()))
    day = (moment.year, moment.month, moment.day)
    clock = (moment.hour, moment.minute, moment.second, micro)
    if kind == _DATE:
        return SqlValue(SqlType.TEMPORAL, opaque.date(*day))
    return SqlValue(SqlType.TEMPORAL, opaque.time(*clock) if kind == _TIME else opaque.datetime(*day, *clock))
