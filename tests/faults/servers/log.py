"""The binary log that a faulty server wrote: a copy of the sound one's files with the fault in them.

Whoever asks the server for the end of its log, or for its place, is shown the copy. Positions, lengths and checksums
in it fit the copy, as a server writes what it believes: a fault is what its function alters, and nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from struct import Struct
from threading import Lock
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.event import decode_event, encode_event
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, checksum_of
from conformance.reference.cursor import packed_size
from conformance.servers.wire.capture import split_events
from conformance.servers.wire.groups import STARTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.faults.servers.fault import ChangedLog

_MAGIC: Final = b"\xfebin"
_U4: Final = Struct("<I")
_GTID_TYPES: Final = (33, 34)


def with_checksum(event: bytes) -> bool:
    """Whether the last four bytes are the event's checksum."""
    return len(event) > HEADER_SIZE + FOOTER_SIZE and checksum_of(event[:-4]) == _U4.unpack(event[-4:])[0]


def sealed(event: bytes, end: int, *, checksum: bool) -> bytes:
    """An event that ends at ``end`` of its file, with its length and checksum put right."""
    data = event[:9] + _U4.pack(len(event)) + _U4.pack(end & 0xFFFFFFFF) + event[17:]
    return data[:-4] + _U4.pack(checksum_of(data[:-4])) if checksum else data


def groups_of(events: Sequence[bytes]) -> list[list[bytes]]:
    """Events cut in front of each transaction."""
    groups: list[list[bytes]] = []
    for event in events:
        if not groups or event[4] in STARTS:
            groups.append([])
        groups[-1].append(event)
    return groups


class FaultyLog:
    """The copies of one server's log files, which grow as they are asked for."""

    def __init__(self, data: Path, copies: Path, change: ChangedLog) -> None:
        self._data = data
        self._copies = copies
        self._change = change
        self._done: dict[str, int] = {}  # how far each real file was read
        self._lock = Lock()

    def basename(self, real: str) -> str:
        """The name that stands for the server's ``log_bin_basename``."""
        return str(self._copies / Path(real).name)

    def copy(self, name: str) -> bytes | None:
        """The copy of a file as far as it was asked for; ``None``: there is none."""
        path = self._copies / name
        return path.read_bytes() if path.is_file() else None

    def position(self, name: str, offset: int) -> int:
        """The end of the copy, when the real file ends at ``offset``."""
        with self._lock:
            if self._done:  # the files in front of it are whole, since the server has left them
                for real in sorted(self._data.glob(f"{Path(name).stem}.[0-9]*")):
                    if min(self._done) <= real.name < name:
                        self._copied(real.name, real.stat().st_size)
            return self._copied(name, offset)

    def _copied(self, name: str, offset: int) -> int:
        """Copy the real file as far as ``offset``; the end of the copy."""
        real, copy = self._data / name, self._copies / name
        start = self._done.get(name, 0)
        if start < offset:
            with real.open("rb") as file:
                file.seek(start)
                data = file.read(offset - start)
            self._done[name] = offset
            with copy.open("ab") as out:
                if not start:
                    out.write(_MAGIC)
                    data, start = data[len(_MAGIC) :], len(_MAGIC)
                end = out.tell()
                for group in self._groups(list(split_events(data))):
                    made = self._written(group, end)
                    self._note(name, group, start, made, end)
                    start += sum(map(len, group))
                    end += out.write(b"".join(made))
        return copy.stat().st_size

    def _groups(self, events: list[bytes]) -> list[list[bytes]]:
        """The events that are changed together."""
        return groups_of(events)

    def _note(self, name: str, real: list[bytes], start: int, made: list[bytes], begun: int) -> None:
        """Take note of the events at ``begun`` of the copy that stand for those at ``start`` of the file. Subclasses
        may do so."""

    def _written(self, group: list[bytes], start: int) -> list[bytes]:
        """A transaction with the fault, as it stands at ``start``."""
        checksum = with_checksum(group[0])
        events = self._change(group)
        if sum(map(len, events)) != sum(map(len, group)) and events and events[0][4] in _GTID_TYPES:
            events = [_of_length(events[0], sum(map(len, events[1:]))), *events[1:]]
        out = []
        for event in events:
            start += len(event)
            out.append(sealed(event, start, checksum=checksum))
        return out


def _of_length(event: bytes, others: int) -> bytes:
    """The GTID of a transaction with so many bytes behind the GTID: its length counts its own bytes as well."""
    header, gtid, *_ = decode_event(event, verify=False)
    assert isinstance(gtid, Gtid)
    assert gtid.transaction_length is not None
    fixed = len(event) - packed_size(gtid.transaction_length) + others
    length = next(fixed + size for size in (1, 3, 4, 9) if packed_size(fixed + size) == size)
    body = replace(gtid, transaction_length=length)
    return encode_event(body, timestamp=header.timestamp, server_id=header.server_id, flags=header.flags)
