"""Distinct defects of faulty subjects: each with a small log that shows the same, and nothing outside of the report."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from conformance.checks.decoders import defects
from conformance.checks.decoders.causes.clusters import clusters_of
from conformance.checks.decoders.defects import defects_of, sentence
from conformance.checks.decoders.findings import CASE, OBSERVED, REPORT, read_finding
from conformance.checks.decoders.suite import load_suite
from conformance.harness.decoders import OpenedSubject
from conformance.logs.row_change_lines import read_log
from conformance.report.matrix import Matrix
from conformance.stream import DECODER, Finding, Subject
from conformance.verdict import Verdict
from tests.cli.written_reports import records
from tests.live import lab

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.checks.decoders.defects import Defect

MODULE = "tests.subjects.faulty"
SUITE = load_suite()
FAULTS = {
    "py:{}.streams:DropsEvent39": ("missing change: PARTIAL_UPDATE_ROWS_EVENT", ("diffs/", "payload/partial")),
    "py:{}.values:FirstDiffOnly": ("missing diff: diffs: only the first arrived", ("diffs/",)),
    "py:{}.values:JsonNullAsSqlNull": ("wrong kind of nothing: JSON column", ("diffs/json-null", "diffs/four")),
    "py:{}.values:TimeWithoutSign": ("altered value: TIME column", ("columns/time",)),
    "py:{}.values:UnsignedAsSigned": ("altered value: BIGINT UNSIGNED column", ("columns/bigint",)),
    "py:{}.values:AbsentAsNull": ("absent column as NULL", ("images/minimal", "images/9")),
    "cmd:{python} -m {}.command last_change_unwritten {{file}}": ("missing change", ("updates/no-json-column",)),
}


def found(spec: str, prefixes: Sequence[str], seconds: float = 30.0) -> list[Defect]:
    with OpenedSubject(spec.format(MODULE, python=sys.executable)) as subject:
        judged = [(case, subject.judge(case)) for case in SUITE.cases if case.id.startswith(tuple(prefixes))]
        return list(defects_of(subject, clusters_of(judged), seconds=seconds))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("spec", FAULTS)
def test_a_fault_has_a_small_log_that_shows_the_same(spec: str) -> None:
    signature, prefixes = FAULTS[spec]
    defects = found(spec, prefixes)
    (first,) = [defect for defect in defects if defect.signature.startswith(signature)][:1]
    for defect in defects:
        assert len(defect.case.log) < 300
        assert len(defect.case.log) < defect.size_before
        assert defect.judgement.signature == defect.signature
        assert defect.judgement.verdict is Verdict.SILENT_LOSS
        assert read_log(defect.case.log, "log").error is None
        assert len(defect.case.expected) == 1
        assert sentence(defect).endswith("and nothing says so.")
    with OpenedSubject(spec.format(MODULE, python=sys.executable)) as subject:
        again = subject.judge(first.case)
    assert again.judgement is not None
    assert again.judgement.signature == first.signature


def test_a_log_with_another_signature_is_no_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    other = SUITE.case("updates/no-json-column").log
    monkeypatch.setattr(defects, "shrink_log", lambda *_, **__: (other, 0))
    (defect,) = found("py:{}.values:FirstDiffOnly", ("diffs/three-in-one",))
    assert defect.case == defect.first == SUITE.case("diffs/three-in-one-column")


def test_a_log_that_mysqlbinlog_refuses_is_no_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    case = SUITE.case("diffs/three-in-one-column")
    monkeypatch.setattr(defects._Printer, "reads", lambda _, log: log == case.log)
    (defect,) = found("py:{}.values:FirstDiffOnly", ("diffs/three-in-one",))
    assert defect.case.log == case.log


def test_signatures_of_one_cause_are_one_defect() -> None:
    with OpenedSubject(f"py:{MODULE}.values:UnsignedAsSigned") as subject:
        case = SUITE.case("metadata/signedness")
        judged = subject.judge(case)
    (cluster,) = clusters_of([(case, judged)])
    assert len({one.signature for one in cluster.sightings}) > 2  # one for each width
    assert (cluster.title, cluster.requirement) == ("Large UNSIGNED integers arrive as negative ones", "DEC10")
    assert [one.case.id for one in cluster.cases] == [case.id]


def test_a_run_stores_its_findings_in_the_report_alone(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    spec = f"py:{MODULE}.values:FirstDiffOnly?name=first-diff"
    end = lab("conformance", "-r", "DEC2", "--subject", spec, "--seed", "1", "--report", str(tmp_path / "report"),
              cwd=tmp_path / "here")  # fmt: skip
    assert end.code == 1, end.text
    assert list((tmp_path / "here").iterdir()) == []
    report = tmp_path / "report"
    lines = [line for line in records(report) if line["type"] == "finding"]
    stored = {str(path) for path in (report / "findings" / "first-diff").iterdir()}
    assert {line["case_file"] for line in lines} == stored
    first = next(line for line in lines if line["signature"] == "Diffs behind the first of their column are lost")
    assert (first["requirement"], first["hits"]) == ("DEC2", len(first["cases"]) + first.get("behind", 0))
    assert first["size_after"] < 300 < first["size_before"]
    directory = next(path for path in (report / "findings" / "first-diff").iterdir() if str(path) == first["case_file"])
    files = {"log.binlog", "whole-log.binlog", "expected.jsonl", OBSERVED, CASE, REPORT}
    assert files <= {path.name for path in directory.iterdir()}
    assert (directory / "whole-log.binlog").read_bytes() == SUITE.case(first["case"]).log
    text = (directory / REPORT).read_text()
    assert f"Cases: {len(first['cases'])}." in text
    assert first["reason"] in text
    case, subject, place = read_finding(directory)
    assert place.folder == str(tmp_path / "here")
    assert subject == f"py:{MODULE}.values:FirstDiffOnly?name=first-diff"
    assert len(case.log) == first["size_after"]
    again = lab("replay", str(directory), cwd=tmp_path)
    assert (again.code, again.out.split()[0]) == (1, "FAILED")
    other = lab("replay", str(directory), "--subject", "reference", cwd=tmp_path)
    assert (other.code, other.out.split()[0]) == (0, "PASS")  # this one has not failed before
    (directory / CASE).write_text("{}")
    assert lab("replay", str(directory), cwd=tmp_path / "here").code == 2


def test_the_page_has_defects_that_no_case_shows_first() -> None:
    matrix = Matrix()
    matrix.add_subject(Subject(id="x", role=DECODER))
    finding = Finding(
        signature="altered value: INT column", case_file="f", replay="r", subject="x", case="shrunk/a",
        requirement="DEC10", verdict=Verdict.SILENT_LOSS, title="t", why="w", size_after=200,
    )  # fmt: skip
    matrix.add_finding(finding)
    (defect,) = matrix.defects("x")
    assert (defect.first.case, defect.first.verdict, defect.info.why) == ("shrunk/a", Verdict.SILENT_LOSS, "w")
    assert (defect.counted, len(matrix.accusations("x"))) == (0, 1)
    other = Matrix(decoders=matrix.decoders)
    other.add_finding(Finding(signature="s", case_file="f", replay="r", subject="x"))
    assert other.defects("x") == []
