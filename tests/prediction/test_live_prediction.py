"""``predict`` on a real server: the campaign in short, and that it sees what is planted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.sql.quoting import quote_string
from tests.prediction.campaign import run_updates
from tests.reference.partial.depth_vectors import DOCUMENT, PLACES, TOO_DEEP, TREE, VALUES

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.servers.run.process import ProcessServer

pytestmark = pytest.mark.live


def test_three_hundred_statements_do_what_predict_says(server: ProcessServer) -> None:
    result = run_updates(server, seed="live", updates=300)
    assert result.problems == []
    counts = result.counts
    assert min(counts["diffs"], counts["whole"], counts["errors"], counts["forms as diffs"]) >= 10
    assert counts["outside the grammar"] < 10
    for code in ("not-a-partial-function", "plain-value", "root-replaced", "not-smaller"):
        assert counts[f"reason {code}"], code


def another_byte(step: dict[str, Any]) -> dict[str, Any]:
    return {**step, "field_hex": step["field_hex"][:-2] + "00"} if step.get("field_hex") else step


def the_form_for_the_reason(step: dict[str, Any]) -> dict[str, Any]:
    """The rows are blamed where the statement is."""
    why = step.get("why_whole")
    return {**step, "why_whole": {**why, "code": "not-smaller"}} if why else step


def no_reason(step: dict[str, Any]) -> dict[str, Any]:
    return {**step, "why_whole": None}


@pytest.mark.parametrize(
    ("wrong", "seen"),
    [(another_byte, "the log has"), (the_form_for_the_reason, "calls the column"), (no_reason, "the reason is None")],
)
def test_a_wrong_prediction_is_seen(
    server: ProcessServer, wrong: Callable[[dict[str, Any]], dict[str, Any]], seen: str
) -> None:
    result = run_updates(server, seed="live", updates=40, alter=wrong)
    assert any(seen in problem for problem in result.problems)


def test_a_form_that_is_logged_whole_is_seen(server: ProcessServer) -> None:
    result = run_updates(server, seed="live", updates=40, form=lambda _: "JSON_MERGE_PATCH(j, '{\"planted\": 1}')")
    assert any("it is not logged as diffs" in problem for problem in result.problems)


@pytest.mark.parametrize("options", ["", "PARTIAL_JSON"])
def test_values_too_deep_are_refused_where_the_vectors_say(server: ProcessServer, options: str) -> None:
    with server.connect() as connection, server.schema(connection):
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, j JSON, k JSON)")
        connection.execute(f"SET SESSION binlog_row_value_options = '{options}'")
        for place, expected in PLACES.items():
            for value in VALUES:
                connection.execute(f"REPLACE INTO t VALUES (1, {quote_string(DOCUMENT)}, '{TREE}')")
                update = f"UPDATE t SET j = {place.replace('@v', value)}"
                error = connection.execute_many([update]).error
                found = 0 if error is None else error.number
                assert (found == TOO_DEEP) is expected[bool(options)], f"{update}: {found}"
