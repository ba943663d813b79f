"""Cuts a file into parts that can be read alone: only between transactions.

No state from the bytes before a part carries over into it: a reader needs a statement's TABLE_MAPs for its rows, and
the GTID for its transaction. To find such places the cutter reads the headers of the whole file. Bytes in the middle of
a file may look like events without being events.
"""

from __future__ import annotations

import os
from io import SEEK_END
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from conformance.reference.binlog.format_description import is_mariadb
from conformance.reference.binlog.header import HEADER, HEADER_SIZE, MAGIC, Flag
from conformance.reference.boundaries.observed_event import GTID_TYPES
from conformance.reference.boundaries.reader import GroupKind, file_footer, read_groups
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType

if TYPE_CHECKING:
    from collections.abc import Iterator

_WHOLE: Final = frozenset(
    (GroupKind.DML, GroupKind.DDL, GroupKind.XA, GroupKind.COMPRESSED, GroupKind.INCIDENT, GroupKind.OPEN)
)
_CODE: Final = 4  # offset of an event's type
_VERSION: Final = len(MAGIC) + HEADER_SIZE + 2  # of the server, in the FORMAT_DESCRIPTION
_VERSION_SIZE: Final = 50


class Part(NamedTuple):
    """The events of a file from ``start`` to ``stop``; ``None``: from the file's beginning, to its end.

    ``shown``: the name that rows have instead of the file's, for a copy of it.
    """

    file: str
    start: int | None = None
    stop: int | None = None
    shown: str | None = None

    @property
    def name(self) -> str:
        """The name of the file in its rows."""
        return self.file if self.shown is None else self.shown


def parts_of(file: str, split_bytes: int | None = None) -> list[Part]:
    """The parts of a file, each of ``split_bytes`` or, with large transactions, a little more.

    Without ``split_bytes`` the file is one part. A damaged file is cut as far as it is readable.
    """
    starts: list[int | None] = [None]
    if split_bytes is not None:
        starts += starts_of(file, split_bytes)
    return [Part(file, start, stop) for start, stop in zip(starts, [*starts[1:], None], strict=True)]


def starts_of(file: str, split_bytes: int = 1) -> Iterator[int]:
    """The places where a file may be cut, ``split_bytes`` or more apart, as far as its headers are readable."""
    try:
        if S_ISREG(os.stat(file).st_mode):  # noqa: PTH116 - opening a pipe would wait for a writer
            with Path(file).open("rb") as log:
                yield from _cuts(log, split_bytes)
    except (CodecError, OSError):
        pass  # the reader of the last part reports the damage


def _cuts(log: BinaryIO, split_bytes: int) -> Iterator[int]:
    """The beginnings of all parts after the first."""
    if log.seek(0, SEEK_END) <= split_bytes:
        return
    footer = file_footer(log)
    number = log.fileno()
    if HEADER.unpack_from(os.pread(number, HEADER_SIZE, len(MAGIC)))[5] & Flag.RELAY_LOG:
        return  # several FORMAT_DESCRIPTIONs, and each holds for the events after it
    if is_mariadb(os.pread(number, _VERSION_SIZE, _VERSION).decode("latin-1")):
        return  # its transactions begin otherwise
    last, with_gtids = 0, False
    for group in read_groups(log, footer=footer):
        code = os.pread(number, 1, group.start + _CODE)[0]
        if code == EventType.FORMAT_DESCRIPTION and group.start > len(MAGIC):
            return
        with_gtids = with_gtids or code in GTID_TYPES
        if group.start - last < split_bytes or group.kind not in _WHOLE:
            continue
        if code in GTID_TYPES or not with_gtids:
            yield group.start
            last = group.start
