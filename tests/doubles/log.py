"""The binary log of a double: the files of the server behind it, as the older version would have written them.

Places in them differ: the description is shorter where the version has fewer types. So every place that the server
names, and every event that it sends to a replica, is that of the copy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.event import decode_event, encode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.header import HEADER_SIZE, Checksum
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.rows import ROWS_TYPES
from conformance.reference.binlog.versions import post_header_lengths, written
from conformance.reference.event_types import EventType
from conformance.servers.wire.capture import split_events
from conformance.servers.wire.groups import STARTS
from tests.faults.servers.log import FaultyLog, with_checksum

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from conformance.reference.binlog.event import Body
    from conformance.reference.dialect import Dialect
    from conformance.requirements.versions import Version
    from tests.faults.servers.fault import ChangedLog

_ROWS_FLAGS: Final = HEADER_SIZE + 6  # behind the number of the table
_TYPED: Final = frozenset((EventType.GTID, EventType.ANONYMOUS_GTID, EventType.QUERY))
_BETWEEN: Final = frozenset((EventType.ROTATE, EventType.FORMAT_DESCRIPTION, EventType.PREVIOUS_GTIDS, EventType.STOP))


@dataclass(frozen=True, slots=True)
class Writer:
    """Events as a version writes them."""

    version: str
    number: Version
    dialect: Dialect

    def transaction(self, events: Sequence[bytes]) -> list[bytes]:
        """The events of a transaction, or those at the start of a file."""
        return [self.event(event) for event in events]

    def event(self, event: bytes) -> bytes:
        """One event; its checksum and its place are put right by the log."""
        kind = event[4]
        if kind in ROWS_TYPES:
            flags = event[_ROWS_FLAGS] & self.dialect.log.rows_flags_mask
            return event[:_ROWS_FLAGS] + bytes((flags,)) + event[_ROWS_FLAGS + 1 :]
        if kind == EventType.ROWS_QUERY and self.dialect.log.rows_query_length == "low-byte":
            size = len(event) - HEADER_SIZE - 1 - (4 if with_checksum(event) else 0)
            return event[:HEADER_SIZE] + bytes((size & 0xFF,)) + event[HEADER_SIZE + 1 :]
        if kind == EventType.FORMAT_DESCRIPTION or kind in _TYPED or kind == EventType.TRANSACTION_PAYLOAD:
            return self._typed(event)
        return event

    def _typed(self, event: bytes) -> bytes:
        algorithm = Checksum.CRC32 if with_checksum(event) else Checksum.NONE
        header, body, *_ = decode_event(event, algorithm=algorithm, verify=False)
        made: Body | None
        if isinstance(body, FormatDescription):
            lengths = post_header_lengths(self.dialect.log)
            made = replace(body, server_version=self.version, post_header_lengths=lengths)
        elif isinstance(body, Gtid):
            made = self._gtid(body)
        elif isinstance(body, TransactionPayload):
            inner = b"".join(map(self._inner, split_events(body.uncompressed())))
            made = body if inner == body.uncompressed() else TransactionPayload.compress(inner)
        else:
            made = written(body, self.dialect)
        if made is None or made == body:
            return event
        return encode_event(
            made, timestamp=header.timestamp, server_id=header.server_id, flags=header.flags, algorithm=algorithm
        )

    def _inner(self, event: bytes) -> bytes:
        """An event of a compressed transaction: it has no checksum and no place."""
        made = self.event(event)
        return made[:9] + len(made).to_bytes(4, "little") + b"\0\0\0\0" + made[17:]

    def _gtid(self, body: Gtid) -> Gtid:
        """The server's version stands in it, and another one where the transaction came from a replica's source."""
        if body.immediate_server_version is None:
            return body
        major, minor, patch = self.number
        own = major * 10_000 + minor * 100 + patch
        original = None if body.original_server_version == own else body.original_server_version
        return replace(body, immediate_server_version=own, original_server_version=original)


class DoubleLog(FaultyLog):
    """The copies of one server's files, and which event of a copy stands for which event of the server's file."""

    def __init__(self, data: Path, copies: Path, change: ChangedLog) -> None:
        super().__init__(data, copies, change)
        self._events: dict[tuple[str, int], bytes] = {}  # file, end in the real one -> what stands there in the copy
        self._real: dict[tuple[str, int], int] = {}  # file, place in the copy -> place in the real one

    def forget(self) -> None:
        """The server has removed its files, and begins again."""
        with self._lock:
            for kept in (self._done, self._events, self._real):
                kept.clear()
            for copy in self._copies.iterdir():
                copy.unlink()

    def event(self, name: str, end: int, start: int, event: bytes) -> bytes:
        """The bytes in the copy that stand for an event of the real file; empty where none do."""
        if (name, end) not in self._events:
            # A transaction is in the file as a whole when its first event is sent, and only as a whole can be copied.
            self.position(name, start + transaction_length(event) if event[4] in STARTS else end)
        return self._events.get((name, end), b"")

    def place(self, name: str, end: int) -> int:
        """The place in the copy for one in the real file, behind an event that was copied."""
        made = self._events.get((name, end))
        return end if not made else int.from_bytes(made[13:17], "little")

    def real_place(self, name: str, place: int) -> int:
        """The place in the real file for one in the copy."""
        return self._real.get((name, place), place)

    def _groups(self, events: list[bytes]) -> list[list[bytes]]:
        return whole_groups(events)

    def _note(self, name: str, real: list[bytes], start: int, made: list[bytes], begun: int) -> None:
        """Remember what stands where. Where events are missing or more, all stand for the first one."""
        alike = len(made) == len(real)
        for number, event in enumerate(real):
            start += len(event)
            begun += len(made[number]) if alike else sum(map(len, made)) if not number else 0
            self._events[name, start] = made[number] if alike else b"" if number else b"".join(made)
            self._real[name, begun] = start


def transaction_length(event: bytes) -> int:
    """The bytes of the transaction that a GTID event begins."""
    _, body, *_ = decode_event(event, verify=False)
    assert isinstance(body, Gtid | GtidTagged)
    assert body.transaction_length is not None
    return body.transaction_length


def whole_groups(events: Iterable[bytes]) -> list[list[bytes]]:
    """Events cut in front of each transaction, and at what stands between transactions."""
    groups: list[list[bytes]] = []
    for event in events:
        alone = event[4] in _BETWEEN
        if not groups or alone or event[4] in STARTS or groups[-1][-1][4] in _BETWEEN:
            groups.append([])
        groups[-1].append(event)
    return groups
