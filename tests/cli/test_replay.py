"""Stored Cases run again, and printed for a bug report; from a failing run to the replay command it printed."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.files import dump_case, load_case
from conformance.cases.row_images import RowImage
from conformance.checks.diff_conditions.table_features import STOPS, stopped
from conformance.cli import main as frame
from conformance.harness.updates.blocks import Limits, make_script
from generators.draw import Stream
from tests.harness import planted
from tests.harness.script_runs import run_script
from tests.live import ROOT, Ended, environment, lab
from tests.report.card_rules import assert_cards

if TYPE_CHECKING:
    from conformance.cases.update_case import UpdateCase
    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer

live = pytest.mark.live


def faulty(fault: str, report: Path, *arguments: str) -> Ended:
    """``binlog-lab conformance`` with a planted fault."""
    return run_planted(fault, "conformance", "--updates", "1", "--report", str(report), *arguments)


def run_planted(fault: str, *arguments: str) -> Ended:
    """``binlog-lab`` with a planted fault."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "harness" / "planted.py"), fault, *arguments],
        cwd=ROOT, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    return Ended(done.returncode, done.stdout, done.stderr)


def results(report: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((report / "results.json").read_text("utf-8"))
    return data


def store(case: UpdateCase, path: Path) -> Path:
    path.write_text(json.dumps(dump_case(case)), encoding="utf-8")
    return path


# --- from a run to its replay ----------------------------------------------------------------------------------------


@live
def test_a_deviation_that_is_not_listed_fails_and_its_replay_command_shows_it_again(
    installation: Installation, tmp_path: Path
) -> None:
    report = tmp_path / "a report"  # the command must survive the blank
    end = faulty("deviation", report, "-r", "FR2", "--no-deviations", "--seed", "7")
    assert end.code == 1, end.text
    found = results(report)
    assert found["run"]["complete"] is True
    assert found["requirements"]["FR2"]["verdict"] == "fail"
    # The checks of triggers find another deviation of FR2 in the same run.
    (finding,) = (item for item in found["findings"] if item["check"] == "updates/apply")
    assert finding["replay"] in end.out
    assert_cards(report)
    words = shlex.split(finding["replay"])
    assert words[:2] == ["binlog-lab", "replay"]
    assert "--no-deviations" in words

    again = lab(*words[1:])
    assert again.code == 1, again.text
    assert again.out.startswith(f"FAILED  {finding['case']}")
    assert "3648" in again.out

    as_in_the_run = lab("replay", words[-1], cwd=tmp_path)
    assert (as_in_the_run.code, as_in_the_run.out.split()[0]) == (1, "FAILED"), as_in_the_run.text

    listed = lab("replay", "--with-deviations", words[-1])
    assert (listed.code, listed.out.split()[0]) == (0, "DEVIATES"), listed.text
    assert "listed deviation: refuse_unchanging_replace" in listed.out

    script = lab("replay", words[-1], "--as", "sql")
    assert script.code == 0, script.text
    told = run_script(installation, script.out, tmp_path)
    assert any("ERROR 3648" in check.got for check in told.faults), told.text


@live
def test_a_run_with_a_failure_ends_with_1_and_shows_it_everywhere(tmp_path: Path) -> None:
    report = tmp_path / "report"
    end = faulty("value-of-a-row", report, "-r", "F3", "-r", "IP1")
    assert end.code == 1, end.text
    found = results(report)
    assert found["requirements"]["F3"]["verdict"] == "fail"
    assert found["requirements"]["FR1"]["verdict"] == "pass"
    assert found["requirements"]["IP1"]["verdict"] == "pass"
    failure = found["failures"][0]
    assert "NONCONFORMANT" in end.out
    assert failure["field"] in end.out
    assert "<failure" in (report / "junit.xml").read_text("utf-8")
    assert failure["field"] in (report / "index.html").read_text("utf-8")
    for name in (failure["case_file"], found["findings"][0]["case_file"]):
        assert load_case(json.loads((report / "cases" / Path(name).name).read_text("utf-8"))).steps
    # The fault was in the run, not in the server: without it the Case passes.
    replayed = lab("replay", failure["case_file"])
    assert replayed.code == 0, replayed.text
    assert replayed.out.startswith("FIXED  ")


@live
@pytest.mark.planted("F3", "IP2")
@pytest.mark.parametrize(
    ("fault", "requirement"), [("other-order", "F3"), pytest.param("lost-rows", "IP2", marks=pytest.mark.nightly)]
)
def test_garbage_ends_as_a_stored_shrunk_case_that_replays(fault: str, requirement: str, tmp_path: Path) -> None:
    """A document in another order, all rows lost: findings, never a failure of the lab."""
    end = faulty(fault, tmp_path / "report", "-r", requirement)
    assert end.code == 1, end.text
    found = results(tmp_path / "report")
    assert found["run"]["complete"] is True
    assert found["requirements"][requirement]["verdict"] in ("fail", "differs")
    finding = found["findings"][0]
    assert finding["size_after"] < finding["size_before"]
    assert load_case(json.loads(Path(finding["case_file"]).read_text("utf-8"))).steps
    shown = run_planted(fault, "replay", finding["case_file"])
    assert (shown.code, shown.out.split()[0]) == (1, "FAILED"), shown.text
    plain = lab("replay", finding["case_file"])
    assert (plain.code, plain.out.split()[0]) == (0, "FIXED"), plain.text


@live
def test_a_defect_of_the_kit_is_no_pass(tmp_path: Path) -> None:
    end = faulty("defect", tmp_path / "report", "-r", "FR1", "-r", "F3")
    assert end.code == 3, end.text
    assert "a defect of the kit" in end.err
    assert results(tmp_path / "report")["run"]["complete"] is False


@live
@pytest.mark.parametrize(("stale", "code"), [(False, 0), (True, 1)])
def test_a_list_of_deviations_is_as_strict_as_its_witnesses(tmp_path: Path, stale: bool, code: int) -> None:
    store(planted.case() if stale else planted.witness(), tmp_path / "witness.json")
    (tmp_path / "list.toml").write_text(
        '[[deviation]]\nid = "mine"\nrequirements = ["IP3"]\nswitch = "refuse_unchanging_replace"\n'
        'versions = "8.0.3.."\nwitness = "witness.json"\nreason = "a test"\n'
        '[[deviation]]\nid = "nests"\nrequirements = ["IP3"]\nswitch = "nests_without_limit"\n'
        'versions = "8.0.3.."\nreason = "the checks of IP3 meet it too"\n',
        encoding="utf-8",
    )
    end = lab(
        "conformance", "-r", "IP3", "--updates", "100", "--deviations", tmp_path / "list.toml",
        "--report", tmp_path / "report",
    )  # fmt: skip
    assert end.code == code, end.text
    found = results(tmp_path / "report")
    if stale:
        assert "the list is in error" in found["failures"][0]["message"].lower()
        assert found["failures"][0]["verdict"] == "fixed"
    else:
        assert [entry["id"] for entry in found["deviations"]] == ["mine", "nests"]


# --- replay ----------------------------------------------------------------------------------------------------------


@live
def test_pass_failed_and_error_have_their_words_and_the_worst_decides(server: ProcessServer, tmp_path: Path) -> None:
    good = store(planted.case(), tmp_path / "good.json")
    bad = store(planted.witness(), tmp_path / "bad.json")
    address = server.tcp_address()
    server_words = ["--server", f"mysql://{address}"]
    env = {"BINLOG_LAB_PASSWORD": address.password or ""}
    fixed = lab("replay", good, *server_words, env=env)
    assert (fixed.code, fixed.out.split()[0]) == (0, "PASS"), fixed.text
    both = lab("replay", good, bad, *server_words, "--no-deviations", "--allow", "stops-replica", env=env)
    assert both.code == 1, both.text
    assert [line.split()[0] for line in both.out.splitlines() if not line.startswith(" ")] == ["PASS", "FAILED"]
    # A guest's house: a Case with a hazard needs leave.
    kept_out = lab("replay", bad, good, *server_words, env=env)
    assert kept_out.code == 3, kept_out.text
    assert [line.split()[0] for line in kept_out.out.splitlines() if not line.startswith(" ")] == ["ERROR", "PASS"]
    assert "--allow stops-replica" in kept_out.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such Case file"),
        ("", "not a Case"),
        ("[]", "not a Case: expected an object"),
        ("{}", "case"),
        ('{"format": 1, "kind": "nonsense"}', "kind"),
        (b"\xff\xfe", "not a Case"),
    ],
)
def test_what_is_no_case_ends_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | bytes | None, message: str
) -> None:
    path = tmp_path / "case.json"
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert frame.run(["replay", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert str(path) in captured.err
    assert message in captured.err


def test_a_case_needs_a_server_to_run_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = store(planted.case(), tmp_path / "case.json")
    assert frame.run(["replay", str(path), "--server", "none"]) == 2
    assert "needs a server" in capsys.readouterr().err
    assert frame.run(["replay", str(path), "--server", "mysql://root@127.0.0.1:1"]) == 3
    assert "Connection refused" in capsys.readouterr().err


def test_a_case_printed_as_json_is_the_same_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(3):
        case = replace(make_script("print", number, Limits(), updates=20).case, id="printed")
        path = store(case, tmp_path / "case.json")
        assert frame.run(["replay", str(path), "--as", "json"]) == 0
        assert load_case(json.loads(capsys.readouterr().out)) == case


@live
def test_statements_for_a_replica_run_on_a_pair(tmp_path: Path) -> None:
    case = stopped(Stream("replay"), STOPS[2], RowImage.MINIMAL, "stops")
    data = dump_case(case)
    (tmp_path / "right.json").write_text(json.dumps(data), encoding="utf-8")
    next(item for item in data["statements"] if item.get("note") == "the applier stops")["outcomes"] = [{}]
    (tmp_path / "wrong.json").write_text(json.dumps(data), encoding="utf-8")
    end = lab("replay", str(tmp_path / "right.json"), str(tmp_path / "wrong.json"))
    assert end.code == 1, end.text
    first, second, *rest = end.out.splitlines()
    assert (first.split()[0], second.split()[0]) == ("PASS", "FAILED")
    assert "expected success" in rest[1]
    assert "got      error 3648" in rest[2]
