"""What the subcommands share: words to the user, progress, and errors that carry an exit code.

Data goes to stdout, words to stderr. Exit codes are those of the contract (design 6). What a log, a server or a file
name says may hold control characters: words never print them as they are, data only where no terminal obeys them.
"""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from conformance.messages import did_you_mean, printable
from conformance.stream import ExitCode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

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
    click.echo(printable(message), file=file or sys.stderr)


def error(message: str, *, file: Any = None) -> None:
    """Say what went wrong, on stderr; the word is red on a terminal and never the only sign."""
    click.echo(f"{click.style('error:', fg='red', bold=True)} {printable(message)}", file=file or sys.stderr)


def warn(message: str, *, file: Any = None) -> None:
    """Say what the user should know although the command goes on."""
    click.echo(f"{click.style('warning:', fg='yellow', bold=True)} {printable(message)}", file=file or sys.stderr)


def unknown(what: str, names: Iterable[str], known: Collection[str], *, hint: str | None = None) -> Usage:
    """The error about names that are not known: each with the nearest that are."""
    return Usage(f"unknown {what} {', '.join(f'{name}{did_you_mean(name, known)}' for name in names)}", hint=hint)


class NamedCommands(click.Group):
    """A group that answers a mistyped command with the nearest ones (click has that from 8.4 on)."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As ever, or the error with a suggestion."""
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(f"no such command {args[0]!r}{did_you_mean(args[0], known)}", ctx)
        return super().resolve_command(ctx, args)


class TerminalText(io.TextIOWrapper):
    """Standard output where it is a terminal: data that holds control characters cannot steer it.

    ``styled`` is the stream for those that print styles of their own and escape what they print.
    """

    def __init__(self, stdout: io.TextIOWrapper) -> None:
        super().__init__(stdout.buffer, encoding="utf-8", errors="backslashreplace", line_buffering=True)
        self.styled = stdout

    def write(self, text: str, /) -> int:
        """Write the text with its control characters escaped."""
        super().write(printable(text))
        return len(text)


@contextmanager
def progress() -> Iterator[ProgressSink]:
    """A sink for progress records: a bar on a terminal, plain lines every few seconds elsewhere."""
    from conformance.report.terminal import progress_sink

    with progress_sink(sys.stderr) as sink:
        yield sink
