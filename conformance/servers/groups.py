"""Transactions of one session, picked out of a log that other sessions write to as well."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from conformance.reference.binlog.header import HEADER_SIZE, EventType
from conformance.reference.binlog.payload import TransactionPayload

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_thread_id = Struct("<I").unpack_from
_STARTS = frozenset((EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED))
_BETWEEN_GROUPS = frozenset((EventType.ROTATE, EventType.FORMAT_DESCRIPTION, EventType.PREVIOUS_GTIDS, EventType.STOP))


def groups_of_thread(events: Iterable[bytes], thread_id: int) -> Iterator[bytes]:
    """The events of all groups whose first QUERY names this thread. Groups are contiguous in a binary log."""
    group: list[bytes] = []
    for event in events:
        kind = event[4]
        if kind in _STARTS or kind in _BETWEEN_GROUPS:
            if group and _thread_of(group) == thread_id:
                yield from group
            group = [] if kind in _BETWEEN_GROUPS else [event]
        else:
            group.append(event)
    if group and _thread_of(group) == thread_id:
        yield from group


def _thread_of(group: list[bytes]) -> int | None:
    for event in group:
        if event[4] == EventType.QUERY:
            return int(_thread_id(event, HEADER_SIZE)[0])
        if event[4] == EventType.TRANSACTION_PAYLOAD:
            inner = TransactionPayload.decode(event[HEADER_SIZE:-4]).uncompressed()
            return int(_thread_id(inner, HEADER_SIZE)[0])
    return None
