"""Which tools lose, alter or refuse which events of a log: the survey of the log and the recorded outcomes together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.checks.decoders.forecast.features import FEATURES
from conformance.checks.decoders.forecast.outcomes import ALTERS, LOSES, READS, REFUSES

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable

    from conformance.checks.decoders.forecast.outcomes import Outcome, Tool

_SHOWN: Final = 160  # characters of what the judge said
_WORST: Final = (LOSES, ALTERS, REFUSES)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement about one tool and the events with one feature. ``failed`` of ``cases`` Cases had the outcome."""

    tool: str
    version: str
    feature: str
    events: int
    outcome: str
    failed: int
    cases: int
    message: str

    @property
    def is_certain(self) -> bool:
        """Whether every Case of the feature had the outcome."""
        return self.failed == self.cases

    @property
    def claim(self) -> str:
        """The statement in words, with the number of Cases that it rests on."""
        about = FEATURES[self.feature]
        who = f"{self.tool} {self.version}"
        verb = (
            self.outcome
            if self.is_certain
            else {LOSES: "may lose", ALTERS: "may alter", REFUSES: "may refuse"}[self.outcome]
        )
        these = "this event" if self.events == 1 else f"these {self.events} events"
        return f"{who} {verb} {these}: {about.title} (measured: {self.failed} of {self.cases} Cases)"

    @property
    def sentence(self) -> str:
        """The claim, what avoids the events, and what was seen in a Case."""
        avoid = FEATURES[self.feature].avoid
        return f"{self.claim}{f'; avoid: {avoid}' if avoid else ''}; seen: {self.message[:_SHOWN]}"


def forecast(features: Counter[str], tools: Iterable[Tool]) -> list[Statement]:
    """The statements about events that a log has and a tool does not read."""
    found = []
    for tool in tools:
        for feature in FEATURES:
            outcome = tool.outcomes.get(feature)
            if features[feature] and outcome is not None:
                found += _statements(tool, feature, features[feature], outcome)
    return found


def _statements(tool: Tool, feature: str, events: int, outcome: Outcome) -> list[Statement]:
    word = next((word for word in _WORST if outcome.cases.get(word)), READS)
    if word == READS:
        return []
    failed = len(outcome.cases[word])
    total = outcome.total or failed
    return [Statement(tool.name, tool.version, feature, events, word, failed, total, outcome.message)]
