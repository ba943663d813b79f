"""Inputs made to hurt a reader: CPU time and peak memory of each, at several sizes.

    python tests/benchmarks/bench_hostile.py [--sizes BYTES,BYTES...] [--only WORDS]

Prints one line for each shape of :mod:`tests.hostile`: how it ends, then the milliseconds for every size, and the
exponent with which the time grows (1 is linear, 2 would be the square). The exponent is taken between the largest size
and the smallest that takes a millisecond at all; where the largest does not, there is nothing to tell (``-``). Times
are those of the reader, without Python's garbage collector. Then come the peak memory for the largest input, also as a
multiple of that input, and the multiple that is granted. The memory is that of Python's allocator, and the input itself
is left out. The shapes that are granted more than forty are listed at the end, with the reason. Exit status 1 if a time
of more than 50 ms grows with an exponent above 1.5, or if something takes more memory than granted.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tracemalloc
from math import log
from time import process_time
from typing import TYPE_CHECKING

from tests.hostile.shape import LIMIT, TIMES, Shape, outcome
from tests.hostile.shapes import SHAPES

if TYPE_CHECKING:
    from collections.abc import Sequence

_REPEATS = 3
_LONG = 0.2  # seconds
_MEASURED = 0.001  # seconds: shorter times say more about the clock than about the input
_NOTICED = 0.05
_STEEP = 1.5
_LIMITED = 1000  # times: memory that depends on the limit of a transaction, not on the input
_SPARE = 1 << 20


def seconds(shape: Shape, data: bytes) -> float:
    """The shortest of a few runs; of what takes long, one run. Without the collector: its passes over hundreds of
    thousands of objects that are kept cost as much again, and say nothing of the reader."""
    best = float("inf")
    for _ in range(_REPEATS):
        gc.collect()
        gc.disable()
        start = process_time()
        outcome(shape, data)
        best = min(best, process_time() - start)
        gc.enable()
        if best > _LONG:
            break
    return best


def exponent(sizes: Sequence[int], times: Sequence[float]) -> float | None:
    """With which the time grows between the first input that takes long enough to be measured, and the last."""
    first = next((place for place, time in enumerate(times) if time >= _MEASURED), len(times) - 1)
    if sizes[first] >= sizes[-1]:
        return None
    return log(times[-1] / times[first]) / log(sizes[-1] / sizes[first])


def peak(shape: Shape, data: bytes) -> int:
    """Bytes allocated at once, the input left out."""
    gc.collect()
    tracemalloc.start()
    try:
        outcome(shape, data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="65536,262144,1048576", help="bytes of the inputs")
    parser.add_argument("--only", default="", help="shapes whose name has these words")
    options = parser.parse_args()
    sizes = sorted(int(size) for size in options.sizes.split(","))
    shapes = [shape for shape in SHAPES if options.only in shape.id]
    bad, steepest = [], 0.0
    columns = [f"{size >> 10:>7} KB" for size in sizes]
    _say(f"{'':64}", *columns, " exponent    memory    times  granted")
    for shape in shapes:
        inputs = [shape.make(size) for size in sizes]
        times = [seconds(shape, data) for data in inputs]
        growth = exponent([len(data) for data in inputs], times)
        memory, size = peak(shape, inputs[-1]), len(inputs[-1])
        granted = shape.times * size + _SPARE + 3 * LIMIT * (shape.times > 1000)
        slow = growth is not None and growth > _STEEP and times[-1] > _NOTICED
        if slow or memory > granted:
            bad.append(shape.id)
        if growth is not None and times[-1] > _NOTICED:
            steepest = max(steepest, growth)
        _say(
            f"{shape.id:52.52} {outcome(shape, inputs[-1]):>11.11}",
            *(f"{1000 * time:7.1f} ms" for time in times),
            f"{'-' if growth is None else f'{growth:.2f}':>9} {memory / 1e6:6.1f} MB {memory / size:8.1f}",
            f"{shape.times if shape.times < _LIMITED else 'limit':>8}{' <<<' if shape.id in bad else ''}",
        )
    _say(f"the steepest exponent of what takes more than {1000 * _NOTICED:.0f} ms: {steepest:.2f}")
    for shape in shapes:
        if shape.times > TIMES:
            _say(f"granted more than {TIMES}: {shape.id} ({shape.why})")
    _say(f"{len(bad)} of {len(shapes)} beyond what is granted: {', '.join(bad) or 'none'}")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
