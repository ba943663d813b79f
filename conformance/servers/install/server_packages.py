"""Which suites and packages of a distribution's archive carry a MySQL server.

Facts (servers 1): Debian's stable suites have MariaDB only, so its server comes from ``sid``. Ubuntu has MySQL in every
release, under names that changed: ``mysql-server-core-8.0`` in 20.04 to 24.04, ``mysql-server-core`` in 25.04 and 26.04
(8.4). The client package is named alike. Ubuntu's mirrors hold its releases side by side. A bundle runs with its own C
library, so that the packages of another release than the machine's serve as well.
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
_SERIES = re.compile(r"(\d+)\.(\d+)")
_POCKETS = ("", "-updates", "-security")
# The long-term releases of Ubuntu that carry a series, the newest first.
_CARRIERS = {"8.0": ("noble", "jammy"), "8.4": ("resolute",)}


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


def is_series(wanted: str | None) -> bool:
    """Whether a wish names a series (``8.4``), and not one version."""
    return wanted is not None and _SERIES.fullmatch(wanted) is not None


def fits(version: str, wanted: str | None) -> bool:
    """Whether a package's version is the wanted one, or of the wanted series. Without a wish each is."""
    if wanted is None or not is_series(wanted):
        return wanted in (None, version)
    number = _UPSTREAM.match(version)
    return number is not None and ".".join(number.groups()[:2]) == wanted


def releases_with(here: Distribution, wanted: str | None) -> tuple[str, ...]:
    """The releases in which to look for a server, the best first: the machine's own; then others with the series."""
    if here.family != "ubuntu" or wanted is None or not is_series(wanted):
        return (here.codename,)
    return tuple(dict.fromkeys((here.codename, *_CARRIERS.get(wanted, ()))))


def suites_of(
    source: Source, here: Distribution, release: str | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Suites and components that carry the server; ``release``: another one of Ubuntu than the machine's own.

    Of Ubuntu's, only those that the machine takes from this archive: a partial mirror lacks the others, and apt fails
    where one is missing. ``BINLOG_LAB_MIRROR`` names no suites, so it has to have all of them.
    """
    if here.family != "ubuntu":
        return ("sid",), ("main",)
    release = release or here.codename
    if not release:
        raise ServerUnavailable(
            f"os-release does not say which release of Ubuntu this is ({here.id} without a codename)",
            "give --server process:PATH with an unpacked server, or a mysql:// address",
        )
    components = ("main", "universe")
    taken = [pocket for pocket in _POCKETS if not source.suites or here.codename + pocket in source.suites]
    return (
        tuple(release + pocket for pocket in taken),
        tuple(component for component in components if not source.components or component in source.components),
    )


def server_packages(index: Index, family: str, suites: tuple[str, ...], wanted: str | None = None) -> tuple[str, str]:
    """The server package with the highest version that has its client package beside it, and that client package.

    ``wanted``: the only series to take (``8.4``); another wish counts for nothing here. Raises
    :class:`ServerUnavailable` where the archive has none for this architecture.
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
    fitting = [pair for pair in pairs if not is_series(wanted) or fits(versions[pair[2]], wanted)]
    if not fitting:
        have = ", ".join(sorted({versions[name] for _, _, name, _ in pairs}))
        raise ServerUnavailable(
            f"{family} {', '.join(suites)} of the machine's mirror has no MySQL {wanted}: it has {have}",
            f"an image of that series: --server docker:mysql:{wanted}",
        )
    _, _, server, client = max(fitting)
    return server, client
