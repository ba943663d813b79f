"""Faults of logs and readers of row values: written down from the worklog's scenario 3 and binlog-events 10.2,
before the checks that must catch them.

A *log fault* changes what a server has done: a TABLE_MAP that says something else, or other rows than those that SELECT
shows. A *codec fault* changes the reference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog.files import read_events
from conformance.reference.tables.metadata import Bits, DefaultCharset, Field, Members, Names, Numbers
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.tables.metadata import MetadataField
    from conformance.reference.tables.temporal import Datetime, Time, Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFault:
    """``change`` gives another block, or the same one where the fault has no place in it."""

    id: str
    sentence: str
    change: Callable[[Any], Any]
    requirement: str = "TMV1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodecFault:
    """``function`` of ``reference.tables.temporal`` becomes another one."""

    id: str
    sentence: str
    function: str
    become: Callable[..., bytes]
    requirement: str = "TMV2"


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
    LogFault(
        id="values/signs", sentence="Signed and unsigned numbers are told apart by the log.", change=_told(_signs)
    ),
    LogFault(
        id="values/charsets", sentence="Text is in the character set that the log names.", change=_told(_charsets)
    ),
    LogFault(id="values/names", sentence="Values are those of the columns that the log names.", change=_told(_names)),
    LogFault(id="values/members", sentence="ENUM and SET have the members that the log lists.", change=_told(_members)),
    LogFault(id="values/number", sentence="A value in the log is the value in the table.", change=_other_number),
    LogFault(id="values/null", sentence="NULL in the table is NULL in the log.", change=_null),
    LogFault(
        id="values/lost-row",
        sentence="Every row of the table is in the log.",
        change=lambda observed: replace(observed, inserted=[*observed.inserted, observed.inserted[-1]]),
    ),
)


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
    CodecFault(
        id="bytes/negative-time",
        sentence="Sign and fraction of a TIME are one number.",
        function="encode_time",
        become=_time,
    ),
    CodecFault(
        id="bytes/timestamp",
        sentence="The fraction of a TIMESTAMP has its high byte first.",
        function="encode_timestamp",
        become=_timestamp,
    ),
    CodecFault(
        id="bytes/datetime",
        sentence="A year of a DATETIME has thirteen months.",
        function="encode_datetime",
        become=_datetime,
    ),
)
