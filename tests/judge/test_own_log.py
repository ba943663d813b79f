"""A replica's own log and redo: every planted fault of FR6 is noticed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.script import Script, build_script
from conformance.cases.sql_expression import parse_expression
from conformance.cases.update_case import Step, UpdateCase
from conformance.judge.own_log import OwnLog, compare_own_log, judge_redo
from conformance.judge.replica import ReplicaModel, transactions
from conformance.reference.binlog.columns import PartialJson
from conformance.reference.binlog.header import EventType
from conformance.reference.binlog.rows import Row, RowsBody
from conformance.reference.diffs import Diff, Operation, encode_diffs
from conformance.reference.expression import Assignment
from conformance.reference.jsonb.encode import encode
from conformance.reference.paths import parse_path
from conformance.reference.tables import Column, Table
from tests.checks.faults_of_pairs import FAULTS
from tests.judge.perfect_server import is_update, observe

if TYPE_CHECKING:
    from collections.abc import Callable

TABLE = Table(
    schema="lab",
    name="t",
    columns=(Column(name="id", type="INT", nullable=False), Column(name="j", type="JSON")),
    primary_key=((0, 0),),
)
PARTIAL, WHOLE = "JSON_SET(j, '$.a', 2)", "JSON_OBJECT('a', 2, 'b', REPEAT('c', 60))"


def script() -> Script:
    """A diff, then a document that goes whole. Source and replica log the same under the same settings."""
    steps = tuple(Step((Assignment("j", parse_expression(text, "j")),), (0,)) for text in (PARTIAL, WHOLE))
    document = encode({"a": 1, "b": "b" * 60})
    return build_script(UpdateCase(id="", table=TABLE, selector="id", rows=((1, document),), steps=steps))


def judged(change: Callable[[int, Any], Any] | None = None, *, partial_json: bool = True) -> OwnLog:
    """The comparison when the replica's row events are changed."""
    made = script()
    log = transactions(made, observe(made).events)

    def doctor(found: list[list[Any]]) -> None:
        place = 0
        for group in found:
            for at, body in enumerate(group):
                if is_update(body) and change is not None:
                    group[at] = change(place, body)
                    place += 1

    events = observe(made, doctor=doctor).events
    start = ReplicaModel([dict(zip(("id", "j"), row, strict=True)) for row in made.case.rows], ["j"])
    return compare_own_log(made, log, events, start, partial_json=partial_json)


def with_value(body: RowsBody, value: Any) -> RowsBody:
    """Another document in the after-image."""

    row = body.rows[0]
    assert row.after is not None
    bits = (1, 1) if isinstance(value, PartialJson) else (0, None)
    return replace(body, rows=(Row(row.before, (row.after[0], value), *bits),))


def as_old_event(_: int, body: RowsBody) -> RowsBody:

    row = body.rows[0]
    assert row.after is not None
    value = row.after[1] if isinstance(row.after[1], bytes) else encode({"a": 2, "b": "b" * 60})
    return replace(body, type=EventType.UPDATE_ROWS, rows=(Row(row.before, (row.after[0], value)),))


def other_diff(place: int, body: RowsBody) -> RowsBody:
    diff = Diff(Operation.REPLACE, parse_path("$.a"), 3)
    return body if place else with_value(body, PartialJson(encode_diffs([diff])))


def diffs_for_the_whole(place: int, body: RowsBody) -> RowsBody:
    diff = Diff(Operation.INSERT, parse_path("$.z"), 3)
    return with_value(body, PartialJson(encode_diffs([diff]))) if place else body


def test_the_same_log_passes() -> None:
    assert (judged().rows, judged().found) == (2, [])
    assert judged(as_old_event, partial_json=False).found == []


@pytest.mark.parametrize(
    ("fault", "change", "field"),
    [
        ("replica-follows-source", as_old_event, "event type"),
        ("replica-drops-diffs", other_diff, "j"),
        ("replica-invents-diffs", diffs_for_the_whole, "j"),
    ],
)
def test_a_doctored_log_is_noticed(fault: str, change: Callable[[int, Any], Any], field: str) -> None:
    assert FAULTS[fault][0] == "FR6"
    assert {item.field for item in judged(change).found} == {field}


def test_a_log_with_diffs_under_an_option_that_is_off_is_noticed() -> None:
    assert {item.field for item in judged(partial_json=False).found} == {"event type"}


def test_rows_of_a_statement_may_stand_in_another_order() -> None:
    step = Step((Assignment("j", parse_expression(PARTIAL, "j")),), (0, 1))
    documents = [encode({"a": 1, "b": letter * 60}) for letter in "bc"]
    rows = tuple(enumerate(documents, 1))
    made = build_script(UpdateCase(id="", table=TABLE, selector="id", rows=rows, steps=(step,)))
    log = transactions(made, observe(made).events)

    def doctor(found: list[list[Any]]) -> None:
        for group in found:
            group[:] = [replace(body, rows=body.rows[::-1]) if is_update(body) else body for body in group]

    start = ReplicaModel([{"j": document} for document in documents], ["j"])
    found = compare_own_log(made, log, observe(made, doctor=doctor).events, start, partial_json=True)
    assert (found.rows, found.found) == (2, [])


def test_a_row_that_is_missing_is_noticed() -> None:
    made = script()
    log = transactions(made, observe(made).events)
    start = ReplicaModel([{"j": encode({"a": 1, "b": "b" * 60})}], ["j"])
    found = compare_own_log(made, log, observe(made).events[:-4], start, partial_json=True).found
    assert [(item.field, item.expected, item.got) for item in found] == [("rows", "2", "1")]


def test_redo_of_whole_documents_fails_and_noise_decides_nothing() -> None:
    assert FAULTS["redo-of-whole-document"][0] == "FR6"
    assert judge_redo(24_000, 0, 12, 400_000) == "pass"
    assert judge_redo(12 * 450_000, 0, 12, 400_000) == "fail"
    assert judge_redo(12 * 20_000, 0, 12, 400_000) == "fail"
    assert judge_redo(24_000, 60_000, 12, 400_000) == "inconclusive"


def test_every_fault_written_down_is_planted_somewhere() -> None:
    from tests.checks import test_live_chains
    from tests.judge import test_replica

    planted = {
        *test_live_chains.DOCTORED,
        *test_replica.COMPARED,
        *test_replica.RELATED,
        "stop-elsewhere",
        "stop-of-another-kind",
        "switch-off",
        "lookup-unknown",
        "lookup-by-text",
        "replica-follows-source",
        "replica-drops-diffs",
        "replica-invents-diffs",
        "redo-of-whole-document",
    }
    assert planted == set(FAULTS)
