"""Turns events of a log into measurements: whole numbers, one record for each column, row and kind of event.

The records are the same wherever and in whatever parts a log is read, as long as parts begin between transactions.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cases.row_images import RowImage
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import UPDATE_TYPES, LazyRows, RowsBody, fixed_size
from conformance.reference.errors import CodecError
from conformance.reference.partial.apply import apply_field
from conformance.reference.tables.columns import PartialJson
from scenarios.estimate.costs import FieldCost, field_cost, logged_cost
from scenarios.estimate.rows import Layout, Packing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.images import Row

EVENT_MAX: Final = 8192  # binlog_row_event_max_size, unless it was changed

NO_BEFORE: Final = "no before image"
NO_DOCUMENT: Final = "diffs without the document"
DAMAGED: Final = "document cannot be read"
NO_TABLE: Final = "no table map"
ROWS: Final = "rows"
"""The code of damage inside an event's rows; others are those of the reader of logs."""


class Measurement(NamedTuple):
    """``kind`` says what the record is about, and which of the fields it has; the others are empty or 0.

    ``column``: a JSON column of an updated row. ``word`` is empty, or why it could not be judged. Bytes of its fields:
    in the before image, as logged, and as in :class:`.costs.FieldCost`. ``changed``: its value did.
    ``row``: an updated row with the image that ``word`` names, or without ``word`` one that could not be judged. The
    ``heads`` are bytes of the events that begin with it; ``amount`` is 1 if the first column stands in for the key.
    ``event``: how many events (``amount``) and bytes (``logged``) of the kind ``word``; ``number`` is 1 for those
    inside compressed payloads.
    ``problem``: what (``word``, in short ``column_name``) was wrong with the file at ``position``; -1 for all of it.
    """

    kind: str
    file: str
    position: int = 0
    inner: int = -1
    number: int = 0
    schema_name: str = ""
    table_name: str = ""
    column_name: str = ""
    word: str = ""
    before: int = 0
    logged: int = 0
    whole: int = 0
    least: int = 0
    leaves: int = 0
    members: int = 0
    most: int = 0
    logged_heads: int = 0
    whole_heads: int = 0
    least_heads: int = 0
    leaves_heads: int = 0
    members_heads: int = 0
    most_heads: int = 0
    changed: int = 0
    amount: int = 0


TEXTS: Final = ("kind", "file", "schema_name", "table_name", "column_name", "word")
_BEGIN: Final = (b"BEGIN", b"COMMIT", b"ROLLBACK", b"SAVEPOINT", b"XA ", b"RELEASE")
_DEFINITIONS: Final = (b"CREATE", b"ALTER", b"DROP", b"RENAME", b"TRUNCATE")


class Meter:
    """Measures one file, or a part of one that begins between transactions."""

    def __init__(self, file: str, event_max: int = EVENT_MAX) -> None:
        self._file = file
        self._event_max = event_max
        self._counts: Counter[tuple[str, int]] = Counter()
        self._bytes: Counter[tuple[str, int]] = Counter()
        self._group: object = None
        self._packing = Packing(0)

    def feed(self, event: Event) -> Iterator[Measurement]:
        """The measurements of an event's rows."""
        body = event.body
        word = event.name
        if isinstance(body, Query):
            word = _statement(body.text) or word
        self.count(word, event.header.length, inside=event.inner is not None)
        if isinstance(body, (LazyRows, RowsBody)) and body.type in UPDATE_TYPES:
            try:
                yield from self._updates(event, body)
            except CodecError as error:  # the rows before the damage are measured, and the log goes on after it
                yield self.problem(event.position, ROWS, str(event.located(error)))

    def count(self, word: str, size: int, *, inside: bool) -> None:
        """Count one more event of a kind."""
        self._counts[word, int(inside)] += 1
        self._bytes[word, int(inside)] += size

    def problem(self, position: int | None, code: str, message: str) -> Measurement:
        """The measurement of a problem of the file."""
        return Measurement("problem", self._file, -1 if position is None else position, column_name=code, word=message)

    def finish(self) -> Iterator[Measurement]:
        """The counts of events."""
        for (word, inside), amount in sorted(self._counts.items()):
            logged = self._bytes[word, inside]
            yield Measurement("event", self._file, number=inside, word=word, logged=logged, amount=amount)

    def _updates(self, event: Event, body: LazyRows | RowsBody) -> Iterator[Measurement]:
        place = (self._file, event.position or 0, -1 if event.inner is None else event.inner)
        if body.table is None:
            yield Measurement("row", *place, word=NO_TABLE, logged=event.header.length)
            return
        table = body.map()
        layout: Layout | None = table.plans.get(("estimate", body.before_columns, body.after_columns))
        if layout is None:
            layout = Layout(table, body)
            table.plans["estimate", body.before_columns, body.after_columns] = layout
        # Events in a payload have no checksums, but in a log without compression they would have them.
        head = HEADER_SIZE + fixed_size(body) + FOOTER_SIZE * (event.checksum is not None or event.inner is not None)
        group = (body.table_id, body.before_columns, body.after_columns, body.extra)
        if group != self._group:
            self._packing = Packing(fixed_size(body), self._event_max)
        self._group = None if body.statement_end else group
        rows = body.rows if isinstance(body, RowsBody) else body.rows()
        for number, row in enumerate(rows):
            yield from self._row(place, number, layout, row, head)

    def _row(
        self, place: tuple[str, int, int], number: int, layout: Layout, row: Row, head: int
    ) -> Iterator[Measurement]:
        assert row.before is not None
        assert row.after is not None
        table = layout.table
        where = (*place, number, table.schema, table.table)
        old = dict(zip(layout.before, row.before, strict=True))
        fields: dict[int, FieldCost] = {}
        unjudged = False
        for index, value in zip(layout.after, row.after, strict=True):
            if index not in layout.json:
                continue
            before = old.get(index)
            assert before is None or isinstance(before, bytes)
            logged = layout.size(index, value)
            reason = ""
            cost: FieldCost | None = None
            try:
                if isinstance(value, PartialJson):
                    if index in old:
                        cost = logged_cost(apply_field(before, value.diffs), value.diffs)
                    else:
                        reason = NO_DOCUMENT
                elif row.value_options is not None and (value is None or isinstance(value, bytes)):
                    cost = FieldCost(logged, logged, logged, logged, logged)  # the server chose the whole document
                elif value is None or isinstance(value, bytes):
                    if index in old or value is None:
                        cost = field_cost(before, value)
                    else:
                        reason = NO_BEFORE
            except (CodecError, RecursionError):  # the second: deeper than any server makes them
                reason = DAMAGED
            name = table.column_names[index]
            if cost is None:
                unjudged = True
                yield Measurement("column", *where, name, reason, logged=logged)
                continue
            fields[index] = cost
            changed = int(cost.most != 4 and (before is not None or value is not None))
            yield Measurement(
                "column", *where, name, "", layout.size(index, before), logged, *cost, changed=changed
            )  # fmt: skip
        logged = layout.logged(row)
        logged_heads = 0 if number else head
        if unjudged:
            yield Measurement("row", *where, logged=logged, logged_heads=logged_heads)
            return
        starts = self._packing.starts
        for costs in layout.costs(row, fields):
            image, sizes = costs.image, costs[1:]
            heads = [head * starts((image, variant), size) for variant, size in enumerate(sizes)]
            assumed = int(image is RowImage.MINIMAL and not layout.key_known and layout.image is not image)
            counted = (0, logged, *sizes, logged_heads, *heads, 0, assumed)
            yield Measurement("row", *where, "", image, *counted)


def _statement(text: bytes) -> str:
    """The kind of statement in a QUERY event: a definition, another that is logged as text, or neither."""
    start = text.lstrip()[:12].upper()
    if start.startswith(_DEFINITIONS):
        return "definition"
    return "" if start.startswith(_BEGIN) else "statement as text"
