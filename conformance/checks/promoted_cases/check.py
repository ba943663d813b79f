"""One item for each requirement that a promoted Case names first, so that ``-r`` selects among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.files import dump_case
from conformance.harness.needs.listed import lacking, rights_of
from conformance.harness.promoted import promoted
from conformance.harness.replay import replay_case
from conformance.replay_word import Word
from conformance.requirements.versions import applies
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.cases.files import AnyCase
    from conformance.harness.check import Check
    from conformance.harness.recorder import BlockRecord
    from conformance.harness.replay import ReplayOutcome

_REQUIREMENTS: Final = dict.fromkeys(case.requirements[0] for case, _ in promoted())
_VERDICTS: Final = {
    Word.PASS: Verdict.PASS,
    Word.DEVIATES: Verdict.DEVIATES,
    Word.FAILED: Verdict.FAIL,
    Word.DIED: Verdict.CRASH,
    Word.ERROR: Verdict.NOT_RUN,
}


@pytest.mark.check("cases")
@pytest.mark.parametrize("requirement", [pytest.param(name, marks=pytest.mark.judges(name)) for name in _REQUIREMENTS])
def test_promoted_cases(check: Check, requirement: str) -> None:
    """Every promoted Case of the kit and of the user ends as it must."""
    server = check.needs_server("a server: promoted Cases are run, not recorded")
    lab = check.lab
    entries = [entry for entry in lab.deviations if applies(entry.versions, lab.version)]
    for number, (case, _) in enumerate(promoted()):
        if case.requirements[0] != requirement:
            continue
        if str(case.hazard) != "none" and case.hazard not in server.hazards():
            check.not_applicable(f"needs leave, --allow {case.hazard}: {case.id} has this hazard", requirement)
            continue
        if not server.started_by_us and (missing := lacking(lab.questions, rights_of(case))):
            check.not_applicable(missing, requirement)
            continue
        with check.block(number, cases=1, requirements=case.requirements) as block:
            replay = replay_case(server, case, entries, pairs=lab.pairs(), injector=lab.injector)
            _record(check, block, case, replay)


def _record(check: Check, block: BlockRecord, case: AnyCase, replay: ReplayOutcome) -> None:
    """Record the verdict of one Case; a Case that does not end as it must is stored."""
    verdict = _VERDICTS[replay.word]
    deviation = replay.deviations[0] if replay.deviations else None
    block.count(verdict, deviation=deviation, reason=f"{case.id} does not end as it must")
    if replay.word in (Word.PASS, Word.DEVIATES):
        return
    stored = check.lab.findings.store(dump_case(case))
    block.show(
        verdict,
        field=case.id,
        expected="what the Case says, or a listed deviation",
        got="\n".join(replay.lines),
        message=replay.lines[0] if replay.lines else "",
        signature=f"{block.check.id}:{case.id}",
        **stored.fields,
    )
