"""Cases of row events of old sources: what is known of 9.7.4 is explained, any other answer fails."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.cases.sql_case import SqlAnswer
from conformance.checks.old_servers.generate_version_1 import DEVIATION, REFUSED, case
from conformance.judge.sql import judge_sql
from conformance.reference.event_types import EventType
from generators.draw import Stream
from tests.faults.fault import Fault
from tests.faults.runner import each

if TYPE_CHECKING:
    from conformance.cases.sql_case import Rows, SqlCase
    from conformance.judge.sql import SqlVerdict

CASES = [case(Stream("test", number), number) for number in range(60)]
OLD = [item for item in CASES if "_V1 " in item.statements[7].note]


def answers(item: SqlCase, error: int | None, rows: Rows) -> list[SqlAnswer]:
    """All well, but for the BINLOG statement and the rows read at the end."""
    out = [SqlAnswer() for _ in item.statements]
    out[7] = SqlAnswer(error=error, message="refused" if error else "")
    out[10] = SqlAnswer(rows=rows)
    return out


def right(item: SqlCase) -> Rows:
    return item.statements[10].outcomes[0].rows or ()


def unchanged(item: SqlCase) -> Rows:
    return item.statements[10].outcomes[1].rows or ()


def unexplained(item: SqlCase, given: list[SqlAnswer]) -> list[SqlVerdict]:
    return [verdict for verdict in judge_sql(item, given) if verdict.failing and verdict.deviation != DEVIATION]


def test_events_of_all_six_types_and_several_writers() -> None:
    kinds = {item.statements[7].note.split("'s ")[1].split(" ")[0] for item in CASES}
    assert kinds == {EventType(code).name for code in (23, 24, 25, 30, 31, 32)}
    assert len({item.statements[5].sql for item in CASES}) >= 4


@pytest.mark.parametrize("item", CASES, ids=lambda item: item.id)
def test_a_server_that_applies_them_passes(item: SqlCase) -> None:
    assert not any(verdict.failing for verdict in judge_sql(item, answers(item, None, right(item))))


@pytest.mark.parametrize("item", OLD, ids=lambda item: item.id)
def test_a_server_that_refuses_version_1_is_explained(item: SqlCase) -> None:
    verdicts = judge_sql(item, answers(item, REFUSED, unchanged(item)))
    assert [verdict.deviation for verdict in verdicts] == [DEVIATION, DEVIATION]


def _first_wrong(rows: Rows) -> Rows:
    return (tuple("planted" if place == 1 else value for place, value in enumerate(rows[0])), *rows[1:]) if rows else ()


def _taken(rows: Rows) -> Rows:
    return tuple(("0", *row[1:]) for row in rows)


_RULE = "An old source replicates to a new replica always."  # section 8 of the worklog, requirements FR8
FAULTS = [
    Fault("refused with another number", "X1", _RULE, lambda item: answers(item, 1105, unchanged(item))),
    Fault("taken without an effect", "X1", _RULE, lambda item: answers(item, None, _taken(unchanged(item)))),
    Fault("another row", "X1", _RULE, lambda item: answers(item, None, _first_wrong(_taken(unchanged(item))))),
    Fault("refused, and yet applied", "X1", _RULE, lambda item: answers(item, REFUSED, _first_wrong(unchanged(item)))),
]  # fmt: skip


@each(FAULTS)
def test_a_planted_fault_is_found_and_not_explained(fault: Fault) -> None:
    for item in OLD:
        assert unexplained(item, fault.change(item)), item.id


def test_a_refusal_of_version_2_is_not_explained() -> None:
    item = next(item for item in CASES if item not in OLD)
    assert unexplained(item, [replace(answer) for answer in answers(item, REFUSED, right(item))])
