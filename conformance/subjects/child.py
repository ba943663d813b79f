"""A bounded child process: what a subject does in it, the run survives.

The child has a session and a process group of its own. Reading and writing never block longer than the caller allows,
output beyond the limit ends the child, and so does the end of the request. No process is left: :meth:`Child.kill` ends
the group, and processes that left the group but carry the child's token in their environment.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from conformance.servers.child_process import kill_group
from conformance.subjects.answers import Failure, SubjectUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import IO

_TOKEN: Final = "BINLOG_LAB_SUBJECT"  # noqa: S105 - the name of a variable
_SECRETS: Final = ("BINLOG_LAB_PASSWORD",)  # of the lab's own servers: no business of a subject
_CHUNK: Final = 1 << 16
_LOOK: Final = 0.1  # seconds between two looks at whether the process lives
_PACE: Final = 100e6  # bytes of a log that take another second
_LINGER: Final = 0.3  # seconds for output that a process which has ended left in its pipes


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a subject may take, and how much it may say."""

    request: float = 20.0  # seconds
    hello: float = 60.0  # seconds: a virtual machine starts
    output: int = 64 << 20  # bytes of an answer
    stderr: int = 16 << 10  # bytes that are kept, from the end

    def seconds_for(self, path: str) -> float:
        """The time for a log: a large one, which may be gigabytes of zeros, gets more."""
        try:
            return self.request + Path(path).stat().st_size / _PACE
        except OSError:
            return self.request


class Stopped(Exception):
    """The child gave no whole answer."""

    def __init__(self, failure: Failure, detail: str) -> None:
        super().__init__(f"{failure}: {detail}")
        self.failure = failure
        self.detail = detail


class Child:
    """One process. ``talks``: it gets requests on standard input; else its standard input is empty."""

    def __init__(
        self,
        command: Sequence[str],
        limits: Limits,
        *,
        talks: bool = False,
        environment: Mapping[str, str] | None = None,
        directory: Path | None = None,
    ) -> None:
        self._limits = limits
        self._token = f"{_TOKEN}={secrets.token_hex(12)}"
        inherited = {name: value for name, value in os.environ.items() if name not in _SECRETS}
        name, _, value = self._token.partition("=")
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user names the program
                list(command),
                stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                env={**inherited, **(environment or {}), name: value},
                cwd=directory,
            )
        except OSError as error:
            raise SubjectUnavailable(f"{command[0]}: {error.strerror or error}") from error
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdout, self._stderr = self._process.stdout, self._process.stderr
        self._selector = selectors.DefaultSelector()
        for pipe in (self._stdout, self._stderr, self._process.stdin):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
        self._selector.register(self._stdout, selectors.EVENT_READ, self._take_output)
        self._selector.register(self._stderr, selectors.EVENT_READ, self._take_errors)
        self._output = bytearray()
        self._errors = bytearray()
        self._unsent = b""
        self._ended = False  # standard output
        self._killed = False

    @property
    def pid(self) -> int:
        """The process id, which is also the id of the process group."""
        return self._process.pid

    # --- talking -----------------------------------------------------------------------------------------------------

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Send one line, and return the next line of standard output without its end. Raises :class:`Stopped`."""
        deadline = time.monotonic() + seconds
        self._errors.clear()
        stdin = self._process.stdin
        assert stdin is not None
        self._unsent = line + b"\n"
        self._selector.register(stdin, selectors.EVENT_WRITE, self._send)
        searched = 0

        def complete() -> bool:
            nonlocal searched
            found = self._output.find(b"\n", searched) >= 0
            searched = len(self._output)
            return found or self._ended

        try:
            in_time = self._work(complete, deadline)
        finally:
            if self._unsent:
                self._selector.unregister(stdin)
        if not in_time:
            raise Stopped(Failure.TIMED_OUT, self._no_line(seconds))
        answer, end, rest = self._output.partition(b"\n")
        if not end:
            raise Stopped(Failure.CRASHED, self._broken_off())
        self._output = bytearray(rest)
        return bytes(answer)

    def unasked(self, seconds: float) -> bytes:
        """The first line of standard output that belongs to no request, if one comes within some seconds."""
        self._work(lambda: bool(self._output), time.monotonic() + seconds)
        return bytes(self._output.partition(b"\n")[0])

    def read(self, seconds: float) -> bytes:
        """The whole standard output, when the process has ended. Raises :class:`Stopped`; :meth:`said` has the part."""
        deadline = time.monotonic() + seconds
        if not self._work(lambda: self._ended, deadline):
            raise Stopped(Failure.TIMED_OUT, f"did not end within {seconds:g} s")
        if not self._work(self._exited, deadline):
            raise Stopped(Failure.TIMED_OUT, f"closed its standard output, but did not end within {seconds:g} s")
        return bytes(self._output)

    def finish(self, line: bytes, seconds: float) -> bool:
        """Send a last line, close standard input, and give the process some time to end; returns whether it did."""
        stdin = self._process.stdin
        with contextlib.suppress(OSError):
            if stdin is not None:
                stdin.write(line + b"\n")
                stdin.close()
        try:
            return self._work(self._exited, time.monotonic() + seconds)
        except Stopped:
            return False

    def said(self) -> bytes:
        """Return the bytes on standard output so far."""
        return bytes(self._output)

    def stderr(self) -> str:
        """The end of what the process wrote on standard error."""
        self._drain_errors()
        return self._errors.decode("utf-8", "backslashreplace").strip()

    def status(self) -> int | None:
        """The exit status; negative: the signal. ``None`` while the process lives."""
        return self._process.returncode if self._killed else self._look()

    # --- the loop ----------------------------------------------------------------------------------------------------

    def _work(self, done: Callable[[], bool], deadline: float) -> bool:
        """Move bytes until ``done`` or the deadline; returns whether it was done in time."""
        gone: float | None = None
        while not done():
            now = time.monotonic()
            if now >= deadline:
                return False
            if self._ended and not self._selector.get_map():
                time.sleep(min(0.005, deadline - now))
                continue
            wait = min(deadline - now, _LOOK if not self._ended else 0.005)
            ready = self._selector.select(wait)
            for key, _ in ready:
                key.data()
            if len(self._output) > self._limits.output:
                raise Stopped(Failure.FLOODED, f"more than {self._limits.output:,} bytes on standard output")
            # A child of the process may hold its pipes open: the process itself decides.
            if ready or not self._exited():
                gone = None
            elif gone is None:
                gone = now
            elif now - gone > _LINGER:
                self._ended = True
        return True

    def _take_output(self) -> None:
        data = _read(self._stdout)
        if data == b"":
            self._ended = True
            self._selector.unregister(self._stdout)
        elif data:
            self._output += data

    def _take_errors(self) -> None:
        data = _read(self._stderr)
        if data == b"":
            self._selector.unregister(self._stderr)
        elif data:
            self._errors += data
            del self._errors[: -self._limits.stderr]

    def _drain_errors(self) -> None:
        for _ in range(4096):  # a process that still writes must not hold the lab here
            if self._stderr.closed or not (data := _read(self._stderr)):
                return
            self._errors += data
            del self._errors[: -self._limits.stderr]

    def _send(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            self._unsent = self._unsent[os.write(stdin.fileno(), self._unsent[: 1 << 20]) :]
        except BlockingIOError:
            return
        except OSError:  # it does not read any more; what it says, or its end, is the answer
            self._unsent = b""
        if not self._unsent:
            self._selector.unregister(stdin)

    # --- the end -----------------------------------------------------------------------------------------------------

    def _look(self) -> int | None:
        """The exit status, without reaping: the process id stays the group's own until :meth:`kill`."""
        try:
            found = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return self._process.poll()
        if found is None:
            return None
        return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status

    def _exited(self) -> bool:
        return self._look() is not None

    def _no_line(self, seconds: float) -> str:
        if self._output:
            return f"no end of the line within {round(seconds, 1):g} s, after {len(self._output):,} bytes"
        unread = f"; {len(self._unsent):,} bytes of the request were not read" if self._unsent else ""
        return f"no answer within {round(seconds, 1):g} s{unread}"

    def _broken_off(self) -> str:
        with contextlib.suppress(Stopped):
            self._work(self._exited, time.monotonic() + 0.5)
        status = self._look()
        half = f", in the middle of a line of {len(self._output):,} bytes" if self._output else ""
        return f"closed its standard output, but lives{half}" if status is None else f"{ending(status)}{half}"

    def kill(self) -> None:
        """End the process and all that it started, and free the pipes; a second call does nothing."""
        if self._killed:
            return
        status = self._look()
        self._drain_errors()
        kill_group(self._process.pid)
        _kill_marked(self._token)
        self._process.wait()
        if status is not None:
            self._process.returncode = status
        self._killed = True
        self._selector.close()
        for pipe in (self._process.stdin, self._stdout, self._stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def ending(status: int) -> str:
    """An exit status in words."""
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        return f"died of {signal.Signals(-status).name}"
    except ValueError:
        return f"died of signal {-status}"


def _read(pipe: IO[bytes]) -> bytes | None:
    """Some bytes; empty at the end, ``None`` if there are none at the moment."""
    try:
        return os.read(pipe.fileno(), _CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _kill_marked(token: str) -> None:
    """End processes that carry the token in their environment, in whatever group they are."""
    mark = token.encode()
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in entry.read_bytes().split(b"\0"):
                os.kill(int(entry.parent.name), signal.SIGKILL)
        except OSError:  # it has ended, or belongs to somebody else
            continue
