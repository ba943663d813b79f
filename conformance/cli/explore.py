"""``binlog-lab explore``: random workloads on real servers, and oracles that need no model."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.helpful import LabCommand
from conformance.cli.jobs import cores
from conformance.console import narrate, progress
from conformance.exit_code import ExitCode
from conformance.explore.topologies import SINGLE, TOPOLOGIES
from conformance.server_use import server_errors
from conformance.user_errors import CouldNotRun, Usage

if TYPE_CHECKING:
    from conformance.explore.explorer import Explorer
    from conformance.servers.specs import ServerSpec


@click.command(name="explore", cls=LabCommand)
@click.option(
    "-s", "--server", default="auto", show_default=True, metavar="SPEC", help="auto, process[:PATH], docker[:IMAGE]."
)
@click.option("--replica", default="", metavar="SPEC", help="Other servers for the replicas [default: as --server].")
@click.option("--topology", type=click.Choice(tuple(TOPOLOGIES)), default="pair", show_default=True,
              help="One server, or one of the ways to have replicas.")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(min=1), metavar="N", help="Time for the run [default: 60].")
@click.option("--steps", type=click.IntRange(min=1), metavar="N", help="Number of statements, in place of --seconds.")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="[default: a new one, which is printed]")
@click.option("--jobs", type=click.IntRange(min=0), default=1, show_default=True, metavar="N",
              help="Processes that share the episodes, with servers of their own; 0: one for each core.")  # fmt: skip
@click.option("--master", metavar="URL", help="Share the episodes out on Spark: local[N], spark://… (extra spark).")
@click.option("--shrink-seconds", type=click.FloatRange(min=0), default=60.0, show_default=True, metavar="N",
              help="Time to make the script of a finding shorter.")  # fmt: skip
@click.option("-o", "--report", type=click.Path(path_type=Path), default=Path("explore-report"), show_default=True,
              metavar="DIR", help="Directory for the page, results.json and the scripts.")  # fmt: skip
def command(
    server: str,
    replica: str,
    topology: str,
    seconds: float | None,
    steps: int | None,
    seed: int | None,
    jobs: int,
    master: str | None,
    shrink_seconds: float,
    report: Path,
) -> int:
    """Run random workloads on MySQL servers of the lab's own, and look for what cannot be right.

    Each episode makes tables with features in combination, and runs statements of every shape in two schemas. In the
    second schema no update can be partial; all else is the same. Rows, answers and warnings of both must be equal, and
    the rows of the replica too. An index must give the rows of its table, and a generated column must be its
    expression. A snapshot must stay, and mysqlbinlog must replay the log into an empty schema.

    A difference that comes again is shrunk to a short script, which is run by the client mysql on five fresh servers.
    """
    if seconds is not None and steps is not None:
        raise Usage("--seconds and --steps exclude each other")
    if master is not None and jobs != 1:
        raise Usage("--master and --jobs exclude each other")
    if replica and topology == SINGLE:
        raise Usage("--replica: the topology single has no replica")
    seed = seed if seed is not None else secrets.randbelow(1 << 31)
    with server_errors():
        narrate(f"explore: topology {topology}, seed {seed}")  # printed first: loading the rest takes a moment
    from conformance.explore.explorer import Explorer, Plan
    from conformance.explore.results import lines, write
    from conformance.report.directory import DirectoryInUseError, ReportError, taken
    from conformance.runs import on_spark
    from conformance.servers.auto import prepare
    from conformance.servers.mixed import find_makers

    with server_errors():
        specs = [_spec("--server", server), *([_spec("--replica", replica)] if replica else [])]
        if master is not None:
            for spec in specs:
                on_spark.require_private([spec])
        maker = find_makers(*map(str, specs), narrate=narrate)
        for spec in specs if jobs != 1 else ():
            prepare(spec, {}, narrate=narrate)
    plan = Plan(
        topology=topology, seed=seed, steps=steps, shrink_seconds=shrink_seconds,
        seconds=60.0 if seconds is None and steps is None else seconds,
    )  # fmt: skip
    try:
        with taken(report), server_errors(), progress() as show:
            explorer = Explorer(maker, plan, narrate, report / "cases", show)
            code, problem = ExitCode.INCOMPLETE, "interrupted"
            try:
                _run(explorer, jobs or cores(), master, specs)
                code, problem = _outcome(explorer), ""
            finally:
                for line in lines(explorer):
                    click.echo(line)
                write(explorer, report, int(code), problem)
                narrate(f"report: {report / 'index.html'}")
    except DirectoryInUseError as error:
        raise Usage(str(error)) from error
    except ReportError as error:
        raise CouldNotRun(str(error)) from error
    return int(code)


def _spec(option: str, text: str) -> ServerSpec:
    """The server spec of an option: servers of the lab's own only."""
    from conformance.servers.specs import SpecKind, parse_spec

    spec = parse_spec(text)
    if spec.kind not in (SpecKind.AUTO, SpecKind.PROCESS, SpecKind.DOCKER):
        raise Usage(f"{option} {text}: explore needs servers that the lab starts itself (they may end)")
    return spec


def _run(explorer: Explorer, jobs: int, master: str | None, specs: list[ServerSpec]) -> None:
    """Explore in this process, in some of this machine, or on Spark."""
    if master is not None:
        from conformance.runs import on_spark

        on_spark.explore(explorer, master, specs)
    elif jobs > 1:
        from conformance.explore.shares import run_side_by_side

        run_side_by_side(explorer, jobs)
    else:
        explorer.run()


def _outcome(explorer: Explorer) -> ExitCode:
    new = any(not finding.known for finding in explorer.findings)
    return ExitCode.NONCONFORMANT if new else ExitCode.OK
