"""Parent of one server process; a script of its own, run with ``python -I -S supervisor.py CONFIG``.

Why a process between the lab and the server: a parent-death signal belongs to the *thread* that forked (prctl(2)). A
server started from a worker thread of the lab would die with that thread. This script has one thread and no other work.

It ends the server when the lab is gone: its end of the pipe on standard input closes, or this process gets a new
parent. The kernel ends the server when this script is gone (parent-death signal). This script is a subreaper: processes
that the server or a wrapper started come back to it, and it ends them too.

Commands on standard input: ``T`` clean stop, ``K`` kill. Line on standard output: ``started PID START``. The outcome is
in ``exit.json`` of the run directory before this process ends. ``D`` detaches: the server then outlives the lab and
ends with a signal to this process. The script uses the standard library only and imports nothing of the lab.
"""
# No pathlib here, the script must start fast; and starting a program without a shell is its job.
# ruff: noqa: PTH105, PTH114, PTH115, PTH118, PTH123, S606

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import sys
import time
from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
SOCKET_DIRECTORY = "socket-directory"  # a link, in a run directory whose path is too long for a socket
POLL_SECONDS = 0.5  # how soon a lost parent is noticed when a forked copy of the lab still holds the pipe


def remove_run_directory(directory: str | os.PathLike[str]) -> None:
    """Remove a run directory and the socket directory it may point to."""
    link = os.path.join(directory, SOCKET_DIRECTORY)
    if os.path.islink(link):
        shutil.rmtree(os.readlink(link), ignore_errors=True)
    shutil.rmtree(directory, ignore_errors=True)


def prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def start(config: dict[str, Any]) -> int:
    """Fork and execute the server in a process group of its own."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    parent = os.getpid()
    output = os.open(config["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    pid = os.fork()
    if pid:
        os.close(output)
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)  # the child does this too: whichever comes first
        return pid
    try:
        os.setpgid(0, 0)
        if libc is not None:
            libc.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(127)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(config["directory"])
        os.execvpe(config["argv"][0], config["argv"], {**os.environ, **config["environment"]})
    except OSError as error:
        os.write(2, f"cannot execute {config['argv'][0]}: {error}\n".encode())
    finally:
        os._exit(127)


def kill_group(group: int, number: signal.Signals) -> None:
    """Signal the whole group. Its leader is our unreaped child, so the number cannot belong to anybody else."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def adopted() -> list[int]:
    """Children of this process (Linux)."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def end_descendants() -> None:
    """Kill and reap all remaining descendants of this process."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        for pid in adopted():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            time.sleep(0.01)


def start_time(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            stat = file.read()
    except OSError:
        return ""
    return stat[stat.rindex(b")") + 2 :].split()[19].decode()


def write_json(path: str, value: object) -> None:
    temporary = path + ".new"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.replace(temporary, path)


class Supervisor:
    """The loop: waits for the server's end, a command, a signal, or the loss of the lab."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.owner: int | None = config["owner"]  # pid of the lab; None for a detached server
        self.wanted: signal.Signals | None = None
        self.deadline: float | None = None
        self.wake, write_end = os.pipe()
        os.set_blocking(write_end, False)
        os.set_blocking(self.wake, False)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: self.end(signal.SIGTERM))

    def end(self, number: signal.Signals) -> None:
        if self.wanted is not signal.SIGKILL:
            self.wanted = number

    def run(self) -> int:
        group = start(self.config)
        write_json(
            os.path.join(self.config["directory"], "process.json"),
            {
                "pid": group,
                "start": start_time(group),
                "supervisor": os.getpid(),
                "supervisor_start": start_time(os.getpid()),
            },
        )
        with contextlib.suppress(OSError):
            os.write(1, f"started {group} {start_time(group)}\n".encode())
        inputs = [self.wake, 0]
        orphaned = False
        while True:
            if os.waitid(os.P_PID, group, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                break  # ended, and not reaped yet: its number still names this group only
            if self.owner is not None and os.getppid() != self.owner:
                orphaned = True
                self.end(signal.SIGKILL)
            if self.wanted is not None:
                self.pass_on(group)
            ready, _, _ = select.select(inputs, [], [], POLL_SECONDS)
            if self.wake in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self.wake, 4096)
            if 0 in ready:
                command = os.read(0, 1)
                if command == b"D":
                    self.owner = None
                    inputs.remove(0)
                else:
                    if not command:  # the lab is gone; its data are of no use to anybody
                        orphaned = True
                        inputs.remove(0)
                    self.end(signal.SIGTERM if command == b"T" else signal.SIGKILL)
            # Children of children that came back to us are reaped so that they do not pile up.
            self.reap_others(group)
        kill_group(group, signal.SIGKILL)  # a wrapper's children may outlive it
        _, status = os.waitpid(group, 0)
        end_descendants()
        write_json(os.path.join(self.config["directory"], "exit.json"), {"status": os.waitstatus_to_exitcode(status)})
        if orphaned and not self.config["keep"]:
            remove_run_directory(self.config["directory"])
        return 0

    def pass_on(self, group: int) -> None:
        assert self.wanted is not None
        now = time.monotonic()
        if self.wanted is signal.SIGKILL:
            kill_group(group, signal.SIGKILL)
        elif self.deadline is None:
            self.deadline = now + float(self.config["stop_seconds"])
            kill_group(group, signal.SIGTERM)
        elif now > self.deadline:
            self.wanted = signal.SIGKILL
            kill_group(group, signal.SIGKILL)

    def reap_others(self, group: int) -> None:
        for pid in adopted():
            if pid != group:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        config = json.load(file)
    return Supervisor(config).run()


if __name__ == "__main__":
    sys.exit(main())
