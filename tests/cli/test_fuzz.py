"""``binlog-lab fuzz``: exit codes, what is printed where, and that an interrupted run leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.cli.main import run
from conformance.extras import to_install
from conformance.subjects.answers import Hello
from conformance.subjects.one_shot import OneShot
from fuzz.campaigns.known import Known
from fuzz.runner.alone.sandbox import InputOutcome
from fuzz.runner.findings import Store
from fuzz.runner.targets import Target, own_targets
from tests.live import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
SHARED = Path(__file__).parents[1] / "fuzz" / "toys"


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Target]:
    """A toy target that the command line finds beside the others."""
    monkeypatch.syspath_prepend(str(SHARED))
    names = ("bug", "clean")
    toys = [Target(f"toy-{name}", f"toy_{name}", path=str(SHARED)) for name in names]
    hang = Target("toy-hang", "toy_hang", path=str(SHARED))
    monkeypatch.setattr("fuzz.runner.targets.own_targets", lambda: toys)
    monkeypatch.setattr("fuzz.runner.targets.peer_targets", lambda: [hang])
    return lambda name: next(target for target in [*toys, hang] if target.name == f"toy-{name}")


def test_the_list_has_a_line_for_each_target(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fuzz", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines][: len(own_targets())] == [target.name for target in own_targets()]
    assert all(line.rstrip().endswith((".", ")")) for line in lines)


@pytest.mark.parametrize(
    "arguments",
    [["run"], ["run", "nobody"], ["run", "empty", "--runs", "5", "--seconds", "5"], ["merge"], ["coverage"]],
)
def test_wrong_words_are_usage(arguments: list[str]) -> None:
    assert run(["fuzz", *arguments]) == 2


def test_without_atheris_a_run_says_how_to_get_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzz.runner.launch.find_spec", lambda _: None)
    assert run(["fuzz", "run", "empty", "--runs", "5"]) == 3
    assert to_install("fuzz") in capsys.readouterr().err


def test_findings_in_the_repository_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    assert run(["fuzz", "run", "empty", "--runs", "5", "--findings", str(ROOT / "tests")]) == 3
    assert "lies in the repository" in capsys.readouterr().err


@pytest.mark.usefixtures("atheris")
def test_a_run_finds_replay_tells_and_minimize_makes_small(
    toy: Callable[[str], Target], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert toy("bug").name == "toy-bug"
    findings, report = tmp_path / "findings", tmp_path / "report"
    words = ["fuzz", "run", "--all", "--runs", "10000", "--jobs", "2", "--timeout", "1"]
    assert run([*words, "--findings", str(findings), "--report", str(report)]) == 1
    out = capsys.readouterr().out
    assert "toy-clean" in out
    assert "AssertionError in toy_bug.check" in out
    data = json.loads((report / "results.json").read_text("utf-8"))
    assert {item["target"]: item["findings"] for item in data["targets"]}["toy-bug"] == 1
    (path,) = (findings / "toy-bug").glob("*.bin")

    assert run(["fuzz", "replay", str(path)]) == 1
    assert capsys.readouterr().out.startswith(f"FAILED  toy-bug  {path}\n  error: AssertionError in toy_bug.check")
    large = tmp_path / "large"
    large.write_bytes(b"TOYB" + bytes(range(30)))
    assert run(["fuzz", "minimize", str(large), "--target", "toy-bug", "--output", str(large)]) == 0
    assert large.read_bytes() == b"TOYB\x00"
    path.write_bytes(b"TOYCa")
    assert run(["fuzz", "replay", str(findings / "toy-bug")]) == 0
    assert run(["fuzz", "minimize", str(path)]) == 2
    assert "there is nothing to keep" in capsys.readouterr().err


def test_replay_needs_no_atheris_and_survives_a_hang(
    toy: Callable[[str], Target], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "atheris", None)
    monkeypatch.setattr("fuzz.runner.launch.find_spec", lambda _: None)
    folder = tmp_path / "toy-hang"
    folder.mkdir()
    (folder / "one.bin").write_bytes(b"TOYHx")
    (folder / "two.bin").write_bytes(b"TOYC")
    assert toy("hang").name == "toy-hang"
    assert run(["fuzz", "replay", "--timeout", "1", str(folder)]) == 1
    out = capsys.readouterr().out
    assert f"FAILED  toy-hang  {folder / 'one.bin'}\n  hang: hang in toy_hang.check" in out
    assert f"FIXED  toy-hang  {folder / 'two.bin'}" in out


def test_a_file_of_no_target_is_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "some.bin").write_bytes(b"")
    assert run(["fuzz", "replay", str(tmp_path / "some.bin")]) == 2
    assert "--target" in capsys.readouterr().err
    assert run(["fuzz", "replay", str(tmp_path / "none.bin")]) == 2
    assert f"{tmp_path / 'none.bin'}: no such file or folder" in capsys.readouterr().err


def test_a_finding_is_promoted_to_a_regression(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("conformance.runs.promotion.in_checkout", lambda: False)
    store = Store(tmp_path / "findings")
    target = Target("jsonb-decode", "fuzz.targets.jsonb_decode")
    finding = store.add(target, b"\x04\x01", InputOutcome("error", "E in f: x", "", ""), seed=1, started="")
    assert run(["cases", "promote", str(finding.path)]) == 2
    assert "in a checkout" in capsys.readouterr().err
    assert run(["cases", "promote", str(finding.path), "-r", "FR1"]) == 2
    assert "not a binary log" in capsys.readouterr().err
    assert run(["cases", "promote", str(tmp_path / "none.bin")]) == 2


def test_a_finding_of_a_peer_is_made_smaller(toy: Callable[[str], Target], tmp_path: Path) -> None:
    target = replace(toy("bug"), peer=True)
    store = Store(tmp_path)
    outcome = InputOutcome("error", "AssertionError in toy_bug.check: assert kind != 66", "", "")
    finding = store.add(target, b"TOYBxyz", outcome, seed=1, started="")
    assert run(["fuzz", "minimize", str(finding.path), "--seconds", "60"]) == 0
    assert finding.path.read_bytes() == b"TOYB\0"
    assert finding.path.with_suffix(".binlog").read_bytes() == b"TOYB\0"


def test_findings_about_servers_run_again_from_their_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kind = tmp_path / "server" / "streams" / "replica-crash-1"
    kind.mkdir(parents=True)
    Known(kind=("replica", "crash"), first="fuzz streams 7 replica/3/4").write(kind)
    assert run(["fuzz", "replay", str(tmp_path)]) == 3
    assert capsys.readouterr().out == (
        f"ERROR  {kind}: no Case of it is stored, for it is no single event; again: binlog-lab fuzz server"
        " --campaign streams --seed 7 --only replica/3/4\n"
    )
    (kind / "smallest.json").write_text("{}")
    assert run(["fuzz", "replay", str(tmp_path)]) == 2
    assert "smallest.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("subject", "code", "told"),
    [
        ("nobody", 2, "unknown subject 'nobody'"),
        ("py:no_module_here:decode", 3, "No module named 'no_module_here'"),
        ("ibd2sdi", 2, "fuzzing takes decode"),
    ],
)
def test_what_is_no_decoder_is_said_to_be_none(
    subject: str, code: int, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if subject == "ibd2sdi":
        sdi = Hello(name="ibd2sdi", roles=("sdi",))
        monkeypatch.setattr("conformance.harness.decoders.open_subject", lambda *_: OneShot(["x"], hello=sdi))
    assert run(["fuzz", "run", "--subject", subject, "--runs", "5"]) == code
    assert told in capsys.readouterr().err


@pytest.mark.usefixtures("atheris")
def test_a_decoder_is_fuzzed_and_its_finding_is_replayed_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    source = "from tests.subjects.faulty.twelve import DropsDelete\n\ndecode = DropsDelete().decode\n"
    (folder / "loses_deletes.py").write_text(source)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    words = ["fuzz", "run", "--subject", "py:loses_deletes:decode", "--runs", "100"]
    words += ["--findings", str(tmp_path / "kept")]
    assert run(words) == 1
    assert "py-loses-deletes-decode: missing change: DELETE_ROWS_EVENT\n" in capsys.readouterr().out
    monkeypatch.chdir(tmp_path)
    assert run(["fuzz", "replay", "kept"]) == 1
    assert "  error: missing change: DELETE_ROWS_EVENT\n" in capsys.readouterr().out
    (folder / "loses_deletes.py").write_text("from conformance.cli import nothing\n")
    assert run(["fuzz", "replay", "kept"]) == 3
    assert capsys.readouterr().out.startswith("ERROR  py-loses-deletes-decode: ")


def processes_of(text: str) -> list[int]:
    """Processes whose command line has the text."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.usefixtures("atheris")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_run_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-m", "conformance", "fuzz", "run", "empty", "path", "--seconds", "300", "--jobs", "2"]
    process = subprocess.Popen(
        [*command, "--corpora", str(tmp_path / "corpora"), "--findings", str(tmp_path / "findings")],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    fuzzing: set[str] = set()
    for line in process.stderr:
        if ": fuzzing, " in line:
            fuzzing.add(line.split(":")[0])
        if len(fuzzing) == 2:
            break
    assert len(processes_of(str(scratch))) == 2
    process.send_signal(number)
    out, _ = process.communicate(timeout=PATIENCE)
    if number != signal.SIGKILL:
        assert process.returncode == 4
        assert "incomplete" in out
        assert not list(scratch.iterdir())
    else:
        deadline = time.monotonic() + 20
        while processes_of(str(scratch)) and time.monotonic() < deadline:
            time.sleep(0.05)
    assert not processes_of(str(scratch))
