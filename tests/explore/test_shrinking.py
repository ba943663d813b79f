from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import pytest

from conformance.explore import shrinking
from conformance.explore.oracles.problem import Problem
from conformance.explore.shrinking import Trials, fewer_steps, guesses, shrink
from conformance.explore.steps import Script, Step

if TYPE_CHECKING:
    from collections.abc import Sequence

SCRIPT = tuple(Step(f"statement {n}", "update") for n in range(40))
PROBLEM = Problem("index", "rows of a plain index", "")


class Fake:
    """Trials without a server: a script shows the problem if all of ``needed`` are part of some statement."""

    def __init__(self, *needed: str, twins: bool = False, problem: Problem = PROBLEM) -> None:
        self.needed = needed
        self.twins = twins
        self.problem = problem
        self.asked: list[tuple[str, bool]] = []

    def run(self, script: Sequence[Step], *, only: str = "", twins: bool = True, fresh: bool = False) -> list[Problem]:
        self.asked.append((only, twins))
        texts = [step.text for step in script]
        shown = all(any(word in text for text in texts) for word in self.needed) and (twins or not self.twins)
        return [self.problem] if shown else []


def shortest(fake: Fake, script: Script = SCRIPT, seconds: float = 30) -> Script:
    return shrink(script, fake.problem, fake, seconds=seconds)  # type: ignore[arg-type]


@pytest.mark.parametrize("needed", [{0}, {39}, {3, 17}, {0, 1, 38, 39}, {5, 6, 7}])
def test_only_the_needed_steps_stay_in_their_order(needed: set[int]) -> None:
    wanted = {SCRIPT[n] for n in needed}
    assert fewer_steps(SCRIPT, lambda script: wanted <= {*script}, math.inf) == tuple(SCRIPT[n] for n in sorted(needed))


def test_a_script_that_never_shows_itself_again_stays() -> None:
    assert fewer_steps(SCRIPT, lambda _: False, math.inf) == SCRIPT


def test_an_empty_script_is_never_tried() -> None:
    assert len(fewer_steps(SCRIPT[:3], lambda _: True, math.inf)) == 1


def test_nothing_is_tried_behind_the_deadline() -> None:
    def shows(_: Sequence[Step]) -> bool:
        raise AssertionError("tried")

    assert fewer_steps(SCRIPT, shows, time.monotonic() - 1) == SCRIPT


def test_a_script_keeps_what_shows_the_problem_and_nothing_else() -> None:
    noise = [Step("SELECT 1", "select")] * 9
    update = Step("UPDATE t0 SET j = ⟦JSON_SET(j, '$.a', 100, '$.b', 'something')⟧ WHERE id = 7", "update")
    found = shortest(Fake("JSON_SET", "'$.a'"), (*noise, update, *noise))
    assert len(found) == 1
    assert "JSON_SET" in found[0].text
    assert "'$.a'" in found[0].text
    assert "something" not in found[0].text
    assert "WHERE" not in found[0].text


ABOUT = tuple(
    Step(text, "any")
    for text in (
        "CREATE TABLE t0 (id INT)", "CREATE TABLE t1 (id INT)", "CREATE VIEW v_t1 AS SELECT * FROM t1",
        "CREATE TRIGGER g_t12 BEFORE UPDATE ON t1 FOR EACH ROW UPDATE t0 SET id = 1", "INSERT INTO t0 VALUES (1)",
        "INSERT INTO t1 VALUES (1)", "UPDATE t1 SET id = 2", "UPDATE v_t1 SET id = 3",
    )
)  # fmt: skip


def test_the_first_guesses_are_about_the_tables_that_matter() -> None:
    base, related = guesses(ABOUT, "")
    assert [ABOUT.index(step) for step in base] == [1, 2, 5, 7]
    assert [ABOUT.index(step) for step in related] == [1, 2, 5, 6, 7]
    base, related = [*guesses(ABOUT, "table t0, column id: 1 and 2\ntable t1")][:2]
    assert [ABOUT.index(step) for step in base] == [0, 4]
    assert related == base
    assert list(guesses(ABOUT[:1], "")) == []


def test_a_guess_that_shows_the_problem_is_where_shrinking_begins() -> None:
    fake = Fake("CREATE VIEW", "UPDATE v_t1")
    assert [ABOUT.index(step) for step in shortest(fake, ABOUT)] == [2, 7]


def test_without_time_the_script_stays() -> None:
    assert shortest(Fake("statement 3"), seconds=0) == SCRIPT


def test_the_twin_is_left_out_where_the_base_alone_shows_it() -> None:
    fake = Fake("statement 3")
    shortest(fake)
    assert {twins for _, twins in fake.asked} == {False}


def test_the_twin_stays_where_it_takes_both_sides() -> None:
    fake = Fake("statement 3", twins=True)
    assert len(shortest(fake)) == 1
    assert [twins for _, twins in fake.asked].count(False) == 1


@pytest.mark.parametrize(
    ("problem", "only", "twins"),
    [
        (Problem("twin", "rows: json", ""), "twin", True),
        (Problem("replica", "rows of the twin: json", ""), "replica", True),
        (Problem("died", "source: somewhere", ""), "nothing", False),
        (Problem("reading", "error 1030", ""), "twin/rows", False),
        (Problem("mysqlbinlog", "error 1062", ""), "mysqlbinlog", False),
    ],
)
def test_only_the_oracle_that_saw_it_is_asked_again(problem: Problem, only: str, *, twins: bool) -> None:
    fake = Fake("statement 3", problem=problem)
    shortest(fake)
    assert fake.asked[0] == (only, twins)
    assert {name for name, _ in fake.asked} == {only}


def test_another_kind_of_problem_is_not_the_same_problem() -> None:
    fake = Fake("statement 3", problem=Problem("index", "order of a plain index", ""))
    assert shrink(SCRIPT, PROBLEM, fake, seconds=30) == SCRIPT  # type: ignore[arg-type]


class World:
    """A world that only remembers whether it was closed or mended."""

    def __init__(self) -> None:
        self.closed = self.mended = False

    def alive(self) -> bool:
        return not self.closed

    def mend(self) -> None:
        self.mended = True

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(("oracle", "worlds", "mended"), [("twin", 1, False), ("replica", 1, True), ("died", 2, False)])
def test_a_world_is_used_again_unless_a_server_died(
    oracle: str, worlds: int, *, mended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[World] = []

    def make() -> World:
        made.append(World())
        return made[-1]

    monkeypatch.setattr(shrinking, "run_script", lambda *_, **__: [Problem(oracle, "", "")])
    trials = Trials(make)  # type: ignore[arg-type]
    for _ in range(2):
        trials.run(SCRIPT)
    assert (len(made), made[0].mended, trials.count) == (worlds, mended, 2)
    trials.run(SCRIPT, fresh=True)
    assert len(made) == worlds + 1
    trials.close()
    assert all(world.closed for world in made)
