"""A BEFORE UPDATE trigger that changes a JSON column: the log holds its change (D13, FR2), and so does the row (D15).

Generated triggers and SET clauses, with documents inside the row and outside it; and on a real pair, whose replica
must hold what its source holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.script import build_script
from conformance.cases.update_case import Hazard
from conformance.checks.triggers import generate as triggers
from conformance.checks.triggers import run as run_triggers
from conformance.harness.campaign import server_limits
from conformance.harness.pairs.records import PairRecords
from conformance.harness.pairs.run import REPLICAS, PairRun
from conformance.reference.partial.update import OFF_PAGE
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.cases.script import Script
    from conformance.cases.update_case import UpdateCase
    from conformance.harness.lab import Lab, UpdateCheck

_IN_ROW: Final = {"quick": 40, "full": 400, "soak": 4000}  # Cases of eight updates
_OFF_PAGE: Final = {"quick": 100, "full": 1200, "soak": 10_000}  # Cases of one update
_ON_PAIR: Final = {"quick": 8, "full": 130, "soak": 500}  # Cases of eight updates


@pytest.mark.requirement("D13", "D15")
def test_documents_inside_the_row(lab: Lab) -> None:
    """What is logged and what is stored is what the SET clause and then the trigger made of the row."""
    cases = (triggers.case(Stream("triggers", lab.settings.seed, n)) for n in range(_IN_ROW[lab.settings.profile]))
    _judge(lab, cases, run_triggers.IN_ROW)


@pytest.mark.requirement("D13", "D15")
def test_documents_outside_the_row(lab: Lab) -> None:
    """The same of documents that the engine can change in their pages."""
    if lab.server is not None and str(Hazard.CORRUPTS_ROW) not in lab.server.hazards():
        for requirement in ("D13", "D15"):
            lab.not_applicable(
                "triggers/off-page", requirement, "may corrupt a row: give leave with --allow corrupts-row"
            )
        return
    count = _OFF_PAGE[lab.settings.profile]
    cases = (triggers.off_page(Stream("triggers-off-page", lab.settings.seed, n)) for n in range(count))
    _judge(lab, cases, run_triggers.OFF_PAGE)


def _judge(lab: Lab, cases: Iterator[UpdateCase], checks: tuple[UpdateCheck, ...]) -> None:
    server = lab.server
    if server is None:
        pytest.skip("needs a server: updates with triggers are not among the recorded captures")
    for result in run_triggers.run(server, cases):
        lab.record_block(result, checks)
    failed = sum(lab.failed[check.id] for check in checks)
    if failed:
        pytest.fail(f"{failed} cases failed; see the report", pytrace=False)


@pytest.mark.requirement("FR2")
def test_replica_of_a_table_with_a_trigger(lab: Lab) -> None:
    """A replica holds what its source holds: the trigger does not fire on it, so the log must tell."""
    records = PairRecords(lab=lab, check="triggers/replica", requirement="FR2")
    with lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
        limits = server_limits(pair.source)
        pair.configure(REPLICAS[0].variables())
        for number in range(_ON_PAIR[lab.settings.profile]):
            case = triggers.case(Stream("triggers-on-pair", lab.settings.seed, number))
            script = build_script(case, row_metadata=limits.row_metadata, row_event_max_size=limits.row_event_max_size)
            if not _inside(script):
                continue
            block = run.block(script)
            records.add(script, block, "a table with a trigger")
            if block.broken:
                run.restart()
    records.conclude()


def _inside(script: Script) -> bool:
    """Whether no row grows until its documents leave it: the source itself would lose them (D15, judged apart)."""
    rows = [row.change.after for prediction in script.predictions for row in prediction.rows]
    return all(sum(len(value) for value in row.values() if isinstance(value, bytes)) < OFF_PAGE // 2 for row in rows)
