"""The compose files at work: a pair that replicates, with the home-made image, and nothing left of it."""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

import pytest

from tests.containers import compose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import DockerClient

pytestmark = pytest.mark.container


@pytest.fixture
def project(engine: DockerClient, mysql_image: str) -> Iterator[list[str]]:
    """Words in front of a compose command, with a project of its own, which is taken down afterwards."""
    words = compose.program()
    if words is None:
        pytest.skip("Docker Compose 2 is not here (neither the plugin nor docker-compose)")
    name = f"lab-test-{uuid.uuid4().hex[:8]}"
    begin = [*words, "--project-name", name]
    yield begin
    _on(begin, "down", "--volumes", "--timeout", "60")
    label = f"com.docker.compose.project={name}"
    assert engine.containers.list(all=True, filters={"label": label}) == []
    assert engine.networks.list(filters={"label": label}) == []
    assert engine.volumes.list(filters={"label": label}) == []


def _on(begin: list[str], *arguments: str) -> str:
    variables = {"SOURCE_IMAGE": "binlog-lab-mysql:latest", "REPLICA_IMAGE": "binlog-lab-mysql:latest"}
    variables |= {"SOURCE_PORT": "0", "REPLICA_PORT": "0", "DOCKER_HOST": os.environ.get("DOCKER_HOST", "")}
    answer = compose.run(tuple(begin), compose.DIRECTORY / "mysql-9.yaml", *arguments, **variables)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


def _ask(begin: list[str], service: str, sql: str) -> str:
    client = f'MYSQL_PWD=$MYSQL_ROOT_PASSWORD mysql -uroot -BN -e "{sql}"'
    return _on(begin, "exec", "-T", service, "sh", "-c", client).strip()


def test_a_pair_replicates_partial_json_after_its_one_shot_set_up(project: list[str]) -> None:
    _on(project, "up", "--detach", "--wait", "source", "replica")
    assert "replicates from source" in _on(project, "run", "--rm", "-T", "replication")
    _ask(project, "source", "CREATE DATABASE d; CREATE TABLE d.t (i INT PRIMARY KEY, j JSON)")
    _ask(
        project,
        "source",
        "SET binlog_row_value_options = PARTIAL_JSON; INSERT INTO d.t VALUES (1, JSON_OBJECT('a', 'long enough'));"
        " UPDATE d.t SET j = JSON_SET(j, '\\$.a', 'short')",
    )
    executed = _ask(project, "source", "SELECT @@GLOBAL.gtid_executed")
    assert _ask(project, "replica", f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 60)") == "0"
    assert _ask(project, "replica", "SELECT j FROM d.t") == '{"a": "short"}'
    assert "Update_rows_partial" in _ask(project, "source", "SHOW BINLOG EVENTS IN 'binlog.000002'")
