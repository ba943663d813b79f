from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.explore.oracles.prediction import LogJudge
from conformance.explore.oracles.tables import ColumnFacts, TableFacts
from conformance.explore.oracles.updates import Update, Updates, read_update
from conformance.explore.steps import Step
from conformance.logs.reading import read_events
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import Row, rows_body
from conformance.reference.binlog.statement_events import RowsQuery
from conformance.reference.binlog.writer import FileWriter, begin
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.definitions import Column, Table, table_map

if TYPE_CHECKING:
    from conformance.explore.oracles.problem import Problem
    from conformance.reference.binlog.event import Body

KINDS = {"id": "INT", "j": "JSON", "doc": "JSON", "c": "INT"}
TABLE = Table(
    schema="s",
    name="t0",
    columns=tuple(Column(name=name, type=kind, nullable=name != "doc") for name, kind in KINDS.items()),
    primary_key=((0, 0),),
)
FACTS = TableFacts("t0", "InnoDB", tuple(ColumnFacts(name, kind.lower(), "") for name, kind in KINDS.items()), ())
SET = "UPDATE t0 SET j = JSON_SET(j, '$.a', 2) WHERE id = 1"
DIFF = PartialJson(b"\x00\x03$.a\x03\x05\x02\x00")
SAME = PartialJson(b"")


def stored(text: str) -> bytes:
    return encode(parse_text(text))


WAS = stored('{"a": 1, "text": "long enough for a diff to be shorter"}')
DOC = stored("[1]")
HOLES = b"\x02\x01\x00\x0a\x00\x05\x01\x00\x00\x00\x00"  # [1] with three bytes that hold nothing
BEFORE = (1, WAS, DOC, 7)
AFTER = (1, DIFF, SAME, 7)


def judged(
    *after: tuple[object, ...],
    text: str = SET,
    before: tuple[object, ...] = BEFORE,
    option: str = "PARTIAL_JSON",
    metadata: str = "FULL",
    facts: dict[str, TableFacts] | None = None,
    triggered: frozenset[str] = frozenset(),
    first: tuple[Body, ...] = (),
    minimal: bool = False,
    logged: str | None = None,
) -> tuple[list[Problem], dict[str, int]]:
    """The problems and the counts of a log with one statement, whose row has these forms after it."""
    kind = EventType.PARTIAL_UPDATE_ROWS if option else EventType.UPDATE_ROWS
    shape = table_map(TABLE, metadata=metadata)
    body = rows_body(shape, kind, [Row(before, row) for row in after or (AFTER,)])  # type: ignore[arg-type]
    if minimal:
        body = replace(body, before_columns=0b0001, rows=(Row(before[:1], AFTER),))  # type: ignore[arg-type]
    file = FileWriter(timestamp=0, server_id=1)
    statement = RowsQuery(text=(logged or text).encode())
    log = file.start() + b"".join(map(file.add, (*first, begin("s", update=True), statement, shape, body)))
    updates = Updates()
    updates.ran(Step(f"SET SESSION binlog_row_value_options = '{option}'", "setting"), 0)
    updates.ran(Step(text, "update"), 0)
    tried = Counter[str]()
    judge = LogJudge("s", {"t0": FACTS} if facts is None else facts, updates, tried, triggered)
    return list(judge.problems(read_events(log))), dict(tried)


PREDICTED = {"prediction/statements": 1, "prediction/rows": 1}


def test_an_update_as_the_reference_predicts_it_is_no_problem() -> None:
    assert judged() == ([], PREDICTED)
    whole = stored('{"a": 2, "text": "long enough for a diff to be shorter"}')
    assert judged((1, whole, DOC, 7), option="") == ([], PREDICTED)


def test_assignments_see_what_those_before_them_made() -> None:
    text = "UPDATE t0 SET j = JSON_SET(j, '$.a', 2), c = 8, doc = JSON_SET(doc, '$[0]', JSON_EXTRACT(j, '$.a'))"
    whole = stored("[2]")
    assert judged((1, DIFF, whole, 8), text=text) == ([], PREDICTED)
    old = stored("[1]")
    (problem,), _ = judged((1, DIFF, old, 8), text=text)
    assert problem.key == ("prediction", "document")


def test_a_document_without_its_holes_is_predicted_where_another_column_changes_the_row() -> None:
    text = "UPDATE t0 SET c = 8, j = JSON_ARRAY_APPEND(j, '$.none', 1)"
    before = (1, HOLES, DOC, 7)
    assert judged((1, stored("[1]"), SAME, 8), text=text, before=before) == ([], PREDICTED)
    (problem,), _ = judged((1, SAME, SAME, 8), text=text, before=before)
    assert problem.key == ("prediction", "form")


@pytest.mark.parametrize(
    ("after", "kind", "text"),
    [
        ((1, PartialJson(b"\x00\x03$.a\x03\x05\x03\x00"), SAME, 7), "diffs", SET),
        ((1, PartialJson(b"\x01\x03$.a\x03\x05\x02\x00"), SAME, 7), "diffs", SET),
        ((1, SAME, SAME, 7), "diffs", SET),
        ((1, stored('{"a": 2, "text": "long enough for a diff to be shorter"}'), SAME, 7), "form", SET),
        ((1, None, SAME, 7), "form", SET),
        ((1, DIFF, DOC, 7), "form", SET),
        ((1, DIFF, SAME, 8), "another column", SET),
        ((1, SAME, SAME, 7), "unchanged row", SET.replace("2)", "1)")),
        ((1, stored("[2]"), SAME, 7), "document", "UPDATE t0 SET j = '[3]'"),
        ((1, stored("[3]") + b"\x00", SAME, 7), "document", "UPDATE t0 SET j = '[3]'"),
    ],
)
def test_another_form_of_the_update_is_a_problem(after: tuple[object, ...], kind: str, text: str) -> None:
    (problem,), tried = judged(after, text=text)
    assert problem.key == ("prediction", kind)
    assert text in problem.detail
    assert "prediction/statements" not in tried


def test_the_first_difference_is_told_and_the_rows_before_it_are_counted() -> None:
    problems, tried = judged(AFTER, (1, SAME, SAME, 7), (1, SAME, SAME, 7))
    assert [problem.kind for problem in problems] == ["diffs"]
    assert tried == {"prediction/rows": 1}


def test_an_event_of_another_option_than_the_session_has_is_a_problem() -> None:
    updates = Updates()
    updates.ran(Step("SET SESSION binlog_row_value_options = ''", "setting"), 1231)  # it was refused
    updates.ran(Step(SET, "update"), 0)
    file = FileWriter(timestamp=0, server_id=1)
    shape = table_map(TABLE, metadata="FULL")
    body = rows_body(shape, EventType.UPDATE_ROWS, [Row(BEFORE, BEFORE)])
    bodies: tuple[Body, ...] = (RowsQuery(text=SET.encode()), shape, body)
    log = file.start() + b"".join(map(file.add, bodies))
    (problem,) = LogJudge("s", {"t0": FACTS}, updates, Counter()).problems(read_events(log))
    assert problem.key == ("prediction", "event")


def test_a_damaged_log_is_a_problem() -> None:
    file = FileWriter(timestamp=0, server_id=1)
    log = file.start() + file.add(RowsQuery(text=SET.encode()))
    (problem,) = LogJudge("s", {}, Updates(), Counter()).problems(read_events(log[:-6]))
    assert problem.oracle == "prediction"
    assert problem.kind.startswith("unreadable")


MYISAM = Query(text=b"CREATE TABLE t0 (id INT PRIMARY KEY, j JSON) ENGINE=MyISAM", schema=b"s")


@pytest.mark.parametrize(
    ("reason", "given"),
    [
        ("no names of columns in the log", {"metadata": "MINIMAL"}),
        ("row image", {"minimal": True}),
        ("a view", {"facts": {}}),
        ("engine", {"first": (MYISAM,)}),
        ("a trigger", {"triggered": frozenset(("t0",))}),
        ("the table is another one now", {"facts": {"t0": replace(FACTS, columns=FACTS.columns[:1])}}),
        ("not of one table alone", {"text": "UPDATE t0 SET j = '[]' WHERE id IN (SELECT 1)"}),
        ("no UPDATE as a session sent it", {"logged": SET + " "}),
        ("an expression: outside-grammar", {"text": "UPDATE t0 SET j = JSON_SET(j, @p, 1)"}),
        ("no document is assigned", {"text": "UPDATE t0 SET c = 8"}),
        ("NULL for a column that takes none", {"text": "UPDATE IGNORE t0 SET doc = NULL"}),
        ("the model refuses it: 3143", {"text": "UPDATE t0 SET j = JSON_SET(j, 'a', 1)"}),
    ],
)
def test_a_statement_that_the_model_does_not_cover_is_counted_with_its_reason(
    reason: str, given: dict[str, object]
) -> None:
    assert judged(**given) == ([], {f"prediction/not covered: {reason}": 1})  # type: ignore[arg-type]


def test_the_parts_of_an_update() -> None:
    text = "UPDATE IGNORE t1 FORCE INDEX (i1) SET j = JSON_SET(j, '$.a', 'x, y = (WHERE'), c0 = 5 WHERE id = 3"
    assert read_update(text) == Update(
        "t1", (("j", "JSON_SET(j, '$.a', 'x, y = (WHERE')"), ("c0", "5")), ignore=True
    )  # fmt: skip
    assert read_update("UPDATE t1 PARTITION (p0, p1) SET j = NULL ORDER BY id LIMIT 3") == Update(
        "t1", (("j", "NULL"),)
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE t0 a JOIN t1 b ON a.id = b.id SET a.j = NULL",
        "UPDATE t0, t1 SET t0.j = NULL",
        "WITH c AS (SELECT 1) UPDATE t0 SET j = NULL",
        "UPDATE t0 SET j = (SELECT JSON_REMOVE(j, '$.a'))",
        "DELETE FROM t0",
    ],
)
def test_a_statement_of_another_shape_has_no_parts(text: str) -> None:
    assert read_update(text) is None


def test_the_end_of_a_session_ends_its_settings() -> None:
    updates = Updates()
    off = Step("SET SESSION binlog_row_value_options = ''", "setting", session=1)
    for number, end in enumerate((1, None)):
        updates.ran(off, 0)
        updates.ran(Step(f"UPDATE t0 SET c = {number}", "update", session=1), 0)
        updates.disconnected(end)
        updates.ran(Step(f"UPDATE t0 SET c = {number}", "update", session=1), 0)
        updates.ran(Step(f"UPDATE t0 SET c = {number} + 2", "update"), 0)
    assert updates.sent == {
        "UPDATE t0 SET c = 0": {False, True}, "UPDATE t0 SET c = 0 + 2": {True},
        "UPDATE t0 SET c = 1": {False, True}, "UPDATE t0 SET c = 1 + 2": {True},
    }  # fmt: skip
