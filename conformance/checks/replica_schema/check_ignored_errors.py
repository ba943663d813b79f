"""A10: an applier whose settings ignore errors passes over exactly these errors.

Damaged events meet the same settings. IDEMPOTENT mode refuses them as STRICT does (FR5). An applier passes over them
only where it ignores their own error (A10).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.harness.injections import apply_in_blocks
from conformance.judge.damage.census import DIVERGED, REFUSED, Channel
from conformance.servers.roles.applier import Applier, launch_applier
from generators import applier_transactions
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.check import Check

_BLOCK: Final = 200  # transactions in one relay log
_MISSING, _DOES_NOT_FIT = frozenset((1032,)), frozenset((3648,))
_IDEMPOTENT: Final = "damage/applier IDEMPOTENT"
_SKIPPING: Final = "damage/applier that skips errors"
_CORRUPTED: Final = frozenset((1610, 3142, 3157, 3649))


@pytest.mark.check("idempotent")
def test_missing_rows_in_idempotent_mode(check: Check) -> None:
    """An applier in IDEMPOTENT mode ignores 1032 (missing row) and still stops at 3648."""
    applier = check.needs_applier()
    with applier.executing("IDEMPOTENT"):
        _ignorable(check, "idempotent", applier, _MISSING, _IDEMPOTENT)


@pytest.mark.check("idempotent-damage")
def test_damaged_events_in_idempotent_mode(check: Check) -> None:
    """IDEMPOTENT mode ignores no damage: the applier stops with an error, changes nothing, and can go on."""
    applier = check.needs_applier()
    with applier.executing("IDEMPOTENT"):
        _damaged(check, "idempotent-damage", applier, _MISSING, _IDEMPOTENT)


@pytest.mark.check("skip-errors")
def test_skipped_errors(check: Check) -> None:
    """An option of the start makes the applier ignore 3648; it still stops at 1032."""
    with _told_to_ignore(check, check.needs_applier(), _DOES_NOT_FIT) as ignoring:
        _ignorable(check, "skip-errors", ignoring, _DOES_NOT_FIT)
        _damaged(check.part("damage"), "skip-errors-damage", ignoring, _DOES_NOT_FIT)


@pytest.mark.check("skip-damage")
def test_skipped_damage(check: Check) -> None:
    """An applier passes over damaged events whose errors an option of the start names, and stops at others."""
    applier = check.needs_applier()
    for ignored in [_CORRUPTED] if check.quick else [frozenset((number,)) for number in sorted(_CORRUPTED)]:
        with _told_to_ignore(check, applier, ignored) as ignoring:
            _damaged(check, "skip-damage", ignoring, ignored)


def _told_to_ignore(check: Check, applier: Applier, ignored: frozenset[int]) -> Applier:
    """Another server, which ignores these errors."""
    check.narrate("starting a server whose applier ignores an error")
    option = ",".join(map(str, sorted(ignored)))
    return Applier(
        launch_applier(
            applier.server.maker,
            options={**applier.server.options, "replica-skip-errors": option},
            keep=check.lab.settings.keep,
            narrate=check.narrate,
        )
    )


def _ignorable(check: Check, name: str, applier: Applier, ignored: frozenset[int], mode: str = _SKIPPING) -> None:
    cases = list(applier_transactions.ignorable(Stream(f"applier/{name}", check.seed), check.size("one-in")))
    apply_in_blocks(check, applier, cases, _BLOCK, ignored, channel=Channel(mode, DIVERGED))


def _damaged(check: Check, name: str, applier: Applier, ignored: frozenset[int], mode: str = _SKIPPING) -> None:
    cases = list(applier_transactions.refused_damage(Stream(f"applier/{name}", check.seed), check.size("one-in")))
    apply_in_blocks(check, applier, cases, _BLOCK, ignored, channel=Channel(mode, REFUSED))
