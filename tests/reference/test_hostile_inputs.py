"""Inputs made to hurt: work grows no faster than the input, memory stays below what each shape is granted.

Steps and allocations are counted, not seconds. The figures in seconds are ``python tests/benchmarks/bench_hostile.py``.
"""

from __future__ import annotations

import gc
import io
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from tests.hostile.documents import shared
from tests.hostile.large import READINGS, ending
from tests.hostile.shape import LIMIT, Shape, outcome
from tests.hostile.shapes import SHAPES
from tests.steps import count_steps

if TYPE_CHECKING:
    from tests.hostile.large import Reading

pytestmark = pytest.mark.slow

_SMALL, _LARGE = 2_000, 6_000
_SPARE = 160 << 10  # bytes that a reader may take whatever the input: caches, tables, the first look at a module


@pytest.mark.sampled(40)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.id)
def test_work_and_memory_are_bounded_by_the_input(shape: Shape) -> None:
    small, large = shape.make(_SMALL), shape.make(_LARGE)
    assert outcome(shape, small) == outcome(shape, large)  # also warms every cache
    growth = max(1.0, len(large) / len(small))
    few, many = count_steps(outcome, shape, small), count_steps(outcome, shape, large)
    assert many <= 1.25 * growth * few + 2_000, (few, many, growth)
    assert many <= 60 * len(large) + 20_000
    gc.collect()
    tracemalloc.start()
    try:
        outcome(shape, large)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= shape.times * len(large) + _SPARE + 3 * LIMIT * (shape.times > 1000), (peak, len(large))


@pytest.mark.parametrize("levels", [14, 18, 60, 99])
def test_shared_children_take_as_many_steps_as_they_have_bytes(levels: int) -> None:
    data = shared(levels)
    for shape in SHAPES:
        if "shared children, n = 60" in shape.name:
            assert count_steps(outcome, shape, data) <= 100 * len(data) + 5_000, shape.id


def test_shapes_are_told_apart_and_wide_grants_have_a_reason() -> None:
    assert len({shape.id for shape in SHAPES}) == len(SHAPES) >= 85
    assert all(shape.why for shape in SHAPES if shape.times > 40)


@pytest.mark.parametrize("reading", [each for each in READINGS if each.held is None], ids=lambda reading: reading.name)
def test_lazy_reading_takes_no_more_for_more_input(reading: Reading) -> None:
    """An input of ten megabytes takes a few windows of memory; hundreds of megabytes are for the benchmark."""
    for size in (1 << 17, 10 << 20):
        source = io.BytesIO(b"".join(reading.make(size)))
        gc.collect()
        tracemalloc.start()
        try:
            assert ending(reading, source).endswith(" read")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak <= (4 << 20), (peak, size)
