"""Binary logs in the form of a server version (versions 5): the bytes that the version writes, and the events that it
reads.

Callers give events in the form of the newest version. The writer omits fields that an older version has no place for,
and refuses values that it could not write. The tests build logs of every version with this module. Use it to test a
decoder with logs of servers that are hard to get.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.format_description import POST_HEADER_LENGTHS
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.header import Flag
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import V1_TYPES, PartitionInfo, RowsBody
from conformance.reference.binlog.statement_events import RowsQuery
from conformance.reference.errors import EncodeError
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import JSON, VECTOR, YEAR
from conformance.reference.tables.metadata import Bits, Field, MetadataRules
from conformance.reference.tables.table_map import GENERATED_INVISIBLE_PK, TableMap

if TYPE_CHECKING:
    from conformance.reference.binlog.event import Body
    from conformance.reference.dialect import Dialect, LogForms

_OLD_TYPES: Final = 39  # fewer types than these: the events of LOAD DATA and START_V3 still have post-headers
# Types before 8.0 with the lengths of their post-headers; from 8.0 on these are 0.
_OLD_LENGTHS: Final = {1: 56, 6: 18, 8: 4, 10: 4, 12: 18}
_AT_FORMAT_DESCRIPTION: Final = 57  # what the length of that event's own post-header exceeds the number of types by
_BEFORE_METADATA: Final = frozenset(range(20, 23))  # row events from before 5.1 was released
_GTID_STEPS: Final = (
    ("immediate_commit_timestamp", "original_commit_timestamp"),
    ("transaction_length",),
    ("immediate_server_version", "original_server_version"),
    ("commit_group_ticket",),
)


def post_header_lengths(log: LogForms) -> bytes:
    """The table in the FORMAT_DESCRIPTION of a version (versions 5.1)."""
    out = bytearray(POST_HEADER_LENGTHS[: log.fde_types])
    out[EventType.FORMAT_DESCRIPTION - 1] = _AT_FORMAT_DESCRIPTION + log.fde_types
    for old in V1_TYPES:
        out[old - 1] = log.fde_v1_header_len
    for kind in (EventType.GTID, EventType.ANONYMOUS_GTID):
        out[kind - 1] = log.gtid_post_header
    if log.fde_types < _OLD_TYPES:
        for code, length in _OLD_LENGTHS.items():
            out[code - 1] = length
    return bytes(out)


def version_rules(log: LogForms, *, lenient: bool = True) -> MetadataRules:
    """The rules for the optional metadata in a log of this version (versions 5.4).

    ``lenient``: the reader skips unknown fields by their length, as it should; otherwise it behaves as this version's
    own reader.
    """
    skips = lenient or log.reader_skips_unknown_tlv is not False
    return MetadataRules(
        year_counted=log.signedness_counts_year is not False,
        highest=None if lenient else log.tlv_max,
        skips_unknown=skips,
    )


def known_types(log: LogForms) -> frozenset[int]:
    """Types that readers of this version accept; any other type ends the reading, unless it is marked ignorable
    (versions 5.2).
    """
    out = set(range(1, log.fde_types + 1)) - {EventType.HEARTBEAT_V2}
    if log.fde_types >= _OLD_TYPES:
        out -= {*_OLD_LENGTHS, *_BEFORE_METADATA}
    if not log.reads_v1_rows:
        out -= V1_TYPES
    for code, known in (
        (EventType.ANONYMOUS_GTID, True),
        (EventType.PARTIAL_UPDATE_ROWS, log.has_event39),
        (EventType.TRANSACTION_PAYLOAD, log.payload_event),
        (EventType.GTID_TAGGED, log.tagged_gtid),
    ):
        out = out | {code} if known else out - {code}
    return frozenset(out)


def reads(log: LogForms, code: int, flags: int = 0) -> bool:
    """Whether a reader of this version continues after an event of this type."""
    return code in known_types(log) or bool(flags & Flag.IGNORABLE)


# --- what a version writes -------------------------------------------------------------------------------------------


def _refuse(what: str) -> EncodeError:
    return EncodeError("not-in-version", f"this version has no {what}", got=what)


def written(body: Body, dialect: Dialect) -> Body | None:
    """An event as this version writes it; ``None`` if the version does not write the event.

    Raises :class:`EncodeError` for values that the version has no place for.
    """
    log = dialect.log
    match body:
        case Gtid():
            return _gtid(body, log)
        case GtidTagged() if not log.tagged_gtid:
            raise _refuse("tagged GTIDs")
        case PreviousGtids() if not log.previous_gtids_always and not body.entries:
            return None
        case PreviousGtids() if not log.tagged_gtid and (body.tagged or any(entry.tag for entry in body.entries)):
            raise _refuse("tagged GTIDs")
        case TableMap() if not dialect.json.exists and any(column.real_type == JSON for column in body.columns):
            raise _refuse("JSON columns")
        case TableMap():
            return _table_map(body, log)
        case RowsBody():
            return _rows(body, log)
        case RowsQuery() if log.rows_query_length == "low-byte":
            return replace(body, length_byte=len(body.text) & 0xFF)
        case Query():
            kept = tuple(item for item in body.status if item.code <= log.query_status_max)
            return replace(body, status=kept)
        case TransactionPayload() if not log.payload_event:
            raise _refuse("compressed transactions")
        case _:
            return body


def _gtid(body: Gtid, log: LogForms) -> Gtid | None:
    if body.type == EventType.ANONYMOUS_GTID and not log.anonymous_gtid:
        return None
    left_out: dict[str, int | None] = {name: None for step in _GTID_STEPS[log.gtid_extra :] for name in step}
    if log.gtid_post_header < POST_HEADER_LENGTHS[EventType.GTID - 1]:
        left_out |= {"last_committed": None, "sequence_number": None}
    return replace(body, **left_out)  # type: ignore[arg-type]


def _table_map(body: TableMap, log: LogForms) -> TableMap:
    if any(column.real_type == VECTOR for column in body.columns) and not log.vector_type:
        raise _refuse("VECTOR columns")
    year_counted = body.rules.year_counted and log.signedness_counts_year is not False
    rules = body.rules._replace(year_counted=year_counted)
    fields = []
    for field in body.metadata:
        if field.field > log.tlv_max:
            continue
        if isinstance(field, Bits) and field.field == Field.SIGNEDNESS and rules != body.rules:
            counted = [column for column in body.columns if column.is_numeric]
            bits = [bit for column, bit in zip(counted, field.bits, strict=True) if column.type != YEAR]
            field = Bits(Field.SIGNEDNESS, tuple(bits))
        fields.append(field)
    flags = body.flags if log.gipk_flag else body.flags & ~GENERATED_INVISIBLE_PK
    return replace(body, metadata=tuple(fields), flags=flags, rules=rules)


def _rows(body: RowsBody, log: LogForms) -> RowsBody:
    if body.type == EventType.PARTIAL_UPDATE_ROWS and not log.has_event39:
        raise _refuse("PARTIAL_UPDATE_ROWS_EVENT")
    if body.type in V1_TYPES and not log.reads_v1_rows:
        raise _refuse("row events of version 1")
    extra = tuple(info for info in body.extra if log.partition_chunk or not isinstance(info, PartitionInfo))
    return replace(body, flags=body.flags & log.rows_flags_mask, extra=extra, null_fill=bool(log.null_bitmap_padding))
