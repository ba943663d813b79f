"""A BEFORE UPDATE trigger that changes a JSON column: the log holds its change (D13, FR2), and so does the row (D15).

The triggers and SET clauses are generated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.update_case import Hazard
from conformance.checks.triggers import generate as triggers
from conformance.checks.triggers import run as run_triggers
from conformance.harness.pairs.records import PairRecords
from conformance.harness.pairs.run import REPLICAS, PairRun
from conformance.harness.update_records import record_updates
from conformance.harness.updates.run import server_limits
from conformance.reference.partial.update import OFF_PAGE
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.cases.script import Script
    from conformance.harness.check import Check

_NEEDS: Final = "a server: updates with triggers are not among the recorded captures"


@pytest.mark.check("in-row")
def test_documents_inside_the_row(check: Check) -> None:
    """The server logs and stores what the SET clause and then the trigger make of the row."""
    server = check.needs_server(_NEEDS)
    cases = (triggers.case(Stream("triggers", check.seed, number)) for number in check.blocks())
    for result in run_triggers.run(server, cases):
        record_updates(check, result, run_triggers.IN_ROW)


@pytest.mark.check("off-page")
def test_documents_outside_the_row(check: Check) -> None:
    """The same holds for documents outside the row, which the engine can change in their pages."""
    server = check.needs_server(_NEEDS)
    check.needs_leave(Hazard.CORRUPTS_ROW, "may corrupt a row")
    cases = (triggers.off_page(Stream("triggers-off-page", check.seed, number)) for number in check.blocks())
    for result in run_triggers.run(server, cases):
        record_updates(check, result, run_triggers.OFF_PAGE)


@pytest.mark.check("replica")
def test_replica_of_a_table_with_a_trigger(check: Check) -> None:
    """A replica has its source's documents: the trigger does not fire there, so the log must have its change."""
    records = PairRecords(check)
    with check.lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
        limits = server_limits(pair.source)
        pair.configure(REPLICAS[0].variables())
        for number in check.blocks():
            case = triggers.case(Stream("triggers-on-pair", check.seed, number))
            script = limits.script(case)
            if not _inside(script):
                continue
            block = run.block(script)
            records.add(script, block, "a table with a trigger")
            if block.broken:
                run.restart()
    records.conclude()


def _inside(script: Script) -> bool:
    """Whether no row grows until its documents leave it: the source itself would lose them (D15 has a check of its
    own)."""
    rows = [row.change.after for prediction in script.predictions for row in prediction.rows]
    return all(sum(len(value) for value in row.values() if isinstance(value, bytes)) < OFF_PAGE // 2 for row in rows)
