"""The rules of the fields that no model can know: none is broken by a real log, and each altered field is named."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.script import build_script
from conformance.cases.update_case import Step, UpdateCase
from conformance.checks.option_off.judge import broken_rules
from conformance.harness.updates.captures import load_capture, recorded
from conformance.judge.updates.borrowed import BODY, HEADER, RULES
from conformance.judge.updates.compare import judge, judge_rules
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.expression import Assignment
from conformance.reference.sql.expressions import parse_expression
from conformance.reference.tables.definitions import Column, Table
from tests.judge.doctoring import script, sealed
from tests.judge.perfect_server import observe
from tests.judge.updates.faults_of_facts import (
    CHANGES,
    CONSTANT,
    FIELDS,
    LOOSE,
    altered,
    every,
    one,
    one_step,
    swapped,
    unpacked,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.observation import Observation
    from conformance.cases.script import Script


@cache
def captures() -> dict[bool, tuple[Script, Observation]]:
    """Two recorded blocks of a real server, with compression and without: those with the most transactions."""
    out: dict[bool, tuple[Script, Observation]] = {}
    for data in recorded():
        made, observation = load_capture(data)
        known = out.get(made.case.session.compression)
        if known is None or len(known[1].events) < len(observation.events):
            out[made.case.session.compression] = made, observation
    return out


FAULTS: Final = [
    (name, change)
    for name in FIELDS
    for change in CHANGES
    if (name, change) not in LOOSE and not (change == "swapped" and name in CONSTANT)
]


@pytest.mark.sampled(50)
@pytest.mark.planted("FR1", "F3")
@pytest.mark.parametrize("compression", [False, True], ids=["plain", "compressed"])
@pytest.mark.parametrize(("name", "change"), FAULTS, ids=[f"{name} {change}" for name, change in FAULTS])
def test_an_altered_field_of_a_real_log_is_named(name: str, change: str, compression: bool) -> None:
    made, observation = captures()[compression]
    field = FIELDS[name]
    found = {item.field for item in judge(made, altered(observation, field, CHANGES[change])).mismatches}
    if name.endswith("table_id"):
        # Which of the two is wrong, when they differ, nobody can say.
        assert any(item.endswith(".table_id") for item in found)
    else:
        assert name in found


@pytest.mark.planted("FR1", "F3")
@pytest.mark.parametrize("compression", [False, True], ids=["plain", "compressed"])
def test_timestamps_that_change_places_are_found(compression: bool) -> None:
    made = script(compression=compression)
    broken = altered(observe(made), FIELDS["header.timestamp"], swapped)
    assert "header.timestamp" in {item.field for item in judge(made, broken).mismatches}


def test_recorded_logs_break_no_rule() -> None:
    blocks = list(map(load_capture, recorded()))
    assert len(blocks) >= 40
    for made, observation in blocks:
        assert observation.log is not None
        assert [item for item in judge(made, observation).mismatches if not item.deviation] == []


def test_a_message_says_what_where_expected_and_got() -> None:
    made, observation = captures()[False]
    broken = altered(observation, FIELDS["XID_EVENT.xid"], one_step)
    (mismatch,) = judge(made, broken).mismatches
    assert mismatch.field == "XID_EVENT.xid"
    assert "event " in mismatch.message
    assert "transaction " in mismatch.message
    assert mismatch.expected in mismatch.message
    assert int(mismatch.got) == int(mismatch.expected) + 1


def test_without_facts_the_relations_are_still_judged() -> None:
    made, observation = captures()[False]
    bare = replace(observation, log=None)
    assert judge(made, bare).mismatches == []
    for name in ("header.server_id", "header.log_pos", "GTID_LOG_EVENT.gno", "XID_EVENT.xid"):
        change = every if name == "XID_EVENT.xid" else one
        assert name in {item.field for item in judge(made, altered(bare, FIELDS[name], change)).mismatches}


@pytest.mark.planted("FR8")
@pytest.mark.parametrize("name", ["header.log_pos", "GTID_LOG_EVENT.last_committed", "XID_EVENT.xid"])
def test_runs_that_are_compared_with_each_other_keep_the_rules(name: str) -> None:
    """An error that both runs share does not show in their comparison, but it breaks a rule."""
    made, observation = captures()[False]
    assert broken_rules(made, observation) == []
    assert [item.field for item in broken_rules(made, altered(observation, FIELDS[name], every))] == [name]


@pytest.mark.parametrize(("parents", "found"), [((0, 1, 1), set()), ((0, 0, 0), {"GTID_LOG_EVENT.last_committed"})])
def test_numbers_begin_anew_in_the_next_file(parents: tuple[int, ...], found: set[str]) -> None:
    """Behind the first transaction of a file all depend on it at least (observed on 9.7.4)."""
    made = script()
    observation = observe(made)
    assert observation.log is not None
    groups = len(observation.log.places)
    first = groups - len(parents)
    places = tuple(
        replace(place, file=int(number >= first), earlier=2 if number == first else 0)
        for number, place in enumerate(observation.log.places)
    )
    executed = (observation.log.executed[0], ((1, 1000),))
    moved = replace(observation, log=replace(observation.log, places=places, executed=executed))

    def last(new: tuple[int, ...]) -> Callable[[list[int]], list[int]]:
        return lambda values: [*values[:first], *new]

    numbers = last((1, 2, 3))
    moved = altered(moved, FIELDS["GTID_LOG_EVENT.sequence_number"], numbers)
    moved = altered(moved, FIELDS["GTID_LOG_EVENT.last_committed"], last(parents))
    moved = altered(
        moved, FIELDS["GTID_LOG_EVENT.gno"], lambda values: [*values[:first], *(value + 2 for value in values[first:])]
    )
    assert {item.field for item in judge_rules(made, moved)} == found


# --- who owns the bytes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compression", [False, True], ids=["plain", "compressed"])
@pytest.mark.parametrize("facts", [True, False])
def test_bytes_are_predicted_checked_by_rule_or_taken_on_trust(compression: bool, facts: bool) -> None:
    made, observation = captures()[compression]
    judgement = judge(made, observation if facts else replace(observation, log=None))
    assert judgement.predicted + judgement.by_rule + judgement.on_trust == judgement.bytes
    sizes: Counter[str] = Counter()
    for group in unpacked(observation.events):
        for event in group:
            assert event[4] in BODY or event[4] in (EventType.TRANSACTION_PAYLOAD, EventType.ROWS_QUERY)
            for field in FIELDS.values():
                if field.types is None or event[4] in field.types:
                    sizes[field.name] += field.size
            if event[4] == EventType.TRANSACTION_PAYLOAD:
                sizes["frame"] += len(TransactionPayload.decode(event[19:-4]).payload)
    assert judgement.bytes == sum(len(event) for group in unpacked(observation.events) for event in group)
    assert judgement.by_rule + judgement.on_trust == sum(sizes.values())
    related = ("frame", "GTID_LOG_EVENT.last_committed", "QUERY_EVENT.thread_id", "rows.table_id")
    trusted = sum(size for name, size in sizes.items() if name not in related) - sizes["TABLE_MAP_EVENT.table_id"] + 6
    assert judgement.on_trust == (6 if facts else trusted)


def test_every_borrowed_field_has_a_rule() -> None:
    assert {*HEADER, *(name for fields in BODY.values() for name in fields)} <= set(RULES)


def small() -> Script:
    """Two updates of one row."""
    table = Table(
        schema="lab",
        name="t",
        columns=(Column(name="id", type="INT", nullable=False), Column(name="j", type="JSON")),
        primary_key=((0, 0),),
    )
    steps = tuple(
        Step((Assignment("j", parse_expression(f"JSON_SET(j, '$.a', {value})", "j")),), (0,)) for value in (2, 3)
    )
    document = encode({"a": 1, "pad": "p" * 40})
    return build_script(UpdateCase(id="small", table=table, selector="id", rows=((1, document),), steps=steps))


@pytest.mark.planted("FR1", "F3")
@pytest.mark.parametrize("bit", [0, 7])
def test_no_byte_of_a_log_can_change_unseen(bit: int) -> None:
    """But in the lower bytes of the time of a commit, whose rule is a range."""
    made = small()
    observation = observe(made)
    assert judge(made, observation).mismatches == []
    unseen = []
    for number, event in enumerate(observation.events):
        for place in range(len(event)):
            changed = event[:place] + bytes((event[place] ^ 1 << bit,)) + event[place + 1 :]
            other = changed if 9 <= place < 13 or place >= len(event) - 4 else sealed(changed)
            events = (*observation.events[:number], other, *observation.events[number + 1 :])
            if not judge(made, replace(observation, events=events)).mismatches:
                unseen.append((EventType(event[4]).name, place))
    assert set(unseen) <= {("GTID", place) for place in range(61, 64)}


@pytest.mark.parametrize("compression", [False, True], ids=["plain", "compressed"])
def test_the_rules_take_any_truncation(compression: bool) -> None:
    made = script(compression=compression)
    observation = observe(made)
    for number, event in enumerate(observation.events[:12]):
        for length in range(len(event)):
            events = (*observation.events[:number], event[:length], *observation.events[number + 1 :])
            for log in (observation.log, None):
                judge_rules(made, replace(observation, events=events, log=log))
