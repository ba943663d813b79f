"""Annotated hex: the lines of ``explain`` for every byte of an event.

The decoders name the fields while a :class:`~conformance.reference.cursor.Recorder` records them; this module gives
each field its meaning for people.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import UUID

from conformance.reference.binlog.control_events import HEARTBEAT_FIELDS
from conformance.reference.binlog.event import decode_body, is_known, read_body
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import IMMEDIATE_TIMESTAMP, IMMEDIATE_VERSION, TAGGED_FIELDS
from conformance.reference.binlog.gtid_set import split_count
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER, HEADER_SIZE, Flag, checksum_of
from conformance.reference.binlog.payload import PAYLOAD_FIELDS, UNCOMPRESSED, ZSTD
from conformance.reference.binlog.query import Status
from conformance.reference.binlog.rows import EXTRA_KINDS, ROWS_FLAGS, ROWS_TYPES, LazyRows
from conformance.reference.binlog.statement_events import IntvarKind, UserVarType
from conformance.reference.boundaries.markers import marker_of, marker_title, with_marker
from conformance.reference.cursor import Recorder
from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.event_types import EventType, event_name
from conformance.reference.jsonb.spans import MemorySorter, write_document_spans
from conformance.reference.partial.diffs import Operation, read_diff
from conformance.reference.portable import shown
from conformance.reference.tables.charsets import COLLATIONS
from conformance.reference.tables.columns import ColumnType, codec, read_value
from conformance.reference.tables.metadata import MAX_COLUMNS, ColumnInfo, Field
from conformance.reference.tables.table_map import TableMap
from conformance.reference.text.pseudo_values import column_text
from conformance.reference.text.table_metadata import type_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from enum import IntEnum

    from conformance.reference.binlog.event import Body
    from conformance.reference.cursor import Reading
    from conformance.reference.jsonb.spans import DocumentSpan, Sorter

_SHOWN: Final = 60
_OPENING: Final = 400  # bytes that have more characters than are shown
_FLAGS: Final = tuple((flag.value, flag.name or "") for flag in Flag)
_NUMBER: Final = re.compile(r"\[\d+\]")


class Span(NamedTuple):
    """Some bytes and their meaning. ``offset`` counts from the start of the event; ``data`` holds the bytes."""

    offset: int
    data: bytes
    field: str
    meaning: str


def short(text: str) -> str:
    """A text shortened to one line."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def as_text(data: bytes) -> str:
    """Bytes that should be text, in quotes."""
    if len(data) <= _OPENING:
        return short(shown(data.decode("utf-8", "backslashreplace")))
    # Only the beginning is shown, in the quotes that the whole would have.
    single, double = b"'" in data, b'"' in data
    ending = "'\"" if single and double else "'" if single else ""
    text = data[:_OPENING].decode("utf-8", "backslashreplace")[:_SHOWN]
    return short(shown(text + ending + "." * _SHOWN))


def moment(seconds: int) -> str:
    """Seconds since 1970, and the date in UTC."""
    return f"{seconds} ({datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC)" if seconds else "0"


def flag_names(value: int, names: Sequence[tuple[int, str]]) -> str:
    """The names of the bits that are set."""
    found = [name for bit, name in names if value & bit]
    rest = value & ~sum(bit for bit, _ in names)
    return " ".join([*found, f"unknown {rest:#x}"] if rest else found) or "none"


# --- an event ---------------------------------------------------------------------------------------------------------


def explain_event(data: bytes, tables: Mapping[int, TableMap], footer: int) -> tuple[list[Span], CodecError | None]:
    """The spans of an event, in order and without gaps, and its damage.

    As :func:`write_spans`, for events that are not large.
    """
    spans: list[Span] = []
    return spans, write_spans(data, tables, footer, spans.append)


def write_spans(
    data: bytes,
    tables: Mapping[int, TableMap],
    footer: int,
    write: Callable[[Span], None],
    sorter: Callable[[], Sorter] = MemorySorter,
) -> CodecError | None:
    """Write the spans of an event, in order and without gaps; returns its damage.

    ``footer``: the size of the checksum in bytes. ``tables``: the TABLE_MAPs in force. ``sorter``: makes what sorts the
    spans of a document. The bytes behind an error are one span.
    """
    meanings = _Meanings(data, write, sorter)
    cursor = Recorder(data, readings=meanings)
    problem: CodecError | None = None
    code = 0
    body: Body | None = None
    try:
        with cursor.inside("header"):
            code = meanings.code = cursor.fields(HEADER, "header")[1]
        if code != EventType.FORMAT_DESCRIPTION:
            cursor.end = max(cursor.pos, len(data) - footer)
            cursor.data = data[: cursor.end]
        if code == EventType.TABLE_MAP:
            meanings.details = _column_metadata(cursor)
        body = read_body(code, cursor, tables)
        if isinstance(body, FormatDescription):
            footer = FOOTER_SIZE if body.has_footer else 0
            cursor.end -= footer
        elif isinstance(body, LazyRows):
            body.read_with(cursor)
        cursor.expect_end(event_name(code))
    except CodecError as error:
        problem = error.with_traceback(None)  # which would keep all that was read
    body = None  # it may be large, and is read once more below
    problem = meanings.broken or problem or meanings.damage
    covered = meanings.covered
    end = max(covered, len(data) - footer)
    if covered < end:
        write(Span(covered, data[covered:end], "rest", "not read"))
    if end < len(data):
        computed = checksum_of(data[:end])
        good = computed == int.from_bytes(data[end:], "little")
        words = "CRC-32, right" if good else f"CRC-32, wrong: {computed:#010x} is right"
        write(Span(end, data[end:], "checksum", words))
        if not good:
            if problem is None:
                problem = DecodeError("checksum", "the checksum is wrong", offset=end, expected=f"{computed:#010x}")
            else:
                problem.message += "; the checksum is wrong too"
    return problem or _refused(data, footer, tables)


def _column_metadata(cursor: Recorder) -> dict[str, Any]:
    """The metadata of the columns of a TABLE_MAP by field: it stands behind the types, whose names need it."""
    readings = _Kept("column_metadata[", MAX_COLUMNS)
    with suppress(CodecError):
        TableMap.read(Recorder(cursor.data, cursor.pos, cursor.end, readings))
    return readings.values


class _Kept:
    """The values of the first readings whose fields begin so."""

    def __init__(self, start: str, most: int) -> None:
        self._start = start
        self._most = most
        self.values: dict[str, Any] = {}

    def append(self, reading: Reading) -> None:
        if len(self.values) < self._most and reading.field.startswith(self._start):
            self.values[reading.field] = reading.value


def _refused(data: bytes, footer: int, tables: Mapping[int, TableMap]) -> CodecError | None:
    """The event reader's error about an event whose bytes all have a meaning: values can still be impossible."""
    code = data[4]
    if code == EventType.FORMAT_DESCRIPTION:
        return None  # read already
    try:
        body = decode_body(code, data[HEADER_SIZE : len(data) - footer], tables)
        if isinstance(body, LazyRows) and body.table is not None:
            for _ in body.rows():
                pass
    except CodecError as error:
        return error.with_traceback(None)
    return None


class _Meanings:
    """Takes the fields of an event as they are read, and writes them with their meanings.

    ``code``: the event's type, once it is known. ``details``: the metadata of columns. ``covered``: the end of the last
    span. ``damage``: the first damage inside a value. ``broken``: the damage behind which nothing is shown.
    """

    def __init__(self, data: bytes, write: Callable[[Span], None], sorter: Callable[[], Sorter]) -> None:
        self.data = data
        self.code = 0
        self.details: dict[str, Any] = {}
        self.covered = 0
        self.damage: CodecError | None = None
        self.broken: CodecError | None = None
        self.variable = 0  # the status variable that is shown
        self._write = write
        self._sorter = sorter

    def append(self, reading: Reading) -> None:
        """Write the next field, and what is inside it."""
        if self.broken:
            return
        if self.code in ROWS_TYPES and reading.field.endswith(".json"):
            self.document(reading)
        elif self.code in ROWS_TYPES and reading.field.endswith(".diffs"):
            self.diffs(reading)
        else:
            self.span(reading)

    def span(self, reading: Reading) -> None:
        self.write(reading.start, reading.end, reading.field, self.meaning(reading))

    def write(self, start: int, end: int, field: str, meaning: str) -> None:
        self._write(Span(start, self.data[start:end], field, meaning))
        self.covered = end

    def document(self, reading: Reading) -> None:
        """The bytes of a document. Damaged parts are shown as bytes."""
        start, outer = reading.start, reading.field

        def write(span: DocumentSpan) -> None:
            self.write(start + span.start, start + span.end, f"{outer}.{span.field}", span.meaning)

        damage = write_document_spans(self.data[start : reading.end], short, write, self._sorter())
        if damage is not None:
            self.damage = self.damage or damage.at(outer.rpartition(".")[2], start)

    def diffs(self, reading: Reading) -> None:
        """The diffs of a column, up to a diff that cannot be read."""
        cursor = Recorder(self.data, reading.start, reading.end, _Diffs(self))
        outer = reading.field.removesuffix("diffs")
        try:
            for _ in cursor.items(f"{outer}diffs"):
                read_diff(cursor)
        except CodecError as error:
            self.broken = error

    def meaning(self, reading: Reading) -> str:
        value = reading.value
        if isinstance(value, tuple):
            return self.column(reading, *value)
        name = _NUMBER.sub("", reading.field).rpartition(".")[2]
        if reading.field.startswith("header."):
            return _HEADER.get(name, str)(value)
        if reading.field.startswith("status["):
            if name == "code":
                self.variable = value
            elif name == "value" and self.variable < Status.CATALOG:
                return f"{value:#x}"
        if name == "column_type":
            metadata = self.details.get(reading.field.replace("_type", "_metadata"), 0)
            return f"{value} ({type_name(ColumnInfo(ColumnType(value, metadata), nullable=False))})"
        if not is_known(self.code):
            return "an event of an unknown type"
        show = _OF_EVENT.get((self.code, name)) or _OF_ANY.get(name)
        if show is not None:
            return show(value)
        if isinstance(value, list):
            return _columns(value)
        return as_text(bytes(value)) if isinstance(value, (bytes, bytearray)) else str(value)

    def column(self, reading: Reading, index: int, info: ColumnInfo) -> str:
        """A value with its type. Numbers are shown as signed numbers first, as mysqlbinlog does."""
        value, _ = read_value(codec(info.type), self.data[reading.start : reading.end], 0)
        text = column_text(info, index + 1).show(value).decode("utf-8", "backslashreplace").rstrip()
        return f"{type_name(info)} {short(text)}"


class _Diffs:
    """Takes the fields of diffs."""

    def __init__(self, meanings: _Meanings) -> None:
        self._meanings = meanings

    def append(self, reading: Reading) -> None:
        if reading.field.endswith("].data"):
            self._meanings.document(reading)
        else:
            self._meanings.span(reading)


# --- meanings ---------------------------------------------------------------------------------------------------------


def _header_flags(value: int) -> str:
    """The flag bits by name, and the boundary marker under its name in WL#4162."""
    marker = marker_of(value)
    words = flag_names(with_marker(value, 0), _FLAGS)
    return f"{words}; boundary {marker} {marker_title(marker)}" if marker else words


def _microseconds(value: int) -> str:
    value &= IMMEDIATE_TIMESTAMP
    seconds, micro = divmod(value, 1_000_000)
    if seconds >> 33:
        return str(value)
    return f"{value} ({datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}.{micro:06} UTC)"


def _named(kinds: type[IntEnum], form: str = "{1}", other: str = "{}") -> Callable[[int], str]:
    """The name of a number in an enumeration."""
    names = {item.value: item.name for item in kinds}
    return lambda value: form.format(value, names[value]) if value in names else other.format(value)


def _listed(names: Mapping[int, str], other: str = "{}") -> Callable[[int], str]:
    return lambda value: names.get(value) or other.format(value)


def _columns(numbers: Sequence[int]) -> str:
    return short(", ".join(f"@{number + 1}" for number in numbers)) or "none"


def _collation(number: int) -> str:
    known = COLLATIONS.get(number)
    return f"{number} ({known.name})" if known else str(number)


def _previous_count(word: int) -> str:
    count, tagged = split_count(word)
    return f"{count}, with tags" if tagged else str(count)


def _padded(data: bytes) -> str:
    return as_text(data.rstrip(b"\0"))


_HEADER: Final[dict[str, Callable[[int], str]]] = {
    "timestamp": moment,
    "type": lambda value: f"{value} ({event_name(value)})",
    "flags": _header_flags,
}
# Meanings by the field's name alone; other fields are shown as they are.
_OF_ANY: Final[dict[str, Callable[[Any], str]]] = {
    "after_columns": _columns,
    "checksum_algorithm": lambda value: "CRC32" if value else "none",
    "column_metadata": "{:#x}".format,
    "compression": _listed({ZSTD: "zstd", UNCOMPRESSED: "none"}),
    "created": moment,
    "duplicates": _listed({0: "error", 1: "ignore", 2: "replace"}),
    "extra_data": bytes.hex,
    "extra_kind": _listed(EXTRA_KINDS, "unknown"),
    "immediate_commit_timestamp": _microseconds,
    "immediate_server_version": lambda value: str(value & IMMEDIATE_VERSION),
    "length_byte": "{} (means nothing)".format,
    "operation": _named(Operation, other="unknown ({})"),
    "original_commit_timestamp": _microseconds,
    "payload": lambda data: f"{len(data)} bytes",
    "rows": lambda _: "no TABLE_MAP that fits",
    "server_version": _padded,
    "snapshot": bytes.hex,
    "table_id": lambda value: str(value if isinstance(value, int) else int.from_bytes(value, "little")),
    "unknown": bytes.hex,
    "uuid": lambda value: f"{value:#04x}" if isinstance(value, int) else str(UUID(bytes=bytes(value))),
    "value_options": _listed({1: "PARTIAL_JSON"}),
    "view_id": _padded,
}
_OF_EVENT: Final[dict[tuple[int, str], Callable[[Any], str]]] = {
    **{(code, "flags"): lambda value: flag_names(value, ROWS_FLAGS) for code in ROWS_TYPES},
    **{(code, "null_bitmap"): lambda value: f"NULL: {_columns(value)}" for code in ROWS_TYPES},
    **{
        (code, "gtid_flags"): lambda value: "may have statements" if value & 1 else "rows only"
        for code in (EventType.GTID, EventType.ANONYMOUS_GTID)
    },
    **{(code, "code"): _named(Status) for code in (EventType.QUERY, EventType.EXECUTE_LOAD_QUERY)},
    (EventType.GTID_TAGGED, "field"): _listed(
        {number: name for number, (name, _) in enumerate(TAGGED_FIELDS)}, "unknown ({})"
    ),
    (EventType.HEARTBEAT_V2, "field"): _listed(HEARTBEAT_FIELDS, "unknown ({})"),
    (EventType.INCIDENT, "number"): _listed({1: "LOST_EVENTS"}),
    (EventType.INTVAR, "kind"): _named(IntvarKind),
    (EventType.PREVIOUS_GTIDS, "count"): _previous_count,
    (EventType.PREVIOUS_GTIDS, "end"): "{} (not included)".format,
    (EventType.TABLE_MAP, "collation"): _collation,
    (EventType.TABLE_MAP, "default"): _collation,
    (EventType.TABLE_MAP, "field"): _named(Field, "{0} ({1})", "{} (unknown)"),
    (EventType.TABLE_MAP, "flags"): "{:#x}".format,
    (EventType.TABLE_MAP, "null_bitmap"): lambda value: f"nullable: {_columns(value)}",
    (EventType.TABLE_MAP, "value"): lambda data: "".join(f"{byte:08b}" for byte in data),
    (EventType.TRANSACTION_PAYLOAD, "field"): _listed(PAYLOAD_FIELDS, "unknown ({})"),
    (EventType.TRANSACTION_PAYLOAD, "value"): bytes.hex,
    (EventType.USER_VAR, "kind"): _named(UserVarType),
    (EventType.USER_VAR, "value"): lambda data: short(data.hex()),
    (EventType.VIEW_CHANGE, "value"): bytes.hex,
}
