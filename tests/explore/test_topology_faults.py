"""Planted faults of topologies: the oracle ``replica`` sees each of them, at as many replicas as have it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from conformance.explore.episode import Episode
from conformance.explore.topologies import TOPOLOGIES
from tests.explore.test_topologies import BEGINNING, MORE, world_of
from tests.explore.topology_faults import FAULTS
from tests.faults.runner import each

if TYPE_CHECKING:
    from conformance.servers.install.installation import Installation
    from tests.faults.fault import Fault


@pytest.mark.live
@pytest.mark.nightly
@each(FAULTS)
def test_the_oracle_sees_the_fault_of_a_replica(installation: Installation, fault: Fault) -> None:
    with world_of(installation, fault.at) as world:
        episode = Episode(world.begin())
        try:
            for step in (*BEGINNING, *MORE):
                assert not episode.step(step)[1]
            assert not episode.look()
            fault.change(world)
            for step in MORE:
                assert not episode.step(step)[1]
            problems = episode.look()
        finally:
            episode.close()
    assert {problem.oracle for problem in problems} == {fault.verdict}
    seen = [problem for problem in problems if re.match(fault.says, problem.kind)]
    assert len(seen) == fault.run["replicas"], problems


def test_each_topology_with_replicas_has_a_fault() -> None:
    assert {fault.at for fault in FAULTS} == {*TOPOLOGIES} - {"single", "pair"}  # a pair has a table of its own
