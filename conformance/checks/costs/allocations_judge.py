"""What counts of allocations say: whether diffs were collected for nothing (C1), and what an applier needs (FR14).

A server's own count for JSON memory is exact for one session and one statement (observed on 9.7.4), so one allocation
more is enough. A count that does not move where diffs are collected for sure shows nothing, and is never a pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from conformance.stream import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class StatementCounts(NamedTuple):
    """Allocations of one statement in sessions that differ in one condition each.

    ``off``: without the option (condition 2), the measure of the others. ``without``: by the condition that does not
    hold, with the option on. ``on``: all conditions hold. ``collects``: the reference collects diffs for it then.
    """

    step: int
    off: int
    without: Mapping[str, int]
    on: int
    collects: bool


class Wrong(NamedTuple):
    """A statement that allocates more although a condition does not hold."""

    step: int
    condition: str
    expected: int
    got: int


class CaptureJudgement(NamedTuple):
    """``shown``: whether collecting was visible wherever it had to happen."""

    wrong: tuple[Wrong, ...]
    shown: bool

    @property
    def verdict(self) -> Verdict:
        if self.wrong:
            return Verdict.FAIL
        return Verdict.PASS if self.shown else Verdict.INCONCLUSIVE


def judge_capture(statements: Sequence[StatementCounts]) -> CaptureJudgement:
    """C1 over the statements of a block."""
    wrong = tuple(
        Wrong(item.step, condition, item.off, count)
        for item in statements
        for condition, count in item.without.items()
        if count > item.off
    )
    collecting = [item for item in statements if item.collects]
    return CaptureJudgement(wrong, bool(collecting) and all(item.on > item.off for item in collecting))


def judge_applier(*, off: int, on: int) -> Verdict:
    """FR14 on a replica: allocations over updates that came as whole documents, and over others that came as diffs."""
    if off:
        return Verdict.FAIL
    return Verdict.PASS if on else Verdict.INCONCLUSIVE
