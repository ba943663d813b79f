"""Following the logs of one server as they grow and rotate: where a reader is, and how far it may read.

A reader stops behind whole transactions only, so what it has read never changes. A log is at its end once the next one
is there. Nothing is passed over in silence: a log that is gone, or that is another one than before, is an error.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.logs.parts import Part, starts_of
from conformance.logs.rows.options import EARLIEST, LATEST, OptionError
from conformance.reference.binlog.header import HEADER, HEADER_SIZE, MAGIC, Flag
from conformance.reference.boundaries.reader import GroupKind, file_footer, read_groups
from conformance.reference.errors import CodecError

if TYPE_CHECKING:
    from collections.abc import Iterable

BEGIN: Final = len(MAGIC)
_NUMBERED: Final = re.compile(r"(.+)\.(\d{6,})")
_UNFINISHED: Final = (GroupKind.OPEN, GroupKind.FRAGMENT)  # its last event may be still to come


class FollowError(Exception):
    """The logs do not go on where the reader was."""


class Offset(NamedTuple):
    """The end of what was read: a file's name and a position in it, and the last GTID before it with its place."""

    file: str
    position: int
    gtid: str = ""
    gtid_position: int = 0


class Logs:
    """The logs of one server in the order of their numbers, as they are now."""

    def __init__(self, files: Iterable[str]) -> None:
        numbered = [(match, file) for file in files if (match := _NUMBERED.fullmatch(Path(file).name))]
        names = sorted({match[1] for match, _ in numbered})
        if len(names) != 1:
            what = f"those of {', '.join(names)}" if names else "none"
            raise OptionError(f"option path: expected the numbered logs of one server, as in binlog.*; got {what}")
        self.files = {int(match[2]): file for match, file in sorted(numbered, key=lambda item: int(item[0][2]))}

    def start(self, wanted: str) -> Offset:
        """The offset that the option ``startingOffset`` names."""
        numbers = list(self.files)
        if wanted == EARLIEST:
            return Offset(Path(self.files[numbers[0]]).name, BEGIN)
        if wanted == LATEST:
            last = self.files[numbers[-1]]
            return whole_until(last, Offset(Path(last).name, BEGIN), None)
        file, _, position = wanted.rpartition(":")
        offset = Offset(file, int(position))
        self._number(offset)
        return offset

    def latest(self, start: Offset, limit: int | None = None) -> Offset:
        """The end of what can be read now; with ``limit`` about so many bytes behind ``start``, one transaction at
        least.
        """
        number = self._number(start)
        _require_same(self.files[number], start)
        offset, left = start, limit
        while True:
            file = self.files[number]
            begun = offset.position
            offset = whole_until(file, offset, left)
            if left is not None:
                left -= offset.position - begun
                if left <= 0 and offset != start:
                    return offset
            if number + 1 not in self.files:
                later = [other for other in self.files if other > number]
                if later:
                    raise FollowError(f"a log is missing between {offset.file} and {Path(self.files[later[0]]).name}")
                return offset
            # Nothing is written to a log any more once the next is there, so what is left of it belongs to the range.
            number += 1
            offset = offset._replace(file=Path(self.files[number]).name, position=BEGIN, gtid="", gtid_position=0)

    def parts(self, start: Offset, end: Offset, split_bytes: int | None = None) -> list[Part]:
        """The parts between two offsets."""
        found: list[Part] = []
        for number in range(self._number(start), self._number(end) + 1):
            file = self.files.get(number)
            if file is None:
                raise FollowError(f"a log is missing between {start.file} and {end.file}: number {number}")
            name = Path(file).name
            first = start.position if name == start.file else BEGIN
            stop = end.position if name == end.file else None
            if first >= (Path(file).stat().st_size if stop is None else stop):
                continue
            cuts = [] if split_bytes is None else starts_of(file, split_bytes)
            inside = [cut for cut in cuts if first < cut and (stop is None or cut < stop)]
            bounds = [None if first == BEGIN else first, *inside, stop]
            found += [Part(file, *pair) for pair in pairwise(bounds)]
        return found

    def place(self, offset: Offset) -> tuple[int, int]:
        """Where an offset is, in the order of the logs."""
        return self._number(offset), offset.position

    def _number(self, offset: Offset) -> int:
        for number, file in self.files.items():
            if Path(file).name == offset.file:
                return number
        raise FollowError(
            f"{offset.file} is gone, and was read up to {offset.position}: what it had behind that is lost"
        )


def whole_until(file: str, start: Offset, limit: int | None) -> Offset:
    """The end of the last whole transaction of a file; with ``limit`` that of the first that is so far behind
    ``start``.
    """
    found = start
    try:
        with Path(file).open("rb") as log:
            footer = file_footer(log)
            log.seek(BEGIN)
            if HEADER.unpack_from(log.read(HEADER_SIZE))[5] & Flag.RELAY_LOG:
                raise OptionError(f"option path: {file} is a relay log; expected binary logs")
            for group in read_groups(log, start.position, footer=footer):
                found = found._replace(position=group.start)  # what is before a group is whole
                if group.kind in _UNFINISHED:
                    continue
                gtid = (found.gtid, found.gtid_position) if group.gtid is None else (group.gtid, group.start)
                found = Offset(found.file, group.end, *gtid)
                if limit is not None and found.position - start.position >= limit:
                    break
    except CodecError:
        pass  # what is readable up to the damage; the rest is a problem once the next log is there
    except FileNotFoundError as problem:
        raise FollowError(f"{start.file} is gone, and was read up to {start.position}") from problem
    return found


def _require_same(file: str, offset: Offset) -> None:
    """Raise if a file is not the one in which the reader was: a server that was reset begins with the same names."""
    try:
        with Path(file).open("rb") as log:
            size = log.seek(0, 2)
            if offset.position > max(size, BEGIN):
                raise FollowError(
                    f"{offset.file} has {size} bytes, and was read up to {offset.position}: it is another log"
                )
            if not offset.gtid:
                return
            groups = read_groups(log, offset.gtid_position, offset.gtid_position + 1)
            found = next((group.gtid for group in groups), None)
    except CodecError:
        found = None
    if found != offset.gtid:
        raise FollowError(
            f"{offset.file} has {found or 'no GTID'} at {offset.gtid_position}, where it had {offset.gtid}:"
            " it is another log"
        )
