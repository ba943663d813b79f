"""The voice of a command: data to stdout, messages and progress to stderr.

Text from a log, a server or a file name may hold control characters. Messages always escape them; data keeps them,
except on a terminal, which would obey them.
"""

from __future__ import annotations

import io
import sys
from codecs import getincrementaldecoder
from contextlib import contextmanager
from typing import TYPE_CHECKING

from conformance.messages import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.stream import ProgressSink


def narrate(message: str) -> None:
    """Tell the user what the command is doing, on stderr."""
    import click  # takes longer than some commands, most of which say nothing

    click.echo(printable(message), file=sys.stderr)


def error(message: str) -> None:
    """Print an error on stderr. The word "error" is red on a terminal; colour is never the only sign."""
    _marked("error:", "red", message)


def warn(message: str) -> None:
    """Print a warning on stderr; the command goes on."""
    _marked("warning:", "yellow", message)


def _marked(word: str, colour: str, message: str) -> None:
    import click

    click.echo(f"{click.style(word, fg=colour, bold=True)} {printable(message)}", file=sys.stderr)


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
