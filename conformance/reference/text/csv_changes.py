"""Row changes as comma-separated values, one record a change: ``decode --format csv`` (RFC 4180; lines end with LF).

The fields are those of a JSON line, in its order. ``before`` and ``after`` are the same JSON objects. What is null in
JSON is empty here; every other text stands in double quotes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from conformance.reference.text.row_changes import EventFields, Line

HEADER: Final = (
    "file,position,event,timestamp,server_id,gtid,schema,table,operation,row,before,after,inner"  # as in a JSON line
)


def csv_line(fields: EventFields) -> Line:
    """The records of one event: a function of the row's number and its two images."""
    *first, inner = map(_field, fields)
    head = ",".join(first)
    return lambda row, old, new: f"{head},{_field(row)},{_field(old)},{_field(new)},{inner}"


def _field(value: str | int | None) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else '"' + value.replace('"', '""') + '"'
