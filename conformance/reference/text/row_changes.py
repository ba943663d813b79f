"""Row changes as JSON objects, one a line: ``decode --format jsonl``.

This module writes the JSON itself, because numbers keep MySQL's text, which the ``json`` module would change. Bytes
that are not valid UTF-8 become lone surrogates; a stream with ``errors="backslashreplace"`` writes them as escapes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, cast

from conformance.reference.binlog.control_events import Rotate, Stop
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged, gtid_text
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.images import MAX_PLANS
from conformance.reference.binlog.mariadb.events import GtidList, MariadbGtid
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import DELETE_TYPES, WRITE_TYPES, LazyRows, RowsBody, included, table_map_of
from conformance.reference.cursor import bitmap_size
from conformance.reference.errors import CodecError
from conformance.reference.event_types import event_name
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.leaves import quoted
from conformance.reference.jsonb.stored_text import document_text
from conformance.reference.jsonb.tagged import to_tagged
from conformance.reference.jsonb.text import format_double, format_text, quote
from conformance.reference.partial.diffs import Operation, split_diffs
from conformance.reference.tables import columns as types
from conformance.reference.tables.charsets import BINARY, text_of
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.table_map import TableMap
from conformance.reference.text.columns import INTEGERS, member_text, plain_text, stored_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from conformance.reference.binlog.event import Body, Event
    from conformance.reference.binlog.images import Image, Row
    from conformance.reference.tables.metadata import ColumnInfo

    Resolve = Callable[[LazyRows | RowsBody, Row], Mapping[int, bytes]]
    Writer = Callable[[Any], str]
    Columns: TypeAlias = tuple[tuple[int, str, Writer | None], ...]
    Line = Callable[[int | None, str | None, str | None], str]

_new = tuple.__new__  # of a named tuple, as in files
NUMBERS: Final = INTEGERS | {types.FLOAT, types.DOUBLE}


class Form(Enum):
    """The form of documents in the output."""

    PLAIN = "as JSON"
    TAGGED = "as JSON, values of other types with a tag"
    APART = "not at all: whoever asks takes them from the row; a column that is SQL NULL is there"

    __hash__ = object.__hash__  # an enumeration has one in Python, which every event would pay for twice


@dataclass(slots=True)
class Counts:
    """Counts of facts that the changes themselves do not show."""

    changes: int = 0
    other_events: int = 0
    unresolved: int = 0


class Change(NamedTuple):
    """One row of an event: its number, and its images as JSON text; ``None`` for a missing image."""

    number: int
    row: Row
    before: str | None
    after: str | None


class Gtids:
    """The GTID in force, over the events of one file. ``committed``: when its transaction was committed on the server
    that wrote the log, in microseconds since 1970 (UTC); no server before 8.0 says so.
    """

    def __init__(self, now: str | None = None) -> None:
        self.committed: int | None = None
        self._body: Gtid | GtidTagged | None = None
        self._text = now

    @property
    def now(self) -> str | None:
        """The text of the GTID, made only when somebody asks."""
        if self._body is not None:
            self._text = gtid_text(self._body)
            self._body = None
        return self._text

    def feed(self, body: Body, server_id: int = 0) -> None:
        """Read the next event. ``server_id``: the number in its header, a part of MariaDB's GTIDs."""
        kind = type(body)
        if kind is MariadbGtid:
            self._body, self._text = None, cast("MariadbGtid", body).text(server_id)
            return
        if kind in _GTIDS:
            self._body = cast("Gtid | GtidTagged", body)
            self.committed = cast("Gtid | GtidTagged", body).immediate_commit_timestamp or None
        elif kind in _OUTSIDE:
            self._body = self._text = self.committed = None


_GTIDS: Final = frozenset((Gtid, GtidTagged))
_OUTSIDE: Final = frozenset((Rotate, Stop, FormatDescription, PreviousGtids, GtidList))


def operation_of(code: int) -> str:
    """The operation of a rows event of this type."""
    return "insert" if code in WRITE_TYPES else "delete" if code in DELETE_TYPES else "update"


def table_of(body: Body) -> tuple[str | None, str | None]:
    """Schema and table of an event."""
    if isinstance(body, (LazyRows, RowsBody)):
        body = body.map()
    if isinstance(body, TableMap):
        return body.schema, body.table
    if isinstance(body, Query) and body.schema:
        return body.schema.decode("utf-8", "surrogateescape"), None
    return None, None


def changes_of(
    body: LazyRows | RowsBody, *, form: Form = Form.PLAIN, resolve: Resolve | None = None
) -> Iterator[Change]:
    """The rows of one event.

    ``resolve(event, row)`` is called for every row in order. It returns the documents after the row's diffs, by column
    index.
    """
    table = table_map_of(body)
    before = _columns(table, form, body.before_columns)
    after = _columns(table, form, body.after_columns)
    known = None
    for number, row in enumerate(body.rows if isinstance(body, RowsBody) else body.rows()):
        try:
            old = None if before is None or row.before is None else _image(row.before, before, None)
            if resolve is not None:
                known = resolve(body, row)
            new = None if after is None or row.after is None else _image(row.after, after, known)
        except CodecError as error:
            raise error.at(f"rows[{number}]") from None
        yield _new(Change, (number, row, old, new))


class EventFields(NamedTuple):
    """The fields that the lines of one event have in common."""

    file: str | None
    position: int | None
    event: str
    timestamp: int
    server_id: int
    gtid: str | None
    schema: str | None
    table: str | None
    operation: str | None
    inner: int | None


def json_line(fields: EventFields) -> Line:
    """The lines of one event as JSON objects: a function of the row's number and its two images."""
    file, position, event, timestamp, server_id, gtid, schema, table, operation, inner = fields
    head = (
        f'{{"file": {_name(file)}, "position": {_number(position)}, "event": "{event}", '
        f'"timestamp": {timestamp}, "server_id": {server_id}, "gtid": {_word(gtid)}, {_table(schema, table, operation)}'
    )
    tail = f', "inner": {_number(inner)}}}'
    return lambda row, old, new: f'{head}{_number(row)}, "before": {old or "null"}, "after": {new or "null"}{tail}'


class RowChanges:
    """Events in, lines out. ``tagged``: documents in the tagged form; ``rows_only``: no other events.

    ``line`` makes the lines of an event: :func:`json_line`, or that of another format.
    """

    def __init__(
        self, *, tagged: bool = False, rows_only: bool = True, line: Callable[[EventFields], Line] = json_line
    ) -> None:
        self.form = Form.TAGGED if tagged else Form.PLAIN
        self.rows_only = rows_only
        self.counts = Counts()
        self._line = line
        self._file: str | None = None
        self._gtids = Gtids()

    @property
    def gtid(self) -> str | None:
        """The GTID in force: all of the events before that lines depend on."""
        return self._gtids.now

    def take_counts(self) -> Counts:
        """Return the counts since the last time, and begin anew."""
        counts, self.counts = self.counts, Counts()
        return counts

    def start_file(self, name: str, gtid: str | None = None) -> None:
        """Begin a file, or go on inside it, where this GTID is in force: the next events are from it."""
        self._file = name
        self._gtids = Gtids(gtid)

    def begin_transaction(self, body: Body) -> None:
        """A GTID of which no event follows here."""
        self._gtids.feed(body)

    def event(self, event: Event, resolve: Resolve | None = None) -> Iterator[str]:
        """The lines of one event, without line ends. ``resolve``: as in :func:`changes_of`."""
        body = event.body
        if isinstance(body, (LazyRows, RowsBody)):
            return self._rows(event, body, resolve)
        self._gtids.feed(body, event.header.server_id)
        self.counts.other_events += 1
        return iter(() if self.rows_only else (self._line(self._fields(event, None))(None, None, None),))

    def _fields(self, event: Event, operation: str | None) -> EventFields:
        header = event.header
        schema, table = table_of(event.body)
        fields = (
            self._file, event.position, event_name(header.type), header.timestamp, header.server_id, self._gtids.now,
            schema, table, operation, event.inner,
        )  # fmt: skip
        return _new(EventFields, fields)

    def _rows(self, event: Event, body: LazyRows | RowsBody, resolve: Resolve | None) -> Iterator[str]:
        counts = self.counts
        counted = None if resolve is None else self._counted(resolve)
        line = self._line(self._fields(event, operation_of(body.type)))
        for number, _, old, new in changes_of(body, form=self.form, resolve=counted):
            counts.changes += 1
            yield line(number, old, new)

    def _counted(self, resolve: Resolve) -> Resolve:
        def counted(body: LazyRows | RowsBody, row: Row) -> Mapping[int, bytes]:
            known = resolve(body, row)
            self.counts.unresolved += sum(isinstance(value, PartialJson) for value in row.after or ()) - len(known)
            return known

        return counted


@lru_cache(maxsize=256)
def _name(name: str | None) -> str:
    return "null" if name is None else quote(name)


@lru_cache(maxsize=256)
def _table(schema: str | None, table: str | None, operation: str | None) -> str:
    return f'"schema": {_name(schema)}, "table": {_name(table)}, "operation": {_word(operation)}, "row": '


def _word(word: str | None) -> str:
    """A text that needs no escapes."""
    return "null" if word is None else f'"{word}"'


def _number(value: int | None) -> str:
    return "null" if value is None else str(value)


def _image(image: Image, columns: Columns, known: Mapping[int, bytes] | None) -> str:
    """An image as a JSON object; ``known``: values that take the place of the row's own, by column index."""
    parts: list[str] = []
    place = 0
    for index, head, writer in columns:
        value = image[place]
        place += 1
        if value is None:
            shown = "null"
        elif writer is None:
            continue
        else:
            if known:
                value = known.get(index, value)
            try:
                shown = writer(value)
            except CodecError as error:
                raise error.at(head[1:-3]) from None
        parts.append(head + shown)
    return "{" + ", ".join(parts) + "}"


def _columns(table: TableMap, form: Form, bitmap: int | None) -> Columns | None:
    """The columns of an image: index, quoted name with a colon, writer; kept with the TABLE_MAP."""
    if bitmap is None:
        return None
    key = (form, bitmap)
    known: Columns | None = table.plans.get(key)
    if known is None:
        described = table.described
        known = tuple(
            [
                (index, f"{quote(table.column_names[index])}: ", value_writer(described[index], form))
                for index in included(bitmap, len(described))
            ]
        )
        if len(table.plans) < MAX_PLANS:
            table.plans[key] = known
    return known


def value_writer(info: ColumnInfo, form: Form) -> Writer | None:
    """The function that writes a column's values as JSON; None where the form leaves documents out."""
    plain = plain_text(info)
    kind = info.type.real_type
    if plain is not None:
        shown = plain
        return shown if kind in NUMBERS else lambda value: f'"{shown(value)}"'
    if info.type.type == types.JSON:
        if form is Form.APART:
            return None
        document = _tagged_text if form is Form.TAGGED else document_text
        return lambda value: _json(value, document)
    if kind in (types.ENUM, types.SET):
        return lambda value: _member(info, value)
    if kind == types.BIT:
        size = bitmap_size(info.type.length)
        return lambda value: _hex(value.to_bytes(size, "big"))
    if info.collation == BINARY:
        return lambda value: _hex(stored_bytes(info, value))
    if kind in types.COMPRESSED_COLUMNS:
        return lambda value: _string(stored_bytes(info, value), info.collation)
    return lambda value: _string(value, info.collation)


def _hex(value: bytes) -> str:
    return f'{{"hex": "{value.hex()}"}}'


def _string(value: bytes, collation: int | None) -> str:
    text = text_of(value, collation)
    return _hex(value) if text is None else quote(text)


def _member(info: ColumnInfo, value: int) -> str:
    text = member_text(info, value)
    return f'{{"index": {value}}}' if text is None else quote(text)


def _json(value: bytes | PartialJson, document: Callable[[bytes], str]) -> str:
    if type(value) is not PartialJson:
        return f'{{"json": {document(cast("bytes", value))}}}'
    parts: list[str] = []
    for operation, path, data in split_diffs(value.diffs):
        try:
            text = _DIFFS[operation] + quoted(path, 0, len(path))
        except UnicodeDecodeError:
            text = _DIFFS[operation] + quote(path.decode("utf-8", "surrogateescape"))
        if data is not None:
            try:
                text += f', "value": {document(data)}'
            except CodecError as error:
                raise error.at(f"diffs[{len(parts)}]") from None
        parts.append(text + "}")
    return '{"diffs": [' + ", ".join(parts) + "]}"


_DIFFS: Final = tuple([f'{{"operation": "{operation.name}", "path": ' for operation in Operation])


def _tagged_text(data: bytes) -> str:
    return _plain_json(to_tagged(decode(data)))


def _plain_json(value: Any) -> str:
    """Plain JSON data as text: members in their order, doubles in MySQL's text."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quote(key)}: {_plain_json(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_plain_json, value)) + "]"
    if isinstance(value, float):
        return format_double(value)
    return format_text(value)
