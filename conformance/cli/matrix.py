"""``binlog-lab matrix``: scenario matrices and their budgets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from conformance.cli.estimate import command as estimate
from conformance.cli.groups import NamedCommands
from conformance.console import narrate
from conformance.user_errors import Usage


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
    "-o",
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
@click.option("-s", "--server", default="auto", show_default=True, metavar="SPEC", help="The server for --live.")
@click.option("--rows", metavar="URI", help="Place for the rows, outside DIR, that remote executors can reach.")
def run(**options: Any) -> int:
    """Run a matrix on Spark: rows as Parquet, budgets as verdicts, a report in DIR.

    The same command continues an interrupted run where it stopped. The digest at the end depends on the matrix and the
    number of scenarios alone. With --live a sample over all cells also runs on a server. The command compares its bytes
    and sizes with the model and with the matrix's rows. Needs the extra spark.
    """
    from conformance.runs.matrix_run import run

    return run(**options)


@command.command(name="report")
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR")
def report_(directory: Path) -> int:
    """Render the report of a run again from DIR/results.json.

    Writes index.html and summary.md, runs nothing and needs no Spark.
    """
    from conformance.runs.matrix_report import render_report

    return render_report(directory)


command.add_command(estimate)  # its name before it stood on its own


@command.command(name="zip")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), metavar="OUT.zip")
def zip_(file: Path) -> None:
    """Write the lab as one zip for spark-submit --py-files, and the script to submit beside it."""
    from scenarios.spark.ship import write_zip

    if file.suffix != ".zip":
        raise Usage(f"{file}: expected a name that ends with .zip")
    script = write_zip(file)
    narrate(f"spark-submit --py-files {file} {script} size-budget --report DIR")
