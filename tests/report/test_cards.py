"""Parts of a failure's card: files with their size, a script, the nearest listed deviation."""

from __future__ import annotations

from dataclasses import replace

from conformance.harness.nearest import telling_nearest
from conformance.report.cards import links, script_command
from conformance.requirements.deviations import load_deviations
from conformance.stream import AnyRecord, CaseVerdict
from conformance.verdict import Verdict

FAILED = CaseVerdict(
    case="inject-1",
    requirement="X1",
    verdict=Verdict.FAIL,
    subject="s",
    check="c",
    case_file="/a report/cases/inject-1.json",
    error_log="/a report/cases/crash-1.error.log",
    data_directory="/elsewhere/crash-1.data",
    data_bytes=12_000_000,
)


def test_files_of_the_report_are_links_and_others_are_paths() -> None:
    case, log, data = links(FAILED)
    assert case == ("Case file", "/a report/cases/inject-1.json", "cases/inject-1.json", "")
    assert (log.label, log.href) == ("Error log", "cases/crash-1.error.log")
    assert (data.path, data.href) == ("/elsewhere/crash-1.data", "")
    assert "MB" in data.detail or "MiB" in data.detail
    assert links(replace(FAILED, case_file=None, error_log=None, data_directory=None)) == []


def test_a_stored_case_has_a_command_for_its_script() -> None:
    assert script_command(FAILED) == "binlog-lab replay '/a report/cases/inject-1.json' --as sql"
    assert script_command(replace(FAILED, case_file="cases/feed-1.sql")) is None
    assert script_command(replace(FAILED, case_file=None)) is None


def test_failures_on_their_way_to_the_stream_get_the_nearest_deviation() -> None:
    records: list[AnyRecord] = []
    tell = telling_nearest(records.append, load_deviations())
    for verdict in (
        FAILED,
        replace(FAILED, nearest="said by the check"),
        replace(FAILED, verdict=Verdict.PASS),
        replace(FAILED, verdict=Verdict.CRASH),
        replace(FAILED, deviation="rows-version-1-refused"),
    ):
        tell(verdict)
    said = [record.nearest for record in records if isinstance(record, CaseVerdict)]
    assert said == [
        "rows-version-1-refused: needs exactly the outcome that its Case writes out", "said by the check", "", "", "",
    ]  # fmt: skip
