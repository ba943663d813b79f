"""The facts about what this machine offers the lab, which ``binlog-lab doctor`` shows.

The survey keeps nothing and leaves nothing running.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import sys
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from typing import TYPE_CHECKING

from conformance.extras import to_install
from conformance.servers.child_process import run_in_time
from conformance.servers.containers.engine import connect
from conformance.servers.errors import ServerUnavailable
from conformance.servers.install import bundle
from conformance.servers.install.apt_sources import archives, distribution, read_sources
from conformance.servers.install.cache import FILES, cache_root, free_files
from conformance.servers.install.installation import from_path, on_path
from conformance.servers.install.server_packages import fits, no_archive, suites_of
from conformance.servers.roles.old_server import old_installation
from conformance.servers.run.directories import temporary_directory
from conformance.servers.run.presence import has_semaphores
from conformance.servers.run.process_identity import start_time
from conformance.servers.run.template import SPACE, template_directory

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.install.installation import Installation
_FETCHES = 800 << 20  # bytes for fetching and unpacking a bundle and making a template (observed on 9.7.4: 740 MiB)
_RUNS = 1 << 30  # bytes for some running servers


class FactState(StrEnum):
    """``missing`` is needed for the main job; ``absent`` only for what the text says."""

    OK = "ok"
    MISSING = "missing"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the survey."""

    name: str
    state: FactState
    detail: str
    remedy: str = ""


# Distribution, and its purpose; the first group is in the plain install.
_NEEDED: tuple[tuple[str, str], ...] = (
    ("click", "the command line"),
    ("jinja2", "the report"),
    ("mysql-connector-python", "servers"),
    ("pytest", "the checks"),
    ("rich", "progress and summaries"),
    ("zstandard", "compressed transactions"),
)
_EXTRA: tuple[tuple[str, str, str], ...] = (
    ("hypothesis", "tests of the kit and strategies", "strategies"),
    ("atheris", "fuzzing", "fuzz"),
    ("pyspark", "scenarios on Spark", "spark"),
    ("docker", "containers", "docker"),
)


def survey() -> list[Fact]:
    """All facts, the most interesting first."""
    servers, found, fetches = _server_facts()
    return [
        *servers,
        _cache(found, fetches=fetches),
        _run_space(),
        *_system(),
        *_python(),
        _old(),
        _docker(),
        _java(),
    ]


def _server_facts() -> tuple[list[Fact], Installation | None, bool]:
    """The facts, the programs that ``--server process`` would start, and whether it would have to fetch them."""
    path, installed = _mysqld_on_path()
    cached, bundled, has_bundle = _cached_bundles()
    found = installed or bundled
    apt, fetchable = _apt(needed=found is None and not has_bundle)
    fetches = found is None and not has_bundle  # one that is there but cannot be started is not replaced
    usable = found is not None or (fetches and fetchable)
    ways = [
        words
        for holds, words in (
            (installed is not None, "the installed mysqld"),
            (bundled is not None, "a cached bundle"),
            (fetches and fetchable, "a bundle fetched by apt at the first run"),
        )
        if holds
    ]
    summary = Fact(
        "server",
        FactState.OK if usable else FactState.MISSING,
        f"--server process can use {', or '.join(ways)}" if usable else "no way to start a server here",
        ""
        if usable
        else "install a MySQL server, or give --server process:PATH with an unpacked one, or mysql://user@host:port",
    )
    return [summary, path, cached, apt], found, fetches


def _mysqld_on_path() -> tuple[Fact, Installation | None]:
    mysqld = on_path()
    if mysqld is None:
        return Fact("mysqld", FactState.ABSENT, "none on PATH, and MYSQLD is not set"), None
    try:
        installation = from_path(mysqld)
    except ServerUnavailable as error:
        return Fact("mysqld", FactState.ABSENT, f"{error.missing} (not used)"), None
    return Fact("mysqld", FactState.OK, f"MySQL {installation.version}: {mysqld}"), installation


def _cached_bundles() -> tuple[Fact, Installation | None, bool]:
    """The fact, the programs of the bundle to use if they can be started, and whether there is such a bundle."""
    found = bundle.cached()
    pin = bundle.pinned_version()
    if pin is not None and not any(fits(item.version, pin) for item in found):
        have = ", ".join(item.version for item in found) or "none"
        return (
            Fact(
                "bundle",
                FactState.ABSENT,
                f"BINLOG_LAB_BUNDLE={pin} is not in the cache (there: {have})",
                "unset BINLOG_LAB_BUNDLE, or: binlog-lab servers install",
            ),
            None,
            False,
        )
    if not found:
        return (
            Fact(
                "bundle",
                FactState.ABSENT,
                f"none in {cache_root()}",
                "fetched when first needed; or now: binlog-lab servers install",
            ),
            None,
            False,
        )
    try:
        installation = next(item for item in found if fits(item.version, pin)).installation()
    except ServerUnavailable as error:  # on a file system that starts no programs, for one
        return Fact("bundle", FactState.ABSENT, f"{error.missing} (in {cache_root()})", error.remedy), None, True
    words = ", ".join(f"MySQL {item.version} (fetched {item.fetched[:10]})" for item in found)
    return Fact("bundle", FactState.OK, f"{words} in {cache_root()}"), installation, True


def _apt(*, needed: bool) -> tuple[Fact, bool]:
    """Whether a bundle can be fetched; the mirror is asked only where the first run would have to."""
    absent = [name for name in ("apt-get", "apt-config", "apt-cache", "dpkg", "dpkg-deb") if shutil.which(name) is None]
    if absent:
        detail = f"{', '.join(absent)} not found: the bundle cannot be fetched here"
        return Fact("apt", FactState.ABSENT, detail, "use a Debian or Ubuntu machine for it"), False
    here = distribution()
    found = archives(read_sources(), here)
    try:
        if not found:
            raise no_archive(here)
        suites, _ = suites_of(found[0], here)
        if needed:
            bundle.try_archive()
    except ServerUnavailable as error:
        said = [line.removeprefix("  | ") for line in error.detail.splitlines() if "E: " in line]
        return Fact("apt", FactState.ABSENT, " | ".join([error.missing, *said[:1]]), error.remedy), False
    tried = "its signed index is there" if needed else "not tried now"
    words = f"{here.id} {here.codename}; the bundle comes from suite {suites[0]} of the same mirror ({tried})"
    return Fact("apt", FactState.OK, words), True


def _existing(directory: Path) -> Path:
    while not directory.exists():
        directory = directory.parent
    return directory


def _cache(found: Installation | None, *, fetches: bool) -> Fact:
    """The cache: what a first run writes there, for programs that are there already or are still to be fetched."""
    directory = cache_root()
    existing = _existing(directory)
    free = shutil.disk_usage(existing).free
    template = found is not None and (template_directory(found) / "data").is_dir()
    if template and not fetches:
        return Fact("cache space", FactState.OK, f"all that a run needs is in {directory}")
    needed = _FETCHES if fetches else SPACE
    wrong = []
    if free < needed:
        wrong.append(f"{needed >> 20} MiB are needed")
    if (files := free_files(existing)) is not None and files < FILES:
        wrong.append(f"room for {files} files only (inodes), {FILES} are needed")
    if not os.access(existing, os.W_OK):
        wrong.append("not writable")
    if os.statvfs(existing).f_flag & os.ST_NOEXEC:
        wrong.append("no program can be started there (mounted noexec)")
    detail = f"{free / 2**30:.1f} GiB free in {directory}"
    if wrong:
        return Fact(
            "cache space", FactState.MISSING, ", ".join([detail, *wrong]), "set BINLOG_LAB_CACHE to another directory"
        )
    return Fact("cache space", FactState.OK, detail)


def _run_space() -> Fact:
    try:
        directory = temporary_directory()
    except ServerUnavailable as error:
        return Fact("run space", FactState.MISSING, error.missing, error.remedy)
    free = shutil.disk_usage(directory).free
    detail = f"{free / 2**30:.1f} GiB free in {directory}"
    if free < _RUNS:
        return Fact("run space", FactState.MISSING, detail, "1 GiB is comfortable; set TMPDIR to another directory")
    return Fact("run space", FactState.OK, detail)


def _system() -> list[Fact]:
    """Return the facts about what the system's own file systems lack; none on a usual machine."""
    facts = []
    if start_time(os.getpid()) is None:
        said = "/proc is not mounted: the lab cannot recognise its own processes"
        facts.append(Fact("processes", FactState.MISSING, said, "mount /proc"))
    if not has_semaphores():
        said = "no semaphores between processes: updates are compared in one process, which is slower"
        facts.append(Fact("shared memory", FactState.ABSENT, said, "mount a tmpfs at /dev/shm"))
    return facts


def _version(distribution_name: str) -> str | None:
    """The version by distribution name: a folder named like a module (our own ``docker``) is not the package."""
    try:
        return metadata.version(distribution_name)
    except metadata.PackageNotFoundError:
        return None


def _python() -> list[Fact]:
    good = sys.version_info >= (3, 11)
    facts = [
        Fact(
            "python",
            FactState.OK if good else FactState.MISSING,
            f"{platform.python_version()} on {platform.system()} {platform.machine()}",
            "" if good else "Python 3.11 or later",
        )
    ]
    for name, purpose in _NEEDED:
        version = _version(name)
        facts.append(
            Fact(
                f"package {name}",
                FactState.OK if version else FactState.MISSING,
                version or f"not installed; needed for {purpose}",
                "" if version else "pip install binlog-lab",
            )
        )
    for name, purpose, extra in _EXTRA:
        version = _version(name)
        facts.append(
            Fact(
                f"package {name}",
                FactState.OK if version else FactState.ABSENT,
                version or f"not installed; only for {purpose}",
                "" if version else to_install(extra),
            )
        )
    return facts


def _old() -> Fact:
    """MySQL 5.6, which has no partial JSON updates."""
    try:
        found = old_installation()
    except ServerUnavailable as error:
        return Fact(
            "old server", FactState.ABSENT, f"{error.missing}; only for FR10, X1, X2, TMX1, TMX2 and TN2", error.remedy
        )
    return Fact("old server", FactState.OK, f"MySQL {found.version}: {found.mysqld}")


def _docker() -> Fact:
    """The container engine that the lab would use."""
    try:
        with contextlib.closing(connect()) as client:
            version = client.version()
    except ServerUnavailable as error:
        return Fact("docker", FactState.ABSENT, f"{error.missing}; only for containers", error.remedy)
    names = [part.get("Name", "") for part in version.get("Components") or ()]
    place = os.environ.get("DOCKER_HOST") or "this machine's socket"
    return Fact("docker", FactState.OK, f"{names[0] if names else 'engine'} {version['Version']} at {place}")


def _java() -> Fact:
    java = shutil.which("java", path=_java_path())
    if java is None:
        return Fact("java", FactState.ABSENT, "not found; only for Spark", "a Java 17 or later")
    try:
        answer = run_in_time([java, "-version"], 30)
    except OSError as error:
        return Fact("java", FactState.ABSENT, f"{java} cannot be started: {error}")
    first = (answer.words or answer.text).strip().splitlines()
    return Fact("java", FactState.OK, f"{first[0] if first else 'version unknown'}: {java}")


def _java_path() -> str:
    home = os.environ.get("JAVA_HOME")
    path = os.environ.get("PATH", os.defpath)
    return f"{home}/bin{os.pathsep}{path}" if home else path
