"""The seven conditions under which an update is logged as diffs (WL#2955; requirements sheet, section 2).

Conditions 2, 5, 6 and 7 are also judged by every generated update; here each has statements of its own, with the
expected form written down, so that a wrong model cannot agree with a wrong server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.conditions import CONDITIONS, V1
from conformance.checks.sql_runs import run_cases

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
            if connection.variable(f"global.{V1}") is None:
                lab.not_applicable(check, condition, f"the server has no {V1}")
                return
    run_cases(lab, check, CONDITIONS[condition], {"source": server})
