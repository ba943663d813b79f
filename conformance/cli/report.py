"""``binlog-lab report DIR``: renders a report again from its ``run.jsonl``, also after an interrupted run."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from conformance.cli.helpful import LabCommand
from conformance.cli.verbosity import verbosity
from conformance.exit_code import ExitCode
from conformance.stream import StreamError
from conformance.user_errors import CouldNotRun, Usage


@click.command(cls=LabCommand)
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR")
@verbosity
def command(directory: Path, *, quiet: bool, verbose: bool) -> int:
    """Render a report again from DIR/run.jsonl.

    Writes index.html, results.json, junit.xml and summary.md and prints the summary. Also works for an interrupted run:
    its report says INCOMPLETE.
    """
    from conformance.report.directory import DirectoryInUseError, ReportError, render_again
    from conformance.report.terminal import Detail, print_summary

    try:
        summary = render_again(directory)
    except (StreamError, DirectoryInUseError) as error:
        raise Usage(str(error)) from error
    except ReportError as error:
        raise CouldNotRun(str(error)) from error
    print_summary(summary, sys.stdout, directory=directory, detail=Detail.asked(quiet=quiet, verbose=verbose))
    return int(ExitCode.OK if summary.complete else ExitCode.INCOMPLETE)
