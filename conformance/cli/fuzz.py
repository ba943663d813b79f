"""``binlog-lab fuzz``: fuzz decoders and servers; replay and minimise findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from conformance.cli.fuzz_inputs import CORPORA, coverage, export, merge, minimize, replay
from conformance.cli.fuzz_server import server
from conformance.cli.groups import NamedCommands
from conformance.exit_code import ExitCode

_FINDINGS = click.option(
    "--findings",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where findings go [default: BINLOG_LAB_FINDINGS, or your data directory].",
)


@click.group(name="fuzz", cls=NamedCommands)
def command() -> None:
    """Fuzz decoders and servers; replay and minimise findings."""


for _part in (server, replay, minimize, merge, coverage, export):
    command.add_command(_part)


@command.command(name="list")
def list_() -> int:
    """Print one line a target: its name, and the property that it checks for every input."""
    from fuzz.runner.targets import own_targets, peer_targets

    targets = [*own_targets(), *peer_targets()]
    width = max(len(target.name) for target in targets)
    for target in targets:
        note = f" (peer: pip install {target.package})" if target.peer else ""
        click.echo(f"{target.name:<{width}}  {target.invariant}{note}")
    return int(ExitCode.OK)


@command.command()
@click.argument("names", nargs=-1, metavar="[TARGET]…")
@click.option("-a", "--all", "everything", is_flag=True, help="All targets of the lab's own decoders.")
@click.option("--peers", is_flag=True, help="All targets against decoders of other projects.")
@click.option(
    "--subject",
    "subjects",
    multiple=True,
    metavar="SUBJECT",
    help="A decoder, as 'conformance --subject' takes it; repeatable.",
)
@click.option("--seconds", type=click.FloatRange(min=1), metavar="N", help="Time for each target [default: 60].")
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Executions of each target, in place of --seconds: exactly repeatable.",
)
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="[default: 1 with --runs, else a new one]")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes at the same time; with fewer targets, several for each [default: one a core, one a target].",
)
@click.option(
    "--timeout", type=click.IntRange(min=1), metavar="N", default=10, show_default=True, help="Seconds for one input."
)
@CORPORA
@_FINDINGS
@click.option(
    "-o",
    "--report",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write DIR/results.json and the page DIR/index.html.",
)
def run(**options: Any) -> int:
    """Fuzz targets, each in a process of its own, and store the findings.

    Inputs that reach new code are kept in a cache, and the next run continues from them. With --runs each target begins
    with the committed inputs alone (or those of --corpora): the same seed gives the same executions and edges. Needs
    atheris, of the extra fuzz. A finding in a peer (a decoder of others) counts only when it is new.

    TARGET is a name of 'fuzz list', or a target of your own: ./my_target.py, a file with a function check(data), or an
    entry point, MODULE:FUNCTION. It fails where the function raises.

    --subject fuzzes a decoder: it gets sound logs, logs of generated updates, and damaged ones, and its row changes are
    compared with those of the reference. py:MODULE:OBJECT runs inside the fuzzer, and its coverage leads the search.
    Other subjects get many transactions in each log.

    The findings of a target are confirmed and made smaller for half the time of its fuzzing, at most.
    """
    from conformance.runs.fuzz_campaign import run_targets

    return run_targets(**options)
