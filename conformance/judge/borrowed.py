"""The facts that no model can know, taken from the observation: the one list of them (design, section 1).

Everything else in an event is predicted, lengths and checksums included. Documents are never borrowed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import RowsBody
from conformance.reference.binlog.small import Xid
from conformance.reference.binlog.table_map import TableMap

if TYPE_CHECKING:
    from conformance.reference.binlog.header import Checksum, Header

BORROWED: Final = {
    "timestamp": "seconds in every header; commit timestamps of GTID events; execution time of QUERY",
    "server_id": "of every header",
    "log_pos": "end position of every header",
    "table_id": "of TABLE_MAP and row events",
    "xid": "transaction number of XID",
    "gtid": "UUID, number and logical clock of GTID events; server version",
    "thread_id": "of QUERY",
    "checksum_algorithm": "whether events end with a CRC32",
    "compressed_frame": "the zstd frame of TRANSACTION_PAYLOAD; the events inside are predicted",
}


def borrow(predicted: object, observed: object) -> Any:
    """The predicted body with the borrowed facts of the body at the same place of the observation.

    Where that is of another kind nothing is borrowed from it.
    """
    if isinstance(predicted, TableMap | RowsBody) and hasattr(observed, "table_id"):
        return replace(predicted, table_id=observed.table_id)
    if isinstance(predicted, Xid) and isinstance(observed, Xid):
        return replace(predicted, xid=observed.xid)
    if isinstance(predicted, Query) and isinstance(observed, Query):
        return replace(predicted, thread_id=observed.thread_id, execution_time=observed.execution_time)
    if isinstance(predicted, Gtid) and isinstance(observed, Gtid):
        return replace(
            observed,
            gtid_flags=predicted.gtid_flags,
            original_commit_timestamp=predicted.original_commit_timestamp,
            original_server_version=predicted.original_server_version,
            transaction_length=predicted.transaction_length,
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
