"""Judged blocks of generated updates as records, and the update campaign that several checks share.

A block's mismatches are divided by kind: each kind is a check of its own. The campaign runs when its first check asks.
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from conformance.harness.campaign.blocks import block_sizes
from conformance.harness.campaign.captures import captured_blocks
from conformance.harness.campaign.run import Campaign, CampaignFailed
from conformance.harness.check import Check
from conformance.harness.experiments.manifests import experiments
from conformance.harness.findings import StoredCase
from conformance.harness.shrinking import shrink_live
from conformance.judge.updates.compare import REFUSED
from conformance.stream import Evidence
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from conformance.harness.campaign.blocks import BlockResult
    from conformance.harness.recorder import BlockRecord
    from conformance.harness.session import Lab
    from conformance.judge.updates.mismatch import Mismatch

_KINDS: Final = {
    "event": "an event's bytes are not those predicted",
    "events": "the events of the transaction are not those predicted",
    "outcome": "the statement does not end as predicted",
    "decode": "the captured event does not come back from its decoded form",
    "apply": "the captured diffs do not lead to the document after the statement",
    "size": "JSON_STORAGE_SIZE is not as predicted",
    "free": "JSON_STORAGE_FREE is not as predicted",
    "text": "the document's text is not as predicted",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateCheck:
    """One check over blocks of updates: the kinds of mismatch it answers for, and its rule."""

    id: str
    kinds: frozenset[str]
    requirements: tuple[str, ...]
    verdict: Verdict  # of a mismatch: fail has a worklog behind it, differs was only observed


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
            recorded = captured_blocks(lab.settings.recorded)
            whole = _at_least(recorded, total)
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
            _record(self._checks[item.id], result, item, first=item.id == "updates/event-bytes")


def _updates(block: BlockResult) -> int:
    """The updates of a block: those compared, and those given up."""
    return block.judgement.updates + block.judgement.marked


def _at_least(recorded: list[BlockResult], updates: int) -> list[BlockResult]:
    """The first of the recorded blocks, each of them whole, that have so many updates together: all, if they have
    fewer."""
    before = accumulate(map(_updates, recorded), initial=0)
    return [block for block, done in zip(recorded, before, strict=False) if done < updates]


def _hold_against_the_plan(result: BlockResult, number: int, size: int) -> None:
    """Raise where a block is another one than the plan's next, or has fewer updates."""
    judged = _updates(result)
    if result.number != number or judged < size:
        got = f"block {result.number} with {judged} updates"
        raise CampaignFailed(f"the plan has block {number} with {size} updates, and {got} came")


def record_updates(check: Check, result: BlockResult, items: Iterable[UpdateCheck]) -> None:
    """Write the records of one block: a verdict for each failure, then counts for each kind of mismatch."""
    for item in items:
        _record(check.named(item.id, *item.requirements), result, item)


def _record(check: Check, result: BlockResult, item: UpdateCheck, *, first: bool = False) -> None:
    judgement = result.judgement
    mismatches = [m for m in (*judgement.mismatches, *result.faults.found) if m.kind in item.kinds]
    with check.block(result.number, cases=max(judgement.updates, len(mismatches)), seconds=0.0) as block:
        block.compared(
            texts_compared=judgement.texts if "text" in item.kinds else 0,
            sizes_compared=judgement.sizes if "size" in item.kinds else 0,
        )
        if first:  # counts that all checks of a block share
            check.clock_was_set(judgement.clock_step, result.number)
            if result.unsettled:
                words = f"nothing but times was wrong in the first {result.unsettled} of {result.unsettled + 1} tries"
                check.notice("clock-unsettled", f"block {result.number}: {words}; the last one was judged")
            block.seconds = result.seconds
            block.compared(
                updates_compared=judgement.updates,
                updates_given_up=judgement.marked,
                bytes_compared=judgement.bytes,
                bytes_predicted=judgement.predicted,
                bytes_by_rule=judgement.by_rule,
                bytes_on_trust=judgement.on_trust,
                census=dict(result.census),
                digest=result.digest,
            )
        for mismatch in mismatches:
            entry = None if mismatch.deviation is None else check.lab.listed(switch=mismatch.deviation)
            # What the worklog leaves free is a difference, whatever the check.
            verdict = item.verdict if mismatch.variation is None else Verdict.DIFFERS
            deviation = None if entry is None else entry.id
            message = mismatch.message or _KINDS[mismatch.kind]
            block.count(verdict, deviation=deviation, reason=message, broken=mismatch.broken)
            _show(block, item, result, mismatch, verdict, message, deviation)


def signature(check: str, mismatch: Mismatch) -> str:
    """The signature of a mismatch: check, kind, and the first differing field without its numbers."""
    field = "".join("#" if char.isdigit() else char for char in mismatch.field)
    return f"{check}:{mismatch.kind}:{field}"


def _show(
    block: BlockRecord,
    item: UpdateCheck,
    result: BlockResult,
    mismatch: Mismatch,
    verdict: Verdict,
    message: str,
    deviation: str | None,
) -> None:
    """Write the verdict of one mismatch, its bytes side by side; the first of its kind becomes a finding."""
    lab = block.check.lab
    name = signature(item.id, mismatch)
    if deviation:  # apart, so that a listed deviation hides no failure of the same kind
        name = f"{name}:{mismatch.deviation}"
    if not lab.findings.shows(item.id, name):
        return
    case = result.case
    stored = StoredCase(result.case_id or f"block {result.number}") if case is None else lab.findings.store(case)
    statement = result.statements_sql.get(mismatch.step) if mismatch.step is not None else None
    block.show(
        verdict,
        field=mismatch.field,
        offset=mismatch.offset,
        expected=mismatch.expected,
        got=mismatch.got,
        message=message,
        signature=signature(item.id, mismatch),
        statements=(statement,) if statement else (),
        evidence=tuple(Evidence(field=part.field, expected=part.expected, got=part.got) for part in mismatch.evidence),
        deviation=deviation,
        broken=mismatch.broken,
        **stored.fields,
    )
    if deviation or case is None:
        return
    shrink = None
    if lab.server is not None:
        refused = mismatch.field.startswith(REFUSED)
        shrink = partial(shrink_live, lab.server, case, item.kinds, mismatch.deviation, refused=refused)
    block.find(
        name,
        stored,
        shrink,
        message=mismatch.message or mismatch.field,
        **({"requirement": mismatch.broken[0]} if mismatch.broken else {}),
    )
