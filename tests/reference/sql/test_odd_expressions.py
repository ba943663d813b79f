"""Right-hand sides that nobody writes: the value or the error is that of 9.7.4 (``python -m tests.prediction``)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

from conformance.reference.errors import Unsupported
from tests.prediction.odd_answers import RECORDED, answers, expressions, foretold, foretold_sum, inside, sums

if TYPE_CHECKING:
    from conformance.servers.run.process import ProcessServer
    from tests.prediction.odd_answers import Answer

_READ: Final = json.loads(RECORDED.read_text("utf-8"))
_RECORDED: Final[dict[str, Answer]] = _READ["odd"]
_BLOCK: Final = 100
_MIXED: Final = "IFNULL of values of these types"


@pytest.mark.parametrize("first", range(0, len(_RECORDED), _BLOCK))
def test_the_answer_is_the_servers(first: int) -> None:
    for sql, answer in list(_RECORDED.items())[first : first + _BLOCK]:
        assert (sql, foretold(sql)) == (sql, answer)


def test_many_of_the_answers_are_documents_and_of_many_errors() -> None:
    errors = {answer for answer in _RECORDED.values() if isinstance(answer, int)}
    assert errors >= {1292, 1365, 1366, 1690, 3064, 3140, 3141, 3143, 3144, 3146, 3149, 3153, 3156, 3158, 3165}
    assert sum(isinstance(answer, str) for answer in _RECORDED.values()) > 200


def test_sums_of_all_types_have_the_value_and_the_size_of_the_servers() -> None:
    statements = list(inside(sums()))
    assert len(statements) == len(_READ["sums"]) > 4000
    assert [pair for pair in zip(statements, _READ["sums"], strict=True) if foretold_sum(pair[0]) != pair[1]] == []


@pytest.mark.parametrize(
    ("sql", "offset", "message", "expected", "got"),
    [
        ("DATE'2024-01-01' + 1", 28, "a date or time in arithmetic", "numbers, strings and JSON values", None),
        ("1 - TIME'10:00:00'", 13, "a date or time in arithmetic", "numbers, strings and JSON values", None),
        ("-(DATE'2024-01-01')", 11, "a minus sign before a date or time", "a number", None),
        ("'1e400' + 1", 19, "a string beyond the largest double in arithmetic", None, "1e400"),
        ("CAST(DATE'2024-02-29' AS JSON) + 1", 42, "a date, a time or bytes inside JSON as DOUBLE", None, None),
        ("CAST(x'00' AS JSON) DIV 1", 31, "a date, a time or bytes inside JSON as DECIMAL", None, None),
        ("CONCAT(x'00', k->'$.r')", 17, "CONCAT of bytes and a JSON value", "strings, or bytes", "'('"),
        ("CAST(x'00' AS CHAR)", 11, "CAST of bytes to CHAR", "a string, a number or a JSON value", "'CAST'"),
        ("IFNULL(1e0, 'x')", 11, _MIXED, "JSON values, strings and integers", "'IFNULL'"),
        ("IFNULL(18446744073709551615, 1)", 11, _MIXED, "JSON values, strings and integers", "'IFNULL'"),
        ("IFNULL(CURDATE(), NOW())", 11, _MIXED, "JSON values, strings and integers", "'IFNULL'"),
    ],
)
def test_what_is_outside_the_grammar_is_named(
    sql: str, offset: int, message: str, expected: str | None, got: str | None
) -> None:
    with pytest.raises(Unsupported) as caught:
        foretold(f"JSON_ARRAY({sql})")
    error = caught.value
    assert (error.code, error.offset, error.message) == ("outside-grammar", offset, message)
    assert (error.expected, error.got) == (expected, got)


@pytest.mark.live
def test_other_odd_expressions(server: ProcessServer) -> None:
    asked = list(expressions("live", 300))
    assert len(asked) > 150
    assert answers(server, asked) == {sql: foretold(sql) for sql in asked}
