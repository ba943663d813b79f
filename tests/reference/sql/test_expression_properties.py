"""The reader of SQL expressions on arbitrary text, and the way there and back on generated values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from conformance.reference.errors import EncodeError, MysqlError, Unsupported
from conformance.reference.jsonb.values import same
from conformance.reference.partial.expression import Call, Column, Function, Literal
from conformance.reference.sql.expressions import format_document, format_expression, parse_expression
from generators.documents import Size
from generators.strategies.documents import documents

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

WORDS = [
    *"(),+-jk'\"`@.* ",
    *(
        "JSON_SET(",
        "JSON_REMOVE(",
        "JSON_ARRAY(",
        "JSON_OBJECT(",
        "CAST(",
        "REPEAT(",
        "CONCAT(",
        " AS ",
        "JSON",
        "UNSIGNED",
    ),
    *(
        "DECIMAL(",
        "DATETIME(",
        "'$.a'",
        "'[1]'",
        "''",
        "NULL",
        "TRUE",
        "1",
        "1.5",
        "1e5",
        "1e999",
        "x'0a'",
        "b'1'",
        "0x1",
    ),
    *("DATE'2024-02-30'", "TIME'1:2'", "TIMESTAMP'2024-01-01 0:0'", "99999999999999999999", "\\", "é", "\0"),
]


@given(st.one_of(st.lists(st.sampled_from(WORDS), max_size=25).map("".join), st.text(max_size=30)))
def test_arbitrary_text_is_an_expression_a_refusal_or_an_error_of_mysql(sql: str) -> None:
    try:
        expression = parse_expression(sql)
    except (Unsupported, MysqlError):
        return
    except EncodeError as error:
        raise AssertionError(f"reading must not fail in the encoder: {sql!r}") from error
    try:
        written = format_expression(expression)
    except EncodeError:
        return  # a DECIMAL with a precision that only a CAST of a CAST gives
    assert format_expression(parse_expression(written)) == written


@given(documents(sizes=(Size.TINY, Size.SMALL)), st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
def test_values_survive_as_argument_and_as_document(value: JsonValue, path: str) -> None:
    call = Call(Function.JSON_SET, Column("j"), ((path, Literal(value)),))
    again = parse_expression(format_expression(call))
    assert isinstance(again, Call)
    literal = again.arguments[0][1]
    assert isinstance(literal, Literal)
    assert again.arguments[0][0] == path
    assert same(literal.value, value)
    document = parse_expression(format_document(value))
    assert isinstance(document, Literal)
    assert same(document.value, value)
