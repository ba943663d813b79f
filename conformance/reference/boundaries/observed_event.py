"""The parts of an event that a boundary parser reads: type, flags, position, and the text of a QUERY."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.binlog.header import FOOTER_SIZE, HEADER, HEADER_SIZE
from conformance.reference.binlog.query import Query
from conformance.reference.errors import DecodeError
from conformance.reference.event_types import EventType

if TYPE_CHECKING:
    from conformance.reference.binlog.event import Event

# From QUERY's post-header: the lengths of the schema and of the status variables (binlog-events 8).
_SCHEMA_LENGTH: Final = HEADER_SIZE + 8
_STATUS_LENGTH: Final = Struct("<H").unpack_from
_STATUS_OFFSET: Final = HEADER_SIZE + 11
_VARIABLE: Final = HEADER_SIZE + 13

GTID_TYPES: Final = frozenset((EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED))


class ObservedEvent(NamedTuple):
    """One event. ``text`` is empty for everything but QUERY. ``behind``: the checksum, which follows the text."""

    type: int
    flags: int = 0
    log_pos: int = 0
    text: bytes = b""
    behind: bytes = b""


def query_text(data: bytes, footer: int = FOOTER_SIZE, start: int = 0, end: int | None = None) -> bytes:
    """The text of the QUERY in ``data[start:end]``; empty where the bytes are too short."""
    stop = (len(data) if end is None else end) - footer
    if stop - start < _VARIABLE:
        return b""
    first = start + _VARIABLE + _STATUS_LENGTH(data, start + _STATUS_OFFSET)[0] + data[start + _SCHEMA_LENGTH] + 1
    return data[first:stop]


def observe(data: bytes, footer: int = FOOTER_SIZE) -> ObservedEvent:
    """An event from its bytes in a file; ``footer``: the size of the checksum in bytes."""
    if len(data) < HEADER_SIZE:
        raise DecodeError("truncated", "an event header needs 19 bytes", offset=0, expected=HEADER_SIZE, got=len(data))
    _, code, _, _, log_pos, flags = HEADER.unpack_from(data)
    if code != EventType.QUERY:
        return ObservedEvent(code, flags, log_pos)
    return ObservedEvent(code, flags, log_pos, query_text(data, footer), data[len(data) - footer :])


def decoded_text(event: Event) -> bytes:
    """The text of an event in its decoded form, where it ends with a zero byte and not with a checksum."""
    body = event.body
    return body.text if isinstance(body, Query) else b""
