"""Values that versions make of the lab's SQL: numbers of JSON text, and the hours of TIME values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.reference.dialect import JsonForms
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.sql_times import scalar_of_sql
from conformance.reference.sql.as_read import argument_as_read, as_written, document_as_read
from conformance.reference.sql.formatting import format_document, format_sql

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

OLD = JsonForms(text_double="fast", time_hours="of-datetime")
NEW = JsonForms()
INEXACT, READ = -1.1030161663305387, -1.103016166330539  # a double, and what the fast parser makes of its text


@pytest.mark.parametrize(
    ("hours", "left"),
    [(0, 0), (23, 23), (24, 24), (31, 31), (32, 24), (33, 25), (63, 55), (64, 48), (540, 412), (796, 604), (838, 630)],
)
def test_of_each_32_hours_24_are_kept(hours: int, left: int) -> None:
    for negative in (False, True):
        whole = opaque.time(hours, 59, 58, 999_999, negative=negative)
        assert scalar_of_sql(whole, OLD) == opaque.time(left, 59, 58, 999_999, negative=negative)
        assert scalar_of_sql(whole, NEW) is whole


@pytest.mark.parametrize(
    "value",
    [
        opaque.datetime(2024, 1, 31, 23, 59, 59, 1),
        opaque.date(9999, 12, 31),
        opaque.timestamp(0, 0, 0),
        838,
        "838:59:59",
    ],
)
def test_no_other_value_loses_hours(value: JsonValue) -> None:
    assert scalar_of_sql(value, OLD) == value


def test_numbers_are_read_fast_where_they_stand_in_text() -> None:
    assert format_sql([INEXACT]).startswith("CAST(")
    assert argument_as_read([INEXACT], OLD) == [READ]
    assert format_sql(INEXACT) == "-1.1030161663305387e0"
    assert argument_as_read(INEXACT, OLD) == INEXACT
    assert format_document(INEXACT) == "CAST('-1.1030161663305387' AS JSON)"
    assert document_as_read(INEXACT, OLD) == READ


def test_numbers_beside_a_value_that_no_text_has_are_arguments() -> None:
    """A DATE makes the array an expression; the inner array stays a text."""
    value: JsonValue = [opaque.date(2024, 1, 1), INEXACT, [INEXACT], {"a": {"b": INEXACT, "t": opaque.time(838)}}]
    assert format_sql(value).startswith("JSON_ARRAY(DATE'2024-01-01', -1.1030161663305387e0, CAST('[")
    expected: JsonValue = [
        opaque.date(2024, 1, 1), INEXACT, [READ], {"a": {"b": INEXACT, "t": opaque.time(630)}},
    ]  # fmt: skip
    assert argument_as_read(value, OLD) == document_as_read(value, OLD) == expected


def test_the_newest_version_makes_the_very_value() -> None:
    value: JsonValue = [INEXACT, {"t": opaque.time(838)}]
    assert argument_as_read(value, NEW) is document_as_read(value, NEW) is value


@pytest.mark.parametrize("hours", [0, 23, 24, 31, 48, 100, 412, 604, 630])
def test_sql_is_written_so_that_the_version_makes_the_value(hours: int) -> None:
    for negative in (False, True):
        value: JsonValue = {"a": [opaque.time(hours, 59, 58, 1, negative=negative), 1], "b": "x"}
        written = as_written(value, OLD)
        assert argument_as_read(written, OLD) == document_as_read(written, OLD) == value
        assert as_written(value, NEW) is value


def test_more_hours_than_any_literal_leaves_stay_as_they_are() -> None:
    assert as_written(opaque.time(631), OLD) == opaque.time(631)
