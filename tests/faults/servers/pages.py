"""Changes that faults make to pages of data files. Checksums are put right as a server would."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from conformance.reference.innodb.checksums import page_crc32
from conformance.reference.innodb.pages import SpaceFlags

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    ChangedFile: TypeAlias = Callable[[str, bytes], bytes]
    ChangedPage: TypeAlias = Callable[[bytes], bytes]

_FLAGS: Final = slice(54, 58)  # of the tablespace, in page 0
_TYPE: Final = slice(24, 26)
_SDI: Final = 1 << 14
_LEVEL: Final = slice(64, 66)  # of an index page, in its tree
_INFIMUM, _SUPREMUM = 99, 112
_DELETED: Final = 0x20


def sealed(page: bytes, *, compressed: bool) -> bytes:
    """A page with its checksum put right."""
    checksum = page_crc32(page, compressed=compressed).to_bytes(4, "big")
    return checksum + page[4:] if compressed else checksum + page[4:-8] + checksum + page[-4:]


def pages(types: Collection[int], change: ChangedPage, *, file: str = "") -> ChangedFile:
    """Change each page of these types, in the files whose name matches."""

    def changed(name: str, data: bytes) -> bytes:
        if not re.search(file, name):
            return data
        flags = SpaceFlags.of(int.from_bytes(data[_FLAGS], "big"))
        size, out = flags.physical, []
        for start in range(0, len(data), size):
            page = data[start : start + size]
            if int.from_bytes(page[_TYPE], "big") in types:
                made = change(page)
                page = page if made == page else sealed(made, compressed=flags.compressed)
            out.append(page)
        return b"".join(out)

    return changed


def page_0(change: ChangedPage, *, file: str = "") -> ChangedFile:
    """Change the first page of the files whose name matches."""

    def changed(name: str, data: bytes) -> bytes:
        if not re.search(file, name):
            return data
        flags = SpaceFlags.of(int.from_bytes(data[_FLAGS], "big"))
        return sealed(change(data[: flags.physical]), compressed=flags.compressed) + data[flags.physical :]

    return changed


def sdi_flag(*, there: bool) -> ChangedPage:
    """A first page whose flags say that there is SDI, or that there is none."""
    return number(_FLAGS.start, 4, lambda flags: flags | _SDI if there else flags & ~_SDI)


def sdi_root(page: bytes) -> bytes:
    """A first page that names a root of SDI."""
    at = SpaceFlags.of(int.from_bytes(page[_FLAGS], "big")).sdi_offset
    return page[:at] + b"\0\0\0\1\0\0\0\3" + page[at + 8 :]


def without_records(kind: int) -> ChangedPage:
    """A leaf of SDI, not compressed, whose records of this type of object are marked as deleted."""

    def changed(page: bytes) -> bytes:
        out, at = bytearray(page), _INFIMUM
        if page[at : at + 7] != b"infimum":
            return page  # of a compressed table
        while page[_LEVEL] == b"\0\0":
            at = (at + int.from_bytes(page[at - 2 : at], "big")) & 0xFFFF
            if at in (_SUPREMUM, 0):
                break
            if int.from_bytes(page[at : at + 4], "big") == kind:
                out[at - 5] |= _DELETED
        return bytes(out)

    return changed


def at_read(turns: Mapping[int, int | ChangedFile], count: int, file: str) -> ChangedFile:
    """The file of each ``count`` reads in turn: another read's bytes in place of one's own, or changed ones."""
    seen: list[bytes] = []

    def changed(name: str, data: bytes) -> bytes:
        if not re.search(file, name):
            return data
        if len(seen) == count:
            seen.clear()
        seen.append(data)
        turn = turns.get(len(seen) - 1)
        return data if turn is None else seen[turn] if isinstance(turn, int) else turn(name, data)

    return changed


def number(at: int, width: int, change: Callable[[int], int]) -> ChangedPage:
    """Change a number of a page, big-endian."""

    def changed(page: bytes) -> bytes:
        made = change(int.from_bytes(page[at : at + width], "big")) % (1 << 8 * width)
        return page[:at] + made.to_bytes(width, "big") + page[at + width :]

    return changed


def entries(at: int, width: int, change: Callable[[int], int]) -> ChangedPage:
    """Change a number of each index entry of a first page that is in use: it has a transaction."""

    def changed(page: bytes) -> bytes:
        for start in range(_ENTRIES, _ENTRIES + 10 * _ENTRY, _ENTRY):
            if any(page[start + _MAKER : start + _MAKER + 6]):
                page = number(start + at, width, change)(page)
        return page

    return changed


_ENTRIES, _ENTRY, _MAKER = 96, 60, 28  # of a first page: where its entries begin, their size; the transaction in one
