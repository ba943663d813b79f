"""Subjects in a run: columns beside each other, and adapters that fail in every way without stopping it."""

from __future__ import annotations

import json
import shlex
import signal
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.written_reports import assert_whole, records, results
from tests.live import lab, nothing_left, started
from tests.subjects.scripts import GOOD, conversation

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = {"flooding": "timeout=60&limit=1", "hanging": "timeout=0.5"}
REFERENCE = f"cmd:{shlex.quote(sys.executable)} -m conformance decode --types --format jsonl {{file}}"
DEC1 = ("conformance", "-r", "DEC1", "--seed", "1")


def adapter(place: Path, name: str, body: str) -> str:
    folder = place / name
    folder.mkdir()
    words = shlex.join(conversation(folder, body))
    # Only what is tested has a small limit: a busy machine must not turn one failure into another.
    return f"jsonl:{words}?{LIMITS.get(name, 'timeout=60')}&name={name}"


def verdicts(report: Path) -> dict[str, Counter[str]]:
    """Subject -> how many Cases have each verdict, by the records of the Cases."""
    found: dict[str, Counter[str]] = {}
    for line in records(report):
        if line["type"] == "verdict":
            found.setdefault(line["subject"], Counter())[line["verdict"]] += 1
    return found


def test_the_reference_as_a_command_passes(tmp_path: Path) -> None:
    spec = f"{REFERENCE}?capabilities=file,types&name=reference"
    end = lab("conformance", "-r", "DEC19", "--subject", spec, cwd=tmp_path)  # a process for each of few Cases
    assert end.code == 0, end.text
    assert_whole(tmp_path / "report", 0)
    assert set(verdicts(tmp_path / "report")["reference"]) == {"pass"}
    data = results(tmp_path / "report")
    (subject,) = data["subjects"]
    assert (subject["id"], subject["role"], subject["capabilities"]) == ("reference", "decoder", ["file", "types"])
    assert data["requirements"]["DEC19"]["verdict"] == "pass"
    assert data["requirements"]["FR1"]["cases"] == 0
    told = [line for line in records(tmp_path / "report") if line["type"] in ("suite", "case")]
    assert [line["type"] for line in told].count("suite") == 1
    assert {line["id"] for line in told if line["type"] == "case"} == {
        line["case"] for line in records(tmp_path / "report") if line["type"] == "verdict"
    }


FAULTY = {
    "crashing": ("os.kill(os.getpid(), 11)", "crash"),
    "flooding": ("while True: os.write(1, b'x' * (1 << 20))", "fail"),
    "half-answering": ("os.write(1, b'{\"id\"')\nsys.exit(1)", "crash"),
    "garbling": ("print('rows: 3', flush=True)", "fail"),
    "doubling": (f"{GOOD}\n{GOOD}", "fail"),
    "silent": ("answer(request, result={'changes': []})", "silent-loss"),
    "refusing": ("answer(request, error={'message': 'event 39 is unknown'})", "refused"),
    "hanging": ("time.sleep(60)", "timeout"),
}


def test_no_adapter_stops_the_run(tmp_path: Path) -> None:
    specs = [adapter(tmp_path, name, body) for name, (body, _) in FAULTY.items()]
    specs += ["cmd:no-such-program {file}", "reference"]
    end = lab(*DEC1, *(word for spec in specs for word in ("--subject", spec)), cwd=tmp_path)
    assert end.code == 1, end.text  # what failed outweighs the column that could not run
    report = tmp_path / "report"
    assert_whole(report, 1)
    found = verdicts(report)
    cases = found["reference"].total()
    assert found["reference"] == {"pass": cases}
    for name, (_, verdict) in FAULTY.items():
        assert found[name].total() == cases, name
        assert found[name][verdict], (name, found[name])
        assert not found[name]["pass"], (name, found[name])
    assert found["hanging"] == {"timeout": 5, "not-run": cases - 5}
    protocol = {
        line["subject"]: line["requirement"] for line in records(report)
        if line["type"] == "verdict" and line["verdict"] in ("crash", "fail", "timeout")
    }  # fmt: skip
    assert "DEC23" in protocol.values()
    assert set(protocol.values()) <= {"DEC22", "DEC23"}  # of hostile logs, the damage is what a crash is about
    absent = next(item for item in results(report)["subjects"] if item["id"] == "cmd:no-such-program {file}")
    assert absent["unavailable"] == "no-such-program: no such program"
    assert "error: cmd:no-such-program {file}: no-such-program: no such program" in end.err


def test_a_subject_that_cannot_run_is_a_column_and_exit_code_3(tmp_path: Path) -> None:
    end = lab(*DEC1, "--subject", "py:no.such:thing", "--subject", "reference", cwd=tmp_path)
    assert end.code == 3, end.text
    assert_whole(tmp_path / "report", 3)
    assert verdicts(tmp_path / "report")["reference"]["pass"] > 5
    assert "error: py:no.such:thing: no introduction" in end.err
    assert "No module named 'no'" in end.err


def test_the_exit_code_is_1_where_a_subject_loses_something(tmp_path: Path) -> None:
    end = lab(*DEC1, "--subject", adapter(tmp_path, "silent", FAULTY["silent"][0]), cwd=tmp_path)
    assert end.code == 1, end.text
    verdict = next(line for line in records(tmp_path / "report") if line["type"] == "verdict")
    *place, _, _, _, _, _ = replay = shlex.split(verdict["replay"])
    assert place[:2] == ["env", f"--chdir={tmp_path}"]
    replay = replay[len(place) :]
    assert replay[:3] == ["binlog-lab", "replay", f"decoder:{verdict['case']}"]
    again = lab(*replay[1:], cwd=tmp_path)
    assert again.code == 1, again.text
    assert again.out.startswith(f"FAILED {verdict['case']}  silent-loss: ")
    fixed = lab(*replay[1:3], "--subject", f"{REFERENCE}?capabilities=file,types", cwd=tmp_path)
    assert fixed.code == 0, fixed.text
    assert fixed.out.startswith(f"PASS   {verdict['case']}  pass")


def test_servers_and_subjects_stand_beside_each_other(tmp_path: Path) -> None:
    end = lab(
        "conformance", "-r", "IP2", "-r", "DEC1", "--updates", "50", "--server", "none",
        "--subject", "reference", cwd=tmp_path,
    )  # fmt: skip
    assert end.code == 0, end.text
    data = results(tmp_path / "report")
    assert [(item["id"], item["role"]) for item in data["subjects"]] == [
        ("captures 9.7.4", "source"), ("captures 8.0.45", "source"), ("reference", "decoder"),
    ]  # fmt: skip
    assert set(data["requirements"]["IP2"]["subjects"]) == {"captures 9.7.4", "captures 8.0.45"}
    assert set(data["requirements"]["DEC1"]["subjects"]) == {"reference"}
    checks = [line for line in records(tmp_path / "report") if line["type"] == "block"]
    assert {line["subject"] for line in checks if line["check"].startswith("decoders/")} == {"reference"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--subject", "nosuch"], "unknown subject 'nosuch'"),
        (["--subject", "cmd:decode"], "the command has no {file}"),
        (["--subject", "jsonl:x?timeout=never"], "expected a positive number"),
        (["-r", "DEC1"], "judged on a subject: name one with --subject"),
        (["-r", "FR1", "--subject", "reference"], "judged on a server, not on a subject: name one with --server"),
    ],
)
def test_wrong_arguments_start_nothing(arguments: list[str], words: str, tmp_path: Path) -> None:
    end = lab("conformance", *arguments, cwd=tmp_path)
    assert (end.code, words in end.err) == (2, True), end.text
    assert list(tmp_path.iterdir()) == []


def test_the_list_has_the_checks_of_the_kinds_that_were_named(tmp_path: Path) -> None:
    def listed(*arguments: str) -> set[str]:
        return {line.split("/")[0] for line in lab("conformance", "--list", *arguments, cwd=tmp_path).out.splitlines()}

    assert listed("--subject", "reference") == {"decoders"}
    assert "decoders" not in listed("--server", "none")
    assert listed("-r", "DEC1") == {"decoders"}
    assert {"decoders", "updates"} < listed()


def test_an_interrupted_run_leaves_no_process(tmp_path: Path) -> None:
    folder = tmp_path / "hanging"
    folder.mkdir()
    ready = tmp_path / "ready"
    words = shlex.join(conversation(folder, f"open({str(ready)!r}, 'w').close()\ntime.sleep(600)"))
    program = started(*DEC1, "--subject", f"jsonl:{words}", cwd=tmp_path)
    while not ready.exists():
        assert program.poll() is None
        time.sleep(0.05)
    program.send_signal(signal.SIGINT)
    assert program.wait(60) == 4
    assert nothing_left(program)
    end = records(tmp_path / "report")[-1]
    assert (end["type"], end["complete"], end["incomplete_reason"]) == ("end", False, "interrupted")


def test_cases_are_replayed_by_pattern_and_printed(tmp_path: Path) -> None:
    done = lab("replay", "decoder:diffs/r*", "--subject", f"{REFERENCE}?capabilities=file,types", cwd=tmp_path)
    assert done.code == 0, done.text
    assert len(done.out.splitlines()) > 3
    sql = lab("replay", "decoder:diffs/replace-scalar", "--as", "sql").out
    assert "UPDATE t SET j = JSON_SET(j, '$.a', 2) WHERE id = 1;" in sql
    data: dict[str, Any] = json.loads(lab("replay", "decoder:diffs/replace-scalar", "--as", "json").out)
    assert bytes.fromhex(data["log"]).startswith(b"\xfebin")
    unknown = lab("replay", "decoder:diffs/replace-scalr", "--subject", REFERENCE)
    assert (unknown.code, "did you mean diffs/replace-scalar" in unknown.err) == (2, True), unknown.text
    assert lab("replay", "decoder:diffs/replace-scalar").code == 2
