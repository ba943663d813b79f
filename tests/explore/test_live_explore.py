"""The command itself: short runs on real servers, wrong calls, and Ctrl-C."""

from __future__ import annotations

import json
import re
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.live import ROOT, lab, nothing_left, run_directories, started, until

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.install.installation import Installation

PAGE = ROOT / "docs/tasks/explore.md"


def results(report: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((report / "results.json").read_text("utf-8"))
    return found


@pytest.mark.live
@pytest.mark.parametrize(("topology", "seed"), [pytest.param("single", 22, marks=pytest.mark.nightly), ("pair", 4)])
def test_a_short_run_ends_with_a_verdict_and_a_report(
    installation: Installation, topology: str, seed: int, tmp_path: Path
) -> None:
    words = ("--topology", topology, "--steps", "300", "--seed", str(seed), "--shrink-seconds", "5")
    end = lab("explore", "--server", "process", *words, "--report", "report", cwd=tmp_path)
    assert end.code in (0, 1), end.text
    found = results(tmp_path / "report")
    run = found["run"]
    assert (run["topology"], run["seed"], run["complete"], run["exit_code"]) == (topology, seed, True, end.code)
    assert run["steps"] >= 300
    assert (end.code == 1) == any(not finding["known"] for finding in found["findings"])
    asked = {"snapshot", "twin/answers", "twin/rows", "index"} | ({"replica"} if topology == "pair" else set())
    assert asked <= set(found["census"]["oracles"])
    assert f"{run['steps']:,}" in (tmp_path / "report" / "index.html").read_text("utf-8")
    assert f"seed {seed}" in end.err
    for finding in found["findings"]:
        case = tmp_path / "report" / "cases" / finding["file"]
        assert case.read_text("utf-8").strip()
        assert json.loads(case.with_suffix(".json").read_text("utf-8"))["name"] == finding["name"]


@pytest.mark.live
def test_ctrl_c_ends_a_run_as_incomplete_with_a_report(installation: Installation, tmp_path: Path) -> None:
    program = started(
        "explore", "--server", "process", "--topology", "single", "--seconds", "600", "--seed", "1", cwd=tmp_path
    )
    assert until(lambda: run_directories(program.pid), program=program)  # a server starts, or has started
    program.send_signal(signal.SIGINT)
    assert until(lambda: program.poll() is not None)
    assert program.returncode == 4, (tmp_path / "err").read_text()
    assert nothing_left(program)
    run = results(tmp_path / "explore-report")["run"]
    assert (run["complete"], run["incomplete_reason"], run["exit_code"]) == (False, "interrupted", 4)
    assert "Incomplete" in (tmp_path / "explore-report" / "index.html").read_text("utf-8")


SCRIPTS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.live
def test_the_script_of_the_page_is_a_live_test(installation: Installation) -> None:
    (script,) = SCRIPTS
    exec(script, {})


@pytest.mark.live
def test_the_script_of_the_page_can_fail(installation: Installation) -> None:
    with pytest.raises(AssertionError):
        exec(SCRIPTS[0].replace("== []", "!= []"), {})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--seconds", "5", "--steps", "5"), "exclude each other"),
        (("--topology", "ring"), "'ring' is not one of"),
        (("--steps", "0"), "'--steps'"),
        (("--seconds", "0"), "'--seconds'"),
        (("--seed", "-1"), "'--seed'"),
        (("--shrink-seconds", "-1"), "'--shrink-seconds'"),
        (("--jobs", "-1"), "'--jobs'"),
        (("--jobs", "2", "--master", "local[1]"), "exclude each other"),
        (("--master", "local[1]", "--server", "docker"), "--master needs one --server that each executor can start"),
        (("--topology", "single", "--replica", "process"), "the topology single has no replica"),
        (("--replica", "mysql://root@127.0.0.1:3306"), "servers that the lab starts itself"),
        (("--server", "none"), "servers that the lab starts itself"),
        (("--server", "mysql://root@127.0.0.1:3306"), "servers that the lab starts itself"),
        (("--server", "recorded:somewhere"), "servers that the lab starts itself"),
        (("--server", "dokcer"), "server spec 'dokcer'"),
        (("extra",), "unexpected extra argument"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_call_is_told_before_anything_starts(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    end = lab("explore", *words, cwd=tmp_path)
    assert (end.code, end.out) == (2, ""), end.text
    assert said in end.err
    assert "Traceback" not in end.err
    assert not (tmp_path / "explore-report").exists()


def test_a_program_that_is_not_there_could_not_run(tmp_path: Path) -> None:
    assert lab("explore", "--server", "process:/no/such", cwd=tmp_path).code == 3


@pytest.mark.live
def test_a_folder_of_other_things_is_left_alone(installation: Installation, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("mine")
    end = lab("explore", "--steps", "10", "--report", "mine", cwd=tmp_path)
    assert end.code == 2, end.text
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes"]
