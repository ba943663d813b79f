"""Documents: each permitted form of a value is that value, and beside each stands a loss that it must not hide."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from conformance.cases.decoder_case import Equality
from conformance.judge.decoding.difference import DifferenceKind
from conformance.judge.decoding.documents import differences_of_documents, document_in
from conformance.judge.decoding.exact_json import parse


def tag(name: str, text: str, **more: Any) -> dict[str, Any]:
    return {"$type": name, "text": text, **more}


BLOB = {"$type": "BLOB", "field_type": 252, "hex": "616263ff"}
TEXT_BLOB = {"$type": "BLOB", "field_type": 252, "hex": "616263"}
BITS = {"$type": "BIT", "field_type": 16, "hex": "0105"}
DECIMAL = tag("DECIMAL", "12345678901234567890.1230")
DATETIME = tag("DATETIME", "2024-01-02 03:04:05.000000")
TIME = tag("TIME", "-01:02:03.500000")
DATE = tag("DATE", "2024-01-02")
STAMP = tag("TIMESTAMP", "2024-01-02 03:04:05.600000")
BIG = 9007199254740993

# Expected value, a form of it, and the level at which the two are equal.
SAME: list[tuple[Any, ...]] = [
    (None, None, Equality.TYPE),
    (True, True, Equality.TYPE),
    ("a", "a", Equality.TYPE),
    ("é", "é".encode(), Equality.TYPE),
    (1, 1, Equality.TYPE),
    (1, 1.0, Equality.VALUE),
    (1, Decimal("1.0"), Equality.VALUE),
    (1, tag("INTEGER", "1"), Equality.TYPE),
    (BIG, BIG, Equality.TYPE),
    (BIG, str(BIG), Equality.VALUE),
    (-BIG, f"-{BIG}", Equality.VALUE),
    (tag("UNSIGNED INTEGER", "18446744073709551615"), 18446744073709551615, Equality.VALUE),
    (tag("UNSIGNED INTEGER", "18446744073709551615"), tag("UNSIGNED INTEGER", "18446744073709551615"), Equality.TYPE),
    (1.0, 1.0, Equality.TYPE),
    (1.0, 1, Equality.VALUE),
    (0.1, Decimal("0.1"), Equality.TYPE),
    (-0.0, -0.0, Equality.TYPE),
    (0.1, Decimal("0.1000000000000000055511151231257827"), Equality.TYPE),
    (1e20, 10**20, Equality.VALUE),
    (1.7976931348623157e308, Decimal("1.7976931348623157E+308"), Equality.TYPE),
    (5e-324, Decimal("4.9e-324"), Equality.TYPE),
    (DECIMAL, DECIMAL, Equality.TYPE),
    (DECIMAL, "12345678901234567890.123", Equality.VALUE),
    (DECIMAL, Decimal("12345678901234567890.1230"), Equality.VALUE),
    (tag("DECIMAL", "0.10"), 0.1, Equality.VALUE),
    (tag("DECIMAL", "0.10"), tag("DECIMAL", "0.1"), Equality.VALUE),
    (tag("DECIMAL", "3"), 3, Equality.VALUE),
    (DATETIME, "2024-01-02 03:04:05", Equality.VALUE),
    (DATETIME, "2024-01-02T03:04:05.000", Equality.VALUE),
    (DATETIME, datetime(2024, 1, 2, 3, 4, 5), Equality.VALUE),  # noqa: DTZ001
    (DATETIME, tag("DATETIME", "2024-01-02 03:04:05"), Equality.TYPE),
    (DATETIME, DATETIME, Equality.TYPE),
    (DATE, "2024-01-02", Equality.VALUE),
    (DATE, "2024-01-02 00:00:00.000000", Equality.VALUE),
    (DATE, date(2024, 1, 2), Equality.VALUE),
    (TIME, "-01:02:03.5", Equality.VALUE),
    (TIME, timedelta(hours=-1, minutes=-2, seconds=-3.5), Equality.VALUE),
    (STAMP, "2024-01-02T03:04:05.6Z", Equality.VALUE),
    (STAMP, tag("DATETIME", STAMP["text"]), Equality.VALUE),
    (BLOB, "base64:type252:YWJj/w==", Equality.VALUE),
    (BLOB, "YWJj/w==", Equality.VALUE),
    (BLOB, b"abc\xff", Equality.VALUE),
    (BLOB, {"hex": "616263FF"}, Equality.VALUE),
    (BLOB, {"base64": "YWJj/w=="}, Equality.VALUE),
    (BLOB, BLOB, Equality.TYPE),
    (TEXT_BLOB, "abc", Equality.VALUE),
    (BITS, 0x0105, Equality.VALUE),
    (BITS, BITS, Equality.TYPE),
    ({"a": 1, "b": [None]}, {"b": [None], "a": 1}, Equality.TYPE),
    ({"a": 1}, {b"a": 1}, Equality.TYPE),
    ({"$object": [["$type", "DATE"]]}, {"$type": "DATE"}, Equality.TYPE),
    ({"$object": [["$a", 1]]}, {"$object": [["$a", 1]]}, Equality.TYPE),
    ({"$object": [["$a", 1]]}, {"$a": 1}, Equality.TYPE),
    ({"$object": [["$object", [["a", 1]]]]}, {"$object": [["a", 1]]}, Equality.TYPE),
]

# Expected value, what must never pass for it, and a word of the cause.
OTHER: list[tuple[Any, ...]] = [
    (None, {}, "OBJECT"),
    (None, False, "BOOLEAN"),
    (None, "null", "STRING"),
    (None, 0, "INTEGER"),
    (True, 1, "INTEGER"),
    (False, 0, "INTEGER"),
    (True, "true", "STRING"),
    (True, False, "BOOLEAN"),
    (1, True, "BOOLEAN"),
    (0, False, "BOOLEAN"),
    (1, "1", "STRING"),
    ("1", 1, "INTEGER"),
    ("1", "1.0", "longer"),
    (1, {"json_text": "1"}, "OBJECT"),
    (0, Decimal("-0"), "sign"),
    (1, -1, "sign"),
    (BIG, 9007199254740992, "rounded to a double"),
    (BIG, 9007199254740992.0, "rounded to a double"),
    (str(BIG), BIG, "INTEGER"),
    (BIG - 2, str(BIG - 2), "STRING"),
    (-1, 18446744073709551615, "signedness"),
    (tag("UNSIGNED INTEGER", "18446744073709551615"), -1, "signedness"),
    (tag("UNSIGNED INTEGER", "18446744073709551615"), 1.8446744073709552e19, "rounded to a double"),
    (-0.0, 0.0, "sign"),
    (-0.0, 0, "sign"),
    (0.0, -0.0, "sign"),
    (1.0, "1.0", "STRING"),
    (0.1, Decimal("0.1000000001"), ""),
    (0.1, 0.10000000149011612, "rounded to a float"),
    (1.5, 1, "fraction"),
    (DECIMAL, 12345678901234567890.123, "rounded to a double"),
    (DECIMAL, "12345678901234567890.12", ""),
    (DECIMAL, "twelve", "STRING"),
    (tag("DECIMAL", "0.10"), "0.11", "fraction"),
    (tag("DECIMAL", "1"), True, "BOOLEAN"),
    (DATETIME, "2024-01-02", "no DATETIME"),
    (DATETIME, "2024-01-02 03:04:05.000001", "fraction"),
    (DATETIME, "2024-01-02 03:04:06", ""),
    (DATETIME, tag("TIME", "03:04:05"), "no DATETIME"),
    (DATETIME, "2024-01-02T03:04:05Z", "no DATETIME"),
    (DATETIME, 1704164645, "INTEGER"),
    (tag("DATETIME", "2024-01-02 00:00:00.000000"), "2024-01-02", "no DATETIME"),
    (DATE, "2024-01-02 00:00:01", "no DATE"),
    (DATE, None, "NULL"),
    (TIME, "01:02:03.5", "sign"),
    (TIME, "-01:02:03", "fraction"),
    (TIME, "-1:02:03.500001", "fraction"),
    (TIME, timedelta(hours=1), ""),
    (STAMP, "2024-01-02T03:04:05.6+02:00", "no TIMESTAMP"),
    (BLOB, "base64:type15:YWJj/w==", "type number"),
    (BLOB, "base64:type252:YWJj", "bytes"),
    (BLOB, "abc\ufffd", "bytes"),
    (BLOB, b"abc", "bytes"),
    (BLOB, {"hex": "616263"}, "bytes"),
    (BLOB, 1633837055, "INTEGER"),
    (BITS, 0x0501, "number"),
    (BITS, True, "BOOLEAN"),
    ("a", b"b", "bytes"),
    ("a ", "a", "filling"),
    ("é", "Ã©", "character set"),
    ("Ã©", "é", "character set"),
    ("é", "\ufffd", "replaced"),
    ("abc", "ab", "cut"),
    ("abc", "", "empty"),
    ("a", None, "NULL"),
    ("{}", {}, "OBJECT"),
    ({}, [], "ARRAY"),
    ([], {}, "OBJECT"),
    ([], None, "NULL"),
    ([1], [1, 2], "number of elements"),
    ([1, 2], [2, 1], ""),
    ([[]], [], "elements"),
    ({"a": 1}, {}, "missing member"),
    ({"a": None}, {}, "missing member"),
    ({}, {"a": None}, "invented member"),
    ({"a": 1}, {"$object": [["a", 1], ["a", 1]]}, "repeated member"),
    ({"a": 1}, {"A": 1}, "member"),
    ({"$object": [["$a", 1]]}, {"$object": [["$a", 2]]}, ""),
    ({"a": 1}, tag("DATE", "2024-01-02"), "DATE"),
]


@pytest.mark.parametrize(("expected", "got", "level"), SAME)
def test_a_permitted_form_is_the_same_value(expected: Any, got: Any, level: Equality) -> None:
    found = differences_of_documents(expected, got, "$")
    assert [item.kind for item in found] == ([] if level is Equality.TYPE else [DifferenceKind.TYPE])


@pytest.mark.parametrize(("expected", "got", "cause"), OTHER)
@pytest.mark.parametrize("where", ["alone", "in an array", "in an object"])
def test_another_value_is_told(expected: Any, got: Any, cause: str, where: str) -> None:
    if where == "in an array":
        found = differences_of_documents([0, expected], [0, got], "$")
    elif where == "in an object":
        found = differences_of_documents({"k": expected}, {"k": got}, "$")
    else:
        found = differences_of_documents(expected, got, "$")
    altered = [item for item in found if item.kind is DifferenceKind.ALTERED]
    assert altered
    assert cause in altered[0].cause


def test_where_types_are_declared_a_tag_is_a_tag() -> None:
    real, tagged = {"$object": [["$type", "DATE"], ["text", "2024-01-02"]]}, {"$type": "DATE", "text": "2024-01-02"}
    assert not differences_of_documents(real, tagged, "$")
    assert differences_of_documents(real, tagged, "$", tagged=True)
    assert not differences_of_documents(real, real, "$", tagged=True)


def test_places_name_members_and_elements() -> None:
    found = differences_of_documents({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "after.j.$")
    assert [item.place for item in found] == ["after.j.$.a[1].b"]


@pytest.mark.parametrize(
    ("form", "wrong"),
    [
        ({"json": 1}, ""),
        ({"json_text": "1"}, ""),
        ({"json_text": b"[]"}, ""),
        ({"json_text": "NaN"}, "text that is no JSON"),
        ({"json_text": "1 2"}, "text that is no JSON"),
        ({"json_text": ""}, "text that is no JSON"),
        ({"json_text": None}, "json_text that is no text"),
        ({"json_text": "[" * 100_000}, "text that is no JSON"),
        (1, "no document"),
        ({"a": 1}, "no document"),
        ({"json": 1, "a": 1}, "no document"),
        ([1], "no document"),
    ],
)
def test_a_document_has_one_of_two_forms(form: Any, wrong: str) -> None:
    assert document_in(form)[1] == wrong


@pytest.mark.parametrize("text", ["12345678901234567890.1234567890", "1e400", "-0", "-0.0", "9" * 5000, "1.0"])
def test_text_keeps_the_digits_of_numbers(text: str) -> None:
    assert Decimal(parse(text)).as_tuple() == Decimal(text).as_tuple()


def test_text_keeps_repeated_members() -> None:
    assert parse('{"a": {"k": 1, "k": 2}}') == {"a": {"$object": [["k", 1], ["k", 2]]}}


def test_a_number_without_end_is_compared_at_once() -> None:
    assert differences_of_documents(1, Decimal("1e999999999"), "$")
    assert differences_of_documents(1.5, Decimal("1e999999999"), "$")
