"""Faults of logs and readers of row values: written down from the worklog's scenario 3 and binlog-events 10.2,
before the checks that must catch them.

A *log fault* changes what a server has done: a TABLE_MAP that says something else, or other rows than those that SELECT
shows. A *codec fault* changes the reference.
"""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog.files import read_events
from conformance.reference.tables.metadata import Bits, DefaultCharset, Field, Members, Names, Numbers
from conformance.reference.tables.table_map import TableMap
from tests.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.tables.metadata import MetadataField
    from conformance.reference.tables.temporal import Datetime, Time, Timestamp


def _told(change: Callable[[MetadataField], MetadataField]) -> Callable[[Any], Any]:
    """With every item of every TABLE_MAP changed."""

    def doctored(observed: Any) -> Any:
        parts = [b"\xfebin"]
        for event in read_events(BytesIO(observed.file)):
            body = event.body
            if isinstance(body, TableMap):
                changed = replace(body, metadata=tuple(change(item) for item in body.metadata))
                parts.append(event._replace(body=changed).encode())
            else:
                parts.append(event.typed().encode())
        return replace(observed, file=b"".join(parts))

    return doctored


def _signs(item: MetadataField) -> MetadataField:
    if isinstance(item, Bits) and item.field == Field.SIGNEDNESS:
        return Bits(item.field, tuple(not bit for bit in item.bits))
    return item


def _charsets(item: MetadataField) -> MetadataField:
    if isinstance(item, DefaultCharset) and item.field == Field.DEFAULT_CHARSET:
        return DefaultCharset(item.field, item.default, tuple((place, 54) for place, _ in item.exceptions))
    if isinstance(item, Numbers) and item.field == Field.COLUMN_CHARSET:
        return Numbers(item.field, tuple(54 if number != 63 else 63 for number in item.numbers))
    return item


def _names(item: MetadataField) -> MetadataField:
    return Names((*item.names[1:], item.names[0])) if isinstance(item, Names) else item


def _members(item: MetadataField) -> MetadataField:
    if isinstance(item, Members):
        return Members(item.field, tuple((*column[1:], column[0]) for column in item.members))
    return item


def _other_number(observed: Any) -> Any:
    row = observed.changed[-1]
    cell = row[0]
    return replace(observed, changed=[*observed.changed[:-1], (cell._replace(shown=cell.shown + b"1"), *row[1:])])


def _null(observed: Any) -> Any:
    row = observed.inserted[0]
    return replace(observed, inserted=[(row[0]._replace(shown=None), *row[1:]), *observed.inserted[1:]])


LOG_FAULTS: Final = (
    Fault("values/signs", "TMV1", "Signed and unsigned numbers are told apart by the log.", _told(_signs)),
    Fault("values/charsets", "TMV1", "Text is in the character set that the log names.", _told(_charsets)),
    Fault("values/names", "TMV1", "Values are those of the columns that the log names.", _told(_names)),
    Fault("values/members", "TMV1", "ENUM and SET have the members that the log lists.", _told(_members)),
    Fault("values/number", "TMV1", "A value in the log is the value in the table.", _other_number),
    Fault("values/null", "TMV1", "NULL in the table is NULL in the log.", _null),
    Fault("values/lost-row", "TMV1", "Every row of the table is in the log.",
          lambda observed: replace(observed, inserted=[*observed.inserted, observed.inserted[-1]])),
)  # fmt: skip


def _time(value: Time, size: int) -> bytes:
    """The sign is taken into the three bytes alone, and the fraction is written as it is."""
    negative, hour, minute, second, microsecond = value
    whole = hour << 12 | minute << 6 | second
    stored = 0x800000 + (-whole if negative else whole)
    return stored.to_bytes(3, "big") + (microsecond // (1, 10_000, 100, 1)[size]).to_bytes(size, "big")


def _timestamp(value: Timestamp, size: int) -> bytes:
    return value[0].to_bytes(4, "big") + (value[1] // (1, 10_000, 100, 1)[size]).to_bytes(size, "little")


def _datetime(value: Datetime, size: int) -> bytes:
    year, month, day, hour, minute, second, microsecond = value
    stored = 0x8000000000 + ((year * 12 + month) << 22 | day << 17 | hour << 12 | minute << 6 | second)
    return stored.to_bytes(5, "big") + (microsecond // (1, 10_000, 100, 1)[size]).to_bytes(size, "big")


CODEC_FAULTS: Final = (
    Fault("bytes/negative-time", "TMV2", "Sign and fraction of a TIME are one number.", _time, at="encode_time"),
    Fault("bytes/timestamp", "TMV2", "The fraction of a TIMESTAMP has its high byte first.", _timestamp,
          at="encode_timestamp"),
    Fault("bytes/datetime", "TMV2", "A year of a DATETIME has thirteen months.", _datetime, at="encode_datetime"),
)  # fmt: skip
