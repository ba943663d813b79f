"""NR4: a server logs lists of diffs of any length unchanged, and a replica applies them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.diff_lists.run import CREATE, assignments, logged_lengths
from conformance.harness.pairs.run import PairRun
from conformance.judge.problem import Problem
from conformance.servers.wire.groups import groups_of_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.harness.check import Check


@pytest.mark.check("liberties/long-lists", "NR4")
def test_long_lists_of_diffs(check: Check) -> None:
    """The server logs a list of 100 to 1000 diffs as it is, or the whole document, and a replica applies it."""
    with check.block(cases=check.size()) as block:
        lengths: list[int] = []
        with check.lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
            capture = pair.source.capture()
            run.source.execute_many(CREATE).check()
            start = capture.mark(run.source)
            for changes in assignments(check.seed, check.size()):
                run.source.execute(f"UPDATE longs SET j = JSON_SET(j, {', '.join(changes)}) WHERE id = 1")
                lengths.append(len(changes))
            events = capture.since(start, capture.mark(run.source)).events
            logged = logged_lengths(groups_of_thread(events, run.source.thread_id))
            run.catch_up()
            source, replica = (
                side.execute("SELECT SHA2(CAST(j AS CHAR), 256) FROM longs").scalar()
                for side in (run.source, run.replica)
            )
            capture.close()
        if source != replica:
            block.differs(
                Problem(
                    field="the document after all lists",
                    expected=str(source),
                    got=str(replica),
                    message="a replica that applied long lists of diffs has another document",
                )
            )
        block.differs(*compare_lengths(lengths, logged))
    whole = sum(one == other for one, other in zip(lengths, logged, strict=False))
    check.narrate(
        f"NR4: {whole} of {check.size()} lists of up to {max(lengths)} diffs were logged as they are and applied"
    )


def compare_lengths(made: Sequence[int], logged: Sequence[int | None]) -> list[Problem]:
    """Problems of the log: each list of diffs must be as long as the statement makes it."""
    wrong = [(one, other) for one, other in zip(made, logged, strict=False) if other not in (None, one)]
    if not wrong and len(made) == len(logged):
        return []
    return [
        Problem(
            field="lists of diffs",
            expected=f"{len(made)} lists, as long as the statements make them",
            got=f"{len(logged)} lists, of other lengths {wrong[:5]}",
            message="a long list of diffs is not logged as it is",
        )
    ]
