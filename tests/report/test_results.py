"""The summary of a stream: nothing mixed, nothing lost, nothing unfinished that looks green."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from conformance.report import markdown, wording
from conformance.report.results import Coverage, RunOutcome, Summary
from conformance.report.wording import headline
from conformance.stream import MODEL, Block, CaseVerdict, End, Notice, RequirementInfo, Subject
from conformance.verdict import Verdict
from tests.report import decoder_stream
from tests.report.synthetic_stream import (
    BLOCKS,
    DECODE,
    END,
    LISTED,
    PREDICT,
    REFERENCE,
    RUN,
    SERVER,
    SUBJECTS,
    green,
    records,
)

if TYPE_CHECKING:
    from conformance.stream import AnyRecord


def schema(name: str) -> dict[str, Any]:
    text = resources.files("conformance.report").joinpath(f"schemas/{name}.schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(loaded)
    return loaded


@pytest.mark.parametrize(
    "stream",
    [records(), green(), green()[:-1], (RUN,), (RUN, *SUBJECTS, BLOCKS[0]), decoder_stream.records(20)],
    ids=["whole", "green", "broken off", "begun", "one block", "decoders"],
)
def test_results_follow_the_published_schema(stream: tuple[Any, ...]) -> None:
    jsonschema.validate(Summary(stream).to_results(), schema("results"))


def test_every_record_follows_the_published_schema() -> None:
    validator = jsonschema.Draft202012Validator(schema("stream"))
    for record in (*records(), *decoder_stream.records(20)):
        validator.validate(json.loads(json.dumps(record.to_json())))


def test_what_the_run_met_in_its_surroundings_is_told_and_no_verdict() -> None:
    def step(block: int) -> Notice:
        return Notice(subject=SERVER, kind="clock-step", check="updates", message=f"set by +1 h in block {block}")

    stream = (*green()[:-1], step(0), step(0), *map(step, range(1, 5)), green()[-1])
    summary = Summary(stream)
    assert summary.outcome == Summary(green()).outcome
    results = summary.to_results()
    jsonschema.validate(results, schema("results"))
    jsonschema.Draft202012Validator(schema("stream")).validate(step(0).to_json())
    assert [row["count"] for row in results["notices"]] == [2, 1, 1, 1, 1]
    assert results["notices"][0]["message"] == "set by +1 h in block 0"
    assert "notices" not in Summary(green()).to_results()
    assert list(wording.notices(summary.notices)) == [
        "updates: set by +1 h in block 0 (2 times)",
        "updates: set by +1 h in block 1",
        "updates: set by +1 h in block 2",
        f"{SERVER}: 2 more like these",
    ]


def test_the_schema_refuses_what_is_wrong() -> None:
    validator = jsonschema.Draft202012Validator(schema("stream"))
    for wrong in (
        {},
        {"type": "end"},
        {"type": "block", "verdicts": {"perfect": 1}},
        {"type": "verdict", "verdict": "ok"},
    ):
        assert not validator.is_valid(wrong)
    assert validator.is_valid({"type": "tomorrow"})


def test_totals_are_sums_of_the_blocks() -> None:
    totals = Summary(records()).to_results()["totals"]
    assert totals["cases"] == 552
    assert totals["updates_compared"] == 99_750
    assert totals["mismatches"] == 2
    assert totals["deviating"] == 1
    assert totals["verdicts"]["pass"] == 547
    assert totals["verdicts"]["not-run"] == 0
    assert totals["verdicts"]["deviates"] == totals["deviating"]
    assert sum(totals["verdicts"].values()) == totals["cases"]


def test_a_failure_is_charged_to_the_requirement_that_its_block_names() -> None:
    requirements = Summary(records()).to_results()["requirements"]
    assert requirements["FR1"]["verdict"] == "fail"
    assert requirements["FR1"]["failed"] == 1
    assert requirements["FR2"]["verdict"] == "deviates"
    assert requirements["FR2"]["failed"] == 0
    assert requirements["FR2"]["subjects"][SERVER]["deviations"] == 1


def test_a_block_without_cases_excuses_nothing() -> None:
    empty = Block(check="c", subject=SERVER, requirements=("FR1",), block=0, cases=0, verdicts={}, experiment="a/b")
    told = dataclasses.replace(empty, cases=1, verdicts={"not-applicable": 1})
    looked_at = dataclasses.replace(empty, cases=2, verdicts={"pass": 2})
    for blocks, counted, excused in (([empty], 0, False), ([told], 0, True), ([empty, looked_at], 2, False)):
        summary = Summary([RUN, *blocks])
        assert summary.looked_at[SERVER]["a/b", "FR1"] == counted
        assert (("a/b", "FR1") in summary.excused[SERVER]) is excused


def test_a_failure_of_a_block_that_names_none_is_charged_to_every_requirement() -> None:
    summary = Summary([RUN, dataclasses.replace(BLOCKS[1], deviating=0, cases=249, broken={})])
    requirements = summary.to_results()["requirements"]
    assert requirements["FR1"]["failed"] == requirements["FR2"]["failed"] == 1


def test_a_verdict_whose_block_never_came_is_not_lost() -> None:
    lost = CaseVerdict(
        case="x", requirement="FR1", verdict=Verdict.FAIL, subject=SERVER, check=PREDICT, block=7, message="boom"
    )
    before: tuple[AnyRecord, ...]
    for before in ((RUN,), (RUN, BLOCKS[0])):
        summary = Summary((*before, lost))
        results = summary.to_results()
        assert results["requirements"]["FR1"]["verdict"] == "fail"
        assert results["totals"]["verdicts"]["fail"] == 1
        assert summary.outcome is RunOutcome.NONCONFORMANT


def test_one_case_with_two_failed_requirements_is_one_case() -> None:
    both = [
        CaseVerdict(case="x", requirement=requirement, verdict=Verdict.FAIL, subject=SERVER, check=PREDICT, block=0)
        for requirement in ("FR1", "FR2")
    ]
    block = Block(
        check=PREDICT, subject=SERVER, requirements=("FR1", "FR2"), block=0, cases=2, verdicts={"pass": 1, "fail": 1}
    )
    streams: tuple[tuple[AnyRecord, ...], ...] = ((RUN, *both, block), (RUN, *both))
    for stream in streams:
        results = Summary(stream).to_results()
        assert results["totals"]["verdicts"]["fail"] == 1
        assert results["requirements"]["FR1"]["failed"] == results["requirements"]["FR2"]["failed"] == 1


def test_a_rule_that_was_never_met_has_count_zero_and_one_outside_the_catalogue_is_kept() -> None:
    unknown = dataclasses.replace(BLOCKS[0], census={"new-rule": 3})
    summary = Summary([RUN, unknown])
    assert summary.census.not_exercised() == list(RUN.census_rules)
    assert summary.census.complete()["new-rule"] == 3


def test_rules_of_an_experiment_count_where_it_ran() -> None:
    own = {"damage/a": "damage a", "damage/b": "damage b"}
    block = dataclasses.replace(BLOCKS[0], census={"damage/a": 2, "damage/b": 0}, census_rules=own)
    alone = Summary([RUN, block])
    assert alone.census.not_exercised() == ["damage/b"]
    (group,) = alone.census.groups()
    assert [(rule.id, rule.count, rule.sentence) for rule in group.rules] == [
        ("damage/a", 2, "damage a"),
        ("damage/b", 0, "damage b"),
    ]
    both = Summary([RUN, block, dataclasses.replace(BLOCKS[0], census={next(iter(RUN.census_rules)): 1})])
    assert both.census.not_exercised() == [*list(RUN.census_rules)[1:], "damage/b"]
    assert Summary([RUN]).census.not_exercised() == list(RUN.census_rules)


def test_a_requirement_without_cases_says_why() -> None:
    requirements = Summary(records()).to_results()["requirements"]
    assert requirements["FR5"]["verdict"] == "not-run"
    assert requirements["FR5"]["reason"] == "needs a second server"
    assert requirements["OBS3"]["reason"] == "no case of it was selected"
    assert requirements["OBS3"]["subjects"] == {}


def test_the_coverage_counts_every_requirement_once() -> None:
    part = RequirementInfo(title="A part of it.", within="FR1", reason="judged as part of FR1")
    elsewhere = RequirementInfo(title="A part of what was not run.", within="OBS3", reason="judged as part of OBS3")
    model = dataclasses.replace(RUN.requirements["FR11"], judged_on="model")
    model_part = RequirementInfo(title="A part of the model.", within="FR11", judged_on="model")
    more = {"FR11": model, "FR1.1": part, "OBS3.1": elsewhere, "FR11.1": model_part}
    run = dataclasses.replace(RUN, requirements={**RUN.requirements, **more})
    excluded = Block(
        check=PREDICT, subject=SERVER, requirements=("NFR1",), block=0, cases=1, verdicts={"not-applicable": 1}
    )
    summary = Summary((run, *records()[1:], excluded))
    coverage = summary.coverage()
    assert list(coverage) == list(run.requirements)
    assert coverage["FR1"] is coverage["FR2"] is Coverage.JUDGED
    assert coverage["FR1.1"] is Coverage.WITHIN
    assert coverage["FR11"] is coverage["FR11.1"] is Coverage.MODEL
    # No case, part of what has no case, and only cases that do not apply.
    assert coverage["FR5"] is coverage["OBS3.1"] is coverage["NFR1"] is Coverage.NOT_JUDGED
    assert summary.to_results()["coverage"] == {"judged": 3, "within": 1, "model": 2, "not-judged": 4}
    assert summary.to_results()["requirements"]["FR11"]["judged_on"] == "model"
    assert "judged_on" not in summary.to_results()["requirements"]["FR1"]
    assert "2 on the kit's own model and not on the server, 4 not judged" in wording.coverage(summary)
    said = {name: row["verdict"] for name, row in summary.to_results()["requirements"].items()}
    assert (said["FR1.1"], said["FR11.1"]) == ("within", "within")
    assert (said["FR5"], said["OBS3.1"]) == ("not-run", "not-run")


def test_a_failure_of_the_model_is_told_as_one() -> None:
    model = dataclasses.replace(RUN.requirements["OBS3"], judged_on=MODEL)
    run = dataclasses.replace(RUN, requirements={**RUN.requirements, "OBS3": model})
    broken = Block(check="m", subject=MODEL, requirements=("OBS3",), block=0, cases=4, verdicts={"fail": 1, "pass": 3})
    summary = Summary((run, *[record for record in records()[1:] if record.type != "end"], broken))
    before = Summary((run, *[record for record in records()[1:] if record.type != "end"]))
    assert summary.failed == before.failed + 1
    assert ", 1 of them on the kit's own model." in wording.headline(summary)
    assert "model" not in wording.headline(before)
    text = "\n".join(markdown.build(summary))
    assert "OBS3** " in text
    assert "(the kit's own model) | fail" in text
    counted = summary.to_results()["coverage"]["judged"]
    assert f" of {counted} judged requirements passed; of all " in text


def test_a_difference_outside_the_observed_versions_is_no_failure() -> None:
    block = Block(
        check=DECODE, subject=REFERENCE, requirements=("OBS3",), block=0, cases=5,
        verdicts={"pass": 4, "differs": 1}, failed=0,
    )  # fmt: skip
    summary = Summary([RUN, block])
    assert summary.failed == 0
    assert summary.to_results()["requirements"]["OBS3"]["verdict"] == "differs"
    assert summary.to_results()["requirements"]["OBS3"]["failed"] == 0
    assert summary.conclude(seconds=1).exit_code == 0


def gone(*, failed: bool) -> tuple[AnyRecord, ...]:
    """A listed deviation that its witness does not show."""
    check = "deviations/witness"
    verdict = CaseVerdict(
        case="x", requirement="FR2", verdict=Verdict.FIXED, subject=SERVER, check=check, block=0,
        deviation="noop-replace-refused", failed=failed, message="gone in 10.0.0",
    )  # fmt: skip
    block = Block(
        check=check, subject=SERVER, requirements=("FR2",), block=0, cases=1, verdicts={"fixed": 1},
        failed=int(failed),
    )  # fmt: skip
    return RUN, verdict, block


@pytest.mark.parametrize(("failed", "code"), [(True, 1), (False, 0)])
def test_a_deviation_that_is_gone_is_an_error_of_the_list_only_inside_its_observed_versions(
    failed: bool, code: int
) -> None:
    summary = Summary(gone(failed=failed))
    end = summary.conclude(seconds=1)
    assert end.exit_code == code
    results = summary.to_results()
    assert results["requirements"]["FR2"]["verdict"] == "fixed"
    assert results["requirements"]["FR2"]["failed"] == int(failed)
    assert results["totals"]["verdicts"]["fixed"] == 1
    (entry,) = results["deviations"]
    assert (entry["verdict"], entry["failed"], entry["cases"]) == ("fixed", failed, 0)
    assert [failure["case"] for failure in results["failures"]] == (["x"] if failed else [])


def test_what_is_gone_hides_no_failure_of_the_same_check() -> None:
    failing = Block(
        check="deviations/witness", subject=SERVER, requirements=("FR1",), block=1, cases=1, verdicts={"fail": 1}
    )
    named = CaseVerdict(case="y", requirement="FR1", verdict=Verdict.FAIL, subject=SERVER, check=failing.check, block=1)
    requirements = Summary([*gone(failed=False), named, failing]).to_results()["requirements"]
    assert (requirements["FR1"]["verdict"], requirements["FR1"]["failed"]) == ("fail", 1)
    assert requirements["FR2"]["failed"] == 0


def test_a_run_with_listed_deviations_is_conformant_except_them_and_says_which_end_the_server() -> None:
    info = replace(RUN.deviations["noop-replace-refused"], ends="the server")
    run = replace(RUN, deviations={"noop-replace-refused": info, "other": replace(info, ends="")})
    block = Block(
        check=PREDICT, subject=SERVER, requirements=("FR2",), block=1, cases=9, verdicts={"pass": 4}, deviating=5,
        deviations={"noop-replace-refused": 2, "other": 3},
    )  # fmt: skip
    summary = Summary([run, block])
    summary.add(summary.conclude(seconds=1))
    assert summary.outcome is RunOutcome.DEVIATES
    assert summary.exit_code == 0
    assert wording.headline(summary).startswith("Conformant except 2 known deviations, 1 of which end the server.")


def test_a_listed_outcome_deviates_whatever_it_is_without_the_list() -> None:
    for verdict in (Verdict.FAIL, Verdict.CRASH, Verdict.DIFFERS):
        assert replace(LISTED, verdict=verdict).verdict is Verdict.DEVIATES
    assert not LISTED.fails


def only(verdicts: dict[str, int]) -> Summary:
    return Summary(
        [
            RUN,
            Block(
                check=PREDICT,
                subject=SERVER,
                requirements=("FR1",),
                block=0,
                cases=sum(verdicts.values()),
                verdicts=verdicts,
            ),
        ]
    )


@pytest.mark.parametrize(
    ("verdicts", "arguments", "code"),
    [
        ({"pass": 5}, {}, 0),
        ({"pass": 5, "inconclusive": 1}, {}, 0),
        ({"pass": 5, "deviates": 1}, {}, 0),
        ({"deviates": 1}, {}, 0),
        ({"lenient": 1}, {}, 0),
        ({"refused": 5}, {}, 0),
        ({"refused": 5, "silent-loss": 1}, {}, 1),
        ({"refused": 5, "not-run": 1}, {}, 4),
        ({"pass": 5, "fail": 1, "deviates": 2}, {}, 1),
        ({"pass": 5, "fail": 1}, {}, 1),
        ({"pass": 5, "fail": 1}, {"incomplete_reason": "interrupted"}, 1),
        ({"pass": 5, "differs": 1}, {"could_not_run": "the server died"}, 1),
        ({}, {}, 2),
        ({"not-applicable": 3}, {}, 2),
        ({"pass": 5}, {"could_not_run": "the server died"}, 3),
        ({"pass": 5}, {"incomplete_reason": "interrupted"}, 4),
        ({"pass": 5, "not-run": 1}, {}, 4),
    ],
)
def test_the_exit_code_follows_from_what_was_counted(
    verdicts: dict[str, int], arguments: dict[str, Any], code: int
) -> None:
    summary = only(verdicts)
    end = summary.conclude(seconds=1.0, **arguments)
    assert end.exit_code == code
    assert end.complete == (not arguments and not verdicts.get("not-run"))
    assert end.totals["verdicts"]["pass"] == verdicts.get("pass", 0)
    summary.add(end)
    assert summary.to_results()["run"]["exit_code"] == code


def test_a_run_without_its_end_is_incomplete_whatever_it_counted() -> None:
    summary = Summary(green()[:-1])
    run = summary.to_results()["run"]
    assert summary.outcome is RunOutcome.INCOMPLETE
    assert run["complete"] is False
    assert run["exit_code"] is None
    assert run["incomplete_reason"]


def test_a_damaged_stream_is_incomplete_even_with_its_end() -> None:
    summary = Summary(green(), problem="line 3 is damaged")
    assert summary.outcome is RunOutcome.INCOMPLETE
    assert summary.incomplete_reason == "line 3 is damaged"


def test_a_decoder_that_refuses_every_case_is_not_called_conformant() -> None:
    summary = only({"refused": 5, "not-applicable": 2})
    summary.add(summary.conclude(seconds=1.0))
    assert summary.outcome is RunOutcome.REFUSED
    assert "nothing is read" in headline(summary)


def test_a_whole_green_run_is_conformant() -> None:
    summary = Summary(green())
    assert summary.outcome is RunOutcome.CONFORMANT
    assert summary.to_results()["run"]["exit_code"] == 0
    results = summary.to_results()
    assert summary.rate == results["totals"]["updates_per_second"] == 2439
    assert results["run"]["updates"] == 100_000


def test_the_rate_is_what_was_measured_and_never_a_sum_over_blocks_that_ran_side_by_side() -> None:
    summary = Summary(green()[:-1])
    assert summary.rate is None
    end = summary.conclude(seconds=50, updates_per_second=2439.4)
    assert end.totals["updates_per_second"] == 2439
    assert "updates_per_second" not in summary.conclude(seconds=50).totals


def test_every_case_that_a_listed_deviation_explains_is_counted_although_few_have_a_record() -> None:
    block = Block(
        check=PREDICT, subject=SERVER, requirements=("FR2",), block=1, cases=100, verdicts={"pass": 40}, deviating=60,
        deviations={"noop-replace-refused": 60},
    )  # fmt: skip
    summary = Summary([RUN, LISTED, block])
    (deviation,) = summary.deviations()
    assert deviation["cases"] == 60
    assert deviation["reason"] == "A replica refuses a REPLACE that changes no byte."
    cell = summary.to_results()["requirements"]["FR2"]["subjects"][SERVER]
    assert (cell["cases"], cell["deviations"], cell["verdict"]) == (100, 60, "deviates")
    assert summary.cells()["FR2"][SERVER].verdicts["pass"] == 40


@pytest.mark.parametrize(
    ("observed", "check", "confirmed"),
    [
        ("9.7.4", PREDICT, True),
        ("8.0.45, 9.7.4", PREDICT, True),
        ("8.0.45", PREDICT, False),
        ("8.4.0", PREDICT, False),
        ("8.4.0", "deviations/witness", True),
        ("", PREDICT, True),
    ],
)
def test_a_deviation_seen_on_another_version_is_unconfirmed_until_its_witness_shows_it(
    observed: str, check: str, confirmed: bool
) -> None:
    info = replace(RUN.deviations["noop-replace-refused"], observed=observed)
    run = replace(RUN, deviations={"noop-replace-refused": info})
    block = Block(
        check=check, subject=SERVER, requirements=("FR2",), block=1, cases=1, verdicts={}, deviating=1,
        deviations={"noop-replace-refused": 1},
    )  # fmt: skip
    subject = Subject(id=SERVER, role="source", version="9.7.4-2", dialect="mysql-8.0.3")
    (entry,) = Summary([run, subject, block]).deviations()
    assert entry["confirmed"] is confirmed


def test_the_mix_is_compared_with_what_a_representative_run_has() -> None:
    mix = {part.rule: part for part in Summary(records()).census.mix()}
    assert mix["evaluation/set-replaces"].reached
    assert not mix["evaluation/set-inserts"].reached
    assert round(mix["evaluation/set-inserts"].share or 0, 3) == 0.166
    assert [part.share for part in Summary([RUN]).census.mix()] == [None, None]


def test_an_end_that_says_incomplete_is_believed() -> None:
    summary = Summary([*green()[:-1], End(exit_code=4, seconds=1, complete=False, incomplete_reason="budget spent")])
    assert summary.outcome is RunOutcome.INCOMPLETE
    assert summary.incomplete_reason == "budget spent"


def test_an_exit_code_of_failure_is_never_conformant() -> None:
    assert Summary([*green()[:-1], END]).outcome is RunOutcome.NONCONFORMANT
