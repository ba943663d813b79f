"""Verdicts: silence is worst, an honest refusal is no loss, and one missing change spoils no later one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from conformance.cases.decoder_case import Allowed, Equality
from conformance.judge.decoding.difference import DifferenceKind
from conformance.verdict import Verdict
from tests.judge.decoding.kit import change, verdict_of

PARTIAL = "PARTIAL_UPDATE_ROWS_EVENT"
PAYLOAD = "TRANSACTION_PAYLOAD_EVENT"


@dataclass(frozen=True)
class Mark:
    message: str = "left out"
    event: str = ""
    position: int | None = None


def update(number: int, position: int | None = None, **facts: Any) -> dict[str, Any]:
    place = 100 * number if position is None else position
    return change({"id": number, "c": f"new {number}"}, {"id": number, "c": f"old {number}"}, position=place, **facts)


def partial(number: int, **facts: Any) -> dict[str, Any]:
    diffs = [{"operation": "REPLACE", "path": "$.a", "value": number}, {"operation": "REMOVE", "path": "$.b"}]
    before = {"id": number, "j": {"json": {"a": 0, "b": 1}}}
    return change({"id": number, "j": {"diffs": diffs}}, before, position=100 * number, event=PARTIAL, **facts)


LOG = [update(1), update(2), partial(3), update(4), update(5)]
WITHOUT = [*LOG[:2], *LOG[3:]]


def test_the_same_changes_pass() -> None:
    judgement = verdict_of(LOG, LOG)
    assert (judgement.verdict, judgement.level, judgement.signature) == (Verdict.PASS, Equality.TYPE, "")
    assert "type" in judgement.message


@pytest.mark.parametrize("number", range(5))
def test_a_missing_change_is_the_only_difference(number: int) -> None:
    judgement = verdict_of(LOG, [*LOG[:number], *LOG[number + 1 :]])
    assert judgement.verdict is Verdict.SILENT_LOSS
    assert [(item.kind, item.change) for item in judgement.differences] == [(DifferenceKind.MISSING_CHANGE, number)]


def test_a_missing_partial_update_is_signed_by_its_event() -> None:
    judgement = verdict_of(LOG, WITHOUT, requirements=("DEC20", "DEC1"))
    assert (judgement.signature, judgement.requirement) == (f"missing change: {PARTIAL}", "DEC20")
    assert verdict_of(LOG, WITHOUT, requirements=("DEC2", "DEC1")).requirement == "DEC1"


@pytest.mark.parametrize(
    ("mark", "verdict"),
    [
        (Mark(), Verdict.REFUSED),
        (Mark(event=PARTIAL), Verdict.REFUSED),
        (Mark(event="PartialUpdateRows"), Verdict.REFUSED),
        (Mark(event="partial_update_rows"), Verdict.REFUSED),
        (Mark(position=300), Verdict.REFUSED),
        (Mark(position=400), Verdict.SILENT_LOSS),
        (Mark(event="ROWS_QUERY_LOG_EVENT"), Verdict.SILENT_LOSS),
        (Mark(event=PAYLOAD), Verdict.SILENT_LOSS),
        (Mark(event="UPDATE_ROWS_EVENT"), Verdict.SILENT_LOSS),
    ],
)
def test_a_mark_excuses_what_it_names(mark: Mark, verdict: Verdict) -> None:
    assert verdict_of(LOG, WITHOUT, marks=[mark]).verdict is verdict


def test_a_mark_of_the_payload_excuses_what_is_inside() -> None:
    log = [update(1), update(2, inner=3), update(4)]
    assert verdict_of(log, [log[0], log[2]], marks=[Mark(event=PAYLOAD)]).verdict is Verdict.REFUSED
    assert verdict_of(log, log[:1], marks=[Mark(event=PAYLOAD)]).verdict is Verdict.SILENT_LOSS


def test_an_error_excuses_what_comes_behind_it() -> None:
    assert verdict_of(LOG, LOG[:2], error="cannot go on").verdict is Verdict.REFUSED
    assert verdict_of(LOG, [], error="cannot go on").verdict is Verdict.REFUSED
    assert verdict_of(LOG, LOG, error="cannot go on").verdict is Verdict.REFUSED
    assert verdict_of(LOG, [LOG[0], *LOG[2:4]], error="cannot go on").verdict is Verdict.SILENT_LOSS
    assert verdict_of(LOG, WITHOUT, error="cannot go on").verdict is Verdict.SILENT_LOSS
    assert verdict_of(LOG, WITHOUT, error=f"skipped 1 {PARTIAL}").verdict is Verdict.REFUSED
    assert verdict_of(LOG, WITHOUT, error="PartialUpdateRowsEvent: unsupported").verdict is Verdict.REFUSED
    assert verdict_of(LOG, [LOG[0], *LOG[2:]], error=f"skipped 1 {PARTIAL}").verdict is Verdict.SILENT_LOSS


def test_an_error_excuses_no_column_and_on_a_damaged_log_no_earlier_change() -> None:
    column = {**LOG[2], "before": {"id": 3}}
    assert verdict_of(LOG, [*LOG[:2], column], error=f"bad {PARTIAL}").verdict is Verdict.FAIL
    assert verdict_of(LOG, [*LOG[:2], column, *LOG[3:]], marks=[Mark(event=PARTIAL)]).verdict is Verdict.REFUSED
    for allowed in (Allowed.ERROR, Allowed.CHANGES_OR_ERROR):
        assert verdict_of(LOG, WITHOUT, allowed=allowed, error=f"bad {PARTIAL}").verdict is Verdict.SILENT_LOSS


def altered(number: int) -> list[Any]:
    got = list(LOG)
    got[number] = {**LOG[number], "after": {**LOG[number]["after"], "id": 99}}
    return got


def test_an_altered_value_fails_before_an_error_and_is_a_loss_without_one() -> None:
    silent = verdict_of(LOG, altered(1))
    assert (silent.verdict, silent.level) == (Verdict.SILENT_LOSS, Equality.STRUCTURE)
    assert [item.place for item in silent.differences] == ["changes[1].after.id"]
    assert "99" in silent.message
    assert verdict_of(LOG, altered(1)[:3], error="cannot go on").verdict is Verdict.FAIL
    assert verdict_of(LOG, altered(1), marks=[Mark(event="UPDATE_ROWS_EVENT")]).verdict is Verdict.FAIL
    assert verdict_of(LOG, altered(1), marks=[Mark(event=PARTIAL)]).verdict is Verdict.SILENT_LOSS


@pytest.mark.parametrize(
    ("got", "kinds"),
    [
        ([*LOG, update(6)], [DifferenceKind.EXTRA_CHANGE]),
        ([LOG[0], *LOG], [DifferenceKind.REPEATED_CHANGE]),
        ([*LOG, LOG[0]], [DifferenceKind.REPEATED_CHANGE]),
        ([LOG[1], LOG[0], *LOG[2:]], [DifferenceKind.MOVED_CHANGE]),
        ([*LOG[1:], LOG[0]], [DifferenceKind.MOVED_CHANGE]),
        ([{**LOG[0], "table": "u"}, *LOG[1:]], [DifferenceKind.TABLE]),
        ([{**LOG[0], "schema": "S"}, *LOG[1:]], [DifferenceKind.TABLE]),
        ([{**LOG[0], "operation": "delete", "after": None}, *LOG[1:]], [DifferenceKind.OPERATION]),
        ([{**LOG[0], "position": 101}, *LOG[1:]], [DifferenceKind.HEADER]),
        ([{**LOG[0], "row": 1}, *LOG[1:]], [DifferenceKind.HEADER]),
        ([{**LOG[0], "event": PARTIAL}, *LOG[1:]], [DifferenceKind.HEADER]),
        ([{**LOG[0], "after": {**LOG[0]["after"], "d": 1}}, *LOG[1:]], [DifferenceKind.EXTRA_COLUMN]),
    ],
)
def test_what_is_not_in_the_log_fails(got: list[Any], kinds: list[DifferenceKind]) -> None:
    judgement = verdict_of(LOG, got)
    assert judgement.verdict is Verdict.FAIL
    assert [item.kind for item in judgement.differences] == kinds


@pytest.mark.parametrize("image", ["before", "after"])
def test_images_and_columns_that_are_missing_are_lost(image: str) -> None:
    for got, kind in (
        ({**LOG[0], image: None}, DifferenceKind.MISSING_IMAGE),
        ({**LOG[0], image: {"id": 1}}, DifferenceKind.MISSING_COLUMN),
        ({**LOG[0], image: {**LOG[0][image], "d": None}}, DifferenceKind.ABSENT_AS_NULL),
    ):
        judgement = verdict_of(LOG, [got, *LOG[1:]])
        assert (judgement.verdict, [item.kind for item in judgement.differences]) == (Verdict.SILENT_LOSS, [kind])
        assert judgement.level is None


def test_swapped_images_are_two_altered_ones() -> None:
    judgement = verdict_of(LOG[:1], [{**LOG[0], "before": LOG[0]["after"], "after": LOG[0]["before"]}])
    assert judgement.verdict is Verdict.SILENT_LOSS
    assert {item.place for item in judgement.differences} == {"changes[0].before.c", "changes[0].after.c"}


def test_facts_that_a_subject_does_not_give_are_not_missed() -> None:
    got = [{key: item[key] for key in ("schema", "table", "operation", "before", "after")} for item in LOG]
    assert verdict_of(LOG, got).verdict is Verdict.PASS
    assert (
        verdict_of(LOG, [{**LOG[0], "position": "100", "event": "update_rows_event"}, *LOG[1:]]).verdict is Verdict.PASS
    )


@pytest.mark.parametrize(
    "got", [None, 1, "x", [], {}, {"schema": "s", "table": "t"}, {**LOG[0], "after": []}, {**LOG[0], "schema": None}]
)
def test_whatever_stands_for_a_change_is_judged(got: Any) -> None:
    judgement = verdict_of(LOG[:1], [got])
    assert judgement.verdict.failing
    assert not judgement.level


def test_columns_may_have_numbers_for_names_only_if_the_log_tells_them() -> None:
    """Without a table nobody knows which column is ``@1``."""
    numbered = {**LOG[0], "after": {"@1": 1, "@2": "new 1"}, "before": {"@1": 1, "@2": "old 1"}}
    assert verdict_of(LOG[:1], [numbered]).verdict is not Verdict.PASS


def test_levels_and_types() -> None:
    decimal = {"$type": "DECIMAL", "text": "1.50"}
    log = [change({"j": {"json": [decimal]}})]
    plain = [change({"j": {"json": [1.5]}})]
    assert (verdict_of(log, plain).verdict, verdict_of(log, plain).level) == (Verdict.PASS, Equality.VALUE)
    strict = verdict_of(log, plain, equality=Equality.TYPE, requirements=("DEC8", "DEC9"))
    assert (strict.verdict, strict.requirement, strict.signature) == (
        Verdict.LENIENT,
        "DEC9",
        "lost type: JSON DECIMAL: as DOUBLE",
    )
    other = [change({"j": {"json": [2.5]}})]
    assert verdict_of(log, other, equality=Equality.TYPE).verdict is Verdict.SILENT_LOSS
    loose = verdict_of(log, other, equality=Equality.STRUCTURE)
    assert (loose.verdict, loose.level) == (Verdict.PASS, Equality.STRUCTURE)


def test_a_damaged_log_wants_an_error() -> None:
    def judged(got: list[Any], allowed: Allowed = Allowed.ERROR, **answer: Any) -> Verdict:
        return verdict_of(LOG, got, allowed=allowed, requirements=("DEC22",), **answer).verdict

    assert judged(LOG, error="truncated") is Verdict.PASS
    assert judged(LOG, marks=[Mark()]) is Verdict.PASS
    assert judged(LOG) is Verdict.LENIENT
    assert judged(LOG[:3], error="truncated") is Verdict.REFUSED
    assert judged(LOG[:3]) is Verdict.SILENT_LOSS
    assert judged([*LOG, update(6)], error="truncated") is Verdict.FAIL
    assert judged(LOG, Allowed.CHANGES_OR_ERROR) is Verdict.PASS
    assert judged(LOG[:3], Allowed.CHANGES_OR_ERROR, error="wrong checksum") is Verdict.PASS
    assert judged(LOG[:3], Allowed.CHANGES_OR_ERROR) is Verdict.SILENT_LOSS
    assert judged(altered(1)[:3], Allowed.CHANGES_OR_ERROR, error="wrong checksum") is Verdict.FAIL


def test_rolled_back_changes_are_left_out_by_who_waits_for_the_commit() -> None:
    kept = [*LOG[:1], *LOG[2:]]
    assert verdict_of(LOG, kept, rolled_back=(1,), capabilities=("committed",)).verdict is Verdict.PASS
    assert verdict_of(LOG, LOG, rolled_back=(1,), capabilities=("committed",)).verdict is Verdict.FAIL
    assert verdict_of(LOG, LOG, rolled_back=(1,)).verdict is Verdict.PASS
    assert verdict_of(LOG, kept, rolled_back=(1,)).verdict is Verdict.SILENT_LOSS


def test_who_waits_for_commits_may_give_their_order() -> None:
    later = [*LOG[1:], LOG[0]]
    order = (*range(1, len(LOG)), 0)
    assert verdict_of(LOG, later, commit_order=order, capabilities=("committed",)).verdict is Verdict.PASS
    assert verdict_of(LOG, LOG, commit_order=order, capabilities=("committed",)).verdict is Verdict.PASS
    assert verdict_of(LOG, later, commit_order=order).verdict is Verdict.FAIL
    assert verdict_of(LOG, later[1:], commit_order=order, capabilities=("committed",)).verdict is Verdict.SILENT_LOSS
    swapped = [LOG[1], LOG[0], *LOG[2:]]
    assert verdict_of(LOG, swapped, commit_order=order, capabilities=("committed",)).verdict is Verdict.FAIL


def test_a_capability_that_is_not_declared_makes_a_case_inapplicable() -> None:
    assert verdict_of(LOG, [], needs=("file",)).verdict is Verdict.NOT_APPLICABLE
    assert verdict_of(LOG, [], needs=("file",), failure="crashed").verdict is Verdict.NOT_APPLICABLE
    assert verdict_of(LOG, LOG, needs=("file",), capabilities=("file",)).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("failure", "requirements", "verdict", "requirement"),
    [
        ("crashed", ("DEC2",), Verdict.CRASH, "DEC23"),
        ("crashed", ("DEC2", "DEC22"), Verdict.CRASH, "DEC22"),
        ("timed out", ("DEC2",), Verdict.TIMEOUT, "DEC23"),
        ("flooded", ("DEC22",), Verdict.FAIL, "DEC23"),
        ("garbled", ("DEC2",), Verdict.FAIL, "DEC23"),
    ],
)
def test_no_answer_is_judged_by_its_failure(
    failure: str, requirements: tuple[str, ...], verdict: Verdict, requirement: str
) -> None:
    judgement = verdict_of(LOG, LOG, failure=failure, detail="signal 11 at 0xabc in '/x/y'", requirements=requirements)
    assert (judgement.verdict, judgement.requirement) == (verdict, requirement)
    assert judgement.signature == f"{failure}: signal N at N in X"


def test_signatures_have_no_values() -> None:
    rows = [change({"t": "-01:00:00"}), change({"t": "-02:00:00"})]
    found = [verdict_of([row], [change({"t": row["after"]["t"][1:]})]) for row in rows]
    assert found[0].signature == found[1].signature
    texts = [verdict_of(LOG, [], error=f"bad type {number} at {number * 9}").signature for number in (1, 2)]
    assert texts == ["refused: bad type N at N"] * 2


def test_many_changes_are_aligned_quickly() -> None:
    log = [update(number) for number in range(1000)]
    got = [item for number, item in enumerate(log) if number % 7]
    judgement = verdict_of(log, got)
    assert {item.kind for item in judgement.differences} == {DifferenceKind.MISSING_CHANGE}
    assert len(judgement.differences) == len(log) - len(got)
    flood = [update(number, position=7) for number in range(5000, 10000)]
    assert verdict_of(log[:50], flood).verdict is Verdict.SILENT_LOSS
    wrong = [{**item, "after": {**item["after"], "c": ""}} for item in log]
    assert len(verdict_of(log, wrong).differences) == len(log)
