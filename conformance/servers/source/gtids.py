"""Sets of GTIDs that a source compares: what a replica has, and what a log file holds."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from conformance.reference.binlog.gtid_set import GtidEntry, PreviousGtids

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    Name = tuple[UUID, str]
    Intervals = list[tuple[int, int]]


class GtidSet:
    """Half-open intervals in order, by UUID and tag."""

    def __init__(self, entries: Iterable[GtidEntry] = ()) -> None:
        self._found: dict[Name, Intervals] = {}
        for entry in entries:
            for start, end in entry.intervals:
                self.add((entry.uuid, entry.tag), start, end)

    def add(self, name: Name, start: int, end: int | None = None) -> None:
        """Add a number, or those before ``end``."""
        end = start + 1 if end is None else end
        intervals = self._found.setdefault(name, [])
        if intervals and intervals[-1][0] <= start <= intervals[-1][1]:  # nearly always: the next number
            intervals[-1] = (intervals[-1][0], max(end, intervals[-1][1]))
            return
        merged: Intervals = []
        for first, last in sorted([*intervals, (start, end)]):
            if merged and first <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
            else:
                merged.append((first, last))
        self._found[name] = merged

    def __contains__(self, gtid: tuple[Name, int]) -> bool:
        name, number = gtid
        intervals = self._found.get(name, [])
        place = bisect_right(intervals, (number, 1 << 64)) - 1
        return place >= 0 and number < intervals[place][1]

    def covers(self, other: GtidSet) -> bool:
        """Whether every GTID of the other set is in this one."""
        for name, intervals in other._found.items():
            own = self._found.get(name, [])
            if not all(any(a <= start and end <= b for a, b in own) for start, end in intervals):
                return False
        return True

    def only(self, uuid: UUID) -> GtidSet:
        """The part of one server."""
        return GtidSet(entry for entry in self.entries() if entry.uuid == uuid)

    def entries(self) -> tuple[GtidEntry, ...]:
        """The entries in the order of the log."""
        found = ((uuid, tag, tuple(intervals)) for (uuid, tag), intervals in self._found.items() if intervals)
        return tuple(GtidEntry(*each) for each in sorted(found, key=lambda each: (each[0].bytes, each[1])))

    def __str__(self) -> str:
        return str(PreviousGtids(entries=self.entries()))
