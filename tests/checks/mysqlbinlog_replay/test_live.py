"""The check of replays of mysqlbinlog's output fails on the faults planted for it, and passes without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.script import build_script
from conformance.checks.mysqlbinlog_replay import check
from conformance.checks.mysqlbinlog_replay import run as room
from conformance.checks.mysqlbinlog_replay.judge import expected_of
from conformance.harness.mysqlbinlog_replay import Text, print_log
from conformance.harness.profiles import SIZES
from conformance.judge.updates.expected import expected_groups
from conformance.reference.binlog.event import encode_event
from conformance.stream import CaseVerdict
from tests.checks.mysqlbinlog_replay.faults import REPLAY_FAULTS
from tests.faults.runner import each, plant_in
from tests.harness import planted
from tests.running import run

if TYPE_CHECKING:
    from tests.faults.fault import Fault
    from tests.recorded import Recorded

pytestmark = pytest.mark.live


@pytest.fixture
def one_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES["mysqlbinlog_replay/rows"], "quick", 1)


@pytest.mark.usefixtures("one_replay")
def test_replayed_updates_are_the_same(recorded: Recorded) -> None:
    run(check.test_replayed_updates, recorded.lab)
    assert recorded.of(CaseVerdict) == []
    assert recorded.cases("mysqlbinlog_replay/rows") >= 40


@pytest.mark.usefixtures("one_replay")
@each(REPLAY_FAULTS)
def test_a_doctored_state_fails_the_check(recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    plant_in(monkeypatch, room, "take_state", lambda state: room.TableContent(*fault.change(state)), call=2)
    recorded.fails(check.test_replayed_updates, "after the replay")
    assert recorded.failing == {"mysqlbinlog_replay/rows"}


@pytest.mark.usefixtures("one_replay")
def test_a_statement_missing_from_the_text_fails_the_check(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    def shorter(*arguments: Any) -> Text:
        head, statement, rest = print_log(*arguments).data.rpartition(b"BINLOG '\n")
        return Text(head + rest[rest.index(b"/*!*/;\n") + 7 :]) if statement else Text(rest)

    monkeypatch.setattr(room, "print_log", shorter)
    recorded.fails(check.test_replayed_updates, "another number of statements is in the text")


@pytest.mark.usefixtures("one_replay")
@pytest.mark.parametrize("listed", [True, False])
def test_a_refused_replay_is_the_listed_deviation_or_a_failure(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, listed: bool
) -> None:
    def make_script(_: object, __: int, limits: Any, *, updates: int) -> Any:
        return build_script(planted.witness(), row_metadata=limits.row_metadata)

    monkeypatch.setattr(check, "make_script", make_script)
    if not listed:
        recorded.lab.deviations = ()
        with pytest.raises(pytest.fail.Exception):
            run(check.test_replayed_updates, recorded.lab)
    else:
        run(check.test_replayed_updates, recorded.lab)
    (verdict,) = recorded.of(CaseVerdict)
    assert verdict.deviation == ("unchanging-replace" if listed else None)
    assert verdict.got is not None
    assert "3648" in verdict.got
    assert recorded.failing == (set() if listed else {"mysqlbinlog_replay/rows"})


def test_a_refusal_that_a_switch_explains_is_left_out_for_a_server_that_does_not_refuse() -> None:
    script = build_script(planted.witness())
    events = [event.body for group in expected_groups(script, "lab") for event in group.events]
    raw = [encode_event(body) for body in events]  # type: ignore[arg-type]
    refusal = expected_of(script, raw).refusal
    assert refusal is not None
    assert refusal.switch == "refuse_unchanging_replace"
    assert expected_of(script, raw, refuses=False).refusal is None
