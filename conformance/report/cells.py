"""The findings about one check and about one requirement: counts of cases by verdict."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from conformance.verdict import Verdict, summarise


@dataclass(slots=True)
class CheckTotals:
    """What one check found about one subject. ``verdicts`` count every case, those of listed deviations included."""

    requirements: Counter[str] = field(default_factory=Counter)  # requirement -> cases of blocks that name it
    verdicts: Counter[str] = field(default_factory=Counter)
    cases: int = 0
    failed: int = 0
    mismatches: int = 0
    seconds: float = 0.0
    blocks: int = 0


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
