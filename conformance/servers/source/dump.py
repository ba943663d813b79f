"""A dump: what a client asks for, and the events that a server sends for it.

Observed on 9.7.4, and compared with it event by event (``tests/servers/source``):

* Each file begins with an artificial ROTATE and its FORMAT_DESCRIPTION without the in-use flag. If the dump begins in
  the middle, its ``log_pos`` and its time of creation are 0. If a dump by GTIDs leaves out the first transaction of the
  file, its time of creation is 0.
* A dump by GTIDs begins with the last file before which all GTIDs are the client's. What it leaves out becomes one
  heartbeat with the position behind it.
* A client that says nothing about checksums is refused if the log has some. What it says holds for the first
  artificial ROTATE alone. Events of a file keep theirs, and artificial events behind them are like them.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from struct import error as struct_error
from typing import TYPE_CHECKING, Final, NamedTuple
from zlib import crc32

from conformance.reference.binlog.control_events import Heartbeat, HeartbeatV2, Rotate
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.header import HEADER_SIZE, MAGIC, Checksum, Flag
from conformance.reference.errors import CodecError
from conformance.servers.source.gtids import GtidSet
from conformance.servers.source.packets import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from conformance.servers.source.log_files import LogFile, LogFiles

NON_BLOCKING: Final = 0x01
_HEARTBEAT_V2: Final = 0x02
_BY_POSITION: Final = Struct("<IHI")
_BY_GTID: Final = Struct("<HII")
_U8: Final = Struct("<Q").unpack_from
_U4: Final = Struct("<I").unpack_from
_LOG_POS_AT, _FLAGS_AT = 13, 17
_CREATED_AT: Final = HEADER_SIZE + 52
_FIRST: Final = len(MAGIC)
_FATAL: Final = 1236


def fatal(text: str) -> Refused:
    """ER_SOURCE_FATAL_ERROR_READING_BINLOG: how a dump ends."""
    return Refused(_FATAL, "HY000", text)


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpRequest:
    """A client's request for a dump.

    ``gtids``: those that the client has, if it asks by GTIDs. ``checksum``: ``None`` if it said nothing. ``period``:
    seconds between heartbeats, 0 for none.
    """

    server_id: int
    file: str
    position: int
    flags: int = 0
    gtids: GtidSet | None = None
    checksum: int | None = None
    period: float = 0.0

    @property
    def blocking(self) -> bool:
        """Whether the client waits for more at the end. A client without a server id does not, whatever it says."""
        return bool(self.server_id) and not self.flags & NON_BLOCKING

    @classmethod
    def by_position(cls, body: bytes, *, checksum: int | None, period: float) -> DumpRequest:
        """COM_BINLOG_DUMP."""
        position, flags, server_id = _BY_POSITION.unpack_from(body)
        name = body[_BY_POSITION.size :].rstrip(b"\0").decode("utf-8", "replace")
        return cls(server_id=server_id, file=name, position=position, flags=flags, checksum=checksum, period=period)

    @classmethod
    def by_gtid(cls, body: bytes, *, checksum: int | None, period: float) -> DumpRequest:
        """COM_BINLOG_DUMP_GTID. Raises :class:`Refused` for a set that cannot be read."""
        try:
            flags, server_id, length = _BY_GTID.unpack_from(body)
            at = _BY_GTID.size + length
            name = body[_BY_GTID.size : at].rstrip(b"\0").decode("utf-8", "replace")
            position = _U8(body, at)[0]
            size = _U4(body, at + 8)[0]
            entries = PreviousGtids.decode(body[at + 12 : at + 12 + size]).entries
        except (struct_error, CodecError) as error:
            raise fatal(f"Replica sent a malformed set of GTIDs: {error}") from error
        return cls(
            server_id=server_id, file=name, position=position, flags=flags, gtids=GtidSet(entries),
            checksum=checksum, period=period,
        )  # fmt: skip


class Sent(NamedTuple):
    """An event of a dump, and the position in the file behind it; ``start`` is ``None`` for events of no file."""

    data: bytes
    file: str
    start: int | None
    end: int


class Dump:
    """The events for one request. :meth:`events` stops at the present end; later calls go on from there."""

    def __init__(self, logs: LogFiles, request: DumpRequest, uuid: UUID) -> None:
        self._logs = logs
        self.request = request
        self._number, self._position = self._begin(uuid)
        self._opened = False
        self._left_out = 0  # the position behind what was left out last
        footer = request.checksum if request.checksum is not None else Checksum.NONE
        self._algorithm = Checksum.CRC32 if footer == Checksum.CRC32 else Checksum.NONE

    def _begin(self, uuid: UUID) -> tuple[int, int]:
        """The number of the file and the position where the dump begins. Raises :class:`Refused`."""
        logs, request = self._logs, self.request
        has = request.gtids
        if has is not None:
            if not logs.executed.only(uuid).covers(has.only(uuid)):
                raise fatal(
                    "Replica has more GTIDs than the source has, using the source's SERVER_UUID. This may indicate "
                    "that the last binary log file was truncated or lost"
                )
            number = next((n for n in reversed(range(len(logs.files))) if has.covers(logs.files[n].previous)), None)
            if number is None:
                raise fatal(
                    "Cannot replicate because the source purged required binary logs. The GTID set sent by the "
                    f"replica is '{has}', and the missing transactions are among '{logs.purged}'"
                )
            return number, _FIRST
        number = logs.number(request.file)
        if number is None:
            raise fatal("Could not find first log file name in binary log index file")
        if request.position < _FIRST:
            raise fatal("Client requested source to start replication from position < 4")
        if request.position > len(logs.files[number].data):
            raise fatal("Client requested source to start replication from position > file size")
        return number, request.position

    @property
    def place(self) -> tuple[str, int]:
        """Where the dump stands."""
        return self._logs.files[self._number].name, self._position

    def events(self) -> Iterator[Sent]:
        """Every event up to the present end. Raises :class:`Refused` where the log cannot be sent."""
        while True:
            file = self._logs.files[self._number]
            if not self._opened:
                yield from self._open(file)
            yield from self._walk(file)
            if self._number + 1 >= len(self._logs.files):
                if self._left_out:
                    yield self._skipped(file)
                return
            self._number, self._position, self._opened = self._number + 1, _FIRST, False
            self._left_out = 0

    def _open(self, file: LogFile) -> Iterator[Sent]:
        rotate = Rotate(name=file.name.encode("utf-8", "surrogateescape"), position=self._position)
        yield Sent(self._made(rotate, file, 0, Flag.ARTIFICIAL), file.name, None, self._position)
        if self.request.checksum is None and file.algorithm == Checksum.CRC32:
            raise fatal(
                "Replica can not handle replication events with the checksum that source is configured to log; the "
                f"first event '{file.name}' at {self._position}"
            )
        yield Sent(self._description(file), file.name, _FIRST, file.starts[1] if len(file.starts) > 1 else file.end)
        self._opened = True
        self._algorithm = Checksum.CRC32 if file.algorithm == Checksum.CRC32 else Checksum.NONE
        if self._position == _FIRST:
            self._position = file.starts[1] if len(file.starts) > 1 else file.end

    def _description(self, file: LogFile) -> bytes:
        start = file.starts[0]
        event = bytearray(file.data[start : start + _U4(file.data, start + 9)[0]])
        event[_FLAGS_AT] &= ~Flag.IN_USE & 0xFF
        if self._position > _FIRST:
            event[_LOG_POS_AT : _LOG_POS_AT + 4] = bytes(4)
        if self._position > _FIRST or self._leaves_out_first(file):
            event[_CREATED_AT : _CREATED_AT + 4] = bytes(4)
        if file.algorithm == Checksum.CRC32:  # in a file without checksums the server leaves the old one
            event[-4:] = crc32(event[:-4]).to_bytes(4, "little")
        return bytes(event)

    def _leaves_out_first(self, file: LogFile) -> bool:
        has, groups = self.request.gtids, file.groups
        return has is not None and bool(groups) and groups[0].gtid is not None and groups[0].gtid in has

    def _walk(self, file: LogFile) -> Iterator[Sent]:
        """The events of a file from the present position."""
        has = self.request.gtids
        left_out: dict[int, int] = {}
        if has is not None:
            left_out = {group.start: group.end for group in file.groups if group.gtid is not None and group.gtid in has}
        while self._position < file.end:
            start = self._position
            if start in left_out:
                self._position = self._left_out = left_out[start]
                continue
            if self._left_out:
                yield self._skipped(file)
            length = _U4(file.data, start + 9)[0] if start + HEADER_SIZE <= file.end else 0
            if length < HEADER_SIZE or start + length > file.end:
                break
            self._position = start + length
            yield Sent(bytes(file.data[start : start + length]), file.name, start, self._position)
        if self._position < len(file.data) and (self._number + 1 < len(self._logs.files) or self._position < file.end):
            raise fatal(f"{self._complaint(file)}; the first event '{file.name}' at {self._position}")

    def _complaint(self, file: LogFile) -> str:
        """Return the complaint about the bytes at the present position."""
        head = bytes(file.data[self._position : self._position + HEADER_SIZE])
        if len(head) == HEADER_SIZE and _U4(head, 9)[0] < HEADER_SIZE:
            return "bogus data in log event"
        return "log event entry exceeded max_allowed_packet; Increase max_allowed_packet on source"

    def _skipped(self, file: LogFile) -> Sent:
        """The heartbeat in the place of what the client has."""
        end, self._left_out = self._left_out, 0
        return Sent(self._heartbeat(file, end), file.name, None, end)

    def heartbeat(self) -> bytes:
        """A heartbeat with the present position."""
        return self._heartbeat(self._logs.files[self._number], self._position)

    def _heartbeat(self, file: LogFile, position: int) -> bytes:
        name = file.name.encode("utf-8", "surrogateescape")
        if self.request.flags & _HEARTBEAT_V2:
            return self._made(HeartbeatV2(name=name, position=position), file, position, 0)
        return self._made(Heartbeat(name=name), file, position, 0)

    def _made(self, body: Rotate | Heartbeat | HeartbeatV2, file: LogFile, log_pos: int, flags: int) -> bytes:
        return encode_event(
            body, server_id=file.server_id, log_pos=log_pos & 0xFFFFFFFF, flags=flags, algorithm=self._algorithm
        )
