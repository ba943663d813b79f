"""Runs in shares: which episodes each has, how tallies come together, and runs side by side and on Spark."""

from __future__ import annotations

import pickle
import signal
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.explore import explorer as explorer_module
from conformance.explore import shares as shares_module
from conformance.explore.explorer import Explorer, Plan
from conformance.explore.findings import Finding
from conformance.explore.oracles.problem import Problem
from conformance.explore.shares import EPISODES, Explored, Shares, SparkShares, run_side_by_side, take_rows
from conformance.explore.steps import Step
from conformance.explore.tally import Tally
from conformance.servers.errors import ServerError, ServerUnavailable
from conformance.servers.run.process import ProcessMaker
from tests.explore.test_live_explore import results
from tests.explore.test_live_pipeline import forget
from tests.live import lab, nothing_left, run_directories, started, until

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.install.installation import Installation

UPDATE = Step("UPDATE t0 SET j = ⟦JSON_SET(j, '$.a', 1)⟧", "update")
FOUND = Finding(Problem("index", "rows of a plain index", ""), (UPDATE,), "single", 5, 2, text="SELECT 1;\n")
OTHER = Finding(Problem("twin", "rows: json", ""), (UPDATE,), "single", 5, 9, text="SELECT 2;\n")


def shares(folder: Path | None = None, **plan: Any) -> Shares:
    maker: Any = SimpleNamespace(version="9.7.4")
    return Shares(Explorer(maker, Plan(topology="single", seed=5, **plan), lambda _: None, folder))


def tally(*findings: Finding, steps: int = 100) -> Explored:
    """The outcome of a share, as another process sends it."""
    made = Tally(findings=[replace(finding, name="") for finding in findings], steps=steps, episodes=3, exploring=2.0)
    made.answers["update: ok"] = 7
    made.pairs["check", "view"] = 1
    sent: Explored = pickle.loads(pickle.dumps(Explored(made, ["a line"])))
    return sent


def test_shares_have_different_episodes() -> None:
    given = shares(seconds=60.0)
    plans = [given.next() for _ in range(3)]
    assert [plan and plan.first for plan in plans] == [0, EPISODES, 2 * EPISODES]
    assert all(plan and (plan.episodes, plan.seed, plan.steps) == (EPISODES, 5, None) for plan in plans)
    assert all(plan and plan.seconds and 0 < plan.seconds <= 60 for plan in plans)


def test_no_more_statements_are_given_out_than_the_run_has() -> None:
    given = shares(steps=EPISODES * 160 + 100)
    first, second = given.next(), given.next()
    assert first is not None
    assert second is not None
    assert (first.steps, second.steps, given.next()) == (EPISODES * 160, 100, None)
    given.take(second, tally(steps=30))  # its last episode ended early
    third = given.next()
    assert third is not None
    assert third.steps == 70


def test_behind_its_time_a_run_gives_nothing_out() -> None:
    given = shares(seconds=60.0)
    given.explorer.started -= 60.0
    assert given.next() is None


def test_findings_of_shares_are_one_where_they_are_one_fault(tmp_path: Path) -> None:
    given = shares(tmp_path / "cases", steps=10_000)
    plan = given.next()
    assert plan is not None
    given.take(plan, tally(FOUND))
    given.take(plan, tally(OTHER, FOUND))
    run = given.explorer
    assert [(one.name, one.hits) for one in run.findings] == [("index-1", 2), ("twin-2", 1)]
    assert (run.steps, run.episodes, run.rate) == (200, 6, 50.0)
    assert (run.answers["update: ok"], run.pairs["check", "view"]) == (14, 2)
    assert {path.name for path in (tmp_path / "cases").iterdir()} == {
        "index-1.sql", "index-1.json", "twin-2.sql", "twin-2.json"
    }  # fmt: skip


def test_a_later_share_knows_what_was_met_and_counts_it_once() -> None:
    given = shares(steps=100_000)
    first = given.next()
    assert first is not None
    given.take(first, tally(FOUND))
    second = given.next()
    assert second is not None
    maker: Any = None
    explorer = Explorer(maker, second, lambda _: None)
    assert [one.problem for one in explorer.findings] == [FOUND.problem]
    given.take(second, Explored(explorer.counts(), []))
    assert [one.hits for one in given.explorer.findings] == [1]


def failing() -> Any:
    raise ServerUnavailable("no server here", "none")


@pytest.mark.parametrize(
    ("find", "said"), [(failing, "no server here"), (lambda: SimpleNamespace(version="8"), "8 at")]
)
def test_a_worker_without_the_runs_server_is_an_error_of_the_run(find: Any, said: str) -> None:
    given = shares(steps=1000)
    plan = given.next()
    assert plan is not None
    row = SparkShares(find, "9.7.4", (plan,))._row(0)
    with pytest.raises(ServerError, match=said):
        take_rows(given, [plan], [row])


@pytest.mark.nightly
@pytest.mark.live
@pytest.mark.planted
def test_two_processes_find_one_fault_together(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(tmp_path, monkeypatch)
    monkeypatch.setattr(explorer_module, "PROOFS", 1)
    monkeypatch.setattr(shares_module, "EPISODES", 1)
    plan = Plan(topology="single", seed=3, steps=40, episode_steps=20, shrink_seconds=1)
    told: list[str] = []
    explorer = Explorer(ProcessMaker(installation), plan, told.append, tmp_path / "cases")
    run_side_by_side(explorer, 2)
    assert explorer.steps > 0
    found = [one for one in explorer.findings if one.problem.oracle == "mysqlbinlog"]
    assert found, told
    assert sum(one.hits for one in found) >= 2
    assert {one.name for one in explorer.findings} == {path.stem for path in (tmp_path / "cases").iterdir()}
    assert any("shrinking" in line for line in told)


@pytest.mark.live
@pytest.mark.parametrize(
    "words",
    [
        ("--jobs", "2"),
        pytest.param(("--master", "local[2]"), marks=(pytest.mark.spark, pytest.mark.nightly)),
        ("--replica", "process"),
    ],
    ids=lambda words: words[0],
)
def test_a_run_in_parts_ends_as_any_other(installation: Installation, words: tuple[str, ...], tmp_path: Path) -> None:
    topology = "pair" if "--replica" in words else "single"
    more = ("--topology", topology, "--steps", "300", "--seed", "3", "--shrink-seconds", "1")
    end = lab("explore", "--server", "process", *words, *more, cwd=tmp_path, fresh="--master" in words)
    assert end.code in (0, 1), end.text
    run = results(tmp_path / "explore-report")["run"]
    assert (run["complete"], run["exit_code"]) == (True, end.code)
    assert run["steps"] >= 300
    assert ("replica" in run["version"]) is ("--replica" in words)


@pytest.mark.live
def test_ctrl_c_ends_all_processes_of_a_run(installation: Installation, tmp_path: Path) -> None:
    words = ("--server", "process", "--topology", "single", "--seconds", "600", "--seed", "1", "--jobs", "2")
    program = started("explore", *words, cwd=tmp_path)
    assert until(lambda: run_directories(program.pid), program=program)
    program.send_signal(signal.SIGINT)
    assert until(lambda: program.poll() is not None)
    assert program.returncode == 4, (tmp_path / "err").read_text()
    assert nothing_left(program)
