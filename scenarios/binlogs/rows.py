"""A part of a binary log as rows: plain tuples in the order of :func:`columns_of`, text as UTF-8 bytes.

Row changes are those of ``decode --format jsonl``: the same functions make them, and their columns have the names and
values of its objects. A problem of a file is a row too, in which only ``file``, ``position`` and ``problem`` are set.
Damage costs the rest of its transactions, where it ends the command.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.rows import ROWS_TYPES, LazyRows, RowsBody, included
from conformance.reference.errors import CodecError
from conformance.reference.tables.columns import PartialJson
from conformance.reference.text.row_changes import Form, Gtids, changes_of, operation_of, table_of
from scenarios.binlogs.options import Content, Documents, Problems
from scenarios.binlogs.reading import Problem, read_part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.images import Row
    from conformance.reference.tables.table_map import TableMap
    from scenarios.binlogs.options import Options
    from scenarios.binlogs.parts import Part

Values = tuple[Any, ...]

_FORMS: Final = {
    Documents.JSON: Form.PLAIN,
    Documents.VARIANT: Form.PLAIN,
    Documents.TAGGED: Form.TAGGED,
    Documents.BYTES: Form.APART,
}
_PROBLEM: Final = ("problem", "STRUCT<code: STRING, message: STRING>")
_DOCUMENTS: Final = ("documents", "ARRAY<STRUCT<column: STRING, before: BINARY, after: BINARY, diffs: BINARY>>")


class BinlogProblem(Exception):
    """Damage in a log, raised with the option ``problems=fail``."""


class Document(NamedTuple):
    """A JSON column of a row change: JSONB as stored, or the diffs as they stand in the event."""

    column: bytes
    before: bytes | None
    after: bytes | None
    diffs: bytes | None


def columns_of(options: Options) -> tuple[tuple[str, str], ...]:
    """Names and types of the columns, in terms of Spark SQL."""
    place = (("file", "STRING"), ("position", "BIGINT"))
    origin = (("timestamp", "BIGINT"), ("server_id", "BIGINT"), ("gtid", "STRING"))
    table = (("schema", "STRING"), ("table", "STRING"))
    if options.content is Content.EVENTS:
        names = (*place, ("inner", "INT"), ("event", "STRING"), ("type", "INT"), *origin, *table)
        header = (("size", "BIGINT"), ("log_pos", "BIGINT"), ("flags", "INT"), ("checksum", "BIGINT"))
        return (*names, *header, *((("body", "BINARY"),) if options.body else ()), _PROBLEM)
    image = "VARIANT" if options.documents is Documents.VARIANT else "STRING"
    images = (("before", image), ("after", image)) if options.body else ()
    apart = (_DOCUMENTS,) if options.documents is Documents.BYTES else ()
    change = (("operation", "STRING"), ("row", "INT"), *images, ("inner", "INT"))
    return (*place, ("event", "STRING"), *origin, *table, *change, *apart, _PROBLEM)


def read_rows(part: Part, options: Options) -> Iterator[Values]:
    """The rows of a part. With ``problems=fail`` damage raises :class:`BinlogProblem`; notes remain rows."""
    width = len(columns_of(options))
    file = _text(part.file)
    for found in _found(part, options):
        if not isinstance(found, Problem):
            yield found
            continue
        if options.problems is Problems.FAIL and not found.note:
            raise BinlogProblem(f"{part.file}: {found.message}")
        yield (file, found.position, *(None,) * (width - 3), (_text(found.code), _text(found.message)))


def _found(part: Part, options: Options) -> Iterator[Values | Problem]:
    gtids = Gtids()
    with ExitStack() as stack:
        rows = _Changes(part, options) if options.content is Content.ROWS else _Events(part, options, stack)
        reading = read_part(part, limit=options.max_uncompressed)
        item = next(reading, None)
        while item is not None:
            if isinstance(item, Problem):
                yield item
                gtids = gtids if item.note else Gtids()  # behind damage another transaction begins
                item = next(reading, None)
                continue
            gtids.feed(item.body)
            try:
                yield from rows.of(item, gtids.now)
            except CodecError as error:
                item = reading.throw(item.located(error))
            else:
                item = next(reading, None)


class _Changes:
    """The row changes of events, one by one."""

    def __init__(self, part: Part, options: Options) -> None:
        self.file = _text(part.file)
        self.options = options
        self.types = ROWS_TYPES if options.types is None else options.types
        self.form = _FORMS[options.documents]

    def of(self, event: Event, gtid: str | None) -> Iterator[Values]:
        """The row changes of an event; nothing for events that the options exclude."""
        body = event.body
        if not isinstance(body, (LazyRows, RowsBody)) or event.header.type not in self.types:
            return
        options = self.options
        table = body.map()
        if not options.wants_table(table.schema, table.table):
            return
        header = event.header
        head = (
            *(self.file, event.position, _text(event.name), header.timestamp, header.server_id, _text_or_none(gtid)),
            *(_text(table.schema), _text(table.table), _text(operation_of(body.type))),
        )
        if not options.body:
            for number, _ in enumerate(body.rows if isinstance(body, RowsBody) else body.rows()):
                yield (*head, number, event.inner, None)
            return
        apart = _Apart(table, body) if options.documents is Documents.BYTES else None
        for number, row, old, new in changes_of(body, form=self.form):
            images = (number, _text_or_none(old), _text_or_none(new), event.inner)
            if apart is None:
                yield (*head, *images, None)
            else:
                yield (*head, *images, apart.of(row), None)


class _Apart:
    """The documents of a rows event's JSON columns."""

    def __init__(self, table: TableMap, body: LazyRows | RowsBody) -> None:
        def places(columns: int | None) -> dict[int, int]:
            if columns is None:
                return {}
            return {index: place for place, index in enumerate(included(columns, len(table.columns)))}

        old, new = places(body.before_columns), places(body.after_columns)
        self.columns = [
            (_text(table.column_names[index]), old.get(index), new.get(index))
            for index in table.json_columns
            if index in old or index in new
        ]

    def of(self, row: Row) -> list[Document]:
        """The documents in an image, SQL NULL included."""
        found = []
        for name, old, new in self.columns:
            before: Any = None if old is None or row.before is None else row.before[old]
            after: Any = None if new is None or row.after is None else row.after[new]
            partial = isinstance(after, PartialJson)
            found.append(Document(name, before, None if partial else after, after.diffs if partial else None))
        return found


class _Events:
    """Headers of events, with their bodies if the options select them."""

    def __init__(self, part: Part, options: Options, stack: ExitStack) -> None:
        self.part = part
        self.file = _text(part.file)
        self.options = options
        self._stack = stack
        self._log: BinaryIO | None = None
        self._inside: Iterator[bytes] = iter(())

    def of(self, event: Event, gtid: str | None) -> Iterator[Values]:
        """One row for an event, or none."""
        header, body, options = event.header, event.body, self.options
        raw = None
        if options.body:
            if event.inner is not None:
                raw = next(self._inside)[HEADER_SIZE:]
            elif isinstance(body, TransactionPayload):
                self._inside = _split(body, options.max_uncompressed)
        if options.types is not None and header.type not in options.types:
            return
        schema, table = (None, None) if isinstance(body, LazyRows) and body.table is None else table_of(body)
        if options.tables is not None and (schema is None or table is None or not options.wants_table(schema, table)):
            return
        data = (self._raw(event) if raw is None else raw,) if options.body else ()
        yield (
            *(self.file, event.position, event.inner, _text(event.name), header.type, header.timestamp),
            *(header.server_id, _text_or_none(gtid), _text_or_none(schema), _text_or_none(table), header.length),
            *(header.log_pos, header.flags, event.checksum, *data, None),
        )

    def _raw(self, event: Event) -> bytes:
        """The bytes between header and checksum, as they stand in the file."""
        if self._log is None:
            self._log = self._stack.enter_context(Path(self.part.file).open("rb"))  # noqa: SIM115 - the stack closes it
        assert event.position is not None
        self._log.seek(event.position + HEADER_SIZE)
        return self._log.read(event.header.length - HEADER_SIZE - (0 if event.checksum is None else FOOTER_SIZE))


def _split(payload: TransactionPayload, limit: int | None) -> Iterator[bytes]:
    """The events inside, uncompressed at the first request: damage follows the payload's own row."""
    for frame in payload.inner_frames(limit):
        yield frame.data


def _text(value: str) -> bytes:
    """Text in the command's form: bytes that are not valid UTF-8 become escapes."""
    return value.encode("utf-8", "backslashreplace")


def _text_or_none(value: str | None) -> bytes | None:
    return None if value is None else value.encode("utf-8", "backslashreplace")
