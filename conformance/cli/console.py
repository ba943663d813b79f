"""Common parts of the subcommands: output, messages to the user, progress, and errors that carry an exit code.

Data goes to stdout, messages to stderr. The exit codes are those of design 6. Text from a log, a server or a file name
may hold control characters. Messages always escape them; data keeps them, except on a terminal, which would obey them.
"""

from __future__ import annotations

import io
import sys
from codecs import getincrementaldecoder
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from conformance.exit_code import ExitCode
from conformance.messages import did_you_mean, printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from conformance.stream import ProgressSink


class CliError(click.ClickException):
    """A message for the user that ends the command, without a traceback. Raise one of its subclasses: they fix the exit
    code.
    """

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
    """The input of a file command is corrupt, truncated or encrypted; the events before the damage are printed."""

    exit_code = 1


class Usage(CliError):
    """Wrong arguments, a file that is missing or of another kind, nothing selected."""

    exit_code = int(ExitCode.USAGE)


class CouldNotRun(CliError):
    """A subject, a server or the lab itself could not run."""

    exit_code = int(ExitCode.COULD_NOT_RUN)


def narrate(message: str, *, file: Any = None) -> None:
    """Tell the user what the command is doing, on stderr."""
    click.echo(printable(message), file=file or sys.stderr)


def error(message: str, *, file: Any = None) -> None:
    """Print an error on stderr. The word "error" is red on a terminal; colour is never the only sign."""
    click.echo(f"{click.style('error:', fg='red', bold=True)} {printable(message)}", file=file or sys.stderr)


def warn(message: str, *, file: Any = None) -> None:
    """Print a warning on stderr; the command goes on."""
    click.echo(f"{click.style('warning:', fg='yellow', bold=True)} {printable(message)}", file=file or sys.stderr)


def unknown(what: str, names: Iterable[str], known: Collection[str], *, hint: str | None = None) -> Usage:
    """The error about unknown names: each with the known names that are nearest."""
    return Usage(f"unknown {what} {', '.join(f'{name}{did_you_mean(name, known)}' for name in names)}", hint=hint)


class NamedCommands(click.Group):
    """A group that answers a mistyped command with the nearest ones (click has that from 8.4 on)."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve the command as click does, or raise the error with a suggestion."""
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(f"no such command {args[0]!r}{did_you_mean(args[0], known)}", ctx)
        return super().resolve_command(ctx, args)


class Output:
    """Bytes to stdout, collected into pieces large enough for a system call.

    A file or a pipe gets the bytes unchanged. A terminal gets text: control characters and bytes that are not UTF-8 are
    escaped.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._decoder = getincrementaldecoder("utf-8")("backslashreplace") if sys.stdout.isatty() else None

    def write(self, data: bytes) -> None:
        """Append bytes to the output."""
        self._parts.append(data)
        self._size += len(data)
        if self._size >= 1 << 16:
            self._send(final=False)

    def flush(self) -> None:
        """Write all collected bytes out: before messages, and at the end."""
        self._send(final=True)

    def _send(self, *, final: bool) -> None:
        data, self._parts, self._size = b"".join(self._parts), [], 0
        if self._decoder is not None:
            sys.stdout.write(self._decoder.decode(data, final))
            sys.stdout.flush()
            return
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


class TerminalText(io.TextIOWrapper):
    """Standard output on a terminal: control characters in data cannot steer the terminal.

    ``styled`` is the stream for callers that print their own styles and escape their data themselves.
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
