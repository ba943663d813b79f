"""Several processes for one target: each has a part of the executions and a seed of its own; a state joins them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from fuzz.runner.run import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fuzz.runner.findings import Finding
    from fuzz.runner.run import Budget
    from fuzz.runner.targets import Target

_SEEDS: Final = 1_000_003  # between the seeds of two processes
_LARGEST_SEED: Final = (1 << 31) - 1
_PHASES: Final = (
    "fuzzing",
    "shrinking",
    "growing",
    "starting",
    "waiting",
    "done",
)  # the first that some process is in counts


@dataclass(slots=True)
class Joined(State):
    """The state of a target that several processes fuzz."""

    parts: Sequence[State] = field(default_factory=list)

    def refresh(self) -> None:
        """Sum up the parts. Edges and features are those of the best one: the processes share their inputs."""
        for part in self.parts:
            part.refresh()
        phases = {part.phase for part in self.parts}
        self.phase = next(phase for phase in _PHASES if phase in phases)
        self.executions = sum(part.executions for part in self.parts)
        self.seconds = max(part.seconds for part in self.parts)
        self.processor = sum(part.processor for part in self.parts)
        known = [part.edges for part in self.parts if part.edges is not None]
        self.edges = max(known, default=None)
        self.features = max(part.features for part in self.parts)
        self.corpus = max(part.corpus for part in self.parts)
        self.findings = _together(self.parts)
        self.trouble = next((part.trouble for part in self.parts if part.trouble), "")
        self.note = next((part.note for part in self.parts if part.note), "")


def _together(parts: Sequence[State]) -> list[Finding]:
    """One finding for each signature: the smallest."""
    found: dict[str, Finding] = {}
    for finding in (finding for part in parts for finding in part.findings):
        known = found.get(finding.signature)
        if known is None or (finding.reproduced, -finding.size) > (known.reproduced, -known.size):
            found[finding.signature] = finding
    return list(found.values())


def shares(count: int, jobs: int) -> list[int]:
    """How many processes each of ``count`` targets gets: one at least, and ``jobs`` in all if there are as many."""
    return [max(1, jobs // count + (number < jobs % count)) for number in range(count)]


def divided(target: Target, budget: Budget, processes: int) -> tuple[State, list[tuple[State, Budget]]]:
    """The state of a target, and the state and budget of each of its processes."""
    if processes == 1:
        whole = State(target)
        return whole, [(whole, budget)]
    if budget.runs is not None:
        processes = min(processes, budget.runs)
    parts = [(State(target), _part(budget, number, processes)) for number in range(processes)]
    return Joined(target, parts=[state for state, _ in parts]), parts


def _part(budget: Budget, number: int, processes: int) -> Budget:
    runs = budget.runs
    if runs is not None:
        runs = runs // processes + (number < runs % processes)
    seed = (budget.seed + number * _SEEDS) & _LARGEST_SEED
    return replace(budget, runs=runs, seed=seed, processes=processes)
