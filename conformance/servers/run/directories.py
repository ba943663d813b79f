"""Run directories: one per server, named after the process that owns it, so that the lab recognises and removes
orphans.

``run-PID-START-HEX`` belongs to the lab process with that pid and start time. ``kept-…`` likewise, but the lab never
removes it. ``server-NAME`` belongs to the supervisor of a server that stays (``binlog-lab servers start``).
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import stat
import tempfile
from pathlib import Path

from conformance.servers.errors import ServerUnavailable
from conformance.servers.run.presence import announce, announced
from conformance.servers.run.process_identity import is_running, processes_with_argument, signal_if_same, start_time
from conformance.servers.run.supervisor import SOCKET_DIRECTORY, remove_run_directory

SOCKET_LIMIT = 107  # sun_path of unix(7) is 108 bytes with its final zero
SOCKET_NAME = "s"
MEMORY = Path("/dev/shm")  # noqa: S108 - the directory in it is checked like the one in TMPDIR
_ROOMY = 2 << 30


class NameTakenError(ServerUnavailable):
    """The run directory belongs to a standing server of that name."""


def temporary_directory() -> Path:
    """The directory for temporary files, for the lab and for the programs that it starts.

    Raises :class:`ServerUnavailable` where MySQL's programs could not write theirs: they know TMPDIR and /tmp only.
    Without a place for them mysqlbinlog prints cut BINLOG statements and reports no error (observed on 9.7.4).
    """
    theirs = Path(os.environ.get("TMPDIR") or "/tmp")  # noqa: S108 - looked at only
    if not theirs.is_dir() or not os.access(theirs, os.W_OK | os.X_OK):
        named = f"TMPDIR={theirs}" if "TMPDIR" in os.environ else f"{theirs}, as TMPDIR is not set,"
        raise ServerUnavailable(
            f"no directory for temporary files: {named} is not a directory that can be written",
            "set TMPDIR to a directory that can be written",
        )
    return Path(tempfile.gettempdir())


def runs_root() -> Path:
    """The user's directory for running servers, in TMPDIR. Raises an error if somebody else could have made it."""
    return _root_in(temporary_directory())


def memory_root() -> Path:
    """The user's directory for servers that restart often: in memory, which has no disk to wait for.

    It is :func:`runs_root` where TMPDIR names a place, or where memory or its file system has less than 2 GB left.
    """
    if "TMPDIR" in os.environ or not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        return runs_root()
    temporary_directory()  # for the programs, also where the servers need none
    roomy = min(shutil.disk_usage(MEMORY).free, available_memory()) >= _ROOMY
    return _root_in(MEMORY) if roomy else runs_root()


def available_memory() -> int:
    """The bytes of memory that programs can still have; 0 if the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")), 0)


def _root_in(parent: Path) -> Path:
    root = parent / f"binlog-lab-{os.getuid()}"
    try:
        root.mkdir(mode=0o700, exist_ok=True)
        found = root.lstat()
    except OSError as error:
        raise ServerUnavailable(
            f"the directory {root} cannot be made: {error.strerror}", "set TMPDIR to a directory that can be written"
        ) from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o022:
        raise ServerUnavailable(
            f"{root} belongs to somebody else or others may write in it", "remove it, or set TMPDIR elsewhere"
        )
    return root


def socket_path(directory: Path) -> str:
    """A socket path of legal length: in the run directory, or in a short directory if that path is too long."""
    path = str(directory / SOCKET_NAME)
    if len(os.fsencode(path)) < SOCKET_LIMIT:
        return path
    try:
        short = Path(tempfile.mkdtemp(prefix="bl-", dir="/tmp"))
    except OSError as error:
        raise ServerUnavailable(
            f"the path {path} is too long for a socket, and /tmp has no room for a shorter one: {error.strerror}",
            "set TMPDIR to a directory with a shorter path",
        ) from error
    (directory / SOCKET_DIRECTORY).symlink_to(short)
    return str(short / SOCKET_NAME)


def run_directory(*, keep: bool, name: str | None = None, root: Path | None = None) -> Path:
    """The path of a fresh directory that this process owns, or that the name of a standing server owns.

    :func:`make_run_directory` makes it. Whoever knows the path before can remove the directory wherever an interrupt
    comes. ``root``: where; a standing server is always in :func:`runs_root`.
    """
    if name is not None:
        return runs_root() / f"server-{name}"
    pid = os.getpid()
    start = start_time(pid)
    if start is None:  # nobody could tell this directory from one of a lab that is gone
        raise ServerUnavailable("/proc is not mounted, so the lab cannot recognise its own processes", "mount /proc")
    root = root or runs_root()
    announce(root, pid, start)
    return root / f"{'kept' if keep else 'run'}-{pid}-{start}-{secrets.token_hex(3)}"


def make_run_directory(directory: Path) -> None:
    """Make a run directory. Raises :class:`NameTakenError` where a standing server has the name."""
    try:
        directory.mkdir(mode=0o700)
    except FileExistsError:
        name = directory.name.removeprefix("server-")
        raise NameTakenError(
            f"a server named {name} is there already", f"choose another name, or: binlog-lab servers stop {name}"
        ) from None


def _owner(directory: Path) -> tuple[int, str] | None:
    parts = directory.name.split("-")
    if len(parts) == 4 and parts[0] == "run" and parts[1].isdigit():
        return int(parts[1]), parts[2]
    return None


def kill_servers_in(directory: Path) -> None:
    """Kill processes that run on the data of this run directory."""
    for pid in processes_with_argument(f"--datadir={directory}/data"):
        start = start_time(pid)
        if start is not None:
            signal_if_same(pid, start, signal.SIGKILL)


def remove_orphans() -> list[Path]:
    """Remove the run directories of labs that are gone, and kill a server that still runs in one of them.

    A lab in another namespace of processes is told by its sign (:mod:`conformance.servers.run.presence`).

    Such a server exists only if the lab *and* its supervisor were killed while the server hung behind a wrapper.
    """
    removed = []
    in_memory = MEMORY / f"binlog-lab-{os.getuid()}"
    roots = {runs_root(), *([_root_in(MEMORY)] if in_memory.is_dir() else [])}
    for directory in [directory for root in roots for directory in root.glob("run-*")]:
        owner = _owner(directory)
        if owner is None or is_running(*owner) or announced(directory.parent, *owner):
            continue
        kill_servers_in(directory)
        remove_run_directory(directory)
        removed.append(directory)
    return removed
