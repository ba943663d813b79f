"""Campaigns on subjects with a planted fault: every one is reported, stored, and made no larger; a sound one is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.cases.by_hand.damaged_log import events_in
from conformance.servers.roles.relay_log_applier import LogEnd
from conformance.verdict import Verdict
from fuzz.campaigns.campaign import Budget
from fuzz.campaigns.findings import diff_bytes
from fuzz.campaigns.inputs import APPLIER, CLIENT, DIVERGED, MALFORMED, REPLICA, STATEMENTS, STREAMS, RelayLog
from tests.checks.diverged_documents import planted_injections, planted_transactions
from tests.checks.diverged_documents.faults_of_crashes import CRASH_FAULTS, as_released, perfect
from tests.faults.runner import Faulty, each
from tests.fuzz.campaign_subjects import campaign, faultless_applier, plant_applier, plant_client
from tests.fuzz.faults_of_campaigns import CLIENT_FAULTS, LOG_FAULTS, MALFORMED_FAULTS, SERVER_FAULTS

if TYPE_CHECKING:
    from pathlib import Path

    from fuzz.campaigns.campaign import Campaign
    from tests.faults.fault import Fault

# Of an applier that goes on: these need a transaction that several rows or others beside it are in, or a skip.
OF_DAMAGE = [fault for fault in planted_injections.FAULTS if fault.id == "damage-applied"]
OF_DIVERGED = [fault for fault in planted_injections.FAULTS if fault.id != "damage-applied"]


def reported(found: Campaign, grade: str) -> None:
    """At least one finding of this grade, with all its files, its smallest input no larger than its first."""
    findings = found.buckets.findings
    assert grade in {bucket.first.judged.verdict.value for bucket in findings}
    for bucket in findings:
        assert diff_bytes(bucket.smallest) <= diff_bytes(bucket.first)
        assert bucket.directory is not None
        names = {path.name for path in bucket.directory.iterdir()}
        assert "REPORT.md" in names
        assert {path.stat().st_mode & 0o077 for path in bucket.directory.iterdir()} == {0}


@pytest.mark.sampled(10)
@each([*OF_DIVERGED, *SERVER_FAULTS])
def test_a_faulty_server_is_reported_by_statements(fault: Fault, tmp_path: Path) -> None:
    found = campaign(tmp_path, DIVERGED, STATEMENTS, answer=Faulty(fault, planted_injections.faultless), equal=1000)
    found.run(Budget(runs=900))
    reported(found, fault.verdict)


@pytest.mark.sampled(7)
@each(planted_transactions.FAULTS)
def test_a_faulty_applier_is_reported(fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant_applier(monkeypatch, Faulty(fault, faultless_applier))
    if "skip" in fault.id:  # only what can never fit is skipped
        found = campaign(tmp_path, MALFORMED, APPLIER, equal=1000, listed=False)
    else:
        found = campaign(tmp_path, DIVERGED, APPLIER, equal=1000)
    found.run(Budget(runs=120))
    reported(found, fault.verdict)


@pytest.mark.sampled(6)
@each([*CRASH_FAULTS, *MALFORMED_FAULTS, *OF_DAMAGE])
def test_a_server_that_fails_at_damage_in_another_way_than_listed_is_reported(fault: Fault, tmp_path: Path) -> None:
    found = campaign(tmp_path, MALFORMED, STATEMENTS, answer=Faulty(fault, as_released), equal=1000)
    found.run(Budget(runs=150))
    reported(found, fault.verdict)


@each(CLIENT_FAULTS)
def test_a_faulty_client_is_reported(fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant_client(monkeypatch, fault)
    found = campaign(tmp_path, MALFORMED, CLIENT, equal=1000)
    found.run(Budget(runs=60))
    reported(found, fault.verdict)


@each(LOG_FAULTS)
def test_a_faulty_replica_is_reported(fault: Fault, tmp_path: Path) -> None:
    def answer(data: bytes) -> LogEnd:
        return fault.change if fault.at in {kind for kind, _ in events_in(data)} else LogEnd(error=13121)

    found = campaign(tmp_path, STREAMS, REPLICA, answer=answer, equal=1000, shrink_seconds=5)
    found.run(Budget(runs=100))
    reported(found, fault.verdict)
    for bucket in found.buckets.findings:  # a second one began as a listed crash, at a log with a listed damage
        assert isinstance(bucket.smallest.case, RelayLog)
        assert [kind for kind, _ in events_in(bucket.smallest.case.data)] == [fault.at]  # nothing else is needed
        assert bucket.directory is not None
        assert bucket.smallest.case.data.hex() in (bucket.directory / "show.sql").read_text("utf-8")
        report = (bucket.directory / "REPORT.md").read_text("utf-8")
        assert f"relay log of {len(bucket.smallest.case.data)} bytes" in report
        assert "Whoever can write this server's relay logs" in report


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (LogEnd(), "read to its end"),
        (LogEnd(error=13121), "stopped with 13121"),
        (LogEnd(refused=True, error=1773), "log refused with 1773"),
        (LogEnd(waits=True), "waits for more"),
    ],
)
def test_what_a_replica_does_with_a_log_and_lives_is_no_finding(end: LogEnd, words: str, tmp_path: Path) -> None:
    found = campaign(tmp_path, STREAMS, REPLICA, answer=lambda _: end)
    found.run(Budget(runs=50))
    assert found.buckets.found == {}
    assert dict(found.buckets.outcomes) == {(REPLICA, words, "pass"): 50}


@pytest.mark.parametrize(("name", "channel"), [(DIVERGED, STATEMENTS), (DIVERGED, APPLIER)])
def test_a_sound_subject_gives_no_finding(
    name: str, channel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant_applier(monkeypatch, faultless_applier)
    found = campaign(tmp_path, name, channel)
    found.run(Budget(runs=120))
    assert (found.buckets.found, found.buckets.inputs) == ({}, 120)


def test_a_server_that_refuses_every_damage_gives_no_finding(tmp_path: Path) -> None:
    found = campaign(tmp_path, MALFORMED, STATEMENTS, answer=perfect)
    found.run(Budget(runs=120))
    assert found.buckets.found == {}


def test_listed_crashes_are_kept_and_no_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant_client(monkeypatch)
    for channel in (STATEMENTS, CLIENT):
        found = campaign(tmp_path, MALFORMED, channel, answer=as_released)
        found.run(Budget(runs=100))
        crashes = [bucket for bucket in found.buckets.found.values() if bucket.first.judged.verdict is Verdict.CRASH]
        assert crashes
        assert all(bucket.entry is not None and bucket.directory is not None for bucket in crashes)
        assert {bucket for bucket in found.buckets.findings if bucket.first.judged.verdict is Verdict.CRASH} == set()
