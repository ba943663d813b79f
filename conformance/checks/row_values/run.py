"""Rows of generated values on a real server, and what a reader finds in their log alone.

A block is one table whose rows one capture inserts, changes and deletes. Both images of every row event must have the
values that the server shows in between. The reader gets a file with the events and nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Final

from conformance.cases.row_images import RowImage, after_columns, before_columns
from conformance.checks.row_values.judge import Cell, Difference, compare_rows, parse
from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.errors import CodecError
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.definitions import Table, create_table, table_map
from conformance.reference.text.row_changes import RowChanges
from conformance.servers.wire.groups import groups_of_thread
from generators.row_values import SRS, literal, table

if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from typing import Any

    from conformance.harness.needs.questions import Questions
    from conformance.reference.tables.definitions import Column
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw

# Zero dates, invalid dates and the ENUM value 0 are values of a row too; times are UTC in the log.
SESSION: Final = (
    "SET NAMES utf8mb4",
    "SET SESSION sql_mode='ALLOW_INVALID_DATES', SESSION time_zone='+00:00'",
    "SET SESSION binlog_format='ROW', SESSION binlog_row_value_options=''",
)
_MAGIC: Final = b"\xfebin"
_NAME: Final = "t"
_IN_SYSTEM: Final = re.compile(r"(ST_GeomFromText\('[^']*', )(\d+)\)")
_IMAGES: Final = (RowImage.FULL, RowImage.FULL, RowImage.FULL, RowImage.MINIMAL, RowImage.NOBLOB)
_SHOWN: Final = 400  # hex digits of an event that differs

Rows = list[tuple[Cell, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A block: its table, the statements that made it, what was shown, and the file with its events."""

    table: Table
    row_image: RowImage
    statements: tuple[str, ...]
    inserted: Rows
    changed: Rows
    file: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRows:
    """``values``: differences between log and table. ``events``: rows events whose values encode to other bytes."""

    values: tuple[Difference, ...]
    events: tuple[Difference, ...]
    event_count: int


@dataclass(frozen=True, slots=True)
class Offer:
    """Whether a server has VECTOR columns, its collations, and the spatial reference systems that it lacks."""

    vectors: bool
    collations: frozenset[str]
    without: frozenset[str] = frozenset()


def offer(connection: Connection, questions: Questions) -> Offer:
    """Ask the server what its columns can be."""
    names = connection.execute("SELECT COLLATION_NAME FROM INFORMATION_SCHEMA.COLLATIONS").texts()
    return Offer(
        questions.has("statement VECTOR"),
        frozenset(name or "" for (name,) in names),
        frozenset(str(number) for number in SRS if not questions.has(f"srs {number}")),
    )


def offered_value(value: str, without: Container[str]) -> str:
    """A literal with the plane in the place of a spatial reference system that the server lacks (error 3548)."""
    return _IN_SYSTEM.sub(lambda found: f"{found[1]}0)" if found[2] in without else found[0], value)


def run_block(
    connection: Connection, capture: Capture, schema: str, draw: Draw, number: int, rows: int, *, offered: Offer
) -> Observed:
    """Make the table, insert, change and delete its rows, and read it in between. Row images take turns."""
    made = table(draw, number, schema=schema, name=_NAME, vectors=offered.vectors, collations=offered.collations)
    image = _IMAGES[number % len(_IMAGES)]
    name = quote_identifier(_NAME)
    columns = made.columns[1:]
    create = create_table(made)
    values = [_row(draw.fork("insert", key), columns, offered.without) for key in range(rows)]
    insert = f"INSERT INTO {name} VALUES " + ", ".join(f"({key}, {', '.join(row)})" for key, row in enumerate(values))
    updates = [
        f"UPDATE {name} SET "
        + ", ".join(
            f"{quote_identifier(column.name)}={value}"
            for column, value in zip(columns, _row(draw.fork("update", key), columns, offered.without), strict=True)
        )
        + f" WHERE id={key}"
        for key in range(rows)
    ]
    connection.execute_many(
        [f"USE {quote_identifier(schema)}", *SESSION, f"SET SESSION binlog_row_image='{image}'", create]
    ).check()
    start = capture.mark(connection)
    connection.execute(insert)
    inserted = read(connection, made)
    connection.execute_many(updates).check()
    changed = read(connection, made)
    connection.execute(f"DELETE FROM {name} ORDER BY id")
    captured = capture.since(start, capture.mark(connection))
    connection.execute(f"DROP TABLE {name}")
    events = b"".join(groups_of_thread(captured.events, connection.thread_id))
    return Observed(
        table=made,
        row_image=image,
        statements=(create, insert, *updates),
        inserted=inserted,
        changed=changed,
        file=_MAGIC + captured.format_description + events,
    )


def _row(draw: Draw, columns: Sequence[Column], without: Container[str]) -> list[str]:
    return [offered_value(literal(draw.fork(place), column), without) for place, column in enumerate(columns)]


def read(connection: Connection, made: Table) -> Rows:
    """All rows by key: each value as the server shows it, and the bytes of values with a character set."""
    fields: list[str] = []
    twice: list[bool] = []
    for column in made.columns:
        name = quote_identifier(column.name)
        fields.append(name)
        twice.append(column.charset is not None)
        if twice[-1]:
            fields.append(f"HEX({name})")
    answer = connection.execute(f"SELECT {', '.join(fields)} FROM {quote_identifier(made.name)} ORDER BY id")
    rows: Rows = []
    for values in answer.rows:
        left = iter(values)
        row = []
        for more in twice:
            shown = next(left)
            stored = next(left) if more else None
            row.append(Cell(shown, None if stored is None else bytes.fromhex(stored.decode())))
        rows.append(tuple(row))
    return rows


def judge(observed: Observed) -> JudgedRows:
    """Read the file as anybody could, and compare."""
    tells: dict[tuple[str, str], list[Any]] = {}
    different: list[Difference] = []
    count = 0
    changes = RowChanges()
    changes.start_file("log")
    try:
        for event in read_events(BytesIO(observed.file), expand=True):
            for line in changes.event(event):
                change = parse(line)
                for image in ("before", "after"):
                    tells.setdefault((change["operation"], image), []).append(change[image])
            if isinstance(event.body, LazyRows) and event.inner is None and event.position is not None:
                encoded = event.typed().encode()
                stored = observed.file[event.position : event.position + event.header.length]
                if encoded != stored:
                    different.append(Difference(count, event.name, stored.hex()[:_SHOWN], encoded.hex()[:_SHOWN]))
                count += 1
    except CodecError as error:
        failed = Difference(count, "", "a log that can be read", str(error))
        return JudgedRows(values=(failed,), events=(failed,), event_count=count + 1)
    values: list[Difference] = []
    included = _included(observed)
    for operation, before, after in (
        ("insert", None, observed.inserted),
        ("update", observed.inserted, observed.changed),
        ("delete", observed.changed, None),
    ):
        for image, rows in (("before", before), ("after", after)):
            if rows is not None:
                columns = included[operation, image]
                values += compare_rows(
                    [observed.table.columns[index] for index in columns],
                    [[row[index] for index in columns] for row in rows],
                    tells.get((operation, image), ()),
                )
    return JudgedRows(values=tuple(values), events=tuple(different), event_count=count)


def _included(observed: Observed) -> dict[tuple[str, str], Sequence[int]]:
    """The columns in the images of each operation: an INSERT names all, an UPDATE all but the key."""
    every = range(len(observed.table.columns))
    body = table_map(observed.table)
    before = before_columns(body, {0}, {0}, observed.row_image)
    after = after_columns(body, set(every) - {0}, observed.row_image)
    return {
        ("insert", "after"): every,
        ("update", "before"): every if before is None else before,
        ("update", "after"): every if after is None else after,
        ("delete", "before"): every if before is None else before,
    }
