"""``binlog-lab replay``: run stored Cases again, or print one as a SQL script or as JSON."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource


@click.command(name="replay")
@click.argument(
    "cases",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="(CASE|matrix:NAME/CELL/INDEX|decoder:GROUP/NAME)…",
)
@click.option("--as", "form", type=click.Choice(["sql", "json"]), help="Print the Case instead of running it.")
@click.option("--server", default="auto", show_default=True, metavar="SPEC", help="The server to run the Case on.")
@click.option("--subject", default="", metavar="SUBJECT", help="The subject that reads the log of a decoder Case.")
@click.option(
    "--replica", default="", metavar="SPEC", help="The replica of a Case that needs one (default: like SPEC)."
)
@click.option("--allow", multiple=True, metavar="HAZARD", help="Hazards allowed on a server at an address.")
@click.option(
    "--server-option", "server_options", multiple=True, metavar="K=V", help="Option of a server the lab starts."
)
@click.option("--no-deviations", is_flag=True, help="Count known deviations as failures.")
@click.option(
    "--deviations",
    "deviations_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Another list of deviations.",
)
@click.pass_context
def command(
    context: click.Context, *, cases: tuple[Path, ...], form: str | None, server: str, subject: str, replica: str,
    allow: tuple[str, ...], server_options: tuple[str, ...], no_deviations: bool, deviations_file: Path | None,
) -> int:  # fmt: skip
    """Run stored Cases again: FIXED (nothing differs), FAILED (still differs) or ERROR (could not run).

    CASE is a file of a report's cases/ directory, or deviation:ID, the Case that shows a listed deviation. --as sql
    prints a script for a bug report. The script's output says what is expected, what came, and FAULT where they differ.
    It is SQL for the mysql program, or a shell script (it begins with #!) for Cases that need several servers or
    programs. An event that may end a server goes only to a server that the lab started. A file for mysqlbinlog goes to
    the mysqlbinlog of the server's installation.

    matrix:NAME/CELL/INDEX is a scenario of a matrix ('binlog-lab matrix list'): the number of its cell, and its number
    in the cell. It runs on the reference alone, as in 'matrix run', and its budgets are judged. With --server it runs
    as a Case.

    decoder:GROUP/NAME is a Case of the decoder suite, or several (decoder:diffs/*). The subject reads its log again. So
    it does with the directory of a finding about a decoder, which names its subject.
    """
    from conformance.runs.stored_cases import Target, replay_cases

    given = context.get_parameter_source("server") is not ParameterSource.DEFAULT
    on = Target(server=server, given=given, subject=subject, replica=replica, allow=allow, options=server_options)
    return replay_cases(cases, form, on, listed=not no_deviations, deviations_file=deviations_file)
