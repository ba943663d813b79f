"""FR11, FR12, FR13: the size of row events with the option on against the same updates with the option off.

Exact, not statistical (requirements FR11): over all rows of a statement,

    rows39 = rows31 + sum over rows (1 + [any partial] * ceil(n_json / 8)) + sum over partial columns (D - F)

where D and F are the lengths of the diffs and of the whole document, measured on the captured bytes.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.cases.script import build_script
from conformance.checks.costs.sizes import compare_twins
from conformance.harness.blocks import make_script
from conformance.harness.campaign import server_limits
from conformance.requirements.versions import in_observed_range
from conformance.servers.roles.update_cases import run_case
from conformance.stream import Block, Verdict

if TYPE_CHECKING:
    from conformance.harness.lab import Lab

_BLOCKS = {"quick": 16, "full": 200, "soak": 2000}
_UPDATES = 50


@pytest.mark.requirement("FR11", "FR12", "FR13")
def test_sizes(lab: Lab) -> None:
    """Twin runs of the same updates: row events differ by the stated formula, all other events have the same size."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: sizes are compared between two runs of the same updates")
    limits = server_limits(server)
    failed = 0
    with server.connect() as connection, server.schema(connection) as schema:
        capture = server.capture()
        for number in range(_BLOCKS[lab.settings.profile]):
            begun = time.perf_counter()
            script = make_script(f"{lab.settings.seed}/sizes", number, limits, updates=_UPDATES)
            # Compressed transactions have other sizes for other reasons.
            session = replace(script.case.session, partial_json=True, compression=False)
            case = replace(script.case, session=session)
            on = build_script(case, row_metadata=limits.row_metadata, row_event_max_size=limits.row_event_max_size)
            twin = replace(case, session=replace(session, partial_json=False))
            off = build_script(twin, row_metadata=limits.row_metadata, row_event_max_size=limits.row_event_max_size)
            result = compare_twins(
                on, run_case(connection, capture, on, schema), off, run_case(connection, capture, off, schema)
            )
            counting = [item for item in result.problems if not item.free or in_observed_range(lab.version)]
            failed += len(counting)
            for requirement, cases in result.cases.items():
                mine = [problem for problem in result.problems if problem.requirement == requirement]
                free = sum(problem.free for problem in mine)
                wrong = len(mine) - free
                lab.sink(
                    Block(
                        check="sizes/twins",
                        subject=lab.subject,
                        requirements=(requirement,),
                        block=number,
                        cases=cases,
                        verdicts={
                            str(name): count
                            for name, count in (
                                (Verdict.PASS, cases - len(mine)),
                                (Verdict.FAIL, wrong),
                                (Verdict.DIFFERS, free),
                            )
                            if count
                        },
                        failed=None if free == 0 or in_observed_range(lab.version) else wrong,
                        mismatches=len(mine),
                        seconds=(time.perf_counter() - begun) / len(result.cases),
                    )
                )
            lab.report_problems("sizes/twins", number, case, result.problems)
        capture.close()
    if failed:
        pytest.fail(f"{failed} statements have another size than the formula gives", pytrace=False)
