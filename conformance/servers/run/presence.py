"""A lab's sign of life that labs in other namespaces of processes can read.

Containers and chroots may share a directory for temporary files and yet not see each other's processes: there, a pid
and a start time of another lab look like those of a lab that is gone. So each lab holds a lock beside its run
directories. The kernel drops the lock together with the process.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
from multiprocessing import get_context
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_PREFIX = ".lab-"
_held: dict[Path, int] = {}  # descriptors of this process's locks


def _sign(root: Path, pid: int, start: str) -> Path:
    return root / f"{_PREFIX}{pid}-{start}"


def has_semaphores() -> bool:
    """Whether processes can share semaphores here. Linux keeps them in /dev/shm, which some systems lack."""
    try:
        get_context("fork").Lock()
    except (OSError, ImportError):
        return False
    return True


def announce(root: Path, pid: int, start: str) -> None:
    """Hold the sign of this process in ``root`` until it ends. A file system without locks has no signs."""
    sign = _sign(root, pid, start)
    while sign not in _held:
        descriptor = os.open(sign, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), sign.stat()):  # else another lab removed it before the lock
                _held[sign] = descriptor
                atexit.register(_withdraw, sign, pid)
                return
        os.close(descriptor)


def _withdraw(sign: Path, pid: int) -> None:
    if os.getpid() == pid:  # a forked copy of the lab has the same list
        sign.unlink(missing_ok=True)


def announced(root: Path, pid: int, start: str) -> bool:
    """Whether the lab of this pid and start time, in any namespace, holds its sign. One that nobody holds goes."""
    sign = _sign(root, pid, start)
    if sign in _held:
        return True
    try:
        descriptor = os.open(sign, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        sign.unlink(missing_ok=True)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False
