"""Expressions over a row: values and errors as 9.7.4 made them inside ``UPDATE t SET j = JSON_OBJECT('r', …)``."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from conformance.reference.errors import CodecError, MysqlError, Unsupported
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import Opaque, UInt
from conformance.reference.partial.evaluation import evaluate_document
from conformance.reference.partial.expression import Assignment, Call, Column, Columns, Computed, Function
from conformance.reference.partial.update import update_row
from conformance.reference.sql.row_expressions import RowFacts, read_expression, read_value

if TYPE_CHECKING:
    from conformance.reference.sql.values import SqlValue

DOCUMENT = (
    '{"i":5,"u":4294967296,"d":1.5,"s":"12","t":"x","b":true,"z":null,"a":[1,2],"o":{"k":1},'
    '"big":9223372036854775807,"e":[],"h":"1.5e3","neg":-7}'
)
PLAIN = RowFacts({})
VALUES = {"n": read_value("5", PLAIN), "s": read_value("'str'", PLAIN), "d": read_value("2.50", PLAIN)}
ROW = RowFacts(
    {"j": encode(parse_text(DOCUMENT)), "k": encode({"q": 1})},
    VALUES,
    datetime(2023, 11, 14, 22, 13, 20, 123456),  # noqa: DTZ001 - the session's time zone is UTC
)


def value(sql: str) -> SqlValue:
    return read_value(sql, ROW)


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("j->'$.i' + 1", "6.0"), ("j->'$.i' / 2", "2.5"), ("j->'$.i' DIV 2", "2"), ("j->'$.i' MOD 3", "2.0"),
        ("-(j->'$.i')", "-5.0"), ("- 5 + 3", "-2"), ("j->'$.s' + 1", "13.0"), ("j->'$.b' + 1", "2.0"),
        ("j->'$.none' + 1", "null"), ("j->'$.big' + 1", "9.223372036854776e18"), ("j->>'$.i' + 1", "6.0"),
        ("j->>'$.h' + 1", "1501.0"), ("j->>'$.z'", '"null"'), ("j->>'$.a'", '"[1, 2]"'), ("j->>'$.none'", "null"),
        ("j->>'$.d'", '"1.5"'), ("'12' + 1", "13.0"), ("' 12 ' + 1", "13.0"), ("'' + 1", "1.0"), ("1 + 1.5", "2.5"),
        ("1.50 * 1.5", "2.250"), ("1 / 3", "0.3333"), ("2 / 3", "0.6667"), ("10 / 4", "2.5000"), ("7.5 DIV 2", "3"),
        ("-7 DIV 2", "-3"), ("-7 % 3", "-1"), ("7.5 % 2", "1.5"), ("5 - 6", "-1"), ("TRUE + 1", "2"),
        ("IFNULL(TRUE, FALSE)", "1"), ("COALESCE(FALSE, 5)", "0"), ("n + 1", "6"),
        ("d * 2", "5.00"), ("CONCAT(s, '!')", '"str!"'), ("CONCAT(j->'$.o', 'x')", '"{\\"k\\": 1}x"'),
        ("NOW()", '"2023-11-14 22:13:20.000000"'), ("NOW(3)", '"2023-11-14 22:13:20.123000"'),
        ("CURDATE()", '"2023-11-14"'), ("CURRENT_TIME", '"22:13:20.000000"'), ("UNIX_TIMESTAMP()", "1700000000"),
        ("JSON_EXTRACT(j, '$.i', '$.d')", "[5, 1.5]"), ("JSON_EXTRACT(j, '$.a[*]')", "[1, 2]"),
        ("JSON_EXTRACT(j, '$.none[*]')", "null"), ("JSON_EXTRACT(j, NULL)", "null"),
        ("JSON_EXTRACT('{\"a\":1}', '$.a')", "1"),
        ("JSON_UNQUOTE('\"abc\"')", '"abc"'), ("JSON_UNQUOTE('abc')", '"abc"'),
        ("JSON_MERGE_PATCH(j->'$.o', '{\"z\":1}')", '{"k": 1, "z": 1}'), ("JSON_LENGTH(j, '$.a')", "2"),
        ("JSON_MERGE_PRESERVE(j->'$.o', '{\"k\":2}', '[1]')", '[{"k": [1, 2]}, 1]'),
        ("JSON_MERGE_PRESERVE('1', '2', '{\"a\":1}')", '[1, 2, {"a": 1}]'), ("JSON_MERGE_PATCH(NULL, '[1]')", "[1]"),
        ("JSON_MERGE_PATCH('{}', NULL, '[1]', '{\"a\":1}')", '{"a": 1}'),
        ("JSON_MERGE_PATCH('[1]', '{\"a\":{\"b\":null},\"c\":{\"d\":null,\"e\":1}}')", '{"a": {}, "c": {"e": 1}}'),
        ("JSON_SET(j->'$.o', '$.x', 1)", '{"k": 1, "x": 1}'), ("IFNULL(j->'$.none', 0)", '"0"'),
        ("COALESCE(j->'$.i', 0)", '"5"'), ("IFNULL(j->'$.none', 0) + 1", "1.0"),
        ("CAST(j->>'$.i' AS UNSIGNED) + 1", "6"),
        ("CAST(j->'$.d' AS DECIMAL(10,2))", "1.50"), ("CAST(j->'$.s' AS SIGNED)", "12"),
        ("CAST(j->'$.i' AS CHAR)", '"5"'),
    ],
)  # fmt: skip
def test_values_are_those_of_the_server(sql: str, text: str) -> None:
    assert format_text(value(sql).json) == text


@pytest.mark.parametrize(
    ("sql", "number"),
    [
        ("j->'$.t' + 1", 3156), ("j->'$.z' + 1", 3156), ("j->'$.a' + 1", 3156), ("j->>'$.t' + 1", 1292),
        ("'12x' + 1", 1292), ("1 / 0", 1365), ("1 DIV 0", 1365), ("1 % 0", 1365), ("9223372036854775807 + 1", 1690),
        ("18446744073709551615 + 1", 1690), ("CAST(5 AS UNSIGNED) - 6", 1690), ("JSON_MERGE_PATCH(j, 'x')", 3141),
        ("JSON_MERGE_PATCH(j, 5)", 3146), ("JSON_MERGE_PATCH(j)", 1582), ("JSON_SET(n, '$.a', 3)", 3146),
        ("CAST(j->'$.t' AS UNSIGNED)", 3156), ("CAST('x' AS DECIMAL(10,2))", 1292), ("CAST(s AS DECIMAL(10,2))", 1366),
        ("'x' DIV 2", 1292), ("j->>'$.t' DIV 2", 1366), ("9223372036854775807 DIV 0.10", 1292), ("NOW(7)", 1426),
        ("JSON_EXTRACT('[\" \"]','$[0]') + 1", 3156), ("CAST(JSON_EXTRACT('[\"1.7\"]','$[0]') AS SIGNED)", 3156),
        ("j->'$.none' - j->'$.a'", 3156), ("JSON_EXTRACT('{\"a\":1', '$.a')", 3141),
    ],
)  # fmt: skip
def test_errors_are_those_of_the_server(sql: str, number: int) -> None:
    with pytest.raises(MysqlError) as caught:
        value(sql)
    assert caught.value.number == number


@pytest.mark.parametrize(
    ("sql", "precision", "scale"),
    [
        ("0.10 / 10", 6, 6), ("1 / 3", 4, 4), ("10 / 3", 6, 4), ("1000000000 / 3", 13, 4), ("100.5 / 0.001", 11, 5),
        ("0.10 % 1", 2, 2), ("1234567890.5 % 1000000000", 10, 1), ("123456 / 7.5", 10, 4), ("0 / 5", 1, 0),
        ("1 / 9223372036854775807", 1, 0), ("1.5 - 1.5", 1, 0), ("1000000000.5 - 999999999", 19, 1),
        ("0.5 + 0.25", 11, 2), ("0.5 * 0.5", 2, 2), ("0.5 - 0.75", 2, 2), ("999999999 + 0.5", 19, 1),
        ("1.5 * 1000000000", 19, 1), ("0.001 * 0.001", 6, 6), ("(1 / 3) * 3", 13, 4), ("(1/3)/3", 8, 8),
        ("12345678901 / 2", 15, 4), ("7 / 2 / 3", 10, 8), ("d * d", 13, 4), ("5 / 2.5000", 5, 4),
        ("1.5 / 1000000", 6, 5), ("1 / 999999999", 5, 4), ("1 / 10000000000", 1, 0), ("2.5 / 1000000000", 6, 5),
        ("2.5 / 10000000000", 1, 0), ("0.0005 / 100000", 8, 8), ("1.00000 / 100000000000", 1, 0),
    ],
)  # fmt: skip
def test_decimals_keep_as_many_digits_as_in_the_server(sql: str, precision: int, scale: int) -> None:
    made = value(sql).json
    assert isinstance(made, Opaque)
    assert (made.payload[0], made.payload[1]) == (precision, scale)


def test_integers_keep_their_sign_type() -> None:
    assert value("CAST(5 AS UNSIGNED) + 6").json == UInt(11)
    assert type(value("CAST(5 AS UNSIGNED) * 2").json) is UInt
    assert type(value("5 + 6").json) is int


def test_a_part_of_a_document_comes_with_its_holes() -> None:
    whole = encode({"o": {"x": 1, "y": 2}})
    (removed,) = [Assignment("j", read_expression("JSON_REMOVE(j, '$.o.y')", RowFacts({"j": whole})).expression)]
    holed = update_row({"j": whole}, [removed], Columns(("j",)), log_diffs=True).after["j"]
    assert isinstance(holed, bytes)
    read = read_expression("JSON_SET(j, '$.p', j->'$.o')", RowFacts({"j": holed})).expression
    assert isinstance(read, Call)
    part = read.arguments[0][1]
    assert isinstance(part, Computed)
    assert part.data is not None
    assert holed.endswith(part.data[1:])
    assert len(part.data) == len(encode({"x": 1, "y": 2})) > len(encode({"x": 1}))


def test_a_value_that_the_server_never_comes_to_is_no_error() -> None:
    read = read_expression("JSON_INSERT(j, '$.i', j->'$.t' + 1, '$.none.x', '12x' + 1)", ROW).expression
    after = evaluate_document(read, ROW.documents, Columns(("j", "k")))
    assert after is not None
    assert decode(after) == parse_text(DOCUMENT)
    reached = read_expression("JSON_INSERT(j, '$.new', j->'$.t' + 1)", ROW).expression
    with pytest.raises(MysqlError):
        evaluate_document(reached, ROW.documents, Columns(("j", "k")))


def test_the_chain_over_the_column_keeps_its_form() -> None:
    read = read_expression("JSON_SET(JSON_REMOVE(J, '$.a'), '$.i', j->'$.i' + n, '$.c', k)", ROW)
    assert isinstance(read.expression, Call)
    assert read.expression.function is Function.JSON_SET
    assert isinstance(read.expression.document, Call)
    assert read.expression.document.document == Column("j")
    assert read.expression.arguments[1][1] == Column("k")


@pytest.mark.parametrize(
    ("sql", "offset"),
    [
        ("JSON_SET(j, '$.a', UPPER('a'))", 19), ("JSON_SET(j, '$.a', missing)", 19), ("JSON_KEYS(j)", 0),
        ("JSON_SET(j, '$.a', NOW ())", 23), ("j->1", 3), ("j - -- 5", 4), ("JSON_SET(j, '$.a', NOW() + 0)", 25),
        ("IFNULL(x'00', 1)", 0), ("j->'$**.a'", 1), ("(j", 2), ("JSON_SET(j, '$.a', " + "-" * 300 + "n)", None),
    ],
)  # fmt: skip
def test_what_the_grammar_leaves_out_is_refused(sql: str, offset: int | None) -> None:
    with pytest.raises(Unsupported) as caught:
        read_expression(sql, ROW)
    assert offset is None or caught.value.offset == offset


def test_functions_of_the_moment_are_named_once() -> None:
    assert read_expression("JSON_SET(j, '$.a', NOW(), '$.b', NOW(6), '$.c', CURDATE())", ROW).moments == (
        "NOW",
        "CURDATE",
    )


@pytest.mark.parametrize(
    ("sql", "offset", "message", "got"),
    [
        ("JSON_EXTRACT(j)", 0, "incorrect parameter count for JSON_EXTRACT", None),
        ("JSON_UNQUOTE()", 0, "incorrect parameter count for JSON_UNQUOTE", None),
        ("JSON_UNQUOTE(1, 2)", 0, "incorrect parameter count for JSON_UNQUOTE", None),
        ("IFNULL(1)", 0, "incorrect parameter count for IFNULL", None),
        ("IFNULL(1, 2, 3)", 0, "incorrect parameter count for IFNULL", None),
        ("JSON_MERGE_PATCH('[]')", 0, "incorrect parameter count for JSON_MERGE_PATCH", None),
        ("JSON_MERGE_PRESERVE('[]')", 0, "incorrect parameter count for JSON_MERGE_PRESERVE", None),
        ("JSON_EXTRACT(j, '$.n'", 21, "JSON_EXTRACT is not complete", "the end"),
        (
            "JSON_EXTRACT(, '$')",
            13,
            "the first argument of JSON_EXTRACT is missing or outside predict's grammar",
            "','",
        ),
        ("JSON_EXTRACT(j, 5)", 16, "an integer as a path of JSON_EXTRACT", "'5'"),
        ("JSON_LENGTH(j", 13, "JSON_LENGTH is not complete", "the end"),
        ("JSON_LENGTH(", 12, "the first argument of JSON_LENGTH is missing or outside predict's grammar", "the end"),
        ("JSON_LENGTH(j, 5)", 15, "an integer as a path of JSON_LENGTH", "'5'"),
        ("JSON_UNQUOTE('a'", 16, "JSON_UNQUOTE is not complete", "the end"),
        ("IFNULL(1, 2", 11, "IFNULL is not complete", "the end"),
        ("IFNULL(, 2)", 7, "an argument of IFNULL is missing or outside predict's grammar", "','"),
        ("COALESCE(1", 10, "COALESCE is not complete", "the end"),
        ("CAST(1 AS CHAR", 14, "CAST is not complete", "the end"),
        ("CAST(1 AS JSON", 14, "CAST is not complete", "the end"),
        ("CAST( AS JSON)", 6, "the argument of CAST is missing or outside predict's grammar", "'AS'"),
        ("JSON_MERGE_PATCH('[]', '[]'", 27, "JSON_MERGE_PATCH is not complete", "the end"),
        (
            "JSON_MERGE_PATCH(, '[]')",
            17,
            "an argument of JSON_MERGE_PATCH is missing or outside predict's grammar",
            "','",
        ),
        ("JSON_SET(j, '$.n', )", 19, "a value of JSON_SET is missing or outside predict's grammar", "')'"),
        ("(1", 2, "the expression is not complete", "the end"),
        ("()", 1, "the expression is missing or outside predict's grammar", "')'"),
        ("-", 1, "the expression is missing or outside predict's grammar", "the end"),
        ("NOW(", 4, "NOW is not complete", "the end"),
        ("NOW (6)", 4, "NOW and its bracket are apart", "'('"),
        ("j->", 3, "-> is not followed by a path", "the end"),
        ("j->5", 3, "-> is not followed by a path", "'5'"),
        ("1 +", 3, "the expression is missing or outside predict's grammar", "the end"),
        ("CURDATE(6)", 8, "CURDATE is not complete", "'6'"),
    ],
)
def test_a_text_that_is_not_complete_is_named_with_its_place(
    sql: str, offset: int, message: str, got: str | None
) -> None:
    with pytest.raises((Unsupported, MysqlError)) as caught:
        read_expression(sql, ROW)
    error: CodecError = caught.value
    assert (error.offset, error.message, error.got) == (offset, message, got)
    if isinstance(error, MysqlError):
        assert (error.number, error.symbol) == (1582, "ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT")
