"""``--master`` of ``conformance`` and ``explore``: the update campaign of a run, and shares of episodes, on Spark."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.console import narrate
from conformance.report.directory import UPDATES_DIR
from conformance.servers.mixed import find_makers
from conformance.servers.specs import SpecKind
from conformance.user_errors import CouldNotRun, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from conformance.explore.explorer import Explorer
    from conformance.servers.base import Server
    from conformance.servers.specs import ServerSpec


def require_private(specs: Sequence[ServerSpec]) -> None:
    """Refuse servers that executors cannot have for themselves."""
    if len(specs) != 1 or specs[0].kind not in (SpecKind.AUTO, SpecKind.PROCESS):
        raise Usage("--master needs one --server that each executor can start: auto, process or process:PATH")


@contextmanager
def campaigns(master: str, spec: str, wrapper: str, report: Path) -> Iterator[Callable[..., Any]]:
    """A session as long as the context lasts; gives the function that makes its update campaign."""
    from scenarios.spark.session import SparkUnavailable, session
    from scenarios.spark.ship import prepare
    from scenarios.updates.campaign import SparkCampaign

    made: list[SparkCampaign] = []

    def make(server: Server, *, seed: str, updates: int, portable: bool) -> SparkCampaign:
        campaign = SparkCampaign(
            spark, server, spec=spec, wrapper=wrapper, directory=report / UPDATES_DIR, seed=seed, updates=updates,
            portable=portable,
        )  # fmt: skip
        made.append(campaign)
        return campaign

    try:
        narrate(f"updates on Spark: {master}")
        with session(master) as spark:
            prepare(spark)
            yield make
    except SparkUnavailable as problem:
        raise CouldNotRun(str(problem)) from problem
    for campaign in made:
        narrate(
            f"{len(campaign.workers)} workers with a server of their own; {campaign.again} blocks in tasks that"
            f" were begun again; rows: {campaign.directory}"
        )


def explore(explorer: Explorer, master: str, specs: Sequence[ServerSpec]) -> None:
    """Run the shares of an exploration as tasks of Spark: one for each core at a time."""
    from conformance.explore.shares import COLUMNS, Shares, SparkShares, take_rows
    from scenarios.spark.interruptible import interruptible
    from scenarios.spark.session import SparkUnavailable, cores_of, session
    from scenarios.spark.ship import prepare

    shares = Shares(explorer)
    find = partial(find_makers, *map(str, specs))

    def work() -> None:
        while plans := [plan for _ in range(cores_of(spark)) if (plan := shares.next()) is not None]:
            tasks = spark.range(0, len(plans), 1, len(plans))
            rows = tasks.mapInArrow(SparkShares(find, explorer.maker.version, tuple(plans)), COLUMNS)
            take_rows(shares, plans, rows.toArrow().to_pylist())

    try:
        narrate(f"episodes on Spark: {master}")
        with session(master) as spark:
            prepare(spark)
            interruptible(spark, work)
    except SparkUnavailable as problem:
        raise CouldNotRun(str(problem)) from problem
