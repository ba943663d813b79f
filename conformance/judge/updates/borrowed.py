"""The facts that no model can know, taken from the observation: the one list of them.

``judge.log_rules`` checks each fact by a rule of its own. The model predicts everything else in an event, lengths and
checksums included. It never borrows documents.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.gtid import NIL_UUID, Gtid
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import ROWS_TYPES, RowsBody
from conformance.reference.event_types import EventType
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from conformance.cases.observation import LogFacts
    from conformance.reference.binlog.header import Checksum, Header

HEADER: Final = {"timestamp": 4, "server_id": 4, "log_pos": 4}
"""Fields of every header, and their bytes."""
_TABLE_ID: Final = {"table_id": 6}
_CLOCKS: Final = {
    "last_committed": 8,
    "sequence_number": 8,
    "immediate_commit_timestamp": 7,
    "immediate_server_version": 4,
}
BODY: Final[dict[int, dict[str, int]]] = {
    EventType.GTID: {"uuid": 16, "gno": 8, **_CLOCKS},
    EventType.ANONYMOUS_GTID: _CLOCKS,
    EventType.QUERY: {"thread_id": 4, "execution_time": 4},
    EventType.XID: {"xid": 8},
    EventType.TABLE_MAP: _TABLE_ID,
    **dict.fromkeys(ROWS_TYPES, _TABLE_ID),
}
"""The same of bodies; of TRANSACTION_PAYLOAD it is the whole compressed frame."""
_OUTSIDE: Final = frozenset(
    (
        *HEADER,
        "uuid",
        "gno",
        "sequence_number",
        "immediate_commit_timestamp",
        "immediate_server_version",
        "execution_time",
        "xid",
    )
)  # judged by facts that the server shows outside of its events

RULES: Final = {
    "timestamp": "within the run by the server's clock; the same in a statement, never back, not behind the commit",
    "server_id": "the server's own",
    "log_pos": "where the event ends in the file, by the lengths of all before it; 0 inside a compressed transaction",
    "uuid": "the server's own",
    "gno": "the next free number behind those of the transactions before it; executed behind the run and not before",
    "last_committed": "the last writer of one of the rows, or the last that all depend on, by their sequence numbers",
    "sequence_number": "how many transactions the file has up to this one",
    "immediate_commit_timestamp": "within the run by the server's clock, never back",
    "immediate_server_version": "the server's own",
    "thread_id": "the session's",
    "execution_time": "no longer than from the statement's start to the commit",
    "xid": "the id of the query that began the transaction, by what the server counts before and behind the run",
    "table_id": "the same in all events of a table; the first one is taken on trust",
    "checksum": "as binlog_checksum says",
    "compressed_frame": "decompresses to the predicted events, and ends with them",
}
"""What each borrowed field is held against (``judge.log_rules``)."""

TRUST: Final = {
    "table ids": "the first id of each table in a block; no statement shows it. The later ones are held against it",
    "times of commits": "which microsecond it was, between the commit before and the end of the run by the server's"
    " clock",
    "times in headers": "which second it was, where a transaction lies across two",
    "texts of errors": "where the sheets have no text for the number; numbers are compared, and the texts of 1610, 3648"
    " and 3649 at injected events and by the applier",
}
"""What no rule holds, for lack of a source: a fault there stays unseen. Every report names it."""


def borrowed_bytes(
    kinds: Mapping[int, int], frames: int, facts: LogFacts | None, *, known: Collection[str] = ()
) -> tuple[int, int]:
    """The bytes checked by rule and the bytes taken on trust, for events counted by type code and bytes of compressed
    frames.

    ``known``: fields that have their rule without ``facts``.
    """
    ruled, trusted = frames, 0
    for kind, count in kinds.items():
        for name, size in (HEADER | BODY.get(kind, {})).items():
            if facts is None and name in _OUTSIDE and name not in known:
                trusted += size * count
            else:
                ruled += size * count
    first = _TABLE_ID["table_id"] if kinds.get(EventType.TABLE_MAP) else 0
    started = kinds.get(EventType.GTID) or kinds.get(EventType.ANONYMOUS_GTID)
    if facts is not None and facts.sequence is None and started:
        first += _CLOCKS["sequence_number"]
    return ruled - first, trusted + first


def borrow(predicted: object, observed: object) -> Any:
    """The predicted body with the borrowed facts of the body at the same place of the observation.

    A body of another kind lends nothing.
    """
    if isinstance(predicted, TableMap | RowsBody) and hasattr(observed, "table_id"):
        return replace(predicted, table_id=observed.table_id)
    if isinstance(predicted, Xid) and isinstance(observed, Xid):
        return replace(predicted, xid=observed.xid)
    if isinstance(predicted, Query) and isinstance(observed, Query):
        return replace(predicted, thread_id=observed.thread_id, execution_time=observed.execution_time)
    if isinstance(predicted, Gtid) and isinstance(observed, Gtid):
        # ANONYMOUS_GTID has no GTID that could be borrowed: its place is zero (binlog-events 6).
        anonymous = predicted.type == EventType.ANONYMOUS_GTID
        return replace(
            observed,
            type=predicted.type,
            uuid=NIL_UUID if anonymous else observed.uuid,
            gno=0 if anonymous else observed.gno,
            gtid_flags=predicted.gtid_flags,
            original_commit_timestamp=predicted.original_commit_timestamp,
            original_server_version=predicted.original_server_version,
            transaction_length=predicted.transaction_length,
            commit_group_ticket=predicted.commit_group_ticket,
        )
    if isinstance(predicted, TransactionPayload) and isinstance(observed, TransactionPayload):
        return replace(predicted, payload=observed.payload)
    return predicted


def complete(borrowed: Any, header: Header, *, algorithm: Checksum, flags: int | None = None) -> bytes:
    """The bytes of a predicted body that has its borrowed facts, under the observed header. ``flags``: those of the
    header; ``None``: as its type always has them."""
    return encode_event(
        borrowed,
        timestamp=header.timestamp,
        server_id=header.server_id,
        log_pos=header.log_pos,
        flags=flags,
        algorithm=algorithm,
    )
