"""The one waiting loop: how often it looks, when it ends, and which clock it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.servers import clock
from conformance.servers.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Iterator


class Stepped(Clock):
    """A clock that goes on by its pauses alone, and writes them down."""

    def __init__(self) -> None:
        self.now = 100.0
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def stepped() -> Iterator[Stepped]:
    stepped = Stepped()
    clock.use(stepped)
    yield stepped
    clock.use(clock.REAL)


def test_it_ends_with_the_first_look_that_is_true(stepped: Stepped) -> None:
    looks = iter([False, False, True])
    assert clock.until(lambda: next(looks), 10, 0.5) is True
    assert stepped.pauses == [0.5, 0.5]


def test_when_the_time_is_over_it_gives_the_last_look(stepped: Stepped) -> None:
    looks = iter(range(100))
    assert clock.until(lambda: next(looks), 2, 1, lambda look: look > 50) == 3
    assert stepped.pauses == [1, 1, 1]  # the last look comes behind the time


def test_without_time_it_looks_once_more_at_most(stepped: Stepped) -> None:
    looks: list[int] = []
    assert clock.until(lambda: looks.append(1), -1, 1) is None
    assert (len(looks), stepped.pauses) == (1, [])


def test_what_a_look_raises_ends_the_wait(stepped: Stepped) -> None:
    def look() -> bool:
        raise LookupError

    with pytest.raises(LookupError):
        clock.until(look, 10, 1)
    assert stepped.pauses == []
