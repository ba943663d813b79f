"""F3 of partitioned tables: each row event names the partition of its rows, and of updates where they came from.

Both numbers are foretold from the definition of the table, and compared with the rest of the event byte for byte. Most
updates move rows: a statement then leaves an event for each run of rows between the same two partitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.triggers import partitions
from conformance.checks.triggers import run as triggers
from conformance.harness.lab import UpdateCheck
from conformance.stream import Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.lab import Lab

_CASES: Final = {"quick": 24, "full": 480, "soak": 4_800}  # of six statements
CHECKS: Final = (
    UpdateCheck(
        id="partitions/event-bytes",
        kinds=frozenset(("event", "events", "outcome", "decode", "apply")),
        requirements=("F3",),
        verdict=Verdict.FAIL,
    ),
    UpdateCheck(
        id="partitions/rows", kinds=frozenset(("size", "free", "text")), requirements=("IP1",), verdict=Verdict.DIFFERS
    ),
)


@pytest.mark.requirement("F3", "IP1")
def test_partitions(lab: Lab) -> None:
    """The extra data of every row event is as foretold, and so are the rows that were moved."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: partitioned tables are not among the recorded captures")
    if not lab.dialect.log.partition_chunk:
        lab.not_applicable(CHECKS[0].id, "F3", "row events of this version do not name partitions")
        return
    cases = (
        partitions.case(Stream("partitions", lab.settings.seed, number), number)
        for number in range(_CASES[lab.settings.profile])
    )
    for result in triggers.run(server, cases):
        lab.record_block(result, CHECKS)
    failed = sum(lab.failed[check.id] for check in CHECKS)
    if failed:
        pytest.fail(f"{failed} cases failed; see the report", pytrace=False)
