"""Right-hand sides that nobody writes: the value or the error is that of 9.7.4 (``python -m tests.prediction``)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

from tests.prediction.odd_answers import RECORDED, answers, expressions, foretold, foretold_sum, inside, sums

if TYPE_CHECKING:
    from conformance.servers.run.process import ProcessServer
    from tests.prediction.odd_answers import Answer

_READ: Final = json.loads(RECORDED.read_text("utf-8"))
_RECORDED: Final[dict[str, Answer]] = _READ["odd"]
_BLOCK: Final = 100


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


@pytest.mark.live
def test_other_odd_expressions(server: ProcessServer) -> None:
    asked = list(expressions("live", 300))
    assert len(asked) > 150
    assert answers(server, asked) == {sql: foretold(sql) for sql in asked}
