"""Judges of allocation counts: whether a server collected diffs for nothing (C1), and what an applier needs (FR14).

A server's own count for JSON memory is exact for one session and one statement (observed on 9.7.4), so one allocation
more is enough. Where the server certainly collects diffs, a count that does not move shows nothing and is never a pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class StatementCounts(NamedTuple):
    """Allocations of one statement in sessions that differ in one condition each.

    ``off``: without the option (condition 2); the other counts are compared with this one. ``without``: by the
    condition that does not hold, with the option on. ``on``: all conditions hold. ``collects``: the reference then
    collects diffs for the statement.
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
    """The judgement of C1. ``shown``: whether the count moved wherever the server had to collect diffs."""

    wrong: tuple[Wrong, ...]
    shown: bool

    @property
    def verdict(self) -> Verdict:
        if self.wrong:
            return Verdict.FAIL
        return Verdict.PASS if self.shown else Verdict.INCONCLUSIVE


def judge_capture(statements: Sequence[StatementCounts]) -> CaptureJudgement:
    """Judge C1 over the statements of a block."""
    wrong = tuple(
        Wrong(item.step, condition, item.off, count)
        for item in statements
        for condition, count in item.without.items()
        if count > item.off
    )
    collecting = [item for item in statements if item.collects]
    return CaptureJudgement(wrong, bool(collecting) and all(item.on > item.off for item in collecting))


def judge_applier(*, off: int, on: int) -> Verdict:
    """Judge FR14 on a replica: allocations over updates that came as whole documents, and over updates that came as
    diffs."""
    if off:
        return Verdict.FAIL
    return Verdict.PASS if on else Verdict.INCONCLUSIVE
