"""Coverage for libFuzzer, told once for each way through the code instead of once for each block that runs.

Instrumented code calls atheris at every basic block. That took half of the time of a fast target, although hardly one
input in twenty takes a way that no input before it took. Here a block is an entry in a list. When the input has ended,
its way is looked up: a known one tells libFuzzer nothing, and a new one tells all of it.

Two things stay as they were without this. An input that is smaller than all before it on its way is told as well, as
libFuzzer then keeps it in place of the larger one. And a block that ran often is told as often as libFuzzer
distinguishes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_BUCKETS: Final = (128, 32, 16, 8, 4, 3, 2, 1)  # runs of a block between which libFuzzer does not distinguish
_MOST: Final = 1 << 20  # ways that are remembered


class Ways:
    """The ways through instrumented code that inputs have taken. ``tell``: atheris's own function for a block.

    ``record`` takes its place: it only notes the block.
    """

    def __init__(self, tell: Callable[[int], None]) -> None:
        self._tell = tell
        self._blocks: list[int] = []
        self._smallest: dict[int, int] = {}  # hash of a way -> size of the smallest input that took it
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
        for block, count in Counter(self._blocks).items():
            for _ in range(next(least for least in _BUCKETS if count >= least)):
                self._tell(block)
