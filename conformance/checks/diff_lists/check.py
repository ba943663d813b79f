"""NR4: lists of diffs of any length. What the other non-requirements leave free is nothing to judge on a server; that
the judge demands none of it is for the kit's own tests.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import pytest

from conformance.harness.outcomes import Outcome, Problem, record
from conformance.harness.pairs.run import PairRun
from conformance.judge.updates.events import iter_events
from conformance.reference.binlog.rows import UPDATE_TYPES, RowsBody
from conformance.reference.partial.diffs import split_diffs
from conformance.reference.tables.columns import PartialJson
from conformance.servers.wire.groups import groups_of_thread
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.harness.lab import Lab

_CHECK: Final = "liberties/long-lists"
_LISTS: Final = {"quick": 60, "full": 1000, "soak": 1000}


def logged_lengths(events: Iterable[bytes]) -> list[int | None]:
    """How many diffs each row of the log has; ``None``: its document came whole."""
    return [
        next((len(split_diffs(value.diffs)) for value in row.after or () if isinstance(value, PartialJson)), None)
        for _, event, _ in iter_events(events)
        if event is not None and isinstance(event.body, RowsBody) and event.body.type in UPDATE_TYPES
        for row in event.body.rows
    ]


@pytest.mark.requirement("NR4")
def test_long_lists_of_diffs(lab: Lab) -> None:
    """Lists of a hundred diffs to a thousand are logged as they are, or the document is, and a replica applies them."""
    draw = Stream("long-lists", lab.settings.seed)
    count = _LISTS[lab.settings.profile]
    problems: list[Problem] = []
    lengths: list[int] = []
    begun = time.perf_counter()
    with lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
        capture = pair.source.capture()
        run.source.execute_many(
            [
                "SET SESSION sql_log_bin = 1, SESSION binlog_row_image = MINIMAL",
                "SET SESSION binlog_row_value_options = 'PARTIAL_JSON'",
                "CREATE TABLE longs (id INT PRIMARY KEY, j JSON)",
                "INSERT INTO longs VALUES (1, JSON_OBJECT('a', 1, 'b', 2, 'c', JSON_ARRAY(1, 2), 'p', 'p'))",
                "UPDATE longs SET j = JSON_SET(j, '$.p', REPEAT('p', 60000))",
            ]
        ).check()
        value = 10
        start = capture.mark(run.source)
        for number in range(count):
            part = draw.fork(number)
            changes = []
            for _ in range(100 + part.below(901)):
                value = 10 + (value - 9) % 30_000  # never the value that is there: such a diff stops a replica
                changes.append(f"'{part.choice(('$.a', '$.b', '$.c[0]', '$.c[1]'))}', {value}")
            run.source.execute(f"UPDATE longs SET j = JSON_SET(j, {', '.join(changes)}) WHERE id = 1")
            lengths.append(len(changes))
        events = capture.since(start, capture.mark(run.source)).events
        logged = logged_lengths(groups_of_thread(events, run.source.thread_id))
        run.catch_up()
        texts = [
            side.execute("SELECT SHA2(CAST(j AS CHAR), 256) FROM longs").scalar() for side in (run.source, run.replica)
        ]
        capture.close()
    if texts[0] != texts[1]:
        problems.append(
            Problem(
                field="the document after all lists",
                expected=str(texts[0]),
                got=str(texts[1]),
                message="a replica that applied long lists of diffs has another document",
            )
        )
    wrong = [(one, other) for one, other in zip(lengths, logged, strict=False) if other not in (None, one)]
    if wrong or len(lengths) != len(logged):
        problems.append(
            Problem(
                field="lists of diffs",
                expected=f"{len(lengths)} lists, as long as the statements make them",
                got=f"{len(logged)} lists, of other lengths {wrong[:5]}",
                message="a long list of diffs is not logged as it is",
            )
        )
    whole = sum(one == other for one, other in zip(lengths, logged, strict=False))
    lab.narrate(f"NR4: {whole} of {count} lists of up to {max(lengths)} diffs were logged as they are and applied")
    outcome = Outcome(
        check=_CHECK,
        requirement="NR4",
        block=0,
        cases=count,
        problems=problems,
        seconds=time.perf_counter() - begun,
    )
    if record(lab, outcome):
        pytest.fail("long lists of diffs are not logged or applied; see the report", pytrace=False)
