"""The parts of every event: the 19-byte header, its flags and its checksum (binlog-events 2, binlog-events 3)."""

from __future__ import annotations

from enum import IntEnum, IntFlag
from struct import Struct
from struct import error as struct_error
from typing import Final, NamedTuple
from zlib import crc32

from conformance.reference.cursor import Layout
from conformance.reference.errors import DecodeError, EncodeError
from conformance.reference.event_types import EventType, event_name

MAGIC: Final = b"\xfebin"
ENCRYPTED_MAGIC: Final = b"\xfdbin"
HEADER_SIZE: Final = 19
FOOTER_SIZE: Final = 4

HEADER: Final = Layout(timestamp="I", type="B", server_id="I", length="I", log_pos="I", flags="H")
LENGTH_AND_POSITION: Final = Struct("<9xII").unpack_from  # of bytes that may be a header
_FLAGS_OFFSET: Final = 17
_MAX_U4: Final = (1 << 32) - 1


class Flag(IntFlag):
    """Bits of the header's flag word (binlog-events 2.1)."""

    IN_USE = 0x0001
    THREAD_SPECIFIC = 0x0004
    SUPPRESS_USE = 0x0008
    ARTIFICIAL = 0x0020
    RELAY_LOG = 0x0040
    IGNORABLE = 0x0080
    NO_FILTER = 0x0100
    MTS_ISOLATE = 0x0200


class Checksum(IntEnum):
    """The algorithm byte of FORMAT_DESCRIPTION. UNDEFINED: a server before 5.6.1, which has no such byte."""

    NONE = 0
    CRC32 = 1
    UNDEFINED = 255


class Header(NamedTuple):
    """The fields of the common header. A tuple, because a file has one header for every event.

    ``length`` counts header, body and checksum. ``log_pos`` is the position after the event in the file of the server
    that wrote it, modulo 2^32.
    """

    timestamp: int
    type: int
    server_id: int
    length: int
    log_pos: int
    flags: int

    @property
    def name(self) -> str:
        return event_name(self.type)

    def encode(self) -> bytes:
        return encode_header(self)


def decode_header(data: bytes, offset: int = 0) -> Header:
    """The header at ``offset``. The caller checks ``length``, because the limit depends on the checksum."""
    if len(data) - offset < HEADER_SIZE:
        raise DecodeError(
            "truncated",
            "an event header needs 19 bytes",
            offset=offset,
            expected=HEADER_SIZE,
            got=max(0, len(data) - offset),
            path=("header",),
        )
    return Header._make(HEADER.unpack_from(data, offset))


def kind_of(event: bytes) -> int:
    """The type code of an event; 0, a code without an event, where the bytes are too short."""
    return event[4] if len(event) > 4 else 0


def encode_header(header: Header) -> bytes:
    try:
        return HEADER.struct.pack(*header)
    except struct_error:
        for field, value in zip(Header._fields, header, strict=True):
            limit = 0xFF if field == "type" else 0xFFFF if field == "flags" else _MAX_U4
            if not 0 <= value <= limit:
                raise EncodeError(
                    "out-of-range", f"{field} does not fit", expected=f"0..{limit}", got=value, path=(field,)
                ) from None
        raise


def checksum_of(event: bytes | memoryview) -> int:
    """CRC-32 of an event without its footer.

    FORMAT_DESCRIPTION is summed as if IN_USE were clear, because the server clears that flag in place when it closes
    the file (binlog-events 2.2; an open file is in the corpus).
    """
    if len(event) >= HEADER_SIZE and event[4] == EventType.FORMAT_DESCRIPTION and event[_FLAGS_OFFSET] & Flag.IN_USE:
        flags = event[_FLAGS_OFFSET] & ~Flag.IN_USE
        return crc32(event[_FLAGS_OFFSET + 1 :], crc32(bytes((flags,)), crc32(event[:_FLAGS_OFFSET])))
    return crc32(event)


def footer_size(algorithm: int) -> int:
    """Bytes of the checksum at the end of every event, except FORMAT_DESCRIPTION, which has its own rule."""
    return FOOTER_SIZE if algorithm == Checksum.CRC32 else 0
