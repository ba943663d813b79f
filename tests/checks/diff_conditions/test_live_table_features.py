"""The check of surroundings on a real pair: it passes, and every planted fault fails it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.sql_case import REPLICA
from conformance.checks.diff_conditions import check_table_features as test_table_features
from conformance.checks.diff_conditions import table_features
from conformance.harness import session as labs
from conformance.harness import sql_cases as sql_runs
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.servers.roles.sql_cases import run_sql
from conformance.stream import Block, CaseVerdict, Finding
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conformance.cases.sql_case import SqlAnswer, SqlStatement
    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord

pytestmark = pytest.mark.live


@dataclass(frozen=True, slots=True)
class Fault:
    """Answers changed between the servers and the judge. ``of``: the check item that must notice."""

    id: str
    requirements: tuple[str, ...]
    of: str
    change: Callable[[SqlStatement, SqlAnswer], SqlAnswer]


def _on_the_replica(**fields: Any) -> Callable[[SqlStatement, SqlAnswer], SqlAnswer]:
    return lambda statement, answer: (
        replace(answer, **fields) if statement.node == REPLICA and statement.judges else answer
    )


def _update(**fields: Any) -> Callable[[SqlStatement, SqlAnswer], SqlAnswer]:
    return lambda statement, answer: replace(answer, **fields) if statement.sql.startswith("UPDATE") else answer


def _stop(note: str, **fields: Any) -> Callable[[SqlStatement, SqlAnswer], SqlAnswer]:
    return lambda statement, answer: replace(answer, **fields) if note in statement.note else answer


FAULTS = (
    Fault("row-lost-on-the-replica", ("FR2",), "surroundings", _on_the_replica(rows=())),
    Fault("replica-stops", ("FR2",), "surroundings", _on_the_replica(error=1610, message="corrupt", rows=())),
    Fault("update-not-logged", ("D11",), "surroundings", _update(events=())),
    Fault("goes-on", ("FR5",), "stops", _stop("the applier stops", error=None)),
    Fault("other-error", ("FR5",), "stops", _stop("the applier stops", error=1594)),
    Fault("row-changed-at-the-stop", ("FR5",), "stops", _stop("as it was", rows=(("2", '{"a": 1}'), ("3", "{}")))),
    Fault("not-started-again", ("FR5",), "stops", _stop("started again", error=3648, message="again", rows=())),
)


@pytest.fixture
def found(
    server: ProcessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Lab, list[AnyRecord]]]:
    """A lab on the tests' server with two surroundings and one reason to stop, and its records."""
    monkeypatch.setattr(labs, "resolve", lambda *_, **__: server)
    chosen = [item for item in table_features.TABLE_FEATURES if item.name in ("virtual-column", "first-of-a-join")]
    monkeypatch.setattr(test_table_features, "TABLE_FEATURES", chosen)
    monkeypatch.setattr(test_table_features, "STOPS", table_features.STOPS[2:3])
    records: list[AnyRecord] = []
    lab = Lab(Settings(cases=tmp_path), records.append)
    yield lab, records
    if lab._pairs is not None:  # the server is the tests' own
        lab._pairs.close()


def _failing(records: list[AnyRecord]) -> set[str]:
    return {name for item in records if isinstance(item, Block) and item.failures for name in item.requirements}


def test_without_a_fault_they_pass(found: tuple[Lab, list[AnyRecord]]) -> None:
    lab, records = found
    run(test_table_features.test_table_features, lab)
    run(test_table_features.test_stops_and_restarts, lab)
    judged = {name: item.cases for item in records if isinstance(item, Block) for name in item.requirements}
    assert set(judged) == {"FR2", "D10", "D11", "FR5"}
    assert all(judged.values())
    assert _failing(records) == set()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_faults_are_found(found: tuple[Lab, list[AnyRecord]], monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    original = run_sql

    def doctored(nodes: Any, case: Any, pair: Any = None) -> tuple[SqlAnswer, ...]:
        answers = original(nodes, case, pair)
        return tuple(map(fault.change, case.statements, answers))

    monkeypatch.setattr(sql_runs, "run_sql", doctored)
    lab, records = found
    item = (
        test_table_features.test_table_features
        if fault.of == "surroundings"
        else test_table_features.test_stops_and_restarts
    )
    with pytest.raises(pytest.fail.Exception):
        run(item, lab)
    assert set(fault.requirements) <= _failing(records)
    shown = [record for record in records if isinstance(record, CaseVerdict) and record.verdict.failing]
    assert all(record.replay == f"binlog-lab replay {record.case_file}" for record in shown)
    assert any(isinstance(record, Finding) for record in records)


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
