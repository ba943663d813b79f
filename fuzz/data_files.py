"""Data files for the targets: an input is a recorded file and what is changed in it, so that it stays small.

The first byte says which file (``captures.zip``), and with its top bit that changed pages keep their wrong checksums.
Else they get right ones, or nobody looks at checksums: a reader stops at the first wrong one. Changes follow, each with
a page, an offset in it and the new bytes. A change of a compressed stream says where in the plain bytes it is made: the
stream is compressed again. Numbers beyond what there is count from the beginning again: every input has a meaning.
"""

from __future__ import annotations

import zipfile
import zlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.innodb.btree import leaf_records
from conformance.reference.innodb.checksums import page_crc32
from conformance.reference.innodb.dictionary import clustered_indexes
from conformance.reference.innodb.pages import PageType, Tablespace
from conformance.reference.innodb.records import OffPage, origins
from conformance.reference.innodb.sdi import TABLE, sdi_objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.dictionary import ClusteredIndex
    from conformance.reference.innodb.records import Reference

CAPTURES: Final = Path(__file__).with_name("captures.zip")
_WRONG: Final = 0x80  # in the first byte: checksums stay as they are
_STREAM: Final = 0x80  # in the length of a change: it is one of the plain bytes of a stream
_LONGEST: Final = 0x7F
_HEAD: Final = 4  # bytes before those of a change: page, offset, length
_FLUSHED: Final = b"\0\0\xff\xff"
_INDEXES: Final = frozenset((PageType.INDEX, PageType.SDI))


class Change(NamedTuple):
    """New bytes at an offset of a page. ``stream``: where in the plain bytes of the stream that begins there."""

    page: int
    offset: int
    data: bytes
    stream: int | None = None

    def encode(self) -> bytes:
        data = self.data[: _LONGEST - 2]
        if self.stream is not None:
            data = self.stream.to_bytes(2, "big") + data
        length = len(data) | (_STREAM if self.stream is not None else 0)
        return bytes((self.page,)) + self.offset.to_bytes(2, "big") + bytes((length,)) + data


class Input(NamedTuple):
    """An input, read: the number of its file, whether checksums stay, and its changes."""

    file: int
    wrong: bool
    changes: tuple[Change, ...]

    def encode(self) -> bytes:
        return bytes((self.file | _WRONG * self.wrong,)) + b"".join([change.encode() for change in self.changes])

    @classmethod
    def decode(cls, data: bytes) -> Input:
        """Read any bytes."""
        first, at, changes = (data[0] if data else 0), 1, []
        while at + _HEAD <= len(data):
            page, offset, length = data[at], int.from_bytes(data[at + 1 : at + 3], "big"), data[at + 3]
            new = data[at + _HEAD : at + _HEAD + (length & _LONGEST)]
            at += _HEAD + (length & _LONGEST)
            stream = int.from_bytes(new[:2], "big") if length & _STREAM else None
            changes.append(Change(page, offset, new[2:] if length & _STREAM else new, stream))
        return cls(first & ~_WRONG, bool(first & _WRONG), tuple(changes))


class Capture:
    """A recorded file, and what its sound bytes say: where its rows and its LOBs are."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name, self.data = name, data
        space = tablespace(data)
        self.size, self.pages, self.compressed = space.flags.physical, space.pages, space.flags.compressed
        self.types = tuple(int.from_bytes(self.page(number)[24:26], "big") for number in range(self.pages))
        self.indexes: list[ClusteredIndex] = []
        self.references: list[Reference] = []
        for item in sdi_objects(space):
            if item.type == TABLE:
                self.indexes += clustered_indexes(item.object["dd_object"])
        for index in self.indexes:
            for _, record in leaf_records(space, index.root, index.format):
                self.references += [value.reference for value in record.values if isinstance(value, OffPage)]

    def page(self, number: int) -> bytes:
        return self.data[number * self.size : (number + 1) * self.size]

    @cache  # noqa: B019 - the captures live as long as the process
    def places(self, number: int) -> tuple[int, ...]:
        """Offsets of a page where a field begins: those of the headers, of each record, and of each index entry."""
        kind, head = self.types[number], [*range(0, 38, 2), *range(38, 96, 2)]
        if kind in _INDEXES and not self.compressed:
            page = tablespace(self.data).page(number)
            slots = range(self.size - 10, self.size - 10 - 2 * page.u2(38, "n_dir_slots"), -2)
            head += [at - back for at in (99, 112, *origins(page)) for back in (8, 7, 6, 5, 4, 2, 0)] + [*slots]
        elif kind in _INDEXES:
            head += range(self.size - 64, self.size, 2)
        elif kind in {PageType.LOB_FIRST, PageType.LOB_INDEX}:
            start = 96 if kind == PageType.LOB_FIRST else 39
            head += [start + 60 * number + at for number in range(10) for at in (0, 4, 6, 10, 12, 16, 22, 48, 52, 56)]
        elif kind in {PageType.ZLOB_FIRST, PageType.ZLOB_INDEX}:
            start = 136 if kind == PageType.ZLOB_FIRST else 39
            head += [*range(88, 136, 2)]
            head += [start + 66 * number + at for number in range(12) for at in (0, 4, 6, 12, 16, 48, 52, 54, 58, 62)]
        elif kind == PageType.ZLOB_FRAG:
            head += [*range(38, 72, 2), *range(self.size - 24, self.size, 2)]
        return tuple(at for at in head if at < self.size)

    def changed(self, data: bytes, *, sums: bool = False) -> bytes:
        """The file after the changes of an input. ``sums``: with right checksums, unless the input wants wrong ones."""
        read = Input.decode(data)
        out = bytearray(self.data)
        touched = set()
        for change in read.changes:
            number = change.page % self.pages
            at, end = number * self.size + change.offset % self.size, (number + 1) * self.size
            touched.add(number)
            new = change.data if change.stream is None else _recompressed(bytes(out[at:end]), change)
            out[at : at + len(new)] = new[: end - at]
        for number in touched if sums and not read.wrong else ():
            start, end = number * self.size, (number + 1) * self.size
            sum_ = page_crc32(bytes(out[start:end]), compressed=self.compressed).to_bytes(4, "big")
            out[start : start + 4] = sum_
            if not self.compressed:
                out[end - 8 : end] = sum_ + out[start + 20 : start + 24]
        return bytes(out)


def _recompressed(data: bytes, change: Change) -> bytes:
    """The stream at the beginning of the data, with other plain bytes; nothing if there is none."""
    inflate = zlib.decompressobj()
    cut = data.find(_FLUSHED) + len(_FLUSHED) if _FLUSHED in data else 0
    try:
        parts = [bytearray(inflate.decompress(piece, 1 << 18)) for piece in (data[:cut], data[cut:])]
    except zlib.error:
        return b""
    place = change.stream or 0
    for part in parts:
        if place < len(part):
            part[place : place + len(change.data)] = change.data
            break
        place -= len(part)
    deflate = zlib.compressobj(9, zlib.DEFLATED, 14)
    out = deflate.compress(parts[0]) + deflate.flush(zlib.Z_SYNC_FLUSH) if cut else b""
    out += deflate.compress(parts[1]) + deflate.flush()
    return out.ljust(len(data) - len(inflate.unused_data), b"\0") if inflate.eof else out


@cache
def captures() -> tuple[Capture, ...]:
    """The recorded files, in the order of their names."""
    with zipfile.ZipFile(CAPTURES) as file:
        return tuple(Capture(name, file.read(name)) for name in sorted(file.namelist()))


def capture_of(data: bytes) -> Capture:
    """The file that an input changes."""
    return captures()[(data[0] & ~_WRONG if data else 0) % len(captures())]


def tablespace(data: bytes, *, verify: bool = True) -> Tablespace:
    """A tablespace over bytes in memory."""
    return Tablespace.of_bytes(data, verify=verify)


def unchanged() -> Iterator[tuple[str, bytes]]:
    """For each recorded file the input that changes nothing."""
    for number, capture in enumerate(captures()):
        yield capture.name, bytes((number,))


def change_of(name: str, *changes: Change, wrong: bool = False) -> bytes:
    """The input that changes the file of that name."""
    number = next(place for place, capture in enumerate(captures()) if capture.name == name)
    return Input(number, wrong, changes).encode()
