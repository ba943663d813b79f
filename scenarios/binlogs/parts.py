"""A file cut into parts, each of which can be read alone: only between transactions.

A part begins where nothing is carried over from what stands before it: the TABLE_MAPs of a statement are read with its
rows, and the GTID with its transaction. The whole file's headers are read for that, because bytes in the middle of a
file may look like events without being any.
"""

from __future__ import annotations

import os
from io import SEEK_END
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from conformance.reference.binlog.header import HEADER, HEADER_SIZE, MAGIC, Flag
from conformance.reference.boundaries.observed_event import GTID_TYPES
from conformance.reference.boundaries.reader import Kind, file_footer, read_groups
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType

if TYPE_CHECKING:
    from collections.abc import Iterator

_WHOLE: Final = frozenset((Kind.DML, Kind.DDL, Kind.XA, Kind.COMPRESSED, Kind.INCIDENT, Kind.OPEN))
_CODE: Final = 4  # where an event has its type


class Part(NamedTuple):
    """The events of a file from ``start`` to ``stop``; ``None``: from its beginning, to its end."""

    file: str
    start: int | None = None
    stop: int | None = None


def parts_of(file: str, split_bytes: int | None = None) -> list[Part]:
    """The parts of a file, each of ``split_bytes`` or, where transactions are large, a little more; one part where
    that is not asked for. A file that cannot be read so far is cut as far as it can."""
    starts: list[int | None] = [None]
    if split_bytes is not None:
        try:
            if S_ISREG(os.stat(file).st_mode):  # noqa: PTH116 - opening a pipe would wait for a writer
                with Path(file).open("rb") as log:
                    for start in _cuts(log, split_bytes):
                        starts.append(start)  # noqa: PERF402 - those found before an error stay
        except (CodecError, OSError):
            pass  # said by the reader of the last part
    return [Part(file, start, stop) for start, stop in zip(starts, [*starts[1:], None], strict=True)]


def _cuts(log: BinaryIO, split_bytes: int) -> Iterator[int]:
    """Where parts begin behind the first."""
    if log.seek(0, SEEK_END) <= split_bytes:
        return
    footer = file_footer(log)
    number = log.fileno()
    if HEADER.unpack_from(os.pread(number, HEADER_SIZE, len(MAGIC)))[5] & Flag.RELAY_LOG:
        return  # more than one FORMAT_DESCRIPTION, and each holds for what follows it
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
