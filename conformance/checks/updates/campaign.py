"""The campaign of generated updates that the checks of this experiment share; it runs when the first of them asks."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Final

from conformance.harness.check import Check
from conformance.harness.experiments.manifests import experiments
from conformance.harness.update_records import UpdateCheck, record_block
from conformance.harness.updates.blocks import block_sizes
from conformance.harness.updates.captures import captured_blocks
from conformance.harness.updates.run import Campaign, CampaignFailed
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from conformance.harness.session import Lab
    from conformance.harness.updates.blocks import BlockResult

UPDATE_CHECKS: Final = {
    facts.id: UpdateCheck(id=facts.id, kinds=frozenset(kinds), requirements=facts.requirements, verdict=verdict)
    for name, kinds, verdict in (
        ("event-bytes", ("event", "events", "outcome"), Verdict.FAIL),
        ("decode", ("decode",), Verdict.FAIL),
        ("apply", ("apply",), Verdict.FAIL),
        ("storage", ("size", "free"), Verdict.DIFFERS),
        ("text", ("text",), Verdict.DIFFERS),
    )
    for facts in (experiments()["updates"].checks[name],)
}


class UpdateCampaign:
    """The update campaign of a run: its blocks run once, and each check takes over its own findings."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._ran = False
        self._checks = {item.id: Check(lab, item.id, item.requirements) for item in UPDATE_CHECKS.values()}

    def judge(self, check: Check) -> None:
        """Run the campaign if it has not run; ``check`` fails for findings under its id."""
        self.run()
        found = self._checks[check.id].failures
        check.failures.count += found.count
        check.failures.reasons.update(found.reasons)

    def run(self) -> None:
        """All blocks, judged and recorded, once."""
        if self._ran:
            return
        self._ran = True
        lab = self._lab
        total = lab.settings.updates
        done = 0
        begun = time.perf_counter()
        campaign = None
        results: Generator[BlockResult]
        if lab.server is None:
            whole = list(_at_least(captured_blocks(lab.settings.recorded), total))
            total = sum(map(_updates, whole))
            results = (block for block in whole)
        else:
            portable = lab.dialect.json.text_double == "fast"
            make = lab.settings.campaign or Campaign
            campaign = make(lab.server, seed=lab.settings.seed, updates=total, portable=portable)
            results = campaign.results()
        check = Check(lab, "updates")
        sizes = block_sizes(total)
        with closing(results):  # the workers end here, whatever ends the loop
            for number, result in enumerate(results):
                if done >= total:
                    break
                if result.failure:
                    self.not_judged(result, sizes[number])
                    done += sizes[number]
                    continue
                if campaign is not None:
                    _hold_against_the_plan(result, number, sizes[number])
                self.record(result)
                done += _updates(result)
                check.progress(done, total, "updates", note=f"{done / (time.perf_counter() - begun):,.0f}/s")
        if campaign is not None and campaign.totals.seconds:
            lab.rate = campaign.totals.updates / campaign.totals.seconds

    def not_judged(self, result: BlockResult, size: int) -> None:
        """Write that a block of so many updates has no verdict, and why; the campaign goes on."""
        for item in UPDATE_CHECKS.values():
            with self._checks[item.id].block(result.number, cases=size, seconds=0.0) as block:
                block.judged(Verdict.NOT_RUN, result.failure)
        self._lab.narrate(f"{result.failure}; the other blocks go on")

    def record(self, result: BlockResult) -> None:
        """Write the records of one block, under each of the campaign's checks."""
        for item in UPDATE_CHECKS.values():
            record_block(self._checks[item.id], result, item, first=item.id == "updates/event-bytes")


def _updates(block: BlockResult) -> int:
    """The updates of a block: those compared, and those given up."""
    return block.judgement.updates + block.judgement.marked


def _at_least(recorded: Iterator[BlockResult], updates: int) -> Iterator[BlockResult]:
    """Yield the first recorded blocks, each of them whole, until they have so many updates, or all if they have
    fewer."""
    done = 0
    while done < updates and (block := next(recorded, None)) is not None:
        done += _updates(block)
        yield block


def _hold_against_the_plan(result: BlockResult, number: int, size: int) -> None:
    """Raise where a block is another one than the plan's next, or has fewer updates."""
    judged = _updates(result)
    if result.number != number or judged < size:
        got = f"block {result.number} with {judged} updates"
        raise CampaignFailed(f"the plan has block {number} with {size} updates, and {got} came")
