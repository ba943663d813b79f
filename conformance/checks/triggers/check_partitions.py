"""F3 of partitioned tables: each row event names the partition of its rows, and an update event also their old
partition.

The model predicts both numbers from the definition of the table, and compares them with the rest of the event byte for
byte. Most updates move rows: a statement then leaves an event for each run of rows between the same two partitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.triggers import partitions
from conformance.checks.triggers import run as triggers
from conformance.harness.update_records import UpdateCheck, record_updates
from conformance.verdict import Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.check import Check

CHECKS: Final = (
    UpdateCheck(
        id="triggers/partitions/event-bytes",
        kinds=frozenset(("event", "events", "outcome", "decode", "apply")),
        requirements=("F3",),
        verdict=Verdict.FAIL,
    ),
    UpdateCheck(
        id="triggers/partitions/rows",
        kinds=frozenset(("size", "free", "text")),
        requirements=("IP1",),
        verdict=Verdict.DIFFERS,
    ),
)


@pytest.mark.check("partitions")
def test_partitions(check: Check) -> None:
    """The extra data of every row event and the moved rows are as predicted."""
    server = check.needs_server("a server: partitioned tables are not among the recorded captures")
    dialect = check.lab.dialect
    if not dialect.log.partition_chunk:
        check.part("event-bytes").leave_out("needs row events that name partitions: this version writes none", "F3")
    cases = (partitions.case(Stream("partitions", check.seed, number), number, dialect) for number in check.blocks())
    for result in triggers.run(server, cases):
        record_updates(check, result, CHECKS)
