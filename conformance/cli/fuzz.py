"""``binlog-lab fuzz``: fuzz decoders and servers; replay and minimise findings."""

from __future__ import annotations

import json
import os
import shlex
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.fuzz_inputs import CORPORA, chosen, coverage, export, merge, minimize, replay
from conformance.cli.fuzz_server import server
from conformance.cli.groups import NamedCommands
from conformance.console import narrate
from conformance.exit_code import ExitCode
from conformance.user_errors import CouldNotRun, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fuzz.runner.campaign import Campaign

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
@click.option("--all", "everything", is_flag=True, help="All targets of the lab's own decoders.")
@click.option("--peers", is_flag=True, help="All targets against decoders of other projects.")
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
@click.option("--timeout", type=click.IntRange(min=1), default=10, show_default=True, help="Seconds for one input.")
@CORPORA
@_FINDINGS
@click.option("--report", type=click.Path(path_type=Path), metavar="DIR", help="Write DIR/results.json.")
def run(
    names: tuple[str, ...],
    everything: bool,
    peers: bool,
    seconds: float | None,
    runs: int | None,
    seed: int | None,
    jobs: int | None,
    timeout: int,
    corpora: Path | None,
    findings: Path | None,
    report: Path | None,
) -> int:
    """Fuzz targets, each in a process of its own, and store the findings.

    Inputs that reach new code are kept in a cache, and the next run continues from them. With --runs each target begins
    with the committed inputs alone (or those of --corpora): the same seed gives the same executions and edges. Needs
    atheris (pip install 'binlog-lab[fuzz]'). The exit code is 1 if there is a finding. A finding in a peer (a decoder
    of others) counts only when it is new.
    """
    import secrets

    from fuzz.runner.campaign import run as run_campaign
    from fuzz.runner.corpora import COMMITTED
    from fuzz.runner.display import display, print_table, total
    from fuzz.runner.findings import Store, findings_directory
    from fuzz.runner.launch import require_atheris
    from fuzz.runner.run import Budget

    if seconds is not None and runs is not None:
        raise Usage("--seconds and --runs exclude each other")
    targets = chosen(names, everything=everything, peers=peers)
    if seed is None:
        seed = 1 if runs is not None else secrets.randbelow(1 << 31)
    budget = Budget(
        seconds=None if runs is not None else seconds or 60.0, runs=runs, seed=seed, timeout=timeout, corpora=corpora
    )
    with _errors(), _report_directory(report) as write:
        require_atheris()
        store = Store(findings or findings_directory())
        amount = f"{runs:,} executions" if runs is not None else f"{budget.seconds:g} s"
        narrate(f"{len(targets)} targets, {amount} each, seed {seed}")
        if not COMMITTED.is_dir():
            narrate(
                "the committed corpora are not installed: targets begin with their seeds and your own inputs; run in a"
                " checkout or in the unpacked source distribution to begin with the committed ones too"
            )
        with display(sys.stderr) as show:
            campaign = run_campaign(
                targets, budget, store, jobs=jobs or os.cpu_count() or 1, show=show, split=jobs is not None
            )
        print_table(campaign, sys.stdout)
        narrate(total(campaign))
        write(campaign)
    return int(campaign.exit_code)


@contextmanager
def _report_directory(path: Path | None) -> Iterator[Callable[[Campaign], None]]:
    """The directory for ``results.json``. It is checked before the run: a run whose report cannot be written is in
    vain.
    """
    from conformance.report.directory import RESULTS, DirectoryInUseError, ReportError, taken
    from fuzz.runner.results import results

    if path is None:
        yield lambda _: None
        return

    def write(campaign: Campaign) -> None:
        command_line = shlex.join(["binlog-lab", *sys.argv[1:]])
        (path / RESULTS).write_text(json.dumps(results(campaign, command_line), indent=1) + "\n", "utf-8")
        narrate(f"results: {path / RESULTS}")

    try:
        with taken(path):
            yield write
    except DirectoryInUseError as problem:
        raise Usage(str(problem)) from problem
    except ReportError as problem:
        raise CouldNotRun(str(problem)) from problem


@contextmanager
def _errors() -> Iterator[None]:
    from fuzz.runner.errors import Unfit

    try:
        yield
    except Unfit as problem:
        raise CouldNotRun(str(problem)) from problem
