"""IP3: no update makes a document deeper than 100 levels, on the tree or in place; FR4: no replica stops at one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.script import build_script
from conformance.cases.topology import RebuiltRows, Topology
from conformance.cases.update_case import Hazard
from conformance.checks.triggers import depth
from conformance.checks.triggers import run as triggers
from conformance.harness.campaign import server_limits
from conformance.harness.lab import UpdateCheck
from conformance.harness.pairs.records import PairRecords
from conformance.harness.pairs.run import REPLICAS, PairRun
from conformance.stream import Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.lab import Lab

_ON_PAIR: Final = {"quick": 8, "full": 60, "soak": 500}  # Cases of two updates
_CASES: Final = {"quick": 60, "full": 1000, "soak": 10_000}  # of one update
_CHECK: Final = UpdateCheck(
    id="depth/updates",
    kinds=frozenset(("event", "events", "outcome", "decode", "apply", "size", "free", "text")),
    requirements=("IP3",),
    verdict=Verdict.FAIL,
)


@pytest.mark.requirement("IP3")
def test_nesting_is_limited(lab: Lab) -> None:
    """A result of 100 levels can be read; a deeper one is refused, and the row is as it was."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: documents of the greatest depth are not among the recorded captures")
    if str(Hazard.CORRUPTS_ROW) not in server.hazards():
        leave = "may leave a row that cannot be read: give leave with --allow corrupts-row"
        lab.not_applicable(_CHECK.id, "IP3", leave)
        return
    cases = (depth.case(Stream("depth", lab.settings.seed, number)) for number in range(_CASES[lab.settings.profile]))
    for result in triggers.run(server, cases):
        lab.record_block(result, (_CHECK,))
    if lab.failed[_CHECK.id]:
        pytest.fail(f"{lab.failed[_CHECK.id]} cases failed; see the report", pytrace=False)


@pytest.mark.requirement("FR4")
def test_replica_without_the_room(lab: Lab) -> None:
    """A replica with the same document goes on, also where it cannot do in place what its source did."""
    records = PairRecords(lab=lab, check="depth/replica", requirement="FR4")
    replica = REPLICAS[0]
    with lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
        limits = server_limits(pair.source)
        pair.configure(replica.variables())
        topology = Topology(gtid=True, replicas=(replica,), rebuild=RebuiltRows(after=1, make="copied"))
        for number in range(_ON_PAIR[lab.settings.profile]):
            case = replace(depth.without_room(Stream("depth-on-pair", lab.settings.seed, number)), topology=topology)
            script = build_script(case, row_metadata=limits.row_metadata, row_event_max_size=limits.row_event_max_size)
            block = run.block(script)
            run.ready = not block.broken
            records.add(script, block, "a replica without the room", run=run)
            if not run.ready:
                run.restart()
    records.conclude()
