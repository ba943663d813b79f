"""Inputs made to hurt a reader: CPU time and peak memory of each, at several sizes.

    python tests/benchmarks/bench_hostile.py [--sizes BYTES,BYTES...] [--only WORDS]

One line for each shape of :mod:`tests.hostile`: how it ends, then for every size the seconds and the peak memory (of
Python's allocator, the input itself left out), and at the end how much longer a byte of the largest input takes than
one of the smallest: 1.0 is linear time. The memory is that of the largest input, and as a multiple of its size. Exit
status 1 if a byte takes more than three times as long (and the whole more than 50 ms), or more memory than granted.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tracemalloc
from time import process_time

from tests.hostile.shape import LIMIT, Shape, outcome
from tests.hostile.shapes import SHAPES

_REPEATS = 3
_NOTICED = 0.05  # seconds: shorter times say more about the clock than about the input
_SPARE = 1 << 20


def seconds(shape: Shape, data: bytes) -> float:
    """The shortest of a few runs."""
    best = float("inf")
    for _ in range(_REPEATS):
        gc.collect()
        start = process_time()
        outcome(shape, data)
        best = min(best, process_time() - start)
    return best


def peak(shape: Shape, data: bytes) -> int:
    """Bytes allocated at once, the input left out."""
    gc.collect()
    tracemalloc.start()
    try:
        outcome(shape, data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="65536,262144,1048576", help="bytes of the inputs")
    parser.add_argument("--only", default="", help="shapes whose name has these words")
    options = parser.parse_args()
    sizes = sorted(int(size) for size in options.sizes.split(","))
    bad = []
    sys.stdout.write(f"{'shape':52} {'ends':22}" + "".join(f" {size >> 10:>7} KB" for size in sizes))
    sys.stdout.write("   per byte      memory\n")
    for shape in SHAPES:
        if options.only not in shape.id:
            continue
        inputs = [shape.make(size) for size in sizes]
        times = [seconds(shape, data) for data in inputs]
        memory = peak(shape, inputs[-1])
        growth = times[-1] / max(times[0], 1e-9) / max(1.0, len(inputs[-1]) / len(inputs[0]))
        granted = shape.times * len(inputs[-1]) + _SPARE + 3 * LIMIT * (shape.times > 1000)
        slow = growth > 3 and times[-1] > _NOTICED
        if slow or memory > granted:
            bad.append(shape.id)
        sys.stdout.write(
            f"{shape.id:52} {outcome(shape, inputs[-1]):22}"
            + "".join(f" {time:8.4f} s" for time in times)
            + f"   {growth:8.2f}  {memory / 1e6:8.2f} MB ({memory / len(inputs[-1]):.1f} x)"
            + (" <<<" if shape.id in bad else "")
            + "\n"
        )
        sys.stdout.flush()
    sys.stdout.write(f"{len(bad)} of {len(SHAPES)} beyond what is granted: {', '.join(bad) or 'none'}\n")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
