"""The second implementations of paths, table metadata and functions, held against examples of the sheets alone."""

from __future__ import annotations

import json

import pytest

from conformance.reference.jsonb.values import UInt
from fuzz.mutators.calls import call
from fuzz.mutators.draw import SeedDraw
from fuzz.naive import expressions, paths, table_metadata
from fuzz.naive.documents import identical
from fuzz.naive.pieces import Refused
from fuzz.naive.table_metadata import Rules
from fuzz.naive.terms import NULL, NoOpinion, Term, parsed

# partial-update 4.1: path, legs, canonical text.
PATHS = [
    ("$", [], "$"),
    ("$[0].a", [("cell", 0), ("member", "a")], "$[0].a"),
    (" $ [ 007 ] . a ", [("cell", 7), ("member", "a")], "$[7].a"),
    ("$[last].b[last-2]", [("last", 0), ("member", "b"), ("last", 2)], "$[last].b[last-2]"),
    ('$."a"."a b"', [("member", "a"), ("member", "a b")], '$.a."a b"'),
    ('$."1a".a1', [("member", "1a"), ("member", "a1")], '$."1a".a1'),
    ('$."".é.文', [("member", ""), ("member", "é"), ("member", "文")], '$."".é.文'),
    ('$."\\u0101"."ÿ"', [("member", "ā"), ("member", "ÿ")], '$."ā"."ÿ"'),
    ("$.Ł", [("member", "Ł")], "$.Ł"),
    ("$[ 1 to last - 2 ]", [("several", "[1 to last-2]")], "$[1 to last-2]"),
    ("$.*[*]**.a", [("several", ".*"), ("several", "[*]"), ("several", "**"), ("member", "a")], "$.*[*]**.a"),
    ('$."**"', [("member", "**")], '$."**"'),
    ("$** **.a", [("several", "**"), ("several", "**"), ("member", "a")], "$****.a"),
]


@pytest.mark.parametrize(("text", "legs", "canonical"), PATHS)
def test_a_path_has_its_legs_and_its_text(text: str, legs: list[paths.Leg], canonical: str) -> None:
    assert paths.read(text.encode()) == legs
    assert paths.write(legs) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "", "a", "$x", "$.", "$[", "$[-1]", "$[4294967296]", "$.1a", "$.ā", "$.ÿ", "$.\u0301", "$.\u203f", "$**",
        "$****.a", "$[1 to]", "$[1 to2]", "$[0to 1]", "$[1 to 0]", "$[last to last-1]", '$."a', '$."\\udc80"',
        '$."\\ud83d"', "$[LAST]",
    ],
)  # fmt: skip
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        paths.read(text.encode())


def test_bytes_that_are_not_utf8_stand_between_quotes_only() -> None:
    assert paths.read(b'$."\xff"') == [("member", "\udcff")]
    with pytest.raises(Refused):
        paths.read(b"$.\xff")


YEAR, VARCHAR, LONG, STRING, VECTOR, GEOMETRY, BLOB = 13, 15, 3, 254, 242, 255, 252
SIZES = {YEAR: "", LONG: "", VARCHAR: "2800", VECTOR: "04", GEOMETRY: "04", BLOB: "02"}


def table(kinds: list[int | str], fields: str, rules: Rules = table_metadata.SHIPPED) -> table_metadata.Table:
    """A TABLE_MAP of columns, given by type or, for type 254, by their two bytes of metadata."""
    types = bytes(STRING if isinstance(kind, str) else kind for kind in kinds)
    details = bytes.fromhex("".join(kind if isinstance(kind, str) else SIZES[kind] for kind in kinds))
    head = b"\x07\0\0\0\0\0\x01\0\x01d\0\x01t\0" + bytes((len(types),)) + types + bytes((len(details),)) + details
    return table_metadata.read(head + b"\x02".ljust((len(types) + 7) // 8, b"\0") + bytes.fromhex(fields), rules)


def test_the_head_of_a_table() -> None:
    found = table([LONG, VARCHAR], "")
    assert found[:4] == (7, 1, "d", "t")
    assert [(c.kind, c.metadata, c.nullable) for c in found.columns] == [(3, b"", False), (15, b"\x28\x00", True)]


def test_signs_have_their_first_bit_on_top() -> None:
    found = table([LONG] * 9, "0102a080")  # the example of table-map-metadata 3.1
    assert [c.unsigned for c in found.columns] == [True, False, True, False, False, False, False, False, True]


@pytest.mark.parametrize(("counted", "signs"), [(True, [True, False, False]), (False, [False, True, False])])
def test_year_has_its_place_among_the_signs_or_none(counted: bool, signs: list[bool]) -> None:
    assert [c.unsigned for c in table([YEAR, LONG, VARCHAR], "010180", Rules(counted)).columns] == signs


# Columns, fields, attribute, values: the examples of table-map-metadata 3.2 to 3.9.
DESCRIBED: list[tuple[list[int | str], str, str, list[object]]] = [
    ([VARCHAR, VARCHAR, LONG, VARCHAR], "0205fcff00000b", "collation", [11, 255, None, 255]),
    ([VARCHAR, VARCHAR], "0304fcff0008", "collation", [255, 8]),
    ([VECTOR, BLOB, GEOMETRY, "fe28"], "02013f", "collation", [63, 63, None, 63]),
    (["f701", "f801", "f701", "f701"], "0b08 08 fcff00 0b fcff00", "collation", [8, 255, 11, 255]),
    (["f701", VARCHAR, "f801"], "0a03 08 01 0b", "collation", [8, None, 11]),
    (["f701", "f801"], "0505020178 0179", "members", [None, (b"x", b"y")]),
    (["f701", "f801"], "0605020161 0162", "members", [(b"a", b"b"), None]),
    ([LONG, LONG], "0405016102c3a9", "name", ["a", "é"]),
    ([LONG, GEOMETRY, GEOMETRY], "07020103", "geometry", [None, 1, 3]),
    ([LONG, VARCHAR], "080101", "key", [None, (0, 0)]),
    ([LONG, VARCHAR], "090401030000", "key", [(1, 0), (0, 3)]),
    ([LONG, LONG, LONG, LONG], "0c01d0", "visible", [True, True, False, True]),
    ([VECTOR, LONG, VECTOR], "0d0402fc0008", "dimension", [2, None, 2048]),
]


@pytest.mark.parametrize(("kinds", "fields", "attribute", "values"), DESCRIBED)
def test_fields_describe_the_columns_that_they_count(
    kinds: list[int | str], fields: str, attribute: str, values: list[object]
) -> None:
    assert [getattr(column, attribute) for column in table(kinds, fields).columns] == values


def test_the_worklogs_numbers_and_unknown_fields() -> None:
    worklog = table([LONG, VARCHAR, GEOMETRY], "080401030000 090104", Rules(worklog=True))
    assert [(c.key, c.geometry) for c in worklog.columns] == [((1, 0), None), ((0, 3), None), (None, 4)]
    assert [c.key for c in table([LONG, VARCHAR], "07020100", Rules(worklog=True)).columns] == [(1, 0), (0, 0)]
    known = table([LONG], "0e03 0101ff")
    assert (known.fields, known.columns[0].unsigned) == ([(14, b"\x01\x01\xff")], False)
    inside = table([LONG], "0e03 0101ff", Rules(last=13))  # observed on 9.7.4: such a reader goes on in the value
    assert (inside.fields, inside.columns[0].unsigned) == ([(1, b"\xff")], True)


@pytest.mark.parametrize(
    "fields", ["01", "0102a0", "040261", "0a", "0a00", "0203080000ff", "090101", "0c01", "08 01 fb"]
)
def test_a_field_that_does_not_hold_its_items_is_refused(fields: str) -> None:
    with pytest.raises(Refused):
        table(["f701"], fields)


def test_a_type_whose_metadata_has_no_known_size_is_refused() -> None:
    with pytest.raises(Refused):
        table_metadata.read(b"\x07\0\0\0\0\0\x01\0\x01d\0\x01t\0\x01\xf0\0\0")


COLUMN = {"a": [1, {"b": None}], "c": "x"}
# partial-update 2.1, 2.2, 2.4, 2.5, and RFC 7396.
CALLS: list[tuple[str, object]] = [
    ("j", COLUMN),
    ("'[1, 4294967296, 2.5]'", [1, UInt(4294967296), 2.5]),
    ("JSON_SET(j, '$.c', 1, '$.d', '[1]', '$.e', TRUE)", {**COLUMN, "c": 1, "d": "[1]", "e": True}),
    ("JSON_SET('1', '$[0]', 2)", 2),
    ("JSON_SET('1', '$[3]', 2)", [1, 2]),
    ("JSON_SET('1', '$[last-1]', 2)", [2, 1]),
    ("JSON_SET('{\"a\": 1}', '$.a[7]', 2)", {"a": [1, 2]}),
    ("JSON_SET('[1]', '$.a', 2, '$[5]', NULL, '$[last-9]', 0)", [0, 1, None]),
    ("JSON_SET('{}', '$.x.y', 1)", {}),
    ("JSON_REPLACE('[1]', '$[0]', 2, '$[1]', 3)", [2]),
    ("JSON_INSERT('{\"a\": 1}', '$.a', 2, '$.b', 3, '$.a[0]', 4, '$.a[1]', 5)", {"a": [1, 5], "b": 3}),
    ("JSON_REMOVE('{\"a\": [1, 2], \"b\": 3}', '$.a[last]', '$.b[0]', '$.x')", {"a": [1]}),
    ("JSON_REMOVE('5', '$[0]')", 5),
    ("JSON_ARRAY_APPEND('{\"a\": 1, \"b\": [2]}', '$.a', 3, '$.b', 4, '$.c', 5)", {"a": [1, 3], "b": [2, 4]}),
    ("JSON_ARRAY_INSERT('[1, 2]', '$[1]', 'x', '$[9]', 3, '$[last-9]', 0, '$[last]', 9)", [0, 1, "x", 2, 9, 3]),
    ("JSON_ARRAY_INSERT('{\"a\": [1]}', '$[0].a[0]', 2, '$.a[0]', 0)", {"a": [0, 1]}),
    ("JSON_MERGE_PATCH('{\"a\": 1, \"b\": {\"c\": 2}}', '{\"a\": null, \"b\": {\"c\": null, \"d\": {\"e\": null}}}')",
     {"b": {"d": {}}}),
    ("JSON_MERGE_PATCH('{\"a\": null}', '{\"b\": [null]}')", {"a": None, "b": [None]}),
    ("JSON_MERGE_PATCH('[1]', '{\"a\": {\"b\": null}}')", {"a": {}}),
    ("JSON_MERGE_PATCH(NULL, '{}', '[1]')", [1]),
    ("JSON_MERGE_PRESERVE('[1]', '{\"a\": 1}', '2', 'null')", [1, {"a": 1}, 2, None]),
    ("JSON_MERGE_PRESERVE('{\"a\": null, \"b\": 1}', '{\"a\": [2], \"c\": 3}')", {"a": [None, 2], "b": 1, "c": 3}),
    ("JSON_SET(JSON_MERGE_PRESERVE(j, j), '$.a[1].b', 2)", {"a": [1, {"b": 2}, 1, {"b": None}], "c": ["x", "x"]}),
    ("json_set(JSON_REMOVE(j, '$.a'), '$.j', j)", {"c": "x", "j": COLUMN}),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "value"), CALLS)
def test_a_call_makes_its_document(sql: str, value: object) -> None:
    found = expressions.evaluate(sql, parsed(json.dumps(COLUMN)))
    assert found.kind == "json"
    assert identical(found.value, value), found  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "sql",
    [
        "NULL", "JSON_SET(NULL, '$', 1)", "JSON_SET(j, NULL, 1)", "JSON_REMOVE(j, '$.a', NULL)",
        "JSON_MERGE_PATCH('{}', NULL, '{}')", "JSON_MERGE_PRESERVE('1', NULL, '2')",
    ],
)  # fmt: skip
def test_a_call_makes_null(sql: str) -> None:
    assert expressions.evaluate(sql, 1) == NULL


@pytest.mark.parametrize(
    "sql",
    [
        "'{'", "'[1e999]'", "'\"\"\"'", "JSON_SET(j, '$.1a', 1)", "JSON_SET(j, '$[*]', 1)", "JSON_REMOVE(j, '$')",
        "JSON_REMOVE(j, '$.a', '$**.b')", "JSON_ARRAY_INSERT(j, '$.a', 1)", "JSON_ARRAY_INSERT(j, '$', 1)",
        "JSON_MERGE_PATCH('{}', 'nul')",
    ],
)  # fmt: skip
def test_a_call_is_refused(sql: str) -> None:
    with pytest.raises(Refused):
        expressions.evaluate(sql, 1)


@pytest.mark.parametrize(
    "sql",
    [
        "", "1", "JSON_SET(1, '$', 1)", "JSON_SET(j, '$')", "JSON_SET(j)", "JSON_REMOVE(j)", "JSON_MERGE_PATCH(j)",
        "j j", "JSON_SET(j",
        "JSON_SET(j, '$.a', 1.5)", "JSON_SET(j, '$.a', -1)", "JSON_SET(j, '$.a', 'it''s')", "JSON_SET(j, '$.a', '\\n')",
        "JSON_SET(j, '$.a', x'00')", "JSON_SET(j, '$.a', NOW())", "JSON_SET(j, '$.a', k)", "JSON_SET(j, j, 1)",
        "JSON_SET(j, '$.a' 1)", "JSON_SET(j, '$.1a', NULL)", "JSON_SET(j, '$.a', JSON_REMOVE(j, '$'))", "'[0e309]'",
        "JSON_SET(j, '$.a', 1234567890123456789)", "JSON_SET(j, '$.a', 'a\tb')", f"'{'[' * 101}{']' * 101}'",
    ],
)  # fmt: skip
def test_of_anything_else_there_is_no_opinion(sql: str) -> None:
    with pytest.raises(NoOpinion):
        expressions.evaluate(sql, 1)


def test_made_calls_are_what_the_evaluator_knows() -> None:
    outcomes = {"value": 0, "null": 0, "refused": 0, "none": 0}
    for seed in range(400):
        try:
            found = expressions.evaluate(call(SeedDraw(seed)), {"a": 1})
        except Refused:
            outcomes["refused"] += 1
        except NoOpinion:
            outcomes["none"] += 1
        else:
            assert isinstance(found, Term)
            outcomes["null" if found is NULL else "value"] += 1
    assert outcomes["none"] < 100
    assert min(outcomes.values()) > 20
