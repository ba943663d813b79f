"""Shrinking finds the small Case that still shows a failure, and asks about valid, smaller Cases only."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.cases.files import dump_case
from conformance.cases.row_images import RowImage
from conformance.cases.script import build_script
from conformance.cases.shrinking.cuts import cuts, smallest, without
from conformance.cases.shrinking.update_cases import candidates, shrink
from conformance.cases.topology import RebuiltRows, ReplicaSettings, Topology
from conformance.harness.updates.blocks import Limits, make_script
from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.reference.partial.expression import Call, Function, Literal, referenced_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.cases.update_case import UpdateCase
    from conformance.reference.partial.expression import Expression

LONG = 600.0  # seconds that no test needs: what ends a search is that nothing smaller fails


def generated(number: int, updates: int = 40) -> UpdateCase:
    return replace(make_script("shrink", number, Limits(), updates=updates).case, id="x")


def size(case: UpdateCase) -> int:
    return len(json.dumps(dump_case(case)))


def calls(case: UpdateCase) -> Iterator[Call]:
    def inside(expression: Expression) -> Iterator[Call]:
        if isinstance(expression, Call):
            yield expression
            yield from inside(expression.document)
        elif hasattr(expression, "inner"):
            yield from inside(expression.inner)

    for step in case.steps:
        for assignment in step.assignments:
            yield from inside(assignment.expression)


def with_(predicate: Callable[[UpdateCase], bool]) -> UpdateCase:
    """The first generated Case for which the predicate holds."""
    return next(case for number in itertools.count() if predicate(case := generated(number)))


def has_remove(case: UpdateCase) -> bool:
    return any(call.function is Function.JSON_REMOVE for call in calls(case))


def test_one_culprit_among_many_statements_is_left_alone() -> None:
    case = with_(has_remove)
    small = shrink(case, has_remove, seconds=LONG)
    assert has_remove(small)
    assert len(small.rows) == len(small.steps) == 1
    assert len(small.steps[0].rows) == len(small.steps[0].assignments) == 1
    (call,) = calls(small)
    assert call.function is Function.JSON_REMOVE
    assert len(call.arguments) == 1
    assert size(small) < size(case)


def test_two_statements_that_only_fail_together_are_both_kept() -> None:
    def fails(case: UpdateCase) -> bool:
        functions = [call.function for call in calls(case)]
        return Function.JSON_REMOVE in functions and Function.JSON_SET in functions

    small = shrink(with_(fails), fails, seconds=LONG)
    assert sorted(call.function for call in calls(small)) == sorted([Function.JSON_REMOVE, Function.JSON_SET])


def test_a_row_that_must_be_there_stays_and_the_numbers_of_rows_follow() -> None:
    case = with_(lambda case: len(case.rows) > 3 and any(3 in step.rows for step in case.steps))
    wanted = case.rows[3]

    def fails(candidate: UpdateCase) -> bool:
        return any(candidate.rows[row][0] == wanted[0] for step in candidate.steps for row in step.rows)

    small = shrink(case, fails, seconds=LONG)
    assert [row[0] for row in small.rows] == [wanted[0]]
    assert small.steps[0].rows == (0,)


def test_documents_lose_all_that_the_failure_does_not_need() -> None:
    def fails(case: UpdateCase) -> bool:
        (index, *_) = case.table.json_columns
        document = case.rows[0][index]
        value = decode(document) if isinstance(document, bytes) else None
        return isinstance(value, dict) and len(value) >= 2

    small = shrink(with_(fails), fails, seconds=LONG)
    document = small.rows[0][small.table.json_columns[0]]
    assert isinstance(document, bytes)
    value = decode(document)
    assert isinstance(value, dict)
    assert len(value) == 2
    assert all(not isinstance(item, dict | list | str) or len(item) <= 1 for item in value.values())


def test_literals_become_small() -> None:
    def longest(case: UpdateCase) -> int:
        texts = [
            len(value.value)
            for call in calls(case)
            for _, value in call.arguments
            if isinstance(value, Literal) and isinstance(value.value, str)
        ]
        return max(texts, default=0)

    case = with_(lambda case: longest(case) > 20)
    small = shrink(case, lambda candidate: longest(candidate) > 4, seconds=LONG)
    assert longest(small) == 5


def test_what_never_fails_again_is_returned_as_it_was() -> None:
    case = generated(0)
    assert shrink(case, lambda _: False, seconds=LONG) is case


def test_no_time_is_no_search() -> None:
    case = generated(0)
    assert shrink(case, lambda _: pytest.fail("asked"), seconds=0.0) is case


def test_a_smaller_case_that_raises_elsewhere_is_the_predicates_matter() -> None:
    """Cuts may leave Cases that cannot run; the predicate of a live run answers no for them."""
    case = generated(1)

    def fails(candidate: UpdateCase) -> bool:
        try:
            build_script(candidate)
        except (CodecError, KeyError, TypeError):
            return False
        return True

    small = shrink(case, fails, seconds=LONG)
    assert len(small.steps) == len(small.rows) == 1


@pytest.mark.parametrize("number", range(4))
def test_candidates_are_smaller_and_well_formed(number: int) -> None:
    case = generated(number, 20)
    whole = size(case)
    for candidate in itertools.islice(candidates(case), 400):
        assert candidate.steps
        assert candidate.rows
        assert all(0 <= row < len(candidate.rows) for step in candidate.steps for row in step.rows)
        assert all(step.rows and step.assignments for step in candidate.steps)
        assert candidate != case
        # A committed step is a simpler one, though its word is a letter shorter or longer.
        assert size(candidate) <= whole + len("false")


# --- Cases on a pair -------------------------------------------------------------------------------------------------


def on_a_pair(after: int) -> UpdateCase:
    settings = ReplicaSettings(image=RowImage.FULL, partial_json=True, workers=4)
    rule = RebuiltRows(after=after, make="retyped")
    return replace(generated(3), topology=Topology(gtid=True, replicas=(settings,), rebuild=rule))


def test_the_place_where_a_replica_is_rebuilt_moves_with_the_steps_in_front_of_it() -> None:
    case = on_a_pair(2)
    for candidate in candidates(case):
        if candidate.topology is None or candidate.topology.rebuild is None or len(candidate.steps) == len(case.steps):
            continue
        after = candidate.topology.rebuild.after
        if candidate.rows == case.rows and all(item in case.steps for item in candidate.steps):
            assert candidate.steps[:after] == tuple(item for item in case.steps[:2] if item in candidate.steps)
        assert 0 <= after <= 2


def test_a_case_on_a_pair_loses_what_does_not_matter_there() -> None:
    case = on_a_pair(3)
    small = shrink(case, lambda candidate: candidate.topology is not None, seconds=LONG)
    assert small.topology == Topology(
        gtid=True, replicas=(ReplicaSettings(image=RowImage.FULL, partial_json=True, workers=1),), rebuild=None
    )
    begun_later = shrink(
        case, lambda candidate: candidate.topology is not None and candidate.topology.rebuild is not None, seconds=LONG
    )
    assert begun_later.topology is not None
    assert begun_later.topology.rebuild is not None
    assert begun_later.topology.rebuild.after in (0, 1)
    assert (len(begun_later.rows), len(begun_later.steps)) == (1, 1)
    build_script(begun_later)


def test_columns_that_nobody_speaks_of_go() -> None:
    case = replace(generated(5), steps=generated(5).steps[:1])
    small = shrink(case, lambda _: True, seconds=LONG)
    used = {item.column for item in small.steps[0].assignments}
    assert {column.name for column in small.table.columns} <= used | {
        small.selector,
        *(name for item in small.steps[0].assignments for name in referenced_columns(item.expression)),
        *(small.table.columns[index].name for index in small.table.json_columns),
        *(small.table.columns[index].name for key in small.table.unique_keys for index, _ in key),
        *(small.table.columns[index].name for index, _ in small.table.primary_key),
    }
    assert len(small.table.columns) < len(case.table.columns)
    build_script(small)


def test_cuts_come_from_the_end_and_the_biggest_first() -> None:
    assert [list(gone) for gone in cuts(5)] == [[2, 3, 4], [4], [3], [2], [1], [0]]
    assert (list(cuts(0)), list(cuts(1))) == ([], [range(1)])
    assert without(b"abc", range(1, 2)) == b"ac"
    assert without(("a", "b"), range(2)) == ()


def test_the_loop_starts_again_with_the_biggest_cut_after_each_one_that_fails() -> None:
    tried: list[int] = []

    def fails(number: int) -> bool:
        tried.append(number)
        return number % 3 == 0

    assert smallest(12, lambda last: iter(range(last // 2, last)), fails, 60.0) == 3
    assert tried == [6, 3, 1, 2]


def test_without_time_nothing_is_tried() -> None:
    assert smallest(8, lambda last: iter([last // 2]), lambda _: True, -1.0) == 8
