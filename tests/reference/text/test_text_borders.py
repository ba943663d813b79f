"""Borders of what is printed: the client's text of values, diffs, columns and members, and what a version writes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.reference.binlog.event import decode_body, decode_event, encode_event
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.query import Query, Status, StatusInteger
from conformance.reference.binlog.rows import Row, rows_body
from conformance.reference.binlog.versions import written
from conformance.reference.dialect import MYSQL
from conformance.reference.errors import DecodeError
from conformance.reference.event_types import EventType
from conformance.reference.jsonb import opaque
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.paths import parse_path
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType, PartialJson
from conformance.reference.tables.create_table import parse_definition
from conformance.reference.tables.definitions import table_map
from conformance.reference.tables.metadata import ColumnInfo, Field, Members, Numbers
from conformance.reference.tables.table_map import TableMap
from conformance.reference.text.columns import double_text, float_text, member_text
from conformance.reference.text.mysqlbinlog import LogText
from conformance.reference.text.pseudo_json import diffs_text, quoted
from conformance.reference.text.pseudo_sql import row_lines
from conformance.reference.text.pseudo_values import column_text
from conformance.reference.text.table_metadata import metadata_text


def test_every_control_character_is_escaped() -> None:
    names = {8: b"\\b", 9: b"\\t", 10: b"\\n", 12: b"\\f", 13: b"\\r"}
    for code in range(256):
        byte = bytes((code,))
        shown = names.get(code, b"\\x%02x" % code if code < 32 else b"\\" + byte if byte in b"'\\" else byte)
        assert quoted(byte) == b"'" + shown + b"'"


def printed(*diffs: tuple[Operation, str, Any]) -> bytes:
    made = [Diff(operation, parse_path(path), value) for operation, path, value in diffs]
    return diffs_text(PartialJson(encode_diffs(made)), b"@2")


@pytest.mark.parametrize(
    ("path", "value", "call"),
    [
        ("$.a", 1, b"JSON_INSERT(@2, '$.a', 1)"),
        ('$."a]"', 1, b"JSON_INSERT(@2, '$.\"a]\"', 1)"),
        ("$[1].a", 1, b"JSON_INSERT(@2, '$[1].a', 1)"),
        ("$.a[1]", 1, b"JSON_ARRAY_INSERT(@2, '$.a[1]', 1)"),
        ("$.a", [1], b"JSON_INSERT(@2, '$.a', CAST('[1]' AS JSON))"),
        ("$.a", {}, b"JSON_INSERT(@2, '$.a', CAST('{}' AS JSON))"),
        ("$.a", opaque.decimal_from_text("1.50"), b"JSON_INSERT(@2, '$.a', 1.50)"),
        ("$.a", opaque.date(2024, 1, 2), b"JSON_INSERT(@2, '$.a', '2024-01-02')"),
        ("$.a", "x", b"JSON_INSERT(@2, '$.a', 'x')"),
    ],
)
def test_an_insertion_is_the_call_that_its_last_leg_and_value_ask_for(path: str, value: Any, call: bytes) -> None:
    assert printed((Operation.INSERT, path, value)) == call


def test_the_last_diff_is_the_outermost_call() -> None:
    text = printed((Operation.REPLACE, "$.a", 1), (Operation.REMOVE, "$.b", None))
    assert text == b"JSON_REMOVE(\n###      JSON_REPLACE(@2, '$.a', 1),\n###      '$.b')"


@pytest.mark.parametrize(
    ("kind", "bits"), [(types.TINY, 8), (types.SHORT, 16), (types.INT24, 24), (types.LONG, 32), (types.LONGLONG, 64)]
)
def test_the_highest_bit_makes_a_number_negative(kind: int, bits: int) -> None:
    show = column_text(ColumnInfo(ColumnType(kind), nullable=True), 1).show
    half = 1 << bits - 1
    assert show(half - 1) == b"%d" % (half - 1)
    assert show(half) == show(-half) == b"%d (%d)" % (-half, half)
    assert show(-1) == show(2 * half - 1) == b"-1 (%d)" % (2 * half - 1)


def table(*columns: ColumnType) -> TableMap:
    return TableMap(table_id=1, schema="a", table="b", columns=columns, nullable=(True,) * len(columns))


def test_only_an_insert_without_columns_has_no_values() -> None:
    empty = table(ColumnType(types.TINY))
    body = rows_body(empty, EventType.DELETE_ROWS, [Row((), None)], before=[])
    assert b"".join(row_lines(body)) == b"### DELETE FROM `a`.`b`\n### WHERE\n"
    body = rows_body(empty, EventType.WRITE_ROWS, [Row(None, ())], after=[])
    assert b"".join(row_lines(body)) == b"### INSERT INTO `a`.`b` VALUES ()\n"


def test_a_row_that_breaks_off_is_printed_by_the_columns_of_its_own_image() -> None:
    """The second of two JSON columns is in the image; its partial bit is the second."""
    columns = (ColumnType(types.JSON, 4), ColumnType(types.TINY), ColumnType(types.JSON, 4), ColumnType(types.LONG))
    diffs = encode_diffs([Diff(Operation.REMOVE, parse_path("$.b"))])
    row = b"\0\5" + b"\1\2" + b"\0" + len(diffs).to_bytes(4, "little") + diffs + b"\7\0\0\0"
    head = bytes.fromhex("010000000000" + "0100" + "0200" + "04" + "02" + "0c")
    for data, last in ((row, b"###   @4=7\n"), (row[:-1], b"@4=***Corrupted replication event was detected")):
        body: Any = decode_body(EventType.PARTIAL_UPDATE_ROWS, head + data, {1: table(*columns)})
        pieces = []
        try:
            for piece in row_lines(body):
                pieces.append(piece)  # noqa: PERF402 - what came before the error counts
        except DecodeError:
            assert data != row
        assert b"@3=JSON_REMOVE(@3, '$.b')\n" in b"".join(pieces)
        assert last in b"".join(pieces)


def test_names_of_members() -> None:
    enum = ColumnInfo(ColumnType(types.STRING, 0x01F7), nullable=True, members=(b"a", b"b", b"c"), collation=255)
    assert [member_text(enum, value) for value in range(5)] == ["", "a", "b", "c", None]
    set_ = ColumnInfo(ColumnType(types.STRING, 0x01F8), nullable=True, members=(b"a", b"b"), collation=255)
    assert [member_text(set_, value) for value in range(5)] == ["", "a", "b", "a,b", None]


def test_floats_have_six_digits() -> None:
    assert [float_text(value) for value in (1 / 3, 16777216.0, 0.10000000149011612)] == ["0.333333", "16777200", "0.1"]
    assert double_text(1 / 3) == "0.3333333333333333"


def test_columns_of_a_table_map_as_text() -> None:
    sql = (
        "CREATE TABLE t (y YEAR NOT NULL, e ENUM('x') CHARACTER SET binary, v VARCHAR(9) CHARACTER SET utf8mb4,"
        " b VARBINARY(9), u INT UNSIGNED, PRIMARY KEY (y))"
    )
    text = metadata_text(table_map(parse_definition(sql), "FULL"))
    lines = text.decode().splitlines()
    assert lines[0] == "# Columns(`y` YEAR NOT NULL,"
    assert lines[1] == "#         `e` ENUM('x') CHARSET binary COLLATE binary,"
    assert lines[2] == "#         `v` VARCHAR(9) CHARSET utf8mb4 COLLATE utf8mb4_0900_ai_ci,"
    assert lines[3] == "#         `b` VARBINARY(9),"
    assert lines[4] == "#         `u` INT UNSIGNED)"
    assert lines[5] == "# Primary Key(y)"


def test_a_list_without_members_has_an_end_and_no_beginning() -> None:
    made = table_map(parse_definition("CREATE TABLE t (e ENUM('x'), s SET('y', 'z'))"), "FULL")
    metadata = tuple(replace(one, members=((),)) if isinstance(one, Members) else one for one in made.metadata)
    lines = metadata_text(replace(made, metadata=metadata)).decode().splitlines()
    assert lines[0] == "# Columns(`e` ENUM) CHARSET utf8mb4 COLLATE utf8mb4_0900_ai_ci,"
    assert lines[1] == "#         `s` SET) CHARSET utf8mb4 COLLATE utf8mb4_0900_ai_ci)"


def test_the_last_things_that_a_version_knows_are_its_own() -> None:
    status = (StatusInteger(Status.ENABLE_CASCADE_TRIGGERS, 1),)
    query = written(Query(text=b"BEGIN", status=status), MYSQL)
    assert isinstance(query, Query)
    assert query.status == status
    vector = TableMap(
        table_id=1, schema="a", table="b", columns=(ColumnType(types.VECTOR, 4),), nullable=(True,),
        metadata=(Numbers(Field.VECTOR_DIMENSIONALITY, (3,)),),
    )  # fmt: skip
    assert written(vector, MYSQL) == vector


def test_the_original_timestamp_is_printed_where_there_is_one() -> None:
    for original, shown in ((5_000_000, b"5000000"), (None, b"6000000")):
        body = Gtid(
            immediate_commit_timestamp=6_000_000,
            original_commit_timestamp=original,
            transaction_length=99,
            immediate_server_version=90704,
        )
        text = b"".join(LogText().event(decode_event(encode_event(body), position=4)))
        assert b"\toriginal_committed_timestamp=%b\timmediate_commit_timestamp=6000000\t" % shown in text
        assert b"original_commit_timestamp=%b*/" % shown in text
