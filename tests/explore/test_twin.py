from __future__ import annotations

import pytest

from conformance.explore.oracles.problem import INCONCLUSIVE
from conformance.explore.oracles.twin import compare_answers
from conformance.explore.steps import Step
from conformance.explore.world import Answer, Done


@pytest.mark.parametrize(
    ("shape", "base", "twin", "seen"),
    [
        ("update", 1062, 0, ("twin", "error 1062/0")),
        ("update-left-join", 1062, 0, (INCONCLUSIVE, "error 1062/0 of update-left-join")),
        ("update", 1038, 0, (INCONCLUSIVE, "error 1038/0 of update")),
        ("update", 0, 1038, (INCONCLUSIVE, "error 0/1038 of update")),
    ],
)
def test_an_error_of_one_side_is_a_problem_unless_plan_or_memory_decide(
    shape: str, base: int, twin: int, seen: tuple[str, str]
) -> None:
    (problem,) = compare_answers(Done(Step("UPDATE t0 SET j = NULL", shape), Answer(base), Answer(twin)))
    assert problem.key == seen


def test_equal_errors_are_no_problem() -> None:
    assert list(compare_answers(Done(Step("DO 1", "update"), Answer(1062), Answer(1062)))) == []
