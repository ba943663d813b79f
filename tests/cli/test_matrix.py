"""``binlog-lab matrix`` and the replay of its scenarios."""

from __future__ import annotations

import pytest

from conformance.cli.main import run
from scenarios.expected.events import Due
from scenarios.matrix import matrix_names
from scenarios.spark.session import SparkUnavailable


def test_the_matrices_are_listed_with_axes_and_budgets(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["matrix", "list"]) == 0
    out = capsys.readouterr().out
    for name in matrix_names():
        assert f"\n{name} " in f"\n{out}"
    assert "FR12 full-plus-one: Where nothing is logged as diffs, the event grows by 1 byte" in out


def test_a_scenario_is_replayed_without_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", "matrix:break-even/17/3", "matrix:safety/40/1"]) == 0
    out = capsys.readouterr().out
    assert "PASS  matrix:break-even/17/3\n  settings: margin -9, shape array, pairs 3" in out
    assert "PASS  matrix:safety/40/1" in out


def test_a_scenario_that_fails_is_said_with_the_reason(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scenarios.engines.update.apply_field", lambda *_: b"\x04\x00")
    assert run(["replay", "matrix:break-even/200/0"]) == 1
    out = capsys.readouterr().out
    assert "FAILED  matrix:break-even/200/0" in out
    assert "APPLIED: j0: the diffs give another document" in out


def test_a_broken_budget_fails_a_replay(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scenarios.engines.update.due_of", lambda *_: Due(on=1, off=1))
    assert run(["replay", "matrix:size-budget/0/0"]) == 1
    assert "budget off-unchanged (FR13) is broken" in capsys.readouterr().out


def test_a_failure_of_the_lab_is_an_error(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scenarios.engines.update.due_of", lambda *_: 1 // 0)
    assert run(["replay", "matrix:size-budget/0/0"]) == 3
    assert "BROKEN: ZeroDivisionError" in capsys.readouterr().out


def test_a_scenario_is_printed_as_a_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", "matrix:size-budget/9/4", "--as", "sql"]) == 0
    out = capsys.readouterr().out
    assert "UPDATE `m` SET `j0`=JSON_" in out
    assert "'rows changed: 1' AS expected" in out


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("matrix:nothing/1/2", "no matrix 'nothing'"),
        ("matrix:images/1", "expected matrix:NAME/CELL/INDEX, got 'matrix:images/1'"),
        ("matrix:images/99999/0", "matrix images: no cell 99999; cells are 0 to 359"),
    ],
)
def test_a_wrong_replay_id_is_a_usage_error(name: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", name]) == 2
    assert message in capsys.readouterr().err


def test_a_scenario_that_is_no_update_has_no_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", "matrix:safety/1/2", "--as", "sql"]) == 2
    assert "its scenarios are no updates" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "master"),
    [([], "local[*]"), (["--jobs", "3"], "local[3]"), (["--master", "local[2]"], "local[2]")],
)
def test_jobs_are_tasks_of_a_local_spark(
    words: list[str], master: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(asked: str) -> None:
        raise SparkUnavailable(f"asked for {asked}")

    monkeypatch.setattr("scenarios.spark.session.session", none)
    monkeypatch.setattr("scenarios.spark.session.require_packages", lambda: None)
    assert run(["matrix", "run", "break-even", *words]) == 3
    assert f"asked for {master}\n" in capsys.readouterr().err


def test_jobs_and_master_are_one_thing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["matrix", "run", "break-even", "--jobs", "2", "--master", "local[2]"]) == 2
    assert "give one of them" in capsys.readouterr().err
