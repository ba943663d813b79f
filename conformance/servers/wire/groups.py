"""Transactions of one session, selected from a log that other sessions write to as well."""

from __future__ import annotations

from struct import Struct
from struct import error as struct_error
from typing import TYPE_CHECKING

from conformance.cases.observation import Place
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, kind_of
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_thread_id = Struct("<I").unpack_from
STARTS = frozenset((EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED))
MAGIC_SIZE = 4  # bytes of a file before its first event
_BETWEEN_GROUPS = frozenset((EventType.ROTATE, EventType.FORMAT_DESCRIPTION, EventType.PREVIOUS_GTIDS, EventType.STOP))


def groups_of_thread(events: Iterable[bytes], thread_id: int) -> Iterator[bytes]:
    """The events of all groups whose first QUERY names this thread. Groups are contiguous in a binary log.

    A group whose first QUERY cannot be read counts as every thread's: a reader of the log must not miss it.
    """
    group: list[bytes] = []
    for event in events:
        kind = kind_of(event)
        if kind in STARTS or kind in _BETWEEN_GROUPS:
            if _is_of(group, thread_id):
                yield from group
            group = [] if kind in _BETWEEN_GROUPS else [event]
        else:
            group.append(event)
    if _is_of(group, thread_id):
        yield from group


def placed_groups(
    events: Iterable[bytes], thread_id: int, begin: int, start: tuple[int, int]
) -> tuple[list[bytes], list[Place]]:
    """The events of this thread's groups that begin at or after ``start``, and a place for each group.

    ``start`` is a pair: file from 0, offset. ``begin``: where the first event stands.
    """
    walk = _Walk(thread_id, start, begin)
    for event in events:
        kind = kind_of(event)
        if kind in STARTS or kind in _BETWEEN_GROUPS:
            walk.close()
        if kind == EventType.FORMAT_DESCRIPTION:
            walk.next_file()
        if kind not in _BETWEEN_GROUPS:
            if not walk.group:
                walk.began = walk.offset
            walk.group.append(event)
        walk.offset += len(event)
    walk.close()
    return walk.events, walk.places


class _Walk:
    def __init__(self, thread_id: int, start: tuple[int, int], offset: int) -> None:
        self.thread_id, self.start = thread_id, start
        self.file, self.offset, self.began = 0, offset, offset
        self.others = self.floor = self.own = self.earlier = 0
        self.group: list[bytes] = []
        self.events: list[bytes] = []
        self.places: list[Place] = []

    def next_file(self) -> None:
        """Begin a new file: all numbers restart, except those of GTIDs."""
        self.earlier += self.others
        self.file, self.offset = self.file + 1, MAGIC_SIZE
        self.others = self.floor = self.own = 0

    def close(self) -> None:
        """End the open group, which is complete."""
        group, self.group = self.group, []
        if not group:
            return
        own = _is_of(group, self.thread_id)
        if own and (self.file, self.began) >= self.start:
            place = Place(
                file=self.file,
                start=self.began,
                others=self.others,
                floor=self.floor,
                own=self.own,
                earlier=self.earlier,
            )
            self.events += group
            self.places.append(place)
            self.others = self.floor = self.own = self.earlier = 0
        elif kind_of(group[0]) in STARTS:
            self.others += 1
            if own:
                self.own = self.others
            if not _changes_rows_alone(group):
                self.floor = self.others


def _changes_rows_alone(group: list[bytes]) -> bool:
    """Whether the group is an ordinary transaction: others depend only on its rows."""
    second = group[1] if len(group) > 1 else b""
    return second[4:5] == bytes((EventType.TRANSACTION_PAYLOAD,)) or b"\0BEGIN" in second[-10:]


def _is_of(group: list[bytes], thread_id: int) -> bool:
    for event in group:
        try:
            if kind_of(event) == EventType.QUERY:
                return bool(_thread_id(event, HEADER_SIZE)[0] == thread_id)
            if kind_of(event) == EventType.TRANSACTION_PAYLOAD:
                inner = TransactionPayload.decode(event[HEADER_SIZE:-FOOTER_SIZE]).uncompressed()
                return bool(_thread_id(inner, HEADER_SIZE)[0] == thread_id)
        except (CodecError, struct_error):
            return True
    return False
