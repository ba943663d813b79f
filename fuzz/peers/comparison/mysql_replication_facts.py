"""The facts of an event under the names of python-mysql-replication's attributes, and what it must print of them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog.control_events import Rotate, XaPrepare, Xid
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import MAY_HAVE_SBR, Gtid, gtid_text
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.load import ExecuteLoadQuery, LoadBlock
from conformance.reference.binlog.query import Query, StatusInteger
from conformance.reference.binlog.statement_events import Intvar, Rand, RowsQuery, UserVar, UserVarType
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.opaque import unpack_decimal
from conformance.reference.tables.charsets import text_of
from fuzz.violation import PeerDefect

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.binlog.event import Body


def compare(body: Body, other: Any) -> None:
    """Compare the facts of an event. A fact that the peer does not give is no difference."""
    for name, wanted in _facts(body).items():
        got = getattr(other, name, wanted)
        if not _same(wanted, got):
            raise PeerDefect(f"wrong fact: {name} of {_name(body)}", wanted, got)


def printed_fact(body: Body) -> str | None:
    """A text that must be in the printed form of an event."""
    return _TEXTS.get(type(body), lambda _: None)(body)


def _name(body: Body) -> str:
    if isinstance(body, UserVar):
        return f"USER_VAR {UserVarType(body.kind).name}{'' if body.value else ' without bytes'}"
    return EventType(body.type).name


def _same(wanted: object, got: object) -> bool:
    if isinstance(wanted, bytes) and isinstance(got, str):
        return wanted.decode("utf-8", "backslashreplace") == got
    if isinstance(wanted, float):
        return repr(wanted) == repr(got)
    return wanted == got and isinstance(wanted, bool) == isinstance(got, bool)


def _facts(body: Body) -> dict[str, object]:
    """The values that the peer's attributes of these names must have."""
    match body:
        case Gtid():
            return {"gtid": gtid_text(body), "commit_flag": bool(body.gtid_flags & MAY_HAVE_SBR),
                    "last_committed": body.last_committed, "sequence_number": body.sequence_number}  # fmt: skip
        case Query():
            integers = {item.code: item.value for item in body.status if isinstance(item, StatusInteger)}
            names = {_STATUS[code]: value for code, value in integers.items() if code in _STATUS}
            return {"query": body.text, "schema": body.schema, "slave_proxy_id": body.thread_id,
                    "execution_time": body.execution_time, "error_code": body.error_code, **names}  # fmt: skip
        case Xid(xid=number):
            return {"xid": number}
        case XaPrepare():
            return {"xid_gtrid": body.gtrid, "xid_bqual": body.bqual, "xid_format_id": body.format_id,
                    "one_phase": bool(body.one_phase)}  # fmt: skip
        case Rotate():
            return {"next_binlog": body.name, "position": body.position}
        case Intvar():
            return {"type": int(body.kind), "value": body.value}
        case Rand():
            return {"seed1": body.seed1, "seed2": body.seed2}
        case RowsQuery():
            return {"query": body.text}
        case LoadBlock():
            return {"file_id": body.file_id, "block_data": body.data}
        case ExecuteLoadQuery():
            return {"file_id": body.file_id, "start_pos": body.start, "end_pos": body.end,
                    "dup_handling_flags": body.duplicates, "slave_proxy_id": body.thread_id}  # fmt: skip
        case UserVar():
            return {"name": body.name, "value": _variable(body)}
        case FormatDescription():
            return {"mysql_version_str": body.server_version, "binlog_version": body.binlog_version,
                    "created": body.created, "common_header_len": body.header_length,
                    "post_header_len": tuple(body.post_header_lengths),
                    "checksum_algorithm": int(body.algorithm)}  # fmt: skip
    return {}


_STATUS: Final = {
    0: "flags2", 1: "sql_mode", 7: "lc_time_names_number", 8: "charset_database_number", 9: "table_map_for_update",
    13: "microseconds", 16: "explicit_defaults_ts", 17: "ddl_xid", 18: "default_collation_for_utf8mb4_number",
    19: "sql_require_primary_key", 20: "default_table_encryption",
}  # fmt: skip


def _variable(body: UserVar) -> object:
    """The value of a user variable; a text that is none in its character set stays bytes."""
    if body.value is None:
        return None
    if body.kind == UserVarType.INT:
        return int.from_bytes(body.value, "little", signed=not body.flags)
    if body.kind == UserVarType.REAL:
        return struct.unpack("<d", body.value)[0]
    if body.kind == UserVarType.DECIMAL:
        return unpack_decimal(body.value[2:], body.value[0], body.value[1])
    text = text_of(body.value, body.collation)
    return body.value if text is None else text


# What must stand in the printed form.
_TEXTS: Final[dict[type, Callable[[Any], str | None]]] = {
    Gtid: gtid_text,
    PreviousGtids: str,
    Query: lambda body: body.text.decode("utf-8"),
    Xid: lambda body: str(body.xid),
}
