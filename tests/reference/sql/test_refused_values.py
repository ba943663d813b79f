"""Refusals by ``predict`` of tokens and values that it does not read, and of those that the server refuses."""

from __future__ import annotations

import pytest

from conformance.reference.dialect import JsonForms
from conformance.reference.errors import EncodeError, MysqlError, Unsupported
from conformance.reference.partial.expression import Column, Literal
from conformance.reference.sql.expressions import parse_expression, quote_string

HEX = "a hexadecimal literal needs pairs of hexadecimal digits"
BITS = "a bit literal has only the digits 0 and 1"
RUNS = "a number that runs into a name"
OPEN = "an unterminated string or name"
CHARACTER = "a character outside the grammar"


@pytest.mark.parametrize(
    ("sql", "message", "offset", "got"),
    [
        ("'\udcff'", "the text is not valid UTF-8", 1, None),
        ("  'abc", OPEN, 2, "'abc"),
        ('"', OPEN, 0, '"'),
        ("`abc", OPEN, 0, "`abc"),
        ("'abc''", OPEN, 0, "'abc''"),
        (r"'abc\'", OPEN, 0, r"'abc\'"),
        ("`abc``", OPEN, 0, "`abc``"),
        ("'" + "x" * 30, OPEN, 0, "'" + "x" * 19),
        ("j ? 5", CHARACTER, 2, "? 5"),
        ("\x1c'a'", CHARACTER, 0, "\x1c'a'"),
        ("j\f\v@" + "x" * 30, CHARACTER, 3, "@" + "x" * 19),
        ("1x", RUNS, 0, "1x"),
        ("(1.5_" + "y" * 20, RUNS, 1, "1.5_" + "y" * 9),
        ("1e5é", RUNS, 0, "1e5é"),
        ("x'XX'", HEX, 0, "x'XX'"),
        ("x'4X'", HEX, 0, "x'4X'"),
        ("(X'123'", HEX, 1, "X'123'"),
        ("x'" + "1" * 50, OPEN, 1, "'" + "1" * 19),
        ("x'" + "g" * 50 + "'", HEX, 0, "x'" + "g" * 38),
        ("b'X1X'", BITS, 0, "b'X1X'"),
        ("b'12'", BITS, 0, "b'12'"),
        ("(B'" + "2" * 50 + "'", BITS, 1, "B'" + "2" * 38),
    ],
)
def test_a_text_that_has_no_tokens(sql: str, message: str, offset: int, got: str | None) -> None:
    with pytest.raises(Unsupported) as caught:
        parse_expression(sql)
    error = caught.value
    assert (error.message, error.offset, error.expected, error.got) == (message, offset, None, got)


NUMBER = "a string or a number"
PIECES = "strings, integers and DECIMALs"
DATE = "YYYY-MM-DD"
TIME = "[-]HH:MM[:SS[.ffffff]]"
MOMENT = "YYYY-MM-DD[ HH:MM[:SS[.ffffff]]]"


@pytest.mark.parametrize(
    ("sql", "message", "expected", "got"),
    [
        ("CAST(-9.3e18 AS SIGNED)", "a CAST of a double below -2^63 to an integer", None, -9.3e18),
        ("CAST(TIME'10:00:00' AS SIGNED)", "CAST of a date or time to an integer", NUMBER, None),
        ("CAST(x'31' AS UNSIGNED)", "CAST of a binary string to an integer", NUMBER, None),
        ("CAST('1E1' AS DECIMAL)", "a string with an exponent in a CAST to DECIMAL", None, "1E1"),
        (
            "CAST(1.5e-16 AS DECIMAL(40,25))",
            "a double that is written with a negative exponent in a CAST to DECIMAL",
            None,
            "1.5e-16",
        ),
        ("CAST(JSON_ARRAY() AS DECIMAL)", "CAST of a JSON value to DECIMAL", NUMBER, None),
        ("CAST(5 AS DATETIME)", "CAST of an integer to DATETIME", "a string, DATE or TIMESTAMP literal", None),
        ("DATE'24-01-01'", "a DATE literal in another form", DATE, "24-01-01"),
        ("TIME'12'", "a TIME literal in another form", TIME, "12"),
        ("TIMESTAMP'2024'", "a TIMESTAMP literal in another form", MOMENT, "2024"),
        ("CAST('2024' AS DATETIME)", "a string in a CAST to DATETIME in another form", MOMENT, "2024"),
        ("CONCAT('a', 1e0)", "a DOUBLE in CONCAT", PIECES, None),
        ("CONCAT(TIMESTAMP'2024-01-01 10:00:00')", "a date or time in CONCAT", PIECES, None),
        ("CONCAT(CAST('2024-01-01' AS DATETIME))", "a date or time in CONCAT", PIECES, None),
        ("REPEAT(JSON_ARRAY(), 2)", "a JSON value in REPEAT", PIECES, None),
        ("REPEAT('a', '2')", "a character string as the count of REPEAT", "an integer", None),
        ("JSON_OBJECT(1e0, 1)", "a DOUBLE in a member name", PIECES, None),
    ],
)
def test_a_value_outside_the_grammar(sql: str, message: str, expected: str | None, got: object) -> None:
    with pytest.raises(Unsupported) as caught:
        parse_expression(f"JSON_SET(j, '$', {sql})")
    error = caught.value
    assert (error.message, error.offset, error.expected, error.got) == (message, 17, expected, got)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x'61'", "x'61'"),
        ("0b1", "0b1"),
        ("1" * 40, "1" * 40),
        ("1" * 41, "1" * 37 + "..."),
    ],
)
def test_a_refused_token_is_shown_by_its_first_forty_characters(value: str, shown: str) -> None:
    with pytest.raises(Unsupported) as caught:
        parse_expression(f"JSON_SET(j, {value}, 1)")
    assert (caught.value.offset, caught.value.got) == (12, repr(shown))


TRUNCATED = (1292, "ER_TRUNCATED_WRONG_VALUE")
WRONG = (1525, "ER_WRONG_VALUE")
OVERFLOW = (1301, "ER_WARN_ALLOWED_PACKET_OVERFLOWED")
MIB_64 = 64 << 20


@pytest.mark.parametrize(
    ("sql", "known", "message", "expected", "got"),
    [
        ("CAST('x' AS SIGNED)", TRUNCATED, "truncated incorrect INTEGER value", None, "x"),
        ("CAST(18446744073709551616.5 AS UNSIGNED)", TRUNCATED, "truncated incorrect DECIMAL value", None,
         "18446744073709551616.5"),
        ("CAST('x' AS DECIMAL)", TRUNCATED, "truncated incorrect DECIMAL value", None, "x"),
        ("CAST(1e81 AS DECIMAL(65))", TRUNCATED, "truncated incorrect DECIMAL value", None, 1e81),
        ("CAST('2023-02-29' AS DATETIME)", TRUNCATED, "incorrect datetime value", None, "2023-02-29"),
        ("DATE'2024-13-01'", WRONG, "incorrect DATE value", None, "2024-13-01"),
        ("TIME'12:34:60'", WRONG, "incorrect TIME value", None, "12:34:60"),
        ("TIMESTAMP'2024-01-01'", WRONG, "incorrect DATETIME value", None, "2024-01-01"),
        ("REPEAT('é', 33554433)", OVERFLOW, "the result of REPEAT is larger than max_allowed_packet", MIB_64,
         MIB_64 + 2),
        ("CONCAT(REPEAT('a', 67108863), 'é')", OVERFLOW, "the result of CONCAT is larger than max_allowed_packet",
         MIB_64, MIB_64 + 1),
    ],
)  # fmt: skip
def test_a_value_that_the_server_refuses(
    sql: str, known: tuple[int, str], message: str, expected: object, got: object
) -> None:
    """The numbers as in the captured data; the words follow those of 9.7.4."""
    with pytest.raises(MysqlError) as caught:
        parse_expression(f"JSON_SET(j, '$', {sql})")
    error = caught.value
    assert ((error.number, error.symbol), error.message, error.expected, error.got) == (known, message, expected, got)


def test_a_wrong_document_is_refused_at_its_place_in_the_text() -> None:
    with pytest.raises(MysqlError) as caught:
        parse_expression("JSON_SET(j, '$', CAST('[1,x]' AS JSON))")
    assert (caught.value.number, caught.value.offset) == (3141, 3)  # "Invalid value." at position 3


def test_documents_are_read_as_the_version_reads_them() -> None:
    sql = "CAST('-1.1030161663305387' AS JSON)"
    assert parse_expression(sql) == Literal(-1.1030161663305387)
    older = float(11030161663305387) / 1e16  # versions 6.1
    assert older != 1.1030161663305387
    assert parse_expression(sql, forms=JsonForms(text_double="fast")) == Literal(-older)


def test_a_quoted_name_keeps_its_backticks_once() -> None:
    assert parse_expression("`a``b`", column="a`b") == Column("a`b")


def test_no_literal_makes_invalid_utf8() -> None:
    with pytest.raises(EncodeError) as caught:
        quote_string("ab\udcff")
    assert (caught.value.code, caught.value.offset) == ("bad-utf8", 2)
