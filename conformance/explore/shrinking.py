"""Shrinking a script: fewer statements, then shorter ones, as long as the same oracle sees the same kind of problem."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Final

from conformance.explore.cuts import cuts
from conformance.explore.episode import run_script
from conformance.servers.errors import ServerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.explore.oracles.problem import Problem
    from conformance.explore.steps import Script, Step
    from conformance.explore.world import World

_TABLE: Final = re.compile(r"(?<![a-zA-Z])(t\d)\b")  # in the names of views, routines and triggers too
_BASE: Final = ("CREATE TABLE", "CREATE VIEW", "INSERT", "REPLACE", "SET", "PREPARE")


class Trials:
    """Runs scripts, in a world that is made anew where a problem left it unusable. A context's end closes it."""

    def __init__(self, make: Callable[[], World]) -> None:
        self._make = make
        self._world: World | None = None
        self.count = 0

    def run(self, script: Sequence[Step], *, only: str = "", twins: bool = True, fresh: bool = False) -> list[Problem]:
        """The problems that a script shows. ``fresh``: on servers that have run nothing else."""
        if fresh:
            self.close()
        if self._world is None:
            self._world = self._make()
        self.count += 1
        problems = run_script(self._world, script, only=only, twins=twins)
        if not usable(self._world, problems):
            self.close()
        return problems

    def close(self) -> None:
        """End the servers."""
        if self._world is not None:
            self._world.close()
            self._world = None


def usable(world: World, problems: Sequence[Problem]) -> bool:
    """Whether a world can run something else after these problems; its replicas are mended if they need it."""
    if not world.alive() or any(problem.oracle == "died" for problem in problems):
        return False
    if any(problem.oracle == "replica" for problem in problems):
        try:
            world.mend()
        except ServerError:
            return False
    return True


def shrink(script: Script, problem: Problem, trials: Trials, *, seconds: float) -> Script:
    """The shortest script found in the time that still shows the problem; the script itself if nothing shorter does."""
    deadline = time.monotonic() + seconds
    only = {"died": "nothing", "reading": "twin/rows"}.get(problem.oracle, problem.oracle)

    twins = problem.oracle == "twin" or "twin" in problem.kind

    def shows(candidate: Sequence[Step]) -> bool:
        return any(found.key == problem.key for found in trials.run(candidate, only=only, twins=twins))

    if not twins and not shows(script):  # it takes both sides
        twins = True
    bold = (guess for guess in guesses(script, problem.detail) if time.monotonic() < deadline and shows(guess))
    best = fewer_steps(next(bold, script), shows, deadline)
    while time.monotonic() < deadline:
        shorter = _shorter_steps(best, shows, deadline)
        shorter = fewer_steps(shorter, shows, deadline)
        if shorter == best:
            break
        best = shorter
    return best


def guesses(script: Script, detail: str) -> Iterator[Script]:
    """Scripts that are much shorter, the boldest first: about the tables of the last statement, or of the ``detail``.

    First without anything but tables, rows, settings and the last statement; then with all that names these tables.
    """
    for names in (_TABLE.findall(detail.partition("\n")[0]), _TABLE.findall(script[-1].text) if script else []):
        if not names:
            continue
        related = tuple(step for step in script if not {*_TABLE.findall(step.text)} - {*names})
        for guess in (tuple(step for step in related if step is script[-1] or step.text.startswith(_BASE)), related):
            if 0 < len(guess) < len(script):
                yield guess


def fewer_steps(script: Script, shows: Callable[[Sequence[Step]], bool], deadline: float) -> Script:
    """Leave steps out: half of them, a quarter, down to one at a time, from the end on."""
    size = max(1, len(script) // 2)
    while True:
        at = len(script)
        changed = False
        while at > 0 and time.monotonic() < deadline:
            start = max(0, at - size)
            candidate = script[:start] + script[at:]
            if candidate and shows(candidate):
                script, changed = candidate, True
            at = start
        if time.monotonic() >= deadline or (size == 1 and not changed):
            return script
        size = max(1, size // 2) if not changed or size > 1 else 1


def _shorter_steps(script: Script, shows: Callable[[Sequence[Step]], bool], deadline: float) -> Script:
    for number in range(len(script) - 1, -1, -1):
        again = True
        while again and time.monotonic() < deadline:
            again = False
            for text in cuts(script[number].text):
                if time.monotonic() >= deadline:
                    break
                if len(text) >= len(script[number].text):
                    continue
                candidate = (*script[:number], script[number].with_text(text), *script[number + 1 :])
                if shows(candidate):
                    script, again = candidate, True
                    break
    return script
