"""The rules that the census counts of hand-made events: outcomes and kinds of damage, in each channel and mode.

The outcome is the reference's. Damages that generators draw are named by the damaged field.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cases.by_hand.injection import predict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.cases.by_hand.injection import Injection

APPLIED, MISSING, FRAME, LIBRARY, DEPTH, UNFIT, DIFFS = 0, 1032, 1610, 3142, 3157, 3648, 3649
DIVERGED: Final = (APPLIED, MISSING, UNFIT)
REFUSED: Final = (FRAME, LIBRARY, DEPTH, UNFIT, DIFFS)
_OUTCOMES: Final = {
    APPLIED: "an event that is applied",
    MISSING: "an event whose row is missing (1032)",
    FRAME: "an event whose frame is damaged (1610)",
    LIBRARY: "an event with damage inside of a value (3142)",
    DEPTH: "an event with a value that nests too deep (3157)",
    UNFIT: "an event that does not fit the row (3648)",
    DIFFS: "an event whose diffs cannot be read (3649)",
}
_GENERATED: Final = "generated-"
FIELDS: Final = ("operation", "options", "cut", "row", "path", "lengths", "type", "after")
"""What generated damage changes, as far as it never spoils a row."""


class Channel(NamedTuple):
    """How a check gives events to a server. ``name``: the channel and the mode of the applier. ``outcomes`` and
    ``fields``: what the check has on purpose."""

    name: str
    outcomes: tuple[int, ...] = ()
    fields: tuple[str, ...] = ()

    @property
    def rules(self) -> dict[str, str]:
        """The rules of this channel, with their sentences."""
        return {
            **{f"{self.name}/{number}": f"{self.name}: {_OUTCOMES[number]}" for number in self.outcomes},
            **{f"{self.name}/{field}": f"{self.name}: generated damage, {field}" for field in self.fields},
        }

    def counts(self, events: Iterable[Injection]) -> Counter[str]:
        """How often these events exercise each rule."""
        found: Counter[str] = Counter()
        for event in events:
            found[f"{self.name}/{predict(event).error}"] += 1
            if event.name.startswith(_GENERATED):
                found[f"{self.name}/{event.name.removeprefix(_GENERATED)}"] += 1
        return Counter({rule: found[rule] for rule in self.rules})
