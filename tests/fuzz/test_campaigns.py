"""The parts of server campaigns, without a server: inputs, journal, buckets, shrinking, reports."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.cases.by_hand.event_case import EventCase
from conformance.cases.by_hand.injection import InjectionOutcome, RowState
from conformance.cases.files import load_any_case
from conformance.cli.main import run
from conformance.judge.damage.crashes import damage_of
from conformance.judge.damage.diverged import JudgedOutcome
from conformance.requirements.crashes import APPLYING, MEMBER_IN_DIFF, Crash
from conformance.servers.roles.injector import crash_report, crash_signature
from conformance.verdict import Verdict
from fuzz.campaigns import inputs
from fuzz.campaigns.campaign import Budget
from fuzz.campaigns.findings import diff_bytes
from fuzz.campaigns.inputs import DIVERGED, MALFORMED, STATEMENTS, Place
from fuzz.campaigns.journal import Journal, broken
from fuzz.campaigns.shrink_log import shrink_log
from fuzz.campaigns.table import bucket_lines, outcome_lines
from fuzz.campaigns.trial import Trial
from fuzz.mutators.framing import split_file
from generators import random_damage
from tests.checks.diverged_documents.faults_of_crashes import AT_MEMBER, as_released
from tests.checks.diverged_documents.planted_injections import faultless
from tests.fuzz.campaign_subjects import campaign

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.cases.by_hand.injection import Injection


def test_an_input_is_a_function_of_seed_and_place() -> None:
    for name in (DIVERGED, MALFORMED):
        assert inputs.statements(name, "7", 3) == inputs.statements(name, "7", 3)
        assert inputs.statements(name, "7", 3) != inputs.statements(name, "8", 3)
        assert inputs.statements(name, "7", 3) != inputs.statements(name, "7", 4)
        assert inputs.transactions(name, "7", 3) == inputs.transactions(name, "7", 3)
    assert inputs.files("7", 3) == inputs.files("7", 3)
    assert inputs.logs("7", 3) == inputs.logs("7", 3)
    assert inputs.logs("7", 3) != inputs.logs("8", 3)


def test_damaged_inputs_are_all_marked() -> None:
    cases = [case for batch in range(4) for case in inputs.statements(MALFORMED, "1", batch)]
    assert {case.name.partition("-")[0] for case in cases} >= {"mutated", "diff", "full", "generated"}
    assert {case.hazard for case in cases if case.name.startswith("mutated")} == {"may-crash"}


@pytest.mark.parametrize("text", ["statements/0/12", "applier/7/0", "mysqlbinlog/3/19", "replica/2/5"])
def test_a_place_is_read_as_it_is_written(text: str) -> None:
    assert str(Place.parse(text)) == text


@pytest.mark.parametrize("text", ["", "statements/1", "statements/1/-2", "statements/1/2/3", "statements/1/x"])
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not the place of an input"):
        Place.parse(text)


# --- journal ---------------------------------------------------------------------------------------------------------


def test_an_input_is_on_the_disk_before_it_is_sent(tmp_path: Path) -> None:
    with Journal(tmp_path, "the command") as journal:
        (path,) = tmp_path.iterdir()
        journal.begin(Place(STATEMENTS, 0, 1))
        assert path.read_text().splitlines()[1:] == ["statements/0/1"]
        journal.settle()
        journal.begin(Place(STATEMENTS, 1, 0))
        assert path.read_text().splitlines()[1:] == ["statements/1/0"]
        assert list(broken(tmp_path)) == []  # this process lives
    assert list(tmp_path.iterdir()) == []


def test_a_campaign_whose_process_is_gone_is_told_of_once(tmp_path: Path) -> None:
    head = json.dumps({"command": "binlog-lab fuzz server --seed 5", "pid": os.getpid(), "start": "another"})
    (tmp_path / "1.journal").write_text(f"{head}\nstatements/4/1\nstatements/4/2\n")
    (found,) = broken(tmp_path)
    assert found.command == "binlog-lab fuzz server --seed 5"
    assert found.places == (Place(STATEMENTS, 4, 1), Place(STATEMENTS, 4, 2))
    assert list(broken(tmp_path)) == []


# --- the loop --------------------------------------------------------------------------------------------------------


def test_the_same_input_alone_shows_the_same(tmp_path: Path) -> None:
    found = campaign(tmp_path, MALFORMED, STATEMENTS, answer=as_released)
    found.run(Budget(runs=200))
    bucket = next(item for item in found.buckets.found.values() if item.first.death)
    assert bucket.first.place is not None
    again = campaign(tmp_path, MALFORMED, STATEMENTS, answer=as_released)
    again.run_one(bucket.first.place)
    assert list(again.buckets.found) == [bucket.kind]
    assert again.buckets.inputs == 1


def test_a_place_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IndexError, match="has 50 inputs"):
        campaign(tmp_path, MALFORMED, STATEMENTS).run_one(Place(STATEMENTS, 0, 50))


def test_a_known_damage_is_left_out_after_some_ends(tmp_path: Path) -> None:
    found = campaign(tmp_path, MALFORMED, STATEMENTS, answer=as_released, equal=3)
    found.run(Budget(runs=600))
    ends = sum(item.count for item in found.buckets.found.values() if item.first.crash and item.first.death)
    assert found.buckets.skipped > 10
    assert ends < 30
    assert found.buckets.inputs == 600


def test_a_finding_that_ends_its_subject_again_and_again_stops_the_campaign(tmp_path: Path) -> None:
    def answer(injection: Injection) -> InjectionOutcome:
        return InjectionOutcome(before=faultless(injection).before, death="signal 11: 0a1")

    found = campaign(tmp_path, DIVERGED, STATEMENTS, answer=answer, equal=5, shrink_seconds=0)
    found.run(Budget(runs=100_000))
    assert found.stopped_by is not None
    assert found.buckets.inputs < 1000


def test_a_rare_finding_stops_nothing(tmp_path: Path) -> None:
    def answer(injection: Injection) -> InjectionOutcome:
        outcome = faultless(injection)
        dies = injection.name.startswith("insert") and injection.name.endswith("/integer")
        return replace(outcome, death="signal 11: 0a1") if dies else outcome

    found = campaign(tmp_path, DIVERGED, STATEMENTS, answer=answer, equal=5, shrink_seconds=0)
    found.run(Budget(runs=870))
    (bucket,) = found.buckets.findings
    assert 5 < bucket.count < 870 / 50
    assert (found.stopped_by, found.buckets.inputs) == (None, 870)


def test_a_crash_is_made_small_and_stays_the_same_crash(tmp_path: Path) -> None:
    found = campaign(tmp_path, MALFORMED, STATEMENTS, answer=as_released, shrink_seconds=5, listed=False)
    found.run(Budget(runs=100))
    bucket = next(item for item in found.buckets.found.values() if item.first.death.startswith("signal 6"))
    assert diff_bytes(bucket.smallest) < 40
    assert damage_of(bucket.smallest.case.image) == MEMBER_IN_DIFF  # type: ignore[union-attr]
    assert bucket.smallest.sign == bucket.first.sign
    assert bucket.again
    assert list(bucket.stacks) == [AT_MEMBER]


def test_an_input_at_which_the_lab_itself_fails_is_named(tmp_path: Path) -> None:
    def answer(injection: Injection) -> InjectionOutcome:
        if injection == victim:
            raise ValueError("of the lab")
        return faultless(injection)

    victim = inputs.statements(DIVERGED, "1", 0)[7]
    said: list[str] = []
    found = campaign(tmp_path, DIVERGED, STATEMENTS, answer=answer)
    found.narrate = said.append
    with pytest.raises(ValueError, match="of the lab"):
        found.run(Budget(runs=50))
    assert said == ["statements/0/7: here the lab itself fails"]


def test_what_is_not_seen_again_is_said_to_be_so(tmp_path: Path) -> None:
    ended: list[str] = []

    def answer(injection: Injection) -> InjectionOutcome:
        outcome = faultless(injection)
        if outcome.error or ended:
            return outcome
        ended.append(injection.id)
        return replace(outcome, death="no crash report")

    found = campaign(tmp_path, DIVERGED, STATEMENTS, answer=answer)
    found.run(Budget(runs=50))
    (bucket,) = found.buckets.findings
    assert not bucket.again
    assert bucket.directory is not None
    assert "Run again, alone, the input did not show this" in (bucket.directory / "REPORT.md").read_text("utf-8")
    assert "not seen again" in "\n".join(bucket_lines(found.buckets))


def test_what_does_not_show_every_time_is_asked_for_again(tmp_path: Path) -> None:
    """As where threads of the subject race."""
    asked: list[str] = []

    def answer(injection: Injection) -> InjectionOutcome:
        outcome = faultless(injection)
        if outcome.error or injection.id not in (asked or [injection.id]):
            return outcome
        asked.append(injection.id)
        return outcome if len(asked) == 2 else replace(outcome, death="no crash report")

    found = campaign(tmp_path, DIVERGED, STATEMENTS, answer=answer, shrink_seconds=0)
    found.run(Budget(runs=50))
    (bucket,) = found.buckets.findings
    assert len(asked) == 3
    assert bucket.again


def test_what_is_listed_is_not_the_same_as_what_is_not(tmp_path: Path) -> None:
    bench = campaign(tmp_path, MALFORMED, STATEMENTS).buckets.bench
    case = inputs.statements(MALFORMED, "1", 0)[0]
    judged = JudgedOutcome(Verdict.FAIL, "what is stored cannot be read")
    new = Trial(channel=STATEMENTS, case=case, what="applied, reading gives 3142", judged=judged)
    listed = replace(new, judged=judged._replace(deviation="copies_full_values"))
    assert not bench.same(new, listed)
    assert bench.same(new, new)
    crash = Crash(APPLYING, "", 6)
    dead = replace(
        new, what="dies at the event", judged=JudgedOutcome(Verdict.CRASH), death="signal 6: 0a1", crash=crash
    )
    named = replace(dead, crash=crash._replace(damage=MEMBER_IN_DIFF))
    assert bench.listed(named) is not None
    assert bench.same(dead, named)  # the smaller one tells what the damage is
    assert not bench.same(dead, replace(named, death="signal 6: 0b2"))


def test_a_row_too_many_may_be_missing_and_no_other(tmp_path: Path) -> None:
    bench = campaign(tmp_path, MALFORMED, STATEMENTS).buckets.bench
    case = next(item for item in inputs.statements(MALFORMED, "1", 0) if item.name == random_damage.ROW)
    before = faultless(case).before
    outcome = InjectionOutcome(error=1032, before=before, after=before)
    assert bench.verdict(bench.of_statement(case, outcome)) in (Verdict.PASS, Verdict.INFO)
    changed = replace(outcome, after=RowState(is_null=True))
    assert bench.verdict(bench.of_statement(case, changed)).failing
    assert bench.verdict(bench.of_statement(replace(case, name="mutated-value"), outcome)).failing


@pytest.mark.parametrize("listed", [True, False])
def test_findings_are_cases_and_a_report(tmp_path: Path, listed: bool) -> None:
    found = campaign(tmp_path, MALFORMED, STATEMENTS, answer=as_released, listed=listed)
    found.run(Budget(runs=100))
    bucket = next(item for item in found.buckets.found.values() if item.first.death)
    assert bucket.directory is not None
    kept = {
        "first.json": bucket.first,
        **({} if listed else {"smallest.json": bucket.smallest}),
    }  # no listed one is shrunk
    assert {path.name for path in bucket.directory.glob("*st.json")} == set(kept)
    for name, trial in kept.items():
        case = load_any_case(json.loads((bucket.directory / name).read_text("utf-8")))
        assert isinstance(case, EventCase)
        assert case.injection == trial.case
        assert f"fuzz malformed 1 {trial.place}" == case.seed
    report = (bucket.directory / "REPORT.md").read_text("utf-8")
    assert bucket.smallest.case.image.hex() in report  # type: ignore[union-attr]
    assert f"binlog-lab fuzz server --only {bucket.first.place}" in report
    assert "Private until the vendor has answered" in report
    assert "- PARTIAL_UPDATE_ROWS_EVENT: " in report
    assert (bucket.entry is not None) is listed
    if bucket.entry is not None:
        assert bucket.entry.reason in report


def test_the_table_tells_refusals_from_what_cannot_be_read(tmp_path: Path) -> None:
    found = campaign(tmp_path, MALFORMED, STATEMENTS, answer=as_released)
    found.run(Budget(runs=300))
    text = "\n".join([*outcome_lines(found.buckets), *bucket_lines(found.buckets)])
    for words in ("dies at the event", "dies when the row is read", "applied, reading gives 3142", "refused with"):
        assert words in text
    assert "abort-at-member-in-diff" in text


# --- small parts -----------------------------------------------------------------------------------------------------


def test_a_log_is_made_smaller_by_events_and_bytes() -> None:
    case = next(case for batch in range(9) for case in inputs.files("1", batch) if case.name == inputs.MUTATED_LOG)
    pieces = split_file(case.data)
    assert len(pieces) > 4
    wanted = pieces[3][19:21]  # two bytes of a body
    last = case.data

    def fails(data: bytes) -> bool:
        nonlocal last
        if any(wanted in event[19:] for event in split_file(data)[1:]):
            last = data
            return True
        return False

    shrink_log(case.data, fails, seconds=20)
    assert len(last) <= len(pieces[0]) + 19 + 2 + 4


def test_a_crash_report_is_found_by_its_stack() -> None:
    def report(signal: int, frame: str) -> str:
        return f"12:00:00 UTC - mysqld got signal {signal} ;\n" + "".join(f" #{n} 0x7f{frame}\n" for n in range(17))

    log = "noise\n" + report(6, "abc") + "started\n" + report(11, "def")
    assert crash_signature(log).startswith("signal 11: def")
    assert crash_report(log).startswith("12:00:00 UTC - mysqld got signal 11")
    first = "signal 6: " + ",".join(["abc"] * 13)
    assert "signal 6" in crash_report(log, first)
    assert "signal 11" not in crash_report(log, first)
    assert crash_report(log, "signal 4: abc") == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--server", "mysql://root@127.0.0.1:3306"], "a campaign ends servers"),
        (["--server", "none"], "a campaign ends servers"),
        (["--only", "nonsense"], "not the place of an input"),
        (["--channel", "mysqlbinlog"], "has no channel mysqlbinlog"),
        (["--only", "mysqlbinlog/0/1"], "has no channel mysqlbinlog"),
        (["--seconds", "5", "--runs", "5"], "exclude each other"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fuzz", "server", "--campaign", "diverged", *arguments]) == 2
    assert words in capsys.readouterr().err
