"""Fuzzes one target for its time: starts children one after another, and stores, confirms and shrinks findings."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fuzz.runner import libfuzzer, triage
from fuzz.runner.corpora import cached, write_inputs
from fuzz.runner.errors import Unfit
from fuzz.runner.launch import TIMEOUT, Child
from fuzz.runner.sandbox import InputOutcome, SandboxEnded

if TYPE_CHECKING:
    from fuzz.runner.findings import Finding, Store
    from fuzz.runner.targets import Target

DEATHS: Final = 5  # processes ended by inputs with the same signature: more would teach nothing
SHRINK_SECONDS: Final = 10.0
GROWTH_SHARE: Final = 10  # one second of looking at growth for so many of fuzzing
GROWTH_RUNS: Final = 2_500  # one input whose growth is looked at for so many executions
LATE: Final = 300.0  # seconds over its budget: libFuzzer ignores the clock while it reads a large corpus
START_SECONDS: Final = 600.0  # seconds for the imports of a child; a busy machine takes long


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The budget of each target: seconds, or executions (repeatable: such runs begin with committed inputs and seeds
    alone).
    """

    seconds: float | None = None
    runs: int | None = None
    seed: int = 1
    timeout: int = TIMEOUT
    corpora: Path | None = None  # directory of the inputs, in place of the user's cache
    shrink_seconds: float = SHRINK_SECONDS
    processes: int = 1  # of one target, which share their inputs


@dataclass(slots=True)
class TargetState:
    """The state of one target; a display reads it while the run goes on."""

    target: Target
    phase: str = "waiting"  # waiting, starting, fuzzing, shrinking, growing, done
    executions: int = 0
    seconds: float = 0.0  # seconds of fuzzing, imports excluded
    processor: float = 0.0  # CPU seconds, imports included
    edges: int | None = None
    features: int = 0
    corpus: int = 0
    findings: list[Finding] = field(default_factory=list)
    trouble: str = ""  # why the target could not run
    note: str = ""  # why the target ended early, although it ran
    child: Child | None = None
    earlier: tuple[int, float, float] = (0, 0.0, 0.0)  # executions, seconds and CPU seconds of children that have ended

    @property
    def rate(self) -> float:
        """Executions a second."""
        return self.executions / self.seconds if self.seconds > 0.01 else 0.0

    def refresh(self) -> None:
        """Read the counter and the figures of the present child."""
        child = self.child
        if child is None or child.began is None:
            return
        executions, seconds, processor = self.earlier
        self.executions, self.seconds = executions + child.executions(), seconds + child.seconds
        self.processor = max(self.processor, processor + child.processor())
        figures = child.figures
        if figures.edges is not None:
            self.edges = max(self.edges or 0, figures.edges)
        self.features, self.corpus = max(self.features, figures.features), figures.corpus or self.corpus


class Runner:
    """Runs one target. ``stop`` ends it soon and keeps its results so far."""

    def __init__(
        self, state: TargetState, budget: Budget, store: Store, stop: threading.Event, *, started: str
    ) -> None:
        self.state = state
        self._target = state.target
        self._budget = budget
        self._store = store
        self._stop = stop
        self._started = started
        self._deaths: Counter[str] = Counter()

    def run(self) -> None:
        """Run until the budget is spent. Failures are noted in the state."""
        state = self.state
        try:
            state.phase = "starting"
            with tempfile.TemporaryDirectory(prefix="binlog-lab-fuzz-") as scratch:
                self._children(Path(scratch))
        except Unfit as problem:
            state.trouble = str(problem)
        except ImportError as problem:
            state.trouble = str(problem)
        except (OSError, SandboxEnded) as problem:
            state.trouble = f"{type(problem).__name__}: {problem}"
        finally:
            state.phase, state.child = "done", None

    def _children(self, scratch: Path) -> None:
        budget, state = self._budget, self.state
        seeds = write_inputs(self._target, scratch / "seeds")
        (scratch / "inputs").write_text(",".join(map(str, seeds)), "utf-8")
        repeatable = budget.runs is not None and (budget.corpora is None or budget.processes > 1)
        corpus = scratch / "corpus" if repeatable else cached(self._target, budget.corpora)
        corpus.mkdir(parents=True, exist_ok=True)
        places = [str(corpus)]
        if repeatable and budget.corpora is not None and cached(self._target, budget.corpora).is_dir():
            places.append(str(cached(self._target, budget.corpora)))  # is only read: no process sees another's inputs
        while not self._stop.is_set():
            child = Child(self._target, scratch / f"child-{len(list(scratch.glob('child-*')))}", timeout=budget.timeout)
            self._one(child, [*places, *([f"-seed_inputs=@{scratch / 'inputs'}"] if seeds else [])])
            spent = state.executions >= budget.runs if budget.runs is not None else state.seconds > self._limit - 1
            if spent or state.trouble or state.note:
                break
        if not (state.trouble or self._stop.is_set()):
            self._grow([path for place in places for path in Path(place).iterdir()] + seeds)

    def _grow(self, inputs: list[Path]) -> None:
        """See how the target's work grows with some inputs; store and shrink what grows too fast."""
        state, budget = self.state, self._budget
        state.phase = "growing"
        found = triage.growing(
            self._target,
            [path.read_bytes() for path in inputs],
            seed=budget.seed,
            timeout=budget.timeout,
            stop=self._stop,
            seconds=None if budget.seconds is None else max(1.0, budget.seconds / GROWTH_SHARE),
            count=None if budget.runs is None else budget.runs // GROWTH_RUNS,
        )
        for data, outcome in found:
            finding = self._store_one(data, outcome)
            if not finding.reproduced:
                self._shrink(finding, data, outcome)

    @property
    def _limit(self) -> float:
        return float(self._budget.seconds or 0)

    def _one(self, child: Child, places: list[str]) -> None:
        """Run one child to its end, and store its findings."""
        state, budget = self.state, self._budget
        state.earlier, state.child, state.phase = (state.executions, state.seconds, state.processor), child, "starting"
        # Processes of one target take over each other's inputs, unless the run is to be repeatable.
        together = budget.processes > 1 and budget.runs is None
        options = child.options(budget.seed + sum(self._deaths.values()), reload=together)
        if budget.runs is not None:
            options.append(f"-runs={budget.runs - state.executions}")
        else:
            options.append(f"-max_total_time={max(1, round(self._limit - state.seconds))}")
        child.start([*places, *options])
        watch = threading.Thread(target=self._watch, args=(child,))
        watch.start()
        found: list[str] = []
        status = child.listen(lambda name: found.append(self._early(child, name)))
        state.refresh()
        state.child = None
        watch.join()
        if child.began is None and not self._stop.is_set():
            state.trouble = state.trouble or "did not start: " + " | ".join(child.tail[-6:])
            return
        state.phase = "shrinking"
        for name in found:
            self._settle(child.artifacts / f"{name}.bin", self._facts(child, name))
        if not self._stop.is_set() and not state.trouble:
            self._ended(child, status)

    def _watch(self, child: Child) -> None:
        """End the child when the run must stop, or when the child does not end by itself."""
        process = child.process
        assert process is not None
        start = time.monotonic()
        while process.poll() is None:
            if child.began is not None:
                self.state.phase = "fuzzing"
                late = self._budget.runs is None and child.seconds > self._limit + 2 * self._budget.timeout + LATE
            else:
                late = time.monotonic() - start > START_SECONDS
            if late:
                told = "did not end in time" if child.began is not None else f"did not start within {START_SECONDS:g} s"
                self.state.trouble = f"{told}, and was ended"
            if late or self._stop.is_set():
                child.stop()
                return
            time.sleep(0.05)

    def _early(self, child: Child, name: str) -> str:
        """Store a new finding before any other work on it; return its name."""
        self._store_one((child.artifacts / f"{name}.bin").read_bytes(), self._facts(child, name))
        return name

    @staticmethod
    def _facts(child: Child, name: str) -> InputOutcome:
        return InputOutcome(**json.loads((child.artifacts / f"{name}.json").read_text("utf-8")))

    def _ended(self, child: Child, status: int) -> None:
        """Note the meaning of the child's exit status."""
        state = self.state
        kind = libfuzzer.kind_of(status)
        if kind is None:
            if state.edges is None:
                state.trouble = f"no coverage: is any of {', '.join(self._target.instrument) or 'nothing'} used?"
            return
        words = libfuzzer.words_of(status)
        if not child.figures.artifact:
            self._deaths[words] += 1
            self._store_one(b"", triage.unseen("death", f"{words}, and no input was written down"))
            state.note = f"{words}, and no input was written down"
            return
        outcome = self._settle(Path(child.figures.artifact), triage.unseen(kind, words))
        self._deaths[outcome.signature] += 1
        if self._deaths[outcome.signature] >= DEATHS:
            state.note = f"ended after {DEATHS} processes that were ended by the same: {outcome.signature}"

    def _settle(self, path: Path, seen: InputOutcome) -> InputOutcome:
        """Confirm, store and shrink a finding."""
        state, budget = self.state, self._budget
        state.phase = "shrinking"
        data = path.read_bytes()
        if self._stop.is_set():
            self._store_one(data, seen)
            return seen
        outcome, again = triage.confirm(self._target, data, seen, timeout=budget.timeout)
        if seen.kind == "hang" and not again:
            return triage.unseen("slow", "a limit of time that the input keeps by itself")  # the machine was busy
        if outcome.signature != seen.signature:
            self._replace(seen)
        finding = self._store_one(data, outcome)
        if again and not finding.reproduced:
            self._shrink(finding, data, outcome)
        return outcome

    def _shrink(self, finding: Finding, data: bytes, outcome: InputOutcome) -> None:
        budget = self._budget
        small = triage.smallest(
            self._target, data, outcome, timeout=budget.timeout, seconds=budget.shrink_seconds, stop=self._stop
        )
        self._keep(self._store.smaller(finding, small))

    def _store_one(self, data: bytes, outcome: InputOutcome) -> Finding:
        finding = self._store.add(self._target, data, outcome, seed=self._budget.seed, started=self._started)
        self._keep(finding)
        return finding

    def _keep(self, finding: Finding) -> None:
        """Keep one finding for each signature."""
        others = [known for known in self.state.findings if known.signature != finding.signature]
        self.state.findings = [*others, finding]

    def _replace(self, seen: InputOutcome) -> None:
        """Remove the finding under its name from the fuzzer's run: it is no finding of its own."""
        for known in self.state.findings:
            if known.signature == seen.signature and known.is_new:
                self._store.remove(known)
        self.state.findings = [known for known in self.state.findings if known.signature != seen.signature]
