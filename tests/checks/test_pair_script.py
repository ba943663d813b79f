"""A Case on a pair as a script: which statements run where, and in which order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.cases.images import RowImage
from conformance.cases.topology import RebuiltRows, ReplicaSettings, Topology
from conformance.checks.rebuilding import KINDS
from conformance.cli.replay import as_sql
from tests.checks.test_rebuilding import CASE

SETTINGS = ReplicaSettings(image=RowImage.MINIMAL, partial_json=True, workers=1)
RETYPED = next(kind for kind in KINDS if kind.name == "retyped")


def script(make: str, *, later: bool = False) -> list[str]:
    case = RETYPED.prepare(CASE, trap=True)
    after = len(RETYPED.steps(CASE)) if later else 0
    topology = Topology(gtid=True, replicas=(SETTINGS,), rebuild=RebuiltRows(after=after, make=make))
    return as_sql(replace(case, id="u-1", topology=topology)).splitlines()


def place(lines: list[str], beginning: str) -> int:
    return next(number for number, line in enumerate(lines) if line.startswith(beginning))


@pytest.mark.parametrize("later", [False, True])
def test_the_replicas_rows_are_made_anew_between_the_sources_statements(later: bool) -> None:
    lines = script("retyped", later=later)
    assert "SET GLOBAL binlog_row_image = 'MINIMAL';" in lines[: place(lines, "-- ON THE SOURCE:")]
    emptied = place(lines, "DELETE FROM")
    assert lines[emptied - 3 : emptied] == [
        "-- ON THE REPLICA, when it has applied everything so far:",
        "USE lab;",
        "SET SESSION sql_log_bin = 0;",
    ]
    updates = [number for number, line in enumerate(lines) if line.startswith("UPDATE `t` SET `j`=")]
    before = sum(number < emptied for number in updates)
    assert before == (len(RETYPED.steps(CASE)) if later else 0)
    assert lines[-2:] == ["SHOW REPLICA STATUS;", "SELECT `j` FROM lab.`t`;"]


def test_a_dump_is_told_in_words() -> None:
    assert any("mysqldump" in line for line in script("dumped"))


def test_a_chain_has_its_last_server() -> None:
    topology = Topology(gtid=False, replicas=(SETTINGS, replace(SETTINGS, partial_json=False)))
    text = as_sql(replace(RETYPED.prepare(CASE, trap=True), id="u-2", topology=topology))
    assert "-- ON THE LAST SERVER, which follows the replica" in text
    assert "-- ON THE LAST SERVER, when it has applied everything" in text
