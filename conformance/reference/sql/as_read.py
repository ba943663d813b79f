"""The value that a version makes of the SQL that :mod:`.formatting` writes for a JSON value.

The newest version makes exactly that value. Versions before 9.7 read numbers of JSON text fast, and some come out as
other doubles (versions 6.1); they also drop hours of a TIME (:mod:`conformance.reference.jsonb.sql_times`). A number
that is a SQL literal is read exactly by all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.sql_times import scalar_of_sql, sql_of_scalar
from conformance.reference.jsonb.text import format_double
from conformance.reference.sql.formatting import is_plain

if TYPE_CHECKING:
    from conformance.reference.dialect import JsonForms
    from conformance.reference.jsonb.values import JsonValue


class _Read(NamedTuple):
    """``text``: the value where it is written as JSON text; ``sql``: where it is an argument of its own."""

    plain: bool
    text: JsonValue
    sql: JsonValue


def argument_as_read(value: JsonValue, forms: JsonForms) -> JsonValue:
    """The value that a version makes of ``format_sql(value)``."""
    return value if reads_exactly(forms) else _read(value, forms).sql


def document_as_read(value: JsonValue, forms: JsonForms) -> JsonValue:
    """The value that a version makes of ``format_document(value)``."""
    if reads_exactly(forms):
        return value
    read = _read(value, forms)
    return read.text if read.plain else read.sql


def reads_exactly(forms: JsonForms) -> bool:
    """Whether a version makes exactly the value that the SQL stands for."""
    return forms.text_double == "exact" and forms.time_hours == "all"


def _read(value: JsonValue, forms: JsonForms) -> _Read:
    if isinstance(value, float):
        fast = parse_text(format_double(value), forms) if forms.text_double == "fast" else value
        return _Read(True, fast, value)
    if isinstance(value, list):
        items = [_read(item, forms) for item in value]
        plain = all(item.plain for item in items)
        made: JsonValue = [item.text if plain else item.sql for item in items]
        return _Read(plain, made, made)
    if isinstance(value, dict):
        members = {key: _read(item, forms) for key, item in value.items()}
        plain = all(item.plain for item in members.values())
        made = {key: item.text if plain else item.sql for key, item in members.items()}
        return _Read(plain, made, made)
    return _Read(is_plain(value), value, scalar_of_sql(value, forms))


def as_written(value: JsonValue, forms: JsonForms) -> JsonValue:
    """The value to write as SQL, so that a version makes ``value`` of it: other hours in TIME values."""
    if forms.time_hours == "all":
        return value
    if isinstance(value, list):
        return [as_written(item, forms) for item in value]
    if isinstance(value, dict):
        return {key: as_written(item, forms) for key, item in value.items()}
    return sql_of_scalar(value, forms)
