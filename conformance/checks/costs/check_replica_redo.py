"""FR6.2: a replica hands the engine byte ranges, as the growth of its redo log shows (requirements FR6.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.costs import redo
from conformance.harness.pairs.run import REPLICAS, PairRun
from conformance.judge.replica_binlog import judge_redo
from conformance.verdict import Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.check import Check

_SIZE: Final = 400_000
_TRIES: Final = 3  # a failing measurement is made again: other work of the engine may fall into it


@pytest.mark.check("replica-redo")
def test_updates_in_place_on_the_replica(check: Check) -> None:
    """Updates that fit add under 5 % of the document to the replica's redo log; whole documents add all of it."""
    draw = Stream(check.seed, "redo")
    with check.lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
        pair.configure(REPLICAS[0].variables())
        redo.make_table(run, draw, _SIZE)
        whole = redo.measure(
            run, [redo.in_place(draw.fork("whole", number)) for number in range(3)], partial_json=False
        )
        # Without this the growth that is looked for could not be seen.
        shows = judge_redo(whole.growth - whole.idle, 0, 3, _SIZE) is Verdict.FAIL
        for number in check.blocks():
            # With the replica's own option on, and off: the way through the engine does not depend on it.
            pair.configure(REPLICAS[number % len(REPLICAS)].variables())
            with check.block(number, cases=redo.UPDATES) as block:
                measured, verdict = None, Verdict.INCONCLUSIVE
                for attempt in range(_TRIES if shows else 1):
                    part = draw.fork(number, attempt)
                    statements = [redo.in_place(part.fork(place)) for place in range(redo.UPDATES)]
                    measured = redo.measure(run, statements, partial_json=True)
                    if shows:
                        verdict = judge_redo(measured.growth, measured.idle, redo.UPDATES, _SIZE)
                    if verdict is Verdict.PASS:
                        break
                assert measured is not None
                if verdict is not Verdict.PASS:
                    block.judged(
                        Verdict(verdict),
                        "the replica writes more redo than updates in place need"
                        if verdict is Verdict.FAIL
                        else "other work of the engine, or a growth that whole documents do not show either",
                        field="growth of the redo log",
                        expected=f"less than 5 % of {_SIZE} bytes for each of {redo.UPDATES} updates",
                        got=f"{measured.growth} bytes; {measured.idle} before them; whole documents {whole.growth}",
                        signature=check.id,
                        statements=measured.statements,
                    )
