"""The census of a run: how often each rule was exercised, and its share of the run's mix."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.stream import Block, Run

RULE_SEPARATOR = "/"


@dataclass(frozen=True, slots=True)
class CensusRule:
    """One rule of the census. ``share``: its part of the group's whole, where the group has one."""

    id: str
    name: str
    sentence: str
    count: int
    share: float | None


@dataclass(frozen=True, slots=True)
class CensusGroup:
    """Rules whose ids begin alike."""

    name: str
    rules: tuple[CensusRule, ...]

    @property
    def missing(self) -> int:
        """How many rules of the group the run did not exercise."""
        return sum(not rule.count for rule in self.rules)

    @property
    def most(self) -> int:
        """The largest count, the full width of a bar."""
        return max((rule.count for rule in self.rules), default=0) or 1


@dataclass(frozen=True, slots=True)
class MixShare:
    """The least share that a representative run has, and the share in this run (None: nothing was counted)."""

    rule: str
    sentence: str
    wanted: float
    share: float | None

    @property
    def reached(self) -> bool:
        """Whether this run reaches the share."""
        return self.share is not None and self.share >= self.wanted


class Census:
    """Counts by rule. The first record of the run lists the rules of the updates, and each experiment's blocks its own:
    they count where the experiment ran. The census is false while nothing was counted."""

    def __init__(self) -> None:
        self.run: Run | None = None
        self.counts: Counter[str] = Counter()
        self._own: dict[str, str] = {}  # rules of experiments that ran
        self._updates = False  # whether the updates were counted

    def __bool__(self) -> bool:
        return bool(self.counts)

    def add(self, block: Block) -> None:
        """Count a block."""
        self.counts.update(block.census)
        self._own.update(block.census_rules)
        self._updates = self._updates or not block.census.keys() <= block.census_rules.keys()

    @property
    def _rules(self) -> dict[str, str]:
        """The rules with their sentences: those of the updates if they ran, or nothing else did."""
        updates = self.run.census_rules if self.run and (self._updates or not self._own) else {}
        return {**updates, **self._own}

    def complete(self) -> dict[str, int]:
        """Every rule with its count. A rule that the run never met has 0, and the reports say so."""
        rules = self._rules
        return {rule: self.counts.get(rule, 0) for rule in (*rules, *(r for r in self.counts if r not in rules))}

    def groups(self) -> list[CensusGroup]:
        """The rules by group, with shares where the group's rules add up to a whole."""
        sentences = self._rules
        grouped: defaultdict[str, list[CensusRule]] = defaultdict(list)
        for rule, count in self.complete().items():
            group, _, name = rule.partition(RULE_SEPARATOR)
            share = self._share(rule)
            grouped[group].append(CensusRule(rule, name or rule, sentences.get(rule, ""), count, share))
        return [CensusGroup(group, tuple(rules)) for group, rules in grouped.items()]

    def mix(self) -> list[MixShare]:
        """The least shares of a representative run beside the shares of this run."""
        if self.run is None:
            return []
        sentences = self.run.census_rules
        return [
            MixShare(rule, sentences.get(rule, rule), wanted, self._share(rule))
            for rule, wanted in self.run.census_mix.items()
        ]

    def not_exercised(self) -> list[str]:
        """Rules with count 0 (design 10); in a full run they make it incomplete."""
        return [rule for rule, count in self.complete().items() if not count]

    def _share(self, rule: str) -> float | None:
        """The rule's part of its group's whole, where the group has one and something was counted."""
        wholes = self.run.census_wholes if self.run else {}
        whole = sum(self.counts.get(part, 0) for part in wholes.get(rule.partition(RULE_SEPARATOR)[0], ()))
        return self.counts.get(rule, 0) / whole if whole else None
