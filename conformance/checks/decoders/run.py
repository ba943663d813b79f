"""Cases to a subject, its answers to the judge, and the verdicts to the result stream: one for each Case."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.decoders.known_issues import issues_of
from conformance.checks.decoders.log_bytes import log_bytes
from conformance.stream import CaseInfo, Suite, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.decoder_case import DecoderCase
    from conformance.harness.check import Check
    from conformance.harness.decoders import Judged, OpenedSubject
    from conformance.harness.recorder import BlockRecord

PROTOCOL: Final = "DEC23"  # each answer to a Case is in the form of the protocol, or is not
_STDERR: Final = 2_000  # characters in a record


def requirements_of(case: DecoderCase) -> tuple[str, ...]:
    """The requirements of decoders that a Case is about; every Case is about the protocol as well."""
    own = [name for name in case.requirements if name.startswith("DEC")]
    return tuple(dict.fromkeys([*own, PROTOCOL]))


def tell_suite(check: Check, version: str, digest: str, cases: int) -> None:
    """Write the records about the suite and about public reports on the subject, before its first Case."""
    if not check.lab.stored.first("decoders: suite"):
        return
    check.write(Suite(version=version, digest=digest, cases=cases))
    for issue in issues_of({check.subject, check.lab.decoder.hello.name}):
        check.write(issue)


def judge_cases(check: Check, cases: Sequence[DecoderCase]) -> None:
    """Judge the subject's answers to some Cases; only those about the requirements that the user asked for."""
    asked = check.lab.settings.requirements
    chosen = [case for case in cases if not asked or not asked.isdisjoint(requirements_of(case))]
    subject = check.lab.decoder
    with check.block(cases=None) as block:
        for number, case in enumerate(chosen, 1):
            check.write(_info(case))
            judged = subject.judge(case)
            _record(block, case, judged, subject)
            check.progress(number, len(chosen), "logs", label=f"{check.subject}: {check.id}", note=case.id)


def _info(case: DecoderCase) -> CaseInfo:
    return CaseInfo(
        id=case.id,
        title=case.title,
        why=case.why,
        group=case.group,
        requirements=requirements_of(case),
        rev=case.rev,
        size=len(case.log),
        server_version=case.server_version,
    )


def _record(block: BlockRecord, case: DecoderCase, judged: Judged, subject: OpenedSubject) -> None:
    judgement, answer = judged.judgement, judged.answer
    if judgement is None:
        block.count(judged.verdict)
        block.show(judged.verdict, case=case.id, requirement=requirements_of(case)[0], message=judged.reason)
        return
    block.count(judgement.verdict, reason=f"{case.id}: {judgement.message}")
    calm = judgement.verdict in (Verdict.PASS, Verdict.NOT_APPLICABLE)
    first = judgement.differences[0] if judgement.differences else None
    block.show(
        judgement.verdict,
        case=case.id,
        requirement=judgement.requirement,
        field=first.place if first else None,
        expected=_text(first.expected) if first else None,
        got=_text(first.got) if first else None,
        offset=first.position if first else None,
        kind=first.kind if first else "",
        message=judgement.message,
        signature=judgement.signature or None,
        level=str(judgement.level) if judgement.level else "",
        error=answer.error or "; ".join(mark.message for mark in answer.marks),
        stderr="" if calm else answer.stderr[-_STDERR:],
        replay=None if calm else subject.replay(case),
        evidence=log_bytes(case, first) if first and not calm else (),
    )


def _text(value: Any) -> str | None:
    """A value of a difference as text."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
