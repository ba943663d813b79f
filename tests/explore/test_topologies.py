"""Each topology on real servers: a short script is seen to be right, and a row changed at a replica is seen.

Pairs, positions and the parallel applier always; the others every night: they take a hundred seconds.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from conformance.explore.episode import Episode, run_script
from conformance.explore.steps import Step
from conformance.explore.topologies import TOPOLOGIES
from conformance.explore.topologies.cloned import CLONED
from conformance.explore.topologies.locked import RETRIES, RowLocks
from conformance.explore.topologies.rivals import DONE, REFUSED
from conformance.servers.run.process import ProcessMaker
from tests.live import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.explore.world import World
    from conformance.servers.install.installation import Installation

BEGINNING = (
    Step("CREATE TABLE t0 (id INT PRIMARY KEY, j JSON, g INT AS (JSON_LENGTH(j)), INDEX (g))", "create-table"),
    Step("""INSERT INTO t0 (id, j) VALUES (1, '{"a": [1, 2, 3], "s": "long enough to be worth a diff"}')""", "insert"),
    Step("""INSERT INTO t0 (id, j) VALUES (2, '{"a": [], "s": "another document of some length"}')""", "insert"),
)
# A diff that inserts into an array or removes from it shows when it is applied twice, or not at all.
MORE = (
    Step("UPDATE t0 SET j = ⟦JSON_SET(j, '$.a[999]', 4)⟧", "update"),
    Step("UPDATE t0 SET j = ⟦JSON_REMOVE(j, '$.a[0]')⟧ WHERE id = 1", "update"),
    Step("BEGIN", "begin"),
    Step("UPDATE t0 SET j = ⟦JSON_REPLACE(j, '$.s', 'short')⟧ WHERE id = 2", "update"),
    Step("UPDATE t0 SET j = ⟦JSON_SET(j, '$.a[999]', id)⟧", "update"),
    Step("COMMIT", "commit"),
)
SCRIPT = (*BEGINNING, *MORE, Step("ALTER TABLE t0 ADD COLUMN k JSON", "alter"), *MORE)


@contextmanager
def world_of(installation: Installation, name: str) -> Iterator[World]:
    """A world of this topology."""
    with TOPOLOGIES[name](ProcessMaker(installation, in_memory=True), lambda _: None) as world:
        yield world


def plant(world: World) -> None:
    """Change a row of the last replica behind the back of replication."""
    pair = world.pairs[-1]
    with pair.replica.connect() as connection:
        was = connection.variable("global.super_read_only")
        connection.execute("SET GLOBAL super_read_only = OFF")
        connection.execute("SET SESSION sql_log_bin = 0")
        connection.execute(f"UPDATE {pair.schema(world.schema('x'))}.t0 SET j = '[7]' WHERE id = 2")
        connection.execute(f"SET GLOBAL super_read_only = {was}")


def show(world: World) -> None:
    """The oracles see nothing in the script, then the planted row, and after mending nothing again."""
    assert not run_script(world, SCRIPT)
    world.begin()
    episode = Episode(world)
    for step in SCRIPT:
        assert not episode.step(step)[1]
    assert not episode.look()
    plant(world)
    assert [problem.key for problem in episode.look()] == [("replica", "rows: generated value and json")]
    episode.close()
    world.mend()
    assert not run_script(world, SCRIPT)


def test_the_page_has_a_row_for_each_topology() -> None:
    rows = re.findall(
        r"^\| `([\w-]+)` \|", (ROOT / "docs/tasks/explore-topologies.md").read_text("utf-8"), re.MULTILINE
    )
    assert sorted(rows) == sorted(TOPOLOGIES)


@pytest.mark.sampled(1)
@pytest.mark.live
@pytest.mark.parametrize(
    "name",
    [
        "pair", "positions",
        *(pytest.param(name, marks=pytest.mark.nightly)
          for name in ("assign-gtids", "chain", "durable", "privileges", "rewrite-db")),
    ],
)  # fmt: skip
def test_a_replica_has_the_rows_and_a_changed_row_is_seen(installation: Installation, name: str) -> None:
    with world_of(installation, name) as world:
        show(world)


@pytest.mark.live
@pytest.mark.nightly
def test_semisync_waits_for_the_replica(installation: Installation) -> None:
    with world_of(installation, "semisync") as world:
        show(world)
        with world.source.connect() as own:
            asked = "SHOW STATUS LIKE 'Rpl_semi_sync_source_{}_tx'"
            waited, alone = (own.execute(asked.format(kind)).texts()[0][1] for kind in ("yes", "no"))
        assert int(waited or 0) > int(alone or 0)


@pytest.mark.live
@pytest.mark.nightly
def test_a_replica_is_cloned_after_the_first_update(installation: Installation) -> None:
    with world_of(installation, "clone") as world:
        show(world)
        assert world.happened()[CLONED] == 3


@pytest.mark.live
def test_the_parallel_applier_tries_transactions_again(installation: Installation) -> None:
    with world_of(installation, "parallel") as world:
        world.companions = (RowLocks(world, every=4),)
        show(world)
        assert world.happened()[RETRIES] > 0


@pytest.mark.live
@pytest.mark.nightly
def test_a_group_with_one_primary(installation: Installation) -> None:
    with world_of(installation, "group") as world:
        show(world)


@pytest.mark.live
@pytest.mark.nightly
def test_a_group_refuses_what_conflicts(installation: Installation) -> None:
    with world_of(installation, "group-multi") as world:
        show(world)
        happened = world.happened()
        assert happened[DONE] > 0
        assert any(name.startswith(REFUSED) for name in happened)


@pytest.mark.live
@pytest.mark.nightly
def test_kills_of_source_and_replica_leave_each_diff_applied_once(installation: Installation) -> None:
    with world_of(installation, "durable") as world:
        world.begin()
        episode = Episode(world)
        for step in BEGINNING:
            assert not episode.step(step)[1]
        lost = MORE[2:5]  # it is not committed
        for _ in range(20):
            for step in (*MORE, *lost):
                assert not episode.step(step)[1]
            world.kill_source()
            for step in MORE:
                assert not episode.step(step)[1]
            world.kill_replica()
        assert not episode.look(last=True)
        rows = world.own.execute(f"SELECT JSON_LENGTH(j, '$.a') FROM {world.schema('x')}.t0 ORDER BY id").texts()
        assert rows == [(str(3 + 40),), (str(2 * 40),)]
