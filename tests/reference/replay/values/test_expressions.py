"""Expressions of generated columns and defaults, evaluated for a row."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from conformance.reference.jsonb.encode import encode
from conformance.reference.replay.values.expressions import evaluated
from conformance.reference.sql.statement_words import split_words, sql_text
from conformance.reference.tables.temporal import Date
from tests.reference.refusals import refused
from tests.reference.replay.values.test_conversions import column

COLUMNS = [(name, column(kind)) for name, kind in (
    ("n", "INT"), ("u", "BIGINT UNSIGNED"), ("d", "DECIMAL(9,2)"), ("g", "DOUBLE"), ("t", "VARCHAR(9)"), ("j", "JSON"),
    ("b", "BLOB"), ("e", "ENUM('x','y')"), ("day", "DATE"), ("p", "POINT"),
)]  # fmt: skip
ROW = (7, 2**64 - 1, Decimal("-1.50"), 0.5, "é".encode(), encode({"a": [1, "x"]}), b"\xff", 2, Date(2024, 2, 29), b"")


def value(text: str, row: tuple[Any, ...] = ROW) -> Any:
    return evaluated(split_words(text), COLUMNS, row)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n + 1", 8), ("`N` * d", Decimal("-10.50")), ("u", 2**64 - 1), ("g * 2", 1.0), ("CONCAT(t, '-', n)", "é-7"),
        ("concat(_utf8mb4'a',`t`)", "aé"), ("j->'$.a[0]'", b"\x05\x01\0"), ("j->>'$.a[1]'", "x"), ("NULL", None),
        ("json_unquote(json_extract(`j`,_utf8mb4'$.a[1]'))", "x"), ("JSON_ARRAY()", encode([])),
        ("IFNULL(t, 'z')", "é"),
    ],
)  # fmt: skip
def test_an_expression(text: str, expected: Any) -> None:
    assert value(text) == expected


def test_null_in_a_column_is_null() -> None:
    nothing = (None,) * len(ROW)
    assert value("n + 1", nothing) is None
    assert value("CONCAT(t, 'x')", nothing) is None
    assert value("j->'$.a'", nothing) is None


@pytest.mark.parametrize("text", ["MD5(t)", "NOW()", "b", "p", "n +", "missing + 1", "day", "CONCAT(b, 'x')"])
def test_what_is_not_certain_is_refused(text: str) -> None:
    assert refused(value, text).code == "value"


@pytest.mark.parametrize(
    "text",
    ["a->>'$.b'", "a->'$'", "x'41'", "1.5 + .5", "`a b`.`c`", "'it''s' || \"q\"", "a <= b AND c <> d", "f(- -1)"]
)  # fmt: skip
def test_words_become_text_with_the_same_words(text: str) -> None:
    assert split_words(sql_text(split_words(text))) == split_words(text)
