"""All events but TABLE_MAP and rows, byte by byte (binlog-events 3 to 8, binlog-events 12 to 15)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from conformance.reference.binlog.query import TOO_MANY_DATABASES, Status
from conformance.reference.binlog.statement_events import IntvarKind, UserVarType
from conformance.reference.event_types import EventType
from conformance.reference.explain.trace import as_text, short

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.explain.trace import Trace

_STATUS_SIZES: Final = {
    Status.FLAGS2: (4,), Status.SQL_MODE: (8,), Status.AUTO_INCREMENT: (2, 2), Status.CHARSET: (2, 2, 2),
    Status.LC_TIME_NAMES: (2,), Status.CHARSET_DATABASE: (2,), Status.TABLE_MAP_FOR_UPDATE: (8,),
    Status.MASTER_DATA_WRITTEN: (4,), Status.MICROSECONDS: (3,), Status.EXPLICIT_DEFAULTS_FOR_TIMESTAMP: (1,),
    Status.DDL_LOGGED_WITH_XID: (8,), Status.DEFAULT_COLLATION_FOR_UTF8MB4: (2,), Status.SQL_REQUIRE_PRIMARY_KEY: (1,),
    Status.DEFAULT_TABLE_ENCRYPTION: (1,), Status.ENABLE_CASCADE_TRIGGERS: (1,),
}  # fmt: skip
_ORIGINAL_TIMESTAMP: Final = 1 << 55
_ORIGINAL_VERSION: Final = 1 << 31
_TAGGED_FIELDS: Final = (
    ("gtid_flags", False), ("uuid", False), ("gno", True), ("tag", False), ("last_committed", True),
    ("sequence_number", True), ("immediate_commit_timestamp", False), ("original_commit_timestamp", False),
    ("transaction_length", False), ("immediate_server_version", False), ("original_server_version", False),
    ("commit_group_ticket", False),
)  # fmt: skip


def moment(seconds: int) -> str:
    """Seconds since 1970, and the date in UTC."""
    return f"{seconds} ({datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC)" if seconds else "0"


def _micro(value: int) -> str:
    value &= ~_ORIGINAL_TIMESTAMP
    seconds, micro = divmod(value, 1_000_000)
    if seconds >> 33:
        return str(value)
    return f"{value} ({datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}.{micro:06} UTC)"


def _uuid(data: bytes) -> str:
    return str(UUID(bytes=data))


def explain_format(trace: Trace, table_length: int) -> None:
    """FORMAT_DESCRIPTION; ``table_length`` is that of its table of post-header lengths."""
    trace.number(2, "binlog_version")
    trace.raw(50, "server_version", lambda data: as_text(data.rstrip(b"\0")))
    trace.number(4, "created", moment)
    trace.number(1, "header_length")
    for code in range(1, table_length + 1):
        trace.number(1, f"post_header_length[{code}]")
    if trace:
        trace.number(1, "checksum_algorithm", lambda value: "CRC32" if value else "none")


def _rotate(trace: Trace) -> None:
    trace.number(8, "position")
    trace.rest("name")


def _intvar(trace: Trace) -> None:
    trace.number(1, "kind", lambda value: IntvarKind(value).name if value in (1, 2) else str(value))
    trace.number(8, "value")


def _rand(trace: Trace) -> None:
    trace.number(8, "seed1")
    trace.number(8, "seed2")


def _user_var(trace: Trace) -> None:
    trace.raw(trace.number(4, "name_length"), "name")
    if trace.number(1, "is_null"):
        return
    trace.number(1, "kind", lambda value: UserVarType(value).name if value in (0, 1, 2, 4) else str(value))
    trace.number(4, "collation")
    trace.raw(trace.number(4, "value_length"), "value", lambda data: short(data.hex()))
    if trace:
        trace.number(1, "flags")


def _xid(trace: Trace) -> None:
    trace.number(8, "xid")


def _xa_prepare(trace: Trace) -> None:
    trace.number(1, "one_phase")
    trace.number(4, "format_id")
    gtrid = trace.number(4, "gtrid_length")
    bqual = trace.number(4, "bqual_length")
    trace.raw(gtrid, "gtrid")
    trace.raw(bqual, "bqual")


def _rows_query(trace: Trace) -> None:
    trace.number(1, "length_byte", lambda value: f"{value} (means nothing)")
    trace.rest("text")


def _incident(trace: Trace) -> None:
    trace.number(2, "number", lambda value: "LOST_EVENTS" if value == 1 else str(value))
    trace.raw(trace.number(1, "message_length"), "message")


def _query(trace: Trace) -> None:
    schema, status = _post_header(trace)
    _tail(trace, schema, status)


def _post_header(trace: Trace) -> tuple[int, int]:
    trace.number(4, "thread_id")
    trace.number(4, "execution_time")
    schema = trace.number(1, "schema_length")
    trace.number(2, "error_code")
    return schema, trace.number(2, "status_length")


def _tail(trace: Trace, schema: int, status: int) -> None:
    end = trace.cursor.pos + status
    number = 0
    while trace.cursor.pos < end:
        with trace.inside(f"status[{number}]"):
            _status(trace, end)
        number += 1
    trace.raw(schema, "schema")
    trace.number(1, "schema_end")
    trace.rest("text")


def _status(trace: Trace, end: int) -> None:
    code = trace.number(
        1, "code", lambda value: Status(value).name if value in Status._value2member_map_ else str(value)
    )
    if code in _STATUS_SIZES:
        for size in _STATUS_SIZES[Status(code)]:
            trace.number(size, "value", lambda value: f"{value:#x}" if code < 2 else str(value))
    elif code in (Status.CATALOG, Status.TIME_ZONE, Status.CATALOG_NZ):
        trace.raw(trace.number(1, "length"), "text")
        if code == Status.CATALOG:
            trace.number(1, "end")
    elif code == Status.INVOKER:
        trace.raw(trace.number(1, "user_length"), "user")
        trace.raw(trace.number(1, "host_length"), "host")
    elif code == Status.UPDATED_DB_NAMES:
        count = trace.number(1, "count")
        for _ in range(0 if count == TOO_MANY_DATABASES else count):
            stop = trace.cursor.data.find(b"\0", trace.cursor.pos, end) + 1 or end
            trace.raw(stop - trace.cursor.pos, "name")
    else:
        trace.raw(end - trace.cursor.pos, "unknown", bytes.hex)


def _load_block(trace: Trace) -> None:
    trace.number(4, "file_id")
    if trace:
        trace.rest("data")


def _execute_load(trace: Trace) -> None:
    schema, status = _post_header(trace)
    trace.number(4, "file_id")
    trace.number(4, "name_start")
    trace.number(4, "name_end")
    trace.number(1, "duplicates", lambda value: {0: "error", 1: "ignore", 2: "replace"}.get(value, str(value)))
    _tail(trace, schema, status)


def _gtid(trace: Trace) -> None:
    trace.number(1, "gtid_flags", lambda value: "may have statements" if value & 1 else "rows only")
    trace.raw(16, "uuid", _uuid)
    trace.number(8, "gno")
    if trace:
        trace.number(1, "clock_type")
        trace.number(8, "last_committed")
        trace.number(8, "sequence_number")
    if trace and trace.number(7, "immediate_commit_timestamp", _micro) & _ORIGINAL_TIMESTAMP:
        trace.number(7, "original_commit_timestamp", _micro)
    if trace:
        trace.packed("transaction_length")
    if trace:
        show: Callable[[int], str] = lambda value: str(value & ~_ORIGINAL_VERSION)  # noqa: E731
        if trace.number(4, "immediate_server_version", show) & _ORIGINAL_VERSION:
            trace.number(4, "original_server_version")
    if trace:
        trace.number(8, "commit_group_ticket")


def _gtid_tagged(trace: Trace) -> None:
    trace.varint("version")
    trace.varint("message_size")
    trace.varint("last_non_ignorable_field")
    while trace:
        number = trace.varint(
            "field",
            show=lambda value: _TAGGED_FIELDS[value][0] if value < len(_TAGGED_FIELDS) else f"unknown ({value})",
        )
        if number >= len(_TAGGED_FIELDS):
            trace.rest("unknown", bytes.hex)
            return
        name, signed = _TAGGED_FIELDS[number]
        if name == "uuid":
            for place in range(16):
                trace.varint(f"uuid[{place}]", show=lambda value: f"{value:#04x}")
        elif name == "tag":
            trace.raw(trace.varint("tag_length"), "tag")
        else:
            trace.varint(name, signed=signed, show=_micro if "timestamp" in name else str)


def _previous_gtids(trace: Trace) -> None:
    word = trace.number(
        8, "count", lambda value: f"{value >> 8 & 0xFFFF_FFFF_FFFF}, with tags" if value >> 56 else str(value)
    )
    tagged = bool(word >> 56)
    count = word >> 8 & 0xFFFF_FFFF_FFFF if tagged else word
    for number in range(count):
        with trace.inside(f"entries[{number}]"):
            trace.raw(16, "uuid", _uuid)
            if tagged:
                trace.raw(trace.varint("tag_length"), "tag")
            for place in range(trace.number(8, "interval_count")):
                trace.number(8, f"start[{place}]")
                trace.number(8, f"end[{place}]", lambda value: f"{value} (not included)")


def _heartbeat_v2(trace: Trace) -> None:
    while kind := trace.packed(
        "field", lambda value: {0: "end", 1: "name", 2: "position"}.get(value, f"unknown ({value})")
    ):
        length = trace.packed("length")
        if kind == 2:
            trace.packed("position")
        else:
            trace.raw(length, "name" if kind == 1 else "value")


def _transaction_context(trace: Trace) -> None:
    uuid = trace.number(1, "uuid_length")
    trace.number(4, "thread_id")
    trace.number(1, "gtid_specified")
    snapshot = trace.number(4, "snapshot_length")
    writes = trace.number(4, "write_set_size")
    reads = trace.number(4, "read_set_size")
    trace.raw(uuid, "server_uuid")
    trace.raw(snapshot, "snapshot", bytes.hex)
    for name, count in (("write_set", writes), ("read_set", reads)):
        for place in range(count):
            trace.raw(trace.number(2, f"{name}_length[{place}]"), f"{name}[{place}]")


def _view_change(trace: Trace) -> None:
    trace.raw(40, "view_id", lambda data: as_text(data.rstrip(b"\0")))
    trace.number(8, "sequence_number")
    for place in range(trace.number(4, "certification_size")):
        trace.raw(trace.number(2, f"key_length[{place}]"), f"key[{place}]")
        trace.raw(trace.number(4, f"value_length[{place}]"), f"value[{place}]", bytes.hex)


def _payload(trace: Trace) -> None:
    names = {0: "end", 1: "payload_size", 2: "compression", 3: "uncompressed_size"}
    while kind := trace.packed("field", lambda value: names.get(value, f"unknown ({value})")):
        length = trace.packed("length")
        if kind == 2:
            trace.packed("compression", lambda value: {0: "zstd", 255: "none"}.get(value, str(value)))
        elif kind in names:
            trace.packed(names[kind])
        else:
            trace.raw(length, "value", bytes.hex)
    trace.rest("payload", lambda data: f"{len(data)} bytes")


def _whole(name: str) -> Callable[[Trace], None]:
    def explain(trace: Trace) -> None:
        if trace:
            trace.rest(name)

    return explain


EXPLAINERS: Final[dict[int, Callable[[Trace], None]]] = {
    EventType.QUERY: _query,
    EventType.STOP: _whole("data"),
    EventType.ROTATE: _rotate,
    EventType.INTVAR: _intvar,
    EventType.APPEND_BLOCK: _load_block,
    EventType.DELETE_FILE: _load_block,
    EventType.RAND: _rand,
    EventType.USER_VAR: _user_var,
    EventType.XID: _xid,
    EventType.BEGIN_LOAD_QUERY: _load_block,
    EventType.EXECUTE_LOAD_QUERY: _execute_load,
    EventType.INCIDENT: _incident,
    EventType.HEARTBEAT: _whole("name"),
    EventType.IGNORABLE: _whole("data"),
    EventType.ROWS_QUERY: _rows_query,
    EventType.GTID: _gtid,
    EventType.ANONYMOUS_GTID: _gtid,
    EventType.PREVIOUS_GTIDS: _previous_gtids,
    EventType.TRANSACTION_CONTEXT: _transaction_context,
    EventType.VIEW_CHANGE: _view_change,
    EventType.XA_PREPARE: _xa_prepare,
    EventType.TRANSACTION_PAYLOAD: _payload,
    EventType.HEARTBEAT_V2: _heartbeat_v2,
    EventType.GTID_TAGGED: _gtid_tagged,
}
