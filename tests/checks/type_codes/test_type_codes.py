"""The check of type codes passes on a sound server, and each planted fault makes the rows red that are due."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.type_codes import check
from conformance.checks.type_codes.generate import case_of
from conformance.checks.type_codes.judge import other_differences, type_codes, update_types
from conformance.harness.profiles import SIZES
from conformance.harness.updates.blocks import Limits
from conformance.judge.updates.compare import judge
from conformance.stream import Block, CaseVerdict
from generators.draw import Stream
from tests.faults.fault import Fault
from tests.faults.runner import each, plant_in
from tests.judge.doctoring import sealed
from tests.judge.perfect_server import observe
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.observation import Observation
    from tests.recorded import Recorded

Events = tuple[bytes, ...]
ON, OFF = 39, 31


def retyped(old: int, new: int) -> Callable[[Events], Events]:
    """The first update with another type code; nothing else is another. Compressed transactions stay as they are."""

    def change(events: Events) -> Events:
        out = list(events)
        for place, event in enumerate(out):
            if event[4] == old:
                out[place] = sealed(event[:4] + bytes((new,)) + event[5:])
                break
        return tuple(out)

    return change


FAULTS = [
    Fault("old-type", "F1", "With the option on an update is of type 39, whatever the table.", retyped(ON, OFF)),
    Fault("version-1", "F1", "With the option on an update is of type 39, whatever the table.", retyped(ON, 24)),
    Fault("not-logged", "F1", "Every update that changes a row has its event.",
          lambda events: tuple(event for event in events if event[4] != ON)),
]  # fmt: skip


def observed(number: int) -> tuple[Any, Observation]:
    script = Limits().script(case_of(Stream("test").fork(number), number))
    return script, observe(script)


@pytest.mark.parametrize("number", range(20))
def test_a_perfect_server_passes_with_tables_that_have_no_json(number: int) -> None:
    script, observation = observed(number)
    assert len(script.case.table.json_columns) == (number % 4 == 3)
    due = ON if script.case.session.partial_json else OFF
    assert set(update_types(observation.events)) == {due}
    assert type_codes(script, observation) == []
    assert [*other_differences(judge(script, observation).mismatches, wrong_codes=False)] == []


def test_one_case_in_four_has_the_option_off_and_one_in_four_a_document() -> None:
    cases = [observed(number)[0].case for number in range(32)]
    assert sum(not case.session.partial_json for case in cases) == 8
    assert sum(bool(case.table.json_columns) for case in cases) == 8


@each(FAULTS)
def test_a_log_with_another_type_breaks_f1_and_no_other_row(fault: Fault) -> None:
    script, observation = observed(0)
    wrong = replace(observation, events=fault.change(observation.events))
    assert type_codes(script, wrong), fault.sentence


@pytest.mark.planted("F3")
@pytest.mark.parametrize("old", [19, 33, 16])
def test_another_type_of_another_event_breaks_f3(old: int) -> None:
    script, observation = observed(0)
    wrong = replace(observation, events=retyped(old, 5)(observation.events))
    assert type_codes(script, wrong) == []
    problems = other_differences(judge(script, wrong).mismatches, wrong_codes=False)
    assert "the transaction has other events" in {problem.message for problem in problems}


@pytest.mark.planted("F1")
def test_the_new_type_with_the_option_off_breaks_f1() -> None:
    script, observation = observed(12)
    assert not script.case.session.partial_json
    wrong = replace(observation, events=retyped(OFF, ON)(observation.events))
    (problem,) = type_codes(script, wrong)
    assert (problem.expected, problem.got) == ("type 31", "type 39")


@pytest.fixture
def four_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES["type_codes/events"], "quick", 4)


@pytest.mark.live
@pytest.mark.usefixtures("four_cases")
def test_a_sound_server_passes(recorded: Recorded) -> None:
    run(check.test_updates_without_documents, recorded.lab)
    assert recorded.of(CaseVerdict) == []
    assert recorded.cases("type_codes/events/F1") == recorded.cases("type_codes/events/bytes") == 48


@pytest.mark.live
@pytest.mark.usefixtures("four_cases")
@each(FAULTS[:2])
def test_a_server_that_logs_another_type_makes_f1_red_alone(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    plant_in(monkeypatch, check, "run_case", lambda it: replace(it, events=fault.change(it.events)))
    recorded.fails(check.test_updates_without_documents, "another type code")
    failed = [item for item in recorded.of(Block) if item.failures]
    assert {name for item in failed for name in item.broken or item.requirements} == {"F1"}
