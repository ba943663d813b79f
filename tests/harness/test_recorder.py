"""The recorder and the check: what a block writes, what counts as a failure, and how a check ends."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.files import load_case
from conformance.harness.check import Check, concluding
from conformance.harness.findings import StoredCase
from conformance.harness.profiles import SIZES
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.harness.witnesses import record_witness
from conformance.judge.problem import Problem
from conformance.report.results import Summary
from conformance.requirements.deviations import load_deviations
from conformance.stream import MODEL, Block, CaseVerdict, Finding
from conformance.verdict import Verdict
from tests.harness.planted import case as planted_case

if TYPE_CHECKING:
    from conformance.stream import AnyRecord

NEWER = (99, 0, 0)  # behind the observed versions


def problem(message: str = "not so", deviation: str | None = None) -> Problem:
    return Problem(field="f", expected="1", got="2", message=message, deviation=deviation)


@pytest.fixture
def records() -> list[AnyRecord]:
    return []


@pytest.fixture
def check(records: list[AnyRecord], tmp_path: Path) -> Check:
    return Check(Lab(Settings(server="none", cases=tmp_path), records.append), "room/check", ("FR1",))


def only(records: list[AnyRecord], kind: type[Any]) -> Any:
    (found,) = [record for record in records if isinstance(record, kind)]
    return found


def verdicts(records: list[AnyRecord]) -> list[CaseVerdict]:
    return [record for record in records if isinstance(record, CaseVerdict)]


def test_a_block_of_which_nothing_is_said_passed(check: Check, records: list[AnyRecord]) -> None:
    with check.block(3, cases=7, texts_compared=2):
        pass
    block = only(records, Block)
    assert (block.check, block.block, block.requirements, block.cases) == ("room/check", 3, ("FR1",), 7)
    assert (block.verdicts, block.failures, block.failed, block.texts_compared) == ({"pass": 7}, 0, None, 2)
    check.conclude()


def test_what_differs_is_counted_whole_and_shown_five_times(check: Check, records: list[AnyRecord]) -> None:
    with check.block(cases=9) as block:
        block.differs(*[problem()] * 7)
    written = only(records, Block)
    assert (written.verdicts, written.mismatches, written.failures) == ({"fail": 7, "pass": 2}, 7, 7)
    shown = verdicts(records)
    assert len(shown) == 5
    assert {(item.signature, item.case, item.requirement) for item in shown} == {
        ("room/check:not so", "room/check/0", "FR1")
    }
    with pytest.raises(pytest.fail.Exception, match="7 failed: not so; see the report"):
        check.conclude()


def test_more_problems_than_cases_are_no_more_cases(check: Check, records: list[AnyRecord]) -> None:
    with check.block(cases=2) as block:
        block.differs(*[problem()] * 3)
        block.differs(problem(), verdict=Verdict.DIFFERS)
    assert only(records, Block).verdicts == {"fail": 2}


def test_a_listed_deviation_is_counted_apart_and_always_shown(check: Check, records: list[AnyRecord]) -> None:
    with check.block(cases=9) as block:
        block.differs(*[problem(deviation="known")] * 7)
    written = only(records, Block)
    assert (written.verdicts, written.deviating, written.deviations, written.failures) == (
        {"pass": 2}, 7, {"known": 7}, 0,
    )  # fmt: skip
    assert [item.verdict for item in verdicts(records)] == [Verdict.DEVIATES] * 7
    check.conclude()


@pytest.mark.parametrize(("verdict", "version", "failed"), [
    (Verdict.DIFFERS, None, 1), (Verdict.DIFFERS, NEWER, 0), (Verdict.FAIL, NEWER, 1),
])  # fmt: skip
def test_a_mere_difference_fails_only_inside_the_observed_versions(
    check: Check, records: list[AnyRecord], verdict: Verdict, version: Any, failed: int
) -> None:
    with check.block(cases=1, verdict=verdict, version=version) as block:
        block.differs(problem())
    assert only(records, Block).failures == check.failures.count == failed
    assert only(records, Block).verdicts == {str(verdict): 1}


def test_the_case_of_a_block_is_stored_once_and_only_where_something_differs(
    check: Check, records: list[AnyRecord], tmp_path: Path
) -> None:
    with check.block(cases=1, case=planted_case()):
        pass
    assert not list(tmp_path.iterdir())
    with check.block(cases=2, case=planted_case(), replays=True) as block:
        block.differs(problem(), problem("nor so"))
    (stored,) = tmp_path.iterdir()
    assert load_case(json.loads(stored.read_text("utf-8"))).steps
    for item in verdicts(records):
        assert (item.case, item.case_file) == (stored.stem, str(stored))
        assert item.replay == f"binlog-lab replay {stored}"


def test_a_block_that_breaks_off_writes_nothing(check: Check, records: list[AnyRecord]) -> None:
    with pytest.raises(KeyError), check.block(cases=1):
        raise KeyError
    assert records == []


def test_one_verdict_about_all_cases(check: Check, records: list[AnyRecord]) -> None:
    with check.block(cases=4) as block:
        block.inconclusive("nothing moves")
    assert only(records, Block).verdicts == {"inconclusive": 4}
    assert only(records, CaseVerdict).message == "nothing moves"
    check.conclude()


def test_cases_with_verdicts_of_their_own_are_shown_three_times_a_signature(
    check: Check, records: list[AnyRecord]
) -> None:
    with check.block(cases=None) as block:
        assert not block.judge(Verdict.PASS, "", signature="s")
        assert [block.judge(Verdict.CRASH, "died", signature="s") for _ in range(4)] == [True, True, True, False]
        assert block.judge(Verdict.CRASH, "died", signature="s", deviation="known") is False
        block.info({"rounded": 2})
    written = only(records, Block)
    assert written.cases == 8
    assert written.verdicts == {"pass": 1, "crash": 4, "info": 2}
    assert (written.failures, written.deviations) == (4, {"known": 1})


def test_a_verdict_that_does_not_say_it_fails_can_count(check: Check, records: list[AnyRecord]) -> None:
    with check.block(cases=1) as block:
        block.count(Verdict.FIXED, failed=True, reason="the list is in error")
    assert only(records, Block).failures == 1
    with pytest.raises(pytest.fail.Exception, match="the list is in error"):
        check.conclude()


def test_a_finding_is_about_the_blocks_check(check: Check, records: list[AnyRecord], tmp_path: Path) -> None:
    with check.part("more", "FR2").block(2, cases=1) as block:
        block.find("signature", StoredCase("c", tmp_path / "c.json", "again", 2), None, message="not so")
    finding = only(records, Finding)
    assert (finding.check, finding.requirement, finding.case, finding.size_after) == ("room/check/more", "FR2", "c", 2)


def test_failures_of_the_parts_are_those_of_the_check(check: Check) -> None:
    check.part("one").record(0, [problem("first")], cases=1)
    check.named("other/id", "FR2").record(0, [problem("second")], cases=1)
    check.fail("third")
    with pytest.raises(pytest.fail.Exception, match="3 failed: first; second; third; see the report"):
        check.conclude()


def test_only_some_reasons_are_named(check: Check) -> None:
    for number in range(8):
        check.fail(f"reason {number}")
    with pytest.raises(pytest.fail.Exception, match=r"8 failed: .*reason 4; and 3 more; see the report"):
        check.conclude()


def leaving_out(check: Check) -> None:
    check.record(0, [problem()], cases=1, requirement="FR1")
    check.leave_out("has no such thing", "FR2")


def needing(check: Check) -> None:
    check.needs_server("a server: it is asked")


def test_what_is_left_out_is_recorded_and_hides_no_failure(check: Check, records: list[AnyRecord]) -> None:
    with pytest.raises(pytest.fail.Exception, match="1 failed"), concluding(check):
        leaving_out(check)
    blocks = [record for record in records if isinstance(record, Block)]
    assert [block.verdicts for block in blocks] == [{"fail": 1}, {"not-applicable": 1}]
    assert blocks[1].requirements == ("FR2",)
    assert verdicts(records)[1].message == "has no such thing"


def test_without_a_server_a_check_is_skipped(check: Check) -> None:
    with pytest.raises(pytest.skip.Exception, match="needs a server: it is asked"):
        needing(check)


def test_the_profile_decides_how_much_is_done(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES, "room/check", {"quick": 3, "full": 30, "soak": 300})
    monkeypatch.setitem(SIZES, "room/check/rows", {"quick": 2, "full": 2, "soak": 2})
    assert (list(check.blocks()), check.size("rows"), check.quick) == ([0, 1, 2], 2, True)
    check.lab.settings = replace(check.lab.settings, profile="full")
    assert (check.size(), check.quick) == (30, False)


def test_every_size_has_the_three_profiles_and_goes_one_way() -> None:
    for name, sizes in SIZES.items():
        assert list(sizes) == ["quick", "full", "soak"], name
        numbers = list(sizes.values())  # a part of a whole, and 0 for all there are, go down
        assert numbers in (sorted(numbers), sorted(numbers, reverse=True)), name


def test_a_failing_verdict_names_the_nearest_deviation(check: Check, records: list[AnyRecord]) -> None:
    entry = next(item for item in load_deviations() if item.crash is None)
    check.named("room/check", entry.requirements[0]).record(0, [problem()], cases=1)
    assert verdicts(records)[0].nearest


def test_a_block_about_one_requirement_names_no_other(check: Check, records: list[AnyRecord]) -> None:
    with check.block(cases=1, requirement="IP3") as block:
        block.differs(replace(problem(), requirements=("FR1", "F3")))
    (shown,) = verdicts(records)
    assert (shown.requirements, only(records, Block).requirements) == (("IP3",), ("IP3",))


def test_what_is_judged_on_the_model_is_filed_under_no_server(check: Check, records: list[AnyRecord]) -> None:
    """SDI42 is judged on the kit's own model, FR1 on the server."""
    with check.block(cases=3, requirement="SDI42") as block:
        block.differs(problem())
        block.find("s", StoredCase("c", Path("c.json"), "replay"), None)
    check.named("room/other", "FR1", "SDI42").not_run("no time")
    check.named("room/other", "FR1", "SDI42").not_applicable("no reason")
    subjects = [(record.type, getattr(record, "subject", "")) for record in records if record.type != "subject"]
    assert subjects[:3] == [("verdict", MODEL), ("finding", MODEL), ("block", MODEL)]
    assert subjects[3:] == [(kind, who) for who in (check.subject, MODEL) for kind in ("verdict", "block")] * 2
    summary = Summary(records)
    assert summary.to_results()["requirements"]["SDI42"]["subjects"].keys() == {MODEL}
    assert summary.to_results()["requirements"]["FR1"]["subjects"].keys() == {check.subject}


def test_a_block_about_the_server_and_the_model_is_a_fault_of_the_lab(check: Check) -> None:
    with pytest.raises(ValueError, match="is about a server and the model"), check.block(requirements=("FR1", "TL1")):
        pass


@pytest.mark.parametrize(
    ("shown", "found", "verdicts_of_it"),
    [(True, "another text", {"fail": 1}), (False, "a third", {"fail": 1}), (False, "", {"pass": 1})],
)
def test_without_the_list_a_witness_that_shows_its_deviation_fails(
    records: list[AnyRecord], tmp_path: Path, shown: bool, found: str, verdicts_of_it: dict[str, int]
) -> None:
    lab = Lab(Settings(server="none", cases=tmp_path, deviations=False), records.append)
    entry = lab.witnessed[0]
    check = Check(lab, "deviations/witness", ("FR2",))
    record_witness(check, entry, shown=shown, found=found, looked_at="nothing")
    block = only(records, Block)
    assert (block.verdicts, block.deviating, block.requirements) == (verdicts_of_it, 0, entry.requirements)
    assert {name for item in verdicts(records) for name in item.requirements} == (
        set(entry.requirements) if "fail" in verdicts_of_it else set()
    )


def test_every_failure_has_a_command_that_judges_as_its_run(check: Check, records: list[AnyRecord]) -> None:
    """A failure without a Case of its own is judged again with its requirement, as the run did."""
    check.lab.settings = replace(
        check.lab.settings, updates=300, seed="a seed", deviations=False, replay="binlog-lab replay --server process:/x"
    )
    with check.block(cases=2) as block:
        block.differs(problem(), problem(deviation="listed"))
        block.judged(Verdict.INCONCLUSIVE, "nothing to see")
    failed, deviates, open_ = verdicts(records)
    assert (
        failed.replay
        == deviates.replay
        == (
            "binlog-lab conformance -r FR1 --profile quick --seed 'a seed' --updates 300 --server process:/x "
            "--no-deviations --report again-FR1"
        )
    )
    assert open_.replay is None
