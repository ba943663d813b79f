"""The file of one tape: what the servers of one module of checks answered, compressed.

A line of text names the format. Behind it stands one xz stream of records: four bytes of length, a letter, the rest.
``C`` is a piece of long bytes (numbered in order); ``A`` is an answer; ``I`` is the beginning of a check; ``E`` is the
end with the number of answers. A file without ``E`` was broken off.
"""

from __future__ import annotations

import lzma
import struct
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from conformance.servers.closing import interrupts_held
from conformance.servers.recording.values import DamagedValue, Value, decode, encode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAD: Final = b"binlog-lab tape 1\n"
MOST_BYTES: Final = 4 << 30  # of a tape when it is not compressed
_MEMORY: Final = 128 << 20  # that decompressing may take
_PRESET: Final = 1
_BLOCK: Final = 1 << 20
_LENGTH: Final = struct.Struct("<I")


class DamagedTape(Exception):
    """The file is no whole tape: ``str`` says which file, what was expected, and what is there."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One answer: in which check (its number), to whom, the kind and digest of the request, and the answer's bytes."""

    item: int
    channel: str
    kind: str
    request: bytes
    answer: Value


@dataclass(slots=True)
class TapeContent:
    """A tape that was read: the names of its checks, and its entries in order. ``whole``: it was not broken off."""

    items: list[str] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    whole: bool = False


class TapeWriter:
    """Writes a tape."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._file.write(HEAD)
        self._compressor = lzma.LZMACompressor(preset=_PRESET)
        self._waiting: list[bytes] = []
        self._size = 0
        self._known: dict[bytes, int] = {}
        self._answers = 0

    def item(self, name: str) -> None:
        """Write that a check begins."""
        with interrupts_held():
            self._put(b"I", name.encode())

    def entry(self, entry: Entry) -> None:
        """Write an answer: wholly, as a tape that was broken off is to be read up to there."""
        parts: Value = [entry.item, entry.channel, entry.kind, entry.request, entry.answer]
        with interrupts_held():
            self._put(b"A", encode(parts, self._piece))
            self._answers += 1

    def _piece(self, data: bytes) -> int:
        digest = blake2b(data, digest_size=16).digest()
        number = self._known.get(digest)
        if number is None:
            number = self._known[digest] = len(self._known)
            self._put(b"C", data)
        return number

    def _put(self, letter: bytes, data: bytes) -> None:
        self._waiting += (_LENGTH.pack(len(data)), letter, data)
        self._size += len(data)
        if self._size >= _BLOCK:
            self._flush()

    def _flush(self) -> None:
        self._file.write(self._compressor.compress(b"".join(self._waiting)))
        self._waiting, self._size = [], 0

    def close(self, *, whole: bool) -> None:
        """End the tape; ``whole``: everything is on it."""
        if self._file.closed:
            return
        with interrupts_held():
            if whole:
                self._put(b"E", _LENGTH.pack(self._answers))
            self._flush()
            self._file.write(self._compressor.flush())
            self._file.close()


def read_tape(path: Path) -> TapeContent:
    """Read a tape. Raises :class:`DamagedTape`; of one that was broken off, what is there is returned."""
    content, pieces = TapeContent(), list[bytes]()
    try:
        for number, (letter, data) in enumerate(_records(path)):
            if content.whole:
                raise DamagedTape(f"{path.name}: record {number}: expected nothing behind the end, got {letter!r}")
            if letter == b"C":
                pieces.append(data)
            elif letter == b"I":
                content.items.append(data.decode())
            elif letter == b"A":
                content.entries.append(_entry(path, number, decode(data, pieces)))
            elif letter == b"E":
                said = int.from_bytes(data, "little")
                if said != len(content.entries):
                    raise DamagedTape(
                        f"{path.name}: record {number}: expected {said} answers, got {len(content.entries)}"
                    )
                content.whole = True
            else:
                raise DamagedTape(f"{path.name}: record {number}: expected C, I, A or E, got {letter!r}")
    except (DamagedValue, UnicodeDecodeError) as error:
        raise DamagedTape(f"{path.name}: an answer cannot be read: {error}") from error
    except lzma.LZMAError as error:
        raise DamagedTape(f"{path.name}: expected xz data, got something else: {error}") from error
    except OSError as error:
        raise DamagedTape(f"{path.name}: {error.strerror or error}") from error
    return content


def _entry(path: Path, number: int, value: Value) -> Entry:
    match value:
        case [int(item), str(channel), str(kind), bytes(request), answer]:
            return Entry(item, channel, kind, request, answer)
    raise DamagedTape(f"{path.name}: record {number}: expected check, channel, kind, request and answer")


def _records(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """The records of a file; the last one may be torn, and is left out then."""
    buffer = bytearray()
    total = 0
    with path.open("rb") as file:
        head = file.read(len(HEAD))
        if head != HEAD:
            raise DamagedTape(f"{path.name}: byte 0: expected {HEAD!r}, got {head!r}")
        decompressor = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_MEMORY)
        while not decompressor.eof:
            given = file.read(_BLOCK) if decompressor.needs_input else b""
            if decompressor.needs_input and not given:
                return
            more = decompressor.decompress(given, _BLOCK)
            total += len(more)
            if total > MOST_BYTES:
                raise DamagedTape(f"{path.name}: expected at most {MOST_BYTES} bytes, got more")
            buffer += more
            place = 0
            while len(buffer) - place >= _LENGTH.size + 1:
                length = _LENGTH.unpack_from(buffer, place)[0]
                begin = place + _LENGTH.size + 1
                if len(buffer) - begin < length:
                    break
                yield bytes(buffer[begin - 1 : begin]), bytes(buffer[begin : begin + length])
                place = begin + length
            del buffer[:place]
