"""Files made by hand: positions, lengths of groups, splitting, compression (binlog-events 2, binlog-events 6,
binlog-events 10.1, binlog-events 15).

The writer does no I/O: every method returns the next bytes, so that files of any size can be made.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from struct import Struct
from typing import TYPE_CHECKING
from zlib import crc32

from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged, with_transaction_length
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.header import MAGIC, Checksum, Flag, footer_size
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import DEFAULT_STATUS, Query, Status, StatusInteger

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.binlog.event import Body


_PLACE = Struct("<II")
# A server writes the status variables in an order of its own, not by code: this one stands before the last.
_UPDATE_STATUS = (*DEFAULT_STATUS[:-1], StatusInteger(Status.TABLE_MAP_FOR_UPDATE, 1), DEFAULT_STATUS[-1])


@dataclass(slots=True, kw_only=True)
class FileWriter:
    """A writer of one file. ``position`` is the start of the next event."""

    format: FormatDescription = field(default_factory=FormatDescription)
    timestamp: int = 0
    server_id: int = 1
    position: int = 0

    def start(self, previous: PreviousGtids | None = None, *, in_use: bool = False) -> bytes:
        """The magic, FORMAT_DESCRIPTION, PREVIOUS_GTIDS."""
        self.position = len(MAGIC)
        head = self.add(self.format, flags=Flag.IN_USE if in_use else 0)
        return MAGIC + head + self.add(previous or PreviousGtids())

    def add(self, body: Body, *, flags: int | None = None) -> bytes:
        """One event at the next position."""
        event = encode_event(
            body,
            timestamp=self.timestamp,
            server_id=self.server_id,
            log_pos=None,
            start=self.position,
            flags=flags,
            algorithm=self.format.algorithm,
        )
        self.position += len(event)
        return event

    def copy(self, event: bytes) -> bytes:
        """Write an event of another file with the same checksums at the next position; its ``end_log_pos`` is
        recomputed.
        """
        return self.place(event[: len(event) - footer_size(self.format.algorithm)])

    def place(self, event: bytes) -> bytes:
        """Write an event without a checksum, such as one of a payload, at the next position; its length and
        ``end_log_pos`` are recomputed.
        """
        footer = footer_size(self.format.algorithm)
        placed = bytearray(event)
        length = len(event) + footer
        self.position += length
        _PLACE.pack_into(placed, 9, length, self.position & 0xFFFFFFFF)
        if footer:
            placed += crc32(placed).to_bytes(4, "little")
        return bytes(placed)

    def group(self, gtid: Gtid | GtidTagged, bodies: Iterable[Body]) -> bytes:
        """A transaction: ``gtid`` with the computed length of the group, then ``bodies``."""
        bodies = list(bodies)
        algorithm = self.format.algorithm
        others = sum(len(encode_event(body, algorithm=algorithm)) for body in bodies)
        full = with_transaction_length(gtid, others, footer_size(algorithm))
        return b"".join(map(self.add, (full, *bodies)))

    def compressed(self, bodies: Iterable[Body], level: int = 3) -> TransactionPayload:
        """The events between GTID and the end of the group as one TRANSACTION_PAYLOAD body."""
        inner = b"".join(
            encode_event(body, timestamp=self.timestamp, server_id=self.server_id, algorithm=Checksum.NONE)
            for body in bodies
        )
        return TransactionPayload.compress(inner, level)


def begin(schema: str = "", *, update: bool = False, thread_id: int = 8) -> Query:
    """The BEGIN in front of row events; an UPDATE's BEGIN has one more status variable (binlog-events 8)."""
    return Query(
        text=b"BEGIN",
        schema=schema.encode(),
        thread_id=thread_id,
        status=_UPDATE_STATUS if update else DEFAULT_STATUS,
    )
