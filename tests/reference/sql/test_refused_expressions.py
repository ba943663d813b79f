"""Refusals by ``predict`` of an expression that it does not read: the message, its place, what may stand there."""

from __future__ import annotations

import pytest

from conformance.reference.errors import MysqlError, Unsupported
from conformance.reference.partial.expression import Call, Column, Literal, SqlNull
from conformance.reference.sql.expressions import parse_expression

DOCUMENT = "j, NULL, JSON_SET, JSON_REPLACE, JSON_REMOVE, CAST(... AS JSON), JSON_OBJECT or JSON_ARRAY"
VALUE = "a literal, j, CAST, JSON_OBJECT, JSON_ARRAY, REPEAT or CONCAT"
OUTSIDE = "outside predict's grammar"


@pytest.mark.parametrize(
    ("sql", "message", "offset", "expected", "got"),
    [
        ("JSON_SET", "JSON_SET is not complete", 8, "'('", "the end"),
        ("JSON_SET(", "the first argument of JSON_SET cannot start like this", 9, DOCUMENT, "the end"),
        ("JSON_SET(j", "JSON_SET is not complete", 10, "')'", "the end"),
        ("JSON_SET(j,", f"a path of JSON_SET is missing or {OUTSIDE}", 11, VALUE, "the end"),
        ("JSON_SET(j,'$.a'", "JSON_SET is not complete", 16, "','", "the end"),
        ("JSON_SET(j,'$.a',", f"a value of JSON_SET is missing or {OUTSIDE}", 17, VALUE, "the end"),
        ("JSON_SET(j,'$.a',1", "JSON_SET is not complete", 18, "')'", "the end"),
        ("JSON_SET(j,'$.a',1 2)", "JSON_SET is not complete", 19, "')'", "'2'"),
        ("JSON_SET()", "the first argument of JSON_SET cannot start like this", 9, DOCUMENT, "')'"),
        ("JSON_SET(j,1,2)", "an integer as a path of JSON_SET", 11, "a string or NULL", "'1'"),
        ("JSON_SET(j,j,2)", f"j inside a path of JSON_SET is {OUTSIDE}", 11, "a value without columns", "'j'"),
        (
            "JSON_SET(j,'$.a',JSON_SET(j,'$.b',1))",
            f"JSON_SET as a value of JSON_SET is {OUTSIDE}",
            17,
            VALUE,
            "'JSON_SET'",
        ),
        ("JSON_SET(j,'$.a',(j))", f"j inside a value of JSON_SET is {OUTSIDE}", 18, "a value without columns", "'j'"),
        ("JSON_SET(j,'$.a',(1)", "JSON_SET is not complete", 20, "')'", "the end"),
        ("JSON_SET(j,'$.a',())", f"a value of JSON_SET is missing or {OUTSIDE}", 18, VALUE, "')'"),
        ("JSON_SET(j,'$.a',FOO(1))", f"FOO is {OUTSIDE}", 17, VALUE, "'FOO'"),
        ("JSON_SET(j,'$.a',foo)", f"a value of JSON_SET is missing or {OUTSIDE}", 17, VALUE, "'foo'"),
        ("JSON_SET(j,'$.a',- 'x')", "a sign stands before something that is no number", 19, "a number", "'x'"),
        ("JSON_SET(k,'$.a',1)", "the first argument of JSON_SET cannot start like this", 9, DOCUMENT, "'k'"),
        ("JSON_SET(foo(j),'$.a',1)", f"FOO is {OUTSIDE}", 9, DOCUMENT, "'foo'"),
        ("(j", "the expression is not complete", 2, "')'", "the end"),
        ("(j) j", "something follows the expression", 4, "the end", "'j'"),
        ("()", "the expression cannot start like this", 1, DOCUMENT, "')'"),
        ("(+)", "the expression cannot start like this", 1, DOCUMENT, "'+'"),
        ("foo", "the expression cannot start like this", 0, DOCUMENT, "'foo'"),
        ("foo(j)", f"FOO is {OUTSIDE}", 0, DOCUMENT, "'foo'"),
        ("`foo`", "the expression cannot start like this", 0, DOCUMENT, "'foo'"),
        ("j j", "something follows the expression", 2, "the end", "'j'"),
        ("JSON_SET(j,'$.a',JSON_ARRAY", "JSON_ARRAY is not complete", 27, "'('", "the end"),
        ("JSON_SET(j,'$.a',JSON_ARRAY(", f"an argument of JSON_ARRAY is missing or {OUTSIDE}", 28, VALUE, "the end"),
        ("JSON_SET(j,'$.a',JSON_ARRAY(1", "JSON_ARRAY is not complete", 29, "')'", "the end"),
        (
            "JSON_SET(j,'$.a',JSON_ARRAY(j))",
            f"j inside an argument of JSON_ARRAY is {OUTSIDE}",
            28,
            "a value without columns",
            "'j'",
        ),
        ("JSON_SET(j,'$.a',JSON_ARRAY(1,))", f"an argument of JSON_ARRAY is missing or {OUTSIDE}", 30, VALUE, "')'"),
        ("JSON_SET(j,'$.a',JSON_OBJECT", "JSON_OBJECT is not complete", 28, "'('", "the end"),
        (
            "JSON_SET(j,'$.a',JSON_OBJECT(j,1))",
            f"j inside an argument of JSON_OBJECT is {OUTSIDE}",
            29,
            "a value without columns",
            "'j'",
        ),
        ("JSON_SET(j,'$.a',REPEAT", "REPEAT is not complete", 23, "'('", "the end"),
        ("JSON_SET(j,'$.a',REPEAT('a'))", "REPEAT with 1 arguments", 17, "two", "'REPEAT'"),
        (
            "JSON_SET(j,'$.a',REPEAT(j,2))",
            f"j inside an argument of REPEAT is {OUTSIDE}",
            24,
            "a value without columns",
            "'j'",
        ),
        ("JSON_SET(j,'$.a',REPEAT('a',2,3))", "REPEAT with 3 arguments", 17, "two", "'REPEAT'"),
        ("JSON_SET(j,'$.a',CONCAT", "CONCAT is not complete", 23, "'('", "the end"),
        (
            "JSON_SET(j,'$.a',CONCAT(j))",
            f"j inside an argument of CONCAT is {OUTSIDE}",
            24,
            "a value without columns",
            "'j'",
        ),
        (
            "JSON_SET(j,'$.a',CAST (1 AS JSON))",
            "CAST and its bracket are apart, which makes it another function",
            22,
            "'(' at once",
            "'('",
        ),
        ("JSON_SET(j,'$.a',CAST", "CAST is not complete", 21, "'('", "the end"),
        (
            "JSON_SET(j,'$.a',CAST 1)",
            "CAST and its bracket are apart, which makes it another function",
            22,
            "'(' at once",
            "'1'",
        ),
        ("JSON_SET(j,'$.a',CAST())", f"the argument of CAST is missing or {OUTSIDE}", 22, VALUE, "')'"),
        (
            "JSON_SET(j,'$.a',CAST(j AS JSON))",
            f"j inside the argument of CAST is {OUTSIDE}",
            22,
            "a value without columns",
            "'j'",
        ),
        ("JSON_SET(j,'$.a',CAST(1))", "CAST is not complete", 23, "AS", "')'"),
        (
            "JSON_SET(j,'$.a',CAST(1 AS))",
            "CAST to another type",
            26,
            "JSON, UNSIGNED, SIGNED, DECIMAL or DATETIME",
            "')'",
        ),
        (
            "JSON_SET(j,'$.a',CAST(1 AS TEXT))",
            "CAST to another type",
            27,
            "JSON, UNSIGNED, SIGNED, DECIMAL or DATETIME",
            "'TEXT'",
        ),
        ("JSON_SET(j,'$.a',CAST(1 AS JSON", "CAST is not complete", 31, "')'", "the end"),
        ("JSON_SET(j,'$.a',CAST(1 AS SIGNED INT 2))", "CAST is not complete", 38, "')'", "'2'"),
        (
            "JSON_SET(j,'$.a',CAST(1 AS DECIMAL(",
            "the size of DECIMAL is not complete",
            35,
            "a small integer",
            "the end",
        ),
        ("JSON_SET(j,'$.a',CAST(1 AS DECIMAL(x))", "the size of DECIMAL is not complete", 35, "a small integer", "'x'"),
        (
            "JSON_SET(j,'$.a',CAST(1 AS DECIMAL(5,x))",
            "the size of DECIMAL is not complete",
            37,
            "a small integer",
            "'x'",
        ),
        ("JSON_SET(j,'$.a',CAST(1 AS DECIMAL(5,2,1))", "DECIMAL is not complete", 38, "')'", "','"),
        (
            "JSON_SET(j,'$.a',CAST(1 AS DECIMAL(12345)))",
            "the size of DECIMAL is not complete",
            35,
            "a small integer",
            "'12345'",
        ),
        ("JSON_SET(j,'$.a',CAST(1 AS DATETIME(1,2)))", "DATETIME is not complete", 37, "')'", "','"),
        ("JSON_SET(j,'$.a',CAST(1 AS JSON(1)))", "CAST is not complete", 31, "')'", "'('"),
        ("JSON_SET(j,'$.a',CAST(1 AS DECIMAL(5))", "JSON_SET is not complete", 38, "')'", "the end"),
        ("CAST(j AS", "CAST to another type", 9, "JSON, UNSIGNED, SIGNED, DECIMAL or DATETIME", "the end"),
        ("CAST(j AS SIGNED)", "only CAST(... AS JSON) makes a document", 10, "JSON", "'SIGNED'"),
        ("CAST(j AS JSON", "CAST is not complete", 14, "')'", "the end"),
        ("CAST(1 AS SIGNED)", "only CAST(... AS JSON) makes a document", 0, "JSON", "'CAST'"),
        ("CAST(", f"the argument of CAST is missing or {OUTSIDE}", 5, VALUE, "the end"),
        (
            "CAST (j AS JSON)",
            "CAST and its bracket are apart, which makes it another function",
            5,
            "'(' at once",
            "'('",
        ),
        ("JSON_ARRAY(", f"an argument of JSON_ARRAY is missing or {OUTSIDE}", 11, VALUE, "the end"),
        ("JSON_SET(j,'$.a',DATE)", "DATE is not followed by its literal", 21, "a string", "')'"),
        ("JSON_SET(j,'$.a',TIME 5)", "TIME is not followed by its literal", 22, "a string", "'5'"),
        ("JSON_SET(j,'$.a',(1", "a value of JSON_SET is not complete", 19, "')'", "the end"),
        ("JSON_SET(j,'$.a','x' 'y' z)", "JSON_SET is not complete", 25, "')'", "'z'"),
        ("JSON_REMOVE(j,'$.a' 1)", "JSON_REMOVE is not complete", 20, "')'", "'1'"),
        ("JSON_REMOVE(j,'$.a',)", f"a path of JSON_REMOVE is missing or {OUTSIDE}", 20, VALUE, "')'"),
        (
            "JSON_SET(JSON_OBJECT('a',j),'$',1)",
            f"j inside an argument of JSON_OBJECT is {OUTSIDE}",
            25,
            "a value without columns",
            "'j'",
        ),
        (
            "JSON_SET(JSON_ARRAY(j),'$',1)",
            f"j inside an argument of JSON_ARRAY is {OUTSIDE}",
            20,
            "a value without columns",
            "'j'",
        ),
        ("JSON_SET(JSON_OBJECT,'$',1)", "JSON_OBJECT is not complete", 20, "'('", "','"),
        ("JSON_SET(CAST(j+1 AS JSON),'$',1)", "CAST is not complete", 15, "AS", "'+'"),
    ],
)
def test_a_refusal_says_what_is_wrong_where_and_what_may_stand_there(
    sql: str, message: str, offset: int, expected: str, got: str
) -> None:
    with pytest.raises(Unsupported) as caught:
        parse_expression(sql)
    error = caught.value
    assert (error.message, error.offset, error.expected, error.got) == (message, offset, expected, got)


@pytest.mark.parametrize(
    ("sql", "name", "offset"),
    [
        ("JSON_SET(j,'$.a')", "JSON_SET", 0),
        ("JSON_SET(j)", "JSON_SET", 0),
        ("JSON_REMOVE(j)", "JSON_REMOVE", 0),
        ("JSON_REPLACE(j,'$.a',1,'$.b')", "JSON_REPLACE", 0),
        ("JSON_SET(j,'$.a',JSON_OBJECT('a'))", "JSON_OBJECT", 17),
        ("JSON_SET(j,'$.a',CONCAT())", "CONCAT", 17),
        ("JSON_OBJECT('a')", "JSON_OBJECT", 0),
    ],
)
def test_a_wrong_number_of_arguments_is_told_with_the_function_and_its_place(sql: str, name: str, offset: int) -> None:
    with pytest.raises(MysqlError) as caught:
        parse_expression(sql)
    error = caught.value
    assert (error.number, error.symbol, error.offset) == (1582, "ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT", offset)
    assert error.message == f"incorrect parameter count for {name}"


VALUES = [
    ("(%s)", "1"),
    ("JSON_ARRAY(%s)", "1"),
    ("JSON_OBJECT('k', %s)", "1"),
    ("CAST(%s AS JSON)", "1"),
]
DOCUMENTS = [("(%s)", "j"), ("JSON_REMOVE(%s, '$.a')", "j")]


@pytest.mark.parametrize(("around", "inner"), VALUES)
def test_values_nest_two_hundred_deep_and_no_deeper(around: str, inner: str) -> None:
    def nested(depth: int) -> str:
        value = inner
        for _ in range(depth):
            value = around % value
        return f"JSON_SET(j, '$.a', {value})"

    assert isinstance(parse_expression(nested(199)), Call)  # the bracket of JSON_SET counts too
    with pytest.raises(Unsupported) as caught:
        parse_expression(nested(200))
    assert (caught.value.message, caught.value.expected) == ("too many brackets inside each other", "at most 200")


@pytest.mark.parametrize(("around", "inner"), DOCUMENTS)
def test_documents_nest_two_hundred_deep_and_no_deeper(around: str, inner: str) -> None:
    def nested(depth: int) -> str:
        document = inner
        for _ in range(depth):
            document = around % document
        return document

    parse_expression(nested(200))
    with pytest.raises(Unsupported):
        parse_expression(nested(201))


@pytest.mark.parametrize(
    "value",
    [
        "(1)", "JSON_ARRAY()", "JSON_ARRAY(1)", "JSON_OBJECT()", "CAST(1 AS JSON)", "CAST('1' AS DECIMAL(5, 2))",
        "CAST('2020-01-01' AS DATETIME(3))", "CAST(1 AS UNSIGNED INTEGER)", "REPEAT('a', 2)", "CONCAT('a')",
    ],
)  # fmt: skip
def test_brackets_beside_each_other_are_not_inside_each_other(value: str) -> None:
    many = ", ".join([f"'$.a', {value}"] * 300)
    deep = "(" * 199 + "1" + ")" * 199  # still fits: the brackets before it are closed
    expression = parse_expression(f"JSON_SET(j, {many}, '$.b', {deep})")
    assert isinstance(expression, Call)
    assert len(expression.arguments) == 301


def test_a_document_in_a_cast_is_given_back_its_brackets() -> None:
    # A value in CAST is first tried as a document: both readings count their bracket once.
    deep = "(" * 199 + "1" + ")" * 199
    assert parse_expression(f"CAST({deep} AS JSON)") == Literal(1)
    with pytest.raises(Unsupported):
        parse_expression(f"CAST(({deep}) AS JSON)")


@pytest.mark.parametrize(
    ("sql", "before"),
    [
        ("JSON_SET(j, '$.a', CAST('x' AS JSON))", Call.__name__),
        ("CAST('x' AS JSON)", None),
    ],
)
def test_an_error_of_a_value_comes_with_the_chain_before_it(sql: str, before: str | None) -> None:
    with pytest.raises(MysqlError) as caught:
        parse_expression(sql)
    assert (type(caught.value.decoded).__name__ if caught.value.decoded is not None else None) == before


def test_the_chain_before_the_first_error_of_evaluation_is_kept() -> None:
    with pytest.raises(MysqlError) as caught:
        parse_expression(
            "JSON_SET(JSON_REMOVE(j, '$.z'), '$.a', 1, '$.b', CAST('x' AS JSON), '$.c', CAST('y' AS JSON))"
        )
    inner = parse_expression("JSON_REMOVE(j, '$.z')")
    known = parse_expression("JSON_SET(j, '$.a', 1, '$.b', NULL)")
    assert isinstance(known, Call)
    assert caught.value.number == 3141
    assert caught.value.decoded == Call(known.function, inner, known.arguments)


def test_an_error_of_the_parser_has_no_chain_before_it() -> None:
    with pytest.raises(MysqlError) as caught:
        parse_expression("JSON_SET(j, '$.a', CAST('x' AS JSON), '$.b', DATE'2024-01-91')")
    assert (caught.value.number, caught.value.decoded) == (1525, None)


def test_null_and_columns_are_documents_of_their_own() -> None:
    assert parse_expression("null") == SqlNull()
    assert parse_expression("`J`") == Column("j")
    assert parse_expression("(CAST(NULL AS JSON))") == SqlNull()
