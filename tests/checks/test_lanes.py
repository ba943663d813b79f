"""Who runs where: every module once, what shares a server on one worker."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import pytest

from conformance.checks.lanes import Lanes
from conformance.harness.experiments.manifests import experiments

CHECKS = Path(__file__).parents[2] / "conformance" / "checks"
ROOMS = [(str(path), path.parent.name) for path in sorted(CHECKS.glob("*/check*.py"))]
LANES = [
    {experiment.room for experiment in experiments().values() if experiment.lane == lane}
    for lane in ("replica", "applier")
]


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_every_module_runs_once_and_a_lane_has_one_worker_while_others_have_work(workers: int) -> None:
    lanes = Lanes(ROOMS)
    ran: dict[str, int] = {}
    helped: set[str] = set()
    shared = {room for names in LANES for room in names}
    free = {module for module, room in ROOMS if room not in shared}
    busy = set(range(workers))
    for worker in cycle(range(workers)):
        if worker in busy and (module := lanes.take(worker)) is not None:
            assert module not in ran
            if free <= set(ran) and module not in free:
                helped.add(module)
            ran[module] = worker
        else:
            busy.discard(worker)
        if not busy:
            break
    assert set(ran) == {module for module, _ in ROOMS}
    for names in LANES:
        assert len({ran[module] for module, room in ROOMS if room in names and module not in helped}) == 1


def test_a_lane_keeps_the_order_of_its_checks() -> None:
    lanes = Lanes([("a", "triggers"), ("b", "other"), ("c", "replicas"), ("d", "boundaries")])
    assert [lanes.take(0) for _ in range(5)] == ["a", "c", "d", "b", None]


def test_whoever_has_nothing_left_helps_at_the_end_of_the_longest_lane() -> None:
    lanes = Lanes([*((name, "replicas") for name in "abc"), *((name, "deviations") for name in "de"), ("f", "other")])
    assert [lanes.take(number) for number in (0, 1, 2, 2, 2, 2, 2)] == ["a", "d", "f", "c", "b", "e", None]


def test_there_are_no_more_workers_than_work() -> None:
    assert Lanes([]).workers(3) == 0
    assert Lanes([("a", "replicas"), ("b", "triggers")]).workers(3) == 1
    assert Lanes([("a", "replicas"), ("b", "other"), ("c", "other")]).workers(9) == 3
    assert Lanes(ROOMS).workers(3) == 3


def test_every_lane_is_one_of_the_two() -> None:
    assert {experiment.lane for experiment in experiments().values()} == {"", "replica", "applier"}


def test_the_experiments_that_need_a_replica_share_a_lane() -> None:
    """Experiments whose source asks the lab for a pair are in the first lane; one that only lists pairs is not."""
    asking = {
        path.relative_to(CHECKS).parts[0]
        for path in CHECKS.rglob("*.py")
        if any(word in path.read_text("utf-8") for word in ("lab.pair(", "lab.chain("))
    }
    assert asking == LANES[0]
