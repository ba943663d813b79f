"""LLD17: a server that applies an event takes no more memory for diffs the more rows the event has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.costs import allocations, value_memory
from conformance.checks.costs.check_allocations import NO_COUNT, counting
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.check import Check


@pytest.mark.check("value-memory")
def test_memory_of_diffs_is_freed_for_each_value(check: Check) -> None:
    """The high-water mark of memory/sql/JSON is the same over two rows and over many."""
    check.needs_started_server("a server: events are applied in one, and their memory is counted")
    with counting(check) as server, server.connect() as writer, server.schema(writer) as schema:
        if not allocations.counts_allocations(writer):
            check.skip(NO_COUNT)
        capture = server.capture()
        for number in check.blocks():
            made = value_memory.plan(Stream("value-memory", check.seed, number))
            with check.block(number, cases=made.rows) as block:
                few, many = (
                    value_memory.measure(server, writer, capture, schema, made, rows)
                    for rows in (value_memory.FEW, made.rows)
                )
                problems = value_memory.judge(few, many)
                block.differs(*problems)
                if not problems and not value_memory.shows(made, few, many):
                    block.inconclusive("the count does not show the diffs of each row")
        capture.close()
