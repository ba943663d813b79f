"""Cases of a report again: with the options of its run, in the words that hold, wherever the report stands."""

from __future__ import annotations

import json
import shlex
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.replay_word import Word
from conformance.report.directory import ReportDirectory, render_again
from conformance.runs.earlier_run import EarlierRun, earlier_run
from conformance.stream import RUN_FILE, CaseVerdict, Finding
from conformance.verdict import Verdict
from tests.live import lab
from tests.report.synthetic_stream import FAILURE, RUN

if TYPE_CHECKING:
    from pathlib import Path


def report(directory: Path, *records: CaseVerdict | Finding) -> Path:
    """A report with records about the Case ``cases/c.json``; returns the Case's path."""
    case = directory / "cases" / "c.json"
    with ReportDirectory(directory) as written:
        written.write(replace(RUN, report=str(directory)))
        for record in records:
            command = f"binlog-lab replay --server process:/there --no-deviations {shlex.quote(str(case))}"
            written.write(replace(record, case_file=str(case), replay=command))
        assert written.cases == case.parent
    case.write_text("{}")
    return case


FAILED = replace(FAILURE, verdict=Verdict.FAIL)
FOUND = Finding(signature="s", case_file="", replay="")


@pytest.mark.parametrize(
    ("record", "failed", "died"),
    [
        (FAILED, True, False),
        (FOUND, True, False),
        (replace(FAILED, verdict=Verdict.CRASH), True, True),
        (replace(FAILED, deviation="listed"), True, False),
        (replace(FAILED, verdict=Verdict.INFO), False, False),
    ],
)
def test_a_case_takes_the_options_of_its_run_and_what_became_of_it(
    tmp_path: Path, record: CaseVerdict | Finding, failed: bool, died: bool
) -> None:
    case = report(tmp_path / "a report", record)
    before = EarlierRun(("--server", "process:/there", "--no-deviations"), failed, died)
    assert earlier_run(case) == before
    with (case.parent.parent / RUN_FILE).open("ab") as stream:
        stream.write(b'{"type": "verdict", "case_file": "c.json')  # the run was broken off
    assert earlier_run(case) == before
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(case, tmp_path / "elsewhere")
    assert earlier_run(tmp_path / "elsewhere" / "c.json") == EarlierRun()


def test_fixed_is_said_only_of_what_failed_before() -> None:
    assert {word: word.after(True) for word in Word if word.after(True) is not word} == {Word.PASS: Word.FIXED}
    assert all(word.after(False) is word for word in Word)
    assert {word for word in Word if word.code == 1} == {Word.FAILED, Word.DIED}
    assert {word for word in Word if word.code == 3} == {Word.ERROR}


def test_the_server_of_the_user_comes_before_that_of_the_run(tmp_path: Path) -> None:
    case = report(tmp_path / "report", FAILED)
    case.write_text(json.dumps({"format": 1, "kind": "nonsense"}))
    assert "as in the run that stored it: --server process:/there --no-deviations" in lab("replay", case).err
    own = lab("replay", case, "--server", "process:/here", "--with-deviations")
    assert "as in the run" not in own.err


def test_a_report_that_was_moved_gets_the_commands_of_its_new_place(tmp_path: Path) -> None:
    report(tmp_path / "old", replace(FAILED, error_log=str(tmp_path / "old/cases/e.log")), FOUND)
    (tmp_path / "old").rename(tmp_path / "the new")
    summary = render_again(tmp_path / "the new")
    case = tmp_path / "the new/cases/c.json"
    (failure,), (finding,) = summary.failures, summary.findings.values()
    for record in (failure, finding):
        assert shlex.split(record.replay or "")[-1] == record.case_file == str(case)
    assert failure.error_log == str(case.with_name("e.log"))
    page = (tmp_path / "the new/index.html").read_text("utf-8")
    assert str(tmp_path / "old/") not in page.replace("&#39;", "'")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#!/bin/bash\n", "a script for the shell, expected SQL"),
        ('-- binlog-lab case: {"transaction": {}}\nDO 0;\n', "its first line is no Case"),
        ("-- binlog-lab case: {\nDO 0;\n", "x.sql"),
    ],
)
def test_what_is_no_script_ends_with_2(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.sql").write_text(text)
    end = lab("replay", tmp_path / "x.sql", "--server", "process")
    assert (end.code, end.out) == (2, "")
    assert message in end.err


@pytest.mark.live
def test_scripts_run_on_a_server_with_their_options(tmp_path: Path) -> None:
    check = "SELECT 'a' AS checked, 'b' AS expected, @@relay_log AS got, IF({}, 'as expected', 'FAULT') AS verdict;\n"
    options = "/* needs a server with --relay-log=of-the-script */ DO 0;\n"
    log = lab("replay", "deviation:replica-crash-at-gtid-twice", "--as", "sql").out
    scripts = {
        "good": options + check.format("@@relay_log LIKE '%of-the-script%'"),
        "bad": options + check.format("0"),
        "silent": "DO 0;\n",
        "log": log,
    }
    for name, text in scripts.items():
        (tmp_path / f"{name}.sql").write_text(text)
    end = lab("replay", *(f"{name}.sql" for name in scripts), "--server", "process", cwd=tmp_path)
    lines = [line.split() for line in end.out.splitlines() if not line.startswith(" ")]
    words = {name: word for word, name, _ in lines}
    assert words == {"good": "PASS", "bad": "FAILED", "silent": "ERROR", "log": "DEVIATES"}, end.text
    assert end.code == 3
    assert "nothing in the script says what its statements must give" in end.out
