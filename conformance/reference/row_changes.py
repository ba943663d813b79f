"""Row changes as JSON objects, one a line: ``decode --format jsonl`` (design, section 6).

The JSON is written here and not by the ``json`` module, because numbers keep the text that MySQL gives them. Bytes
that are not valid UTF-8 leave as lone surrogates, which a stream with ``errors="backslashreplace"`` writes as escapes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog import columns as types
from conformance.reference.binlog.charsets import BINARY, text_of
from conformance.reference.binlog.columns import PartialJson
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import DELETE_TYPES, WRITE_TYPES, LazyRows, RowsBody, included
from conformance.reference.binlog.small import Rotate, Stop
from conformance.reference.binlog.table_map import TableMap
from conformance.reference.column_text import INTEGERS, member_text, plain_text, stored_bytes
from conformance.reference.diffs import split_diffs
from conformance.reference.errors import CodecError
from conformance.reference.gtid_text import gtid_text
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.tagged import to_tagged
from conformance.reference.jsonb.text import format_double, format_text, quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.images import Image, Row
    from conformance.reference.binlog.metadata import ColumnInfo
    from conformance.reference.jsonb.values import JsonValue

    Resolve = Callable[[LazyRows | RowsBody, Row], Mapping[int, bytes]]

NUMBERS: Final = INTEGERS | {types.FLOAT, types.DOUBLE}


@dataclass(slots=True)
class Counts:
    """What a reader of the changes should know that was not in them."""

    changes: int = 0
    other_events: int = 0
    unresolved: int = 0


class RowChanges:
    """Events in, lines out. ``tagged``: documents in the tagged form; ``rows_only``: nothing for other events.

    ``resolve(event, row)``, called for every row in order, gives the documents that its diffs lead to, by column index.
    """

    def __init__(self, *, tagged: bool = False, rows_only: bool = True) -> None:
        self.tagged = tagged
        self.rows_only = rows_only
        self.counts = Counts()
        self._file = ""
        self._gtid: str | None = None

    def start_file(self, name: str) -> None:
        """What comes now is from this file."""
        self._file = quote(name)
        self._gtid = None

    def event(self, event: Event, resolve: Resolve | None = None) -> Iterator[str]:
        """The objects of one event, without line ends."""
        body = event.body
        if isinstance(body, (Gtid, GtidTagged)):
            self._gtid = gtid_text(body)
        elif isinstance(body, (Rotate, Stop, FormatDescription, PreviousGtids)):
            self._gtid = None
        if isinstance(body, (LazyRows, RowsBody)):
            yield from self._rows(event, body, resolve)
            return
        self.counts.other_events += 1
        if self.rows_only:
            return
        schema = table = "null"
        if isinstance(body, TableMap):
            schema, table = quote(body.schema), quote(body.table)
        elif isinstance(body, Query) and body.schema:
            schema = quote(body.schema.decode("utf-8", "surrogateescape"))
        names = f'"schema": {schema}, "table": {table}, "operation": null, "row": null'
        yield f'{self._head(event)}, {names}, "before": null, "after": null, "inner": {_number(event.inner)}}}'

    def _head(self, event: Event) -> str:
        header = event.header
        gtid = "null" if self._gtid is None else f'"{self._gtid}"'
        return (
            f'{{"file": {self._file}, "position": {_number(event.position)}, "event": "{event.name}", '
            f'"timestamp": {header.timestamp}, "server_id": {header.server_id}, "gtid": {gtid}'
        )

    def _rows(self, event: Event, body: LazyRows | RowsBody, resolve: Resolve | None) -> Iterator[str]:
        table = body.map()
        names, writers = _columns(table, tagged=self.tagged)
        before = None if body.before_columns is None else included(body.before_columns, len(names))
        after = None if body.after_columns is None else included(body.after_columns, len(names))
        kind = "insert" if body.type in WRITE_TYPES else "delete" if body.type in DELETE_TYPES else "update"
        head = f'{self._head(event)}, "schema": {quote(table.schema)}, "table": {quote(table.table)}'
        tail = f', "inner": {_number(event.inner)}}}'
        rows = body.rows if isinstance(body, RowsBody) else body.rows()
        for number, row in enumerate(rows):
            try:
                old = _image(row.before, before, names, writers)
                known = None
                if resolve is not None:
                    known = resolve(body, row)
                    self.counts.unresolved += sum(isinstance(value, PartialJson) for value in row.after or ()) - len(
                        known
                    )
                new = _image(row.after, after, names, writers, known)
            except CodecError as error:
                raise error.at(f"rows[{number}]") from None
            self.counts.changes += 1
            yield f'{head}, "operation": "{kind}", "row": {number}, "before": {old}, "after": {new}{tail}'


def _number(value: int | None) -> str:
    return "null" if value is None else str(value)


def _image(
    image: Image | None,
    columns: Sequence[int] | None,
    names: Sequence[str],
    writers: Sequence[Callable[[Any], str]],
    known: Mapping[int, bytes] | None = None,
) -> str:
    if image is None or columns is None:
        return "null"
    parts = []
    for index, value in zip(columns, image, strict=True):
        if value is None:
            text = "null"
        else:
            try:
                text = writers[index](known.get(index, value) if known else value)
            except CodecError as error:
                raise error.at(names[index][1:-1]) from None
        parts.append(f"{names[index]}: {text}")
    return "{" + ", ".join(parts) + "}"


def _columns(table: TableMap, *, tagged: bool) -> tuple[tuple[str, ...], tuple[Callable[[Any], str], ...]]:
    """Quoted names, and the writer of each column; kept with the TABLE_MAP."""
    key = ("row_changes", tagged)
    known: tuple[tuple[str, ...], tuple[Callable[[Any], str], ...]] | None = table.plans.get(key)
    if known is None:
        names = tuple([quote(name) for name in table.column_names])
        known = names, tuple([_writer(info, tagged=tagged) for info in table.described])
        table.plans[key] = known
    return known


def _writer(info: ColumnInfo, *, tagged: bool) -> Callable[[Any], str]:
    plain = plain_text(info)
    kind = info.type.real_type
    if plain is not None:
        shown = plain
        return shown if kind in NUMBERS else lambda value: f'"{shown(value)}"'
    if info.type.type == types.JSON:
        document = _tagged_text if tagged else format_text
        return lambda value: _json(value, document)
    if kind in (types.ENUM, types.SET):
        return lambda value: _member(info, value)
    if kind == types.BIT:
        size = (info.type.length + 7) // 8
        return lambda value: _hex(value.to_bytes(size, "big"))
    if info.type.is_character and info.collation is not None and info.collation != BINARY:
        return lambda value: _string(value, info.collation)
    return lambda value: _hex(stored_bytes(info, value))


def _hex(value: bytes) -> str:
    return f'{{"hex": "{value.hex()}"}}'


def _string(value: bytes, collation: int | None) -> str:
    text = text_of(value, collation)
    return _hex(value) if text is None else quote(text)


def _member(info: ColumnInfo, value: int) -> str:
    text = member_text(info, value)
    return f'{{"index": {value}}}' if text is None else quote(text)


def _json(value: bytes | PartialJson, document: Callable[[JsonValue], str]) -> str:
    if not isinstance(value, PartialJson):
        return f'{{"json": {document(decode(value))}}}'
    parts = []
    for number, diff in enumerate(split_diffs(value.diffs)):
        path = quote(diff.path.decode("utf-8", "surrogateescape"))
        text = f'"operation": "{diff.operation.name}", "path": {path}'
        if diff.data is not None:
            try:
                text += f', "value": {document(decode(diff.data))}'
            except CodecError as error:
                raise error.at(f"diffs[{number}]") from None
        parts.append("{" + text + "}")
    return '{"diffs": [' + ", ".join(parts) + "]}"


def _tagged_text(value: JsonValue) -> str:
    return _plain_json(to_tagged(value))


def _plain_json(value: Any) -> str:
    """Plain JSON data as text, members in their order, doubles in MySQL's text."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quote(key)}: {_plain_json(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_plain_json, value)) + "]"
    if isinstance(value, float):
        return format_double(value)
    return format_text(value)
