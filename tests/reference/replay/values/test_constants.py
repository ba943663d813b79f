"""Literals of SQL as values: numbers with all digits, strings, bytes, NULL."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from conformance.reference.replay.values.constants import read_constant
from conformance.reference.sql.definition_reader import Reader
from conformance.reference.sql.statement_words import split_words
from tests.reference.refusals import refused


def read(text: str) -> tuple[Any, int]:
    """The constant, and the number of words behind it."""
    reader = Reader(split_words(text), "")
    return read_constant(reader), len(reader.rest())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NULL", None), ("TRUE", 1), ("false", 0), ("7", 7), ("-7", -7), ("+7", 7), ("18446744073709551615", 2**64 - 1),
        ("1.50", Decimal("1.50")), ("-.5", Decimal("-0.5")), ("1e3", 1000.0), ("1.5e3", 1500.0), ("-1.5e-07", -1.5e-07),
        ("2e+2", 200.0), ("'it''s'", "it's"), ('""', ""), ("x'00fF'", b"\0\xff"), ("X''", b""), ("0x4142", b"AB"),
        ("b'101'", b"\x05"), ("b'100000000'", b"\x01\0"), ("0b11", b"\x03"), ("_binary 'a\\0'", b"a\0"),
    ],
)  # fmt: skip
def test_a_constant(text: str, value: Any) -> None:
    found, left = read(f"{text} COMMENT 'x'")
    assert (found, type(found), left) == (value, type(value), 2)


@pytest.mark.parametrize(
    "text",
    ["", "-'1'", "`a`", "a", "1.", "1.a", "1.'5'", "1e", "1e+", "1e-1000", "1e-'5'", "'a' 'b'", "x'0'", "x'0g'", "b'2'",
     "0x1", "_latin1'a'", "_binary 7", "now()", "9" * 81],
)  # fmt: skip
def test_what_is_no_constant_is_refused(text: str) -> None:
    assert refused(read, text).code in ("value", "statement")
