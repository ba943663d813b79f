"""sql Cases as JSON: back and forth without loss, described by the schema, refused with a reason; as a script."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from conformance.cases.files import dump_case, load_any_case, validate
from conformance.cases.sql_case import Outcome, SqlCase, SqlStatement
from conformance.cases.sql_case_text import script_of
from conformance.cases.update_case import Hazard
from conformance.reference.errors import DecodeError
from conformance.verdict import Verdict
from tests.judge import planted_statements

CASE = SqlCase(
    id="a-case",
    rev=2,
    requirements=("S1", "S4"),
    needs=("restart",),
    hazard=Hazard.STOPS_REPLICA,
    schema=True,
    globals=("binlog_format",),
    accounts=(("account", "somebody"),),
    statements=(
        SqlStatement(start=(("binlog-format", "STATEMENT"), ("skip-log-bin", None)), file=(("x", "1"),)),
        SqlStatement(sql="CREATE PROCEDURE p() BEGIN DO 0; END", node="replica", session="account"),
        SqlStatement(
            sql="SELECT 1, NULL",
            judges="S1",
            outcomes=(
                Outcome(rows=(("1", None),), warnings=(1287, 3645), text="it's", form="partial"),
                Outcome(error="any", verdict=Verdict.DIFFERS),
                Outcome(error=1231, verdict=Verdict.FAIL, deviation="mine"),
                Outcome(as_before=True),
            ),
            otherwise=Verdict.DIFFERS,
            about="row",
            fresh=True,
            at_once=True,
            note="why",
        ),
    ),
)


def stored(case: SqlCase = CASE) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(dump_case(case)))
    return data


def test_a_case_comes_back_as_it_was_and_fits_the_schema() -> None:
    data = stored()
    assert load_any_case(data) == CASE
    validate(data)


def test_every_case_of_the_checks_comes_back_and_fits_the_schema() -> None:
    for number, case in enumerate(planted_statements.all_cases()):
        data = stored(case)
        assert load_any_case(data) == case
        if number % 10 == 0:  # the schema library is slow
            validate(data)


def test_what_has_its_default_is_left_out() -> None:
    small = SqlCase(id="x", requirements=("S1",), statements=(SqlStatement(sql="DO 0"),))
    assert stored(small) == {
        "format": 1, "kind": "sql", "id": "x", "requirements": ["S1"], "statements": [{"sql": "DO 0"}],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"statements": []}, "at least one statement"),
        ({"requirements": []}, "one requirement"),
        ({"requirements": "S1"}, "list of texts"),
        ({"statements": [{}]}, "either sql or start"),
        ({"statements": [{"sql": "DO 0", "start": []}]}, "either sql or start"),
        ({"statements": [{"sql": "DO 0", "otherwise": "good"}]}, "no such verdict"),
        ({"statements": [{"sql": "DO 0", "outcomes": [{"verdict": "good"}]}]}, "no such verdict"),
        ({"statements": [{"sql": "DO 0", "outcomes": [{"error": "some"}]}]}, "malformed"),
        ({"statements": [{"sql": "DO 0", "outcomes": [{"rows": [1]}]}]}, "malformed"),
        ({"statements": [{"sql": "DO 0", "nonsense": 1}]}, "malformed"),
        ({"statements": 3}, "malformed"),
        ({"hazard": "fatal"}, "malformed"),
        ({"extra": 1}, "malformed"),
        ({"kind": "other"}, "unknown kind"),
        ({"format": 2}, "unknown Case format"),
    ],
)
def test_what_is_no_case_is_refused_with_the_reason(change: dict[str, Any], message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        load_any_case({**stored(), **change})


@pytest.mark.parametrize("junk", [[], None, 3, "text"])
def test_what_is_no_object_is_refused(junk: Any) -> None:
    with pytest.raises(DecodeError, match="malformed"):
        load_any_case(junk)


def test_a_script_tells_sessions_starts_and_what_is_expected() -> None:
    text = script_of(CASE)
    assert "-- start the server again: mysqld --binlog-format=STATEMENT --skip-log-bin (file: [mysqld] x=1)" in text
    assert "-- server replica, session account of the account somebody:" in text
    assert "DELIMITER //\nCREATE PROCEDURE p() BEGIN DO 0; END//\nDELIMITER ;" in text
    assert (
        "-- expected: success; warnings 1287, 3645; a text with \"it's\"; rows [['1', None]]; logged as: partial"
        in text
    )
    assert "mine" not in text
    assert re.findall("-- or: (.*)", text) == ["the same as the statement before it"]


def test_a_script_with_a_refused_statement_says_how_to_run_it() -> None:
    (case,) = [item for item in planted_statements.all_cases() if item.id == "value-session-11-2"]
    text = script_of(case)
    assert "mysql --force" in text
    assert "SET SESSION binlog_row_value_options = 2;\n-- expected: error 1231; a text with" in text
