"""Cases to a subject, its answers to the judge, and the verdicts to the result stream: one for each Case."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.decoders.accusations.proof import prove
from conformance.checks.decoders.accusations.records import name_of, told
from conformance.checks.decoders.causes.clusters import clusters_of
from conformance.checks.decoders.defects import defects_of, headline, sentence
from conformance.checks.decoders.findings import DecoderFinding, directory_of, write_report
from conformance.checks.decoders.known_issues import issues_of
from conformance.checks.decoders.log_bytes import log_bytes
from conformance.harness.decoders import subject_record
from conformance.harness.findings import StoredCase
from conformance.judge.decoding.fitting import DATA_FILES, DECODERS, protocol_beside
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.stream import CaseInfo, Suite
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.cases.decoder_case import DecoderCase
    from conformance.checks.decoders.accusations.proof import Proof
    from conformance.checks.decoders.defects import Defect
    from conformance.checks.decoders.suite import Suite as CaseSuite
    from conformance.harness.check import Check
    from conformance.harness.decoders import JudgedCase
    from conformance.harness.recorder import BlockRecord
    from conformance.stream import Subject

FINDINGS: Final = "findings"  # in the report's directory
GROUP: Final = "shrunk"  # of the Cases that a run makes itself
_STDERR: Final = 2_000  # characters in a record


def requirements_of(named: Iterable[str]) -> tuple[str, ...]:
    """Return a Case's requirements about subjects, and that of the protocol, which every Case is about."""
    own = list(filter(about_subjects, named))
    return tuple(dict.fromkeys([*own, protocol_beside(own)]))


def about_subjects(requirement: str) -> bool:
    """Whether a requirement is about decoders or readers of data files."""
    return requirement.startswith((DECODERS, DATA_FILES))


def _tell(check: Check, suite: CaseSuite) -> None:
    """Write the records about a suite and about public reports on the subject, before its first Case."""
    if not check.lab.findings.first(f"decoders: {suite.name}"):
        return
    check.write(Suite(version=suite.version, digest=suite.digest, cases=len(suite.cases), name=suite.name))
    if not check.lab.findings.first("decoders: issues"):
        return
    for issue in issues_of({check.subject, check.lab.decoder.hello.name}):
        check.write(issue)


def judge_cases(check: Check, cases: Sequence[DecoderCase], suite: CaseSuite | None = None) -> None:
    """Judge the subject's answers to some Cases; only those about the requirements that the user asked for.

    Nothing is said of Cases for another role than the subject's: they are not judged.
    """
    asked = check.lab.settings.requirements
    subject = check.lab.decoder
    cases = [case for case in cases if case.role in subject.hello.roles]
    if not cases:
        return
    if suite is not None:
        _tell(check, suite)
    chosen = [case for case in cases if not asked or not asked.isdisjoint(requirements_of(case.requirements))]
    with check.block(cases=None) as block:
        for number, case in enumerate(chosen, 1):
            check.write(info_of(case))
            judged = subject.judge(case)
            record_case(block, case, judged, subject.replay(case), subject.spec)
            subject.judged.append((case, judged))
            check.progress(number, len(chosen), "logs", label=f"{check.subject}: {check.id}", note=case.id)


def info_of(case: DecoderCase) -> CaseInfo:
    """The Case as the result stream has it."""
    return CaseInfo(
        id=case.id,
        title=case.title,
        why=case.why,
        group=case.group,
        requirements=requirements_of(case.requirements),
        rev=case.rev,
        size=len(case.log),
        server_version=case.server_version,
    )


def record_case(block: BlockRecord, case: DecoderCase, judged: JudgedCase, replay: str, spec: str) -> None:
    """Count and show the verdict on one Case, as far as it may be said of the subject's program."""
    judgement, answer = judged.judgement, judged.answer
    if judgement is None:
        block.count(judged.verdict, broken=requirements_of(case.requirements))
        block.show(
            judged.verdict, case=case.id, requirement=requirements_of(case.requirements)[0], message=judged.reason
        )
        return
    about = told(spec, case.id, judgement)
    block.count(about.verdict, reason=f"{case.id}: {about.message}", broken=(judgement.requirement,))
    calm = judgement.verdict in (Verdict.PASS, Verdict.NOT_APPLICABLE)
    first = judgement.differences[0] if judgement.differences else None
    block.show(
        about.verdict,
        case=case.id,
        requirement=judgement.requirement,
        field=first.place if first else None,
        expected=_text(first.expected) if first else None,
        got=_text(first.got) if first else None,
        offset=first.position if first else None,
        kind=first.kind if first else "",
        message=about.message,
        program=about.program,
        proof=about.state,
        signature=judgement.signature or None,
        level=str(judgement.level) if judgement.level else "",
        error=answer.error or "; ".join(mark.message for mark in answer.marks),
        stderr="" if calm else answer.stderr[-_STDERR:],
        replay=None if calm else replay,
        evidence=log_bytes(case, first) if first and not calm else (),
    )


def _text(value: Any) -> str | None:
    """A value of a difference as text."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def find_defects(check: Check) -> None:
    """Store each distinct defect of the Cases judged so far with a log as small as it can be made.

    The findings stay in the report's directory. Each failing Case counts for one of them. Among them are defects that
    Cases show only behind another one.
    """
    lab, subject = check.lab, check.lab.decoder
    clusters = clusters_of(subject.judged)
    if lab.findings.cases is None or not clusters:
        return
    root = lab.findings.cases.parent / FINDINGS
    record = subject_record(check.subject, lab.settings.subject, subject.hello)
    for number, defect in enumerate(defects_of(subject, clusters, seconds=check.size()), 1):
        cluster = defect.cluster
        check.progress(number, len(clusters), "defects", label=f"{check.subject}: {check.id}", note=cluster.name)
        directory = directory_of(root, record, cluster.name)
        proof = _proof(lab.settings.subject, defect)
        write_report(root, _finding(record, defect, proof))
        check.found(
            cluster.name,
            StoredCase(
                defect.first.id if cluster.cases else f"{GROUP}/{directory.name}",
                directory,
                lab.findings.replay_of(directory),
            ),
            requirement=cluster.requirement,
            size_before=defect.size_before,
            size_after=len(defect.case.log),
            hits=len(cluster.cases) + cluster.behind,
            cases=tuple(one.case.id for one in cluster.cases),
            behind=cluster.behind,
            message=headline(defect),
            reason=cluster.reason,
            detail=sentence(defect),
            why=cluster.why,
            program=proof.program if proof else "",
            proof=proof.state if proof else "",
            **({} if cluster.cases else _alone(defect, proof)),
        )


def _proof(spec: str, defect: Defect) -> Proof | None:
    """Return a script's proof of a built-in subject's defect; ``None`` for a subject with an adapter of its own."""
    name = name_of(spec)
    return prove(name, defect.case, defect.judgement, defect.signature) if name else None


def _alone(defect: Defect, proof: Proof | None) -> dict[str, Any]:
    """The facts about a defect that has no Case of its own in the stream."""
    found = defect.difference
    verdict = defect.judgement.verdict if proof is None or proof.holds else Verdict.INCONCLUSIVE
    facts: dict[str, Any] = {"verdict": verdict, "title": defect.case.title}
    if found is None:
        return facts
    return {**facts, "kind": found.kind, "field": found.place, "expected": found.expected, "got": found.got}


def _finding(record: Subject, defect: Defect, proof: Proof | None) -> DecoderFinding:
    answer = defect.judged.answer
    return DecoderFinding(
        subject=record,
        signature=defect.cluster.name,
        verdict=defect.cluster.verdict,
        requirement=defect.cluster.requirement,
        statement=REQUIREMENTS[defect.cluster.requirement].statement,
        case=defect.case,
        first=defect.first,
        cases=len(defect.cluster.cases),
        behind=defect.cluster.behind,
        reason=defect.cluster.reason,
        why=defect.cluster.why,
        title=headline(defect),
        difference=defect.difference,
        changes=answer.changes,
        error=answer.error or "; ".join(mark.message for mark in answer.marks),
        stderr=answer.stderr[-_STDERR:],
        issues=[
            issue
            for issue in issues_of({record.id, record.name})
            if defect.cluster.requirement in issue.requirements
            or any(defect.signature.startswith(part) for part in issue.signatures)
        ],
        size_before=defect.size_before,
        sentence=sentence(defect),
        expected=defect.expected,
        resolved=defect.resolved,
        program=proof.program if proof else "",
        proof=proof.state if proof else "",
        script=proof.script if proof else "",
        said=proof.said if proof else "",
    )
