"""Fuzzes one target for its time: starts children one after another, and stores, confirms and shrinks findings.

The time of fuzzing has half of it once more behind it, for all that is done with the findings together.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fuzz.runner import libfuzzer
from fuzz.runner.alone import settle, triage
from fuzz.runner.alone.sandbox import InputOutcome
from fuzz.runner.alone.settle import Seen
from fuzz.runner.corpora import cached, write_inputs
from fuzz.runner.errors import Unfit
from fuzz.runner.launch import TIMEOUT, Child
from fuzz.runner.reach import Counted, Inputs, count
from fuzz.runner.signature import ERROR

if TYPE_CHECKING:
    from fuzz.runner.findings import Finding, Store
    from fuzz.runner.targets import Target

DEATHS: Final = 5  # processes ended by inputs with the same signature: more would teach nothing
SHRINK_SECONDS: Final = 10.0
GROWTH_SHARE: Final = 10  # one second of looking at growth for so many of fuzzing
LINES_SHARE: Final = 10  # one second of counting lines for so many of fuzzing, and two at least
GROWTH_RUNS: Final = 2_500  # one input whose growth is looked at for so many executions
LATE: Final = 1.0  # seconds over its time: libFuzzer ignores the clock while it reads a large corpus
WHOLE: Final = 2.5  # times the time of fuzzing: with starting, and all that comes behind
STANDS: Final = 1.0  # seconds of one input, after which it may be one that hangs
REST_SECONDS: Final = 120.0  # for the findings of a run whose budget is executions
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
    lines: bool = False  # whether the lines are counted that its inputs reach

    @property
    def rest(self) -> float:
        """Seconds behind the fuzzing, for all findings of a target together."""
        return REST_SECONDS if self.seconds is None else self.seconds / 2


@dataclass(slots=True)
class TargetState:
    """The state of one target; a display reads it while the run goes on."""

    target: Target
    phase: str = "waiting"  # as in fuzz.runner.campaign
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
    lines: Counted = field(default_factory=Counted)
    uncounted: str = ""  # why no lines were counted
    history: list[tuple[float, int, int]] = field(default_factory=list)  # seconds, executions, edges: where they grew
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
        self.sample()

    def sample(self) -> None:
        """Note the edges where there are more than before."""
        if self.edges is not None and (not self.history or self.edges > self.history[-1][2]):
            self.history.append((round(self.seconds, 2), self.executions, self.edges))


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
        self._rest = settle.Spending(budget.rest)
        self._bench = settle.Bench(self._target, timeout=budget.timeout, stop=stop)
        self._until: float | None = None  # the clock's value at which the time of fuzzing is over
        self._pending: list[Seen] = []
        self._confirmed: dict[str, Seen] = {}  # by signature, to be made smaller

    def run(self) -> None:
        """Run until the budget is spent. Failures are noted in the state."""
        state = self.state
        try:
            state.phase = "starting"
            if self._target.lacking:  # its check would say so of every input
                raise Unfit(self._target.lacking)
            with tempfile.TemporaryDirectory(prefix="binlog-lab-fuzz-") as scratch, self._bench:
                self._children(Path(scratch))
        except Unfit as problem:
            state.trouble = str(problem)
        except ImportError as problem:
            state.trouble = str(problem)
        except Exception as problem:  # noqa: BLE001 - one target's trouble ends no other target
            state.trouble = f"{type(problem).__name__}: {problem}"
        finally:
            state.phase, state.child = "done", None

    def _children(self, scratch: Path) -> None:
        begun = time.monotonic()
        budget, state = self._budget, self.state
        seeds = write_inputs(self._target, scratch / "seeds")
        (scratch / "inputs").write_text(",".join(map(str, seeds)), "utf-8")
        repeatable = budget.runs is not None and (budget.corpora is None or budget.processes > 1)
        corpus = scratch / "corpus" if repeatable else cached(self._target, budget.corpora)
        corpus.mkdir(parents=True, exist_ok=True)
        first = [*seeds, *corpus.iterdir()]
        places = [str(corpus)]
        if repeatable and budget.corpora is not None and cached(self._target, budget.corpora).is_dir():
            places.append(str(cached(self._target, budget.corpora)))  # is only read: no process sees another's inputs
        while not self._stop.is_set():
            child = Child(self._target, scratch / f"child-{len(list(scratch.glob('child-*')))}", timeout=budget.timeout)
            self._one(child, [*places, *([f"-seed_inputs=@{scratch / 'inputs'}"] if seeds else [])])
            if self._spent() or state.trouble or state.note:
                break
        self._shorten(begun)
        self._confirm(self._pending)
        if not (state.trouble or self._stop.is_set()):
            self._grow([path for place in places for path in Path(place).iterdir()] + seeds)
        self._shrink_all()
        if budget.lines:
            self._count_lines(first, [path for place in places for path in Path(place).iterdir()])

    def _shorten(self, begun: float) -> None:
        """Take what starting took too long from the time behind the fuzzing. ``begun``: the clock's value then."""
        if self._budget.seconds is not None:
            left = begun + WHOLE * self._budget.seconds - time.monotonic()
            self._rest.left = min(self._rest.left, max(1.0, left))

    def _spent(self) -> bool:
        if self._budget.runs is not None:
            return self.state.executions >= self._budget.runs
        return self._until is not None and time.monotonic() > self._until - 1

    def _grow(self, inputs: list[Path]) -> None:
        """See how the target's work grows with some inputs; store what grows too fast."""
        state, budget = self.state, self._budget
        if self._rest.left <= 0 or self._target.subject:  # its inputs are decisions: longer ones make no longer logs
            return
        state.phase = "growing"
        seconds = None if budget.seconds is None else min(self._rest.left, max(1.0, budget.seconds / GROWTH_SHARE))
        with self._rest.spent():
            found = triage.growing(
                self._target,
                [path.read_bytes() for path in inputs],
                seed=budget.seed,
                timeout=budget.timeout,
                stop=self._stop,
                seconds=seconds,
                count=None if budget.runs is None else budget.runs // GROWTH_RUNS,
            )
            for data, outcome in found:
                self._note(Seen(data, outcome), again=True)

    def _count_lines(self, first: list[Path], inputs: list[Path]) -> None:
        """Count the lines that the inputs reach, with those of the findings. ``first``: what the run began with."""
        state, seconds = self.state, self._budget.seconds
        if state.trouble or self._stop.is_set():
            state.uncounted = "no lines were counted: the run was broken off"
            return
        if not state.target.code:
            state.uncounted = "its code runs beside the fuzzer, where no lines are counted"
            return
        state.phase = "counting"
        for finding in state.findings:
            if finding.kind == ERROR:  # no other one comes to its end
                (inputs if finding.is_new else first).append(finding.path)
        first, names = [path for path in first if path.exists()], {path.name for path in first}
        later = [path for path in inputs if path.name not in names]
        try:
            state.lines = count(
                [Inputs(state.target, first, later)],
                REST_SECONDS if seconds is None else max(2.0, seconds / LINES_SHARE),
            )
        except Unfit as problem:
            state.uncounted = str(problem)

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
            left = budget.seconds or 0.0
            left = left if self._until is None else self._until - time.monotonic()
            options.append(f"-max_total_time={max(1, round(left))}")
        child.start([*places, *options])
        watch = threading.Thread(target=self._watch, args=(child,))
        watch.start()
        found: list[str] = []
        try:
            status = child.listen(lambda name: found.append(self._early(child, name)))
            state.refresh()
        finally:
            child.end()
            state.child = None
            watch.join()
        if child.began is None and not self._stop.is_set():
            state.trouble = state.trouble or "did not start: " + " | ".join(child.tail[-6:])
            return
        self._pending += [
            Seen((child.artifacts / f"{name}.bin").read_bytes(), self._facts(child, name)) for name in found
        ]
        if not self._stop.is_set() and not state.trouble:
            self._ended(child, status)

    def _watch(self, child: Child) -> None:
        """End the child when the run must stop, or when the child does not end by itself."""
        process = child.process
        assert process is not None
        start = time.monotonic()
        moved, executions = start, 0
        while process.poll() is None:
            now = time.monotonic()
            if child.began is None:
                late = now - start > START_SECONDS
                if late:
                    self.state.trouble = f"did not start within {START_SECONDS:g} s, and was ended"
            else:
                self.state.phase = "fuzzing"
                if child.executions() != executions:
                    moved, executions = now, child.executions()
                # An input that takes long may be one that hangs: libFuzzer ends it, and writes it down.
                more = self._budget.timeout + 1 if now - moved > STANDS else 0
                late = now > self._end_of(child) + LATE + more
            if late or self._stop.is_set():
                child.ended_by_us = True
                child.stop()
                return
            time.sleep(0.05)

    def _end_of(self, child: Child) -> float:
        """The clock's value at which the time of fuzzing is over, which begins with the first child's first input."""
        if self._budget.seconds is None or child.began is None:
            return float("inf")
        if self._until is None:
            self._until = child.began + self._budget.seconds
        return self._until

    def _early(self, child: Child, name: str) -> str:
        """Store a new finding before any other work on it; return its name."""
        self._bench.warm()
        self._store_one((child.artifacts / f"{name}.bin").read_bytes(), self._facts(child, name))
        return name

    @staticmethod
    def _facts(child: Child, name: str) -> InputOutcome:
        return InputOutcome.of(json.loads((child.artifacts / f"{name}.json").read_text("utf-8")))

    def _ended(self, child: Child, status: int) -> None:
        """Note the meaning of the child's exit status."""
        state = self.state
        kind = libfuzzer.kind_of(status)
        if kind is None or child.ended_by_us:
            if child.ended_by_us and not child.figures.read_all:
                state.note = "its time was over before all of its first inputs had run"
            elif state.edges is None:
                state.trouble = f"no coverage: is any of {', '.join(self._target.instrument) or 'nothing'} used?"
            return
        words = libfuzzer.words_of(status)
        if not child.figures.artifact:
            self._deaths[words] += 1
            self._store_one(b"", triage.unseen("death", f"{words}, and no input was written down"))
            state.note = f"{words}, and no input was written down"
            return
        outcome = triage.unseen(kind, words)
        for confirmed in self._confirm([Seen(Path(child.figures.artifact).read_bytes(), outcome)]):
            outcome = confirmed.outcome
        self._deaths[outcome.signature] += 1
        if self._deaths[outcome.signature] >= DEATHS:
            state.note = f"ended after {DEATHS} processes that were ended by the same: {outcome.signature}"

    def _confirm(self, found: list[Seen]) -> list[settle.Confirmed]:
        """Run findings again without the fuzzer, as long as there is time, and store what that gives."""
        self.state.phase = "confirming"
        done = []
        with self._rest.spent() as until:
            for confirmed in self._bench.confirm_all(found, until):
                done.append(confirmed)
                if confirmed.was_busy:
                    continue
                if confirmed.outcome.signature != confirmed.seen.outcome.signature:
                    self._replace(confirmed.seen.outcome)
                self._note(Seen(confirmed.seen.data, confirmed.outcome), again=confirmed.again)
        for seen in found[len(done) :]:
            self._store_one(seen.data, seen.outcome)
        return done

    def _note(self, seen: Seen, *, again: bool) -> None:
        """Store a finding that ran again without the fuzzer."""
        finding = self._store_one(seen.data, seen.outcome)
        finding = self._store.confirmed(self._target, finding, again=again)
        self._keep(finding)
        if again and not finding.shrunk:
            self._confirmed[finding.signature] = seen

    def _shrink_all(self) -> None:
        """Make the confirmed findings smaller, each in its share of the time that is left."""
        self.state.phase = "shrinking"
        todo = [finding for finding in self.state.findings if finding.signature in self._confirmed]
        for number, finding in enumerate(todo):
            if self._stop.is_set() or self._rest.left <= 0:
                return
            share = self._rest.left / (len(todo) - number)
            with self._rest.spent() as until:
                small = self._bench.shrink(
                    self._confirmed[finding.signature],
                    seconds=self._budget.shrink_seconds,
                    share=share,
                    until=until,
                )
                self._keep(self._store.smaller(self._target, finding, small.data, shrunk=small.done))

    def _store_one(self, data: bytes, outcome: InputOutcome) -> Finding:
        try:
            finding = self._store.add(self._target, data, outcome, seed=self._budget.seed, started=self._started)
        except OSError as problem:
            place = problem.filename or self._store.directory
            raise Unfit(f"{place}: {problem.strerror}; not stored: {outcome.signature}") from problem
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
