"""One episode: schemas of its own, a workload, and the oracles between its statements."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from conformance.explore.administration import ENDS_SERVER, ENDS_SESSION, administer, is_administration
from conformance.explore.oracles.applied import apply_log
from conformance.explore.oracles.fulltext import compare_words
from conformance.explore.oracles.growth import check_memory
from conformance.explore.oracles.indexes import check_tables, compare_indexes
from conformance.explore.oracles.prediction import compare_log
from conformance.explore.oracles.problem import INCONCLUSIVE, Problem
from conformance.explore.oracles.rebuilt import compare_copies
from conformance.explore.oracles.replayed import replay_log
from conformance.explore.oracles.replica import compare_replicas, stopped
from conformance.explore.oracles.snapshot import Snapshot
from conformance.explore.oracles.tables import TableFacts, describe, read
from conformance.explore.oracles.twin import DECIDED_BY_PLAN, compare_answers, compare_rows
from conformance.explore.oracles.updates import Updates
from conformance.explore.places import place_of
from conformance.explore.steps import KILL_SOURCE, SNAPSHOT, Step
from conformance.explore.world import SIDES, Died, World
from conformance.servers.errors import ConnectionLost, ServerError, SqlError, StartFailed
from conformance.servers.roles.pair import ReplicaStopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from conformance.explore.rules.workload import Workload

BETWEEN: Final = 40  # statements from one look of the oracles to the next
NOT_RUN: Final = -1  # in place of an error's number
SLOW_SECONDS: Final = 20.0
_DDL: Final = ("CREATE", "ALTER", "DROP", "RENAME", "OPTIMIZE", "ANALYZE", "FLUSH", "TRUNCATE", "LOCK TABLES")


class Episode:
    """Runs steps in a world, and remembers them. ``tried`` counts the oracles' questions."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.script: list[Step] = []
        self.errors: Counter[str] = Counter()
        self.tried: Counter[str] = Counter()
        self._updates = Updates()
        self._tables: dict[str, TableFacts] | None = None
        self._snapshot: Snapshot | None = None

    def step(self, step: Step) -> tuple[int, list[Problem]]:
        """Run one step; the number of its error, and what the two answers show."""
        problems: list[Problem] = []
        if step.text == SNAPSHOT:
            self._snapshot_now()
            return 0, problems
        if is_administration(step):
            return 0, self._administer(step)
        if step.text.startswith(_DDL):
            self._tables = None
            if self._snapshot is not None:  # an open transaction holds the tables that it read
                problems = list(self._snapshot.compare())
                self._forget_snapshot()
        self.script.append(step)
        if problems:
            return 0, problems
        done = self.world.run(step)
        self._updates.ran(step, done.base.error)
        self.errors[f"{step.shape}: {done.base.error or 'ok'}"] += 1
        problems = list(compare_answers(done))
        self.tried["twin/answers"] += 1
        if done.base.seconds > SLOW_SECONDS:
            problems.append(Problem("time", f"slow {step.shape}", f"{done.base.seconds:.0f} s"))
        return done.base.error, problems

    def together(self, steps: Sequence[Step]) -> list[Problem]:
        """Run steps of several sessions at the same time."""
        self._forget_snapshot()
        self.script.extend(steps)
        for done in self.world.run_together(steps):
            self.errors[f"{done.step.shape}: {done.base.error or 'ok'}"] += 1
            self._updates.ran(done.step, done.base.error)
        return []

    def look(self, *, last: bool = False, only: str = "") -> list[Problem]:
        """Ask the oracles; the dear ones only at the ``last`` look. The first oracle that sees something ends it.

        ``only``: one oracle, by the name in its problems.
        """
        try:
            for name, problems in self._oracles(last):
                if only and not name.startswith(only):
                    continue
                self.tried[name] += 1
                found = list(problems)
                if found:
                    return found
        except SqlError as error:
            return [Problem("reading", f"error {error.number}", f"{error.message} {error.statement[:300]}",
                            (error.statement.replace(f"`{self.world.schema('x')}`.", ""),))]  # fmt: skip
        except ConnectionLost as error:
            raise Died("source", self.world.source, error, None) from error
        return []

    def _oracles(self, last: bool) -> Iterator[tuple[str, Iterable[Problem]]]:
        world = self.world
        world.settle()
        if self._tables is None:
            self._tables = describe(world.own, world.schema("x"))
        tables = self._tables
        rows = {side: read(world.own, world.schema(side), tables) for side in SIDES[: 1 + world.twins]}
        if self._snapshot is not None:
            yield "snapshot", self._snapshot.compare()
        self._snapshot_now()
        if world.twins:
            different = list(compare_rows(tables, rows["x"], rows["y"]))
            if different and any(step.shape == DECIDED_BY_PLAN for step in self.script):
                different = [Problem(INCONCLUSIVE, f"rows behind {DECIDED_BY_PLAN}", different[0].detail)]
            yield "twin/rows", different
        yield "replica", compare_replicas(world, tables, rows)
        yield "index", compare_indexes(world, tables)
        if last:
            yield "check-table", check_tables(world, tables)
            yield "generated", compare_copies(world, tables, rows["x"])
            yield "fulltext", compare_words(world, tables)
            yield "growth", check_memory(world)
            yield "mysqlbinlog", replay_log(world, tables, rows["x"])
            yield "apply", apply_log(world, tables, self.tried)  # no script shows these: what others see is theirs
            yield "prediction", compare_log(world, tables, self._updates, self.tried)

    def _administer(self, step: Step) -> list[Problem]:
        """Act beside the statements. With a server or a session ends what it had open, and its settings."""
        self.script.append(step)
        self.errors[f"{step.shape}: ok"] += 1
        if step.text in ENDS_SERVER:
            self._forget_snapshot()
        if step.text in (KILL_SOURCE, *ENDS_SESSION):
            self._updates.disconnected(None if step.text == KILL_SOURCE else step.session)
        try:
            administer(self.world, step)
        except StartFailed as error:
            return [Problem("died", f"{step.text}: does not start again", str(error)[:1000])]
        except ReplicaStopped as error:
            return [stopped(error)]
        return []

    def _snapshot_now(self) -> None:
        self._forget_snapshot()
        if self._tables is None:
            self._tables = describe(self.world.own, self.world.schema("x"))
        self._snapshot = Snapshot(self.world, self._tables)
        self.script.append(Step(SNAPSHOT, "snapshot", alone=True))

    def _forget_snapshot(self) -> None:
        if self._snapshot is not None:
            self._snapshot.close()
            self._snapshot = None

    def close(self) -> None:
        """End the episode; a world whose server is gone has nothing to drop."""
        self._forget_snapshot()
        with suppress(ServerError):
            self.world.end()


def run_workload(
    episode: Episode, workload: Workload, steps: int, wanted: Callable[[Step], bool] = lambda _: True
) -> list[Problem]:
    """Run a workload until an oracle sees something; an empty list if none does. Leaves out what is not ``wanted``."""

    def told(step: Step) -> list[Problem]:
        if not wanted(step):
            workload.told(step, NOT_RUN)
            return []
        error, problems = episode.step(step)
        workload.told(step, error)
        return problems

    for step in workload.setup():
        if problems := told(step):
            return problems
    if not workload.tables:
        return []
    if not episode.world.twins:
        return _parallel(episode, workload, steps)
    looked = 0
    for number in range(1, steps + 1):
        if problems := told(workload.next()):
            return problems
        if number - looked >= BETWEEN and number < steps and not workload.tables_locked:
            looked = number
            if problems := episode.look():
                return problems
    for step in workload.end():
        if problems := told(step):
            return problems
    return episode.look(last=True)


def _parallel(episode: Episode, workload: Workload, steps: int) -> list[Problem]:
    """Really parallel sessions: chance decides what each row is, so that only one schema has rows to compare."""
    while len(episode.script) < steps:
        episode.together(workload.together())
        if problems := episode.look():
            return problems
    return episode.look(last=True)


def groups(script: Sequence[Step]) -> list[list[Step]]:
    """The steps one by one, but for those that run together."""
    found: list[list[Step]] = []
    for step in script:
        if step.together and found and found[-1][0].together == step.together:
            found[-1].append(step)
        else:
            found.append([step])
    return found


def run_script(world: World, script: Sequence[Step], *, only: str = "", twins: bool = True) -> list[Problem]:
    """Run a script in fresh schemas, with every oracle at its end, or ``only`` one of them."""

    def run() -> list[Problem]:
        world.twins = twins
        world.begin()
        episode = Episode(world)
        try:
            for group in groups(script):
                problems = episode.together(group) if group[0].together else episode.step(group[0])[1]
                if problems:
                    return problems
            return episode.look(last=True, only=only)
        finally:
            episode.close()

    return or_death(world, run)


def or_death(world: World, work: Callable[[], list[Problem]]) -> list[Problem]:
    """The problems that some work in a world gives; a server's end is one of them."""
    try:
        return work()
    except Died as error:
        return [death(error)]
    except ConnectionLost as error:
        return [death(Died("source", world.source, error, None))]


def death(error: Died) -> Problem:
    """A server's end as a problem; its kind is the place in the server."""
    return Problem("died", f"{error.role}: {place_of(error.death, error.server)}", str(error.death)[:3000])
