"""FORMAT_DESCRIPTION (15): the first event of a file, which says how to read the rest (binlog-events 3,
binlog-events 4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Final

from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, Checksum
from conformance.reference.cursor import Cursor, Decoded, Layout
from conformance.reference.errors import DecodeError, EncodeError, Unsupported
from conformance.reference.event_types import EventType

_FIXED: Final = Layout(binlog_version="H", server_version="50s", created="I", header_length="B")
_ALGORITHM: Final = Layout(checksum_algorithm="B")
_NUMBER: Final = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+)")

# Lengths after the common header, types 1 to 42, of an 8.4 to 9.7 server (versions 5.1).
# The table says 40 for type 40, although a TRANSACTION_PAYLOAD has no such part: readers must not use it.
POST_HEADER_LENGTHS: Final = bytes.fromhex(
    "000d0008000000000400040000006300041a08000000000000020000000a0a0a2a2a001234000a280000"
)


def is_mariadb(server_version: str) -> bool:
    """Whether a server of this version is MariaDB: its version text says so."""
    return "mariadb" in server_version.lower()


def _has_footer(server_version: str) -> bool:
    """Whether a server writes algorithm and checksum: MySQL from 5.6.1 on, MariaDB from 5.3 on. Only the version text
    tells.
    """
    numbers = _NUMBER.match(server_version)
    first = (5, 3, 0) if is_mariadb(server_version) else (5, 6, 1)
    return numbers is None or tuple(map(int, numbers.groups())) >= first


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatDescription(Decoded):
    """The first event of a file. ``algorithm`` is the checksum of the *following* events; this event always has one."""

    type: ClassVar[int] = EventType.FORMAT_DESCRIPTION
    default_flags: ClassVar[int] = 0

    server_version: str = "9.7.4"
    created: int = 0
    binlog_version: int = 4
    header_length: int = HEADER_SIZE
    post_header_lengths: bytes = POST_HEADER_LENGTHS
    algorithm: int = Checksum.CRC32

    @property
    def mariadb(self) -> bool:
        """Whether MariaDB wrote the file."""
        return is_mariadb(self.server_version)

    @property
    def has_footer(self) -> bool:
        """Whether this event itself ends with a checksum: always, except before 5.6.1."""
        return self.algorithm != Checksum.UNDEFINED

    def post_header_length(self, code: int) -> int | None:
        """The post-header length of type ``code`` in the writer's table; ``None``: the table has no such type."""
        return self.post_header_lengths[code - 1] if 0 < code <= len(self.post_header_lengths) else None

    @classmethod
    def read(cls, cursor: Cursor) -> FormatDescription:
        """Read everything after the common header, **footer included**: the cursor's length determines the length of
        the table of post-header lengths. The footer stays unread.
        """
        if len(cursor) < _FIXED.size:
            raise DecodeError(
                "truncated",
                "FORMAT_DESCRIPTION is too short",
                offset=cursor.pos,
                expected=_FIXED.size,
                got=len(cursor),
            )
        binlog_version, version, created, header_length = cursor.fields(_FIXED, "FORMAT_DESCRIPTION")
        if binlog_version != 4:
            raise Unsupported("binlog-version", "only version 4 is known", offset=0, expected=4, got=binlog_version)
        if header_length != HEADER_SIZE:
            raise Unsupported("header-length", "another header size", offset=56, expected=19, got=header_length)
        text = version.rstrip(b"\0").decode("utf-8", "surrogateescape")
        algorithm: int = Checksum.UNDEFINED
        lengths = len(cursor)
        has_footer = _has_footer(text)
        if has_footer:
            lengths -= FOOTER_SIZE + _ALGORITHM.size
            if lengths < 0:
                raise DecodeError(
                    "truncated",
                    "no room for algorithm and checksum",
                    offset=cursor.end,
                    expected=5,
                    got=_FIXED.size + lengths,
                )
        table = cursor.octets(lengths, "post_header_length", 1)
        if has_footer:
            algorithm = cursor.u1("checksum_algorithm")
            if algorithm not in (Checksum.NONE, Checksum.CRC32):
                raise Unsupported(
                    "checksum-algorithm", "unknown checksum algorithm", offset=cursor.pos - 1, got=algorithm
                )
        return cls(
            binlog_version=binlog_version,
            server_version=text,
            created=created,
            header_length=header_length,
            post_header_lengths=table,
            algorithm=algorithm,
        )

    def encode(self) -> bytes:
        """The body without the footer."""
        version = self.server_version.encode("utf-8", "surrogateescape")
        if len(version) > 50:
            raise EncodeError("too-long", "server_version has at most 50 bytes", expected=50, got=len(version))
        head = _FIXED.pack(self.binlog_version, version, self.created, self.header_length)
        return head + self.post_header_lengths + (_ALGORITHM.pack(self.algorithm) if self.has_footer else b"")
