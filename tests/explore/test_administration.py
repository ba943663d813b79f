"""Acts of an administrator beside the statements, on one source and its replica."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.explore.episode import Episode
from conformance.explore.steps import KILL_SESSION, PURGE, RESTART, Step
from conformance.explore.topologies import TOPOLOGIES
from conformance.servers.run.process import ProcessMaker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.explore.oracles.problem import Problem
    from conformance.explore.world import World
    from conformance.servers.install.installation import Installation

pytestmark = pytest.mark.live

TABLE = (
    Step("CREATE TABLE t0 (id INT PRIMARY KEY, j JSON)", "create-table"),
    Step("""INSERT INTO t0 VALUES (1, '{"a": 1, "s": "long enough for a diff to pay"}')""", "insert"),
)
UPDATE = Step("UPDATE t0 SET j = ⟦JSON_SET(j, '$.a', 2)⟧", "update")


@pytest.fixture(scope="module")
def world(installation: Installation) -> Iterator[World]:
    with TOPOLOGIES["pair"](ProcessMaker(installation, in_memory=True), lambda _: None) as made:
        yield made


@pytest.fixture
def episode(world: World) -> Iterator[Episode]:
    found = Episode(world.begin())
    try:
        assert run(found, *TABLE) == []
        yield found
    finally:
        found.close()


def run(episode: Episode, *steps: Step) -> list[Problem]:
    return [problem for step in steps for problem in episode.step(step)[1]]


def test_a_killed_session_loses_its_transaction_its_locks_and_its_settings(episode: Episode) -> None:
    off = Step("SET SESSION binlog_row_value_options = ''", "setting")
    assert run(episode, off, Step("BEGIN", "begin"), UPDATE, Step(KILL_SESSION, "kill-session")) == []
    other = Step("UPDATE t0 SET j = ⟦JSON_SET(j, '$.a', JSON_EXTRACT(j, '$.a') + 2)⟧", "update", session=1)
    assert run(episode, other, UPDATE) == []
    assert not episode.look(last=True)
    assert episode.tried["prediction/statements"] == 2  # 3, then 2: the session that followed logs diffs
    assert episode.errors["update: ok"] == 3


def test_a_statement_that_kills_itself_changes_nothing(episode: Episode) -> None:
    stop = Step(
        "CREATE FUNCTION stop_t0 (k INT, n INT) RETURNS INT DETERMINISTIC NO SQL BEGIN "
        "IF k = n THEN KILL QUERY CONNECTION_ID(); END IF; RETURN k; END",
        "create-function",
    )
    more = Step("INSERT INTO t0 SELECT id + 1, j FROM t0", "insert")
    killed = Step("UPDATE t0 SET j = ⟦JSON_SET(j, '$.a', stop_t0(id, 1))⟧", "update-interrupted")
    assert run(episode, stop, more, Step("BEGIN", "begin"), UPDATE) == []
    assert episode.step(killed) == (1317, [])
    assert run(episode, Step("COMMIT", "commit")) == []
    assert not episode.look(last=True)
    own = episode.world.own
    assert own.execute(f"SELECT j->'$.a' FROM {episode.world.schema('x')}.t0").texts() == [("2",), ("2",)]


def test_the_logs_of_former_episodes_are_purged_and_the_present_one_stays(episode: Episode) -> None:
    world = episode.world
    assert world.start is not None
    assert len(world.own.execute("SHOW BINARY LOGS").rows) > 1
    assert run(episode, Step(PURGE, "purge", alone=True), UPDATE) == []
    assert world.own.execute("SHOW BINARY LOGS").texts()[0][0] == world.start.file
    assert not episode.look(last=True)


def test_a_replica_goes_on_with_other_workers(episode: Episode) -> None:
    pair = episode.world.pairs[0]
    for workers in (1, 8):
        assert run(episode, Step(f"{RESTART}{workers}", "restart-replica", alone=True), UPDATE) == []
        assert pair.connection.variable("global.replica_parallel_workers") == str(workers)
    assert not episode.look()


def test_a_replica_that_had_stopped_by_itself_is_not_restarted_in_silence(episode: Episode) -> None:
    world = episode.world
    assert not episode.look()
    pair = world.pairs[0]
    with pair.replica.connect() as connection:
        connection.execute("SET sql_log_bin = 0")
        connection.execute(f"DELETE FROM {world.schema('x')}.t0")
    assert run(episode, UPDATE) == []
    assert [problem.key for problem in episode.look()] == [("replica", "stopped 1032")]
    problems = run(episode, Step(f"{RESTART}4", "restart-replica", alone=True))
    assert [problem.key for problem in problems] == [("replica", "stopped 1032")]
    episode.close()
    world.mend()


def test_the_log_changes_its_checksums_and_metadata_and_begins_anew_as_usual(episode: Episode) -> None:
    for name, value in (("binlog_row_metadata", "MINIMAL"), ("binlog_checksum", "NONE")):
        assert run(episode, Step(f"SET GLOBAL {name} = '{value}'", f"setting/{name}", alone=True)) == []
    assert run(episode, UPDATE) == []
    assert not episode.look(last=True)
    assert episode.tried["prediction/not covered: no names of columns in the log"] == 1
    world = episode.world
    world.begin()
    asked = "SELECT @@GLOBAL.binlog_row_metadata, @@GLOBAL.binlog_checksum"
    assert world.own.execute(asked).texts() == [("FULL", "CRC32")]
