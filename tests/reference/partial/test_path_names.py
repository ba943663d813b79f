"""Which names stand in a path without quotes: the low byte of a code point decides (observed on 9.7.4)."""

from __future__ import annotations

import pytest

from conformance.reference.errors import MysqlError
from conformance.reference.partial.paths import Cell, CellRange, Member, is_identifier, parse_path
from tests.reference.refusals import refused


@pytest.mark.parametrize("page", [0x400, 0x1F400])
def test_letters_and_digits_by_their_low_byte(page: int) -> None:
    for low in range(256):
        letter = 0x41 <= low <= 0x5A or 0x61 <= low <= 0x7A or 0x80 <= low <= 0xFE
        assert is_identifier(chr(page + low)) is letter, hex(low)
        assert is_identifier("ä" + chr(page + low)) is (letter or 0x30 <= low <= 0x39), hex(low)


def test_signs_that_are_letters_and_signs_that_only_follow() -> None:
    for name in ("$", "_", "ä$", "$ä", "_ä_", "ä\u203f", "ä\u0300", "ä\u036f", "a\u200d", "\u0370", "ä\u0370"):
        assert is_identifier(name), name
    for name in ("", "\u203f", "\u0300", "\u036f", "ä-", "-ä", "\udc80", "ä\udcff", "\udc80ä", "ä b"):
        assert not is_identifier(name), name


def test_quoted_names_end_at_their_quote() -> None:
    for text, name in (('$.""', ""), ('$."\\\\"', "\\"), ('$."\\""', '"'), ('$."\udcff"', "\udcff"), ('$."a"', "a")):
        assert parse_path(text).legs == (Member(name),)
        assert parse_path(text + ".b").legs == (Member(name), Member("b"))


def test_a_range_may_be_one_cell_and_an_index_is_of_digits() -> None:
    assert parse_path("$[1 to 1]").legs == (CellRange(Cell(1), Cell(1)),)
    assert parse_path("$[last-1 to last-1]").legs == (CellRange(Cell(1, True), Cell(1, True)),)
    assert parse_path("$[0004294967295]").legs == (Cell(4294967295),)
    assert parse_path("$[last-10]").legs == (Cell(10, True),)
    for text in ("$[X]", "$[X0]", "$[1X]"):
        assert refused(parse_path, text).code == "mysql-3143"


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("$****.a", 3),
        ('$."\\ud800"', 2),  # no UTF-8 has this surrogate
        ('$."\\udc80"', 2),  # observed on 9.7.4
        ('$."\ud800"', 2),
        ('$."a\nb"', 2),
        ("$[1 to", 6),
        ("$[1 to]", 6),  # observed on 9.7.4
        ("$[last to]", 9),
        ("$[1 to ]", 7),
        ("$[1 to2]", 6),
        ("$[1 2]", 4),
    ],
)
def test_a_path_that_cannot_be_is_refused_at_its_character(text: str, position: int) -> None:
    error = refused(parse_path, text)
    assert isinstance(error, MysqlError)
    assert (error.number, error.symbol, error.offset) == (3143, "ER_INVALID_JSON_PATH", position)
