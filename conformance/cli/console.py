"""What the subcommands share: words to the user, progress, and errors that carry an exit code.

Data goes to stdout; everything here goes to stderr. Exit codes are those of the contract (design 6).
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from conformance.stream import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.stream import ProgressSink


class CliError(click.ClickException):
    """A message for the user that ends the command; no traceback. Raise one of the subclasses: they fix the code."""

    exit_code = int(ExitCode.COULD_NOT_RUN)

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint

    def show(self, file: Any = None) -> None:
        """Print the message, and the hint on a line of its own."""
        error(self.format_message(), file=file)
        if self.hint:
            narrate(self.hint, file=file)


class InputCorrupt(CliError):
    """The input of a file command is corrupt, truncated or encrypted; what came before it has been printed."""

    exit_code = 1


class Usage(CliError):
    """Wrong arguments, a file that is missing or of another kind, nothing selected."""

    exit_code = int(ExitCode.USAGE)


class CouldNotRun(CliError):
    """A subject, a server or the lab itself could not run."""

    exit_code = int(ExitCode.COULD_NOT_RUN)


def narrate(message: str, *, file: Any = None) -> None:
    """Tell the user what happens, on stderr."""
    click.echo(message, file=file or sys.stderr)


def error(message: str, *, file: Any = None) -> None:
    """Say what went wrong, on stderr; the word is red on a terminal and never the only sign."""
    click.echo(f"{click.style('error:', fg='red', bold=True)} {message}", file=file or sys.stderr)


def warn(message: str, *, file: Any = None) -> None:
    """Say what the user should know although the command goes on."""
    click.echo(f"{click.style('warning:', fg='yellow', bold=True)} {message}", file=file or sys.stderr)


@contextmanager
def progress() -> Iterator[ProgressSink]:
    """A sink for progress records: a bar on a terminal, plain lines every few seconds elsewhere."""
    from conformance.report.terminal import progress_sink

    with progress_sink(sys.stderr) as sink:
        yield sink
