"""Why an update is logged whole, and the form that would not be: each reason by a statement that has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.decision import decide
from conformance.reference.partial.expression import Assignment, Columns
from conformance.reference.partial.reasons import Reason, why_whole
from conformance.reference.partial.rewriting import diff_form
from conformance.reference.partial.update import update_row
from conformance.reference.sql.formatting import format_expression
from conformance.reference.sql.row_expressions import RowFacts, read_expression

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

DOCUMENT: JsonValue = {"n": 1, "tags": ["a", "b"], "o": {"x": 1}, "pad": "p" * 60}
ROW: dict[str, object] = {"j": encode(DOCUMENT), "k": encode({"n": 9})}
COLUMNS = Columns(("j", "k"))


def judged(sql: str, *, document: object = None, partial_json: bool = True) -> tuple[Reason | None, str | None]:
    row = ROW if document is None else {**ROW, "j": encode(document)}  # type: ignore[arg-type]
    read = read_expression(sql, RowFacts({name: value for name, value in row.items() if isinstance(value, bytes)}))
    change = update_row(row, [Assignment("j", read.expression)], COLUMNS, log_diffs=partial_json)
    column = change.columns["j"]
    decision = decide(row["j"], change.after["j"], column, partial_json=partial_json)
    after = change.after["j"]
    form = diff_form(read.expression, "j", row, after) if isinstance(after, bytes) and not decision.partial else None
    reason = why_whole(read.expression, "j", column, decision)
    return reason, None if form is None else format_expression(form.expression)


@pytest.mark.parametrize(
    ("sql", "code", "form"),
    [
        ("JSON_SET(j, '$.n', 2)", None, None),
        ("JSON_MERGE_PATCH(j, '{\"n\": 2}')", "not-a-partial-function", "JSON_SET(`j`, '$.n', 2)"),
        ("JSON_MERGE_PATCH(j, '{\"o\": null}')", "not-a-partial-function", "JSON_REMOVE(`j`, '$.o')"),
        ("JSON_INSERT(j, '$.new', 2)", "not-a-partial-function", "JSON_SET(`j`, '$.new', 2)"),
        (
            "JSON_ARRAY_APPEND(j, '$.tags', k->'$.n')", "not-a-partial-function",
            "JSON_SET(`j`, '$.tags[1000000]', k->'$.n')",
        ),
        ("JSON_ARRAY_INSERT(j, '$.tags[0]', 7)", "not-a-partial-function", "JSON_SET(`j`, '$.tags[last-1000000]', 7)"),
        (
            "JSON_ARRAY_INSERT(j, '$.tags[1]', 7)", "not-a-partial-function",
            "JSON_SET(`j`, '$.tags[1]', 7, '$.tags[2]', 'b')",
        ),
        ("JSON_SET(JSON_INSERT(j, '$.n', 7), '$.n', 2)", "not-a-partial-function", None),
        ("CAST(JSON_SET(j, '$.n', 2) AS JSON)", "not-a-partial-function", "JSON_SET(`j`, '$.n', 2)"),
        ("JSON_SET(IFNULL(j, '{}'), '$.n', 2)", "not-a-partial-function", "JSON_SET(`j`, '$.n', 2)"),
        ("JSON_SET(k, '$.n', 2)", "other-column", None),
        ("k", "other-column", None),
        ("JSON_SET('{}', '$.n', 2)", "other-document", None),
        ("'{\"n\": 1}'", "plain-value", None),
        ("JSON_SET(j, '$', CAST('[1]' AS JSON))", "root-replaced", None),
        ("JSON_SET(j, '$.n', REPEAT('a', 200), '$.n', 1, '$.n', REPEAT('b', 9))", "not-smaller", None),
    ],
)  # fmt: skip
def test_every_reason_and_its_form(sql: str, code: str | None, form: str | None) -> None:
    reason, proposed = judged(sql)
    assert (None if reason is None else reason.code) == code
    if form is not None:
        assert proposed == form


def test_the_option_is_a_reason_of_its_own() -> None:
    reason, _ = judged("JSON_SET(j, '$.n', 2)", partial_json=False)
    assert reason is not None
    assert reason.code == "option-off"


def test_a_proposed_form_makes_the_same_document() -> None:
    sql = 'JSON_MERGE_PATCH(j, \'{"tags": ["a", "c", "d"], "o": {"y": null, "z": [1]}, "n": null}\')'
    _, proposed = judged(sql)
    assert proposed is not None
    row = {name: value for name, value in ROW.items() if isinstance(value, bytes)}
    made = [
        update_row(ROW, [Assignment("j", read_expression(text, RowFacts(row)).expression)], COLUMNS, log_diffs=True)
        for text in (sql, proposed)
    ]
    first, second = (change.after["j"] for change in made)
    assert isinstance(first, bytes)
    assert isinstance(second, bytes)
    assert decode(first) == decode(second)
    assert made[1].columns["j"].diffs


def test_where_no_form_is_smaller_none_is_proposed() -> None:
    reason, proposed = judged("JSON_MERGE_PATCH(j, '{\"n\": 2}')", document={"n": 1})
    assert reason is not None
    assert proposed is None
