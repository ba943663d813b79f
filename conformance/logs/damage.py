"""The places behind damage in a log file where a reader can go on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from conformance.reference.binlog.event import check_sum
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER, HEADER_SIZE, MAGIC
from conformance.reference.boundaries.reader import PROOF, GroupKind, file_footer, find_event, read_groups
from conformance.reference.errors import CodecError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOOKED_AT: Final = 8 << 20  # bytes behind the damage; a header is looked for at each
_PARTS: Final = (GroupKind.FRAGMENT, GroupKind.FRAME, GroupKind.OPEN)


class Behind(NamedTuple):
    """Positions behind damage: the first sound event, and the first whole transaction, if there is one."""

    event: int
    transaction: int | None


def size_of(path: str) -> int | None:
    """The size of a plain file in bytes."""
    return Path(path).stat().st_size if os.path.isfile(path) else None  # noqa: PTH113 - a server's log has a name as well


def sound_behind(path: str, damaged: int) -> Behind | None:
    """The places behind the event at ``damaged``; ``None`` where there is no sound event near.

    Sound is an event whose end is where its header says, and whose checksum is right. Without checksums, the headers
    of the next events must be right too. Only a plain file is read again; relay logs have the positions of others.
    """
    if not os.path.isfile(path):  # noqa: PTH113 - a server's log has a name as well
        return None
    with Path(path).open("rb") as log:
        try:
            footer = file_footer(log)
        except CodecError:
            return None
        log.seek(damaged)
        head = log.read(HEADER_SIZE)
        length = HEADER.unpack_from(head)[3] if len(head) == HEADER_SIZE else 0
        found = next(_sound(log, damaged + length, footer), None) if length >= HEADER_SIZE else None
        if found != damaged + length:  # its length is damaged, or what follows it
            found = next(_sound(log, damaged + 1, footer), None)
        return None if found is None else Behind(found, _transaction(log, found, footer))


def events_around(path: str, position: int) -> tuple[int, int] | None:
    """Where the event begins whose bytes are at a position, and where it ends; ``None`` for anything but a plain file
    with whole events up to there."""
    if not os.path.isfile(path):  # noqa: PTH113 - as above
        return None
    with Path(path).open("rb") as log:
        start = len(MAGIC)
        while start <= position:
            log.seek(start)
            head = log.read(HEADER_SIZE)
            length = HEADER.unpack_from(head)[3] if len(head) == HEADER_SIZE else 0
            if length < HEADER_SIZE:
                return None
            if start + length > position:
                return start, start + length
            start += length
    return None


def _sound(log: BinaryIO, start: int, footer: int) -> Iterator[int]:
    """The positions of sound events from a position on."""
    log.seek(start)
    data = memoryview(log.read(_LOOKED_AT))
    proof = 1 if footer else PROOF
    while (found := find_event(data, start, proof=proof)) is not None:
        if not footer or _is_sound(data[found:]):
            yield start + found
        data, start = data[found + 1 :], start + found + 1


def _transaction(log: BinaryIO, event: int, footer: int) -> int | None:
    try:
        return next((group.start for group in read_groups(log, event, footer=footer) if group.kind not in _PARTS), None)
    except CodecError:
        return None


def _is_sound(data: memoryview) -> bool:
    """Whether the checksum of the event at the beginning is right."""
    length = HEADER.unpack_from(data)[3]
    if not HEADER_SIZE + FOOTER_SIZE <= length <= len(data):
        return False
    try:
        check_sum(data[: length - FOOTER_SIZE], int.from_bytes(data[length - FOOTER_SIZE : length], "little"))
    except CodecError:
        return False
    return True
