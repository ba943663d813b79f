"""Each condition by statements of its own (requirements 2).

Every generated update also judges conditions 2, 5, 6 and 7. Here each condition has statements of its own, with the
expected form written down, so that a wrong model cannot agree with a wrong server. This room also generates what those
updates do not touch: log off, statement format, other engines and statements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.diff_conditions.cases import CONDITIONS, V1
from conformance.checks.diff_conditions.generate import GENERATED, generated
from conformance.harness.experiments.items import each_requirement
from conformance.harness.sql_cases import run_cases
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.check import Check


@pytest.mark.check("statements")
@pytest.mark.parametrize("condition", each_requirement("diff_conditions/statements"))
def test_condition(check: Check, condition: str) -> None:
    """The server logs each statement in the form of event that its condition asks for."""
    server = check.needs_server("a server: the statements of the seven conditions are not among the recorded captures")
    part = check.part(condition)
    if condition == "D4":
        with server.connect() as connection:
            if connection.variable(f"global.{V1}") is None:
                part.leave_out(f"needs the system variable {V1}")
    draw = Stream(check.seed, f"conditions/{condition}")
    made = [
        generated(draw.fork(number), condition, f"{condition.lower()}-generated-{number}")
        for number in range(check.size() if condition in GENERATED else 0)
    ]
    run_cases(part, [*CONDITIONS[condition], *made], {"source": server})
