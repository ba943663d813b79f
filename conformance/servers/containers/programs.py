"""Client programs for a server in a container: the image's own, run inside; if the image lacks one, the machine's.

The official images leave out mysqlbinlog and ibd2sdi. A program of the same release series stands in for the image's,
preferably one of exactly the server's version. The run names the program's origin, because the run then judges that
program.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from conformance.servers.containers.engine import telling
from conformance.servers.errors import ServerUnavailable
from conformance.servers.install import bundle
from conformance.servers.install.cache import silent
from conformance.servers.install.installation import from_path, on_path
from conformance.servers.run.directories import new_run_directory
from conformance.servers.run.supervisor import remove_run_directory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker.models.containers import Container

    from conformance.servers.containers.image import Image
    from conformance.servers.install.cache import Narrate
    from conformance.servers.install.installation import Installation
    from conformance.servers.wire.connection import Address

VARIABLE: Final = "BINLOG_LAB_PROGRAMS"  # an unpacked MySQL whose client programs stand in for an image's
LOGIN: Final = "/etc/binlog-lab-login.cnf"  # path in the container: the option file for root's login
_SCRIPT: Final = Path(__file__).with_name("exec.py")


def login_file(address: Address) -> str:
    """The text of an option file with which client programs log in at this address."""
    return (
        f"[client]\nhost={address.host}\nport={address.port}\nprotocol=tcp\n"
        f"user={address.user}\npassword={address.password}\n"
    )


def _installations() -> Iterator[Installation]:
    """Installations on this machine: the one that the environment names, bundles, the one on PATH."""
    named = os.environ.get(VARIABLE)
    if named:
        yield from_path(Path(named))
    yield from (item.installation() for item in bundle.cached())
    mysqld = on_path()
    if mysqld is not None:
        with contextlib.suppress(ServerUnavailable):
            yield from_path(mysqld)


class Contained(Protocol):
    """The facts about a server that its client programs need."""

    name: str
    image: Image
    address: Address

    @property
    def container(self) -> Container:
        """The server's present container."""


class Programs:
    """The client programs of one server. ``close`` removes the files stored for them on this machine."""

    def __init__(self, server: Contained, narrate: Narrate = silent) -> None:
        self._server = server
        self._narrate = narrate
        self._told: set[str] = set()  # programs whose origin the run has named
        self._inside: dict[str, bool] = {}  # whether the image brings a program
        self._directory: Path | None = None

    def program(self, name: str) -> list[str]:
        """Command words that start a client program."""
        if self._has(name):
            return [sys.executable, "-P", str(_SCRIPT), str(self._server.container.id), name]
        return self._here(name)

    def client(self, name: str) -> list[str]:
        """Command words that log in as root."""
        if self._has(name):
            return [*self.program(name), f"--defaults-file={LOGIN}"]
        return [*self._here(name), *self.login_here()]

    def login_here(self) -> list[str]:
        """The option with which a program of this machine logs in over the published port."""
        if self._directory is None:
            self._directory = new_run_directory(keep=False)
        path = self._directory / "login.cnf"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(login_file(self._server.address))
        return [f"--defaults-file={path}"]

    def _has(self, name: str) -> bool:
        if name not in self._inside:
            with telling(f"run {name} in {self._server.name}"):
                answer = self._server.container.exec_run([name, "--no-defaults", "--version"])
            self._inside[name] = answer.exit_code == 0
        return self._inside[name]

    def _here(self, name: str) -> list[str]:
        image = self._server.image
        series = image.number[:2]
        allowed = [found for found in _installations() if found.number[:2] == series]
        for installation in sorted(allowed, key=lambda found: (found.version == image.version, found.number))[::-1]:
            with contextlib.suppress(ServerUnavailable):
                words = installation.program(name)
                if name not in self._told:
                    self._told.add(name)
                    self._narrate(f"{image.name} brings no {name}: that of {installation.origin} stands in for it")
                return words
        raise ServerUnavailable(
            f"the image {image.name} brings no {name}, and there is none of MySQL {series[0]}.{series[1]} here",
            f"set {VARIABLE} to an unpacked MySQL {series[0]}.{series[1]}, or use an image with the client programs",
        )

    def close(self) -> None:
        """Remove the option file."""
        if self._directory is not None:
            remove_run_directory(self._directory)
