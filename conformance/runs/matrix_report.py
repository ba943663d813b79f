"""The report of a matrix's run, rendered again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from conformance.console import narrate
from conformance.exit_code import ExitCode
from conformance.user_errors import CouldNotRun, Usage

if TYPE_CHECKING:
    from pathlib import Path


def render_report(directory: Path) -> int:
    """Render the report from its results, and print the digest; return the exit code."""
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
