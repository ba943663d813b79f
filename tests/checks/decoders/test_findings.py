"""Findings about decoders: the text tells a maintainer all without the lab, and nobody else can read it."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.checks.decoders.findings import DecoderFinding, directory_name, finding_json, report, write_report
from conformance.checks.decoders.suite import load_suite
from conformance.judge.decoding.difference import Difference, DifferenceKind
from conformance.stream import DECODER, KnownIssue, Subject
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

CASE = next(case for case in load_suite().cases if case.id == "diffs/three-in-one-column")
FINDING = DecoderFinding(
    subject=Subject(id="go-mysql", role=DECODER, version="1.11.0", url="https://github.com/go-mysql-org/go-mysql"),
    signature="missing diff: diffs: only the first arrived",
    verdict=Verdict.SILENT_LOSS,
    requirement="DEC2",
    statement="All diffs of a column arrive.",
    case=CASE,
    difference=Difference(
        kind=DifferenceKind.MISSING_DIFF,
        place="changes[0].after.j.diffs[1]",
        expected='{"operation": "INSERT"}',
        got="null",
    ),
    changes=({"after": {"j": {"diffs": []}}},),
    issues=(KnownIssue(subject="go-mysql", issue="go-mysql-org/go-mysql#650", note="asks for it"),),
    size_before=2_000,
)


def test_a_finding_has_a_directory_of_its_own_that_only_its_owner_reads(tmp_path: Path) -> None:
    directory = write_report(tmp_path / "findings", FINDING)
    assert directory.parent == tmp_path / "findings" / directory_name("go-mysql")
    assert directory.name.startswith("missing-diff-diffs-only-the-first-arrived")
    assert (directory / "log.binlog").read_bytes() == CASE.log
    assert [json.loads(line) for line in (directory / "expected.jsonl").read_text().splitlines()] == list(CASE.expected)
    assert {path.stat().st_mode & 0o777 for path in directory.iterdir()} == {0o600}
    assert directory.stat().st_mode & 0o777 == 0o700
    assert write_report(tmp_path / "findings", FINDING) == directory


def test_a_finding_is_printed_whole_as_json(tmp_path: Path) -> None:
    printed = json.loads(finding_json(write_report(tmp_path, FINDING)))
    assert (printed["id"], bytes.fromhex(printed["log"])) == (CASE.id, CASE.log)
    assert (printed["expected"], printed["resolved"]) == (list(CASE.expected), list(CASE.expected))


def test_the_text_names_versions_expected_observed_and_public_reports() -> None:
    text = report(FINDING)
    for words in (
        "# go-mysql 1.11.0: missing diff: diffs: only the first arrived",
        "All diffs of a column arrive.",
        f"Why it matters: {CASE.why}",
        "- go-mysql-org/go-mysql#650: asks for it",
        f"written by MySQL {CASE.server_version}",
        "shrunk from 2,000",
        'At `changes[0].after.j.diffs[1]`: `{"operation": "INSERT"}`',
        '{"after": {"j": {"diffs": []}}}',
        CASE.statements[-1].rstrip(";"),
        "binlog-lab replay .",
    ):
        assert words in text
    assert "Private" not in text


def test_the_script_in_the_text_makes_the_log(tmp_path: Path) -> None:
    (script,) = re.findall(r"```sh\n(base64 .*?)```", report(FINDING), re.DOTALL)
    subprocess.run(["sh", "-c", script], cwd=tmp_path, check=True)
    assert (tmp_path / "log.binlog").read_bytes() == CASE.log


def test_a_crash_is_private_and_a_long_log_stays_a_file() -> None:
    text = report(replace(FINDING, verdict=Verdict.CRASH, case=replace(CASE, log=bytes(5_000)), stderr="a ``` b\n"))
    assert "Private until the maintainer has answered" in text
    assert "base64" not in text
    assert "`log.binlog` beside this file (5,000 bytes" in text
    assert "````\na ``` b\n````" in text


def test_a_name_with_a_path_stays_below_the_directory(tmp_path: Path) -> None:
    subject = Subject(id="cmd:/tmp/../x {file}", role=DECODER)
    case = replace(CASE, file_name="ordner/../mit leerzeichen.bin")
    directory = write_report(tmp_path, replace(FINDING, subject=subject, signature="../..", case=case))
    assert directory.is_relative_to(tmp_path)
    assert directory.parent.parent == tmp_path
    assert (directory / "mit leerzeichen.bin").exists()


def test_different_signatures_have_different_directories() -> None:
    signatures = ["altered value: TIME column: sign", "altered value: time column; sign", "x" * 90, "x" * 91, "/", ""]
    assert len({directory_name(text) for text in signatures}) == len(signatures)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9-]*", directory_name(text)) for text in signatures)
