"""A child process with a bound on its time: no call here hangs, and no process is left behind.

The child has a session of its own, so that Ctrl-C is for the lab alone. It, and all that it started in its group, is
killed at the limit and after its end. Input and output are files: nobody waits for a pipe that such a process holds.
"""
# ruff: noqa: S603 (starting programs is the job of this module)

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import threading
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Ended(NamedTuple):
    """How a program ended. ``peak``: the most memory it used, in bytes; 0 where that is not known (in a container, and
    where it is no more than this process has used).

    ``returncode``: negative for a signal, ``None`` if the lab ended the program because it took too long.
    """

    returncode: int | None
    stdout: bytes
    stderr: bytes
    peak: int = 0

    @property
    def text(self) -> str:
        """The standard output as text."""
        return self.stdout.decode("utf-8", "replace")

    @property
    def words(self) -> str:
        """The standard error as text, without white space around it."""
        return self.stderr.decode("utf-8", "replace").strip()


class Limits(NamedTuple):
    """The most that a program may use: seconds of processor time, bytes of address space."""

    processor_seconds: int
    address_space: int


def run_child(
    words: Sequence[str],
    *,
    seconds: float | None,
    stdin: bytes = b"",
    directory: Path | str | None = None,
    environment: Mapping[str, str] | None = None,
    limits: Limits | None = None,
) -> Ended:
    """Run a program to its end, or until ``seconds`` are over; what it has said until then is kept.

    Raises :class:`OSError` where it cannot be started.
    """
    with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as errors:
        given.write(stdin)
        given.seek(0)
        started = subprocess.Popen(
            words, cwd=directory, env=environment, stdin=given, stdout=out, stderr=errors, start_new_session=True
        )
        try:
            if limits is not None:
                _limit(started.pid, limits)
            too_long, peak = _wait(started, seconds, limits)
        except BaseException:
            if started.returncode is None:
                kill_group(started.pid)
                started.wait()
            raise
        out.seek(0)
        errors.seek(0)
        return Ended(None if too_long else started.returncode, out.read(), errors.read(), peak)


def run_in_time(
    words: Sequence[str],
    seconds: float,
    *,
    directory: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Run a program that is of no use unless it ends. Raises :class:`OSError` also where it takes too long."""
    ended = run_child(words, seconds=seconds, directory=directory, environment=environment)
    if ended.returncode is None:
        raise TimeoutError(f"{words[0]} did not end within {seconds:g} s")
    return ended


def kill_group(leader: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Signal the group of a child that has a session of its own and is not reaped yet: its number is its own still."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def own_peak() -> int:
    """The most memory that this process has had resident since its program was started, in bytes.

    Not of getrusage, which counts for a child what its parent had.
    """
    try:
        lines = Path("/proc/self/status").read_text("ascii", "replace").splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:")), 0)


def _limit(pid: int, limits: Limits) -> None:
    """Limit the process from outside: a function in the child would have to run between fork and exec."""
    for what, most in (
        (resource.RLIMIT_AS, limits.address_space),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, limits.processor_seconds),
    ):
        try:
            resource.prlimit(pid, what, (most, most))
        except (ProcessLookupError, PermissionError):  # the process has ended already
            return


def _wait(started: subprocess.Popen[bytes], seconds: float | None, limits: Limits | None) -> tuple[bool, int]:
    """Whether the process took too long, and its peak memory; its status is in ``started`` afterwards."""
    ended_by_us = threading.Event()

    def end() -> None:
        ended_by_us.set()
        kill_group(started.pid)

    timer = None if seconds is None else threading.Timer(seconds, end)
    if timer is not None:
        timer.start()
    try:
        os.waitid(os.P_PID, started.pid, os.WEXITED | os.WNOWAIT)
    finally:
        if timer is not None:
            timer.cancel()
            timer.join()
    kill_group(started.pid)  # what it left behind
    _, status, usage = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    too_long = ended_by_us.is_set()
    if limits is not None and usage.ru_utime + usage.ru_stime >= limits.processor_seconds - 1:
        # At this hard limit the kernel kills; SIGXCPU comes where the limits differ.
        too_long = too_long or started.returncode in (-signal.SIGKILL, -signal.SIGXCPU)
    # The kernel counts the memory of the process that it was forked from: a large lab is no fault of the program's.
    peak = usage.ru_maxrss << 10
    return too_long, peak if peak > own_peak() else 0
