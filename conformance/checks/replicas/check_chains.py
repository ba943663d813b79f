"""FR6.1 and A7 on a chain of three: each server logs by its own settings, and the last has the documents of the first.

The option takes every combination on the three servers, among them a middle server with the other setting than both
neighbours. The generator draws images, keys, compression and workers.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.topology import Topology
from conformance.harness.pairs.chains import ChainRun
from conformance.harness.pairs.records import PairRecords, ReplicaBinlogRecords
from conformance.harness.pairs.run import REPLICAS, SOURCES, logging_otherwise
from conformance.harness.updates.blocks import make_script
from conformance.harness.updates.run import server_limits
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.cases.update_case import UpdateCase
    from conformance.harness.check import Check

_UPDATES: Final = 20  # of a block
OPTIONS: Final = tuple(product((True, False), repeat=3))  # on the first, the middle and the last server


@pytest.mark.check("chains")
@pytest.mark.parametrize("gtid", [True, False], ids=["gtid", "positions"])
def test_chain(check: Check, gtid: bool) -> None:
    """The last of three servers has the first one's documents; the other two log by their own settings."""
    way = "gtid" if gtid else "positions"
    rows = check.part(way, "FR6")
    draw = Stream(check.seed, "chains", int(gtid))
    last_rows = PairRecords(rows)
    logs = [ReplicaBinlogRecords.of(rows.part(f"{name}-log")) for name in ("middle", "last")]
    with check.lab.chain(gtid=gtid) as chain, ChainRun(chain, gtid=gtid) as run:
        limits = server_limits(chain.upper.source)
        for number in range(len(OPTIONS) * check.size()):
            part = draw.fork(number)
            options = OPTIONS[number % len(OPTIONS)]
            source = replace(part.fork("source").choice(SOURCES), partial_json=options[0])
            middle, last = (
                logging_otherwise(
                    part.fork(f"{name} log"), replace(part.fork(name).choice(REPLICAS), partial_json=option)
                )
                for name, option in zip(("middle", "last"), options[1:], strict=True)
            )

            def change(case: UpdateCase) -> UpdateCase:
                topology = Topology(gtid=gtid, replicas=(middle, last))  # noqa: B023 - called at once
                return replace(source.adapt(case), topology=topology)  # noqa: B023

            script = make_script(f"{check.seed}/chains/{way}", number, limits, updates=_UPDATES, change=change)
            note = f"{source}; on the middle {middle}; on the last {last}"
            block = run.chain_block(script)
            run.ready = not block.last.broken
            last_rows.add(script, block.last, note, run=run)
            for own, log in zip(logs, (block.middle_log, block.last_log), strict=True):
                own.add(script, log, note, run)
            if not run.ready:
                run.restart()
    for own in logs:
        own.conclude()
    last_rows.conclude()
