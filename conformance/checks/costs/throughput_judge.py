"""FR15: whether counted instructions show that an option costs at most two per cent.

A series is a list of ratios, each of two blocks of the same statements with the option on and off. The judge takes the
median with its interval of 95 %, by the order of the ratios alone: it assumes nothing about their distribution. An
interval with the bound inside decides nothing, and neither do too few pairs; both are never a pass.
"""

from __future__ import annotations

from math import comb
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

BOUND: Final = 1.02
_DOUBT: Final = 0.05
FEWEST: Final = 6  # pairs: with fewer there is no interval of 95 %


class Series(NamedTuple):
    """The median of a series, its interval, and what follows: ``pass``, ``fail`` or ``inconclusive``."""

    median: float
    low: float
    high: float
    pairs: int
    verdict: Verdict

    def __str__(self) -> str:
        return f"median {self.median:.3f} ({self.low:.3f} to {self.high:.3f}, {self.pairs} pairs)"


def judge_ratios(ratios: Sequence[float], bound: float = BOUND) -> Series:
    """Judge one series. Raises :class:`ValueError` for an empty series, or for a ratio that two counts cannot have."""
    if not ratios or not all(0 < ratio < float("inf") for ratio in ratios):
        raise ValueError(f"no ratios of two counts: {list(ratios)}")
    ordered = sorted(ratios)
    rank = _rank(len(ordered))
    low, high = (ordered[rank - 1], ordered[-rank]) if rank else (ordered[0], ordered[-1])
    if not rank:
        verdict = Verdict.INCONCLUSIVE
    elif high <= bound:
        verdict = Verdict.PASS
    else:
        verdict = Verdict.FAIL if low > bound else Verdict.INCONCLUSIVE
    return Series(median(ordered), low, high, len(ordered), verdict)


def _rank(pairs: int) -> int:
    """From each end, the place of the ratio that bounds the interval; 0 where there is none."""
    below = 0.0
    for rank in range(pairs // 2 + 1):
        below += comb(pairs, rank) / 2**pairs
        if 2 * below > _DOUBT:
            return rank
    return 0
