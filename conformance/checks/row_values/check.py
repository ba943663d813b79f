"""The worklog's scenario 3: an external reader needs nothing but the log (WL#4618), and the encodings of values.

The check inserts, changes and deletes generated values of every column type and character set, with
binlog_row_metadata=FULL. A reader that gets only the events must find the names and values that SELECT shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.row_values.run import judge, offer, run_block
from conformance.harness.check import GUEST
from conformance.judge.problem import Problem
from conformance.servers.roles.variables import global_variable
from conformance.verdict import Verdict
from generators.draw import Stream
from generators.row_values import CHARSETS, SHAPES, shapes_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.checks.row_values.judge import Difference
    from conformance.checks.row_values.run import Observed
    from conformance.harness.check import Check
    from generators.row_values import Shape

_VARIABLE: Final = "binlog_row_metadata"


@pytest.mark.check("values")
def test_values_from_the_log_alone(check: Check) -> None:
    """A reader of the log alone finds the names and values of SELECT; row images encode to the event's bytes."""
    server = check.needs_server("a server: rows of every column type are not among the recorded captures")
    values, events = check.part("TMV1", "TMV1"), check.part("TMV2", "TMV2")
    if not server.started_by_us:
        values.not_applicable(GUEST)
        events.leave_out(GUEST)
    tables, rows = check.size("tables"), check.size("rows")
    draw = Stream("row-values", check.seed)
    told = 0
    seen: set[Shape] = set()
    with (
        global_variable(server, _VARIABLE, "FULL"),
        server.connect() as connection,
        server.schema(connection) as schema,
    ):
        capture = server.capture()
        offered = offer(connection, check.lab.questions)
        try:
            for number in range(tables):
                with values.block(number) as block:
                    observed = run_block(connection, capture, schema, draw.fork(number), number, rows, offered=offered)
                    judged = judge(observed)
                    block.cases = len(observed.inserted) + len(observed.changed)
                    block.compared(texts_compared=block.cases)
                    block.differs(*_problems(judged.values, observed, "the log tells another value than SELECT shows"))
                    told += block.cases
                events.record(
                    number,
                    _problems(judged.events, observed, "the values encode to another event"),
                    cases=judged.event_count,
                    verdict=Verdict.DIFFERS,
                )
                seen.update(shapes_of(number))
                check.progress(number + 1, tables, "tables", label="row values")
        finally:
            capture.close()
    check.narrate(
        f"row values: {told:,} rows with {len(seen)} of {len(set(SHAPES))} kinds of columns, "
        f"{len(CHARSETS)} character sets and binary: {check.failures.count} rows or events differ"
    )


def _problems(differences: Iterable[Difference], observed: Observed, message: str) -> list[Problem]:
    return [
        Problem(
            field=f"row {item.row}, {item.column or 'names'}",
            expected=item.expected,
            got=item.got,
            message=message,
            statements=_statements(observed, item),
        )
        for item in differences
    ]


def _statements(observed: Observed, item: Difference) -> tuple[str, ...]:
    """The table, and the statement that gave the row its last value."""
    create, insert, *updates = observed.statements
    return create, (updates[item.row] if item.row < len(updates) else insert)
