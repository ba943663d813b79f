"""One update of one row, with the option on and off: bytes, images, and the applier's result.

The reference really encodes and decodes every field: document, diffs, row event with and without the option. It reads
both events again and applies the diffs to the old document. The sizes in a row are the sizes of the resulting bytes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cases.predict import Model
from conformance.cases.row_images import RowImage
from conformance.cases.session import Session
from conformance.cases.update_case import Step, UpdateCase
from conformance.reference.binlog.event import decode_event, encode_event
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.cursor import included
from conformance.reference.errors import CodecError, MysqlError
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.apply import apply_diffs, apply_field
from conformance.reference.partial.diffs import Diff, Operation, split_diffs
from conformance.reference.partial.expression import (
    Assignment,
    Call,
    Column,
    Function,
    Increment,
    Literal,
)
from conformance.reference.partial.paths import parse_path
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.definitions import Column as TableColumn
from conformance.reference.tables.definitions import Table, table_map
from conformance.reference.tables.table_map import TableMap
from scenarios.codes import Code, Wrong
from scenarios.engines import changes, transactions
from scenarios.engines.documents import SHAPES, SMALL, document, pattern_of, tight
from scenarios.engines.due import due_of
from scenarios.expected.events import DUE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.cases.predict import RowPrediction, StepPrediction
    from conformance.reference.binlog.images import Row
    from conformance.reference.binlog.rows import RowsBody
    from conformance.reference.jsonb.values import JsonValue
    from generators.draw import Draw
    from scenarios.matrix import Setting

REVISION: Final = 2
KEYS: Final = ("primary", "unique", "none")
SETTINGS: Final[dict[str, range | tuple[str, ...]]] = {
    "size": range(4, (4 << 20) + 1),
    "shape": SHAPES,
    "update": changes.UPDATES,
    "pairs": range(1, 33),
    "image": ("FULL", "MINIMAL", "NOBLOB"),
    "metadata": ("MINIMAL", "FULL"),
    "key": KEYS,
    "columns": range(1, 65),
    "padding": ("none", "hole"),
    "compression": ("off", "on"),
    "margin": range(-24, 41),
}
MEASURES: Final = (
    "verdict", "error",
    "document",  # bytes of the assigned document before the update
    "full_size",  # bytes of the documents whose update gave diffs that are not empty: Def2 without its constant
    "diff_size", "diffs",  # those diffs: as they are encoded; how many
    "partial_columns", "empty_columns", "full_columns", "null_columns",  # JSON columns in the after image, how logged
    "partial_full", "partial_diff",  # of the columns logged as diffs, empty ones too: what whole and diffs take
    "least_saving", "most_forgone",  # least F - D among columns logged as diffs, largest among those logged whole
    "event_on", "event_off", "table_map",  # row event with the option and without
    # In the transaction as written: bytes of payloads, row events outside of them, bytes of all row events.
    "payload_on", "outside_on", "rows_on", "payload_off", "outside_off", "rows_off",
    "before_count", "after_count", "partial_bits", "in_place",
    *DUE,  # what the statement must give (scenarios.expected): the same things, computed from the scenario
)  # fmt: skip
BREAKS: Final = {Code.APPLIED: "FR4", Code.NOT_APPLIED: "FR4", Code.OFF: "FR13"}
NONE: Final = 1 << 40  # in least_saving and, negative, in most_forgone: there was no such column

_TABLE_ID: Final = 90


class Scenario(NamedTuple):
    """A scenario that a server could execute as well.

    ``plain``: the column's document before ``padding`` made the hole, at the path ``hole``. ``values``: the JSON
    columns before that as values.
    """

    frame: Frame
    row: dict[str, object]
    assignments: tuple[Assignment, ...]
    column: str
    compression: bool
    plain: bytes
    padding: tuple[Assignment, ...]
    hole: str | None
    values: tuple[JsonValue, ...]

    def case(self, case_id: str) -> UpdateCase:
        """The scenario as a Case for a real server."""
        table = self.frame.table
        row = {**self.row, self.column: self.plain}
        statements = (self.padding, self.assignments) if self.padding else (self.assignments,)
        return UpdateCase(
            id=case_id,
            seed=case_id,
            table=table,
            selector="id",
            session=Session(row_image=self.frame.on.session.row_image, compression=self.compression),
            rows=(tuple(row[column.name] for column in table.columns),),
            steps=tuple(Step(assignments, (0,)) for assignments in statements),
        )


class Frame:
    """The objects that the scenarios of one table and session share.

    They are the models with the option on and off, and the TABLE_MAP as a reader finds it in the log.
    """

    def __init__(self, columns: int, key: str, image: str, metadata: str) -> None:
        self.table = _table(columns, key)
        self.image = image
        self.metadata = metadata
        self.on, self.off = (self._model(RowImage(image), partial_json=value) for value in (True, False))
        encoded = encode_event(table_map(self.table, metadata, table_id=_TABLE_ID))
        body = decode_event(encoded).body
        if not isinstance(body, TableMap):
            raise Wrong(Code.READ_BACK, "the TABLE_MAP reads as something else")
        self.table_map = body
        self.table_map_size = len(encoded)
        self.json = tuple(column.name for column in self.table.columns if column.is_json)
        self.names = tuple(column.name for column in self.table.columns)
        self._known_names: dict[int, tuple[str, ...]] = {}

    def names_in(self, bitmap: int | None) -> tuple[str, ...]:
        """The names of the columns in an image."""
        assert bitmap is not None
        names = self._known_names.get(bitmap)
        if names is None:
            chosen = included(bitmap, len(self.names))
            names = self._known_names[bitmap] = tuple(self.names[index] for index in chosen)
        return names

    def _model(self, image: RowImage, *, partial_json: bool) -> Model:
        session = Session(row_image=image, partial_json=partial_json)
        model = Model(self.table, "id", session, [], row_metadata=self.metadata)
        model.__dict__["table_map"] = table_map(self.table, self.metadata, table_id=_TABLE_ID)
        return model


@lru_cache(maxsize=512)
def frame_of(columns: int, key: str, image: str, metadata: str) -> Frame:
    """The frame for a table and session. Frames are few and made once per process."""
    return Frame(columns, key, image, metadata)


def _table(columns: int, key: str) -> Table:
    made = [
        TableColumn(name="id", type="INT", nullable=key == "none"),
        *(TableColumn(name=f"j{number}", type="JSON") for number in range(columns)),
        TableColumn(name="n", type="INT"),
        TableColumn(name="t", type="TEXT"),
    ]
    return Table(
        schema="lab",
        name="m",
        columns=tuple(made),
        primary_key=((0, 0),) if key == "primary" else (),
        unique_keys=(((0, 0),),) if key == "unique" else (),
    )


def cost(settings: Mapping[str, Setting]) -> float:
    """The approximate microseconds that a scenario takes: only the cutting of the work depends on it."""
    return 260 + 0.006 * int(settings.get("size", 300))


def scenario(draw: Draw, settings: Mapping[str, Setting]) -> Scenario:
    """Draw the scenario itself, without any computation."""
    get = settings.get
    columns, kind, pairs = int(get("columns", 1)), str(get("update", "replace")), int(get("pairs", 1))
    shape, size = str(get("shape", "flat")), int(get("size", 300))
    frame = frame_of(columns, str(get("key", "primary")), str(get("image", "FULL")), str(get("metadata", "MINIMAL")))
    if "margin" in settings:
        made = tight(draw, shape, size, pairs, int(settings["margin"]))
        kind = "every"
    else:
        made = document(draw, shape, size)
    row: dict[str, object] = {"id": 1 + draw.below(1 << 20), "n": draw.below(1000), "t": b"side"}
    values: list[JsonValue] = [made.value, *([SMALL] * (columns - 1))]
    if columns > 1:
        values[-1] = {"a": pattern_of(draw), "b": 1}
        for name in frame.json[1:-1]:
            row[name] = _SMALL_BYTES
        row[frame.json[-1]] = encode(values[-1])
    column = frame.json[0]
    row[column] = plain = encode(made.value)
    padding: tuple[Assignment, ...] = ()
    hole = None
    if get("padding") == "hole":
        hole = made.leaves[0].path
        row[column] = with_hole(plain, hole)
        padding = (Assignment(column, Call(Function.JSON_REPLACE, Column(column), ((hole, Literal("")),))),)
    assigned = changes.assignments(draw, column, made, kind, pairs)
    if columns > 1 and kind != "beside" and draw.below(2):
        call = Call(Function.JSON_SET, Column(frame.json[-1]), (("$.a", Literal(pattern_of(draw))),))
        assigned.append(Assignment(frame.json[-1], call))
    if kind != "beside" and "margin" not in settings and draw.below(4) == 3:
        assigned.append(Assignment("n", Increment("n", 1)))
    compression = get("compression") == "on"
    return Scenario(frame, row, tuple(assigned), column, compression, plain, padding, hole, tuple(values))


_SMALL_BYTES: Final = encode(SMALL)


def with_hole(stored: bytes, path: str) -> bytes:
    """The document after its first value became empty in place: its size stays, and it has a hole."""
    after = apply_diffs(stored, [Diff(Operation.REPLACE, parse_path(path), "")])
    assert after is not None
    return after


def measure(draw: Draw, settings: Mapping[str, Setting]) -> tuple[int, ...]:
    """Run one scenario; return the values of ``MEASURES``."""
    made = scenario(draw, settings)
    frame, column = made.frame, made.column
    wanted = due_of(frame.table, frame.image, made.values, made.hole, made.assignments)
    step = Step(made.assignments, (0,))
    on = predicted(frame.on, made.row, step)
    off = frame.off.logged_as(on)
    before = made.row[column]
    assert isinstance(before, bytes)
    if not on.events or not off.events:
        if bool(on.events) != bool(off.events):
            raise Wrong(Code.READ_BACK, "an event with the option, or without it, but not both")
        return (int(Code.QUIET), 0, len(before), *(0,) * (len(MEASURES) - 3 - len(wanted)), *wanted)
    visited = on.rows[0]
    on_bytes, on_body, on_row = round_trip(frame, on.events)
    off_bytes, off_body, off_row = round_trip(frame, off.events)
    _read_back(frame, visited, on_body, on_row)
    values = tuple([off.rows[0].change.after[name] for name in frame.names_in(off_body.after_columns)])
    if off_row.value_options is not None or off_row.after != values:
        raise Wrong(Code.OFF, "the row with the option off reads otherwise")
    written: tuple[int, ...] = transactions.NOTHING * 2
    if "compression" in settings:
        written = tuple([
            number
            for events in (on.events, off.events)
            for number in transactions.measured(frame.table_map, events, compressed=made.compression)
        ])  # fmt: skip
    return (
        int(Code.OK), 0, len(before),
        *_sizes(frame, visited, on_body, on_row),
        len(on_bytes), len(off_bytes), frame.table_map_size, *written,
        len(on_row.before or ()), len(on_row.after or ()), on_row.partial_columns or 0,
        int(column in visited.change.columns and visited.change.columns[column].in_place),
        *wanted,
    )  # fmt: skip


def predicted(model: Model, row: Mapping[str, object], step: Step) -> StepPrediction:
    """The reference's prediction of an update, which must not be refused."""
    model.rows = [row]
    prediction = model.predict(step)
    if prediction.error is not None:
        raise Wrong(Code.NOT_APPLIED, f"the statement is refused: {prediction.error}", prediction.error.number)
    return prediction


def round_trip(frame: Frame, events: tuple[RowsBody, ...]) -> tuple[bytes, LazyRows, Row]:
    """The one row event of an update: its bytes, and its decoded content."""
    (event,) = events
    data = encode_event(event)
    try:
        body = decode_event(data, tables={_TABLE_ID: frame.table_map}).body
        if not isinstance(body, LazyRows):
            raise Wrong(Code.READ_BACK, f"the row event reads as {type(body).__name__}")
        rows = list(body.rows())
    except CodecError as error:
        raise Wrong(Code.READ_BACK, f"the row event cannot be read: {error}") from error
    if len(rows) != 1:
        raise Wrong(Code.READ_BACK, f"{len(rows)} rows in the event")
    return data, body, rows[0]


def _read_back(frame: Frame, visited: RowPrediction, body: LazyRows, row: Row) -> None:
    """Compare the event with the row that it was made from: apply diffs to the old document."""
    change = visited.change
    names = frame.names_in(body.before_columns)
    if row.before is None or row.after is None or list(row.before) != [change.before[name] for name in names]:
        raise Wrong(Code.READ_BACK, "the before image reads otherwise")
    bits = 0
    for name, value in zip(frame.names_in(body.after_columns), row.after, strict=True):
        wanted = change.after[name]
        if isinstance(value, PartialJson):
            bits |= 1 << frame.json.index(name)
            old = change.before[name]
            assert old is None or isinstance(old, bytes)
            try:
                value = apply_field(old, value.diffs)
            except MysqlError as error:
                raise Wrong(Code.NOT_APPLIED, f"{name}: {error}", error.number) from error
            if value != wanted:
                raise Wrong(Code.APPLIED, f"{name}: the diffs give another document")
        elif value != wanted:
            raise Wrong(Code.READ_BACK, f"{name}: another value")
    if bits != (row.partial_columns or 0):
        raise Wrong(Code.IMAGE, f"partial bits {row.partial_columns or 0:b}, diffs in {bits:b}")


def _sizes(frame: Frame, visited: RowPrediction, body: LazyRows, row: Row) -> tuple[int, ...]:
    full_size = diff_size = diffs = 0
    kinds = [0, 0, 0, 0]
    partial_full = partial_diff = 0
    least, most = NONE, -NONE
    assert row.after is not None
    for name, value in zip(frame.names_in(body.after_columns), row.after, strict=True):
        if name not in frame.json:
            continue
        stored = visited.change.after[name]
        if value is None or not isinstance(stored, bytes):
            kinds[3] += 1
            continue
        column = visited.change.columns.get(name)
        collected = b"" if column is None else column.encoded
        if isinstance(value, PartialJson):
            collected = value.diffs
            kinds[0 if collected else 1] += 1
            partial_full += len(stored)
            partial_diff += len(collected)
            if collected:
                least = min(least, len(stored) - len(collected))
        else:
            kinds[2] += 1
            if collected:
                most = max(most, len(stored) - len(collected))
        if collected:
            full_size += len(stored)
            diff_size += len(collected)
            diffs += len(split_diffs(collected))
    return full_size, diff_size, diffs, *kinds, partial_full, partial_diff, least, most
