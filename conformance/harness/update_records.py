"""Judged blocks of generated updates as records: each kind of mismatch is a check of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from conformance.harness.findings import StoredCase
from conformance.harness.shrinking import shrink_live
from conformance.judge.updates.compare import REFUSED
from conformance.stream import Evidence
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.harness.check import Check
    from conformance.harness.recorder import BlockRecord
    from conformance.harness.updates.blocks import BlockResult
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


def record_updates(check: Check, result: BlockResult, items: Iterable[UpdateCheck]) -> None:
    """Write the records of one block: a verdict for each failure, then counts for each kind of mismatch."""
    for item in items:
        record_block(check.named(item.id, *item.requirements), result, item)


def record_block(check: Check, result: BlockResult, item: UpdateCheck, *, first: bool = False) -> None:
    """Write the records of one block for one check. ``first``: with the counts that all checks of a block share."""
    judgement = result.judgement
    mismatches = [m for m in (*judgement.mismatches, *result.faults.found) if m.kind in item.kinds]
    with check.block(result.number, cases=max(judgement.updates, len(mismatches)), seconds=0.0) as block:
        block.compared(
            texts_compared=judgement.texts if "text" in item.kinds else 0,
            sizes_compared=judgement.sizes if "size" in item.kinds else 0,
        )
        if first:
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
