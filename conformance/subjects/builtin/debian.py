"""Debian packages, fetched through apt from the machine's own archive and unpacked without installing them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from conformance.servers.errors import ServerUnavailable
from conformance.servers.install.apt import NOT_UNPACKED, AptSession, require_program
from conformance.servers.install.apt_sources import archives, distribution, read_sources
from conformance.servers.install.bundle import Progress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.servers.install.cache import Narrate
    from conformance.subjects.builtin.catalogue import Package


def fetch(
    packages: tuple[Package, ...], directory: Path, lock: int, narrate: Narrate, progress: Callable[[Progress], None]
) -> list[tuple[str, str]]:
    """Unpack the packages and all that they need into ``directory/root``; returns names and versions."""
    require_program("dpkg-deb", "dpkg")
    here = distribution()
    sources = [source for source in archives(read_sources(), here) if here.id == "debian"]
    if not sources:
        raise ServerUnavailable(
            f"the package is Debian's, and this distribution is {here.id or 'unknown'}", "use a Debian machine"
        )
    work = directory / "apt"
    names = tuple(package.name for package in packages)
    suites = tuple(dict.fromkeys(package.suite for package in packages))
    what = f"{', '.join(names)} of {', '.join(suites)}"
    with AptSession(work, sources[0].stanza(suites, ("main",)), hold=lock) as apt:
        narrate(f"fetching the package index of debian {', '.join(suites)}")
        apt.update(lambda percent, _: progress(Progress(step="index", percent=percent, what="subject")))
        plan = apt.plan(names)
        versions = {package.name: package.version for package in plan}
        for package in packages:
            if not versions.get(package.name, "").startswith(package.version):
                raise ServerUnavailable(
                    f"the archive has {package.name} {versions.get(package.name, 'in no version')}, "
                    f"and the pinned version is {package.version}"
                )
        total = sum(package.size for package in plan)
        narrate(f"fetching {what}: {len(plan)} packages, {total / 1e6:.0f} MB")
        apt.fetch(
            names,
            plan,
            lambda percent, _: progress(Progress(step="packages", percent=percent, total=total, what="subject")),
        )
        unpacked = [package for package in plan if not NOT_UNPACKED.match(package.name)]
        apt.unpack(
            unpacked,
            directory / "root",
            lambda percent, _: progress(Progress(step="unpacking", percent=percent, what="subject")),
        )
    shutil.rmtree(work, ignore_errors=True)
    return [(package.name, package.version) for package in unpacked]
