"""The seven conditions under which an update is logged as diffs (WL#2955; requirements sheet, section 2).

Conditions 2, 5, 6 and 7 are also judged by every generated update; here each has statements of its own, with the
expected form written down, so that a wrong model cannot agree with a wrong server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.conditions import CONDITIONS, Expectation, observe
from conformance.stream import Block, CaseVerdict, Verdict

if TYPE_CHECKING:
    from conformance.checks.lab import Lab


@pytest.mark.parametrize(
    "condition", [pytest.param(name, marks=pytest.mark.requirement(name)) for name in sorted(CONDITIONS)]
)
def test_condition(lab: Lab, condition: str) -> None:
    """Each statement leaves the form of event that its condition asks for."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: the statements of the seven conditions are not among the recorded captures")
    check = f"conditions/{condition}"
    if condition == "D4":
        with server.connect() as connection:
            if connection.variable("global.log_bin_use_v1_row_events") is None:
                lab.not_applicable(check, condition, "the server has no log_bin_use_v1_row_events")
                return
    expectations = CONDITIONS[condition]
    failures: list[tuple[Expectation, str]] = []
    for expectation in expectations:
        got = observe(server, expectation)
        if got != expectation.form:
            failures.append((expectation, got))
    passed = len(expectations) - len(failures)
    for expectation, got in failures:
        lab.sink(
            CaseVerdict(
                case=f"{condition}/{expectation.name}",
                requirement=condition,
                verdict=Verdict.FAIL,
                subject=lab.subject,
                check=check,
                block=0,
                field="form of the update",
                expected=expectation.form,
                got=got,
                message=expectation.why,
                signature=f"{check}:{expectation.name}",
                statements=expectation.statements,
            )
        )
    lab.sink(
        Block(
            check=check,
            subject=lab.subject,
            requirements=(condition,),
            block=0,
            cases=len(expectations),
            verdicts={
                str(name): count for name, count in ((Verdict.PASS, passed), (Verdict.FAIL, len(failures))) if count
            },
            mismatches=len(failures),
        )
    )
    if failures:
        found = "; ".join(f"{item.name}: expected {item.form}, got {got}" for item, got in failures)
        pytest.fail(found, pytrace=False)
