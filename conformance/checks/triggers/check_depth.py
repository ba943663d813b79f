"""IP3: no update makes a document deeper than 100 levels, on the tree or in place; FR4: no replica stops at one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.topology import RebuiltRows, Topology
from conformance.cases.update_case import Hazard
from conformance.checks.triggers import depth
from conformance.checks.triggers import run as triggers
from conformance.harness.pairs.records import PairRecords
from conformance.harness.pairs.run import REPLICAS, PairRun
from conformance.harness.update_records import UpdateCheck, record_updates
from conformance.harness.updates.run import server_limits
from conformance.verdict import Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.check import Check

_CHECK: Final = UpdateCheck(
    id="triggers/depth",
    kinds=frozenset(("event", "events", "outcome", "decode", "apply", "size", "free", "text")),
    requirements=("IP3",),
    verdict=Verdict.FAIL,
)


@pytest.mark.check("depth")
def test_nesting_is_limited(check: Check) -> None:
    """The server refuses a result deeper than 100 levels and keeps the row; it can read a result of 100 levels."""
    server = check.needs_server("a server: documents of the greatest depth are not among the recorded captures")
    check.needs_leave(Hazard.CORRUPTS_ROW, "may leave a row that cannot be read")
    cases = (depth.case(Stream("depth", check.seed, number)) for number in check.blocks())
    for result in triggers.run(server, cases):
        record_updates(check, result, (_CHECK,))


@pytest.mark.check("depth-replica")
def test_replica_without_the_room(check: Check) -> None:
    """A replica with the same document goes on, also where it cannot update in place as its source did."""
    records = PairRecords(check)
    replica = REPLICAS[0]
    with check.lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
        limits = server_limits(pair.source)
        pair.configure(replica.variables())
        topology = Topology(gtid=True, replicas=(replica,), rebuild=RebuiltRows(after=1, make="copied"))
        for number in check.blocks():
            case = replace(depth.without_room(Stream("depth-on-pair", check.seed, number)), topology=topology)
            script = limits.script(case)
            block = run.block(script)
            run.ready = not block.broken
            records.add(script, block, "a replica without the room", run=run)
            if not run.ready:
                run.restart()
    records.conclude()
