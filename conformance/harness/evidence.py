"""A mismatch as a record of the stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.stream import CaseVerdict, Evidence, Verdict

if TYPE_CHECKING:
    from conformance.harness.blocks import BlockResult
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


def signature(check: str, mismatch: Mismatch) -> str:
    """Which mismatches are the same failure: check, kind, and the first differing field without its numbers."""
    field = "".join("#" if char.isdigit() else char for char in mismatch.field)
    return f"{check}:{mismatch.kind}:{field}"


def case_verdict(
    check: str,
    requirement: str,
    verdict: Verdict,
    subject: str,
    result: BlockResult,
    mismatch: Mismatch,
    *,
    replay: str | None,
    case_file: str | None,
    deviation: str | None,
) -> CaseVerdict:
    """The record of one mismatch, its bytes side by side."""
    statement = result.statements_sql.get(mismatch.step) if mismatch.step is not None else None
    return CaseVerdict(
        case=result.case_id or f"block {result.number}",
        requirement=requirement,
        verdict=verdict,
        subject=subject,
        check=check,
        block=result.number,
        field=mismatch.field,
        offset=mismatch.offset,
        expected=mismatch.expected,
        got=mismatch.got,
        message=mismatch.message or _KINDS[mismatch.kind],
        signature=signature(check, mismatch),
        replay=replay,
        statements=(statement,) if statement else (),
        evidence=tuple(Evidence(field=item.field, expected=item.expected, got=item.got) for item in mismatch.evidence),
        deviation=deviation,
        case_file=case_file,
    )
