"""Growth: work and memory in proportion to an input, which holds for every target beside its own invariant.

A part of an input is repeated, twice as often each time. Of work that grows with the input, each doubling adds twice
what the one before added; of a loop in a loop, it adds four times as much. The same holds for memory. The work for an
input that a target refuses early does not grow, and says nothing.
"""

from __future__ import annotations

import tracemalloc
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from fuzz.mutators.draw import SeedDraw
from fuzz.work import TooManySteps, steps_by_function

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fuzz.targets import Target

TIMES: Final = (4, 8, 16, 32)  # how often a part is repeated
AGAIN: Final = (64, 128)  # where that grows too fast: a step that is met once, as at a length, is no growth
RATIO: Final = 3.0  # between 2, in proportion, and 4, a loop in a loop
STEPS: Final = 3_000  # steps that the last doubling must add: below, all is noise
BYTES: Final = 1 << 18  # of memory
FREE: Final = 2_000_000  # steps that every input may take
EACH: Final = 500  # steps more for each of its bytes: those of sound targets are below 120
PARTS: Final = 6  # of one input


class Growth(Exception):
    """Work or memory grows faster than the input. ``rule`` is the same for all inputs that show it."""

    names_itself = True
    kind_of_finding = "growth"

    def __init__(self, rule: str, figures: Sequence[int]) -> None:
        super().__init__(f"{rule}: {', '.join(map(str, figures))} for each doubling of a part of the input")
        self.rule = rule


def check_growth(target: Target, data: bytes) -> None:
    """Raise :class:`Growth` if some repeated part of an input costs more than in proportion.

    Other exceptions are the target's own; they are found where the target is fuzzed.
    """
    for begin, end in parts(data):
        check_series(target, partial(pumped, data, begin, end))


def parts(data: bytes) -> list[tuple[int, int]]:
    """Begin and end of the parts of an input that are repeated: all of it, and some by chance of its bytes."""
    if not data:
        return []
    draw = SeedDraw(int.from_bytes(data[:64], "little") ^ len(data))
    found = [(0, len(data))]
    for _ in range(PARTS - 1):
        begin = draw.below(len(data))
        found.append((begin, begin + 1 + draw.below(min(32, len(data) - begin))))
    return list(dict.fromkeys(found))


def pumped(data: bytes, begin: int, end: int, times: int) -> bytes:
    """The data with a part of it repeated."""
    return data[:begin] + data[begin:end] * times + data[end:]


def check_series(target: Target, make: Callable[[int], bytes]) -> None:
    """Raise :class:`Growth` if inputs cost more than in proportion. ``make``: the input with so many repetitions."""
    work: list[int] = []
    place = _work(target, make, TIMES, work)
    if place is None:
        return
    if grows(work, STEPS) and _goes_on(target, make, work):
        raise Growth(f"work grows faster than the input in {place}", work)
    if work[-1] < 1.5 * work[0]:  # it does not read the inputs to their end
        return
    memory = [_peak(target, make(times)) for times in TIMES]
    if grows(memory, BYTES):
        raise Growth(f"memory grows faster than the input in {place}", memory)


def _goes_on(target: Target, make: Callable[[int], bytes], work: list[int]) -> bool:
    """Whether nothing says that work stops growing so: inputs that are longer still."""
    try:
        read = _work(target, make, AGAIN, work)
    except Growth:
        return True
    return read is None or grows(work[len(AGAIN) :], STEPS)


def _work(target: Target, make: Callable[[int], bytes], repeated: Sequence[int], work: list[int]) -> str | None:
    """Add the steps for each input to ``work``: the function with the most steps, ``None`` where the target ends in an
    error."""
    roots = tuple(dict.fromkeys(name.split(".")[0] for name in target.INSTRUMENT))
    place = ""
    for data in map(make, repeated):
        try:
            steps = steps_by_function(target.check, data, packages=roots, limit=FREE + EACH * len(data))
        except TooManySteps as error:
            raise Growth(f"work is beyond {EACH} steps a byte", [*work, *error.args]) from None
        except Exception:  # noqa: BLE001 - of the target, see above
            return None
        work.append(steps.total())
        if steps:
            code = max(steps, key=lambda one: steps[one])
            place = f"{code.co_filename.rpartition('/')[2].removesuffix('.py')}.{code.co_qualname}"
    return place


def grows(figures: Sequence[int], least: int) -> bool:
    """Whether each of the last two doublings added far more than twice what the one before had added."""
    added = [after - before for before, after in pairwise(figures)]
    return added[0] > 0 and added[-1] >= least and all(after >= RATIO * before for before, after in pairwise(added))


def _peak(target: Target, data: bytes) -> int:
    tracemalloc.start()
    try:
        target.check(data)
    except Exception:  # noqa: BLE001 - of the target
        return 0
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak
