"""The log files of a source: where their events stand, and which GTIDs they hold.

A file is one of the disk, or bytes that grow. Its index is made once, from the headers and the GTID events alone. A
damaged event ends the index; a dump meets it where it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from mmap import ACCESS_READ, mmap
from struct import Struct
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.event import decode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import NIL_UUID, Gtid, GtidTagged
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.header import HEADER_SIZE, MAGIC, Checksum, Flag
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType
from conformance.servers.source.gtids import GtidSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from uuid import UUID

_VERSION: Final = re.compile(r"\d+\.\d+\.\d+[!-~]*")
UNKNOWN_VERSION: Final = "9.7.4"  # what a source says it is where a log has no such number
_LENGTH: Final = Struct("<I").unpack_from
_TYPE_AT, _SERVER_ID_AT, _LENGTH_AT, _FLAGS_AT = 4, 5, 9, 17
_GTIDS: Final = frozenset((EventType.GTID, EventType.GTID_TAGGED))
_STARTS: Final = frozenset((*_GTIDS, EventType.ANONYMOUS_GTID))
_ENDS: Final = frozenset((EventType.ROTATE, EventType.STOP))


class NoLog(Exception):
    """A file that is no binary log, or is encrypted."""


@dataclass(slots=True)
class Group:
    """A transaction of a file; ``gtid`` is ``None`` for an anonymous one."""

    start: int
    end: int
    gtid: tuple[tuple[UUID, str], int] | None


@dataclass(slots=True)
class LogFile:
    """One file: ``starts`` are the positions of its events, ``end`` the position behind the last whole one."""

    name: str
    data: bytes | bytearray | mmap
    starts: list[int] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    end: int = len(MAGIC)
    format: FormatDescription = field(default_factory=FormatDescription)
    server_id: int = 1
    previous: GtidSet = field(default_factory=GtidSet)

    @classmethod
    def of(cls, name: str, data: bytes | bytearray | mmap) -> LogFile:
        """Index a log. Raises :class:`NoLog`."""
        if data[: len(MAGIC)] != MAGIC:
            raise NoLog(f"{name}: not a binary log, or an encrypted one")
        made = cls(name, data)
        try:
            made.extend()
        except CodecError as error:
            raise NoLog(f"{name}: {error}") from error
        if not made.starts:
            raise NoLog(f"{name}: no FORMAT_DESCRIPTION")
        return made

    @property
    def algorithm(self) -> int:
        """The checksum of the file's events."""
        return self.format.algorithm

    def extend(self) -> None:
        """Index the events that were not indexed yet."""
        data, place, size = self.data, self.end, len(self.data)
        while place + HEADER_SIZE <= size:
            length = _LENGTH(data, place + _LENGTH_AT)[0]
            if length < HEADER_SIZE or place + length > size:
                break
            kind = data[place + _TYPE_AT]
            self._note(kind, place, length)
            self.starts.append(place)
            place += length
            self.end = place
            if self.groups and kind not in _ENDS:
                self.groups[-1].end = place

    def _note(self, kind: int, place: int, length: int) -> None:
        if not self.starts:
            event = bytearray(self.data[place : place + length])
            event[_FLAGS_AT] &= ~Flag.IN_USE & 0xFF
            first = decode_event(bytes(event), verify=False).body if kind == EventType.FORMAT_DESCRIPTION else None
            if not isinstance(first, FormatDescription):
                raise NoLog(f"{self.name}: the first event is no FORMAT_DESCRIPTION")
            self.format = first
            self.server_id = _LENGTH(self.data, place + _SERVER_ID_AT)[0]
        elif kind == EventType.PREVIOUS_GTIDS:
            previous = self._body(place, length)
            if isinstance(previous, PreviousGtids):
                self.previous = GtidSet(previous.entries)
        elif kind in _STARTS:
            body = self._body(place, length) if kind in _GTIDS else None
            gtid = None
            if isinstance(body, Gtid | GtidTagged):
                tag = body.tag if isinstance(body, GtidTagged) else ""
                gtid = ((body.uuid or NIL_UUID, tag or ""), body.gno or 0)
            self.groups.append(Group(place, place, gtid))

    def _body(self, place: int, length: int) -> object:
        try:
            return decode_event(
                bytes(self.data[place : place + length]), algorithm=self.format.algorithm, verify=False
            ).body
        except CodecError:
            return None


class LogFiles:
    """Files in order, as the index of a server has them."""

    def __init__(self, files: Sequence[LogFile]) -> None:
        if not files:
            raise NoLog("no log file")
        self.files = list(files)
        self._executed: tuple[int, GtidSet] | None = None

    @classmethod
    def of_paths(cls, paths: Iterable[Path]) -> LogFiles:
        """Files of the disk, under their names; they stay on the disk."""
        files = []
        for path in paths:
            with path.open("rb") as file:
                if not path.stat().st_size:
                    raise NoLog(f"{path}: empty")
                files.append(LogFile.of(path.name, mmap(file.fileno(), 0, access=ACCESS_READ)))
        return cls(files)

    @classmethod
    def of_bytes(cls, logs: Iterable[tuple[str, bytes]]) -> LogFiles:
        """Logs in memory by name."""
        return cls([LogFile.of(name, bytearray(data)) for name, data in logs])

    def append(self, data: bytes) -> None:
        """Write whole events behind the last file, which is one in memory."""
        last = self.files[-1]
        assert isinstance(last.data, bytearray)
        last.data += data
        last.extend()

    def number(self, name: str) -> int | None:
        """The place of a file; the first one for the empty name."""
        if not name:
            return 0
        return next((number for number, file in enumerate(self.files) if file.name == name), None)

    @property
    def version(self) -> str:
        """The version of the server that wrote the last file, if it has the form of one."""
        found = _VERSION.match(self.files[-1].format.server_version)
        return found[0] if found else UNKNOWN_VERSION

    @property
    def checksum(self) -> str:
        """binlog_checksum, as of the last file."""
        return "CRC32" if self.files[-1].algorithm == Checksum.CRC32 else "NONE"

    @property
    def purged(self) -> GtidSet:
        """gtid_purged: what stood in files before the first."""
        return self.files[0].previous

    @property
    def executed(self) -> GtidSet:
        """gtid_executed: all GTIDs of the files and before them."""
        count = sum(len(file.groups) for file in self.files)
        if self._executed is None or self._executed[0] != count:
            found = GtidSet(self.purged.entries())
            for file in self.files:
                for group in file.groups:
                    if group.gtid is not None:
                        found.add(*group.gtid)
            self._executed = count, found
        return self._executed[1]

    @property
    def has_gtids(self) -> bool:
        """Whether any transaction has a GTID."""
        return any(group.gtid is not None for file in self.files for group in file.groups)

    @property
    def only_gtids(self) -> bool:
        """Whether every transaction has a GTID."""
        return all(group.gtid is not None for file in self.files for group in file.groups)
