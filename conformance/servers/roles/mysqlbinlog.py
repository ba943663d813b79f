"""One run of mysqlbinlog on a file that may crash or hang it, under limits of time and memory."""
# ruff: noqa: S603 (starting the program is the job of this module)

from __future__ import annotations

import os
import resource
import signal
import subprocess
import threading
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

# CPU time decides what a hang is, as a busy machine makes everything slow; a program that only waits is ended too.
PROCESSOR_SECONDS: Final = 10
PATIENCE: Final = 120.0  # seconds for one file by the clock
_ADDRESS_SPACE: Final = 8 << 30  # bytes; the kernel refuses more, and the refusal shows what the program wanted


class ClientEnd(NamedTuple):
    """How a client program ended. ``peak``: the most memory it used, in bytes.

    ``status``: negative for a signal, ``None`` if the lab ended the program because it took too long.
    """

    status: int | None
    text: bytes
    peak: int


def print_bytes(program: Sequence[str], data: bytes, *, patience: float = PATIENCE) -> ClientEnd:
    """Run ``mysqlbinlog -v`` on a file with these bytes."""
    with TemporaryDirectory(prefix="binlog-lab-") as directory, TemporaryFile() as out:
        path = Path(directory) / "damaged.binlog"
        path.write_bytes(data)
        command = [
            *program,
            "--no-defaults",
            "-v",
            "--base64-output=decode-rows",
            f"--local-load={directory}",
            str(path),
        ]
        started = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL)
        try:
            _limit(started.pid)
            hung, status, peak = _wait(started, patience)
        except BaseException:
            if started.returncode is None:
                started.kill()
                started.wait()
            raise
        out.seek(0)
        return ClientEnd(None if hung else status, out.read(), peak)


def _limit(pid: int) -> None:
    """Limit the process from outside: a function in the child would have to run between fork and exec."""
    limits = (
        (resource.RLIMIT_AS, _ADDRESS_SPACE),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, PROCESSOR_SECONDS),
    )
    for what, most in limits:
        try:
            resource.prlimit(pid, what, (most, most))
        except (ProcessLookupError, PermissionError):  # the process has ended already
            return


def _wait(started: subprocess.Popen[bytes], patience: float) -> tuple[bool, int, int]:
    """Whether the process hung, its exit status, its peak memory."""
    hung = threading.Event()

    def end() -> None:
        hung.set()
        os.kill(started.pid, signal.SIGKILL)  # not reaped yet, so the pid still belongs to this process

    timer = threading.Timer(patience, end)
    timer.start()
    try:
        _, status, usage = os.wait4(started.pid, 0)
    finally:
        timer.cancel()
    timer.join()
    started.returncode = os.waitstatus_to_exitcode(status)
    # At this hard limit the kernel kills; SIGXCPU comes where the limits differ.
    spent = usage.ru_utime + usage.ru_stime >= PROCESSOR_SECONDS - 1
    ended = spent and started.returncode in (-signal.SIGKILL, -signal.SIGXCPU)
    return hung.is_set() or ended, started.returncode, usage.ru_maxrss << 10
