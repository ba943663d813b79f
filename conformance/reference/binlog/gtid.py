"""GTID (33), ANONYMOUS_GTID (34) and GTID_TAGGED (42): the start of a transaction (binlog-events 6,
binlog-events 7)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Final
from uuid import UUID

from conformance.reference.binlog.gtid_set import encode_tag, read_tag
from conformance.reference.cursor import (
    Cursor,
    Decoded,
    Layout,
    encode_packed,
    encode_signed_varint,
    encode_varint,
    packed_size,
)
from conformance.reference.errors import DecodeError, EncodeError, Unsupported
from conformance.reference.event_types import EventType

NIL_UUID: Final = UUID(int=0)
LOGICAL_CLOCK: Final = 2  # the only logical timestamp type code
MAY_HAVE_SBR: Final = 0x01

_ORIGINAL_TIMESTAMP: Final = 1 << 55
_ORIGINAL_VERSION: Final = 1 << 31
IMMEDIATE_TIMESTAMP: Final = (
    _ORIGINAL_TIMESTAMP - 1
)  # the bits of the number; the bit above them says that a second number follows
IMMEDIATE_VERSION: Final = _ORIGINAL_VERSION - 1
_SERIALIZATION_VERSION: Final = 1
_UNSIGNED: Final = (1 << 64) - 1
_ANONYMOUS: Final = int(EventType.ANONYMOUS_GTID)  # each look-up of a member costs

_FIRST: Final = Layout(gtid_flags="B", uuid="16s", gno="q")
_CLOCK: Final = Layout(clock_type="B", last_committed="Q", sequence_number="Q")
_LENGTH_OFFSET: Final = _FIRST.size + _CLOCK.size + 7  # where there is no original timestamp


@lru_cache(maxsize=64)
def _uuid(raw: bytes) -> UUID:
    """The text of a UUID, cached: a log has few sources, and making the text is slow."""
    return UUID(bytes=raw)


@dataclass(slots=True, unsafe_hash=True)
class Gtid(Decoded):
    """Types 33 and 34. Servers of different age stop at different fields; fields that the server did not write are
    ``None`` (versions 5.3). The class is not frozen, because every transaction of a file needs one.

    5.6 stops after ``gno`` (``last_committed`` is None), 5.7 after ``sequence_number``. The server does not write an
    original timestamp or version that equals the immediate one; the wire form can hold an equal one all the same.
    """

    default_flags: ClassVar[int] = 0

    type: int = EventType.GTID
    gtid_flags: int = 0
    uuid: UUID = NIL_UUID
    gno: int = 0
    last_committed: int | None = 0
    sequence_number: int | None = 1
    immediate_commit_timestamp: int | None = None
    original_commit_timestamp: int | None = None
    transaction_length: int | None = None
    immediate_server_version: int | None = None
    original_server_version: int | None = None
    commit_group_ticket: int | None = None

    @classmethod
    def read(cls, cursor: Cursor, code: int = EventType.GTID) -> Gtid:
        """``code``: GTID or ANONYMOUS_GTID."""
        return read_gtid(code, cursor)

    def encode(self) -> bytes:
        out = _unsigned(self.gtid_flags, 1, "gtid_flags") + self.uuid.bytes
        if not -(1 << 63) <= self.gno < 1 << 63:
            raise EncodeError("out-of-range", "gno does not fit", got=self.gno)
        out += self.gno.to_bytes(8, "little", signed=True)
        stages: tuple[tuple[int | None, ...], ...] = (
            (self.last_committed, self.sequence_number),
            (self.immediate_commit_timestamp, self.original_commit_timestamp),
            (self.transaction_length,),
            (self.immediate_server_version, self.original_server_version),
            (self.commit_group_ticket,),
        )
        for index, stage in enumerate(stages):
            if stage[0] is None:
                if any(part is not None for later in stages[index:] for part in later):
                    raise EncodeError("bad-value", "a field is missing in front of a later one", got=index)
                return out
            out += self._stage(index, stage[0], stage[1] if len(stage) > 1 else None)
        return out

    def _stage(self, index: int, first: int, second: int | None) -> bytes:
        if index == 0:
            if second is None:
                raise EncodeError("bad-value", "sequence_number is missing")
            return (
                bytes((LOGICAL_CLOCK,))
                + _unsigned(first, 8, "last_committed")
                + _unsigned(second, 8, "sequence_number")
            )
        if index == 1:
            return _flagged(first, second, 7, _ORIGINAL_TIMESTAMP, "commit_timestamp")
        if index == 2:
            return encode_packed(first)
        if index == 3:
            return _flagged(first, second, 4, _ORIGINAL_VERSION, "server_version")
        return _unsigned(first, 8, "commit_group_ticket")


def read_gtid(code: int, cursor: Cursor) -> Gtid:
    """An event of type ``code``: GTID or ANONYMOUS_GTID."""
    flags, uuid, gno = cursor.fields(_FIRST, "gtid")
    # What an older writer left out stays None.
    committed = sequence = immediate = original = length = version = original_version = ticket = None
    if cursor.pos < cursor.end:
        pos = cursor.pos
        kind, committed, sequence = cursor.fields(_CLOCK, "logical_clock")
        if kind != LOGICAL_CLOCK:
            raise Unsupported("logical-clock", "unknown logical timestamp", offset=pos, expected=2, got=kind)
    if cursor.pos < cursor.end:
        immediate = cursor.number(7, "immediate_commit_timestamp")
        if immediate & _ORIGINAL_TIMESTAMP:
            immediate &= ~_ORIGINAL_TIMESTAMP
            original = cursor.number(7, "original_commit_timestamp")
    if cursor.pos < cursor.end:
        length = cursor.packed("transaction_length")
    if cursor.pos < cursor.end:
        version = cursor.u4("immediate_server_version")
        if version & _ORIGINAL_VERSION:
            version &= ~_ORIGINAL_VERSION
            original_version = cursor.u4("original_server_version")
    if cursor.pos < cursor.end:
        ticket = cursor.u8("commit_group_ticket")
        cursor.expect_end("GTID")
    return Gtid(
        code, flags, _uuid(uuid), gno, committed, sequence, immediate, original, length, version,
        original_version, ticket,
    )  # fmt: skip


def _unsigned(value: int, size: int, name: str) -> bytes:
    if not 0 <= value < 1 << 8 * size:
        raise EncodeError("out-of-range", f"{name} does not fit", expected=f"{size} bytes", got=value, path=(name,))
    return value.to_bytes(size, "little")


def _flagged(immediate: int, original: int | None, size: int, flag: int, name: str) -> bytes:
    """A number whose top bit says that a second number follows."""
    if not 0 <= immediate < flag:
        raise EncodeError("out-of-range", f"immediate {name} does not fit", got=immediate, path=(name,))
    if original is None:
        return immediate.to_bytes(size, "little")
    return (immediate | flag).to_bytes(size, "little") + _unsigned(original, size, name)


# The fields of the tagged form by number, with their packing.
TAGGED_FIELDS: Final = (
    ("gtid_flags", False),
    ("uuid", False),
    ("gno", True),
    ("tag", False),
    ("last_committed", True),
    ("sequence_number", True),
    ("immediate_commit_timestamp", False),
    ("original_commit_timestamp", False),
    ("transaction_length", False),
    ("immediate_server_version", False),
    ("original_server_version", False),
    ("commit_group_ticket", False),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GtidTagged(Decoded):
    """Type 42: one message of the serialization library, in which nothing has a fixed width."""

    type: ClassVar[int] = EventType.GTID_TAGGED
    default_flags: ClassVar[int] = 0

    gtid_flags: int | None = 0
    uuid: UUID | None = NIL_UUID
    gno: int | None = 1
    tag: str | None = ""
    last_committed: int | None = 0
    sequence_number: int | None = 1
    immediate_commit_timestamp: int | None = 0
    original_commit_timestamp: int | None = None
    transaction_length: int | None = 0
    immediate_server_version: int | None = 90704
    original_server_version: int | None = None
    commit_group_ticket: int | None = None
    last_non_ignorable: int = 0

    @classmethod
    def read(cls, cursor: Cursor) -> GtidTagged:
        start, end = cursor.pos, cursor.end
        version = cursor.varint("version")
        if version != _SERIALIZATION_VERSION:
            raise Unsupported("serialization-version", "unknown message version", offset=start, expected=1, got=version)
        pos = cursor.pos
        size = cursor.varint("message_size")
        length = end - start
        if size > length:
            cursor.refuse(
                DecodeError("truncated", "the message is longer than the event", offset=pos, expected=size, got=length)
            )
        needed = cursor.varint("last_non_ignorable_field")
        if needed > len(TAGGED_FIELDS):
            raise Unsupported(
                "serialization-field", "the writer requires a field that is not known", offset=pos, got=needed
            )
        if start + size < cursor.pos:
            raise DecodeError("bad-length", "the message is shorter than its head", offset=pos, got=size)
        cursor.end = min(start + size, end)
        known: dict[str, object] = dict.fromkeys(name for name, _ in TAGGED_FIELDS)
        last = -1
        while cursor:
            pos = cursor.pos
            number = cursor.varint("field")
            if number <= last:
                cursor.refuse(
                    DecodeError("field-order", "fields are not in order", offset=pos, expected=f"> {last}", got=number)
                )
            last = number
            if number >= len(TAGGED_FIELDS):
                cursor.rest("unknown")  # fields of a newer writer: their form is not known, the message size is
                break
            name, signed = TAGGED_FIELDS[number]
            if name == "uuid":
                parts = [cursor.varint("uuid") for _ in cursor.numbered(16)]
                if max(parts) > 255:
                    raise DecodeError("out-of-range", "a byte of the uuid is above 255", offset=pos, path=("uuid",))
                known[name] = UUID(bytes=bytes(parts))
            elif name == "tag":
                known[name] = read_tag(cursor)
            else:
                known[name] = cursor.signed_varint(name) if signed else cursor.varint(name)
        cursor.end = end
        if cursor:
            raise DecodeError("trailing-bytes", "bytes after the message", offset=cursor.pos, expected=size, got=length)
        return cls(last_non_ignorable=needed, **known)  # type: ignore[arg-type]

    def encode(self) -> bytes:
        fields = bytearray()
        for number, (name, signed) in enumerate(TAGGED_FIELDS):
            value = getattr(self, name)
            if value is None:
                continue
            fields += encode_varint(number)
            try:
                if isinstance(value, UUID):
                    fields += b"".join(map(encode_varint, value.bytes))
                elif isinstance(value, str):
                    fields += encode_tag(value)
                else:
                    fields += encode_signed_varint(value) if signed else encode_varint(value)
            except ValueError as error:
                raise EncodeError("out-of-range", str(error), path=(name,)) from None
        head = encode_varint(_SERIALIZATION_VERSION)
        tail = encode_varint(self.last_non_ignorable) + fields
        # The size counts its own bytes, so its length decides the result.
        size = len(head) + len(tail) + 1
        while len(head) + len(encode_varint(size)) + len(tail) != size:
            size += 1
        return head + encode_varint(size) + tail


def with_transaction_length(gtid: Gtid | GtidTagged, others: int, footer: int) -> Gtid | GtidTagged:
    """``gtid`` with the length of its whole group: its own bytes, and ``others`` bytes of the later events.

    ``footer`` is the size of a checksum. The length's own size is part of the length (binlog-events 6).
    """
    length = others
    while True:
        filled = replace(gtid, transaction_length=length)
        total = others + 19 + len(filled.encode()) + footer
        if total == length:
            return filled
        length = total


def body_with_length(gtid: Gtid | GtidTagged, body: bytes, others: int, footer: int) -> bytes | None:
    """The bytes of an event's body with the length of its whole group, arguments as :func:`with_transaction_length`.

    ``None`` where they are not those that :meth:`Gtid.encode` makes: a newer writer may have more fields, and a length
    may take more bytes than it needs. The form of type 33 has no other choice, so only its length is looked at.
    """
    if isinstance(gtid, GtidTagged):
        return with_transaction_length(gtid, others, footer).encode() if gtid.encode() == body else None
    assert gtid.transaction_length is not None
    start = _LENGTH_OFFSET + (0 if gtid.original_commit_timestamp is None else 7)
    old = encode_packed(gtid.transaction_length)
    end = start + len(old)
    if body[start:end] != old:
        return None
    rest = others + 19 + len(body) - len(old) + footer
    length = rest + 1
    while (total := rest + packed_size(length)) != length:
        length = total
    return body[:start] + encode_packed(length) + body[end:]


def gtid_text(body: object) -> str | None:
    """``UUID:NUMBER`` or ``UUID:TAG:NUMBER``; ``None`` for an anonymous transaction and for other events.

    A field that a message does not have is zero, a number below zero is read without its sign (observed on 9.7.4).
    """
    if not isinstance(body, (Gtid, GtidTagged)) or body.type == _ANONYMOUS:
        return None
    tag = f"{body.tag}:" if isinstance(body, GtidTagged) and body.tag else ""
    uuid = body.uuid
    return f"{_uuid_text(0 if uuid is None else uuid.int)}:{tag}{(body.gno or 0) & _UNSIGNED}"


@lru_cache(maxsize=64)
def _uuid_text(number: int) -> str:
    """As :func:`_uuid`; by number, because a UUID is compared in Python."""
    return str(UUID(int=number))
