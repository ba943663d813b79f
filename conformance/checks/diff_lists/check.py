"""NR4: a server logs lists of diffs of any length unchanged, and a replica applies them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.diff_lists.run import CREATE, assignments, expected_list, logged_lists
from conformance.harness.pairs.run import PairRun
from conformance.judge.problem import Problem
from conformance.servers.wire.groups import groups_of_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.harness.check import Check
    from conformance.reference.partial.diffs import RawDiff


@pytest.mark.check("long-lists")
def test_long_lists_of_diffs(check: Check) -> None:
    """The server logs a list of 100 to 1000 diffs as it is, or the whole document, and a replica applies it."""
    with check.block(cases=check.size()) as block:
        made: list[list[RawDiff]] = []
        with check.lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
            capture = pair.source.capture()
            run.source.execute_many(CREATE).check()
            start = capture.mark(run.source)
            for changes in assignments(check.seed, check.size()):
                words = ", ".join(f"'{path}', {value}" for path, value in changes)
                run.source.execute(f"UPDATE longs SET j = JSON_SET(j, {words}) WHERE id = 1")
                made.append(expected_list(changes))
            events = capture.since(start, capture.mark(run.source)).events
            logged = logged_lists(groups_of_thread(events, run.source.thread_id))
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
        block.differs(*compare_lists(made, logged))
    whole = sum(one == other for one, other in zip(made, logged, strict=False))
    check.narrate(
        f"NR4: {whole} of {check.size()} lists of up to {max(map(len, made))} diffs were logged as they are and applied"
    )


def compare_lists(made: Sequence[list[RawDiff]], logged: Sequence[list[RawDiff] | None]) -> list[Problem]:
    """Problems of the log: each list must be the statement's, diff by diff, unless the whole document is logged."""
    message = "a long list of diffs is not logged as it is"
    if len(made) != len(logged):
        return [Problem("lists of diffs", f"{len(made)} lists", f"{len(logged)} lists", message)]
    problems = []
    for number, (one, other) in enumerate(zip(made, logged, strict=True)):
        if other is not None and one != other:
            pairs = enumerate(zip(one, other, strict=False))
            place = next((place for place, pair in pairs if pair[0] != pair[1]), min(len(one), len(other)))
            expected, got = (
                f"{len(diffs)} diffs, {diffs[place] if place < len(diffs) else 'none'}" for diffs in (one, other)
            )
            problems.append(Problem(f"list {number + 1}, diff {place + 1}", expected, got, message))
    return problems
