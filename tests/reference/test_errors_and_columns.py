"""The error family; and what a column's value becomes as an argument of a JSON function."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.dialect import DIALECTS, MYSQL, WORKLOG
from conformance.reference.errors import (
    CodecError,
    DecodeError,
    EncodeError,
    MysqlError,
    Unsupported,
    cannot_be_written,
    corrupted_diff,
    could_not_apply_diff,
    replica_corrupt_event,
    too_deep,
)
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import Opaque, UInt, same
from conformance.reference.partial.expression import (
    Assignment,
    Call,
    Column,
    Columns,
    Constant,
    Expression,
    Function,
    Increment,
    Literal,
    SqlNull,
    Wrapped,
    Wrapper,
    referenced_columns,
)
from conformance.reference.partial.update import eligible_columns, update_row
from conformance.reference.tables.column_json import column_as_json
from conformance.reference.tables.definitions import Column as TableColumn
from conformance.reference.tables.definitions import Table
from conformance.reference.tables.temporal import Date, Datetime, Time, Timestamp

if TYPE_CHECKING:
    from collections.abc import Callable

# --- errors


def test_the_root_of_the_family_is_never_raised_itself() -> None:
    with pytest.raises(TypeError):
        CodecError("code", "message")
    for kind in (DecodeError, EncodeError, Unsupported):
        assert isinstance(kind("code", "message"), CodecError)


def test_callers_add_their_part_and_their_place_on_the_way_up() -> None:
    error = DecodeError("truncated", "a string is cut short", offset=3, expected=5, got=2)
    assert error.at("after", 10).at("rows[1]", 100) is error
    assert error.path == ("rows[1]", "after")
    assert error.offset == 113
    assert str(error) == "rows[1].after: a string is cut short at offset 113, expected 5, got 2 [truncated]"
    assert str(DecodeError("x", "no place").at("a", 5)) == "a: no place [x]"


def test_an_error_shows_its_code_and_its_words() -> None:
    for error in (DecodeError("truncated", "cut short"), MysqlError(3140, "ER_INVALID_JSON_TEXT", "no JSON")):
        assert error.args == (error.code, error.message)
    assert repr(DecodeError("truncated", "cut short", offset=3)) == "DecodeError('truncated', 'cut short')"


def test_what_was_read_before_an_error_goes_with_it() -> None:
    assert DecodeError("truncated", "cut short").decoded is None
    assert DecodeError("truncated", "cut short", decoded=[1, 2]).decoded == [1, 2]


@pytest.mark.parametrize(
    ("make", "number", "symbol"),
    [
        (replica_corrupt_event, 1610, "ER_REPLICA_CORRUPT_EVENT"),
        (could_not_apply_diff, 3648, "ER_COULD_NOT_APPLY_JSON_DIFF"),
        (corrupted_diff, 3649, "ER_CORRUPTED_JSON_DIFF"),
    ],
)
def test_errors_that_mysql_knows_have_its_number(make: Callable[..., MysqlError], number: int, symbol: str) -> None:
    error = make("x", offset=1, expected=2, got=3)
    assert (error.number, error.symbol, error.code) == (number, symbol, f"mysql-{number}")
    assert str(error) == f"x at offset 1, expected 2, got 3 [mysql-{number}]"
    assert str(make("x")) == f"x [mysql-{number}]"


def test_errors_without_a_place_have_the_number_of_mysql_too() -> None:
    for error, number, symbol in (
        (too_deep(), 3157, "ER_JSON_DOCUMENT_TOO_DEEP"),
        (cannot_be_written("x"), 1032, "ER_KEY_NOT_FOUND"),
    ):
        assert (error.number, error.symbol, error.code) == (number, symbol, f"mysql-{number}")


def test_only_the_symbol_of_1610_depends_on_the_version() -> None:
    before = replace(MYSQL.terms, corrupt_event_symbol="ER_SLAVE_CORRUPT_EVENT")  # 8.0.30 (versions 3)
    assert replica_corrupt_event("x").symbol_in(before) == "ER_SLAVE_CORRUPT_EVENT"
    assert replica_corrupt_event("x").symbol_in(MYSQL.terms) == "ER_REPLICA_CORRUPT_EVENT"
    assert MysqlError(1611, "ER_OTHER", "x").symbol_in(before) == "ER_OTHER"
    assert could_not_apply_diff("x").symbol_in(before) == "ER_COULD_NOT_APPLY_JSON_DIFF"


# --- columns as JSON (jsonb 4.2)

CASES: list[tuple[TableColumn, Any, Any]] = [
    (TableColumn(name="c", type="INT"), 5, 5),
    (TableColumn(name="c", type="TINYINT", unsigned=True), 5, UInt(5)),
    (TableColumn(name="c", type="BIGINT", unsigned=True), 2**64 - 1, UInt(2**64 - 1)),
    (TableColumn(name="c", type="BOOL"), 1, 1),
    (TableColumn(name="c", type="YEAR"), 2024, UInt(2024)),
    (TableColumn(name="c", type="DOUBLE"), 1.5, 1.5),
    (TableColumn(name="c", type="FLOAT"), 1.100000023841858, 1.100000023841858),
    (TableColumn(name="c", type="VARCHAR", length=9), "é".encode(), "é"),
    (TableColumn(name="c", type="CHAR", length=9, charset="latin1"), b"\xe9", "é"),
    (TableColumn(name="c", type="TEXT", charset="ascii"), b"x", "x"),
    (TableColumn(name="c", type="ENUM", members=("a", "b")), 2, "b"),
    (TableColumn(name="c", type="ENUM", members=("a", "b")), 0, ""),
    (TableColumn(name="c", type="SET", members=("a", "b", "c")), 5, "a,c"),
    (TableColumn(name="c", type="SET", members=("a", "b")), 0, ""),
    (TableColumn(name="c", type="BIT", length=12), 0x5A5, Opaque(16, b"\x05\xa5")),
    (TableColumn(name="c", type="BIT"), 1, Opaque(16, b"\x01")),
    (TableColumn(name="c", type="BINARY", length=4), b"ab", Opaque(254, b"ab\0\0")),
    (TableColumn(name="c", type="VARBINARY", length=4), b"ab", Opaque(15, b"ab")),
    (TableColumn(name="c", type="TINYBLOB"), b"", Opaque(249, b"")),
    (TableColumn(name="c", type="BLOB"), b"\xff", Opaque(252, b"\xff")),
    (TableColumn(name="c", type="MEDIUMBLOB"), b"x", Opaque(250, b"x")),
    (TableColumn(name="c", type="LONGBLOB"), b"x", Opaque(251, b"x")),
    (TableColumn(name="c", type="DATE"), Date(2024, 2, 29), opaque.date(2024, 2, 29)),
    (TableColumn(name="c", type="TIME"), Time(True, 1, 2, 3, 4), opaque.time(1, 2, 3, 4, negative=True)),
    (
        TableColumn(name="c", type="DATETIME"),
        Datetime(2024, 2, 29, 1, 2, 3, 4),
        opaque.datetime(2024, 2, 29, 1, 2, 3, 4),
    ),
    (TableColumn(name="c", type="TIMESTAMP"), Timestamp(0x65DFB1D5, 7), opaque.timestamp(2024, 2, 28, 22, 21, 9, 7)),
    (TableColumn(name="c", type="TIMESTAMP"), Timestamp(951_782_400), opaque.timestamp(2000, 2, 29, 0, 0, 0)),
    (TableColumn(name="c", type="TIMESTAMP"), Timestamp(951_868_799), opaque.timestamp(2000, 2, 29, 23, 59, 59)),
    (TableColumn(name="c", type="TIMESTAMP"), Timestamp(951_868_800), opaque.timestamp(2000, 3, 1, 0, 0, 0)),
    (TableColumn(name="c", type="TIMESTAMP"), Timestamp(0), opaque.timestamp(0, 0, 0, 0, 0, 0)),  # observed on 9.7.4
    (TableColumn(name="c", type="TIMESTAMP"), Timestamp(1), opaque.timestamp(1970, 1, 1, 0, 0, 1)),
    (
        TableColumn(name="c", type="DECIMAL", length=5, scale=2),
        Decimal("1.50"),
        Opaque(246, bytes.fromhex("0502800132")),
    ),
    (TableColumn(name="c", type="DECIMAL", length=5), Decimal(7), Opaque(246, bytes.fromhex("0500800007"))),
    # Text of which no character takes one byte is not converted (observed on 9.7.4).
    (TableColumn(name="c", type="VARCHAR", charset="utf16"), b"\0a\0\xe9", "\0a\0\udce9"),
    (TableColumn(name="c", type="TEXT", collation="utf16le_bin"), b"a\0\xe9\0", "a\0\udce9\0"),
    (TableColumn(name="c", type="CHAR", charset="utf32", length=2), b"\0\0\0a", "\0\0\0a"),
    (TableColumn(name="c", type="ENUM", charset="ucs2", members=("x", "y\xe9")), 2, "\0y\0\udce9"),
    (TableColumn(name="c", type="SET", charset="utf16", members=("x", "y\xe9")), 3, "\0x\0,\0y\0\udce9"),
    (TableColumn(name="c", type="SET", charset="sjis", members=("x", "\u30a2")), 3, "x,\u30a2"),
    (TableColumn(name="c", type="VARCHAR", charset="sjis"), b"\x83\x41a", "\u30a2a"),
    (TableColumn(name="c", type="VARCHAR", collation="latin1_bin"), b"\xe9", "\xe9"),
    # Leading groups of nine zero digits are left out (observed on 9.7.4).
    (
        TableColumn(name="c", type="DECIMAL", length=20, scale=2),
        Decimal("7.00"),
        Opaque(246, bytes.fromhex("0b028000000700")),
    ),
    (TableColumn(name="c", type="DECIMAL", length=20), Decimal(0), Opaque(246, bytes.fromhex("010080"))),
]


@pytest.mark.parametrize(("column", "value", "expected"), CASES, ids=lambda item: getattr(item, "type", None))
def test_a_columns_value_as_json(column: TableColumn, value: Any, expected: Any) -> None:
    assert same(column_as_json(column, value), expected)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (TableColumn(name="c", type="VECTOR", length=2), b"12345678"),
        (TableColumn(name="c", type="GEOMETRY"), b""),
        (TableColumn(name="c", type="VARCHAR", charset="sjis"), b"\x81"),
        (TableColumn(name="c", type="ENUM", members=("a", "b")), 3),
    ],
)
def test_columns_without_a_model_are_refused_and_never_guessed(column: TableColumn, value: Any) -> None:
    with pytest.raises(Unsupported):
        column_as_json(column, value)


# --- expressions and dialects


def test_a_column_has_the_character_set_of_its_table_where_it_names_none() -> None:
    table = Table(schema="s", name="t", columns=(), charset="latin1", collation="latin1_bin")
    assert column_as_json(table.settled(TableColumn(name="c", type="VARCHAR")), b"\xe9") == "\xe9"
    assert (
        column_as_json(table.settled(TableColumn(name="c", type="VARCHAR", charset="utf8mb3")), b"\xc3\xa9") == "\xe9"
    )


def test_the_columns_that_an_expression_reads() -> None:
    chain = Call(Function.JSON_SET, Column("j"), (("$.a", Column("n")), ("$.b", Literal(1)), ("$.c", Column("k"))))
    assert referenced_columns(chain) == {"j", "n", "k"}
    assert referenced_columns(Wrapped(Wrapper.IF, Call(Function.JSON_REMOVE, Column("j"), (("$.a", None),)))) == {"j"}
    assert referenced_columns(Increment("n", 1)) == {"n"}
    for expression in (Literal(1), SqlNull(), Constant(1)):
        assert referenced_columns(expression) == set()


def test_the_worklog_leaves_json_remove_out_of_its_conditions() -> None:
    remove = [Assignment("j", Call(Function.JSON_REMOVE, Column("j"), (("$.a", None),)))]
    nested = [Assignment("j", Call(Function.JSON_SET, remove[0].expression, (("$.a", Literal(1)),)))]
    for clause in (remove, nested):
        assert eligible_columns(clause, ("j",), MYSQL) == {"j"}
        assert eligible_columns(clause, ("j",), WORKLOG) == set()
    assert set(DIALECTS) == {MYSQL.name, WORKLOG.name}


FUNCTIONS: list[tuple[str, Expression, Any]] = [
    ("JSON_INSERT of a member", Call(Function.JSON_INSERT, Column("j"), (("$.b", Literal(2)),)), {"a": [1], "b": 2}),
    ("JSON_INSERT where one is", Call(Function.JSON_INSERT, Column("j"), (("$.a", Literal(2)),)), {"a": [1]}),
    ("JSON_INSERT past the end", Call(Function.JSON_INSERT, Column("j"), (("$.a[9]", Literal(2)),)), {"a": [1, 2]}),
    ("JSON_INSERT wraps", Call(Function.JSON_INSERT, Column("j"), (("$.a[0][1]", Literal(2)),)), {"a": [[1, 2]]}),
    ("JSON_ARRAY_APPEND", Call(Function.JSON_ARRAY_APPEND, Column("j"), (("$.a", Literal(2)),)), {"a": [1, 2]}),
    (
        "JSON_ARRAY_APPEND wraps",
        Call(Function.JSON_ARRAY_APPEND, Column("j"), (("$.a[0]", Literal(2)),)),
        {"a": [[1, 2]]},
    ),
    (
        "JSON_ARRAY_APPEND to the root",
        Call(Function.JSON_ARRAY_APPEND, Column("j"), (("$", Literal(2)),)),
        [{"a": [1]}, 2],
    ),
    ("JSON_ARRAY_APPEND nowhere", Call(Function.JSON_ARRAY_APPEND, Column("j"), (("$.b", Literal(2)),)), {"a": [1]}),
    ("JSON_ARRAY_INSERT", Call(Function.JSON_ARRAY_INSERT, Column("j"), (("$.a[0]", Literal(2)),)), {"a": [2, 1]}),
    (
        "JSON_ARRAY_INSERT past the end",
        Call(Function.JSON_ARRAY_INSERT, Column("j"), (("$.a[5]", Literal(2)),)),
        {"a": [1, 2]},
    ),
    (
        "JSON_ARRAY_INSERT into no array",
        Call(Function.JSON_ARRAY_INSERT, Column("j"), (("$[0]", Literal(2)),)),
        {"a": [1]},
    ),
    ("wrapped", Wrapped(Wrapper.CAST, Call(Function.JSON_SET, Column("j"), (("$.a", Literal(2)),))), {"a": 2}),
    ("over a literal", Call(Function.JSON_SET, Literal({}), (("$.a", Literal(2)),)), {"a": 2}),
    ("NULL path", Call(Function.JSON_INSERT, Column("j"), ((None, Literal(2)),)), None),
    ("NULL document", Call(Function.JSON_SET, SqlNull(), (("$.a", Literal(2)),)), None),
    ("NULL value", Call(Function.JSON_INSERT, Column("j"), (("$.b", SqlNull()),)), {"a": [1], "b": None}),
]


@pytest.mark.parametrize(("expression", "expected"), [row[1:] for row in FUNCTIONS], ids=[row[0] for row in FUNCTIONS])
def test_functions_that_are_never_partial(expression: Expression, expected: Any) -> None:
    change = update_row({"j": encode({"a": [1]})}, (Assignment("j", expression),), Columns(("j",)), log_diffs=True)
    column = change.columns["j"]
    assert column.diffs is None
    assert not column.in_place
    assert column.rules == ("eligible/no",)
    assert column.after == (None if expected is None else encode(expected))


def test_an_array_insert_that_does_not_end_in_a_cell_is_error_3165() -> None:
    for path in ("$", "$.a"):
        expression = Call(Function.JSON_ARRAY_INSERT, Column("j"), ((path, Literal(1)),))
        with pytest.raises(MysqlError) as caught:
            update_row({"j": encode([1])}, (Assignment("j", expression),), Columns(("j",)), log_diffs=True)
        assert caught.value.number == 3165


def test_a_null_document_stays_null_and_its_paths_are_not_looked_at() -> None:
    expression = Call(Function.JSON_SET, Column("j"), (("not a path", Literal(1)),))
    change = update_row({"j": None}, (Assignment("j", expression),), Columns(("j",)), log_diffs=True)
    assert not change.logged
    assert change.columns["j"].after is None
    assert change.columns["j"].diffs is None


def test_assignments_are_evaluated_from_left_to_right() -> None:
    row = {"j": encode({"a": 1}), "n": 1}
    clause = (
        Assignment("n", Increment("n", 1)),
        Assignment("j", Call(Function.JSON_SET, Column("j"), (("$.a", Column("n")),))),
        Assignment("n", Increment("n", 1)),
    )
    change = update_row(row, clause, Columns(("j",)), log_diffs=True)
    assert change.after == {"j": encode({"a": 2}), "n": 3}
    assert change.logged
    assert row["n"] == 1
