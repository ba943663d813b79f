"""Column values: each permitted form of a type, and the loss that the form must not hide."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from conformance.cases.decoder_case import Equality
from conformance.judge.decoding.column_values import differences_of_values
from conformance.judge.decoding.difference import DifferenceKind
from conformance.judge.decoding.log_columns import LogColumn

LATIN1, UTF8MB4, UTF16, BINARY = 8, 255, 54, 63
COLUMNS = {
    "int": LogColumn("c", "INT"),
    "big": LogColumn("c", "BIGINT", unsigned=True),
    "float": LogColumn("c", "FLOAT"),
    "double": LogColumn("c", "DOUBLE"),
    "decimal": LogColumn("c", "DECIMAL"),
    "year": LogColumn("c", "YEAR"),
    "date": LogColumn("c", "DATE"),
    "time": LogColumn("c", "TIME"),
    "datetime": LogColumn("c", "DATETIME"),
    "timestamp": LogColumn("c", "TIMESTAMP"),
    "bit": LogColumn("c", "BIT", length=10),
    "bit1": LogColumn("c", "BIT", length=1),
    "enum": LogColumn("c", "ENUM", members=("a", "2", "é")),
    "set": LogColumn("c", "SET", members=("a", "b", "c")),
    "unnamed": LogColumn("c", "ENUM"),
    "latin1": LogColumn("c", "VARCHAR", collation=LATIN1),
    "text": LogColumn("c", "TEXT", collation=UTF8MB4),
    "utf16": LogColumn("c", "CHAR", collation=UTF16),
    "binary": LogColumn("c", "BINARY", length=4, collation=BINARY),
    "varbinary": LogColumn("c", "VARBINARY", length=4, collation=BINARY),
    "vector": LogColumn("c", "VECTOR"),
    "json": LogColumn("c", "JSON"),
    "none": None,
}
MAX = 18446744073709551615
MOMENT = "2024-01-02 03:04:05"
DIFFS = {"diffs": [{"operation": "REPLACE", "path": "$.a", "value": 1}]}

SAME: list[tuple[Any, ...]] = [
    ("int", 1, "1"),
    ("int", 1, Decimal("1.0")),
    ("int", 1, 1.0),
    ("int", -1, "-1"),
    ("big", MAX, str(MAX)),
    ("big", MAX, Decimal(MAX)),
    ("float", Decimal("3.40282e38"), 3.4028234663852886e38),
    ("float", Decimal("1.1"), 1.100000023841858),
    ("float", Decimal("1.1"), "1.1"),
    ("float", Decimal("-0"), "-0.0"),
    ("double", Decimal("0.1"), "0.1"),
    ("double", 1, 1.0),
    ("double", Decimal("-0"), -0.0),
    ("decimal", "1.50", 1.5),
    ("decimal", "1.50", "1.5"),
    ("decimal", "-0.10", "-.1"),
    ("decimal", "1.50", Decimal("1.500")),
    ("decimal", "12345678901234567890.12", Decimal("12345678901234567890.12")),
    ("year", "2024", 2024),
    ("year", "0000", 0),
    ("date", "2024-01-02", date(2024, 1, 2)),
    ("date", "0000-00-00", "0000-00-00"),
    ("datetime", MOMENT, MOMENT + ".000000"),
    ("datetime", MOMENT + ".500", MOMENT + ".5"),
    ("datetime", MOMENT, "2024-01-02T03:04:05"),
    ("datetime", MOMENT, datetime(2024, 1, 2, 3, 4, 5)),  # noqa: DTZ001
    ("timestamp", MOMENT, "2024-01-02T03:04:05Z"),
    ("timestamp", MOMENT, "2024-01-02 03:04:05+00:00"),
    ("time", "-838:59:59", "-838:59:59.000"),
    ("time", "-00:00:01.5", timedelta(seconds=-1.5)),
    ("bit", {"hex": "0205"}, 0x0205),
    ("bit", {"hex": "0205"}, "1000000101"),
    ("bit", {"hex": "0205"}, "517"),
    ("bit", {"hex": "0205"}, b"\2\5"),
    ("bit1", {"hex": "01"}, True),
    ("bit1", {"hex": "00"}, False),
    ("enum", "2", "2"),
    ("enum", "", 0),
    ("enum", {"index": 1}, "a"),
    ("enum", {"index": 1}, {"index": "1"}),
    ("unnamed", {"index": 1}, 1),
    ("set", "a,c", "c,a"),
    ("set", "a,c", ["a", "c"]),
    ("set", "a,c", {"a", "c"}),
    ("set", "", []),
    ("set", {"index": 5}, "a,c"),
    ("latin1", "é", {"hex": "e9"}),
    ("int", 1, {"hex": "31"}),
    ("latin1", "é", {"base64": "6Q=="}),
    ("latin1", "é", b"\xe9"),
    ("text", "é", {"hex": "c3a9"}),
    ("utf16", "a", {"hex": "0061"}),
    ("text", {"hex": "ff"}, b"\xff"),
    ("varbinary", {"hex": "6100"}, {"hex": "6100"}),
    ("varbinary", {"hex": "c3a9"}, "é"),
    ("vector", {"hex": "0000803f00000040"}, [1, 2.0]),
    ("none", {"hex": "61"}, b"a"),
    ("none", 1, 1),
    ("json", {"json": 1}, {"json_text": "1"}),
    ("json", {"json": {"a": None}}, {"json": {"a": None}}),
    ("json", {"json": None}, {"json_text": "null"}),
    ("json", DIFFS, {"diffs": [{"operation": "replace", "path": '$."a"', "value": {"json_text": "1"}}]}),
    ("int", None, None),
    ("json", {"diffs": []}, {"diffs": []}),
]

OTHER: list[tuple[Any, ...]] = [
    ("int", 1, True, "BOOLEAN"),
    ("int", 1, False, "BOOLEAN"),
    ("int", 1, "", ""),
    ("int", 1, "one", ""),
    ("int", -1, 4294967295, "signedness"),
    ("int", 1, {"hex": "01"}, "hex"),
    ("int", 0, Decimal("-0"), "sign"),
    ("big", MAX, -1, "signedness"),
    ("big", MAX, 1.8446744073709552e19, "double"),
    ("big", MAX, "18446744073709551616", "double"),
    ("float", Decimal("1.1"), 1.2, ""),
    ("float", Decimal("1.1"), 1.10001, ""),
    ("float", Decimal("1.1"), 1e39, ""),
    ("double", Decimal("0.1"), 0.10000000149011612, "float"),
    ("double", Decimal("-0"), 0, "sign"),
    ("double", 0, Decimal("-0.0"), "sign"),
    ("decimal", "1.50", "1.5 ", ""),
    ("decimal", "12345678901234567890.12", 12345678901234567890.12, "double"),
    ("decimal", "1.50", "-1.50", "sign"),
    ("decimal", "0.10", 0, "fraction"),
    ("year", "2024", 24, ""),
    ("year", "2024", "24", ""),
    ("year", "0000", 2000, ""),
    ("date", "0000-00-00", "1970-01-01", ""),
    ("date", "2024-01-02", "2024-01-02 10:00:00", "no DATE"),
    ("date", "2024-01-02", "02-01-2024", "no DATE"),
    ("date", "2024-01-02", 19724, "number"),
    ("datetime", MOMENT + ".500", MOMENT, "fraction"),
    ("datetime", MOMENT, MOMENT + "+00:00", "no DATETIME"),
    ("datetime", MOMENT, "2024-01-02", "no DATETIME"),
    ("timestamp", MOMENT, "2024-01-02 05:04:05+02:00", "no TIMESTAMP"),
    ("timestamp", MOMENT, "2024-01-02 05:04:05", ""),
    ("time", "-838:59:59", "838:59:59", "sign"),
    ("time", "-00:00:01", timedelta(seconds=1), ""),
    ("bit", {"hex": "0205"}, 0x0502, "bits"),
    ("bit", {"hex": "0205"}, "0000000101", "bits"),
    ("bit", {"hex": "0205"}, b"\5", ""),
    ("bit", {"hex": "0205"}, True, "BOOLEAN"),
    ("bit1", {"hex": "01"}, False, "BOOLEAN"),
    ("enum", "2", 1, "member"),
    ("enum", "2", "a", "member"),
    ("enum", "é", "Ã©", "character set"),
    ("enum", "a", "", "member"),
    ("enum", "2", {"index": 3}, "member"),
    ("unnamed", {"index": 1}, 2, "member"),
    ("unnamed", {"index": 1}, "a", ""),
    ("set", "a,c", "a", "members"),
    ("set", "a,c", "a,b,c", "members"),
    ("set", "a,c", 4, "members"),
    ("set", "a", "", "members"),
    ("latin1", "é", {"hex": "c3a9"}, "bytes"),
    ("latin1", "é", "Ã©", "character set"),
    ("text", "é", {"hex": "e9"}, "bytes"),
    ("text", "1", 1, "number"),
    ("text", "a ", "a", "filling"),
    ("text", {"hex": "ff"}, "\ufffd", "bytes"),
    ("text", {"hex": "ff"}, "ÿ", "bytes"),
    ("binary", {"hex": "61000000"}, {"hex": "62"}, "bytes"),
    ("varbinary", {"hex": "6100"}, {"hex": "61"}, "cut"),
    ("varbinary", {"hex": "6100"}, {"hex": "610000"}, "bytes"),
    ("varbinary", {"hex": "ff"}, "\ufffd", "bytes"),
    ("vector", {"hex": "0000803f"}, [1.5], "bytes"),
    ("vector", {"hex": "0000803f"}, ["x"], ""),
    ("none", "1.50", 1.5, "number"),
    ("none", 1, "2", ""),
]

NOTHING: list[tuple[Any, ...]] = [
    ("int", None, 0, DifferenceKind.NULL),
    ("text", None, "", DifferenceKind.NULL),
    ("text", "", None, DifferenceKind.NULL),
    ("json", None, {"json": None}, DifferenceKind.NULL),
    ("json", {"json": None}, None, DifferenceKind.NULL),
    ("json", {"diffs": []}, None, DifferenceKind.NULL),
    ("json", DIFFS, None, DifferenceKind.NULL),
    ("date", "0000-00-00", None, DifferenceKind.NULL),
    ("json", None, {"diffs": []}, DifferenceKind.NULL),
    ("json", {"json": 1}, {"diffs": []}, DifferenceKind.FORM),
    ("json", {"json": 1}, 1, DifferenceKind.FORM),
    ("json", {"json": {"a": 1}}, {"a": 1}, DifferenceKind.FORM),
    ("json", {"json": 1}, "1", DifferenceKind.FORM),
    ("json", DIFFS, {"json": 1}, DifferenceKind.FORM),
    ("json", DIFFS, {"diffs": {}}, DifferenceKind.FORM),
    ("json", {"json": 1}, {"json_text": "{"}, DifferenceKind.FORM),
    ("json", {"json": 1}, {"hex": "00"}, DifferenceKind.FORM),
]


@pytest.mark.parametrize(("column", "expected", "got"), SAME, ids=range(len(SAME)))
def test_a_permitted_form_is_the_same_value(column: str, expected: Any, got: Any) -> None:
    assert differences_of_values(COLUMNS[column], expected, expected, None, "c") == []
    assert differences_of_values(COLUMNS[column], expected, got, None, "c") == []


@pytest.mark.parametrize(("column", "expected", "got"), [("enum", "2", 2), ("enum", "a", "1"), ("set", "a,c", 5),
                                                           ("enum", "2", {"index": 2})])  # fmt: skip
def test_a_number_is_the_same_member_without_its_name(column: str, expected: str, got: Any) -> None:
    (found,) = differences_of_values(COLUMNS[column], expected, got, None, "c")
    assert (found.kind, found.level, found.cause) == (DifferenceKind.TYPE, Equality.TYPE, "as a number")


@pytest.mark.parametrize(("column", "expected", "got", "cause"), OTHER, ids=map(repr, OTHER))
def test_another_value_is_told(column: str, expected: Any, got: Any, cause: str) -> None:
    (found,) = differences_of_values(COLUMNS[column], expected, got, None, "c")
    assert found.kind is DifferenceKind.ALTERED
    assert cause in found.cause


@pytest.mark.parametrize(("column", "expected", "got", "kind"), NOTHING)
def test_the_kinds_of_nothing_and_of_documents_are_apart(
    column: str, expected: Any, got: Any, kind: DifferenceKind
) -> None:
    (found,) = differences_of_values(COLUMNS[column], expected, got, None, "c")
    assert found.kind is kind


def test_a_document_for_diffs_is_held_against_the_resolved_one() -> None:
    resolved = {"json": {"a": 1, "b": 2}}
    assert differences_of_values(COLUMNS["json"], DIFFS, {"json": {"b": 2, "a": 1}}, resolved, "c") == []
    (found,) = differences_of_values(COLUMNS["json"], DIFFS, {"json": {"a": 0, "b": 2}}, resolved, "c")
    assert (found.kind, found.place) == (DifferenceKind.ALTERED, "c.$.a")
    unchanged = differences_of_values(COLUMNS["json"], {"diffs": []}, {"json": {}}, resolved, "c")
    assert {item.cause for item in unchanged} == {"missing member"}


@pytest.mark.parametrize(
    ("got", "level"),
    [({"hex": "01020000"}, None), ({"hex": "0102"}, Equality.TYPE), ({"hex": ""}, Equality.VALUE)],
)
def test_the_closing_zeros_of_binary_are_a_matter_of_its_type(got: object, level: Equality | None) -> None:
    found = differences_of_values(COLUMNS["binary"], {"hex": "01020000"}, got, None, "after.c")
    assert [item.level for item in found] == ([] if level is None else [level])
