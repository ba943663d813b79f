"""A run in shares: episodes that one process explores on servers of its own, and the tally of all of them.

Episode 12 of a seed is the same in whichever share it stands. A share knows the findings that were met before it began.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.explore.explorer import Explorer, Plan
from conformance.forked import Children
from conformance.interrupts import handle_interrupts
from conformance.servers.errors import ServerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.explore.tally import Tally
    from conformance.forked import Child
    from conformance.servers.run.owned import Maker

EPISODES: Final = 8  # of a share: its servers start once
_LOOK_SECONDS: Final = 1.0


class Explored(NamedTuple):
    """The outcome of a share."""

    tally: Tally
    told: list[str]


@dataclass(slots=True)
class Shares:
    """Gives out the shares of a run, and takes in their tallies. ``explorer`` is the run's own: it explores nothing."""

    explorer: Explorer
    _first: int = 0
    _steps_out: int = 0  # given to shares that have not come back

    def next(self) -> Plan | None:
        """The plan of the next share, or ``None`` where the run has no more to give."""
        plan = self.explorer.plan
        seconds = None if plan.seconds is None else plan.seconds - self.explorer.seconds
        steps = None if plan.steps is None else plan.steps - self.explorer.steps - self._steps_out
        if (seconds is not None and seconds <= 0) or (steps is not None and steps <= 0):
            return None
        if steps is not None:
            steps = min(steps, EPISODES * plan.episode_steps)
            self._steps_out += steps
        first = self._first
        self._first += EPISODES
        return replace(
            plan, seconds=seconds, steps=steps, episodes=EPISODES, first=first, met=tuple(self.explorer.findings)
        )

    def take(self, plan: Plan, share: Explored) -> None:
        """Take in what a share tallied and told."""
        self._steps_out -= plan.steps or 0
        for line in share.told:
            self.explorer.narrate(line)
        for finding in self.explorer.absorb(share.tally):
            if self.explorer.folder is not None:
                finding.store(self.explorer.folder)
        self.explorer.tell()


def explore_share(maker: Maker, plan: Plan) -> Explored:
    """Explore a share, from the start of its servers to their end."""
    told: list[str] = []
    explorer = Explorer(maker, plan, told.append)
    explorer.run()
    return Explored(explorer.counts(), told)


def _as_child(maker: Maker, plan: Plan) -> Explored:
    """Explore a share in a child of the command: when the command ends, its servers are stopped on the way out."""
    handle_interrupts()
    return explore_share(maker, plan)


def run_side_by_side(explorer: Explorer, jobs: int) -> None:
    """Run the shares in ``jobs`` processes at a time."""
    shares = Shares(explorer)
    running: dict[Child, Plan] = {}
    with Children(jobs) as children:
        while True:
            while children.free and (plan := shares.next()) is not None:
                running[children.start(partial(_as_child, explorer.maker, plan))] = plan
            if not running:
                return
            children.wait(_LOOK_SECONDS)
            explorer.tell()
            for child in [child for child in running if child.done]:
                shares.take(running.pop(child), child.take())
                children.drop(child)


@dataclass(frozen=True, slots=True)
class SparkShares:
    """The function for ``mapInArrow``: numbers of ``plans`` in, for each a row of :data:`COLUMNS` out.

    ``find`` gives the maker of the servers there, which must be of ``version``. What a share cannot do is told as
    ``failure``, never tried again: a server that fails once may be a finding.
    """

    find: Callable[[], Maker]
    version: str
    plans: tuple[Plan, ...]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Explore the shares of a task."""
        import pyarrow as pa

        schema = pa.schema([("share", pa.int64()), ("tally", pa.binary()), ("failure", pa.string())])
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield pa.RecordBatch.from_pylist([self._row(number)], schema=schema)

    def _row(self, number: int) -> dict[str, Any]:
        try:
            maker = self.find()
            if maker.version != self.version:
                raise ServerError(f"MySQL {maker.version} at a worker, where the run is about {self.version}")
            return {"share": number, "tally": pickle.dumps(explore_share(maker, self.plans[number])), "failure": None}
        except ServerError as error:
            return {"share": number, "tally": None, "failure": str(error)}


COLUMNS: Final = "share BIGINT, tally BINARY, failure STRING"


def take_rows(shares: Shares, plans: Sequence[Plan], rows: Sequence[dict[str, Any]]) -> None:
    """Take in what the workers tallied. Raises :class:`ServerError` for a share that could not be explored."""
    for row in sorted(rows, key=lambda row: int(row["share"])):
        if row["failure"] is not None:
            raise ServerError(row["failure"])
        shares.take(plans[row["share"]], pickle.loads(row["tally"]))  # noqa: S301 - of our own workers
