"""The worklog's scenario 3: an external reader needs nothing but the log (WL#4618), and the value encodings behind it.

Generated values of every column type in every character set are inserted, changed and deleted on the server with
binlog_row_metadata=FULL; a reader that gets only the events must tell the names and values that SELECT shows.
"""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.row_values.run import judge, offer, run_block
from conformance.harness.outcomes import Outcome, Problem, record
from conformance.harness.sql_cases import GUEST
from conformance.servers.roles.variables import global_variable
from conformance.stream import Progress, Verdict
from generators.draw import Stream
from generators.row_values import CHARSETS, ROUND, SHAPES, shapes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.checks.row_values.judge import Difference
    from conformance.checks.row_values.run import Observed
    from conformance.harness.lab import Lab
    from generators.row_values import Shape

# Tables, and rows of each that are inserted and changed: each row has new values twice.
SCALE: Final = {"quick": (ROUND, 8), "full": (9 * ROUND, 40), "soak": (50 * ROUND, 80)}
_VARIABLE: Final = "binlog_row_metadata"
_REQUIREMENTS: Final = ("TMV1", "TMV2")


@pytest.mark.requirement(*_REQUIREMENTS)
def test_values_from_the_log_alone(lab: Lab) -> None:
    """Both images of every row tell the names and values that SELECT shows, and encode to the event's own bytes."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: rows of every column type are not among the recorded captures")
    if not server.started_by_us:
        for requirement in _REQUIREMENTS:
            lab.not_applicable(f"row-values/{requirement}", requirement, GUEST)
        return
    tables, rows = SCALE[lab.settings.profile]
    draw = Stream("row-values", lab.settings.seed)
    failed = told = 0
    seen: set[Shape] = set()
    with (
        global_variable(server, _VARIABLE, "FULL"),
        server.connect() as connection,
        server.schema(connection) as schema,
    ):
        capture = server.capture()
        offered = offer(connection, vectors=lab.dialect.log.vector_type)
        try:
            for number in range(tables):
                begun = time.perf_counter()
                observed = run_block(connection, capture, schema, draw.fork(number), number, rows, offered=offered)
                judged = judge(observed)
                seen.update(shapes_of(number))
                new = len(observed.inserted) + len(observed.changed)
                seconds = (time.perf_counter() - begun) / 2
                failed += _record(lab, "TMV1", number, new, judged.values, observed, seconds)
                failed += _record(lab, "TMV2", number, judged.event_count, judged.events, observed, seconds)
                told += new
                lab.sink(Progress(label="row values", done=number + 1, total=tables, unit="tables"))
        finally:
            capture.close()
    lab.narrate(
        f"row values: {told:,} rows with {len(seen)} of {len(set(SHAPES))} kinds of columns, "
        f"{len(CHARSETS)} character sets and binary: {failed} rows or events differ"
    )
    if failed:
        pytest.fail(f"{failed} rows or events are not what the log alone tells; see the report", pytrace=False)


def _record(
    lab: Lab,
    requirement: str,
    block: int,
    cases: int,
    differences: Sequence[Difference],
    observed: Observed,
    seconds: float,
) -> int:
    what = {"TMV1": "the log tells another value than SELECT shows", "TMV2": "the values encode to another event"}
    return record(
        lab,
        Outcome(
            check=f"row-values/{requirement}",
            requirement=requirement,
            block=block,
            cases=cases,
            problems=[
                Problem(
                    field=f"row {item.row}, {item.column or 'names'}",
                    expected=item.expected,
                    got=item.got,
                    message=what[requirement],
                    statements=_statements(observed, item),
                )
                for item in differences
            ],
            verdict=Verdict.FAIL if requirement == "TMV1" else Verdict.DIFFERS,
            replay=shlex.join(_again(lab, requirement)),
            texts=cases if requirement == "TMV1" else 0,
            seconds=seconds,
        ),
    )


def _again(lab: Lab, requirement: str) -> list[str]:
    """The same values again: they depend on the seed alone."""
    settings = lab.settings
    return ["binlog-lab", "conformance", "-r", requirement, "--profile", settings.profile, "--seed", settings.seed]


def _statements(observed: Observed, item: Difference) -> tuple[str, ...]:
    """The table, and the statement that gave the row its last value."""
    create, insert, *updates = observed.statements
    return create, (updates[item.row] if item.row < len(updates) else insert)
