"""Distinguishes a process from a later one with the same pid: by its start time."""
# ruff: noqa: S603, S607 (starting programs is the job of this module)

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

_PROC = Path("/proc")


def start_time(pid: int) -> str | None:
    """A text that differs for each process that ever has this pid; None if no such process exists (a zombie counts as
    gone).
    """
    if _PROC.joinpath("self/stat").exists():
        try:
            stat = (_PROC / str(pid) / "stat").read_bytes()
        except OSError:
            return None
        # The name (field 2) is in parentheses and may hold anything; state is field 3, start time field 22: proc(5).
        fields = stat[stat.rindex(b")") + 2 :].split()
        return None if fields[0] in (b"Z", b"X") else fields[19].decode()
    answer = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return "".join(character for character in answer.stdout if character.isalnum()) or None


def is_running(pid: int, start: str) -> bool:
    """Whether the process that had this pid and start time still runs."""
    return start_time(pid) == start


def signal_if_same(pid: int, start: str, number: signal.Signals) -> bool:
    """Send a signal if the pid still belongs to the same process; return whether it was sent."""
    if hasattr(os, "pidfd_open"):  # closes the gap between looking and sending
        try:
            handle = os.pidfd_open(pid)
        except OSError:
            handle = None
        if handle is not None:
            try:
                if not is_running(pid, start):
                    return False
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(handle, number)
                    return True
                return False
            finally:
                os.close(handle)
    if not is_running(pid, start):
        return False
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def processes_with_argument(argument: str) -> list[int]:
    """Pids of the processes with exactly this word on their command line (Linux only)."""
    word = argument.encode()
    found = []
    for entry in _PROC.iterdir() if _PROC.exists() else ():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if word in (entry / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found
