"""FR15: what the feature costs in instructions, on a source and on a replica (profile ``soak`` only: it takes an hour).

Instructions of the threads that do the work stand for throughput: the clock of a shared machine cannot show two per
cent (requirements FR15, requirements FR16). Instructions leave out waiting: the writes that the log saves do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.costs import throughput
from conformance.checks.costs.throughput_judge import BOUND, judge_ratios
from conformance.servers.run.callgrind import missing_programs
from conformance.servers.run.process import ProcessServer
from conformance.verdict import Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.harness.check import Check

_SIDES: Final[dict[str, Callable[..., throughput.Source | throughput.Replica]]] = {
    "source": throughput.Source,
    "replica": throughput.Replica,
}


@pytest.mark.check("instructions")
@pytest.mark.parametrize("side", list(_SIDES))
def test_instructions(check: Check, side: str) -> None:
    """The median ratio of instructions, option on to off, is at most 1.02 for each workload and image."""
    server = check.lab.server
    if not isinstance(server, ProcessServer):
        check.skip("needs a server that the lab itself starts as a process: instructions are counted")
    missing = missing_programs()
    if missing is not None:
        check.skip(missing)
    check = check.part(side)
    draw = Stream("throughput", check.seed)
    total = len(throughput.WORKLOADS) * throughput.PAIRS
    with _SIDES[side](server.installation, draw.fork("table"), check.narrate) as counting:
        for number, workload in enumerate(throughput.WORKLOADS):
            with check.block(number) as block:
                ratios = []
                for on, off in throughput.ratios(counting, draw.fork(number), workload):
                    ratios.append(on / off)
                    check.progress(number * throughput.PAIRS + len(ratios), total, "pairs", note=f"{ratios[-1]:.4f}")
                judged = judge_ratios(ratios)
                check.narrate(f"{check.id}: {workload}: instructions on / off: {judged}")
                verdict = Verdict(judged.verdict)
                block.cases = len(ratios) * throughput.UPDATES
                block.judged(  # of a pass as well: the figures are what the run is for
                    verdict,
                    _message(verdict),
                    field=f"instructions, on / off: {workload}",
                    expected=f"a median ratio of at most {BOUND}, shown by its interval",
                    got=str(judged),
                    signature=f"{check.id}:{workload}:{verdict}",
                )


def _message(verdict: Verdict) -> str:
    if verdict is Verdict.FAIL:
        return "updates take more instructions with the option on than 2 % allow"
    if verdict is Verdict.INCONCLUSIVE:
        return "the spread is too wide, or the bound too near, to tell"
    return "counted instructions of the threads that do the work"
