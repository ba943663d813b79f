"""Facts that no rule holds stay green, and every report names them; a fault beside them is red."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

import pytest

from conformance.harness.updates.captures import load_capture, recorded
from conformance.judge.updates.borrowed import TRUST
from conformance.judge.updates.compare import judge
from conformance.reference.event_types import EventType
from tests.judge.doctoring import NUMBERS, script
from tests.judge.perfect_server import observe
from tests.judge.updates.faults_of_facts import FIELDS, ROWS, Field, altered

if TYPE_CHECKING:
    from conformance.cases.observation import Observation
    from conformance.cases.script import Script

CLOCK: Final = FIELDS["GTID_LOG_EVENT.immediate_commit_timestamp"]
IDS: Final = Field("table_id", 19, 6, ROWS | {EventType.TABLE_MAP})


@cache
def capture() -> tuple[Script, Observation]:
    """A recorded block without compression, with two milliseconds at least before its first commit."""
    for data in recorded():
        made, observation = load_capture(data)
        if made.case.session.compression:
            continue  # other bytes are compressed to another length
        if observation.log is not None and _first_commit(observation) - observation.log.clock[0] > 2000:
            return made, observation
    raise AssertionError("no such block")


def _first_commit(observation: Observation) -> int:
    event = next(event for event in observation.events if event[4] == EventType.GTID)
    return int.from_bytes(event[CLOCK.offset : CLOCK.offset + CLOCK.size], "little")


def fields(made: Script, observation: Observation) -> set[str]:
    return {mismatch.field for mismatch in judge(made, observation).mismatches}


@pytest.mark.planted("FR1")
def test_commits_a_millisecond_off_are_on_trust_and_an_hour_is_not() -> None:
    made, observation = capture()
    assert fields(made, altered(observation, CLOCK, lambda values: [values[0] - 1000, *values[1:]])) == set()
    assert "which microsecond" in TRUST["times of commits"]
    late = altered(observation, CLOCK, lambda values: [*values[:-1], values[-1] + 3_600_000_000])
    assert CLOCK.name in fields(made, late)


@pytest.mark.planted("F3")
def test_ids_of_all_tables_shifted_are_on_trust_and_one_that_differs_is_not() -> None:
    made, observation = capture()
    assert fields(made, altered(observation, IDS, lambda values: [value + 1 for value in values])) == set()
    assert "the first id" in TRUST["table ids"]
    other = altered(observation, IDS, lambda values: [*values[:-1], values[-1] + 1])
    assert any(name.endswith(".table_id") for name in fields(made, other))


@pytest.mark.planted("FR1")
def test_texts_of_errors_of_statements_are_on_trust_and_their_numbers_are_not() -> None:
    made, place = script(), NUMBERS["refused"]
    seen = observe(made)

    def with_outcome(**changed: object) -> Observation:
        outcomes = list(seen.outcomes)
        outcomes[place] = replace(outcomes[place], **changed)  # type: ignore[arg-type]
        return replace(seen, outcomes=tuple(outcomes))

    assert seen.outcomes[place].error
    assert fields(made, with_outcome(message="Another text")) == set()
    assert "numbers are compared" in TRUST["texts of errors"]
    assert fields(made, with_outcome(error=1064)) == {"error"}
