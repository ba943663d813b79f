"""The bytes that a server wrote to its binary log between two moments.

Two ways give the same bytes: reading the files (servers the lab started) and the replication protocol (servers at an
address). The common form has events as they stand in the file, header and checksum included, with the in-use flag of a
FORMAT_DESCRIPTION_EVENT cleared. It leaves out events that exist only on the wire (artificial ROTATE, heartbeats). If
the log rotates in between, the bytes include the old file's ROTATE_EVENT and the new file's FORMAT_DESCRIPTION and
PREVIOUS_GTIDS events.

Facts: WL#2955 requirements 0.3 (position before and after, in-use flag and checksum), replication protocol
documentation (COM_BINLOG_DUMP). Observed on 9.7.4: the description event that opens a dump from the middle of a file
has end_log_pos 0 and so differs from the file's. The capture therefore fetches it with a dump from position 4.
"""

from __future__ import annotations

import binascii
from contextlib import closing
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Protocol

from conformance.requirements.versions import dialect_of
from conformance.servers.errors import BogusLog, CaptureError, NoBinaryLog, SqlError, UnreadableLog
from conformance.servers.wire.groups import STARTS
from conformance.servers.wire.log_facts import has_writesets

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from conformance.servers.wire.connection import Connection

_HEADER = Struct("<IBIIIH")  # timestamp, type, server id, event length, end position, flags
_LENGTH = Struct("<I").unpack_from
_ROTATE, _FORMAT_DESCRIPTION, _HEARTBEAT, _HEARTBEAT_V2 = 4, 15, 27, 41
_IN_USE, _ARTIFICIAL = 0x0001, 0x0020
_MAGIC, _ENCRYPTED_MAGIC = b"\xfebin", b"\xfdbin"
_COM_BINLOG_DUMP, _NON_BLOCKING = 0x12, 0x0001
_FATAL = 1236  # for many reasons; these are those of a log that its server cannot read
_BOGUS = ("bogus data in log event", "truncated in the middle of event")
_FIRST = 4
_CRC32 = 1  # the algorithm of checksums, in front of the event's own
_COUNTED = 256 << 20  # the most bytes that the capture reads to count transactions


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Position:
    """A place in the binary log: the start of the next event."""

    file: str
    offset: int

    @property
    def number(self) -> int:
        """The file's number: the digits at the end of its name, which rise by one."""
        return int(self.file.rpartition(".")[2])

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """``events`` between ``start`` and ``end``; ``format_description`` belongs to the file in which ``start`` lies."""

    start: Position
    end: Position
    format_description: bytes
    events: tuple[bytes, ...]

    @property
    def algorithm(self) -> int:
        """The checksum of the events."""
        from conformance.reference.binlog.event import decode_event
        from conformance.reference.binlog.format_description import FormatDescription

        body = decode_event(self.format_description).body
        assert isinstance(body, FormatDescription), "a capture begins with another event"
        return body.algorithm

    def file_bytes(self) -> bytes:
        """A binary log file with these events, in the form that every reader of files takes."""
        return b"".join((_MAGIC, self.format_description, *self.events))


class Logging(Protocol):
    """The interface that a capture needs of a server."""

    id: str
    number: tuple[int, int, int]
    started_by_us: bool
    files_readable: bool  # its paths are paths of this machine

    def connect(self) -> Connection:
        """A new session."""


class Capture:
    """Takes marks and reads the events between them. Keeps one session of its own."""

    def __init__(self, server: Logging, *, over_protocol: bool | None = None) -> None:
        self._server = server
        self._connection: Connection | None = None
        self._over_protocol = over_protocol
        self._directory: Path | None = None
        self._descriptions: dict[str, bytes] = {}
        self._counted: tuple[Position, int] | None = None
        self._writesets: bool | None = None
        self._show_log = dialect_of(server.number).terms.show_log
        self._shown = False  # whether the server has shown a position: then an empty answer does not mean "no log"

    @property
    def over_protocol(self) -> bool:
        """Whether the capture uses the replication protocol; decided on first use unless the caller chose."""
        if self._over_protocol is None:
            self._over_protocol = not self._files_readable()
        return self._over_protocol

    def _session(self) -> Connection:
        if self._connection is None or self._connection.closed:
            self._connection = self._server.connect()
        return self._connection

    def mark(self, connection: Connection | None = None) -> Position:
        """The present end of the log. Everything that a session received an OK for before lies in front of it."""
        session = connection or self._session()
        try:
            shown = session.execute(self._show_log)
        except SqlError as error:
            if error.number == 1227:
                raise NoBinaryLog(
                    "the account may not ask for the position of the log: GRANT REPLICATION CLIENT is missing",
                    self._server.id,
                ) from error
            raise
        if not shown.rows:
            if self._shown or session.variable("global.log_bin") != "0":
                raise CaptureError(f"{self._server.id} shows no position of its binary log")
            raise NoBinaryLog(f"{self._server.id} writes no binary log (log_bin is OFF)", self._server.id)
        self._shown = True
        file, offset, *_ = shown.only()
        return Position(file=str(file), offset=int(offset or 0))

    def since(self, start: Position, end: Position | None = None) -> Captured:
        """Everything from ``start`` to ``end`` (default: to now)."""
        if end is None:
            end = self.mark()
        if self.over_protocol:
            events: tuple[bytes, ...] = tuple(self._dump(start, end)) if end != start else ()
        else:
            events = tuple(self._read_files(start, end))
        return Captured(start=start, end=end, format_description=self.description(start.file), events=events)

    # -- facts about the log ----------------------------------------------------------------------------------------

    @property
    def started_by_us(self) -> bool:
        """Whether the lab started the server, so that only the lab writes to this log."""
        return self._server.started_by_us

    def writesets(self, connection: Connection) -> bool:
        """Whether the logical clock follows rows; the capture asks once."""
        if self._writesets is None:
            self._writesets = has_writesets(connection)
        return self._writesets

    def transactions_before(self, position: Position) -> int | None:
        """How many transactions a file has before a position: the next sequence number follows from it.

        ``None`` over the protocol, for long logs, whose transactions the capture does not count, and for a log that a
        crash has cut: it is whole events up to some place only.
        """
        if self.over_protocol:
            return None
        first = Position(file=position.file, offset=_FIRST), 0
        counted = self._counted
        if counted is None or counted[0].file != position.file or counted[0] > position:
            counted = first
        for known, count in dict.fromkeys((counted, first)):  # the file may be another one of the same name
            if position.offset - known.offset > _COUNTED:
                return None
            more = self._count(known, position.offset)
            if more is not None:
                self._counted = position, count + more
                return count + more
        return None

    def _count(self, start: Position, end: int) -> int | None:
        """Count the transactions in a file from a position on, without holding the file in memory.

        ``None`` where something else than a whole event stands before ``end``.
        """
        path = self._log_path(start.file)
        count, place = 0, start.offset
        if not path.stat().st_size:
            return None
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            while place < end:
                whole = place + _HEADER.size <= end <= len(data)
                length = _LENGTH(data, place + 9)[0] if whole else 0
                if length < _HEADER.size:
                    return None
                count += data[place + 4] in STARTS
                place += length
        return count if place == end else None

    # -- files ------------------------------------------------------------------------------------------------------

    def _files_readable(self) -> bool:
        if not self._server.files_readable:  # the path of a container's log may exist here, and be another server's
            return False
        base = self._session().variable("log_bin_basename")
        if not base:
            return False
        self._directory = Path(base).parent
        current = self._directory / self.mark().file
        try:
            with current.open("rb") as file:
                return file.read(4) == _MAGIC  # an encrypted log is read through the server
        except OSError:
            return False

    def _log_path(self, name: str) -> Path:
        if self._directory is None:
            self._directory = Path(self._session().variable("log_bin_basename") or "").parent
        return self._directory / name

    def _names(self, start: Position, end: Position) -> list[str]:
        """The files from start to end, by the server's index."""
        if start.file == end.file:
            if end.offset < start.offset:
                raise CaptureError(f"the binary log was reset: its end {end} is before the start {start}")
            return [start.file]
        names = [str(row[0]) for row in self._session().execute("SHOW BINARY LOGS").texts()]
        if start.file not in names or end.file not in names or names.index(start.file) > names.index(end.file):
            raise CaptureError(f"the binary log from {start} to {end} is gone (purged or reset); there are {names}")
        return names[names.index(start.file) : names.index(end.file) + 1]

    def _read_files(self, start: Position, end: Position) -> Iterator[bytes]:
        names = self._names(start, end)
        for name in names:
            path = self._log_path(name)
            first = start.offset if name == start.file else _FIRST
            last = end.offset if name == end.file else path.stat().st_size
            with path.open("rb") as file:
                file.seek(first)
                data = file.read(last - first)
            if len(data) != last - first:
                raise CaptureError(f"{path} has {first + len(data)} bytes, expected {last}")
            yield from split_events(data)

    # -- protocol ---------------------------------------------------------------------------------------------------

    def _dump(self, start: Position, end: Position) -> Iterator[bytes]:
        """Events over COM_BINLOG_DUMP, up to the end position (others may write on behind it)."""
        names = self._names(start, end)
        current, offset = start.file, start.offset
        if (current, offset) == (end.file, end.offset):
            return
        # The end of the dump belongs to the reader: what a generator's own end raises, Ctrl-C say, would be lost.
        with closing(self.dumped_events(start)) as events:
            for event in events:
                if len(event) < _HEADER.size:
                    raise UnreadableLog(
                        f"the event at {current}:{offset} has {len(event)} bytes, expected at least {_HEADER.size}"
                    )
                _, kind, _, _, end_position, flags = _HEADER.unpack_from(event)
                if kind == _ROTATE and (flags & _ARTIFICIAL or not end_position):
                    named = rotate_target(event)
                    if named != current:
                        if named not in names:
                            raise CaptureError(f"the server continues with {named} before {end} was reached")
                        current, offset = named, _FIRST
                    continue
                if kind in (_HEARTBEAT, _HEARTBEAT_V2):
                    continue
                if kind == _FORMAT_DESCRIPTION and not end_position:
                    continue  # the server made it for the dump, see above
                if end_position != (offset + len(event)) & 0xFFFFFFFF:
                    raise UnreadableLog(
                        f"the event at {current}:{offset} ends at {end_position}, expected {offset + len(event)}"
                    )
                offset += len(event)
                yield without_in_use_flag(event)
                if current == end.file and offset >= end.offset:
                    return
        raise UnreadableLog(f"the server's dump ends at {current}:{offset}, before {end}")

    def dumped_events(self, start: Position) -> Generator[bytes, None, None]:
        """The events of a dump as they arrive, including the artificial ones of the dump thread."""
        session = self._server.connect()
        try:
            # Both names: the server reads the one it knows. Without the variable, it removes checksums from events.
            session.execute("SET @source_binlog_checksum = 'CRC32', @master_binlog_checksum = 'CRC32'")
            # A server id of 0 is that of a reader that leaves at the end (as mysqlbinlog does): it replaces no replica.
            command = (
                bytes((_COM_BINLOG_DUMP,)) + Struct("<IHI").pack(start.offset, _NON_BLOCKING, 0) + start.file.encode()
            )
            with session.dump(command) as events:
                yield from events
        except SqlError as error:
            if error.number in (1227, 1045):
                raise CaptureError(
                    "the account may not read the binary log: GRANT REPLICATION SLAVE is missing"
                ) from error
            bogus = error.number == _FATAL and any(reason in error.message for reason in _BOGUS)
            refused = BogusLog if bogus else CaptureError
            raise refused(f"the server does not send its binary log from {start}: {error}") from error
        finally:
            session.close()

    def description(self, name: str) -> bytes:
        """The FORMAT_DESCRIPTION_EVENT of a log file."""
        found = self._descriptions.get(name)
        if found is None:
            if self.over_protocol:
                found = self._dumped_description(name)
            else:
                with self._log_path(name).open("rb") as file:
                    head = file.read(_FIRST + _HEADER.size)
                    length = _LENGTH(head, _FIRST + 9)[0]
                    file.seek(_FIRST)
                    found = without_in_use_flag(file.read(length))
            self._descriptions[name] = sound_description(found, name)
        return found

    def _dumped_description(self, name: str) -> bytes:
        with closing(self.dumped_events(Position(file=name, offset=_FIRST))) as events:
            for event in events:
                if event[4] == _FORMAT_DESCRIPTION:
                    return without_in_use_flag(event)
        raise UnreadableLog(f"the server sends no FORMAT_DESCRIPTION_EVENT for {name}")

    def close(self) -> None:
        """Close the session used for marks."""
        if self._connection is not None:
            self._connection.close()


def split_events(data: bytes) -> Iterator[bytes]:
    """Cut a run of whole events. The last piece holds bytes that cannot be an event: a reader of the log must not miss
    them.
    """
    pos, size = 0, len(data)
    while pos < size:
        length = _LENGTH(data, pos + 9)[0] if size - pos >= _HEADER.size else 0
        end = pos + length if _HEADER.size <= length <= size - pos else size
        yield without_in_use_flag(data[pos:end])
        pos = end


def without_in_use_flag(event: bytes) -> bytes:
    """A live log's description event with the flag cleared; the server computes its checksum without the flag
    (requirements 0.3).
    """
    if len(event) < _HEADER.size or event[4] != _FORMAT_DESCRIPTION or not event[17] & _IN_USE:
        return event
    return event[:17] + bytes((event[17] & ~_IN_USE,)) + event[18:]


def sound_description(event: bytes, name: str) -> bytes:
    """The event, without in-use flag, that opens a file: as long as it says, and with the checksum that it announces.

    Raises :class:`UnreadableLog`.
    """
    length = _LENGTH(event, 9)[0] if len(event) >= _HEADER.size else 0
    if not event or length != len(event):
        raise UnreadableLog(f"the FORMAT_DESCRIPTION_EVENT of {name} has {len(event)} bytes and says {length}")
    if event[-5] == _CRC32 and binascii.crc32(event[:-4]) != _LENGTH(event, length - 4)[0]:
        raise UnreadableLog(f"the FORMAT_DESCRIPTION_EVENT of {name} has a wrong checksum")
    return event


def rotate_target(event: bytes) -> str:
    """The file named by a ROTATE_EVENT: the text after the 8-byte position, without a checksum if the event has one."""
    body = event[_HEADER.size + 8 :]
    if len(body) > 4 and binascii.crc32(event[:-4]) == _LENGTH(event, len(event) - 4)[0]:
        body = body[:-4]
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise UnreadableLog(f"a ROTATE_EVENT names the file {body!r}, which is no text") from error
