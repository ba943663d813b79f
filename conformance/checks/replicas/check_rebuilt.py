"""FR4: diffs apply where the replica's documents are equal as text or by = only (requirements FR4).

A replica's rows are made anew: with other free space, from their text (so that a DATE becomes a string), with numbers
of other types. The relation of each document that held then must hold after all updates, and the applier must run.
Stored bytes must be those that the reference applier makes.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.topology import Topology
from conformance.harness.blocks import make_script
from conformance.harness.campaign import server_limits
from conformance.harness.pairs.cloning import dumpable
from conformance.harness.pairs.rebuilding import KINDS, Kind
from conformance.harness.pairs.records import PairRecords
from conformance.harness.pairs.run import REPLICAS, SOURCES, PairRun
from conformance.stream import Block, CaseVerdict, Verdict
from generators.cases import start_rows
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.cases.script import Script
    from conformance.cases.update_case import UpdateCase
    from conformance.harness.lab import Lab

_ROWS: Final = 16  # so many that most updates meet a row that still differs
_UPDATES: Final = 16  # of a block, beside those that prepare it
_QUICK, _FULL = 1, 72  # blocks for each share of a kind
_QUICK_CLONES, _FULL_CLONES = 3, 70
_TRAPS: Final = 8  # every so many blocks
_KEYLESS: Final = 3  # the first block without a key, so that a quick run has one of each kind with so many
_PARTIAL: Final = tuple(item for item in SOURCES if item.partial_json)
# Of the logged updates; a row can differ in several ways.
WANTED: Final = {"padded": 0.3, "retyped": 0.3, "numbers": 0.2}
WANTED_UPDATES: Final = 20_000
_WITH_KEY: Final = tuple(item for item in _PARTIAL if item.key)


@pytest.mark.requirement("FR4")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_rebuilt_replica(lab: Lab, kind: Kind) -> None:
    """Documents that were equal as text, or by =, still are after generated updates; every stop is known."""
    draw = Stream(lab.settings.seed, "rebuilt", kind.name)
    check = f"rebuilt_replicas/{kind.name}"
    seed = f"{lab.settings.seed}/{check}"
    records = PairRecords(lab=lab, check=check, requirement="FR4")
    with lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
        limits = server_limits(pair.source)
        for number in range(kind.share * (_QUICK if lab.settings.profile == "quick" else _FULL)):
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
            _judge(run, records, script, f"{source}, {replica}")
    lab.rebuilt.update(records.unlike)
    records.conclude()


def _judge(run: PairRun, records: PairRecords, script: Script, note: str) -> None:
    """Run and record a block; the pair is ready for the next one afterwards."""
    block = run.block(script)
    run.ready = not block.broken
    records.add(script, block, note, run=run)
    if not run.ready:
        run.restart()


@pytest.mark.requirement("FR4")
def test_cloned_replica(lab: Lab) -> None:
    """A replica loaded from mysqldump goes on behind the original; relations hold, and every stop is known."""
    draw = Stream(lab.settings.seed, "cloned")
    check = "rebuilt_replicas/cloned"
    records = PairRecords(lab=lab, check=check, requirement="FR4")
    padded = next(kind for kind in KINDS if kind.name == "padded-source")
    if lab.server is not None and not lab.server.started_by_us:
        pytest.skip("a dump is made with the programs of the source, which a server at an address does not bring")
    with lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
        limits = server_limits(pair.source)
        for number in range(_QUICK_CLONES if lab.settings.profile == "quick" else _FULL_CLONES):
            part = draw.fork(number)
            source = part.choice(_WITH_KEY)
            replica = part.choice(REPLICAS)

            def change(case: UpdateCase) -> UpdateCase:
                shape = dumpable(case)
                more = replace(shape, rows=start_rows(part.fork("start"), shape.table, _ROWS))  # noqa: B023
                made = padded.prepare(source.adapt(more), trap=False)  # noqa: B023 - called at once
                rule = replace(padded.rule(made, ""), make="dumped")
                return replace(made, topology=Topology(gtid=True, replicas=(replica,), rebuild=rule))  # noqa: B023

            script = make_script(f"{lab.settings.seed}/{check}", number, limits, updates=_UPDATES, change=change)
            _judge(run, records, script, f"{source}, {replica}")
    lab.rebuilt.update(records.unlike)
    records.conclude()


@pytest.mark.requirement("FR4")
def test_enough_rows_differed(lab: Lab) -> None:
    """The checks above met rows that differ in each of the ways that FR4 speaks of, in the shares that were planned."""
    begun = time.perf_counter()
    met = dict(lab.rebuilt)
    updates = met.pop("updates", 0)
    shares = {name: met.get(name, 0) / updates if updates else 0.0 for name in WANTED}
    said = ", ".join(f"{met.get(name, 0):,} on {name} rows ({share:.0%})" for name, share in shares.items())
    lab.narrate(f"rebuilt_replicas: {updates:,} logged updates on rebuilt replicas, {said}")
    if lab.settings.profile == "quick":  # too few for shares
        return
    short = [f"{name} {share:.0%} of {WANTED[name]:.0%}" for name, share in shares.items() if share < WANTED[name]]
    if updates < WANTED_UPDATES:
        short.append(f"{updates:,} of {WANTED_UPDATES:,} updates")
    lab.sink(
        Block(
            check="rebuilt_replicas/shares",
            subject=lab.subject,
            requirements=("FR4",),
            block=0,
            cases=1,
            verdicts={str(Verdict.INCONCLUSIVE if short else Verdict.PASS): 1},
            seconds=time.perf_counter() - begun,
        )
    )
    if short:
        lab.sink(
            CaseVerdict(
                case="rebuilt_replicas/shares",
                requirement="FR4",
                verdict=Verdict.INCONCLUSIVE,
                subject=lab.subject,
                check="rebuilt_replicas/shares",
                block=0,
                message=f"fewer rows differed than planned: {', '.join(short)}",
            )
        )
