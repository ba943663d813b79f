"""FR14 and C1: while the feature is off, or a condition does not hold, a server allocates nothing for diffs.

The judge is the server's own count of allocations for JSON (requirements FR14, and section 5 of the worklog). One
release does not allow the worklog's comparison with a server that lacks the feature. On a replica the count is 0, which
no server can better; for a source nobody knows the count of a server without the feature.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.costs import allocations, throughput
from conformance.checks.costs.allocations_judge import judge_applier, judge_capture
from conformance.harness.pairs.run import PairRun
from conformance.harness.updates.blocks import make_script
from conformance.harness.updates.run import server_limits
from conformance.judge.problem import Problem
from conformance.servers.roles.update_cases import run_case
from conformance.servers.run.owned import OwnServer
from conformance.servers.settings.listed import beside
from conformance.verdict import Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.checks.costs.allocations_judge import CaptureJudgement
    from conformance.harness.check import Check
    from conformance.servers.base import Server

_UPDATES: Final = 50
_SERVER_ID: Final = 90
NO_COUNT: Final = "needs a server that counts allocations for JSON (performance_schema, memory/sql/JSON)"
NO_BASELINE: Final = (
    "not judgeable with one release: on the source the worklog compares with a server without the feature, and no such "
    "build of the same version is at hand; the counts with the option off are those of C1"
)


@contextmanager
def counting(check: Check) -> Iterator[Server]:
    """A server that counts allocations: one of the same installation, else the one under test."""
    server = check.needs_server("a server: allocations are counted in one")
    if isinstance(server, OwnServer):
        with server.maker.launch(
            server_id=_SERVER_ID,
            options=beside(server.options),
            wrapper=server.wrapper,
            performance_schema=True,
            narrate=check.narrate,
        ) as counting:
            yield counting
    else:
        yield server


@pytest.mark.check("capture-allocations")
def test_diffs_are_collected_for_the_log_only(check: Check) -> None:
    """Where a condition is missing, a statement allocates no more for JSON with the option on than with it off."""
    with counting(check) as server, server.connect() as connection, server.schema(connection):
        if not allocations.counts_allocations(connection):
            check.skip(NO_COUNT)
        limits = server_limits(server)
        for number in check.blocks():
            made = make_script(f"{check.seed}/allocations", number, limits, updates=_UPDATES)
            script = allocations.with_option(made, limits, partial_json=True)
            with check.block(number, cases=script.updates, case=script.case) as block:
                judged = judge_capture(allocations.capture_counts(connection, script))
                if judged.verdict is Verdict.INCONCLUSIVE:
                    block.inconclusive("the count does not show where diffs are collected")
                else:
                    block.differs(*_problems(judged))


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


@pytest.mark.check("applier-allocations")
def test_an_applier_of_whole_documents_allocates_nothing(check: Check) -> None:
    """The replica's count for JSON does not move over updates that a source logs whole; over diffs it does."""
    with check.lab.pair(gtid=True) as pair, PairRun(pair, gtid=True) as run:
        if not allocations.counts_allocations(run.replica):
            check.skip(NO_COUNT)
        limits = server_limits(pair.source)
        capture = pair.source.capture()
        draw = Stream("allocations", check.seed)
        shown = _diffs(run, draw.fork("diffs"))
        for number in check.blocks():
            made = make_script(f"{check.seed}/applied", number, limits, updates=_UPDATES)
            script = allocations.with_option(made, limits, partial_json=False)
            with check.block(number, cases=script.updates, case=script.case) as block:
                before = allocations.all_allocations(run.replica)
                run_case(run.source, capture, script, run.schema)
                run.catch_up()
                after = allocations.all_allocations(run.replica)
                growth = after.since(before)
                if judge_applier(off=growth.allocations, on=shown) is Verdict.INCONCLUSIVE:
                    block.inconclusive("the count does not move for diffs either")
                elif growth.allocations:
                    block.differs(
                        Problem(
                            field="allocations for JSON on the replica",
                            expected="0",
                            got=f"{growth}; {shown} over {_UPDATES} diffs",
                            message="the applier allocates for updates that came as whole documents",
                        )
                    )
        capture.close()
    with check.part("source").block(cases=1) as block:
        block.inconclusive(NO_BASELINE)


def _diffs(run: PairRun, draw: Stream) -> int:
    """The replica's allocations over updates that come as diffs: they show that the count works."""
    workload = throughput.Workload("json", "MINIMAL")
    run.source.execute("SET SESSION sql_log_bin = 1")
    run.source.execute("DROP TABLE IF EXISTS t")
    run.source.execute_many(throughput.table(draw)).check()
    throughput.switch(run.source, workload, on=True)
    run.catch_up()
    before = allocations.all_allocations(run.replica)
    throughput.run(run.source, throughput.statements(draw.fork("updates"), workload, _UPDATES, 0))
    run.catch_up()
    return allocations.all_allocations(run.replica).since(before).allocations
