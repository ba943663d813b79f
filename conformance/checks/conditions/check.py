"""The seven conditions under which an update is logged as diffs (WL#2955; requirements 2).

Conditions 2, 5, 6 and 7 are also judged by every generated update; here each has statements of its own, with the
expected form written down, so that a wrong model cannot agree with a wrong server. What those updates do not touch (log
off, statement format, other engines and statements) is generated here as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.conditions.cases import CONDITIONS, V1
from conformance.checks.conditions.generate import GENERATED, generated
from conformance.harness.sql_cases import run_cases
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.lab import Lab


_GENERATED: Final = {"quick": 10, "full": 140, "soak": 2_000}  # Cases of a condition, of some updates each


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
    draw = Stream(lab.settings.seed, check)
    made = [
        generated(draw.fork(number), condition, f"{condition.lower()}-generated-{number}")
        for number in range(_GENERATED[lab.settings.profile] if condition in GENERATED else 0)
    ]
    run_cases(lab, check, [*CONDITIONS[condition], *made], {"source": server})
