"""The bundle: the real MySQL server from the machine's own package archive, unpacked into the user's cache.

A bundle is either complete or absent: the lab unpacks it beside its place, tries it, and renames it. Its manifest keeps
the resolved version and hash of every package and never the mirror's host. A cached bundle needs no network; the lab
fetches a newer one only on request. Facts: servers 1.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.servers.errors import ServerUnavailable
from conformance.servers.install.apt import EXPIRED, NOT_UNPACKED, AptSession, Package, require_program, takes_expired
from conformance.servers.install.apt_sources import Distribution, Source, archives, distribution, read_sources
from conformance.servers.install.cache import building, cache_root, locked, require_space, silent
from conformance.servers.install.installation import Installation, from_path
from conformance.servers.install.server_packages import fits, no_archive, releases_with, server_packages, suites_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.servers.install.cache import Narrate

_FULL = 16 << 20  # bytes left on a disk that nobody can work with
_UNPACKED_FACTOR = 7  # unpacked size over fetched size (observed: 6.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a fetch has come. ``total`` is 0 while the total is unknown."""

    step: str
    percent: float
    total: int = 0
    what: str = "bundle"

    @property
    def done(self) -> int:
        """How many bytes of the total are fetched."""
        return round(self.total * self.percent / 100)


def no_progress(_: Progress) -> None:
    """A progress receiver that shows nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A complete bundle in the cache."""

    directory: Path
    version: str  # version of the server package
    architecture: str
    fetched: str
    suite: str
    packages: tuple[tuple[str, str], ...]

    def installation(self) -> Installation:
        """The bundle's programs as an installation."""
        return from_path(self.directory / "root", f"bundle {self.version}")


def _bundles_directory() -> Path:
    return cache_root() / "bundles"


def _load(directory: Path) -> Bundle | None:
    try:
        manifest: dict[str, Any] = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
        return Bundle(
            directory=directory,
            version=str(manifest["version"]),
            architecture=str(manifest["architecture"]),
            fetched=str(manifest["fetched"]),
            suite=str(manifest["suite"]),
            packages=tuple((str(entry["name"]), str(entry["version"])) for entry in manifest["packages"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def cached() -> list[Bundle]:
    """Bundles in the cache, the most recently fetched one first."""
    directory = _bundles_directory()
    found = [_load(entry) for entry in directory.iterdir() if entry.name[0] != "."] if directory.is_dir() else []
    return sorted((bundle for bundle in found if bundle is not None), key=lambda bundle: bundle.fetched, reverse=True)


def pinned_version() -> str | None:
    """``BINLOG_LAB_BUNDLE``: the version or the series to use, even if the archive has a newer one."""
    return os.environ.get("BINLOG_LAB_BUNDLE") or None


def ensure(
    *,
    version: str | None = None,
    refresh: bool = False,
    narrate: Narrate = silent,
    progress: Callable[[Progress], None] = no_progress,
) -> Bundle:
    """The bundle to use: the pinned one, else the newest cached one, else a newly fetched one.

    ``version``: exactly this one, or the newest of a series (``8.4``). ``refresh`` asks the archive for a newer one
    first. The user can interrupt a fetch at any time; the next call
    continues it.
    """
    wanted = version or pinned_version()
    found = _pick(cached(), wanted)
    if found is not None and not refresh:
        return found
    with locked(cache_root() / "bundles.lock", narrate, "fetches the server bundle") as lock:
        found = _pick(cached(), wanted)  # another process may have fetched it while we waited
        if found is not None and not refresh:
            return found
        return _Fetch(lock, wanted, narrate, progress).run()


def _pick(bundles: list[Bundle], wanted: str | None) -> Bundle | None:
    return next((bundle for bundle in bundles if fits(bundle.version, wanted)), None)


def try_archive() -> None:
    """Ask the archives that a fetch would use for a signed index; keep nothing. Raises :class:`ServerUnavailable`."""
    here = distribution()
    failure: ServerUnavailable | None = None
    for source in _candidates(here):
        stanza = source.stanza(*suites_of(source, here))
        try:
            with tempfile.TemporaryDirectory(prefix="binlog-lab-") as work, AptSession(Path(work), stanza) as apt:
                return apt.try_index()
        except ServerUnavailable as error:
            failure = failure or error
    assert failure is not None
    raise failure


def _candidates(here: Distribution) -> list[Source]:
    """The machine's archives of this distribution, best first; never empty."""
    candidates = archives(read_sources(), here)
    if not candidates:
        raise no_archive(here)
    return candidates


class _Fetch:
    """One fetch, from the machine's sources to a published bundle. The caller holds the lock."""

    def __init__(self, lock: int, wanted: str | None, narrate: Narrate, progress: Callable[[Progress], None]) -> None:
        self.lock = lock
        self.wanted = wanted
        self.narrate = narrate
        self.progress = progress
        self.work = cache_root() / "bundle-work"

    def run(self) -> Bundle:
        """Try the machine's archives in order; raise the last failure if all fail."""
        here = distribution()
        require_program("dpkg-deb", "dpkg")
        require_program("apt-get", "apt")
        failure: ServerUnavailable | None = None
        for source, release in product(_candidates(here), releases_with(here, self.wanted)):
            try:
                return self._from(source, here, release)
            except ServerUnavailable as error:
                failure = failure or error
        assert failure is not None
        if self.work.is_dir() and shutil.disk_usage(self.work).free < _FULL:  # what would be continued fills the disk
            shutil.rmtree(self.work, ignore_errors=True)
        raise failure

    def _from(self, source: Source, here: Distribution, release: str) -> Bundle:
        suites, components = suites_of(source, here, release)
        with AptSession(self.work, source.stanza(suites, components), hold=self.lock) as apt:
            self.narrate(f"fetching the package index of {here.family} {suites[0]}")
            if takes_expired():
                self.narrate(f"{EXPIRED} is set: an index that has expired is taken; signatures are checked")
            apt.update(lambda percent, _: self.progress(Progress(step="index", percent=percent)))
            names = server_packages(apt, here.family, suites, self.wanted)
            plan = apt.plan(names)
            version = next((package.version for package in plan if package.name == names[0]), None)
            if version is None:
                raise ServerUnavailable(f"the archive lists no files for {names[0]}", "try again later")
            self._check_pin(version)
            have = _pick(cached(), version)
            if have is not None:
                self.narrate(f"MySQL {version} is the newest and is in the cache already")
                shutil.rmtree(self.work, ignore_errors=True)
                return have
            self._download(apt, names, plan, version)
            bundle = self._publish(apt, plan, version, suites[0], here)
        shutil.rmtree(self.work, ignore_errors=True)
        return bundle

    def _check_pin(self, version: str) -> None:
        if not fits(version, self.wanted):
            have = ", ".join(bundle.version for bundle in cached()) or "none"
            raise ServerUnavailable(
                f"bundle {self.wanted} is not in the cache (there: {have}), and the archive has {version} only",
                f"pin one of those: BINLOG_LAB_BUNDLE={version}, or unset it",
            )

    def _download(self, apt: AptSession, names: tuple[str, ...], plan: list[Package], version: str) -> None:
        total = sum(package.size for package in plan)
        have = sum(package.size for package in plan if (apt.archives / package.file).is_file())
        purpose = f"the bundle of MySQL {version}"
        require_space(self.work, total - have + total * _UNPACKED_FACTOR, purpose)
        self.narrate(f"fetching MySQL {version}: {len(plan)} packages, {(total - have) / 1e6:.0f} MB to go")
        apt.fetch(
            names,
            plan,
            lambda percent, _: self.progress(Progress(step="packages", percent=percent, total=total - have)),
        )

    def _publish(self, apt: AptSession, plan: list[Package], version: str, suite: str, here: Distribution) -> Bundle:
        final = _bundles_directory() / f"{version.replace(':', '_')}_{apt.architecture}"
        with building(final) as temporary:
            root = temporary / "root"
            unpacked = [package for package in plan if not NOT_UNPACKED.match(package.name)]
            apt.unpack(unpacked, root, lambda percent, _: self.progress(Progress(step="unpacking", percent=percent)))
            from_path(root, "new bundle")  # it must start and tell its version before anybody can see it
            manifest = {
                "schema": 1,
                "version": version,
                "distribution": here.family,
                "suite": suite,
                "architecture": apt.architecture,
                "fetched": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
                "packages": [
                    {
                        "name": package.name,
                        "version": package.version,
                        "size": package.size,
                        "sha256": package.sha256,
                        "unpacked": package in unpacked,
                    }
                    for package in plan
                ],
            }
            (temporary / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        bundle = _load(final)
        assert bundle is not None
        self.narrate(f"MySQL {version} is in the cache: {final}")
        return bundle
