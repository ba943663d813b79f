"""TIME values on their way from SQL into JSON, as versions before 9.7 unpack their hours (jsonb 4.2).

They read the packed number of a TIME as that of a datetime: the hours have five bits there, and what is above them
counts as days. So of every 32 hours 24 are kept: 838:59:59 is stored as 630:59:59 (observed on 8.0.45). The sign,
minutes, seconds and fraction stay. A TIME that is in a document already is not changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.values import TIME, JsonValue, Opaque

if TYPE_CHECKING:
    from conformance.reference.dialect import JsonForms

_LIMIT: Final = 32  # hours: what five bits hold
_DAY: Final = 24
_MOST: Final = 630  # hours that are left of 838


def scalar_of_sql(value: JsonValue, forms: JsonForms) -> JsonValue:
    """The JSON value that a version makes of a SQL value. ``value``: what the newest version makes of it."""
    if forms.time_hours != "of-datetime" or not isinstance(value, Opaque) or value.field_type != TIME:
        return value
    negative, hour, minute, second, micro = opaque.unpack_time(opaque.temporal_number(value))
    if hour < _LIMIT:
        return value
    days, rest = divmod(hour, _LIMIT)
    return opaque.time(days * _DAY + rest, minute, second, micro, negative=negative)


def sql_of_scalar(value: JsonValue, forms: JsonForms) -> JsonValue:
    """The SQL value that a version makes into a JSON value: for 630:59:59 that is 838:59:59.

    The value itself where no TIME leads to it: behind 630 hours.
    """
    if forms.time_hours != "of-datetime" or not isinstance(value, Opaque) or value.field_type != TIME:
        return value
    negative, hour, minute, second, micro = opaque.unpack_time(opaque.temporal_number(value))
    if hour < _LIMIT or hour > _MOST:
        return value
    days, rest = divmod(hour, _DAY)
    return opaque.time(days * _LIMIT + rest, minute, second, micro, negative=negative)
