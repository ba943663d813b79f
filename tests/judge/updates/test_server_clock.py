"""A server's clock that somebody sets while a Case runs: a sound log breaks no rule, and the step is told."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.harness.updates import blocks
from conformance.judge.updates.compare import judge
from conformance.judge.updates.server_clock import ServerClock, step_between
from tests.judge.doctoring import script
from tests.judge.perfect_server import STARTED, observe
from tests.judge.updates.faults_of_facts import FIELDS, altered

if TYPE_CHECKING:
    from conformance.cases.observation import Observation
    from conformance.judge.updates.mismatch import Mismatch
    from tests.judge.perfect_server import Groups

HOUR = 3600
SECOND = 1_000_000
COMMIT = "GTID_LOG_EVENT.immediate_commit_timestamp"


def stepped(seconds: int, *, behind: int = 2, compression: bool = False) -> Observation:
    """The observation of a sound server whose clock is set after ``behind`` transactions. Each takes a second."""

    def set_clock(groups: Groups) -> None:
        for bodies in groups[behind:]:
            time = bodies[0].immediate_commit_timestamp + seconds * SECOND
            bodies[0] = replace(bodies[0], immediate_commit_timestamp=time)

    observation = observe(script(compression=compression), doctor=set_clock)
    assert observation.log is not None
    first, last = observation.log.clock
    log = replace(observation.log, clock=(first, last + seconds * SECOND), elapsed=(last - first - 2000, last - first))
    return replace(observation, log=log)


def found(observation: Observation, *, compression: bool = False) -> list[Mismatch]:
    return judge(script(compression=compression), observation).mismatches


@pytest.mark.parametrize("compression", [False, True], ids=["plain", "compressed"])
@pytest.mark.parametrize("seconds", [HOUR, -HOUR, 86_400, -86_400])
def test_a_set_clock_is_told_and_breaks_no_rule(seconds: int, compression: bool) -> None:
    observation = stepped(seconds, compression=compression)
    judgement = judge(script(compression=compression), observation)
    assert judgement.mismatches == []
    assert judgement.clock_step == pytest.approx(seconds * SECOND, abs=20_000)


@pytest.mark.parametrize("seconds", [1, -1, 3, -3])
def test_a_step_that_is_shorter_than_the_case_breaks_no_rule(seconds: int) -> None:
    assert found(stepped(seconds)) == []


def test_without_the_labs_clock_such_a_log_breaks_rules() -> None:
    observation = stepped(-HOUR)
    assert observation.log is not None
    alone = replace(observation, log=replace(observation.log, elapsed=None))
    assert {mismatch.field for mismatch in found(alone)} == {"header.timestamp", COMMIT}


@pytest.mark.planted("FR1", "F3")
@pytest.mark.parametrize("seconds", [0, HOUR, -HOUR])
@pytest.mark.parametrize("field", ["header.timestamp", COMMIT, "QUERY_EVENT.execution_time"])
@pytest.mark.parametrize("wrong", [600, -600, 7200])
def test_a_wrong_time_is_found_whatever_the_clock_does(field: str, seconds: int, wrong: int) -> None:
    if seconds:
        observation = stepped(seconds)
    else:
        observation = observe(script())
        assert observation.log is not None
        first, last = observation.log.clock
        observation = replace(observation, log=replace(observation.log, elapsed=(last - first, last - first)))
    unit = SECOND if field == COMMIT else 1
    odd = altered(observation, FIELDS[field], lambda values: [*values[:-1], values[-1] + wrong * unit])
    assert field in {mismatch.field for mismatch in found(odd)}


@pytest.mark.planted("FR1")
def test_times_that_go_back_are_found_beside_a_step() -> None:
    """By more than the two seconds within which whole seconds around a step cannot be ordered."""
    observation = stepped(HOUR, behind=1)
    swapped = altered(observation, FIELDS[COMMIT], lambda values: [values[0], values[-1], *values[2:-1], values[1]])
    assert COMMIT in {mismatch.field for mismatch in found(swapped)}


def test_a_clock_that_is_slewed_was_not_set() -> None:
    second = (10 * SECOND, 11 * SECOND)
    assert step_between(second, None) == 0
    assert step_between(second, (SECOND - 5, SECOND + 5)) == 0
    assert step_between(second, (SECOND + 500, SECOND + 900)) == 0  # half a thousandth slow
    assert step_between(second, (900_000, 950_000)) == SECOND - 950_950
    assert step_between((10 * SECOND, 7 * SECOND), (SECOND, SECOND + 9)) == -3 * SECOND - 999_000


def test_a_replicas_log_is_judged_with_the_step_of_its_servers() -> None:
    clock = ServerClock(None, step=-HOUR * SECOND)
    assert not clock.is_behind((STARTED - HOUR) * SECOND, STARTED * SECOND)
    assert clock.is_behind((STARTED - 2 * HOUR) * SECOND, STARTED * SECOND)
    assert ServerClock(None).is_behind((STARTED - 1) * SECOND, STARTED * SECOND)


@pytest.mark.planted("FR1")
@pytest.mark.parametrize(("wrong", "tries", "red"), [(1, 2, False), (2, 3, False), (9, 3, True)])
def test_a_block_in_which_only_times_are_wrong_is_run_again(
    wrong: int, tries: int, red: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock was set and set back unseen, or the server errs: then it errs each time."""
    good = observe(script())
    bad = altered(good, FIELDS[COMMIT], lambda values: [*values[:-1], values[-1] + HOUR * SECOND])
    ran: list[Observation] = []

    def run_case(*_: object) -> Observation:
        ran.append(bad if len(ran) < wrong else good)
        return ran[-1]

    monkeypatch.setattr(blocks, "make_script", lambda *_, **__: script())
    monkeypatch.setattr(blocks, "run_case", run_case)
    result = blocks.run_block(None, None, "s", 1, 0, blocks.Limits(), 1)  # type: ignore[arg-type]
    assert (len(ran), result.unsettled) == (tries, tries - 1)
    assert bool(result.judgement.mismatches) == red


def test_a_block_with_another_difference_is_not_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = altered(observe(script()), FIELDS["header.server_id"], lambda values: [value + 1 for value in values])
    monkeypatch.setattr(blocks, "make_script", lambda *_, **__: script())
    monkeypatch.setattr(blocks, "run_case", lambda *_: bad)
    assert blocks.run_block(None, None, "s", 1, 0, blocks.Limits(), 1).unsettled == 0  # type: ignore[arg-type]
