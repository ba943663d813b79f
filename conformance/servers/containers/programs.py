"""Client programs for a server in a container, from the first place that has the program.

1. The image itself. The official images leave out mysqlbinlog, ibd2sdi and others.
2. The image of client programs for that version, which ``docker/clients`` builds, if the engine has it.
3. An installation on this machine of the same release series, preferably of exactly the server's version.

The run names the program's origin where it is not the image, because the run then judges that program.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from conformance.servers.containers.engine import telling
from conformance.servers.containers.tools import Tool
from conformance.servers.errors import ServerUnavailable
from conformance.servers.install import bundle
from conformance.servers.install.cache import silent
from conformance.servers.install.installation import from_path, on_path
from conformance.servers.programs import LocalProgram, Program

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.servers.child_process import Ended, Limits
    from conformance.servers.containers.engine_run import EngineRun
    from conformance.servers.containers.image import Image
    from conformance.servers.install.cache import Narrate
    from conformance.servers.install.installation import Installation
    from conformance.servers.wire.connection import Address

VARIABLE: Final = "BINLOG_LAB_PROGRAMS"  # an unpacked MySQL whose client programs stand in for an image's
CLIENTS: Final = "binlog-lab-clients"  # images of client programs; the tag is the server's version
LOGIN: Final = "login.cnf"  # the option file for root's login, in the folder where the program starts


def login_file(address: Address) -> bytes:
    """An option file with which client programs log in at this address."""
    return (
        f"[client]\nhost={address.host}\nport={address.port}\nprotocol=tcp\n"
        f"user={address.user}\npassword={address.password}\n"
    ).encode()


def clients_image(version: str) -> str:
    """The name of the image of client programs for a server's version, as its own program prints it."""
    return f"{CLIENTS}:{re.sub(r'[^A-Za-z0-9_.-]', '-', version)}"


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

    image: Image
    address: Address

    def opening_words(self, program: str) -> list[str]:
        """The words that let a session of a client program begin as those of the lab do."""

    def inner_address(self) -> Address:
        """Where another container of the run finds the server."""


class ContainedProgram(Program):
    """A program of an image. ``login``: a server at which it logs in as root."""

    def __init__(self, tool: Tool, name: str, login: Contained | None = None) -> None:
        self.name = name
        self._tool = tool
        self._login = login

    def run(
        self,
        arguments: Sequence[str],
        *,
        stdin: bytes = b"",
        files: Mapping[str, bytes] | None = None,
        timeout: float | None = None,
        limits: Limits | None = None,
    ) -> Ended:
        """Run the program in the container of its image."""
        words, given = [self.name], dict(files or {})
        if self._login is not None:
            words += [f"--defaults-file={LOGIN}", *self._login.opening_words(self.name)]
            given[LOGIN] = login_file(self._login.inner_address())
        return self._tool.run([*words, *arguments], stdin=stdin, files=given, timeout=timeout, limits=limits)


class Programs:
    """The client programs of one server."""

    def __init__(self, server: Contained, run: EngineRun, narrate: Narrate = silent) -> None:
        self._server = server
        self._run = run
        self._narrate = narrate

    def program(self, name: str, *, login: bool = False) -> Program:
        """A client program. Raises :class:`ServerUnavailable`, which says how to get it."""
        image = self._server.image
        own = Tool(self._run, image.id)
        if own.has(name):
            return ContainedProgram(own, name, self._server if login else None)
        clients = self._clients()
        if clients is not None and clients.has(name):
            self._tell(name, f"the image {clients_image(image.version)}")
            return ContainedProgram(clients, name, self._server if login else None)
        return self._here(name, login=login)

    def _clients(self) -> Tool | None:
        """The container of the image of client programs, if the engine has that image."""
        name = clients_image(self._server.image.version)
        with telling(f"look for the image {name}"):
            found = self._run.client.images.list(name=name)
        return Tool(self._run, str(found[0].id)) if found else None

    def _here(self, name: str, *, login: bool) -> Program:
        image = self._server.image
        series = image.number[:2]
        allowed = [found for found in _installations() if found.number[:2] == series]
        for installation in sorted(allowed, key=lambda found: (found.version == image.version, found.number))[::-1]:
            with contextlib.suppress(ServerUnavailable):
                words = installation.program(name)
                self._tell(name, f"that of {installation.origin}")
                if not login:
                    return LocalProgram(words, name=name)
                own = {LOGIN: login_file(self._server.address)}
                words += [f"--defaults-file={LOGIN}", *self._server.opening_words(name)]
                return LocalProgram(words, name=name, extra=own)
        raise ServerUnavailable(
            f"the image {image.name} brings no {name}, the engine has no image {clients_image(image.version)}, "
            f"and there is no {name} of MySQL {series[0]}.{series[1]} here",
            f"docker build --build-arg SERVER={image.name} --tag {clients_image(image.version)} docker/clients "
            f"(in a checkout of the lab), or set {VARIABLE} to an unpacked MySQL {series[0]}.{series[1]}",
        )

    def _tell(self, name: str, origin: str) -> None:
        image = self._server.image.name
        if (image, name) not in self._run.told:
            self._run.told.add((image, name))
            self._narrate(f"{image} brings no {name}: {origin} stands in for it")
