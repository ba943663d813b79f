"""Results that may not depend on the running Python: forms in messages, names, base64, others' JSON, deep calls."""

from __future__ import annotations

import sys
import unicodedata
from struct import pack

import pytest

from conformance.reference.portable import (
    base64_bytes,
    capitals,
    deeper_than,
    folded,
    is_number,
    read_json,
    room_for,
    shown,
    what_lacks,
)
from conformance.reference.tables.columns import FLOAT, ColumnType, encode_value, read_value
from conformance.reference.tables.columns import codec as codec_of
from conformance.reference.tables.create_table import parse_definition
from tests.reference.refusals import refused

VALUES: list[object] = [
    "", "it's", "both ' and \"", "a\\b\n\t\x00\x7f", "\xe9\u6587\U0001f600", b"\xc3'", ("\\xe9", 1.5, None),
    {"\xe9": [b"\xc3\xa9"]},
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=ascii)
def test_values_are_shown_as_repr_shows_them(value: object) -> None:
    assert shown(value) == repr(value)


def test_characters_that_a_later_unicode_brought_are_shown_as_they_are() -> None:
    assert shown("\u0897 \U0001fae9 \ua7cb") == "'\u0897 \U0001fae9 \ua7cb'"


NO_FORM = ["\x85", "\xa0", "\xad", "\u200b", "\u202e", "\u2028", "\ue000", "\ufeff", "\U000e0001"]


@pytest.mark.parametrize("char", NO_FORM)
def test_what_has_no_form_of_its_own_is_escaped(char: str) -> None:
    assert shown(char) == ascii(char)


def test_old_characters_are_shown_as_repr_shows_them() -> None:
    """All of the first plane that a Unicode as old as 3.2 knows: no version of Python differs about them."""
    known = [chr(point) for point in range(0x10000) if unicodedata.ucd_3_2_0.category(chr(point)) != "Cn"]
    assert len(known) > 50_000
    assert [char for char in known if shown(char) != repr(char)] == []


FOLDED = [
    ("Ab", "aB"), ("\xc9", "\xe9"), ("\u0416", "\u0436"), ("\u0391\u03a3", "\u03b1\u03c3"), ("\u212a", "k"),
    ("\uff21", "\uff41"), ("\u01c4", "\u01c6"),
]  # fmt: skip
NOT_FOLDED = [
    ("\u0391\u03a3", "\u03b1\u03c2"), ("\xe9", "e"), ("\u1e9e", "\xdf"), ("\u0220", "\u019e"), ("\u10a0", "\u2d00"),
    ("\ua7cb", "\u0264"), ("\u1c89", "\u1c8a"), ("\ua7dc", "\u019b"), ("\U00010400", "\U00010428"),
]  # fmt: skip


def test_names_are_folded_as_the_server_folds_them() -> None:
    """Observed on 9.7.4: a column is found by its name in small letters for these, and not for the others."""
    assert [pair for pair in FOLDED if folded(pair[0]) != folded(pair[1])] == []
    assert [pair for pair in NOT_FOLDED if folded(pair[0]) == folded(pair[1])] == []


def test_capitals_are_those_of_ascii() -> None:
    assert capitals("json_Array") == "JSON_ARRAY"
    assert capitals("aéß\u0264z") == "Aéß\u0264Z"


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("", b""), ("AAAA", b"\0\0\0"), ("AA==", b"\0"), ("AAA=", b"\0\0"), ("AA\nAA\n", b"\0\0\0"),
        ("+/+/", b"\xfb\xff\xbf"), ("A", None), ("AA", None), ("AAA", None), ("AAAA=", None), ("AAAA====", None),
        ("AA==AAAA", None), ("AA==A", None), ("====", None), ("A===", None), ("AA=A", None), ("AA =", None),
        ("-_-_", None), ("A" * 169, None), ("\xc0AAA", None),
    ],
)  # fmt: skip
def test_base64_is_whole_and_has_the_padding_that_it_needs(text: str, data: bytes | None) -> None:
    assert base64_bytes(text) == data


def test_json_of_other_programs_has_one_hundred_levels() -> None:
    assert read_json('{"a": [1, {}]}') == {"a": [1, {}]}
    assert not deeper_than(100, read_json("[" * 100 + "]" * 100))
    for text in (
        "[" * 101 + "]" * 101,
        '{"a":' * 101 + "1" + "}" * 101,
        "[" * 5000 + "]" * 5000,
        "[" * 100_000,
        "[1,]",
    ):
        with pytest.raises(ValueError, match=r"."):
            read_json(text)


def test_a_scalar_is_no_level() -> None:
    assert not deeper_than(0, "x")
    assert deeper_than(0, [])
    assert deeper_than(1, {"a": {}})
    assert not deeper_than(1, {"a": 1, "b": None})


def test_numbers_have_the_digits_of_ascii() -> None:
    assert is_number("0123456789")
    for text in ("", "-1", "1.0", "\u0663", "\U00011f50", "1\u00b2"):
        assert not is_number(text)


@pytest.mark.parametrize("where", ["a CHAR({})", "a DECIMAL({},2)", "a DECIMAL(5,{})", "a BIT({})", "a DATETIME({})"])
def test_a_definition_with_thousands_of_digits_is_refused(where: str) -> None:
    error = refused(parse_definition, f"CREATE TABLE t ({where.format('1' * 5000)})")
    assert (error.code, "a number is too long" in error.message) == ("statement", True)


def test_of_foreign_errors_only_a_missing_name_is_told() -> None:
    assert what_lacks(KeyError("columns")) == ": 'columns' is missing"
    assert what_lacks(TypeError("words of Python")) == ""


def test_there_is_room_for_deep_calls_and_none_is_left_behind() -> None:
    before = sys.getrecursionlimit()

    def down(levels: int) -> int:
        return down(levels - 1) + 1 if levels else 0

    with pytest.raises(RecursionError):
        down(before)
    with room_for(2 * before):
        with room_for(10):
            assert down(before) == before
        assert down(before) == before
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize("word", [0x7FAD0001, 0x7F800001, 0xFFADADAD, 0x7FC00000, 0xFF800001, 0x7F800000, 0x3F800000])
def test_a_float_keeps_all_its_bits_also_where_it_is_no_number(word: int) -> None:
    data = pack("<I", word)
    column = ColumnType(FLOAT, 4)
    value, end = read_value(codec_of(column, unsigned=False), data, 0)
    assert (encode_value(column, value), end) == (data, 4)


def test_a_value_of_another_type_is_refused_as_before() -> None:
    error = refused(encode_value, ColumnType(FLOAT, 4), "x")
    assert (error.code, error.message, error.got) == ("bad-value", "not a value of this column", "'x'")
