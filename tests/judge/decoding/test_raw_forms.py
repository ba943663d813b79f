"""Forms in which decoders hand out what the log has: JSONB bytes, and seconds since 1970."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.decoding.column_values import differences_of_values
from conformance.judge.decoding.log_columns import LogColumn
from conformance.reference.jsonb.encode import encode

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

_JSON = LogColumn("j", "JSON")
_TIMESTAMP = LogColumn("t", "TIMESTAMP")


@pytest.mark.parametrize("document", [{"a": [1, None, "x"]}, [], "text", 1.5, None])
def test_the_bytes_of_a_jsonb_value_are_the_document(document: JsonValue) -> None:
    """Whoever hands out the value as it is has lost nothing of it."""
    raw = {"hex": encode(document).hex()}
    assert not differences_of_values(_JSON, {"json": document}, raw, None, "j")
    assert differences_of_values(_JSON, {"json": {"other": True}}, raw, None, "j")


def test_bytes_that_are_no_jsonb_value_are_none() -> None:
    """They are neither the document nor an error of the judge."""
    (found,) = differences_of_values(_JSON, {"json": 1}, {"hex": "0f"}, None, "j")
    assert found.cause == "bytes that are no JSONB value"


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        pytest.param("2024-02-29 12:34:56", 1709210096, id="a number"),
        ("2024-02-29 12:34:56.00", "1709210096"),
        ("2024-02-29 12:34:56.789", "1709210096.789000"),
        ("0000-00-00 00:00:00", "0"),
    ],
)
def test_a_timestamp_may_be_seconds(expected: str, got: object) -> None:
    """The log has it so; another column may not."""
    assert not differences_of_values(_TIMESTAMP, expected, got, None, "t")
    assert differences_of_values(LogColumn("t", "DATETIME"), expected, got, None, "t")
    assert differences_of_values(_TIMESTAMP, "2024-02-29 12:34:57", got, None, "t")
