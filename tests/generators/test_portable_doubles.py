"""Doubles for servers that parse JSON text fast: none whose text an old and a new server read differently."""

from __future__ import annotations

import struct

import pytest

from conformance.reference.dialect import JsonForms
from conformance.reference.jsonb.fast_double import parse_fast
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_double
from generators.draw import Stream
from generators.scalars import DOUBLES, double, portable, portable_doubles

FAST = JsonForms(text_double="fast")


def drawn(count: int) -> list[float]:
    draw = Stream("portable")
    return [double(draw.fork(number)) for number in range(count)]


def test_portable_doubles_are_read_alike_by_both_parsers() -> None:
    with portable_doubles(True):
        numbers = drawn(5_000)
    for number in numbers:
        text = format_double(number)
        assert parse_text(f"[{text}]") == parse_text(f"[{text}]", FAST) == [number]


def test_without_the_wish_some_are_not_and_nothing_changes() -> None:
    before = drawn(2_000)
    assert any(parse_fast(format_double(number)) != number for number in before)
    with portable_doubles(True):
        inside = drawn(2_000)
        with portable_doubles(False):
            assert drawn(2_000) == before
    assert inside != before == drawn(2_000)


@pytest.mark.parametrize("number", [*DOUBLES, -1.1030161663305387, 2.0**1023, 0.1 + 0.2])
def test_a_portable_double_stays_and_another_one_gets_a_near_neighbour(number: float) -> None:
    other = portable(number)
    assert parse_fast(format_double(other)) == other
    assert portable(other) == other
    assert struct.pack("<d", portable(1.5)) == struct.pack("<d", 1.5)
    if 1e-8 < abs(number) < 1e22:
        assert abs(other - number) <= abs(number) * 1e-14


def test_long_texts_are_read_as_the_fast_parser_does() -> None:
    """The steps of the algorithm, each with a number that tells it from the exact one."""
    assert parse_fast("-1.1030161663305387") == -1.103016166330539
    assert parse_fast("18446744073709551615") == 18446744073709551615.0
    assert parse_fast("123456789012345678901234567890") == 1.2345678901234566e29
    assert parse_fast("0." + "0" * 400 + "1") == 0.0
    # Seventeen digits count: the last nine is added to a double that was rounded up already.
    assert parse_fast("0.99999999999999999") == (1e16 * 10 + 9) / 1e17 == 1.0000000000000002
    assert parse_fast("0.999999999999999999") == 1.0000000000000002
    assert parse_fast("1e309") == float("inf")
    assert parse_fast("0e999") == 0.0
    assert parse_fast("5e-324") == 5e-324
    assert parse_fast("1e-400") == 0.0
