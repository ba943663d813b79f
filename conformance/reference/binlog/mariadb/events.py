"""The events that only MariaDB writes: GTIDs, its list of them, annotations, checkpoints, the start of encryption.

Layouts from MariaDB's documentation of its replication protocol, and as observed on 10.11.19.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from conformance.reference.cursor import Decoded, Layout
from conformance.reference.errors import DecodeError, EncodeError
from conformance.reference.event_types import MariadbEventType

if TYPE_CHECKING:
    from conformance.reference.cursor import Cursor

_GTID: Final = Layout(seq_no="Q", domain_id="I", gtid_flags="B")
_XID: Final = Layout(format_id="I", gtrid_length="B", bqual_length="B")
_ENTRY: Final = Layout(domain_id="I", server_id="I", seq_no="Q")
_ENCRYPTION: Final = Layout(scheme="B", key_version="I", nonce="12s")
_LEAST: Final = 19  # bytes of a GTID: a shorter one is filled with zeros
_LEAST_LIST: Final = 6
_COUNT: Final = (1 << 28) - 1
_MAX_U4: Final = (1 << 32) - 1
_MAX_U8: Final = (1 << 64) - 1
_XA_LIMIT: Final = 64


class GtidFlag(IntFlag):
    """The flags of a GTID."""

    STANDALONE = 0x01  # one statement without COMMIT; else the event begins a transaction
    GROUP_COMMIT_ID = 0x02
    TRANSACTIONAL = 0x04
    ALLOW_PARALLEL = 0x08
    WAITED = 0x10
    DDL = 0x20
    PREPARED_XA = 0x40
    COMPLETED_XA = 0x80


class Xid(NamedTuple):
    """The name of an XA transaction."""

    gtrid: bytes
    bqual: bytes
    format_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MariadbGtid(Decoded):
    """The GTID of a transaction, which also begins it: there is no BEGIN. The server's number is in the header.

    ``rest``: the bytes behind, which say more about other storage engines and ALTER TABLE in two phases.
    """

    type: ClassVar[int] = MariadbEventType.GTID
    default_flags: ClassVar[int] = 0
    seq_no: int
    domain_id: int = 0
    gtid_flags: int = GtidFlag.TRANSACTIONAL | GtidFlag.ALLOW_PARALLEL
    commit_id: int | None = None
    xid: Xid | None = None
    rest: bytes = b""

    @property
    def begins(self) -> bool:
        """Whether a transaction begins here: else one statement follows."""
        return not self.gtid_flags & GtidFlag.STANDALONE

    @classmethod
    def read(cls, cursor: Cursor) -> MariadbGtid:
        start = cursor.pos
        seq_no, domain_id, flags = cursor.fields(_GTID, "gtid")
        commit_id = cursor.u8("commit_id") if flags & GtidFlag.GROUP_COMMIT_ID else None
        xid = _xid(cursor) if flags & (GtidFlag.PREPARED_XA | GtidFlag.COMPLETED_XA) else None
        used = cursor.pos - start
        rest = cursor.rest("rest")
        if used + len(rest) < _LEAST:
            raise DecodeError(
                "truncated", "a GTID has at least 19 bytes", offset=start, expected=_LEAST, got=used + len(rest)
            )
        # The zeros that fill a short event are no fields.
        filled = rest if used + len(rest) > _LEAST or rest.strip(b"\0") else b""
        return cls(
            seq_no=seq_no, domain_id=domain_id, gtid_flags=flags, commit_id=commit_id, xid=xid, rest=filled,
        )  # fmt: skip

    def encode(self) -> bytes:
        if not 0 <= self.seq_no <= _MAX_U8 or not 0 <= self.domain_id <= _MAX_U4:
            raise EncodeError("out-of-range", "the GTID does not fit", got=self.text(0))
        out = _GTID.pack(self.seq_no, self.domain_id, self.gtid_flags)
        if bool(self.gtid_flags & GtidFlag.GROUP_COMMIT_ID) != (self.commit_id is not None):
            raise EncodeError("bad-value", "commit_id and its flag belong together", got=self.commit_id)
        if self.commit_id is not None:
            out += self.commit_id.to_bytes(8, "little")
        if self.xid is not None:
            gtrid, bqual, format_id = self.xid
            out += _XID.pack(format_id, len(gtrid), len(bqual)) + gtrid + bqual
        return (out + self.rest).ljust(_LEAST, b"\0")

    def text(self, server_id: int) -> str:
        """The GTID as MariaDB writes it: domain, server and number."""
        return f"{self.domain_id}-{server_id}-{self.seq_no}"


def _xid(cursor: Cursor) -> Xid:
    pos = cursor.pos
    format_id, gtrid, bqual = cursor.fields(_XID, "xid")
    if gtrid > _XA_LIMIT or bqual > _XA_LIMIT:
        cursor.refuse(DecodeError("too-long", "parts of an XID have at most 64 bytes", offset=pos, got=(gtrid, bqual)))
    first = cursor.take(gtrid, "gtrid")
    return Xid(first, cursor.take(bqual, "bqual"), format_id)


class ListedGtid(NamedTuple):
    """The last GTID of a domain and a server."""

    domain_id: int
    server_id: int
    seq_no: int

    def __str__(self) -> str:
        return f"{self.domain_id}-{self.server_id}-{self.seq_no}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GtidList(Decoded):
    """The GTIDs in front of a file, the last of each domain and server. ``list_flags``: four bits of the count."""

    type: ClassVar[int] = MariadbEventType.GTID_LIST
    default_flags: ClassVar[int] = 0
    entries: tuple[ListedGtid, ...] = ()
    list_flags: int = 0

    @classmethod
    def read(cls, cursor: Cursor) -> GtidList:
        start = cursor.pos
        word = cursor.u4("count")
        count = word & _COUNT
        if count * _ENTRY.size > len(cursor):
            cursor.refuse(
                DecodeError("truncated", "no room for the GTIDs", offset=start, expected=count, got=len(cursor))
            )
        entries = tuple([ListedGtid(*cursor.fields(_ENTRY, "gtid")) for _ in cursor.numbered(count)])
        if not count:
            cursor.take(_LEAST_LIST - 4, "fill")
        cursor.expect_end("GTID_LIST")
        return cls(entries=entries, list_flags=word >> 28)

    def encode(self) -> bytes:
        head = (len(self.entries) | self.list_flags << 28).to_bytes(4, "little")
        return (head + b"".join(_ENTRY.pack(*entry) for entry in self.entries)).ljust(_LEAST_LIST, b"\0")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotateRows(Decoded):
    """The statement of the row events that follow."""

    type: ClassVar[int] = MariadbEventType.ANNOTATE_ROWS
    default_flags: ClassVar[int] = 0
    text: bytes

    @classmethod
    def read(cls, cursor: Cursor) -> AnnotateRows:
        return cls(text=cursor.rest("text"))

    def encode(self) -> bytes:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class BinlogCheckpoint(Decoded):
    """The oldest file that a recovery after a crash needs."""

    type: ClassVar[int] = MariadbEventType.BINLOG_CHECKPOINT
    default_flags: ClassVar[int] = 0
    name: bytes

    @classmethod
    def read(cls, cursor: Cursor) -> BinlogCheckpoint:
        name = cursor.sized(4, "name")
        cursor.expect_end("BINLOG_CHECKPOINT")
        return cls(name=name)

    def encode(self) -> bytes:
        return len(self.name).to_bytes(4, "little") + self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class StartEncryption(Decoded):
    """The event behind which a log is encrypted, headers of events included."""

    type: ClassVar[int] = MariadbEventType.START_ENCRYPTION
    default_flags: ClassVar[int] = 0
    scheme: int = 1
    key_version: int
    nonce: bytes

    @classmethod
    def read(cls, cursor: Cursor) -> StartEncryption:
        scheme, key_version, nonce = cursor.fields(_ENCRYPTION, "START_ENCRYPTION")
        cursor.expect_end("START_ENCRYPTION")
        return cls(scheme=scheme, key_version=key_version, nonce=nonce)

    def encode(self) -> bytes:
        return _ENCRYPTION.pack(self.scheme, self.key_version, self.nonce)
