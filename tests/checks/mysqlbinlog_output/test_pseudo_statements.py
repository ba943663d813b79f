"""Printed updates as SQL, and what the text cannot carry."""

from __future__ import annotations

import pytest

from conformance.checks.mysqlbinlog_output import pseudo_statements as pseudo
from conformance.checks.mysqlbinlog_output.pseudo_statements import Result, expression, predict, printed_updates
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.opaque import date, decimal_from_text
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.paths import parse_path
from conformance.reference.tables.columns import PartialJson

TEXT = b"""### INSERT INTO `s`.`copy`
### SET
###   @1=1
### UPDATE `s`.`t`
### WHERE
###   @1=1
###   @2='### SET'
### SET
###   @2=JSON_INSERT(
###      JSON_REMOVE(@2, '$."@2"'),
###      '$.a', '@2')
###   @3=NULL
### UPDATE `s`.`other`
### WHERE
### SET
###   @1=2
### UPDATE `s`.`t`
### WHERE
### SET
###   @2=@2
"""


def diffs(*values: object) -> PartialJson:
    return PartialJson(encode_diffs([Diff(Operation.REPLACE, parse_path("$.a"), value) for value in values]))  # type: ignore[arg-type]


def test_the_new_values_of_each_update_of_the_table_are_read() -> None:
    first = b"""JSON_INSERT(\nJSON_REMOVE(@2, '$."@2"'),\n'$.a', '@2')"""
    assert printed_updates(TEXT, "s", "t") == [{2: first, 3: b"NULL"}, {2: b"@2"}]


def test_only_the_column_is_named_and_only_foreign_escapes_are_rewritten() -> None:
    text = rb"""JSON_INSERT(@2, '$."@2"', 'it\'s @2 \\x0c \x0c\f\x00\n', '$.b', @12)"""
    assert expression(text, 2, "`j`") == (
        "JSON_INSERT(`j`, '$.\"@2\"', 'it\\'s @2 \\\\x0c \x0c\x0c\\0\\n', '$.b', @12)"
    )


@pytest.mark.parametrize(
    ("value", "text", "is_equal", "losses"),
    [
        (1, b"1", True, set()),
        ("1", b'"1"', True, set()),
        (1.5, b"1.5", True, {pseudo.DECIMALS}),
        (1e300, b"1e300", True, set()),
        (decimal_from_text("1.10"), b"1.10", True, set()),
        ([decimal_from_text("1.10")], b"[1.1]", True, {pseudo.DOUBLES}),
        (date(2024, 1, 2), b'"2024-01-02"', False, {pseudo.TYPES}),
        ([date(2024, 1, 2)], b'["2024-01-02"]', False, {pseudo.TYPES}),
        ([1, "x", None, True, {"k": 2.5}], b'[1, "x", null, true, {"k": 2.5}]', True, set()),
    ],
)
def test_what_the_text_cannot_carry_of_a_diff_is_foretold(
    value: object, text: bytes, is_equal: bool, losses: set[str]
) -> None:
    after = encode({"a": value})  # type: ignore[dict-item]
    found = predict(encode({"a": 0}), diffs(value), after)
    assert found == pseudo.Predicted(Result(b'{"a": ' + text + b"}", is_equal), frozenset(losses))


def test_a_whole_document_is_read_as_text() -> None:
    assert predict(None, encode({"a": 1}), encode({"a": 1})).result == Result(b'{"a": 1}', True)
    assert predict(None, encode("a]"), encode("a]")) == pseudo.Predicted(
        Result(error=3140), frozenset({pseudo.BARE_STRING})
    )
    assert predict(None, encode("12"), encode("12")).result == Result(b"12", False)
    assert predict(encode(1), None, None).result == Result(None, True)


def test_an_equal_document_is_not_stored() -> None:
    before, after = encode({"a": -0.0}), encode({"a": 0})
    assert predict(before, diffs(0), after) == pseudo.Predicted(
        Result(b'{"a": -0.0}', True), frozenset({pseudo.UNCHANGED})
    )
    assert predict(before, diffs(1), encode({"a": 1})).losses == frozenset()


def test_an_equal_whole_document_is_stored_as_the_statement_does_not_read_the_column() -> None:
    """Observed on 9.7.4 without a log: the row is changed, although the old document is equal by =."""
    document = encode([decimal_from_text("1.50")])
    assert predict(document, document, document) == pseudo.Predicted(
        Result(b"[1.5]", True), frozenset({pseudo.DOUBLES})
    )


def test_a_replace_that_changes_nothing_and_an_empty_list_keep_the_document() -> None:
    document = encode({"a": 1})
    assert predict(document, diffs(1), document).result == Result(b'{"a": 1}', True)
    assert predict(document, diffs(), document).result == Result(b'{"a": 1}', True)
