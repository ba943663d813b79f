"""Groups of a binary log, found without decoding it: start, end, kind and GTID of each group.

The reader reads only headers and the bodies of QUERY and GTID events, and skips larger bodies. Every event of a file is
in exactly one group. A reader may start in the middle of a group: the events before the first start are a fragment.
:func:`find_event` gives the first event behind any byte of a file. So a file can be cut anywhere and read in parts; a
part's reader owns the groups that begin in it.

The rules are those of :mod:`.unmarked`; where events have markers, the markers decide.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from io import SEEK_END
from struct import Struct
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple
from uuid import UUID

from conformance.reference.binlog.event import decode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import GtidTagged, gtid_text
from conformance.reference.binlog.header import (
    ENCRYPTED_MAGIC,
    HEADER,
    HEADER_SIZE,
    LENGTH_AND_POSITION,
    MAGIC,
    footer_size,
)
from conformance.reference.boundaries.markers import SHIFT, BoundaryType
from conformance.reference.boundaries.observed_event import ObservedEvent, query_text
from conformance.reference.boundaries.unmarked import GUESSES, ROLES, Role, query_role, role_of
from conformance.reference.errors import DecodeError, Unsupported
from conformance.reference.event_types import EventType

if TYPE_CHECKING:
    from collections.abc import Iterator

WINDOW: Final = 1 << 20
_SMALLEST_FORMAT: Final = HEADER_SIZE + 57 + 1
PROOF: Final = 3  # events in a row whose positions must agree before bytes count as events


class GroupKind(StrEnum):
    """The kind of a group."""

    DML = "dml"  # BEGIN ... XID, COMMIT or ROLLBACK
    DDL = "ddl"  # one statement without BEGIN, with the events that belong to it
    XA = "xa"  # XA START ... XA_PREPARE
    COMPRESSED = "compressed"  # TRANSACTION_PAYLOAD
    INCIDENT = "incident"
    FRAME = "frame"  # one event of the file itself: FORMAT_DESCRIPTION, PREVIOUS_GTIDS, ROTATE, STOP, heartbeat
    FRAGMENT = "fragment"  # events without a beginning
    OPEN = "open"  # a group whose end is missing: the stream ends, or another begins


class Group(NamedTuple):
    """``start`` and ``end`` are positions in the file; ``events`` does not count the events inside a payload."""

    start: int
    end: int
    kind: GroupKind
    gtid: str | None
    events: int


# The rules of the guess as plain numbers: a lookup of an enumeration costs more than what is done with it.
_QUERY: Final = int(EventType.QUERY)
_IGNORE: Final = int(BoundaryType.IGNORE_BOUNDARY)
_SELF: Final = int(BoundaryType.SELF_CONTAINED)
_START: Final = int(BoundaryType.START_TRANSACTION)
_END: Final = int(BoundaryType.END_TRANSACTION)
_TYPES: Final = {role: tuple(map(int, types)) for role, types in GUESSES.items()}
_FIRST: Final = (_START, _SELF)
_ROLE_OF: Final = tuple([ROLES.get(code) for code in range(256)])
_GTID_ROLE, _BEGIN_ROLE = Role.GTID, Role.BEGIN
_ALONE: Final = {
    Role.PAYLOAD: GroupKind.COMPRESSED,
    Role.INCIDENT: GroupKind.INCIDENT,
    Role.FRAME: GroupKind.FRAME,
    Role.ASIDE: GroupKind.FRAME,
}  # by its last event
_UUID_PLACE: Final = slice(HEADER_SIZE + 1, HEADER_SIZE + 17)
_GNO: Final = Struct("<q").unpack_from
_GNO_OFFSET: Final = HEADER_SIZE + 17


@lru_cache(maxsize=64)
def _uuid(raw: bytes) -> str:
    return str(UUID(bytes=raw))


def _gtid(code: int, data: bytes, footer: int) -> str | None:
    if code == EventType.ANONYMOUS_GTID:
        return None
    if code == EventType.GTID:
        if len(data) < _GNO_OFFSET + 8:
            raise DecodeError("truncated", "no room for a GTID", offset=HEADER_SIZE, got=len(data))
        return f"{_uuid(data[_UUID_PLACE])}:{_GNO(data, _GNO_OFFSET)[0]}"
    return gtid_text(GtidTagged.decode(data[HEADER_SIZE : len(data) - footer]))


def file_footer(file: BinaryIO) -> int:
    """The size of the checksum behind every event, in bytes, from the FORMAT_DESCRIPTION of the file. Moves the file's
    position.
    """
    file.seek(0)
    head = file.read(len(MAGIC) + HEADER_SIZE)
    if head[:4] == ENCRYPTED_MAGIC:
        raise Unsupported("encrypted", "the binary log is encrypted", offset=0)
    if head[:4] != MAGIC:
        raise DecodeError("not-a-binlog", "not a binary log", offset=0, expected=MAGIC.hex(), got=head[:4].hex())
    if len(head) < len(MAGIC) + HEADER_SIZE or head[8] != EventType.FORMAT_DESCRIPTION:
        raise DecodeError("no-format-description", "the first event must be FORMAT_DESCRIPTION", offset=8)
    length = HEADER.unpack_from(head, len(MAGIC))[3]
    if not _SMALLEST_FORMAT <= length <= WINDOW:
        raise DecodeError("bad-length", "not the length of a FORMAT_DESCRIPTION", offset=13, got=length)
    event = decode_event(head[len(MAGIC) :] + file.read(length - HEADER_SIZE))
    assert isinstance(event.body, FormatDescription)
    return footer_size(event.body.algorithm)


def find_event(data: bytes | memoryview, position: int, *, proof: int = PROOF) -> int | None:
    """The offset in ``data`` (the file's bytes from ``position``) of its first event; ``None`` if there is none.

    Bytes count as an event if their position field is right, and so are those of the next events: ``proof`` in a row,
    or fewer up to the exact end of ``data``. Positions are modulo 2^32. Not for relay logs, whose events have the
    positions of another file.
    """
    last = len(data) - HEADER_SIZE
    unpack = LENGTH_AND_POSITION
    for offset in range(last + 1):
        place, found = offset, 0
        length, log_pos = unpack(data, place)
        while (position + place + length) & 0xFFFFFFFF == log_pos and length >= HEADER_SIZE:
            place += length
            found += 1
            if found >= proof or place == len(data):
                return offset
            if place > last:
                break
            length, log_pos = unpack(data, place)
    return None


def read_groups(  # noqa: C901 - one loop over headers, without a call for most events
    file: BinaryIO,
    start: int = 4,
    stop: int | None = None,
    *,
    footer: int | None = None,
    relay: bool = False,
    shift: int = SHIFT,
    window: int = WINDOW,
) -> Iterator[Group]:
    """The groups that begin in ``start .. stop``; ``start`` is the position of an event. The last group is read to its
    end.

    Without ``footer`` the function finds the checksum's size at the beginning of the file. A cut-off last event does
    not count; its group is ``open``.
    """
    if footer is None:
        footer = file_footer(file)
    size = file.seek(0, SEEK_END)
    file.seek(start)
    unpack = HEADER.unpack_from
    read = file.read
    buffer, pos, position = b"", 0, start
    open_group = fragment = begun = False  # at most one of the first two
    first, count, what, gtid = start, 0, GroupKind.DDL, None
    begins = GroupKind.DML
    while stop is None or position < stop or open_group:
        if len(buffer) - pos < HEADER_SIZE:
            buffer, pos = buffer[pos:] + read(window), 0
            if len(buffer) < HEADER_SIZE:
                break
        _, code, _, length, log_pos, flags = unpack(buffer, pos)
        if length < HEADER_SIZE:
            raise DecodeError("bad-length", "an event is at least as long as its header", offset=position, got=length)
        if position + length > size:
            break  # cut off
        role = _ROLE_OF[code]
        end = pos + length
        if end > len(buffer) and (code == _QUERY or role is _GTID_ROLE):
            buffer, pos = buffer[pos:] + read(max(window, end - len(buffer))), 0
            end = length
        if code == _QUERY:
            text = query_text(buffer, footer, pos, end)
            role = query_role(text)
            if role is _BEGIN_ROLE:
                begins = GroupKind.DML if text == b"BEGIN" else GroupKind.XA
        elif role is None:
            role = role_of(ObservedEvent(code, flags, log_pos), relay=relay)
        kind = flags >> shift & 7 or _TYPES[role][0 if not open_group else 2 if begun else 1]
        if kind == _IGNORE:
            if open_group or fragment:
                count += 1
            else:
                yield Group(position, position + length, GroupKind.FRAME, None, 1)
        elif kind in _FIRST:
            if open_group or fragment:
                yield Group(first, position, GroupKind.FRAGMENT if fragment else GroupKind.OPEN, gtid, count)
                open_group = fragment = False
            if kind == _SELF:
                yield Group(position, position + length, _ALONE.get(role, GroupKind.DDL), None, 1)
            else:
                open_group, begun = True, role is _BEGIN_ROLE
                first, count, what = position, 1, begins if begun else GroupKind.DDL
                gtid = _gtid(code, buffer[pos:end], footer) if role is _GTID_ROLE else None
        else:  # inside, the end, or a reserved marker
            if not open_group and not fragment:
                fragment, first, count, what, gtid = True, position, 0, GroupKind.FRAGMENT, None
            count += 1
            if role is _BEGIN_ROLE and open_group:
                begun, what = True, begins
            if kind == _END:
                yield Group(first, position + length, _ALONE.get(role, what) if open_group else what, gtid, count)
                open_group = fragment = False
        position += length
        pos = end
        if pos > len(buffer):  # the rest of a large event
            file.seek(position)
            buffer, pos = b"", 0
    if open_group or fragment:
        yield Group(first, position, GroupKind.FRAGMENT if fragment else GroupKind.OPEN, gtid, count)
