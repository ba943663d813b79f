"""The verdicts: one vocabulary for servers, decoders, matrices and campaigns (design 1)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Verdict(StrEnum):
    """The verdict of the judge about one case, worst first."""

    SILENT_LOSS = "silent-loss"
    CRASH = "crash"
    TIMEOUT = "timeout"
    FAIL = "fail"
    DIFFERS = "differs"
    DEVIATES = "deviates"
    FIXED = "fixed"
    LENIENT = "lenient"
    REFUSED = "refused"
    INCONCLUSIVE = "inconclusive"
    INFO = "info"
    NOT_APPLICABLE = "not-applicable"
    PASS = "pass"  # noqa: S105 - a verdict, not a password
    NOT_RUN = "not-run"

    @property
    def definition(self) -> str:
        """One sentence saying what the verdict means; reports print it."""
        return DEFINITIONS[self]

    @property
    def failing(self) -> bool:
        """Whether the verdict makes a run nonconformant (exit code 1) unless a listed deviation explains it."""
        return self in FAILING


DEFINITIONS: dict[Verdict, str] = {
    Verdict.SILENT_LOSS: "A change was left out or altered, with no error and no mark.",
    Verdict.CRASH: "The process died, or broke off the conversation.",
    Verdict.TIMEOUT: "No answer came in the stated time.",
    Verdict.FAIL: "A worklog or the documentation demands something, and the outcome is none that it allows.",
    Verdict.DIFFERS: (
        "The outcome departs from behaviour that was only observed on a named server version; "
        "it counts as a failure only for a subject inside that range."
    ),
    Verdict.DEVIATES: "The outcome differs exactly as a listed deviation of this version says: no failure, no pass.",
    Verdict.FIXED: (
        "A listed deviation is not there any more: behind its observed versions the requirement holds and the list's "
        "range should end; inside them the list is in error, and that counts as a failure."
    ),
    Verdict.LENIENT: "A should is not met; the subject is still conformant.",
    Verdict.REFUSED: "The subject declined, with a clear error, a case that it has not declared support for.",
    Verdict.INCONCLUSIVE: "The case ran, but its evidence cannot decide; the reason is shown.",
    Verdict.INFO: "The specification leaves this open; what happened is recorded.",
    Verdict.NOT_APPLICABLE: "The declared capabilities exclude the case.",
    Verdict.PASS: "The outcome is allowed.",
    Verdict.NOT_RUN: "Selected, but the run ended first or the lab itself failed; never counted as a pass.",
}
SEVERITY: tuple[Verdict, ...] = tuple(Verdict)  # worst first
FAILING = frozenset({Verdict.SILENT_LOSS, Verdict.CRASH, Verdict.TIMEOUT, Verdict.FAIL, Verdict.DIFFERS})

# A summary of many cases takes the first of these that occurs. It departs from SEVERITY where the mixture must stay
# visible: one case that did not run outweighs any number of passes, so does a listed deviation, there or gone, and one
# pass outweighs cases that do not apply.
_SUMMARY_ORDER: tuple[Verdict, ...] = (
    *(verdict for verdict in SEVERITY if verdict.failing),
    Verdict.NOT_RUN,
    Verdict.DEVIATES,
    Verdict.INCONCLUSIVE,
    Verdict.REFUSED,
    Verdict.LENIENT,
    Verdict.FIXED,
    Verdict.PASS,
    Verdict.INFO,
    Verdict.NOT_APPLICABLE,
)


def failing_of(verdicts: Mapping[str, int] | Mapping[Verdict, int]) -> int:
    """How many of the cases have a failing verdict."""
    return sum(count for verdict, count in verdicts.items() if verdict in FAILING)


def summarise(verdicts: Mapping[str, int]) -> Verdict:
    """One verdict for many cases; no case at all is ``not-run``."""
    for verdict in _SUMMARY_ORDER:
        if verdicts.get(verdict, 0):
            return verdict
    return Verdict.NOT_RUN
