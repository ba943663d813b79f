"""Real servers are asked what the dialect table claims to know, and show nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.harness.version_probes import gather
from conformance.judge.probes import contradiction_words, probe_all
from conformance.requirements.versions import SWITCHES, dialect_of
from conformance.servers.errors import SqlError
from conformance.servers.roles.old_server import launch_old
from conformance.servers.run.process import ProcessMaker
from tests.live import ROOT

if TYPE_CHECKING:
    from conformance.servers.base import Server
    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer

pytestmark = pytest.mark.live
# What a server with GTIDs cannot show, and what no server is asked.
SILENT = {
    "previous_gtids_always", "anonymous_gtid", "max_row_versions", "expected_deviations", "initialises_itself",
    "utf8mb4_is_safe", "secure_file_priv_empty", "row_end_check", "small_lob_changes",
}  # fmt: skip


_LEFT = ("SHOW SCHEMAS", "SELECT User, Host FROM mysql.user ORDER BY User, Host")  # what questions could leave


def asked(server: Server) -> dict[str, Any]:
    """Its answers, which survive being stored."""
    answers = gather(server)
    assert json.loads(json.dumps(answers)) == answers
    return answers


def test_the_newest_server_shows_what_the_table_says(server: ProcessServer) -> None:
    with server.connect() as connection:
        before = [connection.execute(statement).texts() for statement in _LEFT]
        probed = probe_all(server.number, asked(server))
        assert [connection.execute(statement).texts() for statement in _LEFT] == before
    assert [contradiction_words(server.number, item) for item in probed if item.agrees is False] == []
    assert {item.row for item in probed if item.agrees is None} == SILENT


def test_the_recorded_answers_are_those_of_the_server(server: ProcessServer) -> None:
    recorded = json.loads((ROOT / "tests/data/answers/9.7.4.json").read_text("utf-8"))
    assert set(asked(server)) == set(recorded)


def test_an_old_server_shows_what_the_table_says(old_server: Installation) -> None:
    with launch_old(ProcessMaker(old_server), narrate=lambda _: None) as server:
        probed = probe_all(server.number, asked(server))
        assert [contradiction_words(server.number, item) for item in probed if item.agrees is False] == []
        assert sum(item.agrees is True for item in probed) >= len(SWITCHES) - 11


@pytest.mark.nightly
def test_instant_changes_end_where_the_table_says(server: ProcessServer) -> None:
    most = dialect_of(server.number).server.max_row_versions
    assert most is not None
    with server.connect() as connection, server.schema(connection):
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY)")
        connection.execute("SET SESSION sql_log_bin = 0")
        statements = [f"ALTER TABLE t ADD COLUMN c{number} INT, ALGORITHM=INSTANT" for number in range(most)]
        connection.execute_many(statements).check()
        with pytest.raises(SqlError) as refused:
            connection.execute("ALTER TABLE t ADD COLUMN more INT, ALGORITHM=INSTANT")
        assert refused.value.number == 4092
