"""``binlog-lab restarts``: clients that are cut off everywhere, and what they lose and repeat."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from conformance.cli.helpful import LabCommand
from conformance.console import narrate
from conformance.exit_code import ExitCode
from conformance.user_errors import CouldNotRun, Usage

if TYPE_CHECKING:
    from conformance.harness.restarts.run import Restarts


@click.command(name="restarts", cls=LabCommand)
@click.argument("subjects", metavar="SUBJECT…", nargs=-1, required=True)
@click.option("--boundaries", type=click.IntRange(min=1), default=100, show_default=True, metavar="N",
              help="Boundaries of events at which to cut each client off.")  # fmt: skip
@click.option("--seed", default="1", show_default=True, metavar="N", help="Chooses the logs.")
@click.option(
    "-f", "--format", "form", type=click.Choice(["text", "markdown", "json"]), default="text", show_default=True
)
def command(subjects: tuple[str, ...], boundaries: int, seed: str, form: str) -> int:
    """Cut clients off at every event of a log, and count the rows that they lose or repeat.

    SUBJECT is a built-in client (binlog-lab subjects list) or 'wire:PROGRAM …'. The lab is the source; no MySQL server
    is needed. It breaks the connection in front of each event and inside some. A client with the capability 'stop' is
    also stopped behind each event with rows. It comes back with the position or GTIDs that it stored itself. Its rows
    are compared with those that it reads without a cut.

    Rows that come twice are shown, and are no failure.
    """
    from conformance.harness.restarts.run import run_restarts
    from conformance.harness.restarts.text import as_data, as_table
    from conformance.subjects.answers import SubjectUnavailable
    from conformance.subjects.specs import SubjectSpecError

    found: list[Restarts] = []
    for subject in subjects:
        try:
            found.append(run_restarts(subject, boundaries, seed, narrate))
        except SubjectSpecError as problem:
            raise Usage(str(problem)) from problem
        except SubjectUnavailable as problem:
            raise CouldNotRun(f"{subject}: {problem}") from problem
    if form == "json":
        click.echo(json.dumps([as_data(one) for one in found], indent=1))
    else:
        click.echo(as_table(found, markdown=form == "markdown"))
    bad = any(tally.lost or tally.not_back for one in found for tally in one.tallies.values())
    return int(ExitCode.NONCONFORMANT if bad else ExitCode.OK)
