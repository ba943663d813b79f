"""FR5 on a real applier: the transactions of a hand-written relay log meet documents that they were not made for.

The applier stops with an error, or every row is a readable document; and the server lives. A stop leaves nothing of the
transaction. After a repair of the row the applier starts again, and applies this transaction and the later ones. No
document fits a damaged event: the lab skips its transaction. The lab repairs a damaged file.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

from conformance.harness.injections import (
    apply_in_blocks,
    frame_tried,
    judged_transaction,
    keep_run,
    record_in_blocks,
    record_tried,
)
from conformance.judge.damage.census import APPLIED, DIVERGED, FIELDS, REFUSED, Channel
from conformance.servers.roles import applier_cases
from generators import applier_transactions
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.by_hand.applier_transaction import ApplierOutcome, ApplierTransaction
    from conformance.cases.by_hand.damaged_frame import DamagedFrame
    from conformance.harness.check import Check
    from conformance.harness.injections import Tried
    from conformance.harness.recorder import BlockRecord
    from conformance.harness.session import Lab
    from conformance.servers.roles.applier import Applier
    from conformance.servers.run.owned import OwnServer

_BLOCK: Final = 250  # transactions in one relay log
_STRICT: Final = "damage/applier STRICT"
_FRAMES: Final = {
    f"damage/relay log STRICT/{what}": f"relay log STRICT: damage of the event's {what}"
    for what in ("checksum", "byte", "type", "length")
}


def _allowed(applier: Applier, cases: Sequence[ApplierTransaction]) -> list[ApplierTransaction]:
    """The transactions that this server may get."""
    hazards = applier.server.hazards()
    return [case for case in cases if case.hazard in hazards]


@pytest.mark.check("applier")
def test_applier_and_diverged_documents(check: Check) -> None:
    """An applier stops at diffs that do not fit, and applies them after a repair: matrix and generated groups.

    The matrix is that of requirements FR5.
    """
    applier = check.needs_applier()
    draw = Stream("applier", check.seed)
    cases = list(applier_transactions.matrix(draw.fork("matrix"), check.size("one-in")))
    for number in check.blocks():
        cases += applier_transactions.group(draw.fork("group", number))
    apply_in_blocks(check, applier, _allowed(applier, cases), _BLOCK, channel=Channel(_STRICT, DIVERGED))


@pytest.mark.check("applier-damaged")
def test_applier_and_damaged_events(check: Check) -> None:
    """An applier stops at an event with one damaged field, and goes on once its transaction is skipped."""
    applier = check.needs_applier()
    draw = Stream("applier-damaged", check.seed)
    cases = list(applier_transactions.listed_damage(draw.fork("listed")))
    cases += [applier_transactions.damage(draw.fork(number)) for number in check.blocks()]
    channel = Channel(_STRICT, (APPLIED, *REFUSED), FIELDS)
    apply_in_blocks(check, applier, _allowed(applier, cases), _BLOCK, channel=channel)


@pytest.mark.check("applier-files")
def test_applier_and_damaged_files(check: Check) -> None:
    """An applier stops at an event that it cannot parse, and goes on once the file is repaired."""
    applier = check.needs_applier()
    draw = Stream("applier-files", check.seed)

    def judge(part: Sequence[DamagedFrame]) -> list[Tried]:
        outcomes = zip(part, applier_cases.apply_damaged_frames(applier, part), strict=True)
        return [_damaged_file(check.lab, applier.server, case, outcome) for case, outcome in outcomes]

    def count(block: BlockRecord, part: Sequence[DamagedFrame]) -> None:
        names = Counter(f"damage/relay log STRICT/{case.damage.name.partition(' ')[0]}" for case in part)
        block.exercised(_FRAMES, names)

    frames = [applier_transactions.damaged_frame(draw.fork(number)) for number in check.blocks()]
    record_in_blocks(check, frames, _BLOCK, judge, count)


def _damaged_file(lab: Lab, server: OwnServer, case: DamagedFrame, outcome: ApplierOutcome) -> Tried:
    """Give a relay log with a damaged file to the applier of ``server``."""
    item = frame_tried(server, case, outcome, lab.dialect)
    if outcome.death:
        keep_run(lab, server, item)
    return item


@pytest.mark.check("applier-members")
def test_applier_and_damaged_object_entries(check: Check) -> None:
    """An applier lives, and stops at damaged object entries that may end a server.

    BINLOG statements showed the same damage. Each transaction has a relay log of its own: otherwise the Case before
    could have caused an end right after a stop.
    """
    applier = check.needs_applier()
    draw = Stream("applier-members", check.seed)
    tried = []
    with check.block(cases=None) as block:
        for number in check.blocks():
            case = applier_transactions.damaged_object(draw.fork(number), number)
            (outcome,) = applier_cases.apply_transactions(applier, [case])
            tried.append(judged_transaction(check.lab, applier.server, case, outcome))
        record_tried(block, tried)
