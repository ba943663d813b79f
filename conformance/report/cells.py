"""The findings about one check and about one requirement: counts of cases by verdict."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.verdict import Verdict, failing_of, summarise

if TYPE_CHECKING:
    from conformance.stream import Block


@dataclass(slots=True)
class Cell:
    """One requirement and one subject (or all of them)."""

    verdicts: Counter[str] = field(default_factory=Counter)
    cases: int = 0
    failed: int = 0

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of the cell."""
        return summarise(self.verdicts)

    @property
    def deviations(self) -> int:
        """Cases that a listed deviation explains."""
        return self.verdicts[Verdict.DEVIATES]

    @property
    def not_run(self) -> int:
        """Cases that the run selected and did not execute."""
        return self.verdicts[Verdict.NOT_RUN]

    def add(self, other: Cell) -> None:
        """Add the other cell's cases to this one."""
        self.verdicts.update(other.verdicts)
        self.cases += other.cases
        self.failed += other.failed


def cell_of(block: Block, requirement: str) -> Cell:
    """The cases of a block for one of its requirements: all of them, and the verdicts of those that concern it.

    Where the block does not say which, as those of older kits, every verdict concerns every requirement.
    """
    if len(block.requirements) == 1 or not block.broken:
        verdicts, failed = Counter(block.verdicts), block.failures
        verdicts[Verdict.DEVIATES] += block.deviating
    else:
        verdicts = Counter(block.broken.get(requirement, {}))
        failed = block.broken_failed.get(requirement, failing_of(verdicts))
    del verdicts[Verdict.PASS]
    # A case may deviate in several ways.
    others = verdicts.total() - verdicts[Verdict.DEVIATES]
    verdicts[Verdict.DEVIATES] = max(0, min(verdicts[Verdict.DEVIATES], block.cases - others))
    verdicts[Verdict.PASS] = max(0, block.cases - verdicts.total())
    return Cell(verdicts=+verdicts, cases=block.cases, failed=failed)


@dataclass(slots=True)
class CheckTotals:
    """The findings of one check about one subject.

    ``verdicts`` count every case, those of listed deviations included.
    """

    requirements: defaultdict[str, Cell] = field(default_factory=lambda: defaultdict(Cell))
    verdicts: Counter[str] = field(default_factory=Counter)
    cases: int = 0
    failed: int = 0
    mismatches: int = 0
    seconds: float = 0.0
    blocks: int = 0
