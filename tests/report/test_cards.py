"""Parts of a failure's card: files with their size, a script, the nearest listed deviation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.cases.row_images import RowImage
from conformance.cases.topology import ReplicaSettings
from conformance.harness.nearest import telling_nearest
from conformance.harness.pairs.run import SourceSettings
from conformance.report.cards import links, script_command
from conformance.requirements.deviations import load_deviations
from conformance.stream import AnyRecord, CaseVerdict
from conformance.verdict import Verdict
from tests.report.card_rules import faults_of

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


@pytest.mark.parametrize(
    ("changed", "broken"),
    [
        ({}, ""),
        ({"got": "the replica applies the update"}, "both sides"),
        ({"message": "the applier stopped (SourceSettings(image=<RowImage.FULL: 'FULL'>))"}, "a value of Python"),
        ({"expected": "error None"}, "a value of Python"),
        ({"expected": "3648 at 4, column j", "got": "3648 at 4: Worker 1"}, "a stop is expected"),
        ({"replay": None}, "no command"),
        ({"replay": "mysql --force < cases/feed-1.sql"}, "no command"),
    ],
)
def test_the_rules_of_cards_find_what_was_shown_before(changed: dict[str, Any], broken: str) -> None:
    card = replace(
        FAILED, message="the applier stopped", expected="the replica applies the update", got="3648 at 4: Worker 1",
        replay="binlog-lab replay /r/cases/u-1.json",
    )  # fmt: skip
    found = [*faults_of(replace(card, **changed))]
    assert [text.startswith(broken) for text in found] == ([True] if broken else [])


def test_settings_are_shown_as_sql() -> None:
    replica = ReplicaSettings(image=RowImage.MINIMAL, partial_json=False, workers=4)
    assert str(replica).startswith("SET GLOBAL binlog_row_image='MINIMAL', binlog_row_value_options='', ")
    source = SourceSettings(image=RowImage.FULL, partial_json=True, compression=True, key=False)
    assert str(source) == (
        "SET binlog_row_image='FULL', binlog_row_value_options='PARTIAL_JSON', binlog_transaction_compression=1, no key"
    )
