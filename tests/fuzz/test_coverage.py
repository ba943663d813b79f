"""The blocks of an input that libFuzzer is told of."""

from __future__ import annotations

from collections import Counter

import pytest

from fuzz.coverage import Ways


def told(ways: Ways, calls: list[int], way: list[int], size: int) -> Counter[int]:
    """Count how often libFuzzer is told of each block for an input of this size that runs these blocks."""
    calls.clear()
    ways.begin()
    for block in way:
        ways.record(block)
    ways.end(size)
    return Counter(calls)


@pytest.fixture
def calls() -> list[int]:
    return []


@pytest.fixture
def ways(calls: list[int]) -> Ways:
    return Ways(calls.append)


def test_an_input_is_told_if_a_block_is_new_or_runs_more_often(ways: Ways, calls: list[int]) -> None:
    assert told(ways, calls, [1, 2, 3], 9) == Counter([1, 2, 3])
    assert told(ways, calls, [1, 2, 3], 9) == Counter()
    assert told(ways, calls, [1, 3, 2], 9) == Counter()
    assert told(ways, calls, [1, 2], 9) == Counter()
    assert told(ways, calls, [1, 4], 9) == Counter([1, 4])
    assert told(ways, calls, [1, 2, 1], 9) == Counter([1, 2, 1])
    assert told(ways, calls, [2, 2, 1, 1], 9) == Counter([1, 2, 1, 2])
    assert told(ways, calls, [2, 1, 1], 9) == Counter()


def test_a_smaller_input_with_a_known_block_is_told(ways: Ways, calls: list[int]) -> None:
    told(ways, calls, [1, 2], 9)
    told(ways, calls, [2, 3], 7)
    assert told(ways, calls, [2], 7) == Counter()
    assert told(ways, calls, [1, 3], 8) == Counter([1, 3])
    assert told(ways, calls, [3], 7) == Counter()
    assert told(ways, calls, [3], 6) == Counter([3])


def test_a_smaller_input_on_a_known_way_is_told(ways: Ways, calls: list[int]) -> None:
    told(ways, calls, [1, 2], 9)
    assert told(ways, calls, [1, 2], 8) == Counter([1, 2])
    assert told(ways, calls, [1, 2], 9) == Counter()


def test_the_empty_input_that_libfuzzer_begins_with_hides_no_other(ways: Ways, calls: list[int]) -> None:
    assert told(ways, calls, [1], 0) == Counter([1])
    assert told(ways, calls, [1], 1) == Counter([1])


@pytest.mark.parametrize(
    ("runs", "heard"), [(1, 1), (2, 2), (3, 3), (4, 4), (7, 4), (8, 8), (31, 16), (32, 32), (127, 32), (128, 128)]
)
def test_a_block_is_told_as_often_as_libfuzzer_distinguishes(
    ways: Ways, calls: list[int], runs: int, heard: int
) -> None:
    assert told(ways, calls, [5] * runs, 9) == Counter({5: heard})


def test_a_block_that_runs_very_often_is_heard_and_its_counter_does_not_turn_over(ways: Ways, calls: list[int]) -> None:
    """A counter of libFuzzer has eight bits."""
    assert told(ways, calls, [5] * 256, 9) == Counter({5: 128})
