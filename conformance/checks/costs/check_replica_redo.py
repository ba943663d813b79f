"""FR6.2: a replica hands the engine byte ranges, told by the growth of its redo log (requirements FR6.2)."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.costs import redo
from conformance.harness.pairs.run import REPLICAS, PairRun
from conformance.judge.replica_binlog import judge_redo
from conformance.stream import Block, CaseVerdict, Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.lab import Lab

_CHECK: Final = "replica_redo/in-place"
_QUICK, _FULL = 6, 90  # measurements
_SIZE: Final = 400_000
_TRIES: Final = 3  # a failing measurement is made again: other work of the engine may fall into it


@pytest.mark.requirement("FR6")
def test_updates_in_place_on_the_replica(lab: Lab) -> None:
    """Updates that fit add less than 5 % of the document to the replica's redo log; whole documents add all of it."""
    draw = Stream(lab.settings.seed, "redo")
    failed = 0
    with lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
        if not run.replica.execute("SHOW GLOBAL STATUS LIKE 'Innodb_redo_log_current_lsn'").rows:
            pytest.skip("the server does not tell the end of its redo log")
        pair.configure(REPLICAS[0].variables())
        redo.make_table(run, draw, _SIZE)
        whole = redo.measure(
            run, [redo.in_place(draw.fork("whole", number)) for number in range(3)], partial_json=False
        )
        # Without this the growth that is looked for could not be seen.
        shows = judge_redo(whole.growth - whole.idle, 0, 3, _SIZE) == "fail"
        for number in range(_QUICK if lab.settings.profile == "quick" else _FULL):
            begun = time.perf_counter()
            # With the replica's own option on, and off: the way through the engine does not depend on it.
            pair.configure(REPLICAS[number % len(REPLICAS)].variables())
            measured, verdict = None, "inconclusive"
            for attempt in range(_TRIES if shows else 1):
                part = draw.fork(number, attempt)
                statements = [redo.in_place(part.fork(place)) for place in range(redo.UPDATES)]
                measured = redo.measure(run, statements, partial_json=True)
                verdict = judge_redo(measured.growth, measured.idle, redo.UPDATES, _SIZE) if shows else "inconclusive"
                if verdict == "pass":
                    break
            assert measured is not None
            kind = Verdict(verdict)
            failed += kind is Verdict.FAIL
            counts = Counter({str(kind): redo.UPDATES})
            if kind is not Verdict.PASS:
                lab.sink(
                    CaseVerdict(
                        case=f"{_CHECK}/{number}",
                        requirement="FR6",
                        verdict=kind,
                        subject=lab.subject,
                        check=_CHECK,
                        block=number,
                        field="growth of the redo log",
                        expected=f"less than 5 % of {_SIZE} bytes for each of {redo.UPDATES} updates",
                        got=f"{measured.growth} bytes; {measured.idle} before them; whole documents {whole.growth}",
                        message=(
                            "the replica writes more redo than updates in place need"
                            if kind is Verdict.FAIL
                            else "other work of the engine, or a growth that whole documents do not show either"
                        ),
                        signature=_CHECK,
                        statements=measured.statements,
                    )
                )
            lab.sink(
                Block(
                    check=_CHECK,
                    subject=lab.subject,
                    requirements=("FR6",),
                    block=number,
                    cases=redo.UPDATES,
                    verdicts=dict(counts),
                    mismatches=redo.UPDATES if kind is Verdict.FAIL else 0,
                    seconds=time.perf_counter() - begun,
                )
            )
    if failed:
        pytest.fail(f"{failed} measurements of the redo log show whole documents", pytrace=False)
