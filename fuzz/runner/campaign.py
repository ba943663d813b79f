"""Runs many targets, several at a time: each thread waits for a child, and the end is clean whatever happens.

Several processes may share one target: each has a part of the executions and a seed of its own, and a state joins them.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from conformance.exit_code import ExitCode
from fuzz.runner.findings import now
from fuzz.runner.run import Runner, TargetState
from fuzz.runner.targets import EMPTY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fuzz.runner.findings import Finding, Store
    from fuzz.runner.run import Budget
    from fuzz.runner.targets import Target

TICK: Final = 0.2  # seconds between two looks at the children
_SEEDS: Final = 1_000_003  # between the seeds of two processes
_LARGEST_SEED: Final = (1 << 31) - 1
_PHASES: Final = (
    "fuzzing",
    "confirming",
    "growing",
    "shrinking",
    "counting",
    "starting",
    "waiting",
    "done",
)  # the first that some process is in counts


class Result(StrEnum):
    """The result of a target."""

    CLEAN = "clean"
    FINDINGS = "findings"
    NOT_RUN = "could not run"
    INCOMPLETE = "incomplete"


@dataclass(slots=True)
class Campaign:
    """A run over targets. ``interrupted``: it ended before its budget was spent."""

    states: list[TargetState]
    budget: Budget
    started: str = field(default_factory=now)
    seconds: float = 0.0
    interrupted: bool = False

    def result(self, state: TargetState) -> Result:
        """The result of one target."""
        if state.findings:
            return Result.FINDINGS
        if state.trouble:
            return Result.NOT_RUN
        if self.interrupted and not self._spent(state):
            return Result.INCOMPLETE
        return Result.INCOMPLETE if state.note else Result.CLEAN

    @property
    def scale(self) -> float:
        """Executions a second of the empty target, or 0."""
        return next((state.rate for state in self.states if state.target.name == EMPTY), 0.0)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the whole run."""
        if self.interrupted:
            return ExitCode.INCOMPLETE
        # The run shows a missing peer as such; a run in which no target ran is no run.
        failed = [state for state in self.states if state.trouble]
        if any(not state.target.peer for state in failed) or len(failed) == len(self.states):
            return ExitCode.COULD_NOT_RUN
        if any(self._counts(state, finding) for state in self.states for finding in state.findings):
            return ExitCode.NONCONFORMANT
        return ExitCode.INCOMPLETE if any(state.note for state in self.states) else ExitCode.OK

    @staticmethod
    def _counts(state: TargetState, finding: Finding) -> bool:
        """Whether a finding fails the run: a peer's counts while it is new, every other one as long as it exists."""
        return bool(not finding.peer or state.target.subject or finding.is_new)

    def _spent(self, state: TargetState) -> bool:
        if self.budget.runs is not None:
            return state.executions >= self.budget.runs
        return state.seconds > (self.budget.seconds or 0) - 1


def run(
    targets: Sequence[Target],
    budget: Budget,
    store: Store,
    *,
    jobs: int,
    show: Callable[[Campaign], None],
    split: bool = False,
) -> Campaign:
    """Run all targets, ``jobs`` processes at a time. Calls ``show`` again and again, and once at the end.

    ``split``: whether a target gets several processes where there are fewer targets than jobs.

    Ctrl-C (and SIGTERM, which the command line turns into the same) ends the children; the function returns the results
    so far.
    """
    processes = shares(len(targets), jobs if split else 1)
    made = [divided(target, budget, number) for target, number in zip(targets, processes, strict=True)]
    campaign = Campaign([state for state, _ in made], budget)
    stop = threading.Event()
    began = time.monotonic()
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="fuzz")
    try:
        left = {
            pool.submit(Runner(state, part, store, stop, started=campaign.started).run): state
            for _, parts in made
            for state, part in parts
        }
        while left:
            done, _ = wait(left, timeout=TICK)
            for future in done:
                left.pop(future)
                future.result()
            _look(campaign, began, show)
    except KeyboardInterrupt:
        campaign.interrupted = True
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
    _look(campaign, began, show)
    return campaign


def _look(campaign: Campaign, began: float, show: Callable[[Campaign], None]) -> None:
    campaign.seconds = time.monotonic() - began
    for state in campaign.states:
        state.refresh()
    show(campaign)


# --- several processes for one target ---------------------------------------------------------------------------------


@dataclass(slots=True)
class Joined(TargetState):
    """The state of a target that several processes fuzz."""

    parts: Sequence[TargetState] = field(default_factory=list)

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
        self.sample()
        self.findings = _together(self.parts)
        self.trouble = next((part.trouble for part in self.parts if part.trouble), "")
        self.note = next((part.note for part in self.parts if part.note), "")


def _together(parts: Sequence[TargetState]) -> list[Finding]:
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


def divided(target: Target, budget: Budget, processes: int) -> tuple[TargetState, list[tuple[TargetState, Budget]]]:
    """The state of a target, and the state and budget of each of its processes."""
    if processes == 1:
        whole = TargetState(target)
        return whole, [(whole, budget)]
    if budget.runs is not None:
        processes = min(processes, budget.runs)
    parts = [(TargetState(target), _part(budget, number, processes)) for number in range(processes)]
    return Joined(target, parts=[state for state, _ in parts]), parts


def _part(budget: Budget, number: int, processes: int) -> Budget:
    runs = budget.runs
    if runs is not None:
        runs = runs // processes + (number < runs % processes)
    seed = (budget.seed + number * _SEEDS) & _LARGEST_SEED
    return replace(budget, runs=runs, seed=seed, processes=processes)
