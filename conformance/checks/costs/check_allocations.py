"""FR14 and C1: while the feature is off, or a condition does not hold, nothing is allocated for diffs.

Judged by the server's own count of allocations for JSON (requirements FR14, and section 5 of the worklog). With
one release the worklog's comparison with a server that lacks the feature cannot be made: on a replica the count is 0,
which no server can better; on a source the count of a server without the feature is not known.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.costs import allocations, throughput
from conformance.checks.costs.allocations_judge import judge_applier, judge_capture
from conformance.harness.blocks import make_script
from conformance.harness.campaign import server_limits
from conformance.harness.outcomes import Outcome, Problem, record
from conformance.harness.pairs.run import PairRun
from conformance.servers.roles.update_cases import run_case
from conformance.servers.run.owned import OwnServer
from conformance.stream import Block, CaseVerdict, Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.checks.costs.allocations_judge import CaptureJudgement
    from conformance.harness.lab import Lab
    from conformance.servers.base import Server

_UPDATES: Final = 50
_BLOCKS: Final = {"quick": 3, "full": 24, "soak": 200}
_SERVER_ID: Final = 90
_NO_COUNT: Final = "the server does not count allocations for JSON (performance_schema, memory/sql/JSON)"
NO_BASELINE: Final = (
    "not judgeable with one release: on the source the worklog compares with a server without the feature, and no such "
    "build of the same version is at hand; the counts with the option off are those of C1"
)


@contextmanager
def _counting(lab: Lab) -> Iterator[Server]:
    """A server that counts: one of the same installation, else the one under test."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: allocations are counted in one")
    if isinstance(server, OwnServer):
        with server.maker.launch(
            server_id=_SERVER_ID,
            options=server.options,
            wrapper=server.wrapper,
            performance_schema=True,
            narrate=lab.narrate,
        ) as counting:
            yield counting
    else:
        yield server


@pytest.mark.requirement("C1")
def test_diffs_are_collected_for_the_log_only(lab: Lab) -> None:
    """A statement allocates no more for JSON with the option on and another condition missing than with it off."""
    check = "allocations/capture"
    failed = 0
    with _counting(lab) as server, server.connect() as connection, server.schema(connection):
        if not allocations.counts_allocations(connection):
            pytest.skip(_NO_COUNT)
        limits = server_limits(server)
        for number in range(_BLOCKS[lab.settings.profile]):
            begun = time.perf_counter()
            made = make_script(f"{lab.settings.seed}/allocations", number, limits, updates=_UPDATES)
            script = allocations.with_option(made, limits, partial_json=True)
            judged = judge_capture(allocations.capture_counts(connection, script))
            if judged.verdict == "inconclusive":
                _undecided(
                    lab, check, "C1", number, script.updates, "the count does not show where diffs are collected"
                )
                continue
            failed += record(
                lab,
                Outcome(
                    check=check,
                    requirement="C1",
                    block=number,
                    cases=script.updates,
                    problems=_problems(judged),
                    case=script.case,
                    seconds=time.perf_counter() - begun,
                ),
            )
    if failed:
        pytest.fail(f"{failed} statements allocate for diffs that nobody needs; see the report", pytrace=False)


def _problems(judged: CaptureJudgement) -> list[Problem]:
    return [
        Problem(
            field=f"statement {wrong.step}",
            expected=f"at most {wrong.expected} allocations, as with the option off",
            got=f"{wrong.got} allocations with {wrong.condition}",
            message="diffs are collected although a condition does not hold",
        )
        for wrong in judged.wrong
    ]


@pytest.mark.requirement("FR14")
def test_an_applier_of_whole_documents_allocates_nothing(lab: Lab) -> None:
    """Over updates that a source logs whole, the replica's count for JSON does not move; over diffs it does."""
    check = "allocations/applier"
    failed = 0
    with lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
        if not allocations.counts_allocations(run.replica):
            pytest.skip(_NO_COUNT)
        limits = server_limits(pair.source)
        capture = pair.source.capture()
        draw = Stream("allocations", lab.settings.seed)
        shown = _diffs(run, draw.fork("diffs"))
        for number in range(_BLOCKS[lab.settings.profile]):
            begun = time.perf_counter()
            made = make_script(f"{lab.settings.seed}/applied", number, limits, updates=_UPDATES)
            script = allocations.with_option(made, limits, partial_json=False)
            before = allocations.all_allocations(run.replica)
            run_case(run.source, capture, script, run.schema)
            run.catch_up()
            after = allocations.all_allocations(run.replica)
            growth = allocations.Growth(after.allocations - before.allocations, after.bytes - before.bytes)
            if judge_applier(off=growth.allocations, on=shown) == "inconclusive":
                _undecided(lab, check, "FR14", number, script.updates, "the count does not move for diffs either")
                continue
            problem = Problem(
                field="allocations for JSON on the replica",
                expected="0",
                got=f"{growth.allocations} allocations, {growth.bytes} bytes; {shown} over {_UPDATES} diffs",
                message="the applier allocates for updates that came as whole documents",
            )
            failed += record(
                lab,
                Outcome(
                    check=check,
                    requirement="FR14",
                    block=number,
                    cases=script.updates,
                    problems=[problem] if growth.allocations else [],
                    case=script.case,
                    seconds=time.perf_counter() - begun,
                ),
            )
        capture.close()
    _undecided(lab, "allocations/source", "FR14", 0, 1, NO_BASELINE)
    if failed:
        pytest.fail(f"{failed} blocks make the applier allocate for nothing; see the report", pytrace=False)


def _diffs(run: PairRun, draw: Stream) -> int:
    """The replica's allocations over updates that come as diffs: what shows that the count is worth something."""
    workload = throughput.Workload("json", "MINIMAL")
    run.source.execute("SET SESSION sql_log_bin = 1")
    run.source.execute("DROP TABLE IF EXISTS t")
    run.source.execute_many(throughput.table(draw)).check()
    throughput.switch(run.source, workload, on=True)
    run.catch_up()
    before = allocations.all_allocations(run.replica)
    throughput.run(run.source, throughput.statements(draw.fork("updates"), workload, _UPDATES, 0))
    run.catch_up()
    return allocations.all_allocations(run.replica).allocations - before.allocations


def _undecided(lab: Lab, check: str, requirement: str, block: int, cases: int, message: str) -> None:
    lab.sink(
        CaseVerdict(
            case=f"{check}/{block}",
            requirement=requirement,
            verdict=Verdict.INCONCLUSIVE,
            subject=lab.subject,
            check=check,
            block=block,
            message=message,
            signature=f"{check}:{message}",
        )
    )
    lab.sink(
        Block(
            check=check,
            subject=lab.subject,
            requirements=(requirement,),
            block=block,
            cases=cases,
            verdicts={str(Verdict.INCONCLUSIVE): cases},
        )
    )
