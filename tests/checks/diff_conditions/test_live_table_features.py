"""The check of surroundings on a real pair: it passes, and every planted fault fails it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.sql_case import REPLICA
from conformance.checks.diff_conditions import check_table_features as test_table_features
from conformance.checks.diff_conditions import table_features
from conformance.harness import sql_cases as sql_runs
from conformance.servers.roles.sql_cases import run_sql
from conformance.stream import Block, CaseVerdict, Finding
from tests.faults.fault import Fault
from tests.faults.runner import each

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.sql_case import SqlAnswer, SqlStatement
    from conformance.servers.run.process import ProcessServer
    from tests.recorded import Recorded

pytestmark = pytest.mark.live


def _on_the_replica(**fields: Any) -> Callable[[SqlStatement, SqlAnswer], SqlAnswer]:
    return lambda statement, answer: (
        replace(answer, **fields) if statement.node == REPLICA and statement.judges else answer
    )


def _update(**fields: Any) -> Callable[[SqlStatement, SqlAnswer], SqlAnswer]:
    return lambda statement, answer: replace(answer, **fields) if statement.sql.startswith("UPDATE") else answer


def _stop(note: str, **fields: Any) -> Callable[[SqlStatement, SqlAnswer], SqlAnswer]:
    return lambda statement, answer: replace(answer, **fields) if note in statement.note else answer


_FEATURES, _STOPS = test_table_features.test_table_features, test_table_features.test_stops_and_restarts
FAULTS = (
    Fault("row-lost-on-the-replica", "FR2", "The replica has every row.", _on_the_replica(rows=()), at=_FEATURES),
    Fault("replica-stops", "FR2", "The replica applies the update.",
          _on_the_replica(error=1610, message="corrupt", rows=()), at=_FEATURES),
    Fault("update-not-logged", "D11", "An update beside other features is logged.", _update(events=()), at=_FEATURES),
    Fault("goes-on", "FR5", "The applier stops.", _stop("the applier stops", error=None), at=_STOPS),
    Fault("other-error", "FR5", "It stops with its error.", _stop("the applier stops", error=1594), at=_STOPS),
    Fault("row-changed-at-the-stop", "FR5", "The row is as it was.",
          _stop("as it was", rows=(("2", '{"a": 1}'), ("3", "{}"))), at=_STOPS),
    Fault("not-started-again", "FR5", "The applier can be started again.",
          _stop("started again", error=3648, message="again", rows=()), at=_STOPS),
)  # fmt: skip


@pytest.fixture
def found(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """A lab on the tests' server with two surroundings and one reason to stop."""
    chosen = [item for item in table_features.TABLE_FEATURES if item.name in ("virtual-column", "first-of-a-join")]
    monkeypatch.setattr(test_table_features, "TABLE_FEATURES", chosen)
    monkeypatch.setattr(test_table_features, "STOPS", table_features.STOPS[2:3])
    return recorded


def test_without_a_fault_they_pass(found: Recorded) -> None:
    assert found.passes(_FEATURES)
    assert found.passes(_STOPS)
    judged = {name: item.cases for item in found.of(Block) for name in item.requirements}
    assert set(judged) == {"FR2", "D10", "D11", "FR5"}
    assert all(judged.values())
    assert found.red == set()


@pytest.mark.sampled(3)
@each(FAULTS)
def test_faults_are_found(found: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    original = run_sql

    def doctored(nodes: Any, case: Any, pair: Any = None) -> tuple[SqlAnswer, ...]:
        return tuple(map(fault.change, case.statements, original(nodes, case, pair)))

    monkeypatch.setattr(sql_runs, "run_sql", doctored)
    assert not found.passes(fault.at)
    assert fault.requirement in found.red
    shown = [record for record in found.of(CaseVerdict) if record.verdict.failing]
    assert all(record.replay == f"binlog-lab replay {record.case_file}" for record in shown)
    assert found.of(Finding)


@pytest.mark.parametrize(
    "feature",
    [item for item in table_features.TABLE_FEATURES if any("JSON AS" in sql for sql in item.source)],
    ids=lambda item: item.name,
)
def test_a_generated_json_column_takes_the_deepest_documents(feature: Any, server: ProcessServer) -> None:
    deepest = "[" * 100 + "1" + "]" * 100  # 100 containers
    with server.connect() as connection, server.schema(connection):
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, n INT, j JSON, k JSON)")
        for sql in feature.source:
            connection.execute(sql)
        for number, document in enumerate((deepest, f'{{"a": {deepest[1:-1]}}}')):
            connection.execute(f"INSERT INTO t (id, n, j, k) VALUES ({number}, 1, '{document}', '{document}')")
            connection.execute("UPDATE t SET n = n + 1")
        assert connection.execute("SELECT MAX(JSON_DEPTH(j)), MAX(JSON_DEPTH(k)) FROM t").rows == ((b"101", b"101"),)
