"""Several processes for one target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fuzz.runner.campaign import Joined, divided, run, shares
from fuzz.runner.findings import read
from fuzz.runner.run import Budget, TargetState

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fuzz.runner.campaign import Campaign
    from fuzz.runner.findings import Store
    from fuzz.runner.targets import Target

RUNS = 6001


def fuzz(target: Target, store: Store, jobs: int, corpora: Path | None = None) -> Campaign:
    budget = Budget(runs=RUNS, timeout=1, shrink_seconds=1.0, corpora=corpora)
    return run([target], budget, store, jobs=jobs, show=lambda _: None, split=True)


@pytest.mark.parametrize(
    ("count", "jobs", "expected"),
    [(1, 4, [4]), (3, 2, [1, 1, 1]), (2, 5, [3, 2]), (3, 3, [1, 1, 1]), (1, 1, [1]), (0, 2, [])],
)
def test_jobs_are_shared_out_evenly(count: int, jobs: int, expected: list[int]) -> None:
    assert shares(count, jobs) == expected


def test_the_parts_of_a_budget_are_the_budget(toy: Callable[[str], Target]) -> None:
    state, parts = divided(toy("clean"), Budget(runs=10, seed=7), 3)
    assert isinstance(state, Joined)
    assert [budget.runs for _, budget in parts] == [4, 3, 3]
    assert len({budget.seed for _, budget in parts}) == 3
    assert parts[0][1].seed == 7
    _, parts = divided(toy("clean"), Budget(runs=2), 5)
    assert [budget.runs for _, budget in parts] == [1, 1]
    _, parts = divided(toy("clean"), Budget(seconds=9.0), 2)
    assert [budget.seconds for _, budget in parts] == [9.0, 9.0]


def test_the_state_of_a_target_is_that_of_its_processes(toy: Callable[[str], Target]) -> None:
    parts = [TargetState(toy("clean")) for _ in range(3)]
    whole = Joined(toy("clean"), parts=parts)
    for number, part in enumerate(parts, 1):
        part.executions, part.seconds, part.processor, part.phase = number, 10.0 * number, 2.0, "done"
    parts[1].edges, parts[1].phase, parts[2].trouble = 7, "shrinking", "no coverage"
    whole.refresh()
    assert (whole.executions, whole.seconds, whole.processor, whole.edges) == (6, 30.0, 6.0, 7)
    assert (whole.phase, whole.trouble, whole.rate) == ("shrinking", "no coverage", 0.2)


@pytest.mark.usefixtures("atheris")
def test_one_target_is_split_over_processes_with_one_finding(toy: Callable[[str], Target], store: Store) -> None:
    figures = []
    for _ in range(2):
        campaign = fuzz(toy("bug"), store, 3)
        (state,) = campaign.states
        assert isinstance(state, Joined)
        assert [part.executions for part in state.parts] == [2001, 2000, 2000]
        (finding,) = state.findings
        assert read(finding.path) == finding
        figures.append((state.executions, state.edges, [part.edges for part in state.parts]))
    assert figures[0] == figures[1]
    assert figures[0][0] == RUNS


@pytest.mark.usefixtures("atheris")
def test_no_process_of_a_repeatable_run_changes_the_kept_inputs(
    toy: Callable[[str], Target], store: Store, tmp_path: Path
) -> None:
    (tmp_path / "toy-clean").mkdir()
    (tmp_path / "toy-clean" / "one").write_bytes(b"TOY\2kept")
    (state,) = fuzz(toy("clean"), store, 2, tmp_path).states
    assert state.executions == RUNS
    assert [path.name for path in (tmp_path / "toy-clean").iterdir()] == ["one"]
