"""FR15: what the feature costs in instructions, on a source and on a replica (profile ``soak`` only: it takes an hour).

Instructions of the threads that do the work stand for throughput, because the clock of a shared machine cannot show two
per cent (requirements FR15, requirements FR16). They leave out waiting: what the log saves in writes is not counted for
it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.costs import throughput
from conformance.checks.costs.throughput_judge import BOUND, judge_ratios
from conformance.servers.run.callgrind import missing_programs
from conformance.servers.run.process import ProcessServer
from conformance.stream import Block, CaseVerdict, Progress, Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.harness.lab import Lab

_SIDES: Final[dict[str, Callable[..., throughput.Source | throughput.Replica]]] = {
    "source": throughput.Source,
    "replica": throughput.Replica,
}


@pytest.mark.requirement("FR15")
@pytest.mark.profile("soak")
@pytest.mark.parametrize("side", list(_SIDES))
def test_instructions(lab: Lab, side: str) -> None:
    """The median ratio of instructions, option on against off, is at most 1.02 for each kind of updates and images."""
    server = lab.server
    if not isinstance(server, ProcessServer):
        pytest.skip("instructions are counted only in a server that the lab itself starts as a process")
    missing = missing_programs()
    if missing is not None:
        pytest.skip(missing)
    check = f"throughput/{side}"
    draw = Stream("throughput", lab.settings.seed)
    failed = 0
    total = len(throughput.WORKLOADS) * throughput.PAIRS
    with _SIDES[side](server.installation, draw.fork("table"), lab.narrate) as counting:
        for block, workload in enumerate(throughput.WORKLOADS):
            begun = time.perf_counter()
            ratios = []
            for on, off in throughput.ratios(counting, draw.fork(block), workload):
                ratios.append(on / off)
                done = block * throughput.PAIRS + len(ratios)
                lab.sink(Progress(label=check, done=done, total=total, unit="pairs", note=f"{ratios[-1]:.4f}"))
            judged = judge_ratios(ratios)
            lab.narrate(f"{check}: {workload}: instructions on / off: {judged}")
            verdict = Verdict(judged.verdict)
            failed += verdict is Verdict.FAIL
            lab.sink(
                CaseVerdict(  # of a pass as well: the figures are what the run is for
                    case=f"{check}/{block}",
                    requirement="FR15",
                    verdict=verdict,
                    subject=lab.subject,
                    check=check,
                    block=block,
                    field=f"instructions, on / off: {workload}",
                    expected=f"a median ratio of at most {BOUND}, shown by its interval",
                    got=str(judged),
                    message=_message(verdict),
                    signature=f"{check}:{workload}:{verdict}",
                )
            )
            cases = len(ratios) * throughput.UPDATES
            lab.sink(
                Block(
                    check=check,
                    subject=lab.subject,
                    requirements=("FR15",),
                    block=block,
                    cases=cases,
                    verdicts={str(verdict): cases},
                    mismatches=cases if verdict is Verdict.FAIL else 0,
                    seconds=time.perf_counter() - begun,
                )
            )
    if failed:
        pytest.fail(f"{failed} series show more than 2 % more instructions with the option on", pytrace=False)


def _message(verdict: Verdict) -> str:
    if verdict is Verdict.FAIL:
        return "updates take more instructions with the option on than 2 % allow"
    if verdict is Verdict.INCONCLUSIVE:
        return "the spread is too wide, or the bound too near, to tell"
    return "counted instructions of the threads that do the work"
