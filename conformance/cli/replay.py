"""``binlog-lab replay``: run stored Cases again, or print one as a SQL script or as JSON."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from conformance.cli.helpful import LabCommand
from conformance.console import narrate

if TYPE_CHECKING:
    from collections.abc import Iterable


@click.command(name="replay", cls=LabCommand)
@click.argument(
    "cases",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="(CASE|FILE.sql|matrix:NAME/CELL/INDEX|decoder:GROUP/NAME)…",
)
@click.option("--as", "form", type=click.Choice(["sql", "json"]), help="Print the Case instead of running it.")
@click.option(
    "-s", "--server", default="auto", show_default=True, metavar="SPEC", help="The server to run the Case on."
)
@click.option("--subject", default="", metavar="SUBJECT", help="The subject that reads the log of a decoder Case.")
@click.option(
    "--replica", default="", metavar="SPEC", help="The replica of a Case that needs one (default: like SPEC)."
)
@click.option("--allow", multiple=True, metavar="HAZARD", help="Hazards allowed on a server at an address.")
@click.option(
    "--server-option", "server_options", multiple=True, metavar="K=V", help="Option of a server the lab starts."
)
@click.option(
    "--no-deviations/--with-deviations", default=False, help="Count known deviations as failures, or allow them."
)
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
    """Run stored Cases again, and say of each how it ended.

    PASS: it ends as it must. DEVIATES: as a listed deviation says. FAILED: it differs. DIED: a server or a program
    ended. FIXED: it failed before, and holds now. ERROR: it could not run.

    CASE is a file of a report's cases/ directory, or deviation:ID, the Case that shows a listed deviation. A Case of a
    report is judged as in its run: with the same server and options, and without the list of deviations where the run
    had none. Options that you give come first.

    FILE.sql is a script of a report, or one that --as sql printed. The lab starts a server with the options that the
    script names, and runs it there.

    --as sql prints a script for a bug report. The script's output says what is expected, what came, and FAULT where
    they differ. It is SQL for the mysql program, or a shell script (it begins with #!) for Cases that need several
    servers or programs. An event that may end a server goes only to a server that the lab started. A file for
    mysqlbinlog goes to the mysqlbinlog of the server's installation.

    matrix:NAME/CELL/INDEX is a scenario of a matrix ('binlog-lab matrix list'): the number of its cell, and its number
    in the cell. It runs on the reference alone, as in 'matrix run', and its budgets are judged. With --server it runs
    as a Case.

    decoder:GROUP/NAME is a Case of the decoder suite, or several (decoder:diffs/*). The subject reads its log again. So
    it does with the directory of a finding about a decoder, which names its subject.
    """
    from conformance.runs.stored_cases import Target, replay_cases

    del server, replica, server_options, no_deviations, deviations_file  # taken from the context, or from the run
    code = 0
    for words, paths in _by_run(cases):
        asked = _options(context, words)
        on = Target(
            server=asked["server"], given=asked["given"], subject=subject, replica=asked["replica"], allow=allow,
            options=asked["server_options"],
        )  # fmt: skip
        listed = not asked["no_deviations"]
        code = max(code, replay_cases(paths, form, on, listed=listed, deviations_file=asked["deviations_file"]))
    return code


def _by_run(cases: Iterable[Path]) -> list[tuple[tuple[str, ...], list[Path]]]:
    """Cases by the options with which their run replays them."""
    from conformance.runs.earlier_run import earlier_run

    out: dict[tuple[str, ...], list[Path]] = {}
    for path in cases:
        out.setdefault(earlier_run(path).words, []).append(path)
    return list(out.items())


def _options(context: click.Context, words: tuple[str, ...]) -> dict[str, Any]:
    """The options of the user, and else those of the run. A server of the user's own takes none of the run's."""
    run = command.make_context("replay", [*words, "-"]).params
    own = {name for name in run if context.get_parameter_source(name) is not ParameterSource.DEFAULT}
    if "server" in own:
        own |= {"replica", "server_options"}
    if own & {"no_deviations", "deviations_file"}:
        own |= {"no_deviations", "deviations_file"}
    taken = {"server", "replica", "server_options", "no_deviations", "deviations_file"}
    if words and taken - own:
        narrate(f"as in the run that stored it: {shlex.join(words)}")
    return {
        **{name: context.params[name] if name in own else run[name] for name in taken},
        "given": "server" in own or "--server" in words,
    }
