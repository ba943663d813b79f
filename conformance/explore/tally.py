"""The findings and the census of a run, or of a part of it that another process made."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.explore.findings import Finding


@dataclass(slots=True, kw_only=True)
class Tally:
    """Findings, of which no two are the same fault, and counts. ``exploring``: seconds, those of shrinking left out."""

    findings: list[Finding] = field(default_factory=list)
    tried: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    beside: Counter[str] = field(default_factory=Counter)  # what the topology did beside the statements
    vanished: Counter[str] = field(default_factory=Counter)
    steps: int = 0
    episodes: int = 0
    exploring: float = 0.0

    @property
    def rate(self) -> float:
        """Statements in a second of exploring: oracles are in it, the shrinking of findings is not."""
        return self.steps / self.exploring if self.exploring else 0.0

    def same(self, finding: Finding) -> Finding | None:
        """The finding that is this fault too; it counts the hits, and keeps the traits that both have."""
        for one in self.findings:
            if one.is_same(finding):
                one.hits += finding.hits
                one.traits &= finding.traits
                return one
        return None

    def add(self, finding: Finding) -> None:
        """Take in a finding that is no other one, under a name of its own."""
        finding.name = f"{finding.problem.oracle}-{len(self.findings) + 1}"
        self.findings.append(finding)

    def counts(self) -> Tally:
        """A copy, without what a run has beside it: it can be sent to another process."""
        return Tally(**{each.name: getattr(self, each.name) for each in fields(Tally)})

    def absorb(self, other: Tally) -> list[Finding]:
        """Take in another part of the run; its findings that are new here."""
        new = [finding for finding in other.findings if self.same(finding) is None]
        for finding in new:
            self.add(finding)
        for name in ("tried", "answers", "features", "pairs", "beside", "vanished"):
            getattr(self, name).update(getattr(other, name))
        self.steps += other.steps
        self.episodes += other.episodes
        self.exploring += other.exploring
        return new
