"""Coverage for libFuzzer, told once for what is new instead of once for each block that runs.

Instrumented code calls atheris at every basic block. That took half of the time of a fast target, although hardly one
input in twenty reaches anything that no input before it reached. Here a block is an entry in a list. When the input has
ended, its way is looked up: a known one tells libFuzzer nothing. Of a new way the blocks are counted, and libFuzzer
hears all of them if one of them never ran before as often.

Two things stay as they were without this. An input that is smaller than all before it on its way, or with one of its
blocks, is told as well. libFuzzer then keeps it in place of the larger one. And a block that ran often is told as often
as libFuzzer distinguishes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_BUCKETS: Final = (1, 2, 3, 4, 8, 16, 32, 128)  # runs of a block between which libFuzzer does not distinguish
_HEARD: Final = tuple([max(least for least in _BUCKETS if least <= count) for count in range(1, _BUCKETS[-1] + 1)])
_MOST: Final = 1 << 20  # ways that are remembered


class Ways:
    """The ways through instrumented code that inputs have taken. ``tell``: atheris's own function for a block.

    ``record`` takes its place: it only notes the block.
    """

    def __init__(self, tell: Callable[[int], None]) -> None:
        self._tell = tell
        self._blocks: list[int] = []
        self._smallest: dict[int, int] = {}  # hash of a way -> size of the smallest input that took it
        self._reached: dict[tuple[int, int], int] = {}  # block and how often it is told -> the same
        self.record: Callable[[int], None] = self._blocks.append
        self.begin: Callable[[], None] = self._blocks.clear

    def end(self, size: int) -> None:
        """The end of an input of this size, whose way began at ``begin``."""
        way = hash(tuple(self._blocks))
        known = self._smallest.get(way)
        if known is not None and known <= size:
            return
        if size:  # libFuzzer begins with an empty input, and takes nothing from it
            if len(self._smallest) == _MOST:
                self._smallest.clear()
            self._smallest[way] = size
        most = _BUCKETS[-1]
        told = [(block, _HEARD[min(count, most) - 1]) for block, count in Counter(self._blocks).items()]
        reached = self._reached
        if all(reached.get(run, size + 1) <= size for run in told):
            return
        for run in told:
            if size:
                reached[run] = min(size, reached.get(run, size))
            for _ in range(run[1]):
                self._tell(run[0])
