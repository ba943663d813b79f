"""Replicas whose table differs from the source's (A8), and tables without a key (FR2).

The transactions come from a relay log written by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.replica_schema import generate, run
from conformance.harness.injections import record_in_blocks
from conformance.verdict import Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.checks.replica_schema.case import ReplicaSchema
    from conformance.harness.check import Check
    from conformance.harness.injections import Tried
    from generators.draw import Draw

_BLOCK: Final = 200  # Cases in one relay log, each with a table of its own


def _run(check: Check, name: str, make: Callable[[Draw, str], ReplicaSchema], verdict: Verdict) -> None:
    """Make, apply, judge and record Cases in blocks. ``name``: the name of their stream. ``verdict``: the verdict for
    an outcome that is wrong and leaves the replica sound."""
    applier = check.needs_applier()
    draw = Stream(f"applier/{name}", check.seed)

    def judge(part: Sequence[ReplicaSchema]) -> list[Tried]:
        outcomes = zip(part, run.apply(applier, part), strict=True)
        return [run.tried(check.lab, applier.server, case, outcome, verdict) for case, outcome in outcomes]

    cases = [make(draw.fork(number), f"s{number % _BLOCK}") for number in check.blocks()]
    record_in_blocks(check, cases, _BLOCK, judge)


@pytest.mark.check("other-table")
def test_replica_with_another_table(check: Check) -> None:
    """A replica with fewer or more columns, or another type in the place of JSON, applies or stops as observed."""
    _run(check, "other-table", generate.other_table, Verdict.DIFFERS)


@pytest.mark.check("no-key")
def test_updates_without_a_key(check: Check) -> None:
    """A table without a key: updates find a row by all its columns, also several times; a diverged row is not found."""
    _run(check, "no-key", generate.without_key, Verdict.FAIL)
