"""A whole event: header, body, checksum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.event import decode_body
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, Flag, checksum_of
from conformance.reference.binlog.rows import ROWS_TYPES, LazyRows
from conformance.reference.boundaries.markers import marker_of, marker_title, with_marker
from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.event_types import EventType, event_name
from conformance.reference.explain.small import EXPLAINERS, explain_format, moment
from conformance.reference.explain.tables import explain_rows, explain_table_map, flag_names
from conformance.reference.explain.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.reference.explain.trace import Span
    from conformance.reference.tables.table_map import TableMap

_TYPE_OFFSET: Final = 4
_FLAGS: Final = tuple((flag.value, flag.name or "") for flag in Flag)


def explain_event(data: bytes, tables: Mapping[int, TableMap], footer: int) -> tuple[list[Span], CodecError | None]:
    """The spans of an event, in order and without gaps, and what is wrong with it.

    ``footer``: bytes of the checksum. ``tables``: the TABLE_MAPs in force. Behind an error the bytes are one span.
    """
    trace = Trace(data)
    problem: CodecError | None = None
    try:
        code = _header(trace)
        if code == EventType.FORMAT_DESCRIPTION:
            body = FormatDescription.decode(data[HEADER_SIZE:])
            footer = FOOTER_SIZE if body.has_footer else 0
            trace.cursor.end = len(data) - footer
            explain_format(trace, len(body.post_header_lengths))
        else:
            trace.cursor.end = max(trace.cursor.pos, len(data) - footer)
            _body(trace, code, tables)
        if trace:
            raise DecodeError("trailing-bytes", "bytes after the last field", offset=trace.cursor.pos, got=len(trace))
        if trace.damage:
            problem = trace.damage[0]
    except CodecError as error:
        problem = error
    covered = trace.spans[-1].offset + len(trace.spans[-1].data) if trace.spans else 0
    end = max(covered, len(data) - footer)
    if covered < end:
        trace.note(covered, end, "rest", "not read")
    if end < len(data):
        computed = checksum_of(data[:end])
        good = computed == int.from_bytes(data[end:], "little")
        trace.note(end, len(data), "checksum", "CRC-32, right" if good else f"CRC-32, wrong: {computed:#010x} is right")
        if not good and problem is None:
            problem = DecodeError("checksum", "the checksum is wrong", offset=end, expected=f"{computed:#010x}")
    return trace.spans, problem or _unread(data, footer, tables)


def _unread(data: bytes, footer: int, tables: Mapping[int, TableMap]) -> CodecError | None:
    """What the reader of events says of one whose bytes all have a meaning: values can still be impossible."""
    code = data[_TYPE_OFFSET]
    if code == EventType.FORMAT_DESCRIPTION:
        return None  # read already
    try:
        body = decode_body(code, data[HEADER_SIZE : len(data) - footer], dict(tables))
        if isinstance(body, LazyRows) and body.table is not None:
            for _ in body.rows():
                pass
    except CodecError as error:
        return error
    return None


def _header(trace: Trace) -> int:
    with trace.inside("header"):
        trace.number(4, "timestamp", moment)
        code = trace.number(1, "type", lambda value: f"{value} ({event_name(value)})")
        trace.number(4, "server_id")
        trace.number(4, "length")
        trace.number(4, "log_pos")
        trace.number(2, "flags", _flags)
    return code


def _flags(value: int) -> str:
    """The bits by name, and the boundary marker in the words of WL#4162."""
    marker = marker_of(value)
    words = flag_names(with_marker(value, 0), _FLAGS)
    return f"{words}; boundary {marker} {marker_title(marker)}" if marker else words


def _body(trace: Trace, code: int, tables: Mapping[int, TableMap]) -> None:
    if code == EventType.TABLE_MAP:
        explain_table_map(trace)
    elif code in ROWS_TYPES:
        explain_rows(trace, code, tables)
    elif code in EXPLAINERS:
        EXPLAINERS[code](trace)
    elif trace:
        trace.rest("data", lambda _: "an event of an unknown type")
