"""A check that cannot fail is a defect: every check item fails on the fault planted for it."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.files import load_any_case, load_case
from conformance.cases.sql_case import SqlCase
from conformance.checks.costs import check_sizes as test_sizes
from conformance.checks.deviations import check as test_deviations
from conformance.checks.diff_conditions import cases as conditions
from conformance.checks.diff_conditions import check as test_conditions
from conformance.checks.sql_interface.variable_cases import privilege_cases
from conformance.checks.sql_interface.warning_cases import session_cases
from conformance.checks.updates import campaign as update_campaign
from conformance.checks.updates.campaign import UPDATE_CHECKS, UpdateCampaign
from conformance.harness import findings
from conformance.harness import session as labs
from conformance.harness import sql_cases as sql_runs
from conformance.harness.check import Check
from conformance.harness.profiles import SIZES
from conformance.harness.updates import events
from conformance.reference.binlog.event import encode_event
from conformance.reference.errors import DecodeError
from conformance.reference.event_types import EventType
from conformance.requirements.deviations import load_deviations
from conformance.servers.roles.update_cases import run_case
from conformance.stream import Block, CaseVerdict, Finding
from conformance.verdict import Verdict
from tests import recorded
from tests.faults.fault import Fault
from tests.faults.runner import each, plant_in
from tests.harness import planted
from tests.judge.faults_of_sql import ONLY_AFTER_TEXT
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from conformance.cases.sql_case import SqlAnswer
    from conformance.servers.run.process import ProcessServer

pytestmark = pytest.mark.live


class Recorded(recorded.Recorded):
    """A lab on the tests' server, and the records it wrote."""

    @property
    def folder(self) -> Path:
        """The folder of its Cases."""
        assert self.lab.settings.cases is not None
        return self.lab.settings.cases

    @cached_property
    def campaign(self) -> UpdateCampaign:
        """The campaign of updates."""
        return UpdateCampaign(self.lab)

    def of(self, kind: type[Any]) -> list[Any]:
        """The records of one kind, whose fields are there."""
        return super().of(kind)

    def require(self, check: str) -> None:
        """Run the item of the update campaign with this id."""
        running = Check(self.lab, check)
        self.campaign.judge(running)
        running.conclude()


@pytest.fixture
def record(server: ProcessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Recorded]:
    monkeypatch.setattr(findings, "SECONDS", 1.0)

    monkeypatch.setattr(labs, "resolve", lambda *_, **__: server)

    def make(**settings: Any) -> Recorded:
        return Recorded.of_settings(cases=tmp_path, **{"updates": 1, **settings})

    return make


def run_cases(found: Recorded, cases: Iterable[SqlCase], server: ProcessServer) -> None:
    """Cases under a check of their own, and its end."""
    check = Check(found.lab, "some/check")
    sql_runs.run_cases(check, cases, {"source": server})
    check.conclude()


def assert_reported(found: Recorded, check: str) -> None:
    """A failing check gives verdicts that say what differs, a stored Case, and a finding that is not larger."""
    verdicts = [item for item in found.of(CaseVerdict) if item.check == check and item.verdict.failing]
    assert verdicts, check
    for verdict in verdicts:
        assert verdict.field
        assert verdict.message
        assert verdict.expected != verdict.got
        assert verdict.signature.startswith(f"{check}:")
        assert verdict.requirement in UPDATE_CHECKS[check].requirements
        assert verdict.replay == f"binlog-lab replay {verdict.case_file}"
        stored = json.loads((found.folder / f"{verdict.case}.json").read_text("utf-8"))
        assert load_case(stored).id == verdict.case
    findings = [item for item in found.of(Finding) if item.check == check]
    assert {item.signature for item in findings} <= {item.signature for item in verdicts}
    assert findings, check
    for finding in findings:
        assert finding.size_after <= finding.size_before
        assert load_case(json.loads((found.folder / f"{finding.case}.json").read_text("utf-8"))).steps


def test_without_a_fault_the_planted_case_passes(
    record: Callable[..., Recorded], monkeypatch: pytest.MonkeyPatch
) -> None:
    planted.plant_case(monkeypatch, planted.case())
    found = record()
    for check in UPDATE_CHECKS:
        found.require(check)
    assert found.failing == set()
    assert found.of(CaseVerdict) == found.of(Finding) == []
    assert found.exit_code == 0


@pytest.mark.sampled(4)
@each(planted.DOCTORED.values())
def test_a_doctored_observation_fails_the_checks_it_concerns(
    record: Callable[..., Recorded], monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    planted.plant(monkeypatch, fault.id)
    found = record()
    for check in UPDATE_CHECKS:
        if check in fault.at:
            with pytest.raises(pytest.fail.Exception, match="failed: "):
                found.require(check)
            assert_reported(found, check)
        else:
            found.require(check)
    assert found.failing == fault.at
    assert found.exit_code == 1


def test_evidence_shows_the_two_sides_of_the_field_that_differs(
    record: Callable[..., Recorded], monkeypatch: pytest.MonkeyPatch
) -> None:
    planted.plant(monkeypatch, "value-of-a-row")
    found = record()
    found.campaign.run()
    verdict = found.of(CaseVerdict)[0]
    (evidence,) = verdict.evidence
    assert evidence.field == "rows[1].after.n"
    assert verdict.field == f"PARTIAL_UPDATE_ROWS_EVENT.{evidence.field}"
    assert (evidence.expected, evidence.got) == ("7", str(7 + (1 << 24)))
    assert verdict.statements[0].startswith("UPDATE `t` SET `j`=JSON_SET(`j`, '$.a', 2)")
    assert bytes.fromhex(verdict.expected)[verdict.offset] != bytes.fromhex(verdict.got)[verdict.offset]


def test_a_finding_is_shrunk_to_what_shows_it(record: Callable[..., Recorded], monkeypatch: pytest.MonkeyPatch) -> None:
    planted.plant(monkeypatch, "other-path")
    found = record()
    monkeypatch.setattr(findings, "SECONDS", 60.0)
    found.campaign.run()
    finding = next(item for item in found.of(Finding) if item.check == "updates/apply")
    small = load_case(json.loads((found.folder / f"{finding.case}.json").read_text("utf-8")))
    assert len(small.rows) == len(small.steps) == len(small.steps[0].assignments) == 1
    assert finding.size_after < finding.size_before


# --- a reference that predicts wrongly -------------------------------------------------------------------------------


def never_partial(*arguments: Any, **options: Any) -> Any:

    from conformance.reference.partial.decision import decide

    decision = decide(*arguments, **options)
    after = arguments[1]
    return decision._replace(partial=False, data=after) if decision.partial else decision


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("target", "faulty", "checks"),
    [
        ("conformance.cases.predict.decide", never_partial, {"updates/event-bytes"}),
        ("conformance.reference.partial.in_place.find_room", lambda *_: None, {"updates/storage"}),
        ("conformance.judge.updates.compare.format_text", lambda _: "null", {"updates/text"}),
        ("conformance.judge.updates.compare.storage_free", lambda _: 0, {"updates/storage"}),
    ],
)
def test_a_faulty_reference_is_caught_by_generated_updates(
    record: Callable[..., Recorded], monkeypatch: pytest.MonkeyPatch, target: str, faulty: Any, checks: set[str]
) -> None:
    monkeypatch.setattr(target, faulty)
    monkeypatch.setattr(update_campaign, "Campaign", planted.SerialCampaign)
    found = record(updates=100, seed="planted")
    found.campaign.run()
    assert found.failing >= checks
    for check in checks:
        assert_reported(found, check)
    assert found.exit_code == 1


def test_a_faulty_applier_is_caught(record: Callable[..., Recorded], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bytes:
        raise DecodeError("planted", "refused")

    planted.plant_case(monkeypatch, planted.case())
    monkeypatch.setattr(events, "apply_field", refuse)
    found = record()
    found.campaign.run()
    assert found.failing == {"updates/apply"}
    assert_reported(found, "updates/apply")


def test_a_reader_that_loses_a_byte_is_caught(record: Callable[..., Recorded], monkeypatch: pytest.MonkeyPatch) -> None:
    planted.plant_case(monkeypatch, planted.case())
    monkeypatch.setattr(events, "encode_event", lambda *a, **k: encode_event(*a, **k)[:-1])
    found = record()
    found.campaign.run()
    assert found.failing == {"updates/decode"}
    assert_reported(found, "updates/decode")


# --- the checks with statements of their own -------------------------------------------------------------------------


def test_a_server_without_the_option_fails_the_conditions(
    record: Callable[..., Recorded], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    def without(case: SqlCase) -> SqlCase:
        statements = [replace(item, sql=item.sql.replace("'PARTIAL_JSON'", "''")) for item in case.statements]
        return replace(case, statements=tuple(statements))

    monkeypatch.setitem(conditions.CONDITIONS, "D1", [without(case) for case in conditions.CONDITIONS["D1"]])
    found = record()
    found.fails(test_conditions.test_condition, r"d1-log-enabled: .* expected partial, got full", condition="D1")
    (verdict,) = found.of(CaseVerdict)
    assert verdict.requirement == "D1"
    assert (verdict.expected, verdict.got) == ("partial", "full")
    assert verdict.statements[-1].startswith("UPDATE t SET")
    assert verdict.replay == f"binlog-lab replay {verdict.case_file}"
    assert load_any_case(json.loads((found.folder / f"{verdict.case}.json").read_text("utf-8"))).id == verdict.case
    assert found.failing == {"diff_conditions/statements/D1"}
    assert found.exit_code == 1


def test_a_warning_that_is_missing_fails_and_a_listed_outcome_does_not(
    record: Callable[..., Recorded], server: ProcessServer
) -> None:
    found = record()
    (case,) = [item for item in session_cases() if item.id == "warnings-session-row-minimal-on-log"]
    run_cases(found, [case], server)
    listed = {"sql-log-bin-without-warning", "warning-1-text"}
    assert {verdict.deviation for verdict in found.of(CaseVerdict)} == listed
    assert found.of(Finding) == []
    assert found.exit_code == 0

    found = record()
    found.lab.deviations = tuple(entry for entry in load_deviations() if entry.id == "warning-1-text")
    with pytest.raises(pytest.fail.Exception, match="sql_log_bin=0: expected 3645, got none"):
        run_cases(found, [case], server)
    assert {block.requirements for block in found.of(Block) if block.failures} == {("W1b",)}
    (finding,) = found.of(Finding)
    small = load_any_case(json.loads((found.folder / f"{finding.case}.json").read_text("utf-8")))
    assert isinstance(small, SqlCase)
    first, second = small.statements
    assert first.sql.startswith("SET SESSION binlog_format='ROW', SESSION binlog_row_image='MINIMAL'")
    assert second.sql == "SET SESSION sql_log_bin=0"
    assert finding.replay == f"binlog-lab replay {finding.case_file}"
    assert finding.size_after < finding.size_before
    assert found.exit_code == 1


_WORDS = "A warning has the words of the worklog."
TEXT_FAULTS = (
    Fault("one-word", "W1.text", _WORDS, lambda text: text.replace("updates", "inserts")),
    Fault("cause", "W1.text", _WORDS,
          lambda text: text.replace("binlog_format=STATEMENT", "the binary log is disabled")),
    Fault("empty", "W1.text", _WORDS, lambda _: ""),
    Fault("of-warning-3", "W1.text", _WORDS, lambda _: ONLY_AFTER_TEXT),
)  # fmt: skip


@each(TEXT_FAULTS)
def test_a_warning_with_a_third_text_fails_under_the_requirement_of_texts_alone(
    record: Callable[..., Recorded], monkeypatch: pytest.MonkeyPatch, server: ProcessServer, fault: Fault
) -> None:
    """The server's own answers, with other words in the texts of warning 1."""
    from dataclasses import replace

    def altered(answers: Iterable[SqlAnswer]) -> list[SqlAnswer]:
        return [
            replace(item, warnings=tuple((n, fault.change(text) if n == 3645 else text) for n, text in item.warnings))
            for item in answers
        ]

    plant_in(monkeypatch, sql_runs, "run_sql", altered)
    found = record()
    (case,) = [item for item in session_cases() if item.id == "warnings-session-statement-minimal-off-log"]
    with pytest.raises(pytest.fail.Exception, match="expected 3645 When binlog_format=STATEMENT, the setting"):
        run_cases(found, [case], server)
    assert {block.requirements for block in found.of(Block) if block.failures} == {("W1.text",)}
    (finding,) = found.of(Finding)
    small = load_any_case(json.loads((found.folder / f"{finding.case}.json").read_text("utf-8")))
    assert isinstance(small, SqlCase)
    assert len(small.statements) == 2
    assert found.exit_code == 1


def test_a_guest_keeps_its_global_values(
    record: Callable[..., Recorded], monkeypatch: pytest.MonkeyPatch, server: ProcessServer
) -> None:
    found = record()
    monkeypatch.setattr(server, "started_by_us", False)
    run_cases(found, list(privilege_cases())[:2], server)
    (verdict,) = found.of(CaseVerdict)
    assert (verdict.requirement, verdict.verdict) == ("S4", "not-applicable")
    (block,) = found.of(Block)
    assert block.verdicts == {"not-applicable": block.cases}


def test_a_server_that_ignores_the_option_fails_the_size_formula(
    record: Callable[..., Recorded], monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts: list[Any] = []

    def always_off(connection: Any, capture: Any, script: Any, schema: str) -> Any:
        from dataclasses import replace

        session = replace(script.case.session, partial_json=False)
        scripts.append(script)
        return run_case(connection, capture, replace(script, case=replace(script.case, session=session)), schema)

    monkeypatch.setattr(test_sizes, "run_case", always_off)
    monkeypatch.setitem(SIZES["costs/sizes"], "quick", 1)
    found = record()
    found.fails(test_sizes.test_sizes, r"another size|other events")
    assert len(scripts) == 2
    assert {item.requirement for item in found.of(CaseVerdict)} >= {"FR12"}
    assert all((found.folder / f"{item.case}.json").exists() for item in found.of(CaseVerdict))
    assert found.exit_code == 1


def test_other_events_of_another_size_fail(record: Callable[..., Recorded], monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    def longer(connection: Any, capture: Any, script: Any, schema: str) -> Any:
        observation = run_case(connection, capture, script, schema)
        if not script.case.session.partial_json:
            return observation
        events = [
            planted.sealed(event[:-4] + b" " + event[-4:]) if event[4] == EventType.QUERY else event
            for event in observation.events
        ]
        return replace(observation, events=tuple(events))

    monkeypatch.setattr(test_sizes, "run_case", longer)
    monkeypatch.setitem(SIZES["costs/sizes"], "quick", 1)
    found = record()
    found.fails(test_sizes.test_sizes, r"another size|other events")
    assert {item.requirement for item in found.of(CaseVerdict)} == {"FR13"}


# --- deviations ------------------------------------------------------------------------------------------------------


def test_a_listed_deviation_is_counted_apart_and_passes(
    record: Callable[..., Recorded], monkeypatch: pytest.MonkeyPatch
) -> None:
    planted.plant(monkeypatch, "deviation")
    found = record()
    for check in UPDATE_CHECKS:
        found.require(check)
    verdicts = found.of(CaseVerdict)
    assert {item.deviation for item in verdicts} == {"unchanging-replace"}
    assert sum(block.deviating for block in found.of(Block)) == len(verdicts)
    assert found.of(Finding) == []
    assert found.exit_code == 0


def test_a_deviation_of_other_versions_explains_nothing_here(
    record: Callable[..., Recorded], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    planted.plant(monkeypatch, "deviation")
    found = record()
    found.lab.deviations = tuple(replace(entry, versions="8.0.3..8.0.99") for entry in load_deviations())
    with pytest.raises(pytest.fail.Exception):
        found.require("updates/apply")
    assert found.exit_code == 1


def test_a_witness_that_shows_nothing_is_an_unexpected_pass(record: Callable[..., Recorded]) -> None:
    from dataclasses import replace

    from conformance.cases.files import dump_case

    found = record()
    stale = json.dumps(dump_case(planted.case()))
    found.lab.deviations = tuple(
        replace(entry, witness=stale) for entry in load_deviations() if entry.id == "unchanging-replace"
    )
    found.fails(test_deviations.test_witnesses, "unchanging-replace: the list is in error")
    (verdict,) = found.of(CaseVerdict)
    assert verdict.verdict is Verdict.FIXED
    assert "the list is in error" in verdict.message
    assert found.exit_code == 1


def test_behind_the_observed_versions_a_witness_that_shows_nothing_is_fixed(
    record: Callable[..., Recorded], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from conformance.cases.files import dump_case

    found = record()
    stale = json.dumps(dump_case(planted.case()))
    (entry,) = (item for item in load_deviations() if item.id == "unchanging-replace")
    found.lab.deviations = (replace(entry, witness=stale),)
    monkeypatch.setattr(found.lab.server, "number", (10, 0, 0))
    run(test_deviations.test_witnesses, found.lab)
    (verdict,) = found.of(CaseVerdict)
    assert verdict.verdict is Verdict.FIXED
    assert verdict.message == "gone in 10.0.0: narrow the range of unchanging-replace, 8.0.3.."
    assert found.exit_code == 0


def test_a_selection_runs_the_witnesses_of_its_requirements_alone(record: Callable[..., Recorded]) -> None:
    found = record(requirements=frozenset({"W1b"}))
    run(test_deviations.test_witnesses, found.lab)
    shown = {name for block in found.of(Block) for name in block.deviations}
    assert shown
    assert shown == {item.id for item in load_deviations() if "W1b" in item.requirements}


@pytest.mark.parametrize(
    ("statement", "got"), [("SET SESSION sql_log_bin=1", "no difference"), ("SET SESSION sql_log_bin=2", "1231")]
)
def test_a_witness_whose_outcome_is_another_is_stale(record: Callable[..., Recorded], statement: str, got: str) -> None:
    from dataclasses import replace

    entry = next(item for item in load_deviations() if item.id == "sql-log-bin-without-warning")
    assert entry.witness is not None
    data = json.loads(entry.witness)
    data["statements"][1]["sql"] = statement
    if got == "no difference":  # as if the server were mended
        data["statements"][1]["outcomes"].insert(0, {"warnings": []})
    found = record()
    found.lab.deviations = (replace(entry, witness=json.dumps(data)),)
    found.fails(test_deviations.test_witnesses, "sql-log-bin-without-warning: ")
    (verdict,) = found.of(CaseVerdict)
    assert got in verdict.got
    assert found.exit_code == 1


def test_a_witness_that_may_stop_a_replica_needs_leave_on_a_guest(
    record: Callable[..., Recorded], monkeypatch: pytest.MonkeyPatch, server: ProcessServer
) -> None:
    found = record()
    monkeypatch.setattr(server, "hazards", lambda: frozenset({"none"}))
    found.lab.deviations = tuple(entry for entry in found.lab.deviations if entry.id == "unchanging-replace")
    run(test_deviations.test_witnesses, found.lab)
    (verdict,) = found.of(CaseVerdict)
    assert verdict.verdict == "not-applicable"
    assert "--allow stops-replica" in verdict.message
