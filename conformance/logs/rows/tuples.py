"""A part of a binary log as rows: plain tuples in the order of :func:`columns_of`, text as UTF-8 bytes.

Row changes are those of ``decode --format jsonl``: the same functions make them, and their columns have the names and
values of its objects. Damage costs the rest of its transactions, where it ends the command; the mode says whether it
raises, is a row in which only ``file``, ``position`` and ``problem`` are set, or is no row. The reader's ``Work`` lists
all problems in every mode.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from conformance.logs.part_events import NO_LOG, Problem, holds_together, read_part
from conformance.logs.parts import Part
from conformance.logs.rows.conditions import Conditions
from conformance.logs.rows.options import Content, Documents, Layout, Mode, OptionError, Times
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
_BEGIN: Final = 1 << 12  # bytes that are enough for the first event of a log
_UNITS: Final = {Times.TIMESTAMP: 1_000_000, Times.BIGINT: 1}  # in a second
_DOCUMENTS: Final = ("documents", "ARRAY<STRUCT<column: STRING, before: BINARY, after: BINARY, diffs: BINARY>>")


METADATA: Final = "_metadata"
_FILE: Final = (
    "STRUCT<file_path: STRING, file_name: STRING, file_size: BIGINT, file_block_start: BIGINT,"
    " file_block_length: BIGINT, file_modification_time: TIMESTAMP>"
)
_LISTED: Final = (
    *(("file", "STRING"), ("position", "BIGINT"), ("code", "STRING"), ("message", "STRING")),
    *(("expected", "STRING"), ("got", "STRING"), ("note", "BOOLEAN")),
)


class BinlogProblem(Exception):
    """Damage in a log with the mode FAILFAST, or a file that is no log."""


class Document(NamedTuple):
    """A JSON column of a row change: JSONB as stored, or the diffs as they stand in the event."""

    column: bytes
    before: bytes | None
    after: bytes | None
    diffs: bytes | None


def columns_of(options: Options) -> tuple[tuple[str, str], ...]:
    """Names and types of the columns of :func:`read_rows`, in terms of Spark SQL."""
    if options.content is Content.PROBLEMS:
        return _LISTED
    place = (("file", "STRING"), ("position", "BIGINT"))
    stamps = (("timestamp", str(options.times)), ("immediate_commit_timestamp", "TIMESTAMP"))
    origin = (*stamps, ("server_id", "BIGINT"), ("gtid", "STRING"))
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


def all_columns(options: Options) -> tuple[tuple[str, str], ...]:
    """The same, and what the options add: the sentence of a problem, and the file of a row. Both are in no tuple."""
    given = options.corrupt_record if options.content is not Content.PROBLEMS else None
    record = () if given is None else ((given, "STRING"),)
    metadata = options.metadata or METADATA in (options.columns or ())
    return (*columns_of(options), *record, *(((METADATA, _FILE),) if metadata else ()))


def selected(options: Options) -> tuple[int, ...]:
    """The places of the selected columns among all, in their order. Raises ``OptionError``."""
    names = [name for name, _ in all_columns(options)]
    if options.columns is None:
        return tuple(range(len(names)))
    for name in options.columns:
        if name not in names:
            raise OptionError(f"option columns: expected some of {', '.join(names)}; got {name!r}")
    return tuple(names.index(name) for name in options.columns)


@dataclass(slots=True)
class Work:
    """The work of a reader: bytes of the events that it read, of those whose rows it decoded, and the rows it gave;
    and the problems that it met.
    """

    read: int = 0
    decoded: int = 0
    rows: int = 0
    problems: list[Problem] = field(default_factory=list)


def read_rows(part: Part, options: Options, work: Work | None = None) -> Iterator[Values]:
    """The rows of a part, in all columns; images that are not selected are not made.

    In the mode FAILFAST damage raises :class:`BinlogProblem`; so does a file that is no log, in every mode, unless such
    files are ignored. Only the mode PERMISSIVE has rows for problems.
    """
    width = len(columns_of(options))
    file = utf8(part.name)
    work = Work() if work is None else work
    listed = options.content is Content.PROBLEMS
    if options.mode is Mode.FAILFAST and not listed:
        look_through(part, options)  # no row of a damaged part: a query that stops at its first rows fails as well
    for found in _found(part, replace(options, content=Content.ROWS, columns=None) if listed else options, work):
        if not isinstance(found, Problem):
            if not listed:
                yield found
            continue
        if options.follows and found.note and found.code == "in-use":
            continue
        work.problems.append(found)
        if listed:
            texts = (found.code, found.message, found.expected, found.got)
            yield (file, found.position, *map(utf8_or_none, texts), found.note)
        elif fails(found, options):
            raise BinlogProblem(f"{part.name}: {found.message}")
        elif options.mode is Mode.PERMISSIVE:
            yield (file, found.position, *(None,) * (width - 3), (utf8(found.code), utf8(found.message)))


def require_log(file: str, options: Options) -> None:
    """Raise :class:`BinlogProblem` for a file that is no log, unless the options let it pass."""
    first = next(read_part(Part(file), window=_BEGIN), None)
    listed = options.content is Content.PROBLEMS
    if isinstance(first, Problem) and first.code in NO_LOG and not listed and fails(first, options):
        raise BinlogProblem(f"{file}: {first.message}")


def look_through(part: Part, options: Options) -> list[Problem]:
    """The problems that headers and checksums show, before any row is read. Raises :class:`BinlogProblem` for damage in
    the mode FAILFAST.
    """
    if holds_together(part):
        return []
    reading = read_part(part, limit=options.max_uncompressed, passes_unread=True)
    found = [item for item in reading if isinstance(item, Problem)]
    for item in found:
        if fails(item, options):
            raise BinlogProblem(f"{part.name}: {item.message}")
    return found


def fails(problem: Problem, options: Options) -> bool:
    """Whether a problem ends the query."""
    if problem.code in NO_LOG:
        return not options.ignore_corrupt_files
    return options.mode is Mode.FAILFAST and not problem.note


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
                for row in rows.of(item, gtids):
                    work.rows += 1
                    yield row
            except CodecError as error:
                item = reading.throw(item.located(error))
            else:
                item = next(reading, None)


class _Changes:
    """The row changes of events, one by one.

    A checksum proves the rows that a query leaves out; rows without one are decoded, so that no query hides damage.
    """

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
        self.proven = True
        self.unit = _UNITS[options.times]

    def of(self, event: Event, gtids: Gtids) -> Iterator[Values]:
        """The row changes of an event; nothing for events that the options or the query exclude."""
        body, header = event.body, event.header
        if event.inner is None:
            self.proven = event.checksum is not None
        if not isinstance(body, (LazyRows, RowsBody)) or header.type not in self.types:
            return
        operation, options = operation_of(body.type), self.options
        wanted = self.conditions.wants_event(event.name, header.timestamp, operation)
        if self.proven and not wanted:
            return
        table = body.map()
        if not options.wants_table(table.schema, table.table):
            return
        wanted = wanted and self.conditions.wants_table(table.schema, table.table)
        if not self.proven and not (wanted and self.images):
            for _ in changes_of(body, form=self.form):
                pass
        if not wanted:
            return
        self.work.decoded += header.length
        head = (
            *(self.file, event.position, utf8(event.name), header.timestamp * self.unit, gtids.committed),
            *(header.server_id, utf8_or_none(gtids.now), utf8(table.schema), utf8(table.table), utf8(operation)),
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
        self.unit = _UNITS[options.times]
        self._stack = stack
        self._log: BinaryIO | None = None
        self._inside: Iterator[bytes] = iter(())

    def of(self, event: Event, gtids: Gtids) -> Iterator[Values]:
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
            *(self.file, event.position, event.inner, utf8(event.name), header.type, header.timestamp * self.unit),
            *(gtids.committed, header.server_id, utf8_or_none(gtids.now), utf8_or_none(schema), utf8_or_none(table)),
            *(header.length, header.log_pos, header.flags, event.checksum, *data, None),
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
