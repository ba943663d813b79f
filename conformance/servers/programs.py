"""Client programs of a server: one interface for a program of this machine and for one in a container.

A caller gives arguments and bytes, and gets bytes: it needs no path. The program starts in a fresh folder, which holds
the given files under their names and is gone afterwards.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from conformance.servers.child_process import run_child
from conformance.servers.errors import ServerUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.servers.child_process import Ended, Limits


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
        with TemporaryDirectory(prefix="binlog-lab-") as folder:
            for name, data in {**self._extra, **(files or {})}.items():
                with open(Path(folder) / name, "xb", opener=_private) as file:
                    file.write(data)
            words = [*self.words, *arguments]
            try:
                return run_child(words, seconds=timeout, stdin=stdin, directory=folder, limits=limits)
            except OSError as error:
                raise ServerUnavailable(f"{self.name} cannot be started: {error}") from error


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)  # a file may hold a password
