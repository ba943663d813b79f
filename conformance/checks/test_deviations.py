"""Every listed deviation is shown by its witness Case, in every run: an entry that no longer holds is an error."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from conformance.cases.files import load_case
from conformance.checks.shrinking import judge_live
from conformance.requirements.versions import applies
from conformance.stream import Block, CaseVerdict, Verdict

if TYPE_CHECKING:
    from conformance.checks.lab import Lab


@pytest.mark.requirement("FR2")
def test_witnesses(lab: Lab) -> None:
    """The witness of each deviation shows it, and nothing else."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: witnesses are run, not recorded")
    if not lab.deviations:
        pytest.skip("no deviations are listed (--no-deviations)")
    gone: list[str] = []
    for number, deviation in enumerate(lab.deviations):
        if deviation.witness is None or not applies(deviation.versions, lab.version):
            continue
        case = load_case(json.loads(deviation.witness))
        if case.hazard not in server.hazards():
            leave = f"the witness of {deviation.id} has hazard {case.hazard}: give leave with --allow {case.hazard}"
            lab.not_applicable("deviations/witness", deviation.requirements[0], leave)
            continue
        begun = time.perf_counter()
        result = judge_live(server, case)
        found = [*result.judgement.mismatches, *result.faults.found]
        shown = bool(found) and all(mismatch.deviation == deviation.switch for mismatch in found)
        if not shown:
            gone.append(deviation.id)
            lab.sink(
                CaseVerdict(
                    case=result.case_id,
                    requirement=deviation.requirements[0],
                    verdict=Verdict.FAIL,
                    subject=lab.subject,
                    check="deviations/witness",
                    block=number,
                    field=deviation.id,
                    expected=f"the deviation that the switch {deviation.switch} explains",
                    got="; ".join(
                        f"{mismatch.kind} {mismatch.field}: {mismatch.message or mismatch.got[:200]}"
                        for mismatch in found
                    )
                    or "no difference: unexpected pass",
                    message="the listed deviation is not shown by its witness",
                    signature=f"deviations/witness:{deviation.id}",
                )
            )
        lab.sink(
            Block(
                check="deviations/witness",
                subject=lab.subject,
                requirements=deviation.requirements,
                block=number,
                cases=1,
                verdicts={} if shown else {str(Verdict.FAIL): 1},
                mismatches=0 if shown else 1,
                deviating=1 if shown else 0,
                deviations={deviation.id: 1} if shown else {},
                seconds=time.perf_counter() - begun,
            )
        )
    if gone:
        pytest.fail(f"not shown by their witnesses: {', '.join(gone)}", pytrace=False)
