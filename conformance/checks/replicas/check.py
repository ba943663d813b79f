"""FR2, FR6.1 and A7: a replica with the same documents ends with the same documents, and logs them by its own settings.

Generated updates run on real pairs in all combinations of row image and option on both sides, and with a key or
without. Compression, GTIDs or positions, and the number of workers vary too. Afterwards the check compares every row as
text, by the SQL ``=``, and in its stored bytes, which must be those of the reference applier. It compares the replica's
own log byte for byte with its prediction.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.files import load_case
from conformance.cases.row_images import RowImage
from conformance.cases.topology import ReplicaSettings, Topology
from conformance.harness.experiments.items import each_requirement
from conformance.harness.pairs.records import PairRecords, ReplicaBinlogRecords
from conformance.harness.pairs.run import REPLICAS, SOURCES, PairRun, logging_otherwise, with_counter
from conformance.harness.updates.blocks import make_script
from conformance.harness.updates.run import server_limits
from conformance.harness.witnesses import record_witness
from conformance.judge.replica import SWITCHES
from conformance.requirements.versions import applies
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.cases.script import Script
    from conformance.cases.update_case import UpdateCase
    from conformance.harness.check import Check

_UPDATES: Final = 20  # of a block


@pytest.mark.check("rows")
@pytest.mark.parametrize("gtid", [True, False], ids=["gtid", "positions"])
def test_replica_equals_source(check: Check, gtid: bool) -> None:
    """A replica has the source's text and the reference's bytes in every row, and logs by its own settings.

    A stop is known, at its diff, or a failure.
    """
    draw = Stream(check.seed, "pairs", int(gtid))
    settings = check.size("settings") or None
    way = "gtid" if gtid else "positions"
    rows = check.part(way, "FR2")
    records = PairRecords(rows)
    own = ReplicaBinlogRecords.of(rows.part("own-log"))
    with check.lab.pair(gtid=gtid) as pair, PairRun(pair, gtid=gtid) as run:
        limits = server_limits(pair.source)
        for replica in draw.shuffled(REPLICAS)[:settings]:
            for source in draw.shuffled(SOURCES)[:settings]:
                logging = logging_otherwise(draw.fork("log", records.blocks), replica)
                topology = Topology(gtid=gtid, replicas=(logging,))
                seed = f"{check.seed}/replicas/{way}"

                def change(case: UpdateCase) -> UpdateCase:
                    return replace(source.adapt(case), topology=topology)  # noqa: B023 - called at once

                script = make_script(seed, records.blocks, limits, updates=_UPDATES, change=change)
                _run_block(run, script, records, own, f"{source}; on the replica {logging}")
    own.conclude()
    records.conclude()


def narrow_replicas() -> tuple[ReplicaSettings, ...]:
    """Replicas that log no more of a row's old values than its key."""
    return tuple(replica for replica in REPLICAS if replica.image is RowImage.MINIMAL)


@pytest.mark.check("narrow")
def test_before_images_of_the_replica(check: Check) -> None:
    """Replicas with the narrowest before-image apply diffs to documents that they do not log."""
    draw = Stream(check.seed, "before-images")
    records = PairRecords(check.named(check.id, "FR2"))
    own = ReplicaBinlogRecords.of(check.part("own-log"))
    sources = [source for source in SOURCES if source.key and source.partial_json]
    replicas = narrow_replicas()
    with check.lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
        limits = server_limits(pair.source)
        for number in check.blocks():
            part = draw.fork(number)
            source, replica = sources[number % len(sources)], logging_otherwise(part, part.choice(replicas))
            topology = Topology(gtid=True, replicas=(replica,))

            def change(case: UpdateCase) -> UpdateCase:
                return replace(source.adapt(case), topology=topology)  # noqa: B023 - called at once

            script = make_script(f"{check.seed}/replicas/narrow", number, limits, updates=_UPDATES, change=change)
            _run_block(run, script, records, own, f"{source}; on the replica {replica}")
    own.conclude()
    records.conclude()


def _run_block(run: PairRun, script: Script, records: PairRecords, own: ReplicaBinlogRecords, note: str) -> None:
    """Run one block and write its records; afterwards the pair is ready for another block."""
    block = run.block(script)
    run.ready = not block.broken
    records.add(script, block, note, run=run)
    own.add(script, block.replica_binlog, note, run)
    if not run.ready:
        run.restart()


@pytest.mark.check("witness")
@pytest.mark.parametrize("requirement", each_requirement("replicas/witness"))
def test_witnesses_stop_a_replica(check: Check, requirement: str) -> None:
    """The applier of a real pair stops at the witness of each deviation that explains stops, where predicted."""
    lab = check.lab
    listed = [
        item
        for item in lab.witnessed
        if item.switch in SWITCHES
        and item.requirements[0] == requirement
        and item.witness is not None
        and applies(item.versions, lab.replica_version)
        and lab.asked_for(item)
    ]
    if not listed:
        check.skip("no deviation that stops a replica is listed for this version")
    with lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
        pair.configure(REPLICAS[0].variables())
        limits = server_limits(pair.source)
        for number, deviation in enumerate(listed):
            assert deviation.witness is not None
            case = with_counter(load_case(json.loads(deviation.witness)))
            script = limits.script(case)
            block = run.block(script)
            if block.broken:
                run.restart()
            record_witness(
                check,
                deviation,
                number,
                shown=bool(block.stops) and all(item.deviation == deviation.switch for item in block.found),
                found="; ".join(f"{item.kind} {item.field}: {item.got}" for item in block.found),
                looked_at="the replica applied everything",
                version=lab.replica_version,
                seconds=block.seconds,
            )
