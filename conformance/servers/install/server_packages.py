"""Which suites and packages of a distribution's archive carry a MySQL server.

Facts (servers 1): Debian's stable suites have MariaDB only, so its server comes from ``sid``. Ubuntu has MySQL in every
release, under names that changed: ``mysql-server-core-8.0`` in 20.04 to 24.04, ``mysql-server-core`` in 25.04 and 26.04
(8.4). The client package is named alike.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from conformance.servers.errors import ServerUnavailable
from conformance.servers.install.apt import FULL_MIRROR

if TYPE_CHECKING:
    from conformance.servers.install.apt_sources import Distribution, Source

_SERVER, _CLIENT = "mysql-server-core", "mysql-client-core"
_NAME = re.compile(_SERVER + r"(?:-[\d.]+)?")
_UPSTREAM = re.compile(r"(?:\d+:)?(\d+)\.(\d+)\.(\d+)")


class Index(Protocol):
    """A fetched package index: an apt session."""

    architecture: str

    def candidates(self, prefix: str) -> dict[str, str]:
        """Versions that apt would take, by package name."""


def no_archive(here: Distribution) -> ServerUnavailable:
    """The error of a machine whose sources name no archive of its own distribution."""
    release = " ".join(filter(None, (here.id or "unknown", here.codename)))
    return ServerUnavailable(
        f"apt's configuration names no archive of this distribution ({release})",
        f"set BINLOG_LAB_MIRROR to the address of a mirror of {here.family.capitalize()}'s archive",
    )


def suites_of(source: Source, here: Distribution) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Suites and components that carry the server.

    Of Ubuntu's, only those that the machine takes from this archive: a partial mirror lacks the others, and apt fails
    where one is missing. ``BINLOG_LAB_MIRROR`` names no suites, so it has to have all of them.
    """
    if here.family != "ubuntu":
        return ("sid",), ("main",)
    release = here.codename
    if not release:
        raise ServerUnavailable(
            f"os-release does not say which release of Ubuntu this is ({here.id} without a codename)",
            "give --server process:PATH with an unpacked server, or a mysql:// address",
        )
    pockets = (release, f"{release}-updates", f"{release}-security")
    components = ("main", "universe")
    return (
        tuple(suite for suite in pockets if not source.suites or suite in source.suites),
        tuple(component for component in components if not source.components or component in source.components),
    )


def server_packages(index: Index, family: str, suites: tuple[str, ...]) -> tuple[str, str]:
    """The server package with the highest version that has its client package beside it, and that client package.

    Raises :class:`ServerUnavailable` where the archive has none for this architecture.
    """
    versions = index.candidates("mysql-")
    pairs: list[tuple[list[int], bool, str, str]] = []
    for name, version in versions.items():
        client = name.replace(_SERVER, _CLIENT)
        number = _UPSTREAM.match(version)
        if _NAME.fullmatch(name) and client in versions and number is not None:
            # Of the same version the plain name goes first: the other one is an empty package for upgrades.
            pairs.append(([*map(int, number.groups())], name == _SERVER, name, client))
    if not pairs:
        raise ServerUnavailable(
            f"{family} {', '.join(suites)} of the machine's mirror has no MySQL server for {index.architecture} "
            f"(no {_SERVER} or {_SERVER}-SERIES with its {_CLIENT} beside it)",
            FULL_MIRROR,
        )
    _, _, server, client = max(pairs)
    return server, client
