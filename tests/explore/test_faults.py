"""Planted faults: the oracle that is due sees each of them, and no other one before it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from conformance.explore.topologies import TOPOLOGIES
from conformance.servers.run.process import ProcessMaker
from tests.explore.bench import Bench
from tests.explore.faults import FAULTS
from tests.faults.runner import each

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.explore.world import World
    from conformance.servers.install.installation import Installation
    from tests.faults.fault import Fault


@pytest.fixture(scope="module")
def world(installation: Installation) -> Iterator[World]:
    """One pair of servers for all faults."""
    with TOPOLOGIES["pair"](ProcessMaker(installation), lambda _: None) as made:
        yield made


@pytest.mark.live
def test_without_a_fault_no_oracle_sees_anything(world: World) -> None:
    bench = Bench(world)
    assert bench.problems() == []
    tried = bench.episode.tried
    assert {name for name in tried if not name.startswith("prediction/")} == {
        "snapshot", "twin/answers", "twin/rows", "replica", "index", "check-table", "generated", "fulltext",
        "growth", "mysqlbinlog", "apply", "prediction",
    }  # fmt: skip
    assert (tried["prediction/statements"], tried["prediction/rows"]) == (2, 2)
    assert tried["prediction/not covered: no UPDATE as a session sent it"] == 1  # EXECUTE


@pytest.mark.sampled(10)
@pytest.mark.live
@each(FAULTS)
def test_the_oracle_that_is_due_sees_the_fault(world: World, fault: Fault) -> None:
    problems = Bench(world).problems(fault)
    assert {problem.oracle for problem in problems} == {fault.verdict}, problems
    assert any(re.search(fault.says, problem.kind) for problem in problems), problems


@pytest.mark.live
def test_the_world_is_as_sound_as_before(world: World) -> None:
    assert Bench(world).problems() == []


def test_there_are_forty_faults_and_each_oracle_is_due() -> None:
    assert len({fault.id for fault in FAULTS}) == len(FAULTS) >= 40
    assert {fault.verdict for fault in FAULTS} == {
        "replica", "twin", "index", "check-table", "generated", "snapshot", "mysqlbinlog", "died", "time", "reading",
        "apply", "growth", "fulltext", "prediction",
    }  # fmt: skip
