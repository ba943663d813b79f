"""FR4: diffs apply where the replica's documents are equal only as text or by = (requirements FR4).

The check makes a replica's rows anew: with other free space, from their text (so that a DATE becomes a string), with
numbers of other types. The relation of each document must then still hold after all updates, and the applier must run.
Stored bytes must be those of the reference applier.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.topology import Topology
from conformance.harness.pairs.cloning import dumpable
from conformance.harness.pairs.rebuilding import KINDS, RebuildKind
from conformance.harness.pairs.records import PairRecords
from conformance.harness.pairs.run import REPLICAS, SOURCES, PairRun
from conformance.harness.updates.blocks import make_script
from conformance.harness.updates.run import server_limits
from generators.cases import start_rows
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.cases.script import Script
    from conformance.cases.update_case import UpdateCase
    from conformance.harness.check import Check

_ROWS: Final = 16  # so many that most updates meet a row that still differs
_UPDATES: Final = 16  # of a block, beside those that prepare it
_TRAPS: Final = 8  # every so many blocks
_KEYLESS: Final = 3  # the first block without a key, so that a quick run has one of each kind with so many
_PARTIAL: Final = tuple(item for item in SOURCES if item.partial_json)
# Of the logged updates; a row can differ in several ways.
WANTED: Final = {"padded": 0.3, "retyped": 0.3, "numbers": 0.2}
WANTED_UPDATES: Final = 20_000
_WITH_KEY: Final = tuple(item for item in _PARTIAL if item.key)


@pytest.fixture(scope="module")
def met() -> Counter[str]:
    """Logged updates on rebuilt replicas, by the difference of their rows."""
    return Counter()


@pytest.mark.check("rebuilt")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_rebuilt_replica(check: Check, met: Counter[str], kind: RebuildKind) -> None:
    """Documents that were equal as text, or by =, are still so after generated updates; every stop is known."""
    draw = Stream(check.seed, "rebuilt", kind.name)
    rows = check.part(kind.name)
    seed = f"{check.seed}/rebuilt_replicas/{kind.name}"
    records = PairRecords(rows)
    with check.lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
        limits = server_limits(pair.source)
        for number in range(kind.share * check.size()):
            part = draw.fork(number)
            replica = part.choice(REPLICAS)
            key = number % kind.keyless_in != _KEYLESS % kind.keyless_in
            source = part.choice([item for item in _PARTIAL if item.key is key])
            trap = number % _TRAPS == 0

            def change(case: UpdateCase) -> UpdateCase:
                rows = start_rows(part.fork("start"), case.table, _ROWS)  # noqa: B023 - called at once
                made = kind.prepare(source.adapt(replace(case, rows=rows)), trap=trap)  # noqa: B023
                rule = kind.rule(made, f"{seed}/{number}")  # noqa: B023
                return replace(made, topology=Topology(gtid=True, replicas=(replica,), rebuild=rule))  # noqa: B023

            script = make_script(seed, number, limits, updates=_UPDATES, change=change)
            _judge(run, records, script, f"{source}; on the replica {replica}")
    met.update(records.unlike)
    records.conclude()


def _judge(run: PairRun, records: PairRecords, script: Script, note: str) -> None:
    """Run and record a block; afterwards the pair is ready for the next block."""
    block = run.block(script)
    run.ready = not block.broken
    records.add(script, block, note, run=run)
    if not run.ready:
        run.restart()


@pytest.mark.check("cloned")
def test_cloned_replica(check: Check, met: Counter[str]) -> None:
    """A replica loaded from mysqldump follows the source: relations of documents hold, and every stop is known."""
    draw = Stream(check.seed, "cloned")
    records = PairRecords(check)
    padded = next(kind for kind in KINDS if kind.name == "padded-source")
    server = check.lab.server
    if server is not None and not server.started_by_us:
        check.skip("needs the programs of the source, which a server at an address does not bring: a dump is made")
    with check.lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
        limits = server_limits(pair.source)
        for number in check.blocks():
            part = draw.fork(number)
            source = part.choice(_WITH_KEY)
            replica = part.choice(REPLICAS)

            def change(case: UpdateCase) -> UpdateCase:
                shape = dumpable(case)
                more = replace(shape, rows=start_rows(part.fork("start"), shape.table, _ROWS))  # noqa: B023
                made = padded.prepare(source.adapt(more), trap=False)  # noqa: B023 - called at once
                rule = replace(padded.rule(made, ""), make="dumped")
                return replace(made, topology=Topology(gtid=True, replicas=(replica,), rebuild=rule))  # noqa: B023

            script = make_script(
                f"{check.seed}/rebuilt_replicas/cloned", number, limits, updates=_UPDATES, change=change
            )
            _judge(run, records, script, f"{source}; on the replica {replica}")
    met.update(records.unlike)
    records.conclude()


@pytest.mark.check("shares")
def test_enough_rows_differed(check: Check, met: Counter[str]) -> None:
    """The checks on rebuilt replicas met enough rows of each difference that FR4 names."""
    updates = met["updates"]
    shares = {name: met[name] / updates if updates else 0.0 for name in WANTED}
    said = ", ".join(f"{met[name]:,} on {name} rows ({share:.0%})" for name, share in shares.items())
    check.narrate(f"rebuilt_replicas: {updates:,} logged updates on rebuilt replicas, {said}")
    if check.quick:  # too few for shares
        return
    short = [f"{name} {share:.0%} of {WANTED[name]:.0%}" for name, share in shares.items() if share < WANTED[name]]
    if updates < WANTED_UPDATES:
        short.append(f"{updates:,} of {WANTED_UPDATES:,} updates")
    with check.block(cases=1) as block:
        if short:
            block.inconclusive(f"fewer rows differed than planned: {', '.join(short)}")
