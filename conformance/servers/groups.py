"""Transactions of one session, picked out of a log that other sessions write to as well."""

from __future__ import annotations

from struct import Struct
from struct import error as struct_error
from typing import TYPE_CHECKING

from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, EventType, kind_of
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.errors import CodecError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_thread_id = Struct("<I").unpack_from
_STARTS = frozenset((EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED))
_BETWEEN_GROUPS = frozenset((EventType.ROTATE, EventType.FORMAT_DESCRIPTION, EventType.PREVIOUS_GTIDS, EventType.STOP))


def groups_of_thread(events: Iterable[bytes], thread_id: int) -> Iterator[bytes]:
    """The events of all groups whose first QUERY names this thread. Groups are contiguous in a binary log.

    A group whose first QUERY cannot be read is everybody's: whoever looks at the log must not miss it.
    """
    group: list[bytes] = []
    for event in events:
        kind = kind_of(event)
        if kind in _STARTS or kind in _BETWEEN_GROUPS:
            if _is_of(group, thread_id):
                yield from group
            group = [] if kind in _BETWEEN_GROUPS else [event]
        else:
            group.append(event)
    if _is_of(group, thread_id):
        yield from group


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
