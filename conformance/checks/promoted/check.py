"""Cases that were promoted from findings, each judged once more in every run.

One item for each requirement that stands first in such a Case, so that ``-r`` selects among them as among other checks.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.files import dump_case
from conformance.harness.promoted import promoted
from conformance.harness.replay import Word, replay_case
from conformance.requirements.versions import applies
from conformance.stream import Block, CaseVerdict, Verdict

if TYPE_CHECKING:
    from conformance.cases.files import AnyCase
    from conformance.harness.lab import Lab
    from conformance.harness.replay import ReplayOutcome

_CHECK: Final = "promoted/cases"


_REQUIREMENTS: Final = dict.fromkeys(case.requirements[0] for case, _ in promoted())


@pytest.mark.parametrize(
    "requirement", [pytest.param(name, marks=pytest.mark.requirement(name)) for name in _REQUIREMENTS]
)
def test_promoted_cases(lab: Lab, requirement: str) -> None:
    """Every promoted Case of the kit, and every one of the user's own, ends as it must."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: promoted Cases are run, not recorded")
    entries = [entry for entry in lab.deviations if applies(entry.versions, lab.version)]
    wrong = 0
    for number, (case, _) in enumerate(promoted()):
        if case.requirements[0] != requirement:
            continue
        if str(case.hazard) != "none" and case.hazard not in server.hazards():
            leave = f"{case.id} has hazard {case.hazard}: give leave with --allow {case.hazard}"
            lab.not_applicable(_CHECK, case.requirements[0], leave)
            continue
        begun = time.perf_counter()
        again = replay_case(server, case, entries, pairs=lab.pairs(), injector=lab.injector)
        wrong += _record(lab, case, number, again, time.perf_counter() - begun)
    if wrong:
        pytest.fail(f"{wrong} promoted Cases do not end as they must; see the report", pytrace=False)


def _record(lab: Lab, case: AnyCase, number: int, again: ReplayOutcome, seconds: float) -> bool:
    """The records of one Case; whether it failed."""
    verdict = {Word.FIXED: Verdict.PASS, Word.FAILED: Verdict.FAIL, Word.ERROR: Verdict.NOT_RUN}[again.word]
    if verdict is not Verdict.PASS:
        stored = lab.store(dump_case(case))
        lab.sink(
            CaseVerdict(
                case=case.id,
                requirement=case.requirements[0],
                verdict=verdict,
                subject=lab.subject,
                check=_CHECK,
                block=number,
                field=case.id,
                expected="what the Case says, or a listed deviation",
                got="\n".join(again.lines),
                message=again.lines[0] if again.lines else "",
                signature=f"{_CHECK}:{case.id}",
                replay=None if stored is None else lab.replay_of(stored),
                case_file=None if stored is None else str(stored),
            )
        )
    listed = bool(again.deviations)
    lab.sink(
        Block(
            check=_CHECK,
            subject=lab.subject,
            requirements=case.requirements,
            block=number,
            cases=1,
            verdicts={} if listed else {str(verdict): 1},
            mismatches=int(verdict is Verdict.FAIL),
            deviating=int(listed),
            deviations=dict.fromkeys(again.deviations[:1], 1),
            seconds=seconds,
        )
    )
    return verdict is Verdict.FAIL
