"""``binlog-lab matrix``: scenario matrices and their budgets."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.encryption import keyring_option
from conformance.cli.groups import NamedCommands
from conformance.cli.jobs import jobs_option
from conformance.cli.log_options import MAX_UNCOMPRESSED
from conformance.console import narrate
from conformance.exit_code import ExitCode
from conformance.keyring_file import read_keyring
from conformance.logs.refusals import hint_of
from conformance.user_errors import CouldNotRun, InputCorrupt, Usage

if TYPE_CHECKING:
    from scenarios.estimate.questions import Trouble
    from scenarios.live import Live
    from scenarios.matrix import Matrix


@click.group(name="matrix", cls=NamedCommands)
def command() -> None:
    """Scenario matrices: many generated updates, judged against size budgets."""


@command.command(name="list")
def list_() -> None:
    """List the matrices, with their axes and budgets."""
    from scenarios.matrix import load_matrix, matrix_names

    for name in matrix_names():
        matrix = load_matrix(name)
        click.echo(f"{name:<14} {matrix.title} ({matrix.cells} cells, {matrix.total:,} scenarios)")
        for axis, values in matrix.axes.items():
            click.echo(f"  {axis}: {', '.join(map(str, values))}")
        for axis, values in matrix.ranges.items():
            click.echo(f"  {axis}, drawn: {', '.join(map(str, dict.fromkeys(values)))}")
        for budget in matrix.budgets:
            click.echo(f"  {budget.requirement} {budget.id}: {budget.title.format(**dict(budget.constants))}")


@command.command(name="run")
@click.argument("name")
@click.option(
    "--scenarios",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of scenarios in all cells [default: the matrix's].",
)
@click.option(
    "--master", metavar="URL", help="Spark: local[N], spark://…, sc://…. [default: local[*], one task a core]"
)
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Tasks at a time on this machine: --master 'local[N]'."
)
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    default=Path("report"),
    show_default=True,
    metavar="DIR",
    help="Directory for the report and the rows.",
)
@click.option(
    "--live", type=click.IntRange(min=1), metavar="N", help="Also run N scenarios on a real server and compare."
)
@click.option("--server", default="auto", show_default=True, metavar="SPEC", help="The server for --live.")
@click.option("--rows", metavar="URI", help="Place for the rows, outside DIR, that remote executors can reach.")
def run(
    name: str,
    scenarios: int | None,
    master: str | None,
    jobs: int | None,
    report: Path,
    live: int | None,
    server: str,
    rows: str | None,
) -> int:
    """Run a matrix on Spark: rows as Parquet, budgets as verdicts, a report in DIR.

    The same command continues an interrupted run where it stopped. The digest at the end depends on the matrix and the
    number of scenarios alone. With --live a sample over all cells also runs on a server. The command compares its bytes
    and sizes with the model and with the matrix's rows. Needs the extra spark (pip install 'binlog-lab[spark]').
    """
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


@command.command(name="report")
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR")
def report_(directory: Path) -> int:
    """Render the report of a run again from DIR/results.json.

    Writes index.html and summary.md, runs nothing and needs no Spark. The exit code is 4 if the run was interrupted or
    its rows are incomplete, else 0, whatever the run's exit code was.
    """
    from conformance.report.directory import DirectoryInUseError, ReportError
    from scenarios.manifest import ManifestError
    from scenarios.page import headline
    from scenarios.rendered import BrokenOff, NoResults, render_again

    try:
        content = render_again(directory)
    except BrokenOff as problem:
        narrate(str(problem))
        return int(ExitCode.INCOMPLETE)
    except (NoResults, ManifestError, DirectoryInUseError) as problem:
        raise Usage(str(problem)) from problem
    except ReportError as problem:
        raise CouldNotRun(str(problem)) from problem
    narrate(headline(content))
    narrate(f"report: {directory / 'index.html'}")
    click.echo(content["digest"])
    return int(ExitCode.OK if content["run"]["complete"] else ExitCode.INCOMPLETE)


@command.command(name="estimate")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--master",
    metavar="URL",
    help="Spark to read with: local[N], spark://…, sc://…, or none [default: none up to 64 MB of logs, else local[*]].",
)
@keyring_option
@MAX_UNCOMPRESSED
@jobs_option
def estimate(
    paths: tuple[str, ...], form: str, master: str | None, keyring: Path | None, limit: int | None, jobs: int
) -> None:
    """Estimate what partial JSON saves, or would save, in binary logs: files, directories or patterns.

    Logs with full row images tell most: the documents before and after an update determine its diffs. Where several
    statements could have made the same change, the estimate gives bounds: from the cheapest statement to one that sets
    the whole document. The line "single values set" lies between the two. Exit code 1: a log is corrupt, truncated or
    encrypted without its key; --keyring reads encrypted logs without Spark. Exit code 2: a file is missing, or is no
    binary log. Exit code 3: Spark could not run. --jobs reads without Spark: what it starts for N processes is
    --master 'local[N]'.
    """
    import json

    from conformance.logs.paths import find_logs
    from conformance.logs.rows.options import OptionError
    from scenarios.estimate.choice import spark_for
    from scenarios.estimate.report import as_data, as_text
    from scenarios.spark.session import SparkUnavailable

    try:
        files = sorted({file for path in paths for file in find_logs(path)})
    except OptionError as problem:
        raise Usage(str(problem).removeprefix("option path: ")) from problem
    keys = read_keyring(keyring)
    if keys is not None and master not in (None, "none"):
        raise Usage("--keyring reads logs without Spark", hint="--master none")
    if jobs > 1 and master not in (None, "none"):
        raise Usage("--jobs reads logs without Spark", hint=f"on Spark: --master 'local[{jobs}]'")
    master = spark_for(files, "none" if keys is not None or jobs > 1 else master)
    try:
        if master is None:
            from scenarios.estimate.inline import estimate as by_loop

            found = by_loop(files, limit, keys, jobs)
        else:
            from scenarios.spark.estimates import estimate as by_spark
            from scenarios.spark.session import require_packages, session

            require_packages()
            narrate(f"{len(files)} files on {master}" if len(files) > 1 else f"{files[0]} on {master}")
            with session(master) as spark:
                found = by_spark(spark, files, limit=limit)
    except SparkUnavailable as problem:
        raise CouldNotRun(str(problem), hint="without Spark: --master none") from problem
    if form == "json":
        click.echo(json.dumps(as_data(found, engine=master or "none"), indent=1))
    else:
        for line in as_text(found):
            click.echo(line)
    _end_of_estimate([problem for problem in found.troubles if problem.damage])


def _end_of_estimate(damage: list[Trouble]) -> None:
    """The exit of a file command: 1 if a log is corrupt, truncated or encrypted, 2 if a file is no log. The result is
    printed first.
    """
    from conformance.logs.part_events import NO_LOG

    corrupt = [problem for problem in damage if problem.code not in NO_LOG]
    for problem in corrupt or damage:
        raise (InputCorrupt if corrupt else Usage)(f"{problem.file}: {problem.message}", hint=hint_of(problem.code))


@command.command(name="zip")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def zip_(file: Path) -> None:
    """Write the lab as one zip for spark-submit --py-files, and the script to submit beside it."""
    from scenarios.spark.ship import write_zip

    if file.suffix != ".zip":
        raise Usage(f"{file}: expected a name that ends with .zip")
    script = write_zip(file)
    narrate(f"spark-submit --py-files {file} {script} size-budget --report DIR")
