"""FR6.2, LOB11: a replica hands its engine the ranges of the diffs, as its own data file shows (requirements FR6.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.lob_pages import replica
from conformance.checks.lob_pages.check import UNREADABLE
from conformance.harness.pairs.run import REPLICAS, PairRun
from conformance.servers.roles.data_files import readable
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.check import Check

_ROWS: Final = 25


@pytest.mark.check("replica")
def test_replicas_file(check: Check) -> None:
    """Diffs change large objects of the replica in place, in their ranges alone; whole documents make new ones."""
    with check.lab.pair(gtid=True) as pair:
        for number in check.blocks():
            pair.configure(REPLICAS[number % len(REPLICAS)].variables())
            with PairRun(pair, gtid=True) as run:
                if not readable(run.replica):
                    check.leave_out(UNREADABLE)
                replayed = replica.replay(run, Stream("lob-replica", check.seed, number), _ROWS)
            with check.part("FR6", "FR6").block(number, cases=2 * _ROWS) as block:
                block.differs(
                    *replica.told(replica.judge_diffs(replayed)), *replica.told(replica.judge_whole(replayed))
                )
            with check.part("LOB11", "LOB11").block(number, cases=_ROWS) as block:
                block.differs(*replica.judge_bytes(replayed))
