"""Client programs of a server: one interface for a program of this machine and for one in a container.

A caller gives arguments and bytes, and gets bytes: it needs no path. The program starts in a fresh folder, which holds
the given files under their names and is gone afterwards.
"""
# ruff: noqa: S603 (starting programs is the job of this module)

from __future__ import annotations

import os
import resource
import signal
import subprocess
import threading
from abc import ABC, abstractmethod
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING, NamedTuple

from conformance.servers.errors import ServerUnavailable

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
    def words(self) -> str:
        """The text that the program wrote on its standard error."""
        return self.stderr.decode("utf-8", "replace").strip()


class Limits(NamedTuple):
    """The most that a program may use: seconds of processor time, bytes of address space."""

    processor_seconds: int
    address_space: int


class Program(ABC):
    """A client program of a server."""

    name: str

    @abstractmethod
    def run(
        self,
        arguments: Sequence[str],
        *,
        stdin: bytes = b"",
        files: Mapping[str, bytes] | None = None,
        timeout: float | None = None,
        limits: Limits | None = None,
    ) -> Ended:
        """Run the program to its end. ``files``: by plain name, in the folder where the program starts.

        ``timeout``: in seconds, after which the program is killed; so is one that uses more time than ``limits`` allow.
        Raises :class:`ServerUnavailable` where the program cannot be started.
        """


class LocalProgram(Program):
    """A program of this machine: its command words. ``extra``: files that every run finds in its folder."""

    def __init__(self, words: Sequence[str], *, name: str = "", extra: Mapping[str, bytes] | None = None) -> None:
        self.words = tuple(words)
        self.name = name or self.words[-1].rpartition("/")[2]
        self._extra = dict(extra or {})

    def run(
        self,
        arguments: Sequence[str],
        *,
        stdin: bytes = b"",
        files: Mapping[str, bytes] | None = None,
        timeout: float | None = None,
        limits: Limits | None = None,
    ) -> Ended:
        """Run the program as a child of this process."""
        with (
            TemporaryDirectory(prefix="binlog-lab-") as folder,
            TemporaryFile() as given,
            TemporaryFile() as out,
            TemporaryFile() as errors,
        ):
            for name, data in {**self._extra, **(files or {})}.items():
                with open(Path(folder) / name, "xb", opener=_private) as file:
                    file.write(data)
            given.write(stdin)
            given.seek(0)
            try:
                started = subprocess.Popen(
                    [*self.words, *arguments], cwd=folder, stdin=given, stdout=out, stderr=errors
                )
            except OSError as error:
                raise ServerUnavailable(f"{self.name} cannot be started: {error}") from error
            try:
                if limits is not None:
                    _limit(started.pid, limits)
                too_long, peak = _wait(started, timeout, limits)
            except BaseException:
                if started.returncode is None:
                    started.kill()
                    started.wait()
                raise
            out.seek(0)
            errors.seek(0)
            return Ended(None if too_long else started.returncode, out.read(), errors.read(), peak)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)  # a file may hold a password


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


def _wait(started: subprocess.Popen[bytes], patience: float | None, limits: Limits | None) -> tuple[bool, int]:
    """Whether the process took too long, and its peak memory; its status is in ``started`` afterwards."""
    ended_by_us = threading.Event()

    def end() -> None:
        ended_by_us.set()
        os.kill(started.pid, signal.SIGKILL)  # not reaped yet, so the pid still belongs to this process

    timer = None if patience is None else threading.Timer(patience, end)
    if timer is not None:
        timer.start()
    try:
        _, status, usage = os.wait4(started.pid, 0)
    finally:
        if timer is not None:
            timer.cancel()
            timer.join()
    started.returncode = os.waitstatus_to_exitcode(status)
    too_long = ended_by_us.is_set()
    if limits is not None and usage.ru_utime + usage.ru_stime >= limits.processor_seconds - 1:
        # At this hard limit the kernel kills; SIGXCPU comes where the limits differ.
        too_long = too_long or started.returncode in (-signal.SIGKILL, -signal.SIGXCPU)
    # The kernel counts the memory of the process that it was forked from: a large lab is no fault of the program's.
    peak = usage.ru_maxrss << 10
    return too_long, peak if peak > own_peak() else 0


def own_peak() -> int:
    """The most memory that this process has had resident since its program was started, in bytes.

    Not of getrusage, which counts for a child what its parent had.
    """
    try:
        lines = Path("/proc/self/status").read_text("ascii", "replace").splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:")), 0)
