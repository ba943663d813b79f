"""A part of a binary log as rows: plain tuples in the order of :func:`columns_of`, text as UTF-8 bytes.

Row changes are those of ``decode --format jsonl``: the same functions make them, and their columns have the names and
values of its objects. A problem of a file is a row too, in which only ``file``, ``position`` and ``problem`` are set.
Damage costs the rest of its transactions, where it ends the command.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from conformance.logs.part_events import Problem, read_part
from conformance.logs.rows.conditions import Conditions
from conformance.logs.rows.options import Content, Documents, Layout, OptionError, Problems
from conformance.logs.rows.texts import utf8, utf8_or_none
from conformance.logs.rows.typed import typed_columns, typed_rows
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.rows import ROWS_TYPES, LazyRows, RowsBody, included
from conformance.reference.errors import CodecError
from conformance.reference.tables.columns import PartialJson
from conformance.reference.text.row_changes import Form, Gtids, changes_of, operation_of, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.logs.parts import Part
    from conformance.logs.rows.options import Options
    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.images import Row
    from conformance.reference.tables.table_map import TableMap

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
    """Names and types of all columns, in terms of Spark SQL; the option ``columns`` selects some of them."""
    place = (("file", "STRING"), ("position", "BIGINT"))
    origin = (("timestamp", "BIGINT"), ("server_id", "BIGINT"), ("gtid", "STRING"))
    table = (("schema", "STRING"), ("table", "STRING"))
    if options.content is Content.EVENTS:
        names = (*place, ("inner", "INT"), ("event", "STRING"), ("type", "INT"), *origin, *table)
        header = (("size", "BIGINT"), ("log_pos", "BIGINT"), ("flags", "INT"), ("checksum", "BIGINT"))
        return (*names, *header, *((("body", "BINARY"),) if options.body else ()), _PROBLEM)
    image = "VARIANT" if options.documents is Documents.VARIANT else "STRING"
    images: tuple[tuple[str, str], ...] = (("before", image), ("after", image)) if options.body else ()
    apart = (_DOCUMENTS,) if options.documents is Documents.BYTES else ()
    if options.layout is Layout.TYPED:
        images = typed_columns(options)
    change = (("operation", "STRING"), ("row", "INT"), *images, ("inner", "INT"))
    return (*place, ("event", "STRING"), *origin, *table, *change, *apart, _PROBLEM)


def selected(options: Options) -> tuple[int, ...]:
    """The places of the selected columns, in their order. Raises ``OptionError``."""
    names = [name for name, _ in columns_of(options)]
    if options.columns is None:
        return tuple(range(len(names)))
    for name in options.columns:
        if name not in names:
            raise OptionError(f"option columns: expected some of {', '.join(names)}; got {name!r}")
    return tuple(names.index(name) for name in options.columns)


@dataclass(slots=True)
class Work:
    """The work of a reader: bytes of the events that it read, of those whose rows it decoded, and the rows it gave."""

    read: int = 0
    decoded: int = 0
    rows: int = 0


def read_rows(part: Part, options: Options, work: Work | None = None) -> Iterator[Values]:
    """The rows of a part, in all columns; images that are not selected are not made.

    With ``problems=fail`` damage raises :class:`BinlogProblem`; notes remain rows.
    """
    width = len(columns_of(options))
    file = utf8(part.name)
    for found in _found(part, options, Work() if work is None else work):
        if not isinstance(found, Problem):
            yield found
            continue
        if options.follows and found.note and found.code == "in-use":
            continue
        if options.problems is Problems.FAIL and not found.note:
            raise BinlogProblem(f"{part.name}: {found.message}")
        yield (file, found.position, *(None,) * (width - 3), (utf8(found.code), utf8(found.message)))


def _found(part: Part, options: Options, work: Work) -> Iterator[Values | Problem]:
    gtids = Gtids()
    with ExitStack() as stack:
        rows = _Changes(part, options, work) if options.content is Content.ROWS else _Events(part, options, stack)
        listed = options.content is Content.EVENTS  # an event of an unknown type is a row as well
        reading = read_part(part, limit=options.max_uncompressed, passes_unread=listed)
        item = next(reading, None)
        while item is not None:
            if isinstance(item, Problem):
                yield item
                gtids = gtids if item.note else Gtids()  # behind damage another transaction begins
                item = next(reading, None)
                continue
            gtids.feed(item.body, item.header.server_id)
            if item.inner is None:
                work.read += item.header.length
            try:
                for row in rows.of(item, gtids.now):
                    work.rows += 1
                    yield row
            except CodecError as error:
                item = reading.throw(item.located(error))
            else:
                item = next(reading, None)


class _Changes:
    """The row changes of events, one by one."""

    def __init__(self, part: Part, options: Options, work: Work) -> None:
        self.file = utf8(part.name)
        self.options = options
        self.work = work
        self.conditions = Conditions(options.conditions)
        self.types = ROWS_TYPES if options.types is None else options.types
        self.form = _FORMS[options.documents]
        names = [name for name, _ in columns_of(options)]
        inner = names.index("inner")
        self.between = (None,) * (inner - names.index("row") - 1)  # images that nobody wants
        self.behind = (None,) * (len(names) - inner - 1)
        self.images = options.body and options.wants_one_of("before", "after", "documents", "diffs", "logged")

    def of(self, event: Event, gtid: str | None) -> Iterator[Values]:
        """The row changes of an event; nothing for events that the options or the query exclude."""
        body, header = event.body, event.header
        if not isinstance(body, (LazyRows, RowsBody)) or header.type not in self.types:
            return
        operation, options = operation_of(body.type), self.options
        if not self.conditions.wants_event(event.name, header.timestamp, operation):
            return
        table = body.map()
        if not options.wants_table(table.schema, table.table):
            return
        if not self.conditions.wants_table(table.schema, table.table):
            return
        self.work.decoded += header.length
        head = (
            *(self.file, event.position, utf8(event.name), header.timestamp, header.server_id, utf8_or_none(gtid)),
            *(utf8(table.schema), utf8(table.table), utf8(operation)),
        )
        if not self.images:
            for number, _ in enumerate(body.rows if isinstance(body, RowsBody) else body.rows()):
                yield (*head, number, *self.between, event.inner, *self.behind)
            return
        if options.layout is Layout.TYPED:
            for images, problem in typed_rows(body, options):
                yield (*head, *images, event.inner, problem)
            return
        apart = _Apart(table, body) if options.documents is Documents.BYTES else None
        for number, row, old, new in changes_of(body, form=self.form):
            images = (number, utf8_or_none(old), utf8_or_none(new), event.inner)
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
            (utf8(table.column_names[index]), old.get(index), new.get(index))
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
        self.file = utf8(part.name)
        self.options = options
        self.conditions = Conditions(options.conditions)
        self.bodies = options.body and options.wants_one_of("body")
        self._stack = stack
        self._log: BinaryIO | None = None
        self._inside: Iterator[bytes] = iter(())

    def of(self, event: Event, gtid: str | None) -> Iterator[Values]:
        """One row for an event, or none."""
        header, body, options = event.header, event.body, self.options
        raw = None
        if self.bodies:
            if event.inner is not None:
                raw = next(self._inside)[HEADER_SIZE:]
            elif isinstance(body, TransactionPayload):
                self._inside = _split(body, options.max_uncompressed)
        if options.types is not None and header.type not in options.types:
            return
        if not self.conditions.wants_event(event.name, header.timestamp, None):
            return
        schema, table = (None, None) if isinstance(body, LazyRows) and body.table is None else table_of(body)
        if not self.conditions.wants_table(schema, table):
            return
        if options.tables is not None and (schema is None or table is None or not options.wants_table(schema, table)):
            return
        data: tuple[bytes | None, ...] = ()
        if options.body:
            data = ((self._raw(event) if raw is None else raw) if self.bodies else None,)
        yield (
            *(self.file, event.position, event.inner, utf8(event.name), header.type, header.timestamp),
            *(header.server_id, utf8_or_none(gtid), utf8_or_none(schema), utf8_or_none(table), header.length),
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
