"""The run: episode after episode, findings shrunk and proved as they come."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from conformance.explore.episode import Episode, or_death, run_workload
from conformance.explore.findings import Finding, Known, load_known
from conformance.explore.followers import Linked
from conformance.explore.oracles.problem import INCONCLUSIVE
from conformance.explore.rules.workload import Workload
from conformance.explore.scripts import render, shows_it
from conformance.explore.shrinking import Trials, shrink, usable
from conformance.explore.steps import IN_NO_SCRIPT
from conformance.explore.tally import Tally
from conformance.explore.topologies import SINGLE, TOPOLOGIES
from conformance.explore.traits import traits_of
from conformance.servers.errors import ServerError
from conformance.stream import Progress
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.explore.oracles.problem import Problem
    from conformance.explore.steps import Step
    from conformance.explore.world import World
    from conformance.servers.run.owned import Maker
    from generators.draw import Draw

PROOFS: Final = 5  # fresh servers on which a script must show itself
_AVOIDED: Final = 9  # of ten episodes keep away from what was found
_SHRINK_SECONDS: Final = 60.0
_TRIES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The task of a run: where, how long, from which seed on. ``first``: the number of its first episode.

    ``met``: findings of other parts of the run, with their fault.
    """

    topology: str = "pair"
    seed: int = 1
    seconds: float | None = None
    steps: int | None = None
    episodes: int | None = None
    first: int = 0
    episode_steps: int = 160
    shrink_seconds: float = _SHRINK_SECONDS
    met: tuple[Finding, ...] = ()


@dataclass(slots=True)
class Explorer(Tally):
    """Runs a plan, and tallies what it meets."""

    maker: Maker
    plan: Plan
    narrate: Callable[[str], None]
    folder: Path | None = None
    show: Callable[[Progress], None] = lambda _: None
    started: float = field(default_factory=time.monotonic)
    known: tuple[Known, ...] = field(default_factory=load_known)
    _world: World | None = None

    def __post_init__(self) -> None:
        self.findings += [replace(finding, hits=0) for finding in self.plan.met]

    def run(self) -> None:
        """Explore until the time or the steps are used up."""
        try:
            while not self.over():
                self._one()
                self.tell()
        finally:
            self.close()

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self.started

    def tell(self) -> None:
        """Show how far the run is."""
        found = f"{len(self.findings)} findings, {self.rate:.0f} statements/s"
        if self.plan.steps is not None:
            self.show(
                Progress(label="statements", done=min(self.steps, self.plan.steps), total=self.plan.steps, note=found)
            )
        elif self.plan.seconds is not None:
            done = min(self.seconds, self.plan.seconds)
            self.show(
                Progress(label="exploring", done=round(done), total=round(self.plan.seconds), unit="s", note=found)
            )

    def over(self) -> bool:
        """Whether the time, the steps or the episodes are used up."""
        if self.plan.episodes is not None and self.episodes >= self.plan.episodes:
            return True
        if self.plan.steps is not None and self.steps >= self.plan.steps:
            return True
        return self.plan.seconds is not None and self.seconds >= self.plan.seconds

    def _again_in(self, trials: Trials, script: tuple[Step, ...], problem: Problem) -> list[Problem]:
        """The problem again, if the script shows it: statements at the same time get some tries."""
        for _ in range(_TRIES if any(step.together for step in script) else 1):
            again = [each for each in trials.run(script) if each.key == problem.key]
            if again:
                return again
        return []

    def _make(self, topology: str = "") -> World:
        return TOPOLOGIES[topology or self.plan.topology](self.maker, lambda _: None)

    def _workload(self, draw: Draw) -> Workload:
        assert self._world is not None
        linked = any(isinstance(pair, Linked) for pair in self._world.pairs)
        return Workload(draw, kills=self._world.durable, restarts=linked)

    def _one(self) -> None:
        number = self.plan.first + self.episodes
        self.episodes += 1
        if self._world is None:
            self._world = self._make()
        begun = time.monotonic()
        draw = Stream("explore", self.plan.topology, self.plan.seed, number)
        episode = Episode(self._world)
        avoided = self._avoided() if draw.below(10) < _AVOIDED else ()
        parallel = draw.chance(1, 10)
        problems = self._explored(episode, self._workload(draw), avoided, parallel=parallel)
        self.steps += len(episode.script)
        self.exploring += time.monotonic() - begun
        self._count(episode)
        if problems:
            with suppress(ServerError):
                episode.close()
            if not usable(self._world, problems):
                self._world.close()
                self._world = None
            self._found(problems[0], tuple(episode.script), number)
        else:
            episode.close()

    def _explored(
        self, episode: Episode, workload: Workload, avoided: tuple[frozenset[str], ...], *, parallel: bool
    ) -> list[Problem]:
        seen: set[str] = set()

        def wanted(step: Step) -> bool:
            if not avoided:
                return True
            traits = seen | traits_of((step,))
            if any(each <= traits for each in avoided):
                return False
            seen.update(traits)
            return True

        def run() -> list[Problem]:
            episode.world.twins = not parallel
            episode.world.begin()
            return run_workload(episode, workload, self.plan.episode_steps, wanted)

        return or_death(episode.world, run)

    def _avoided(self) -> tuple[frozenset[str], ...]:
        """Combinations of traits that showed a fault before; one trait alone is too much to do without."""
        listed = [row.traits for row in self.known]
        return tuple(each for each in (*listed, *(one.traits for one in self.findings)) if len(each) > 1)

    def _count(self, episode: Episode) -> None:
        self.tried.update(episode.tried)
        self.beside.update(episode.world.happened())
        self.answers.update(episode.errors)
        features = sorted({feature for step in episode.script for feature in step.features})
        self.features.update(features)
        self.pairs.update((a, b) for at, a in enumerate(features) for b in features[at + 1 :])

    def _found(self, problem: Problem, script: tuple[Step, ...], number: int) -> None:
        if problem.oracle == INCONCLUSIVE:
            self.vanished[f"{problem.oracle}: {problem.kind}"] += 1
            return
        listed = self._listed(problem, script)
        if listed is not None and listed.certain:
            self.vanished[f"listed: {listed.id}"] += 1
            return
        self.narrate(f"episode {number}: {problem.oracle}, {problem.kind}: shrinking {len(script)} statements")
        smaller = (
            self.plan.topology != SINGLE and problem.oracle != "replica" and not problem.kind.startswith("replica")
        )
        topology = SINGLE if smaller else self.plan.topology
        trials = Trials(lambda: self._make(topology))
        try:
            again = self._again_in(trials, script, problem)
            if not again and smaller:
                trials.close()
                topology = self.plan.topology
                again = self._again_in(trials, script, problem)
            if not again:
                self.vanished[f"{problem.oracle}: {problem.kind}"] += 1
                self.narrate(
                    f"episode {number}: not seen again ({problem.oracle}, {problem.kind}: {problem.detail[:200]})"
                )
                return
            if listed is not None:
                less = listed.without(script)
                if self._again_in(trials, less, problem):  # something else shows the same
                    script = less
                elif self._seen_before(listed, problem):
                    return
            shortest = shrink(script, problem, trials, seconds=self.plan.shrink_seconds)
            final = next((each for each in trials.run(shortest, fresh=True) if each.key == problem.key), again[0])
            listed = self._listed(final, shortest)
            if listed is not None and self._again_in(trials, listed.without(shortest), final):
                listed = None
        finally:
            trials.close()
        finding = Finding(final, shortest, topology, self.plan.seed, number)
        finding.known = "" if listed is None else listed.id
        if self.same(finding) is not None:
            return
        self.add(finding)
        self._prove(finding)
        if self.folder is not None:
            finding.store(self.folder)
        self.narrate(
            f"{finding.name}{f' (listed: {finding.known})' if finding.known else ''}: {final.kind}: "
            f"{len(shortest)} statements, shown by the script on {finding.shown} of {finding.tries} fresh servers"
        )

    def _seen_before(self, listed: Known, problem: Problem) -> bool:
        """Count a listed fault that has its script already, and that goes with the steps that it is listed by."""
        for one in self.findings:
            if one.known == listed.id and one.problem.oracle == problem.oracle:
                one.hits += 1
                return True
        return False

    def _listed(self, problem: Problem, script: tuple[Step, ...]) -> Known | None:
        traits = traits_of(script)
        return next((row for row in self.known if row.fits(*problem.key, traits)), None)

    def _prove(self, finding: Finding) -> None:
        """Run the script by client programs alone on fresh servers."""
        header = (
            f"{finding.problem.oracle}: {finding.problem.kind}",
            *finding.problem.detail.splitlines()[:3],
            f"binlog-lab explore --topology {finding.topology} --seed {finding.seed}, episode {finding.episode}",
            f"MySQL {self.maker.version}",
        )
        finding.suffix, finding.text = render(finding.script, finding.problem, header)
        if any(step.text in IN_NO_SCRIPT for step in finding.script):
            return
        for _ in range(PROOFS):
            world = self._make(finding.topology)
            try:
                shown = shows_it(world, finding.suffix, finding.text, finding.problem)
            finally:
                world.close()
            if shown is not None:
                finding.tries += 1
                finding.shown += shown

    def close(self) -> None:
        """End the servers."""
        if self._world is not None:
            self._world.close()
            self._world = None
