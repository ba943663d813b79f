"""Rules: the features that things with an effect share, and things without it lack. Pure sets, no words."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Features = frozenset[str]

_LEAST: Final = 0.6  # of what has the features must have the effect
_GAIN: Final = 1.02  # a second feature must be worth so much more
_BEST: Final = 12  # single features that pairs are made of
# Of features that separate alike, the first of these names the cause.
_ORDER: Final = (
    "damage", "json-null", "unchanged", "later-diff", "long", "many-digits", "negative", "upper-half", "wide-integer",
    "zero-date", "operation:", "payload", "event:PARTIAL", "event:", "no-members", "behind:", "statement:",
    "no-checksum", "charset:", "no-names", "partial-image", "columns>", "later-row", "no-map", "leaf:", "type:",
    "diff:", "text", "unsigned", "fraction", "not-ascii", "document", "diffs", "several-diffs", "quoted-path", "NULL",
    "named-member",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rule:
    """Features that go together; ``found``: the numbers of the bags that have them; ``spared``: things with the
    features and without the effect."""

    features: tuple[str, ...]
    found: tuple[int, ...]
    spared: int

    def holds(self, things: Iterable[Features]) -> bool:
        """Whether one of the things has all features."""
        wanted = set(self.features)
        return any(wanted <= thing for thing in things)


def rank(feature: str) -> int:
    """The place of a feature in the order of causes."""
    return next((number for number, start in enumerate(_ORDER) if feature.startswith(start)), len(_ORDER))


def rules_for(bags: Sequence[Sequence[Features]], spared: Mapping[Features, int]) -> list[Rule]:
    """Cover the bags by rules, the one that explains most first. What no rule explains is left out.

    ``spared``: the things without the effect, each with how often there is one.
    """
    search = _Search(bags, spared)
    rules: list[Rule] = []
    left = set(range(len(bags)))
    while left and (rule := search.best(left)) is not None:
        rules.append(rule)
        left -= set(rule.found)
    return rules


class _Search:
    """Bit sets of the bags and of the spared things that have each feature."""

    def __init__(self, bags: Sequence[Sequence[Features]], spared: Mapping[Features, int]) -> None:
        self.bags = bags
        self.spared: dict[str, int] = {}
        names = {feature for bag in bags for thing in bag for feature in thing}
        self.weights: list[int] = []  # bit sets too: of the things whose number of times has this binary digit
        for number, (thing, times) in enumerate(spared.items()):
            for feature in thing & names:
                self.spared[feature] = self.spared.get(feature, 0) | 1 << number
            while len(self.weights) < times.bit_length():
                self.weights.append(0)
            for digit in range(times.bit_length()):
                self.weights[digit] |= (times >> digit & 1) << number

    def best(self, left: set[int]) -> Rule | None:
        """The rule that explains most of the bags that are left."""
        names = {feature for number in left for thing in self.bags[number] for feature in thing}
        singles = sorted((self._scored((name,), left) for name in names), key=_key)
        pairs = [
            self._scored(tuple(sorted((one[2].features[0], other[2].features[0]), key=rank)), left)
            for one, other in combinations(singles[:_BEST], 2)
        ]
        found = singles[:1]
        if pairs and (not found or min(pairs, key=_key)[0] > found[0][0] * _GAIN):
            found = [min(pairs, key=_key)]
        if not found:
            return None
        _, precision, rule, _ = found[0]
        return rule if precision >= _LEAST else None

    def _scored(self, features: tuple[str, ...], left: set[int]) -> tuple[float, float, Rule, int]:
        """Worth, precision, the rule, and how often the likeliest thing of a bag has the features."""
        wanted = set(features)
        found = tuple(n for n in sorted(left) if any(wanted <= thing for thing in self.bags[n]))
        likely = sum(wanted <= self.bags[n][0] for n in found)
        bits = -1
        for name in features:
            bits &= self.spared.get(name, 0)
        spared = sum((bits & digits).bit_count() << place for place, digits in enumerate(self.weights))
        precision = len(found) / (len(found) + spared) if found else 0.0
        return len(found) * precision**2, precision, Rule(features, found, spared), likely


def _key(scored: tuple[float, float, Rule, int]) -> tuple[float, int, list[int], tuple[str, ...]]:
    worth, _, rule, likely = scored
    return -worth, -likely, [rank(name) for name in rule.features], rule.features
