"""A matrix on Spark, with a sample on a real server, and what is told of the run."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from conformance.console import narrate
from conformance.user_errors import CouldNotRun, Usage

if TYPE_CHECKING:
    from pathlib import Path

    from scenarios.live import Live
    from scenarios.matrix import Matrix


def run(
    *,
    name: str,
    scenarios: int | None,
    master: str | None,
    jobs: int | None,
    report: Path,
    live: int | None,
    server: str,
    rows: str | None,
) -> int:
    """Run a matrix, tell its verdicts, and print its digest; return the exit code."""
    from scenarios.matrix import MatrixError, load_matrix

    if jobs is not None and master is not None:
        raise Usage("--jobs is --master for this machine: give one of them")
    master = master or f"local[{jobs or '*'}]"
    narrate(f"matrix {name} on {master}")  # Printed first: loading the runner takes a second.
    from conformance.report.directory import DirectoryInUseError, ReportError
    from scenarios.costs import words
    from scenarios.manifest import ManifestError
    from scenarios.page import headline
    from scenarios.runs import run_matrix
    from scenarios.spark.session import SparkUnavailable, require_packages, session

    asked = ["binlog-lab", "matrix", "run", name, *(["--scenarios", str(scenarios)] if scenarios else [])]
    asked += ["--live", str(live), "--server", server] if live else []
    try:
        matrix = load_matrix(name)
        matrix.share(scenarios or matrix.total)  # checked before anything starts
        if live is not None:
            matrix.share(live)
        require_packages()
        narrate(f"{scenarios or matrix.total:,} scenarios in {matrix.cells} cells")
        tie = None if live is None else _live(matrix, live, server)
        with session(master) as spark:
            ran = run_matrix(
                matrix,
                spark=spark,
                report=report,
                scenarios=scenarios,
                rows=rows,
                narrate=narrate,
                live=tie,
                command=shlex.join([*asked, "--master", master, "--report", str(report)]),
            )
    except (MatrixError, DirectoryInUseError) as problem:
        raise Usage(str(problem)) from problem
    except (SparkUnavailable, ReportError, ManifestError) as problem:
        raise CouldNotRun(str(problem)) from problem
    judgement = ran.judgement
    if tie is not None:
        narrate(tie.words)
        narrate(f"  {tie.spread}")
    narrate(headline(ran.results))
    for item in judgement.budgets:
        narrate(
            f"  {item.verdict:<12} {item.budget.requirement} {item.title}: {item.met:,} rows, {item.broken:,} broken"
        )
    for failure in ran.results["failures"][:10]:
        narrate(f"  {failure['check']}: {failure['replay']}")
    for problem_ in judgement.unsound[:10]:
        narrate(f"  {problem_}")
    for line in words(ran.facts.costs, ran.facts.memory):
        narrate(line)
    if ran.facts.scenarios:
        narrate(f"{ran.facts.seconds:.0f} s, {ran.facts.scenarios / ran.facts.seconds:,.0f} scenarios/s")
    narrate(f"report: {report / 'index.html'}")
    click.echo(judgement.digest)
    return int(ran.results["run"]["exit_code"])


def _live(matrix: Matrix, number: int, spec: str) -> Live:
    """Run a sample of scenarios on a server, which the lab starts or connects to."""
    from conformance.server_use import fetch_progress, server_errors
    from conformance.servers.auto import resolve
    from conformance.servers.errors import ServerError
    from scenarios.live import run_live

    with server_errors(), fetch_progress() as fetching:
        server = resolve(spec, narrate=narrate, progress=fetching)
    if server is None:
        raise Usage("--live needs a server: --server none has none")
    with server:
        try:
            return run_live(matrix, server, number, narrate)
        except ServerError as problem:
            said = str(problem)
            raise CouldNotRun(said if server.id in said else f"{server.id}: {said}") from problem
