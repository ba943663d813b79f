"""The checks of what mysqlbinlog prints and replays fail on the faults planted for them, and pass without one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.script import build_script
from conformance.checks.mysqlbinlog_output import check as test_printing
from conformance.checks.mysqlbinlog_output import check_executed as test_executed_pseudo_sql
from conformance.checks.mysqlbinlog_output import executed as executed_pseudo_sql
from conformance.checks.mysqlbinlog_output import judge as printing
from conformance.checks.mysqlbinlog_output.executed import EXAMPLES
from conformance.checks.mysqlbinlog_replay import check as test_replaying
from conformance.checks.unchanged import check as test_unchanged
from conformance.harness import mysqlbinlog_replay
from conformance.harness import session as labs
from conformance.harness.lab import Lab, Settings
from conformance.judge.updates.expected import expected_groups
from conformance.reference.binlog.event import encode_event
from conformance.servers.roles.update_cases import run_case
from conformance.stream import Block, CaseVerdict
from tests.checks.mysqlbinlog_output.faults_of_printing import (
    EXECUTED_FAULTS,
    OFF_FAULTS,
    ON_FAULTS,
    OPTION_FAULTS,
    REPLAY_FAULTS,
    TEXT_FAULTS,
)
from tests.harness import planted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord

pytestmark = pytest.mark.live


class Recorded:
    """A lab on the tests' server, and what it wrote."""

    def __init__(self, server: ProcessServer, cases: Path, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(labs, "resolve", lambda *_, **__: server)
        self.records: list[AnyRecord] = []
        self.lab = Lab(Settings(cases=cases), self.records.append)

    def of(self, kind: type[Any]) -> list[Any]:
        return [record for record in self.records if isinstance(record, kind)]

    def cases(self, check: str) -> int:
        return sum(block.cases for block in self.of(Block) if block.check == check)

    @property
    def failing(self) -> set[str]:
        return {block.check for block in self.of(Block) if block.failures}


@pytest.fixture
def recorded(server: ProcessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    return Recorded(server, tmp_path, monkeypatch)


# --- FR7 -------------------------------------------------------------------------------------------------------------


def test_the_real_client_prints_all_diffs(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_printing, "_BLOCKS", {"quick": 1})
    test_printing.test_printed_updates(recorded.lab)
    test_printing.test_worklog_example(recorded.lab)
    assert recorded.of(CaseVerdict) == []
    for check in ("printing/text", "printing/complete"):
        assert recorded.cases(check) >= 45  # some statements of a block change nothing


@pytest.mark.parametrize("fault", TEXT_FAULTS, ids=lambda fault: fault.id)
def test_a_doctored_text_of_the_example_fails_the_check(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Any
) -> None:
    real = printing.client_text
    monkeypatch.setattr(printing, "client_text", lambda *arguments: fault.change(real(*arguments)))
    with pytest.raises(pytest.fail.Exception, match="otherwise"):
        test_printing.test_worklog_example(recorded.lab)
    assert recorded.failing == {"printing/example", "printing/example-text"}


def _without_the_last_row(text: bytes) -> bytes:
    return text[: text.rindex(b"### UPDATE ")]


def _another_digit(text: bytes) -> bytes:
    place = text.rindex(b"JSON_REPLACE(@")
    return text[:place] + text[place:].replace(b"JSON_REPLACE(", b"JSON_INSERT(", 1)


@pytest.mark.parametrize("change", [_without_the_last_row, _another_digit])
def test_a_doctored_text_of_generated_updates_fails_the_check(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    real = printing.client_text
    monkeypatch.setattr(test_printing, "_BLOCKS", {"quick": 1})
    monkeypatch.setattr(printing, "client_text", lambda *arguments: change(real(*arguments)))
    with pytest.raises(pytest.fail.Exception, match="differences in what mysqlbinlog prints"):
        test_printing.test_printed_updates(recorded.lab)
    assert recorded.failing == {"printing/text", "printing/complete"}
    verdict = recorded.of(CaseVerdict)[0]
    assert verdict.replay.endswith("printing-0.binlog")
    assert (tmp_path / "printing-0.binlog").read_bytes().startswith(b"\xfebin")
    assert (tmp_path / f"{verdict.case}.json").exists()


def test_printed_updates_make_the_same_documents_when_they_are_run(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(test_executed_pseudo_sql, "_BLOCKS", {"quick": 2})
    run: list[Any] = []

    def execute(*given: Any) -> Any:
        run.append(executed_pseudo_sql.execute(*given))
        return run[-1]

    monkeypatch.setattr(test_executed_pseudo_sql, "execute", execute)
    test_executed_pseudo_sql.test_executed_updates(recorded.lab)
    assert recorded.failing == set()
    assert {item.verdict for item in recorded.of(CaseVerdict)} == {"info"}
    example = recorded.of(Block)[0]
    assert example.verdicts == {"pass": len(EXAMPLES) - 1, "info": 1}  # the DATE
    assert set(run[0].functions) == {"JSON_REPLACE", "JSON_REMOVE", "JSON_INSERT", "JSON_ARRAY_INSERT"}
    assert recorded.cases("printing/executed") >= 2 * 45


@pytest.mark.planted("FR7.1")
@pytest.mark.parametrize("fault", EXECUTED_FAULTS, ids=lambda fault: fault.id)
def test_a_text_that_does_something_else_when_it_is_run_fails_the_check(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Any
) -> None:
    real = printing.client_text
    monkeypatch.setattr(test_executed_pseudo_sql, "_BLOCKS", {"quick": 0})
    monkeypatch.setattr(printing, "client_text", lambda *arguments: fault.change(real(*arguments)))
    with pytest.raises(pytest.fail.Exception, match="another change when they are run"):
        test_executed_pseudo_sql.test_executed_updates(recorded.lab)
    assert recorded.failing == {"printing/executed"}
    verdict = next(item for item in recorded.of(CaseVerdict) if item.verdict.failing)
    assert verdict.requirement == "FR7"


# --- FR3 -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def one_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_replaying, "_BLOCKS", {"quick": 1})


@pytest.mark.usefixtures("one_replay")
def test_replayed_updates_are_the_same(recorded: Recorded) -> None:
    test_replaying.test_replayed_updates(recorded.lab)
    assert recorded.of(CaseVerdict) == []
    assert recorded.cases("replaying/rows") >= 40


@pytest.mark.usefixtures("one_replay")
@pytest.mark.parametrize("fault", REPLAY_FAULTS, ids=lambda fault: fault.id)
def test_a_doctored_state_fails_the_check(recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Any) -> None:
    real = mysqlbinlog_replay.take_state
    taken: list[Any] = []

    def doctored(*arguments: Any) -> Any:
        taken.append(real(*arguments))
        return mysqlbinlog_replay.State(*fault.change(taken[-1])) if len(taken) == 2 else taken[-1]

    monkeypatch.setattr(mysqlbinlog_replay, "take_state", doctored)
    with pytest.raises(pytest.fail.Exception, match="differences after replays"):
        test_replaying.test_replayed_updates(recorded.lab)
    assert recorded.failing == {"replaying/rows"}


@pytest.mark.usefixtures("one_replay")
def test_a_statement_missing_from_the_text_fails_the_check(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    real = mysqlbinlog_replay.print_log

    def shorter(*arguments: Any) -> mysqlbinlog_replay.Text:
        head, statement, rest = real(*arguments).data.rpartition(b"BINLOG '\n")
        return (
            mysqlbinlog_replay.Text(head + rest[rest.index(b"/*!*/;\n") + 7 :])
            if statement
            else mysqlbinlog_replay.Text(rest)
        )

    monkeypatch.setattr(mysqlbinlog_replay, "print_log", shorter)
    with pytest.raises(pytest.fail.Exception, match="differences after replays"):
        test_replaying.test_replayed_updates(recorded.lab)


@pytest.mark.usefixtures("one_replay")
@pytest.mark.parametrize("listed", [True, False])
def test_a_refused_replay_is_the_listed_deviation_or_a_failure(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, listed: bool
) -> None:
    def make_script(_: object, __: int, limits: Any, *, updates: int) -> Any:
        return build_script(planted.witness(), row_metadata=limits.row_metadata)

    monkeypatch.setattr(test_replaying, "make_script", make_script)
    if not listed:
        recorded.lab.deviations = ()
        with pytest.raises(pytest.fail.Exception):
            test_replaying.test_replayed_updates(recorded.lab)
    else:
        test_replaying.test_replayed_updates(recorded.lab)
    (verdict,) = recorded.of(CaseVerdict)
    assert verdict.deviation == ("unchanging-replace" if listed else None)
    assert "3648" in verdict.got
    assert recorded.failing == (set() if listed else {"replaying/rows"})


def test_a_refusal_that_a_switch_explains_is_left_out_for_a_server_that_does_not_refuse() -> None:
    script = build_script(planted.witness())
    events = [event.body for group in expected_groups(script, "lab") for event in group.events]
    raw = [encode_event(body) for body in events]  # type: ignore[arg-type]
    refusal = mysqlbinlog_replay.expected_of(script, raw).refusal
    assert refusal is not None
    assert refusal.switch == "refuse_unchanging_replace"
    assert mysqlbinlog_replay.expected_of(script, raw, refuses=False).refusal is None


# --- FR8, FR9 --------------------------------------------------------------------------------------------------------


@pytest.fixture
def one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_unchanged, "_BLOCKS", {"quick": 1})


@pytest.mark.usefixtures("one_block")
def test_the_same_workload_leaves_the_same_log(recorded: Recorded, server: ProcessServer) -> None:
    test_unchanged.test_other_events_are_unchanged(recorded.lab)
    assert recorded.of(CaseVerdict) == []
    for check in ("unchanged/off", "unchanged/on"):
        assert recorded.cases(check) >= 50
    with server.connect() as connection:
        assert connection.variable("global.binlog_row_value_options") == ""


@pytest.mark.usefixtures("one_block")
@pytest.mark.parametrize(
    ("run", "check", "fault"),
    [(1, "unchanged/off", fault) for fault in OFF_FAULTS] + [(2, "unchanged/on", fault) for fault in ON_FAULTS],
    ids=lambda item: getattr(item, "id", None),
)
def test_a_doctored_log_fails_the_check(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, run: int, check: str, fault: Any
) -> None:
    real = run_case
    runs: list[Any] = []

    def doctored(*arguments: Any) -> Any:
        runs.append(real(*arguments))
        return replace(runs[-1], events=fault.change(runs[-1].events)) if len(runs) == run + 1 else runs[-1]

    monkeypatch.setattr(test_unchanged, "run_case", doctored)
    with pytest.raises(pytest.fail.Exception, match="events differ between runs"):
        test_unchanged.test_other_events_are_unchanged(recorded.lab)
    assert recorded.failing == {check}


def test_unknown_members_are_refused(recorded: Recorded) -> None:
    test_unchanged.test_unknown_members_are_refused(recorded.lab)
    assert recorded.of(CaseVerdict) == []
    assert recorded.cases("option/members") >= 50


@pytest.mark.parametrize("fault", OPTION_FAULTS, ids=lambda fault: fault.id)
def test_an_answer_that_takes_unknown_members_fails_the_check(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Any
) -> None:
    real = test_unchanged.answer
    monkeypatch.setattr(test_unchanged, "answer", lambda *arguments: fault.change(real(*arguments)))
    with pytest.raises(pytest.fail.Exception, match="not taken as they must be"):
        test_unchanged.test_unknown_members_are_refused(recorded.lab)
    assert "option/members" in recorded.failing
    assert recorded.of(CaseVerdict)[0].statements


def test_another_error_for_an_unknown_member_differs(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_unchanged, "_WRONG_VALUE", 1)
    with pytest.raises(pytest.fail.Exception):
        test_unchanged.test_unknown_members_are_refused(recorded.lab)
    assert recorded.failing == {"option/error"}
    assert {item.verdict for item in recorded.of(CaseVerdict)} == {"differs"}
