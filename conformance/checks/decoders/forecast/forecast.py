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
PLURAL: Final = {LOSES: "lose", ALTERS: "alter", REFUSES: "refuse"}


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
    def verb(self) -> str:
        """The outcome, with "may" where only some Cases had it."""
        return self.outcome if self.is_certain else f"may {PLURAL[self.outcome]}"

    @property
    def measured(self) -> str:
        """The number of Cases that the statement rests on."""
        return f"(measured: {self.failed} of {self.cases} Cases)"

    @property
    def sentence(self) -> str:
        """The statement in words, what avoids the events, and what was seen in a Case."""
        about = FEATURES[self.feature]
        these = "this event" if self.events == 1 else f"these {self.events} events"
        claim = f"{self.tool} {self.version} {self.verb} {these}: {about.title} {self.measured}"
        return f"{claim}{f'; avoid: {about.avoid}' if about.avoid else ''}; seen: {self.message[:_SHOWN]}"


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
