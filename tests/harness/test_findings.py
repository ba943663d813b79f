"""The policy for findings: what is shown, stored and shrunk, how often, and in which order."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from conformance.harness import findings
from conformance.harness.check import Check
from conformance.harness.findings import Findings, StoredCase, write_private
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.servers.recording.tape import NoAnswer
from conformance.stream import Finding

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.stream import AnyRecord

FIRST = {"id": "first", "text": "long enough"}
SMALL = {"id": "small"}


@pytest.fixture
def records() -> list[AnyRecord]:
    return []


@pytest.fixture
def check(records: list[AnyRecord], tmp_path: Path) -> Check:
    lab = Lab(Settings(server="none", cases=tmp_path), records.append)
    return Check(lab, "room/check", ("FR1",))


def find(check: Check, signature: str, shrink: Callable[[float], dict[str, Any] | None] | None) -> None:
    with check.block(cases=1) as block:
        block.find(signature, check.lab.findings.store(FIRST), shrink, message="not so")


def found(records: list[Any]) -> list[Finding]:
    return [record for record in records if isinstance(record, Finding)]


def test_the_first_of_each_signature_is_shown_whatever_came_before() -> None:
    kept = Findings()
    shown = [kept.shows("room/check", "same") for _ in range(findings.SHOWN + 3)]
    assert shown == [True] * findings.SHOWN + [False] * 3
    assert kept.shows("room/check", "other")
    assert not kept.shows("room/check", "other")
    assert kept.shows("room/more", "same")  # another check has its own number


def test_a_case_is_stored_once_under_its_id_with_the_command_that_replays_it(tmp_path: Path) -> None:
    kept = Findings(tmp_path / "a b", "binlog-lab replay --seed 1")
    (tmp_path / "a b").mkdir()
    stored = kept.store(FIRST)
    place = tmp_path / "a b/first.json"
    assert json.loads(place.read_text("utf-8")) == FIRST
    replay = f"binlog-lab replay --seed 1 '{place}'"
    assert stored == StoredCase("first", place, replay, len(json.dumps(FIRST)))
    assert stored.fields == {"case": "first", "case_file": str(place), "replay": replay}
    place.write_text("{}", encoding="utf-8")
    kept.store(FIRST)
    assert place.read_text("utf-8") == "{}"


def test_a_case_without_a_kind_is_stored_as_a_script(tmp_path: Path) -> None:
    stored = Findings(tmp_path).store_script("c", ["SELECT 1", "SELECT 2"])
    assert (tmp_path / "c.sql").read_text("utf-8") == "SELECT 1;\nSELECT 2;\n"
    assert (stored.replay, stored.size) == (None, None)  # nothing in it tells what it must give
    judged = Findings(tmp_path).store_script("d", ["SELECT 1"], "-- the Case")
    assert (tmp_path / "d.sql").read_text("utf-8") == "-- the Case\nSELECT 1;\n"
    assert judged.replay == f"binlog-lab replay {tmp_path / 'd.sql'}"


def test_a_run_that_keeps_no_cases_names_them_and_has_no_findings(check: Check, records: list[AnyRecord]) -> None:
    check.lab.findings.cases = None
    assert check.lab.findings.store(FIRST).fields == {"case": "first", "case_file": None, "replay": None}
    assert check.lab.findings.store_script("c", ["SELECT 1"]) == StoredCase("c")
    find(check, "signature", lambda _: SMALL)
    assert found(records) == []


def test_a_case_is_stored_before_it_is_shrunk_and_both_stay(
    check: Check, records: list[AnyRecord], tmp_path: Path
) -> None:
    told: list[str] = []
    check.lab.narrate = told.append

    def shrink(seconds: float) -> dict[str, Any]:
        assert seconds == findings.SECONDS
        assert (tmp_path / "first.json").exists()
        assert told == ["shrinking first.json (signature)"]
        return SMALL

    find(check, "signature", shrink)
    (finding,) = found(records)
    assert (finding.case, finding.case_file) == ("small", str(tmp_path / "small.json"))
    assert finding.replay == f"binlog-lab replay {tmp_path / 'small.json'}"
    assert (finding.size_before, finding.size_after) == (len(json.dumps(FIRST)), len(json.dumps(SMALL)))
    assert (finding.message, finding.requirement, finding.check) == ("not so", "FR1", "room/check")
    find(check, "signature", shrink)  # not the first any more
    assert len(found(records)) == 1


@pytest.mark.parametrize("why", ["nothing smaller", "not recorded", "no server"])
def test_without_a_smaller_case_a_finding_has_the_first(check: Check, records: list[AnyRecord], why: str) -> None:
    def shrink(_: float) -> None:
        if why == "not recorded":
            raise NoAnswer("not asked then")

    find(check, "signature", None if why == "no server" else shrink)
    (finding,) = found(records)
    assert (finding.case, finding.size_after) == ("first", finding.size_before)


def test_only_some_findings_of_a_family_are_shrunk_and_each_is_recorded(check: Check, records: list[AnyRecord]) -> None:
    for number in range(findings.SHRUNK + 2):
        find(check.part(str(number)), f"signature {number}", lambda _: SMALL)
    find(check.named("other/check"), "signature of another family", lambda _: SMALL)
    assert [item.case for item in found(records)] == ["small"] * findings.SHRUNK + ["first"] * 2 + ["small"]


def test_what_may_do_harm_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    place = tmp_path / "log"
    place.write_bytes(b"of an earlier run, longer")
    place.chmod(0o644)
    write_private(place, b"new")
    assert (place.read_bytes(), place.stat().st_mode & 0o777) == (b"new", 0o600)


def test_a_full_disk_is_told_with_the_files_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fchmod", full)
    with pytest.raises(OSError, match=f"No space left on device: '{tmp_path / 'log'}'"):
        write_private(tmp_path / "log", b"new")
