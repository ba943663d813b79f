"""A server that the lab owns: the lab starts, stops and kills it, puts files into it, and makes further servers like
it.

Two kinds exist, a process and a container. Checks use this interface, and a specific kind only for abilities that only
a process has (valgrind).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Protocol, TypedDict, TypeVar

from conformance.servers.base import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Unpack

    from conformance.servers.install.cache import Narrate
    from conformance.servers.run.options import Options

Served = TypeVar("Served")

START_SECONDS = 60.0
STOP_SECONDS = 30.0


class Launch(TypedDict, total=False):
    """The options of a launch; with ``start=False`` the new server does not run yet."""

    server_id: int
    options: Options | None
    performance_schema: bool
    keep: bool
    start: bool
    narrate: Narrate


class Maker(Protocol):
    """A set of programs or an image, from which the lab makes servers."""

    @property
    def version(self) -> str:
        """The version as the programs print it."""

    @property
    def number(self) -> tuple[int, int, int]:
        """The version as numbers."""

    def launch(self, *, wrapper: Sequence[str] | str = (), **wishes: Unpack[Launch]) -> OwnServer:
        """Make a server with data of its own."""


class OwnServer(Server):
    """A server of the lab's own, made with ``options``.

    ``pid`` differs for each start (and is 0 before the first). ``program_file``: mysqld's file, if it is one of this
    machine.
    """

    started_by_us = True

    options: dict[str, str | None]
    wrapper: tuple[str, ...]
    server_id: int
    keep: bool
    pid: int
    program_file: Path | None = None

    @property
    @abstractmethod
    def maker(self) -> Maker:
        """A maker of further servers of the same programs."""

    @abstractmethod
    def start(self, extra: Options | None = None, *, timeout: float = START_SECONDS) -> None:
        """Start, and wait until the server answers. ``extra`` options are for this start only."""

    @abstractmethod
    def stop(self, *, clean: bool = True, timeout: float = STOP_SECONDS) -> int | None:
        """Stop the server and return its exit status (negative: a signal). ``clean``: a shutdown, not a crash."""

    def kill(self) -> int | None:
        """Send SIGKILL, as in a crash."""
        return self.stop(clean=False)

    def restart(self, extra: Options | None = None) -> None:
        """Stop cleanly and start on the same data, with ``extra`` options for this start."""
        self.stop()
        self.start(extra)

    def meeting_host(self) -> str:
        """The address of this machine at which the server finds what the lab serves there.

        Raises :class:`ServerUnavailable` where there is none.
        """
        return "127.0.0.1"

    def serve(self, make: Callable[[str], Served]) -> Served:
        """Make and return what the lab serves to this server: ``make`` gets the address to listen at."""
        return make(self.meeting_host())

    @abstractmethod
    def error_log(self) -> str:
        """All log output of the server since it was made, over all starts."""

    def put_data(self, name: str, data: bytes) -> None:
        """Write a file into the data directory; the server may run."""
        self.files.write(name, data)

    @abstractmethod
    def forget_persisted(self) -> None:
        """Undo every SET PERSIST; only while the server does not run."""

    @abstractmethod
    def defaults_file(self, text: str) -> str:
        """Store an option file where the server can read it; return the value for the option ``defaults-file``."""

    @abstractmethod
    def copy_data(self, target: Path) -> None:
        """Copy the data directory, as evidence."""

    @abstractmethod
    def detach(self) -> None:
        """Let the server outlive the lab."""
