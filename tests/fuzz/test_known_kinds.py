"""Findings that campaigns already know: stacks of listed crashes, kinds of earlier campaigns, and listed damages."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import pytest

from conformance.judge.damage.crashes import damage_of
from conformance.requirements.crashes import APPLYING, MEMBER_IN_DIFF, TRANSACTION_CONTEXT, Crash
from conformance.servers.roles.relay_log_applier import LogEnd
from fuzz.campaigns.campaign import Budget
from fuzz.campaigns.inputs import MALFORMED, REPLICA, STATEMENTS, STREAMS
from fuzz.campaigns.known import FILE, read_known
from fuzz.campaigns.table import bucket_lines
from tests.checks.diverged_documents.faults_of_crashes import as_released
from tests.faults.runner import Faulty, each
from tests.fuzz.campaign_subjects import campaign
from tests.fuzz.faults_of_campaigns import PLACE_FAULTS, READER, anywhere, on_another_build

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.cases.by_hand.injection import Injection, InjectionOutcome
    from fuzz.campaigns.campaign import Campaign
    from fuzz.campaigns.inputs import RelayLog
    from tests.faults.fault import Fault


def crashes(found: Campaign) -> dict[str, int]:
    """Deaths by the name of their bucket."""
    return {bucket.name: bucket.count for bucket in found.buckets.found.values() if bucket.first.death}


# --- places of listed crashes ----------------------------------------------------------------------------------------


@each(PLACE_FAULTS)
def test_a_listed_crash_in_another_place_is_a_finding(fault: Fault, tmp_path: Path) -> None:
    found = campaign(tmp_path, MALFORMED, STATEMENTS, answer=Faulty(fault, on_another_build), equal=1000)
    found.run(Budget(runs=400))
    deaths = [bucket for bucket in found.buckets.findings if bucket.first.death]
    assert deaths
    for bucket in deaths:
        assert bucket.directory is not None
        if bucket.place_of is not None:  # otherwise its signal is new as well
            assert bucket.place_of.entry is not None
            assert bucket.first.death not in bucket.place_of.stacks
            assert "this is another place" in (bucket.directory / "REPORT.md").read_text("utf-8")
    assert "another place of" in "\n".join(bucket_lines(found.buckets))


def test_listed_crashes_on_another_build_have_one_place_each_and_are_no_findings(tmp_path: Path) -> None:
    found = campaign(tmp_path, MALFORMED, STATEMENTS, answer=on_another_build, equal=1000)
    found.run(Budget(runs=400))
    assert len(crashes(found)) == 3
    assert [bucket for bucket in found.buckets.findings if bucket.first.death] == []
    assert {len(bucket.stacks) for bucket in found.buckets.found.values() if bucket.first.death} == {1}


def test_a_place_that_is_another_one_each_time_is_chance_and_kept_among_the_stacks(tmp_path: Path) -> None:
    numbers = count()

    def answer(injection: Injection) -> InjectionOutcome:
        outcome = on_another_build(injection)
        return outcome if not outcome.death else anywhere(outcome, READER, next(numbers))

    found = campaign(tmp_path, MALFORMED, STATEMENTS, answer=answer, equal=1000)
    found.run(Budget(runs=300))
    assert [bucket for bucket in found.buckets.findings if bucket.first.death] == []
    listed = [bucket for bucket in found.buckets.found.values() if bucket.first.death]
    assert all(len(bucket.stacks) == bucket.count > 1 for bucket in listed)
    kept = {path.parent.name for path in (tmp_path / "findings").glob(f"*/{FILE}")}
    assert kept == {bucket.name for bucket in found.buckets.found.values()}


# --- earlier campaigns -----------------------------------------------------------------------------------------------


def test_a_kind_of_an_earlier_campaign_is_counted_and_not_shrunk_again(tmp_path: Path) -> None:
    def run() -> tuple[Campaign, int]:
        asked: list[Injection] = []

        def answer(injection: Injection) -> InjectionOutcome:
            asked.append(injection)
            return as_released(injection)

        found = campaign(tmp_path, MALFORMED, STATEMENTS, answer=answer, listed=False, equal=1000, shrink_seconds=0.3)
        found.run(Budget(runs=150))
        found.findings.close(found.buckets)
        return found, len(asked)

    first, asked = run()
    assert asked > 150  # it shrinks
    second, asked = run()
    assert asked == 150
    assert crashes(first) == crashes(second)
    assert all(bucket.known for bucket in second.buckets.findings)
    counts = {known.kind: known.count for known in read_known(tmp_path / "findings").values()}
    assert counts == {bucket.kind: 2 * bucket.count for bucket in second.buckets.found.values()}


def test_an_unlisted_kind_stays_a_finding_although_it_is_known(tmp_path: Path) -> None:
    for _ in range(2):
        found = campaign(tmp_path, MALFORMED, STATEMENTS, answer=as_released, listed=False, equal=1000)
        found.run(Budget(runs=100))
        assert any(bucket.first.death for bucket in found.buckets.findings)


def test_a_kind_whose_smallest_input_was_listed_is_listed_again(tmp_path: Path) -> None:
    """The first input of a kind may have another damage than the one that kills; only the smallest one shows it."""
    found = campaign(tmp_path, MALFORMED, STATEMENTS, answer=as_released, listed=False)
    found.run(Budget(runs=100))
    found.findings.close(found.buckets)
    unlisted = read_known(tmp_path / "findings")
    (kind,) = [kind for kind in unlisted if kind[-1].startswith("signal 6")]
    for listed, expected in (("abort-at-member-in-diff", "abort-at-member-in-diff"), ("gone-from-the-list", None)):
        buckets = campaign(tmp_path, MALFORMED, STATEMENTS).buckets
        buckets.earlier = {kind: replace(unlisted[kind], listed=listed, shrunk=True)}
        first = replace(found.buckets.found[kind].first, crash=Crash(APPLYING, "", 6))
        bucket = buckets.add(first)
        assert bucket is not None
        assert bucket.known
        assert (None if bucket.entry is None else bucket.entry.id) == expected


def test_facts_that_cannot_be_read_are_none(tmp_path: Path) -> None:
    for number, text in enumerate(("", "{", "[]", '{"kind": 3}', '{"kind": ["a"]}')):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / FILE).write_text(text)
    assert read_known(tmp_path) == {}


# --- listed damages --------------------------------------------------------------------------------------------------


def test_a_listed_crash_is_kept_and_not_shrunk(tmp_path: Path) -> None:
    asked: list[Injection] = []

    def answer(injection: Injection) -> InjectionOutcome:
        asked.append(injection)
        return as_released(injection)

    found = campaign(tmp_path, MALFORMED, STATEMENTS, answer=answer, equal=1000, shrink_seconds=5)
    found.run(Budget(runs=200))
    listed = [bucket for bucket in found.buckets.found.values() if bucket.first.death]
    assert len(listed) == 3
    assert all(bucket.directory is not None and bucket.smallest is bucket.first for bucket in listed)
    assert len(asked) == len({id(injection) for injection in asked})


def test_a_listed_damage_is_tried_once_where_an_earlier_campaign_knows_it(tmp_path: Path) -> None:
    tried = []
    for _ in range(2):
        found = campaign(tmp_path, MALFORMED, STATEMENTS, answer=as_released, equal=4)
        found.run(Budget(runs=600))
        found.findings.close(found.buckets)
        tried.append(found.buckets.damaged[STATEMENTS, MEMBER_IN_DIFF])
        assert found.buckets.inputs == 600
    assert 4 <= tried[0] < 20  # the batch in which the fourth comes is run as a whole
    assert 1 <= tried[1] < tried[0] + 4


@pytest.mark.parametrize(
    ("listed", "channel", "damage", "known"),
    [
        (True, STATEMENTS, MEMBER_IN_DIFF, True),
        (True, REPLICA, MEMBER_IN_DIFF, False),  # listed for other subjects
        (True, STATEMENTS, "", False),
        (False, STATEMENTS, MEMBER_IN_DIFF, False),
    ],
)
def test_only_a_damage_that_is_listed_for_the_subject_is_left_out(
    listed: bool, channel: str, damage: str, known: bool, tmp_path: Path
) -> None:
    buckets = campaign(tmp_path, MALFORMED, STATEMENTS, listed=listed, equal=3).buckets
    buckets.damaged[channel, damage] = 2
    assert not buckets.is_known(channel, damage)
    buckets.damaged[channel, damage] = 3
    assert buckets.is_known(channel, damage) is known


def test_damage_that_kills_by_chance_is_left_out_after_some_inputs_that_live(tmp_path: Path) -> None:
    found = campaign(tmp_path, STREAMS, REPLICA, answer=lambda _: LogEnd(waits=True), equal=3)
    found.run(Budget(runs=200))
    assert found.buckets.found == {}
    assert 3 <= found.buckets.damaged[REPLICA, TRANSACTION_CONTEXT] < 3 + 20
    assert found.buckets.skipped > 10


def test_one_input_runs_although_its_damage_is_known(tmp_path: Path) -> None:
    first = campaign(tmp_path, MALFORMED, STATEMENTS, answer=as_released)
    first.run(Budget(runs=200))
    first.findings.close(first.buckets)
    bucket = next(item for item in first.buckets.found.values() if item.first.death)
    assert bucket.first.place is not None
    for _ in range(2):
        again = campaign(tmp_path, MALFORMED, STATEMENTS, answer=as_released, equal=1)
        again.buckets.damaged[STATEMENTS, damage_of(bucket.first.case.image)] = 99  # type: ignore[union-attr]
        again.run_one(bucket.first.place)
        assert again.buckets.inputs == 1
        assert list(again.buckets.found) == [bucket.kind]


def test_replicas_side_by_side_keep_the_order_of_their_logs(tmp_path: Path) -> None:
    def answer(data: bytes) -> LogEnd:
        return LogEnd(error=len(data), death="signal 11: 0a1" if len(data) % 5 == 0 else "", report=f"of {len(data)}")

    found = campaign(tmp_path, STREAMS, REPLICA, answer=answer, equal=1000)
    channel = found.channels[REPLICA]()
    cases: list[RelayLog] = channel.inputs("1", 0)  # type: ignore[assignment]
    for case, trial in zip(cases, channel.put(cases), strict=True):
        assert trial.case is case
        size = len(case.data)
        assert trial.death or trial.what == f"stopped with {size}"
        assert channel.crash_report(trial) == f"of {size}"


def test_the_report_of_a_log_names_its_events(tmp_path: Path) -> None:
    found = campaign(tmp_path, STREAMS, REPLICA, answer=lambda _: LogEnd(death="signal 11: 0a1,b2c"), equal=1000)
    found.run(Budget(runs=20))
    for bucket in found.buckets.findings:
        assert bucket.directory is not None
        text = (bucket.directory / "REPORT.md").read_text("utf-8")
        damaged = text.partition("## What is damaged\n\n")[2].partition("\n\n")[0]
        assert re.match(r"- (event \d+, \w+_EVENT: |every event can be read by itself; their order: )", damaged)
