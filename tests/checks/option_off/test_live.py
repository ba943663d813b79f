"""The checks of the log without the option, and of its members, fail on the faults planted for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.checks.option_off import check, check_members
from conformance.checks.option_off import run as room
from conformance.harness.profiles import SIZES
from conformance.stream import CaseVerdict
from tests.checks.option_off.faults import OFF_FAULTS, ON_FAULTS, OPTION_FAULTS
from tests.faults.runner import each, plant_in
from tests.running import run

if TYPE_CHECKING:
    from conformance.servers.run.process import ProcessServer
    from tests.faults.fault import Fault
    from tests.recorded import Recorded

pytestmark = pytest.mark.live


@pytest.fixture
def one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES["option_off/events"], "quick", 1)


@pytest.mark.usefixtures("one_block")
def test_the_same_workload_leaves_the_same_log(recorded: Recorded, server: ProcessServer) -> None:
    run(check.test_other_events_are_unchanged, recorded.lab)
    assert recorded.of(CaseVerdict) == []
    for name in ("option_off/events", "option_off/events/on", "option_off/events/off-again"):
        assert recorded.cases(name) >= 50
    with server.connect() as connection:
        assert connection.variable("global.binlog_row_value_options") == ""


@pytest.mark.sampled(5)
@pytest.mark.usefixtures("one_block")
@pytest.mark.parametrize(
    ("place", "name", "fault"),
    [
        (place, name, fault)
        for place, name, faults in (
            (1, "option_off/events", OFF_FAULTS),
            (2, "option_off/events/on", ON_FAULTS),
            (3, "option_off/events/off-again", OFF_FAULTS),  # what a session writes that had the option on
        )
        for fault in faults
    ],
    ids=lambda item: getattr(item, "id", None),
)
def test_a_doctored_log_fails_the_check(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, place: int, name: str, fault: Fault
) -> None:
    plant_in(monkeypatch, room, "run_case", lambda it: replace(it, events=fault.change(it.events)), call=place + 1)
    recorded.fails(check.test_other_events_are_unchanged, r"differ|with the option off|in the second run")
    assert recorded.failing == {name}


def test_unknown_members_are_refused(recorded: Recorded) -> None:
    run(check_members.test_unknown_members_are_refused, recorded.lab)
    assert recorded.of(CaseVerdict) == []
    assert recorded.cases("option_off/members") >= 50


@each(OPTION_FAULTS)
def test_an_answer_that_takes_unknown_members_fails_the_check(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    real = room.set_option
    monkeypatch.setattr(check_members, "set_option", lambda *arguments: fault.change(real(*arguments)))
    recorded.fails(check_members.test_unknown_members_are_refused, "not taken as the type SET has it")
    assert "option_off/members" in recorded.failing
    assert recorded.of(CaseVerdict)[0].statements


def test_another_error_for_an_unknown_member_differs(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_members, "_WRONG_VALUE", 1)
    recorded.fails(check_members.test_unknown_members_are_refused)
    assert recorded.failing == {"option_off/members/error"}
    assert {item.verdict for item in recorded.of(CaseVerdict)} == {"differs"}
