"""Streams are the same everywhere and for ever; what follows from ``below`` keeps its promises."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest

from generators.draw import Draw, Stream, mix


class Zeros(Draw):
    """The simplest decisions: what shrinking ends with."""

    def below(self, n: int, /) -> int:
        assert n > 0
        return 0

    def fork(self, *key: str | int) -> Draw:
        return self


def digest(numbers: list[int]) -> str:
    return hashlib.sha256(",".join(map(str, numbers)).encode()).hexdigest()[:16]


def test_a_stream_is_its_key_for_ever() -> None:
    stream = Stream("campaign", "cell", 7)
    assert [stream.below(1000) for _ in range(5)] == [8, 688, 832, 810, 584]
    assert digest([stream.below(1 + n * 7919) for n in range(1000)]) == "2e51c1eddc3add58"
    assert digest([stream.bits(n % 200) for n in range(1000)]) == "d6bd186ae9ac421b"


def test_keys_that_print_alike_are_different() -> None:
    keys: list[tuple[str | int, ...]] = [("a", "b"), ("ab",), ("a", "b", ""), ("1",), (1,), (11,), (1, 1), ("i1:1",)]
    assert len({Stream(*key).bits(256) for key in keys}) == len(keys)


def test_a_fork_does_not_depend_on_what_was_drawn_before() -> None:
    stream = Stream("x")
    before = stream.fork("rows", 3).bits(64)
    stream.bits(640)
    assert stream.fork("rows", 3).bits(64) == before == Stream("x", "rows", 3).bits(64)


@pytest.mark.parametrize("key", [(), (True,), (1.0,), (b"x",), (None,)])
def test_a_bad_key_is_refused(key: tuple[object, ...]) -> None:
    with pytest.raises((TypeError, ValueError)):
        Stream(*key)  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [0, -1])
def test_nothing_is_below_zero(n: int) -> None:
    with pytest.raises(ValueError, match="below"):
        Stream("x").below(n)


def test_every_number_below_n_comes_and_no_other() -> None:
    stream = Stream("x")
    for n in (1, 2, 3, 7, 10):
        counts = Counter(stream.below(n) for _ in range(1000 * n))
        assert sorted(counts) == list(range(n))
        assert max(counts.values()) < 1200
    for n in (2**32 - 1, 2**32, 2**32 + 1, 2**64, 2**521 + 5):
        drawn = [stream.below(n) for _ in range(200)]
        assert min(drawn) >= 0
        assert max(drawn) < n
        assert max(drawn) > n * 9 // 10


def test_integer_reaches_both_ends_and_goes_away_from_zero() -> None:
    stream = Stream("x")
    for low, high in ((-3, 2), (0, 4), (5, 9), (-9, -5), (3, 3)):
        assert {stream.integer(low, high) for _ in range(300)} == set(range(low, high + 1))
    assert [Zeros().integer(low, high) for low, high in ((-3, 2), (5, 9), (-9, -5))] == [0, 5, -5]
    with pytest.raises(ValueError, match="no integer"):
        stream.integer(2, 1)


def test_chance_is_the_ratio_and_false_when_simple() -> None:
    stream = Stream("x")
    assert 200 < sum(stream.chance(1, 4) for _ in range(1000)) < 300
    assert not any(stream.chance(0, 4) for _ in range(100))
    assert all(stream.chance(4, 4) for _ in range(100))
    assert not Zeros().chance(3, 4)


def test_a_sample_has_different_positions_in_order() -> None:
    stream = Stream("x")
    seen: Counter[int] = Counter()
    for _ in range(2000):
        taken = stream.sample(range(10), 4)
        assert taken == sorted(set(taken))
        assert len(taken) == 4
        seen.update(taken)
    assert min(seen.values()) > 650
    assert stream.sample("ab", 2) == ["a", "b"]
    assert stream.sample("ab", 0) == []
    with pytest.raises(ValueError, match="cannot take"):
        stream.sample("ab", 3)


def test_shuffled_keeps_all_items() -> None:
    stream = Stream("x")
    orders = {tuple(stream.shuffled("abc")) for _ in range(200)}
    assert len(orders) == 6
    assert Zeros().shuffled("abc") == ["a", "b", "c"]


def test_letters_have_the_length_asked_for() -> None:
    stream = Stream("x")
    for length in (0, 1, 8, 9, 100):
        word = stream.letters(length, "abc")
        assert len(word) == length
        assert set(word) <= set("abc")
    assert Zeros().letters(10, "abc") == "aaaaaaaaaa"


def test_mix_weighs() -> None:
    assert mix(("a", 1), ("b", 2), ("c", 0)) == ("a", "b", "b")
    for wrong in ((), (("a", 0),), (("a", -1),), (("a", 10_001),)):
        with pytest.raises(ValueError, match="weight"):
            mix(*wrong)
