"""SQL to expressions and back: values as 9.7.4 made them (``tests/data/sql-values-9.7.4.json``), and the grammar."""

from __future__ import annotations

import json
import math
import random
import struct
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.errors import EncodeError, MysqlError, Unsupported
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.members import stored_order
from conformance.reference.jsonb.values import BLOB, DECIMAL, TIMESTAMP, VARCHAR, JsonValue, Opaque, UInt, same
from conformance.reference.partial.expression import (
    Call,
    Column,
    Constant,
    Function,
    Increment,
    Literal,
    Old,
    SqlNull,
    Wrapped,
    Wrapper,
)
from conformance.reference.sql.expressions import (
    format_document,
    format_expression,
    format_sql,
    parse_expression,
    quote_identifier,
    quote_string,
)

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).parents[2] / "data" / "sql-values-9.7.4.json"


@cache
def captured() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(DATA.read_text())
    return loaded


def value_of(sql: str) -> JsonValue:
    """The JSON value that a value argument makes."""
    expression = parse_expression(f"JSON_SET(j, '$', {sql})")
    assert isinstance(expression, Call)
    literal = expression.arguments[0][1]
    assert isinstance(literal, Literal)
    return literal.value


# --- reading


@pytest.mark.parametrize(("sql", "expected"), captured()["values"])
def test_values_and_errors_are_those_of_the_server(sql: str, expected: str | int) -> None:
    if isinstance(expected, str):
        assert encode(value_of(sql)).hex() == expected
        return
    with pytest.raises(MysqlError) as caught:
        encode(value_of(sql))
    assert caught.value.number == expected
    assert caught.value.symbol.startswith("ER_")


@pytest.mark.parametrize(("sql", "expected"), captured()["sizes"])
def test_strings_are_as_long_as_a_packet_and_no_longer(sql: str, expected: int) -> None:
    if expected < 2000:
        with pytest.raises(MysqlError) as caught:
            value_of(sql)
        assert caught.value.number == expected
        return
    value = value_of(sql)
    assert len(value.payload if isinstance(value, Opaque) else str(value).encode()) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),  # observed on 9.7.4
    [
        ("9" * 5000, "0ff61f4100e33b9ac9ff3b9ac9ff3b9ac9ff3b9ac9ff3b9ac9ff3b9ac9ff3b9ac9ff"),
        ("-" + "9" * 5000, "0ff61f41001cc4653600c4653600c4653600c4653600c4653600c4653600c4653600"),
        ("0" * 5000 + "5", "050500"),
    ],
    ids=["largest", "smallest", "zeros"],
)
def test_integers_of_thousands_of_digits(sql: str, expected: str) -> None:
    assert encode(value_of(sql)).hex() == expected


@pytest.mark.parametrize("sql", [sql for sql, _ in captured()["outside"]])
def test_what_the_grammar_leaves_out_is_refused_and_never_guessed(sql: str) -> None:
    with pytest.raises(Unsupported) as caught:
        value_of(sql)
    assert caught.value.code == "outside-grammar"
    assert caught.value.offset is not None


def test_calls_nest_in_their_first_argument() -> None:
    sql = (
        "Json_Set(JSON_REMOVE((JSON_REPLACE(`j`, '$.b', 'zz')), '$.c[1]', NULL), '$.new', J, CONCAT('$', '.x'), ((7)))"
    )
    assert parse_expression(sql) == Call(
        Function.JSON_SET,
        Call(
            Function.JSON_REMOVE,
            Call(Function.JSON_REPLACE, Column("j"), (("$.b", Literal("zz")),)),
            (("$.c[1]", None), (None, None)),
        ),
        (("$.new", Column("j")), ("$.x", Literal(7))),
    )


def test_the_whole_expression_can_be_another_document() -> None:
    assert parse_expression(" j ") == Column("j")
    assert parse_expression("`a b`", column="a b") == Column("a b")
    assert parse_expression("null") == SqlNull()
    assert parse_expression("CAST(NULL AS JSON)") == SqlNull()
    assert parse_expression("CAST('null' AS JSON)") == Literal(None)
    assert parse_expression("CAST(5 AS JSON)") == Literal(5)
    assert parse_expression("JSON_ARRAY(1, 'a')") == Literal([1, "a"])
    assert parse_expression("JSON_OBJECT('b', 1, 'a', 2)") == Literal({"a": 2, "b": 1})
    assert parse_expression("CAST(j AS JSON)") == Wrapped(Wrapper.CAST, Column("j"))
    assert parse_expression("CAST(JSON_REMOVE(j, '$.a') AS JSON)") == Wrapped(
        Wrapper.CAST, Call(Function.JSON_REMOVE, Column("j"), (("$.a", None),))
    )
    assert parse_expression("JSON_SET(CAST('{}' AS JSON), '$.a', 1)") == Call(
        Function.JSON_SET, Literal({}), (("$.a", Literal(1)),)
    )


@pytest.mark.parametrize(
    ("sql", "offset"),
    [
        ("", 0),
        ("'{}'", 0),
        ("5", 0),
        ("JSON_INSERT(j, '$.a', 1)", 0),
        ("JSON_ARRAY_APPEND(j, '$', 1)", 0),
        ("COALESCE(j)", 0),
        ("k", 0),
        ("t.j", 1),
        ("j, n=1", 4),
        ("j, n", 1),
        ("j j", 2),
        ("j -- comment", 2),
        ("j /* c */", 2),
        ("j;", 1),
        ("JSON_SET", 8),
        ("JSON_SET(j, '$.a', 1", 20),
        ("JSON_SET(j, '$.a' 1)", 18),
        ("JSON_SET('{}', '$.a', 1)", 9),
        ("JSON_SET(j, j, 1)", 12),
        ("JSON_SET(j, 5, 1)", 12),
        ("JSON_SET(j, '$.a', k)", 19),
        ("JSON_SET(j, '$.a', JSON_ARRAY(j))", 30),
        ("JSON_SET(j, '$.a', JSON_SET(j, '$.b', 1))", 19),
        ("JSON_SET(j, '$.a', UPPER('a'))", 19),
        ("JSON_SET(j, '$.a', 1 + 1)", 21),
        ("JSON_SET(j, '$.a', 1x)", 19),
        ("JSON_SET(j, '$.a', 'x)", 19),
        ("JSON_SET(j, '$.a', @v)", 19),
        ("JSON_SET(j, '$.a', ?)", 19),
        ("JSON_SET(j, '$.a', _binary'x')", 19),
        ("JSON_SET(j, '$.a', CAST('1' AS CHAR))", 31),
        ("JSON_SET(j, '$.a', CAST('1' AS UNSIGNED)", 40),
        ("JSON_SET(j, '$.a', DATE 5)", 24),
        ("CAST('1' AS UNSIGNED)", 0),
        ("CAST(j AS UNSIGNED)", 10),
    ],
)
def test_refusals_name_the_place_and_what_was_expected(sql: str, offset: int) -> None:
    with pytest.raises(Unsupported) as caught:
        parse_expression(sql)
    assert caught.value.code == "outside-grammar"
    assert caught.value.offset == offset


def test_wrong_argument_counts_are_errors_of_mysql() -> None:
    for sql in ("JSON_SET(j)", "JSON_SET(j, '$.a')", "JSON_REMOVE(j)", "JSON_REPLACE(j, '$.a', 1, '$.b')"):
        with pytest.raises(MysqlError) as caught:
            parse_expression(sql)
        assert caught.value.number == 1582


@pytest.mark.parametrize(
    ("sql", "number"),
    [
        ("JSON_ARRAY(CAST('x' AS JSON), CAST('y' AS UNSIGNED))", 3141),
        ("JSON_ARRAY(CAST('y' AS UNSIGNED), CAST('x' AS JSON))", 1292),
        ("JSON_ARRAY(CAST('x' AS JSON), DATE'2024-01-91')", 1525),
        ("JSON_ARRAY(DATE'2024-01-91', CONCAT())", 1525),
        ("JSON_ARRAY(CONCAT(), DATE'2024-01-91')", 1582),
        ("JSON_ARRAY(DATE'2024-01-91', 1e999)", 1367),
        ("CAST(DATE'2024-01-91' AS DATETIME(8))", 1426),
        ("CAST(1e81 AS DECIMAL(65,0))", 1292),
        ("CAST(1e80 AS DECIMAL(65,0))", 1264),
        ("CAST(1 AS DECIMAL(66,70))", 1427),
        ("CAST(1 AS DECIMAL(66,31))", 1426),
        ("CAST(1 AS DECIMAL(31,31))", 1425),
    ],
)
def test_of_several_errors_the_one_that_the_server_meets_first_is_raised(sql: str, number: int) -> None:
    with pytest.raises(MysqlError) as caught:  # all observed on 9.7.4
        value_of(sql)
    assert caught.value.number == number


def test_what_is_outside_the_grammar_is_refused_even_after_an_error_of_mysql() -> None:
    for sql in (
        "CAST('x' AS JSON) 5",
        "JSON_SET(CAST('x' AS JSON), '$.a'",
        "JSON_SET(j, '$.a', DATE'2024-01-91', k, 1)",
    ):
        with pytest.raises(Unsupported):
            parse_expression(sql)


def test_a_bracket_apart_from_cast_makes_it_another_function() -> None:
    for sql in ("CAST (j AS JSON)", "CAST ('1' AS JSON)", "JSON_SET (j, '$.a', CAST (1 AS UNSIGNED))"):
        with pytest.raises(Unsupported):
            parse_expression(sql)
    assert isinstance(parse_expression("JSON_SET (j, '$.a', JSON_ARRAY (1))"), Call)


def test_brackets_have_a_limit_and_never_end_in_recursion() -> None:
    assert parse_expression("(" * 150 + "j" + ")" * 150) == Column("j")
    for sql in ("(" * 100_000 + "j", "JSON_SET(" * 5000, "JSON_SET(j, '$', " + "JSON_ARRAY(" * 5000):
        with pytest.raises(Unsupported):
            parse_expression(sql)
    many = f"JSON_ARRAY({', '.join(['JSON_ARRAY()'] * 500)})"
    assert parse_expression(many) == Literal([[]] * 500)


def test_text_of_invalid_utf8_is_refused() -> None:
    with pytest.raises(Unsupported) as caught:
        parse_expression("JSON_SET(j, '$.a', '\udcff')")
    assert caught.value.offset == 20


# --- writing


def test_every_kind_of_value_has_its_sql() -> None:
    expected: list[tuple[JsonValue, str]] = [
        (None, "NULL"),
        (True, "TRUE"),
        (-5, "-5"),
        (UInt(5), "CAST(5 AS UNSIGNED)"),
        (1.0, "1.0e0"),
        (1e22, "1e22"),
        ("it's\\\n", r"'it''s\\\n'"),
        (opaque.decimal_from_text("1.50"), "1.50"),
        (opaque.decimal_from_text("-.5"), "-.5"),
        (opaque.decimal_from_text("7."), "7."),
        (opaque.decimal_value(False, "150", 11, 2), "CAST('1.50' AS DECIMAL(3,2))"),
        (opaque.date(2024, 2, 29), "DATE'2024-02-29'"),
        (opaque.time(1, negative=True), "TIME'-01:00:00.000000'"),
        (opaque.datetime(2024, 2, 29), "TIMESTAMP'2024-02-29 00:00:00.000000'"),
        (Opaque(VARCHAR, b"\x00\xff"), "x'00ff'"),
        ([1, {"a": "b'"}], """CAST('[1, {"a": "b\'\'"}]' AS JSON)"""),
        ([1 << 32, [1]], "JSON_ARRAY(4294967296, CAST('[1]' AS JSON))"),
        ({"a'": UInt(1), "b": []}, "JSON_OBJECT('a''', CAST(1 AS UNSIGNED), 'b', CAST('[]' AS JSON))"),
        ([UInt(1 << 32)], "CAST('[4294967296]' AS JSON)"),
    ]
    for value, sql in expected:
        assert format_sql(value) == sql
        assert same(value_of(sql), value)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (Opaque(BLOB, b"x"), "no-literal"),
        (Opaque(16, b"\x01"), "no-literal"),
        (opaque.timestamp(2024, 1, 1), "no-literal"),
        (opaque.date(0, 0, 0), "no-literal"),
        (Opaque(DECIMAL, b"\x14\x01" + opaque.pack_decimal(False, "15", 20, 1)), "no-literal"),
        (Opaque(DECIMAL, b"\x14"), "no-literal"),
        (math.nan, "not-finite"),
        (math.inf, "not-finite"),
        (1 << 63, "integer-range"),
        (-(1 << 63) - 1, "integer-range"),
        (UInt(1 << 64), "integer-range"),
        ("\udcff", "bad-utf8"),
        ({"\udcff": 1}, "bad-utf8"),
        pytest.param(object(), "not-a-json-value", id="object"),  # its repr would have an address
    ],
    ids=repr,
)
def test_values_that_only_columns_make_have_no_sql(value: Any, code: str) -> None:
    nested: JsonValue = [[value]]
    for written in (value, nested):
        for write in (format_sql, format_document):
            with pytest.raises(EncodeError) as caught:
                write(written)
            assert caught.value.code == code


def test_the_smallest_integers_and_decimals_have_their_sql() -> None:
    assert format_sql(-(1 << 63)) == "-9223372036854775808"
    assert format_sql(opaque.decimal_value(False, "0", 1, 0)) == "0."


@pytest.mark.parametrize("inside", [lambda value: [value], lambda value: {"a": value}], ids=["array", "object"])
def test_documents_are_written_twice_as_deep_as_a_server_reads(inside: Callable[[JsonValue], JsonValue]) -> None:
    value: JsonValue = 1
    for _ in range(200):
        value = inside(value)
    assert format_sql(value).count("1") == 1
    with pytest.raises(MysqlError) as caught:
        format_sql(inside(value))
    assert caught.value.code == "mysql-3157"


def test_documents_are_json_even_when_they_are_strings() -> None:
    values: list[JsonValue] = [None, True, "a", 5, UInt(5), 1.5, opaque.date(2024, 1, 1), [1], [UInt(1)], {"a": "'"}]
    for value in values:
        expression = parse_expression(format_document(value))
        assert isinstance(expression, Literal)
        assert same(expression.value, value)
    assert format_document("a") == "CAST('\"a\"' AS JSON)"


def test_expressions_of_every_kind_are_written() -> None:
    call = Call(Function.JSON_SET, Column("j"), (("$.a", Literal(None)), (None, SqlNull()), ("$.'", Column("k"))))
    assert format_expression(call) == "JSON_SET(`j`, '$.a', NULL, NULL, NULL, '$.''', `k`)"
    assert format_expression(Call(Function.JSON_REMOVE, SqlNull(), (("$.a", None),))) == "JSON_REMOVE(NULL, '$.a')"
    insert = Call(Function.JSON_INSERT, Literal("x"), (("$.a", Literal("x")),))
    assert format_expression(insert) == "JSON_INSERT(CAST('\"x\"' AS JSON), '$.a', 'x')"
    assert format_expression(Wrapped(Wrapper.COALESCE, Column("j"))) == "COALESCE(`j`)"
    assert format_expression(Wrapped(Wrapper.IF, Column("j"))) == "IF(TRUE, `j`, NULL)"
    assert format_expression(Wrapped(Wrapper.CAST, Column("j"))) == "CAST(`j` AS JSON)"
    assert format_expression(Old("a`b")) == "OLD.`a``b`"
    assert [format_expression(Increment("a`b", by)) for by in (-3, 0, 1)] == ["`a``b` - 3", "`a``b` + 0", "`a``b` + 1"]
    constants = {None: "NULL", 5: "5", 1.5: "1.5e0", "x'": "'x'''", b"\x00": "x'00'", Decimal("1E+2"): "100"}
    for value, sql in constants.items():
        assert format_expression(Constant(value)) == sql
    assert [format_expression(Constant(value)) for value in (True, False, 1e300)] == ["TRUE", "FALSE", "1e+300"]
    with pytest.raises(EncodeError) as caught:
        format_expression(Constant(object()))
    assert caught.value.code == "no-literal"


def test_columns_of_a_trigger_have_their_prefix_everywhere() -> None:
    arguments = (("$.a", Column("k")), ("$.b", Increment("n", 1)))
    call = Call(Function.JSON_SET, Wrapped(Wrapper.CAST, Column("j")), arguments)
    assert format_expression(call, new="NEW.") == "JSON_SET(CAST(NEW.`j` AS JSON), '$.a', NEW.`k`, '$.b', NEW.`n` + 1)"


def test_names_and_strings_are_quoted() -> None:
    assert quote_identifier("a`b") == "`a``b`"
    assert quote_string("\0\b\t\n\r\x1a\\'\"%_") == r"""'\0\b\t\n\r\Z\\''"%_'"""


def random_value(draw: random.Random, level: int) -> JsonValue:
    kind = draw.randrange(14 if level else 11)
    if kind == 0:
        return draw.choice([None, True, False])
    if kind == 1:
        return draw.choice((1, -1)) * draw.getrandbits(draw.randint(1, 62))
    if kind == 2:
        return UInt(draw.getrandbits(draw.randint(1, 64)))
    if kind == 3:
        number: float = struct.unpack("<d", draw.randbytes(8))[0]
        return number if math.isfinite(number) else -0.0
    if kind < 7:
        return "".join(draw.choice("ab'\"\\\0\n\x1a%_é中😀/`") for _ in range(draw.randrange(9)))
    if kind == 7:
        whole = draw.choice(("", "0", str(draw.getrandbits(draw.randint(1, 90)))))
        return opaque.decimal_from_text(f"{draw.choice(('', '-'))}{whole}.{draw.randrange(10 ** draw.randint(1, 9))}")
    if kind == 8:
        return opaque.date(draw.randint(1, 9999), draw.randint(1, 12), draw.randint(1, 28))
    if kind == 9:
        return opaque.time(draw.randint(0, 837), 59, 1, draw.randrange(1_000_000), negative=draw.random() < 0.5)
    if kind == 10:
        return Opaque(VARCHAR, draw.randbytes(draw.randrange(5)))
    if kind < 13:
        return [random_value(draw, level - 1) for _ in range(draw.randrange(4))]
    return stored_order({str(random_value(draw, 0)): random_value(draw, level - 1) for _ in range(draw.randrange(4))})


def test_whatever_is_written_reads_back_the_same() -> None:
    draw = random.Random(2955)
    for _ in range(1000):
        value = random_value(draw, 4)
        assert encode(value_of(format_sql(value))) == encode(value)
        literal = parse_expression(format_document(value))
        assert isinstance(literal, Literal)
        assert encode(literal.value) == encode(value)
    for _ in range(200):
        document: Any = draw.choice((Column("j"), SqlNull(), Wrapped(Wrapper.CAST, Column("j")), Literal(["x"])))
        for _ in range(draw.randrange(4)):
            function = draw.choice((Function.JSON_SET, Function.JSON_REPLACE, Function.JSON_REMOVE))
            remove = function is Function.JSON_REMOVE
            values = (Literal("\\"), Column("j"), Literal({"a": "'"}), Literal(None))
            document = Call(
                function,
                document,
                tuple((draw.choice(("$.a", None, "$.'\\")), None if remove else draw.choice(values)) for _ in range(2)),
            )
        assert parse_expression(format_expression(document)) == document


def test_timestamps_from_columns_are_not_written_as_datetimes() -> None:
    with pytest.raises(EncodeError) as caught:
        format_sql(Opaque(TIMESTAMP, opaque.datetime(2024, 1, 1).payload))
    assert caught.value.code == "no-literal"
