"""FR11, FR12, FR13, DS1: the size of row events with the option on against the same updates with the option off.

Exact, not statistical (requirements FR11): over all rows of a statement,

    rows39 = rows31 + sum over rows (1 + [any partial] * ceil(n_json / 8)) + sum over partial columns (D - F)

where D and F are the lengths of the diffs and of the whole document, measured on the captured bytes.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.checks.costs.sizes import compare_on_and_off
from conformance.harness.updates.blocks import make_script
from conformance.harness.updates.run import server_limits
from conformance.judge.problem import Problem
from conformance.servers.roles.update_cases import run_case
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.cases.update_case import UpdateCase
    from conformance.checks.costs.sizes import SizeComparison
    from conformance.harness.check import Check

_UPDATES = 50


@pytest.mark.check("sizes")
def test_sizes(check: Check) -> None:
    """With the option on, row events differ in size by the formula; all other events have the same size."""
    server = check.needs_server("a server: sizes are compared between two runs of the same updates")
    limits = server_limits(server)
    with server.connect() as connection, server.schema(connection) as schema:
        capture = server.capture()
        for number in check.blocks():
            begun = time.perf_counter()
            script = make_script(f"{check.seed}/sizes", number, limits, updates=_UPDATES)
            # Compressed transactions have other sizes for other reasons.
            session = replace(script.case.session, partial_json=True, compression=False)
            case = replace(script.case, session=session)
            on = limits.script(case)
            twin = replace(case, session=replace(session, partial_json=False))
            off = limits.script(twin)
            result = compare_on_and_off(
                on, run_case(connection, capture, on, schema), off, run_case(connection, capture, off, schema)
            )
            _record(check, number, case, result, (time.perf_counter() - begun) / len(result.cases))
        capture.close()


def _record(check: Check, number: int, case: UpdateCase, result: SizeComparison, seconds: float) -> None:
    """Record a block for each requirement, with the statements whose size is wrong."""
    for requirement, cases in result.cases.items():
        with check.block(
            number, cases=cases, requirement=requirement, case=case, replays=True, seconds=seconds
        ) as block:
            for problem in result.problems:
                if problem.requirement == requirement:
                    block.differs(
                        Problem(
                            field="size" if problem.step is None else f"statement {problem.step}",
                            expected=str(problem.expected),
                            got=str(problem.got),
                            message=problem.message,
                        ),
                        verdict=Verdict.DIFFERS if problem.free else Verdict.FAIL,
                        signature=f"{check.id}:{requirement}:{problem.message}",
                    )
