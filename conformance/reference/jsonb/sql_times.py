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


def scalar_of_sql(value: JsonValue, forms: JsonForms) -> JsonValue:
    """The JSON value that a version makes of a SQL value. ``value``: what the newest version makes of it."""
    if forms.time_hours != "of-datetime" or not isinstance(value, Opaque) or value.field_type != TIME:
        return value
    negative, hour, minute, second, micro = opaque.unpack_time(opaque.temporal_number(value))
    if hour < _LIMIT:
        return value
    days, rest = divmod(hour, _LIMIT)
    return opaque.time(days * _DAY + rest, minute, second, micro, negative=negative)
