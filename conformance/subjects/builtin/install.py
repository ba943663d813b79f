"""Installations of built-in subjects in the cache: complete under their own name, or not there.

Each has a directory of its own, which is built beside its place and renamed. Its name holds the version and a digest of
all pins, so that another pin never meets old files. An installed subject needs no network.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.servers.errors import ServerError
from conformance.servers.install.bundle import cached, no_progress
from conformance.servers.install.cache import building, cache_root, locked, require_space, silent
from conformance.subjects.answers import SubjectUnavailable
from conformance.subjects.builtin import debian, node, python
from conformance.subjects.builtin.catalogue import Entry, entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.servers.install.bundle import Progress
    from conformance.servers.install.cache import Narrate

_UNPACKED_FACTOR = 4  # room for the artifacts, and for what they become


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """A subject that can be opened. ``directory`` is empty for one that takes no packages of its own."""

    entry: Entry
    directory: Path | None
    packages: tuple[tuple[str, str], ...] = ()  # names and versions as they were resolved

    def command(self) -> list[str]:
        """The words that start the adapter."""
        place = self.directory or Path()
        words = {
            "python": str(place / "venv/bin/python") if self.entry.packages_of("pip") else sys.executable,
            "node": node.program() or "node",
            "adapters": str(files("conformance.subjects.adapters")),
            "directory": str(place),
        }
        return [word.format(**words) for word in self.entry.command]


def _place(found: Entry) -> Path:
    interpreter = f"-{sys.implementation.cache_tag}" if found.packages_of("pip") else ""
    return cache_root() / "subjects" / found.name / f"{found.version}-{found.digest}{interpreter}"


def installed(name: str) -> Installed | None:
    """The subject as the cache has it, or ``None``. A subject without packages is always there."""
    found = entry(name)
    if found.packages_of("bundle"):
        return Installed(entry=found, directory=None) if cached() else None
    if not found.packages:
        return Installed(entry=found, directory=None)
    directory = _place(found)
    try:
        manifest: dict[str, Any] = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
        packages = tuple((str(package), str(version)) for package, version in manifest["packages"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Installed(entry=found, directory=directory, packages=packages)


def install(name: str, *, narrate: Narrate = silent, progress: Callable[[Progress], None] = no_progress) -> Installed:
    """Fetch a subject, unless the cache has it. Raises :class:`SubjectUnavailable`: what is missing, how to get it."""
    there = installed(name)
    if there is not None:
        return there
    found = entry(name)
    check_needs(found)
    try:
        _fetch(found, narrate, progress)
    except ServerError as error:
        raise SubjectUnavailable(f"{name}: {error}") from error
    there = installed(name)
    assert there is not None
    return there


def check_needs(found: Entry) -> None:
    """Raise :class:`SubjectUnavailable` if this machine lacks a program that the subject runs on."""
    for program, least in found.needs:
        assert program == "node", program
        node.require(found.name, least)


def _fetch(found: Entry, narrate: Narrate, progress: Callable[[Progress], None]) -> None:
    if found.packages_of("bundle"):
        from conformance.servers.install.bundle import ensure

        ensure(narrate=narrate, progress=progress)
        return
    final = _place(found)
    with locked(final.parent / "lock", narrate, f"fetches {found.name}") as lock:
        if installed(found.name) is not None:  # another process may have fetched it while we waited
            return
        megabytes = sum(package.megabytes for package in found.packages)
        require_space(final.parent, (megabytes << 20) * _UNPACKED_FACTOR, f"the subject {found.name}")
        narrate(f"fetching {found.name} {found.version} ({megabytes} MB)")
        with building(final) as fresh:
            packages: list[tuple[str, str]] = []
            if wanted := found.packages_of("pip"):
                packages += python.fetch(wanted, fresh, narrate)
            for package in found.packages_of("npm"):
                packages += node.fetch(package, fresh)
            if wanted := found.packages_of("apt"):
                packages += debian.fetch(wanted, fresh, lock, narrate, progress)
            manifest = {
                "schema": 1,
                "name": found.name,
                "version": found.version,
                "fetched": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
                "packages": packages,
            }
            (fresh / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    narrate(f"{found.name} {found.version} is in the cache: {final}")
