"""The per-user cache: where it is, one writer at a time, and publishing by rename.

Everything in the cache is either complete under its final name or still in a directory whose name begins with
``.new-``. Locks are kernel locks on open files (flock): they vanish with the process that holds them, so none can go
stale.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from conformance.servers.errors import ServerUnavailable

Narrate = Callable[[str], None]
FILES: Final = 1000  # more than a bundle has (600 for 9.7.4), or a server's data


def silent(_: str) -> None:
    """A narrator that prints nothing."""


def cache_root() -> Path:
    """``BINLOG_LAB_CACHE``, else ``binlog-lab`` in the user's cache directory (XDG Base Directory Specification)."""
    own = os.environ.get("BINLOG_LAB_CACHE")
    if own:
        return Path(own).expanduser().absolute()
    return _users("XDG_CACHE_HOME", ".cache", "BINLOG_LAB_CACHE") / "binlog-lab"


def data_root() -> Path:
    """``binlog-lab`` in the user's directory for data: files that must be kept, and belong in no repository."""
    return _users("XDG_DATA_HOME", ".local/share", "XDG_DATA_HOME") / "binlog-lab"


def _users(variable: str, below_home: str, remedy: str) -> Path:
    """A directory of this user. Raises :class:`ServerUnavailable` for a user without a home directory."""
    base = os.environ.get(variable)
    if base and Path(base).is_absolute():  # the specification says that a relative path is to be ignored
        return Path(base)
    try:
        return Path.home() / below_home
    except RuntimeError as error:
        raise ServerUnavailable(
            f"user {os.getuid()} has no home directory: HOME is not set, and the system does not know this user",
            f"set HOME, or set {remedy} to a directory that can be written",
        ) from error


def make_directory(path: Path) -> Path:
    """Create ``path`` (private to the user), or raise an error that says why the cache is unusable."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ServerUnavailable(
            f"the cache directory {path} cannot be made: {error.strerror}",
            "set BINLOG_LAB_CACHE to a directory that can be written",
        ) from error
    return path


@contextlib.contextmanager
def locked(path: Path, narrate: Narrate = silent, waiting_for: str = "") -> Iterator[int]:
    """Hold the lock file ``path``; yield its descriptor, which children may inherit to hold the lock on."""
    make_directory(path.parent)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ServerUnavailable(
            f"the lock file {path} cannot be opened: {error.strerror}",
            "set BINLOG_LAB_CACHE to a directory that can be written",
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            narrate(f"waiting for another process that {waiting_for or f'holds {path}'}")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)  # the file stays: removing a lock file would let two holders in


@contextlib.contextmanager
def building(final: Path) -> Iterator[Path]:
    """A fresh directory beside ``final`` that takes its name if the block succeeds, and is removed if not.

    The caller holds the lock of ``final``'s parent, so this function also removes leftovers of killed builders.
    """
    make_directory(final.parent)
    for leftover in final.parent.glob(".new-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    temporary = final.parent / f".new-{secrets.token_hex(6)}"
    temporary.mkdir(mode=0o700)
    try:
        yield temporary
        if final.exists():
            outgoing = final.parent / f".new-old-{secrets.token_hex(6)}"
            final.rename(outgoing)
            temporary.rename(final)
            shutil.rmtree(outgoing, ignore_errors=True)
        else:
            temporary.rename(final)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def require_space(directory: Path, needed: int, purpose: str) -> None:
    """Raise if the file system of ``directory`` has less than ``needed`` bytes left, or hardly any files."""
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise ServerUnavailable(
            f"not enough disk space for {purpose}: {needed >> 20} MiB needed, {free >> 20} MiB free in {directory}",
            "free some space, or set BINLOG_LAB_CACHE (bundle and templates) or TMPDIR (running servers) elsewhere",
        )
    if (files := free_files(directory)) is not None and files < FILES:
        raise ServerUnavailable(
            f"not enough inodes for {purpose}: {FILES} files needed, {files} free in {directory}",
            "remove some files, or set BINLOG_LAB_CACHE (bundle and templates) or TMPDIR (running servers) elsewhere",
        )


def free_files(directory: Path) -> int | None:
    """How many files the file system of ``directory`` still has room for; ``None`` if it has no such limit."""
    found = os.statvfs(directory)
    return found.f_favail if found.f_files else None
