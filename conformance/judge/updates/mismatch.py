"""The findings of a Case's comparison: differences, and counts of what was compared."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.judge.updates.attribution import UNREADABLE

if TYPE_CHECKING:
    from conformance.cases.script import Script


def printable(text: str) -> str:
    """A text that UTF-8 can write: invalid bytes of a server become the text ``\\udcff``."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """One field that differs, as text."""

    field: str
    expected: str
    got: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """One difference. ``step`` is ``None`` for the start rows and for the frame of a transaction."""

    kind: str  # event, events, outcome, size, free, text
    step: int | None
    rows: tuple[int, ...] = ()
    field: str
    offset: int | None = None
    expected: str
    got: str
    message: str = ""
    evidence: tuple[FieldDifference, ...] = ()
    deviation: str | None = None  # the dialect switch that, flipped, explains the difference
    variation: str | None = None  # the non-requirement that leaves the difference free: no failure of the worklog
    broken: tuple[str, ...] = ()  # requirements, of a difference in the log (``attribution``)
    renewed: bool = False  # found with predictions made again from observed rows

    def __post_init__(self) -> None:
        for name in ("field", "expected", "got", "message"):
            object.__setattr__(self, name, printable(getattr(self, name)))


def unreadable(error: str) -> Mismatch:
    """A log of a whole Case that cannot be read."""
    return Mismatch(
        kind="events",
        step=None,
        field="log",
        expected="events that can be read",
        got=error,
        message=f"the log cannot be read: {error}",
        broken=UNREADABLE,
    )


@dataclass(slots=True)
class Judgement:
    """The comparison of one Case. ``updates`` leaves out the ``marked`` ones: those of a row that was wrong before.

    The model predicts every compared byte, or the rule of its field checks it, or it is taken on trust. ``kinds``
    counts the compared events by type code, ``frames`` is the length of their compressed frames. ``clock_step``: by how
    many microseconds the server's clock was set meanwhile.
    """

    updates: int = 0
    events: int = 0
    bytes: int = 0
    by_rule: int = 0
    on_trust: int = 0
    kinds: Counter[int] = field(default_factory=Counter)
    frames: int = 0
    texts: int = 0
    sizes: int = 0
    marked: int = 0
    clock_step: int = 0
    mismatches: list[Mismatch] = field(default_factory=list)

    @property
    def predicted(self) -> int:
        """Bytes that the model gave in full."""
        return self.bytes - self.by_rule - self.on_trust

    def add(self, mismatch: Mismatch) -> None:
        """Note a mismatch; :meth:`settle` decides which mismatches are new."""
        self.mismatches.append(mismatch)

    def settle(self, script: Script) -> None:
        """Keep the mismatches that are new, without the later differences of a row that was wrong before, unless its
        predictions were made again.

        The updates behind such a row's first difference are marked.
        """
        first: dict[int, int] = {}
        for mismatch in self.mismatches:
            for row in mismatch.rows:
                if mismatch.step is not None and not mismatch.renewed:
                    first[row] = min(mismatch.step, first.get(row, mismatch.step))
        consequences = [mismatch for mismatch in self.mismatches if _is_consequence(mismatch, first)]
        if not consequences:
            return
        self.mismatches = [mismatch for mismatch in self.mismatches if mismatch not in consequences]
        spoilt = {row: first[row] for mismatch in consequences for row in mismatch.rows}
        for number, prediction in enumerate(script.predictions):
            self.marked += sum(spoilt.get(row, number) < number for row in prediction.step.rows)
        self.updates -= self.marked


def _is_consequence(mismatch: Mismatch, first: dict[int, int]) -> bool:
    if mismatch.step is None or mismatch.renewed or not mismatch.rows:
        return False
    return all(mismatch.step > first[row] for row in mismatch.rows)
