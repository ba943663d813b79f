from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from conformance.explore.cuts import words_of
from conformance.explore.rules.statements import DATA_RULES
from conformance.explore.rules.workload import Workload
from generators.draw import Stream
from tests.explore.test_cuts import balanced

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.explore.steps import Step

EPISODES, EACH = 20, 150


def drawn(seed: int, episode: int = 0, count: int = EACH) -> list[Step]:
    """The steps of an episode of which the server takes every one."""
    workload = Workload(Stream("explore", "single", seed, episode))
    steps = []
    for step in workload.setup():
        steps.append(step)
        workload.told(step, 0)
    for _ in range(count):
        steps.append(workload.next())
        workload.told(steps[-1], 0)
    return [*steps, *workload.end()]


STEPS = [step for episode in range(EPISODES) for step in drawn(1, episode)]


def test_the_same_seed_gives_the_same_steps() -> None:
    assert drawn(7) == drawn(7)
    assert drawn(7) != drawn(8)
    assert drawn(7, 1) != drawn(7, 2)


def test_every_statement_is_of_whole_literals_parentheses_and_marks() -> None:
    assert len(STEPS) >= 3000
    for step in STEPS:
        assert balanced(step.text), step.text
        assert not {"'", '"', "`"} & {*words_of(step.text)}, step.text  # a quote alone is one that never ends
        assert "{" not in re.sub(r"'(?:[^'\\]|\\.|'')*'", "", step.text), step.text


def test_the_marks_are_gone_on_both_sides() -> None:
    for step in STEPS:
        assert not {"⟦", "⟧", "⌖"} & {*step.base, *step.twin}


def test_no_statement_depends_on_chance_or_the_clock() -> None:
    for step in STEPS:
        text = re.sub(r"'(?:[^'\\]|\\.|'')*'", "", step.text)
        assert not re.search(r"\b(RAND|NOW|UUID|SYSDATE|CONNECTION_ID|CURRENT_TIMESTAMP)\b", text), step.text
        assert " LIMIT " not in text or " ORDER BY " in text, step.text


@pytest.mark.parametrize("rule", [rule for rule, _ in DATA_RULES], ids=lambda rule: rule.__name__)
def test_every_shape_of_every_rule_is_drawn(rule: Callable[..., Step | None]) -> None:
    draw = Stream("shapes", 1)
    workload = Workload(draw)
    while len(workload.tables) < 3 or not all(table.unique for table in workload.tables):
        workload.tables.clear()
        list(workload.setup())
    own = {step.shape for _ in range(300) if (step := rule(draw, workload.tables[0], workload.tables)) is not None}
    assert own
    assert own <= {step.shape for step in STEPS}
