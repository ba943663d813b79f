"""The judge: nothing to say about a perfect server, and something right about every planted fault."""

from __future__ import annotations

from dataclasses import replace
from struct import pack
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.observation import StatementOutcome
from conformance.cases.row_images import RowImage
from conformance.cases.script import build_script
from conformance.cases.update_case import Step, UpdateCase
from conformance.harness.updates.blocks import Limits, make_script
from conformance.harness.updates.events import check_events
from conformance.judge.updates.compare import judge, too_deep
from conformance.judge.updates.events import first_difference, split_groups
from conformance.reference.binlog.header import Checksum
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import UInt
from conformance.reference.partial.expression import Assignment, Call, Function, Literal
from conformance.reference.partial.expression import Column as ColumnValue
from conformance.reference.tables.definitions import Column, Table
from tests.faults.runner import each
from tests.judge.doctoring import NUMBERS, D, after, body, diffs, group_of, groups, patch, script, sealed
from tests.judge.perfect_server import observe
from tests.judge.updates.planted_observations import FAULTS, verdict
from tests.reference.jsonb.jsonb_vectors import deep_bytes

if TYPE_CHECKING:
    from conformance.cases.script import Script
    from tests.faults.fault import Fault

SESSIONS: list[dict[str, Any]] = [
    {},
    {"image": RowImage.FULL},
    {"image": RowImage.NOBLOB},
    {"compression": True},
    {"rows_query": True},
    {"compression": True, "rows_query": True, "image": RowImage.FULL},
]


def generated(seed: int) -> Script:
    # A small limit splits the rows of a statement over several events.
    limits = Limits(row_metadata=("MINIMAL", "FULL")[seed % 2], row_event_max_size=(8192, 400)[seed % 2])
    return make_script(seed, 0, limits, updates=40)


@pytest.mark.parametrize(
    "session", SESSIONS, ids=lambda session: ", ".join(f"{name} {value}" for name, value in session.items()) or "usual"
)
@pytest.mark.parametrize("algorithm", [Checksum.CRC32, Checksum.NONE])
def test_a_perfect_server_has_no_mismatch(session: dict[str, Any], algorithm: Checksum) -> None:
    made = script(**session)
    observation = observe(made, algorithm=algorithm)
    judgement = judge(made, observation)
    assert judgement.mismatches == []
    assert judgement.marked == 0
    assert judgement.updates == sum(len(step.rows) for step in made.case.steps)
    assert judgement.texts > 20
    assert judgement.sizes == 2 * judgement.texts
    faults = check_events(made, observation)
    assert faults.found == []
    assert faults.decoded == faults.encoded > 0
    assert faults.applied > 5


@pytest.mark.parametrize("seed", range(8))
def test_a_perfect_server_has_no_mismatch_on_generated_cases(seed: int) -> None:
    made = generated(seed)
    observation = observe(made)
    assert judge(made, observation).mismatches == []
    assert check_events(made, observation).found == []


def test_every_event_of_every_transaction_is_compared() -> None:
    made = script()
    observation = observe(made)
    judgement = judge(made, observation)
    assert judgement.events == len(observation.events)
    assert judgement.bytes == sum(map(len, observation.events))
    inside = judge(script(compression=True), observe(script(compression=True)))
    payloads = len(split_groups(observation.events))
    assert inside.events == len(observation.events) + payloads


@each(FAULTS)
def test_planted_fault_is_caught_with_its_kind_field_and_step(fault: Fault) -> None:
    assert verdict(fault) == ""


def test_planted_faults_are_many_and_of_every_kind() -> None:
    assert len(FAULTS) >= 90
    assert len({fault.id for fault in FAULTS}) == len(FAULTS)
    assert {fault.verdict for fault in FAULTS} == {"event", "events", "outcome", "size", "free", "text"}


def test_a_mismatch_says_where_what_was_due_and_what_came() -> None:
    made = script()
    wrong = judge(made, observe(made, **diffs("one diff", lambda old: [old[0]._replace(value=6)])))
    (mismatch,) = wrong.mismatches
    assert mismatch.rows == (0,)
    expected, got = bytes.fromhex(mismatch.expected), bytes.fromhex(mismatch.got)
    assert mismatch.offset == first_difference(expected, got)
    assert mismatch.offset is not None
    assert (expected[mismatch.offset], got[mismatch.offset]) == (5, 6)
    (evidence,) = mismatch.evidence
    assert evidence.expected == "diffs [REPLACE $.a 5] = 0003242e6103050500"
    assert evidence.got == "diffs [REPLACE $.a 6] = 0003242e6103050600"


def test_one_wrong_value_shows_as_an_int_and_an_unsigned_of_the_same_number() -> None:
    made = script()
    wrong = judge(made, observe(made, **diffs("one diff", lambda old: [old[0]._replace(value=UInt(5))])))
    assert [mismatch.kind for mismatch in wrong.mismatches] == ["event"]


def test_later_differences_of_a_spoilt_row_are_marked_and_not_reported_again() -> None:
    made = script()

    def two(found: list[list[object]]) -> None:
        for name in ("one diff", "empty", "hole"):  # all of the first row
            after(name, None)["doctor"](found)

    wrong = judge(made, observe(made, doctor=two))
    assert [mismatch.step for mismatch in wrong.mismatches] == [NUMBERS["one diff"]]
    # The updates of that row after its first difference compare nothing, and are not counted as compared.
    assert wrong.marked == sum(0 in step.rows for step in made.case.steps[1:])
    assert wrong.updates == made.updates - wrong.marked


def test_a_difference_of_another_row_is_reported_too() -> None:
    made = script()

    def two(found: list[list[object]]) -> None:
        after("one diff", None)["doctor"](found)
        after("time zone", None)["doctor"](found)

    wrong = judge(made, observe(made, doctor=two))
    assert [mismatch.rows for mismatch in wrong.mismatches] == [(0,), (1,)]


def test_a_refused_statement_that_went_through_is_blamed_on_the_error_first() -> None:
    made = script()

    def client(answers: list[StatementOutcome], _: object) -> None:
        answers[NUMBERS["refused"]] = StatementOutcome(3)

    wrong = judge(made, observe(made, client=client))
    assert [(mismatch.kind, mismatch.field, mismatch.got) for mismatch in wrong.mismatches] == [
        ("outcome", "error", "no error")
    ]
    assert "3149" in wrong.mismatches[0].expected


def test_events_before_the_first_gtid_are_a_group_of_their_own() -> None:
    made = script()
    events = list(observe(made).events)
    assert len(split_groups(events[1:])) == len(split_groups(events))
    wrong = judge(made, replace(observe(made), events=tuple(events[1:])))
    assert wrong.mismatches[0].field == "event types"


# --- the events by themselves ----------------------------------------------------------------------------------------


def test_captured_diffs_that_do_not_apply_are_found() -> None:
    made = script()
    wrong = check_events(made, observe(made, **diffs("one diff", lambda old: [old[0]._replace(value=6)])))
    assert [(item.kind, item.step, item.field) for item in wrong.found] == [("apply", NUMBERS["one diff"], "j")]
    same_value = parse(D)["a"]
    refused = check_events(made, observe(made, **diffs("one diff", lambda old: [old[0]._replace(value=same_value)])))
    assert "3648" in refused.found[0].got


def parse(text: str) -> dict[str, Any]:
    from conformance.reference.jsonb.parse import parse_text

    value = parse_text(text)
    assert isinstance(value, dict)
    return value


def test_events_that_do_not_decode_are_found() -> None:
    made = script()
    cut = patch(EventType.PARTIAL_UPDATE_ROWS, lambda event: sealed(event[:-9] + event[-4:]))
    wrong = check_events(made, observe(made, **cut))
    assert [item.kind for item in wrong.found] == ["decode"]


def test_events_that_encode_to_other_bytes_are_found() -> None:
    made = script()
    # A packed length that is longer than needed decodes to the same column count, and is written short again.
    longer = patch(EventType.PARTIAL_UPDATE_ROWS, lambda event: sealed(event[:29] + b"\xfc\x05\x00" + event[30:]))
    wrong = check_events(made, observe(made, **longer))
    assert [(item.kind, item.field) for item in wrong.found] == [("decode", "PARTIAL_UPDATE_ROWS_EVENT")]


def test_nothing_is_applied_when_rows_are_missing() -> None:
    made = script()
    lost = body("two diffs, two rows", lambda old: replace(old, rows=old.rows[:1]))
    assert check_events(made, observe(made, **lost)).applied == 0
    assert check_events(made, observe(made, **groups(list.clear))).applied == 0


def test_a_row_goes_on_from_what_the_log_says_when_that_explains_the_rest() -> None:
    """A server that writes another document than predicted, and means it: one difference, not one for every step."""
    table = Table(
        schema="lab",
        name="t",
        columns=(Column(name="id", type="INT", nullable=False), Column(name="j", type="JSON")),
        primary_key=((0, 0),),
    )

    def case(second: int) -> UpdateCase:
        def step(path: str, value: int) -> Step:
            call = Call(Function.JSON_SET, ColumnValue("j"), ((path, Literal(value)),))
            return Step((Assignment("j", call),), (0,))

        start = encode({"a": 1, "b": 1, "pad": "p" * 60})
        steps = (step("$.a", 2), step("$.b", second), step("$.a", 3), step("$.a", 4))
        return UpdateCase(id="resync", table=table, selector="id", rows=((1, start),), steps=steps)

    predicted, meant = build_script(case(7)), build_script(case(8))
    wrong = judge(predicted, observe(meant))
    assert {mismatch.step for mismatch in wrong.mismatches} == {1}
    assert {mismatch.kind for mismatch in wrong.mismatches} == {"event", "text"}
    assert wrong.marked == 0
    assert wrong.updates == 4


# --- going on after a mismatch ---------------------------------------------------------------------------------------


def test_a_statement_that_should_be_refused_and_is_logged_is_one_difference_and_no_end() -> None:
    made = script()

    def doctor(found: list[list[Any]]) -> None:
        # The whole group of another update of the same row, as if the statement had been that one.
        found.insert(group_of("hole"), list(found[group_of("one diff")]))

    def client(answers: list[StatementOutcome], _: object) -> None:
        answers[NUMBERS["refused"]] = StatementOutcome(1)

    wrong = judge(made, observe(made, doctor=doctor, client=client))
    first = min(mismatch.step for mismatch in wrong.mismatches if mismatch.step is not None)
    assert first == NUMBERS["refused"]
    assert ("outcome", "error") in {(mismatch.kind, mismatch.field) for mismatch in wrong.mismatches}
    assert ("events", "transactions") in {(mismatch.kind, mismatch.field) for mismatch in wrong.mismatches}


@pytest.mark.parametrize("value", [None, b"", b"\x0d\x00", b"\x02\xff\xff\x00\x00", encode(None), deep_bytes(150)])
def test_whatever_document_a_row_gets_the_judge_goes_on(value: bytes | None) -> None:
    made = script()
    wrong = judge(made, observe(made, **after("one diff", value)))
    assert wrong.mismatches[0].step == NUMBERS["one diff"]
    assert wrong.mismatches[0].kind == "event"


def test_updates_are_either_compared_or_marked() -> None:
    for fault in FAULTS:
        made = script(**fault.run)
        judgement = judge(made, observe(made, **fault.change))
        assert judgement.updates + judgement.marked == made.updates, fault.id


@pytest.mark.parametrize(("levels", "deep"), [(99, False), (100, False), (101, True), (200, True)])
def test_a_document_that_nests_too_deep_is_told_however_small_it_is(levels: int, deep: bool) -> None:
    stored = bytes.fromhex("00000400")  # an empty array, in arrays of one element
    for _ in range(levels - 1):
        stored = pack("<HHBH", 1, 7 + len(stored), 2, 7) + stored
    assert too_deep(b"\x02" + stored) is deep
