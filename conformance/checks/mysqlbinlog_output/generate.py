"""Updates that no statement of a campaign prints: the worklog's example, and updates whose text is hard to run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.files import SCHEMA_NAME
from conformance.cases.row_images import RowImage
from conformance.cases.session import Session
from conformance.cases.update_case import Step, UpdateCase
from conformance.reference.binlog.rows import Row, RowsBody, rows_body
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.expression import Assignment
from conformance.reference.partial.paths import parse_path
from conformance.reference.sql.expressions import parse_expression
from conformance.reference.tables.columns import ColumnType, PartialJson
from conformance.reference.tables.definitions import Column, Table
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

# WL#2955, section 6: one diff of every kind that the text distinguishes, and two in a row of two kinds.
EXAMPLE_DIFFS: Final = (
    Diff(Operation.REPLACE, parse_path("$.a"), 7),
    Diff(Operation.REPLACE, parse_path("$.b[1]"), "bb"),
    Diff(Operation.REMOVE, parse_path("$.c")),
    Diff(Operation.REMOVE, parse_path("$.d[0]")),
    Diff(Operation.INSERT, parse_path("$.e"), "ee"),
    Diff(Operation.INSERT, parse_path("$.f[1]"), "ff"),
    Diff(Operation.INSERT, parse_path("$.g"), "gg"),
)
EXAMPLE_TEXT: Final = b"""\
### UPDATE `test`.`t`
### WHERE
###   @1=1
### SET
###   @2=JSON_INSERT(
###      JSON_ARRAY_INSERT(
###      JSON_INSERT(
###      JSON_REMOVE(
###      JSON_REPLACE(@2, '$.a', 7,
###      '$.b[1]', 'bb'),
###      '$.c',
###      '$.d[0]'),
###      '$.e', 'ee'),
###      '$.f[1]', 'ff'),
###      '$.g', 'gg')
"""
"""As printed by the 9.7.4 client (mysqlbinlog-output 4.4; mysqlbinlog-output 5 lists how the worklog draws it)."""


def example_bodies() -> tuple[TableMap, RowsBody]:
    """The worklog's example: no statement of a server makes this list of diffs."""
    columns = (ColumnType(3), ColumnType(245, 4))
    table = TableMap(table_id=153, schema="test", table="t", columns=columns, nullable=(False, True))
    row = Row((1,), (PartialJson(encode_diffs(EXAMPLE_DIFFS)),))
    return table, rows_body(table, EventType.PARTIAL_UPDATE_ROWS, [row], before=[0], after=[1])


def example_file() -> bytes:
    """A binary log with the example."""
    writer = FileWriter(timestamp=1_500_000_000)
    table, rows = example_bodies()
    return writer.start() + writer.add(table) + writer.add(rows)


EXAMPLES: Final = (
    "JSON_SET(j, '$.b[7]', 8)",  # printed as JSON_ARRAY_INSERT, behind the end of the array
    "JSON_REMOVE(j, '$.b[0]', '$.b[1]')",
    "JSON_SET(JSON_REMOVE(j, '$.a'), '$.a', 'x')",
    r"""JSON_SET(j, '$.c.n', 1, '$.c.d', CAST('{"q": "\\\\"}' AS JSON), '$.b[last]', 'it''s')""",
    "JSON_SET(j, '$.day', DATE'2024-01-02')",
    "JSON_SET(j, '$.text', 'a\x0cb\x01')",
)
"""Updates whose order, place or quoting matters when their text is run; one has a type that the text does not carry."""


def example_case() -> UpdateCase:
    """The examples, one after the other, on one row."""
    columns = (Column(name="id", type="INT", nullable=False), Column(name="j", type="JSON"))
    document: JsonValue = {"a": 1, "b": [1, 2, 3], "c": {"d": 5}, "pad": "p" * 200}
    return UpdateCase(
        id="executed-pseudo-sql",
        requirements=("FR7",),
        table=Table(schema=SCHEMA_NAME, name="t", columns=columns, primary_key=((0, 0),)),
        selector="id",
        session=Session(row_image=RowImage.MINIMAL),
        rows=((1, encode(document)),),
        steps=tuple(Step((Assignment("j", parse_expression(sql)),), (0,)) for sql in EXAMPLES),
    )
