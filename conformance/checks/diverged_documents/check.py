"""FR5, events given by BINLOG statements: each leads to a readable document, or to an error and no change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.harness.injections import judged_injection, not_shown, record_in_blocks
from conformance.harness.witnesses import record_not_shown
from conformance.judge.damage.census import APPLIED, DIVERGED, FIELDS, REFUSED, Channel
from conformance.requirements.crashes import APPLYING, VALUE_OPTIONS
from generators import damaged_events, diverged
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.by_hand.injection import Injection
    from conformance.harness.check import Check
    from conformance.harness.injections import Tried
    from conformance.harness.recorder import BlockRecord
    from conformance.servers.roles.injector import Injector

_BLOCK: Final = 500
_STATEMENTS: Final = "damage/BINLOG statement"


def _injector(check: Check) -> Injector:
    check.needs_server("a server: events are put into one")
    injector = check.lab.injector()
    if injector is None:
        check.leave_out("needs a server that the lab starts beside the one under test: events are injected")
    return injector


def _run(check: Check, injector: Injector, injections: Sequence[Injection], channel: Channel) -> list[Tried]:
    """Inject, judge and record events in blocks."""
    tried: list[Tried] = []
    seed = f"{check.id} {check.seed}"

    def judge(part: Sequence[Injection]) -> list[Tried]:
        outcomes = zip(part, injector.run(part), strict=True)
        items = [judged_injection(check.lab, injector, injection, outcome, seed) for injection, outcome in outcomes]
        tried.extend(items)
        return items

    def count(block: BlockRecord, part: Sequence[Injection]) -> None:
        block.exercised(channel.rules, channel.counts(part))

    record_in_blocks(check, injections, _BLOCK, judge, count)
    return tried


@pytest.mark.check("statements")
def test_diverged_documents(check: Check) -> None:
    """Diffs on a document that they were not made for lead to an error or a readable document.

    The events are the matrix of FR5 (requirements) and generated groups.
    """
    injector = _injector(check)
    injections = list(diverged.matrix())
    for number in check.blocks():
        injections += diverged.group(Stream("diverged", check.seed, number))
    _run(check, injector, injections, Channel(_STATEMENTS, DIVERGED))


@pytest.mark.check("damaged")
def test_damaged_events(check: Check) -> None:
    """An event with one damaged field leads to an error and no change.

    The damages are those of the list in binlog-events 11.4, and generated ones.
    """
    injector = _injector(check)
    allowed = injector.server.hazards()
    generated = (damaged_events.damaged(Stream("damaged", check.seed, number)) for number in check.blocks())
    injections = [item for item in (*damaged_events.listed(), *generated) if item.hazard in allowed]
    items = _run(check, injector, injections, Channel(_STATEMENTS, (APPLIED, *REFUSED), FIELDS))
    # A truncated row crashes a server or not, depending on the bytes behind it: only unknown value options
    # crash one for sure.
    record_not_shown(check, not_shown(check.lab, items, APPLYING, damages=(VALUE_OPTIONS,)))
