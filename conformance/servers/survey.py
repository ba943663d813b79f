"""What this machine offers the lab: the facts behind ``binlog-lab doctor``. The survey fetches nothing and leaves
nothing running.
"""

# Asking programs for their version is the job of this module.
# ruff: noqa: S603

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path

from conformance.servers.containers.engine import connect
from conformance.servers.errors import ServerUnavailable
from conformance.servers.install import bundle
from conformance.servers.install.apt_sources import archives, distribution, read_sources
from conformance.servers.install.cache import cache_root
from conformance.servers.install.installation import from_path, on_path
from conformance.servers.install.server_packages import no_archive, suites_of
from conformance.servers.roles.old_server import old_installation

_ROOM = 1 << 30  # bytes for fetching and unpacking a bundle, a template and two running servers


class State(StrEnum):
    """``missing`` is needed for the main job; ``absent`` only for what the text says."""

    OK = "ok"
    MISSING = "missing"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the survey."""

    name: str
    state: State
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
    return [
        *_server_facts(),
        *_space(),
        *_python(),
        _old(),
        _docker(),
        _java(),
    ]


def _server_facts() -> list[Fact]:
    path, installed = _mysqld_on_path()
    cached = _cached_bundles()
    apt, fetchable = _apt()
    usable = installed or cached.state is State.OK or fetchable
    ways = [
        words
        for holds, words in (
            (installed, "the installed mysqld"),
            (cached.state is State.OK, "a cached bundle"),
            (fetchable, "a bundle fetched by apt at the first run"),
        )
        if holds
    ]
    summary = Fact(
        "server",
        State.OK if usable else State.MISSING,
        f"--server process can use {', or '.join(ways)}" if usable else "no way to start a server here",
        ""
        if usable
        else "install a MySQL server, or give --server process:PATH with an unpacked one, or mysql://user@host:port",
    )
    return [summary, path, cached, apt]


def _mysqld_on_path() -> tuple[Fact, bool]:
    mysqld = on_path()
    if mysqld is None:
        return Fact("mysqld", State.ABSENT, "none on PATH, and MYSQLD is not set"), False
    try:
        installation = from_path(mysqld)
    except ServerUnavailable as error:
        return Fact("mysqld", State.ABSENT, f"{error.missing} (not used)"), False
    return Fact("mysqld", State.OK, f"MySQL {installation.version}: {mysqld}"), True


def _cached_bundles() -> Fact:
    found = bundle.cached()
    pin = bundle.pinned_version()
    if pin is not None and all(item.version != pin for item in found):
        have = ", ".join(item.version for item in found) or "none"
        return Fact(
            "bundle",
            State.ABSENT,
            f"BINLOG_LAB_BUNDLE={pin} is not in the cache (there: {have})",
            "unset BINLOG_LAB_BUNDLE, or: binlog-lab servers install",
        )
    if not found:
        return Fact(
            "bundle",
            State.ABSENT,
            f"none in {cache_root()}",
            "fetched when first needed; or now: binlog-lab servers install",
        )
    words = ", ".join(f"MySQL {item.version} (fetched {item.fetched[:10]})" for item in found)
    return Fact("bundle", State.OK, f"{words} in {cache_root()}")


def _apt() -> tuple[Fact, bool]:
    absent = [name for name in ("apt-get", "apt-config", "apt-cache", "dpkg", "dpkg-deb") if shutil.which(name) is None]
    if absent:
        detail = f"{', '.join(absent)} not found: the bundle cannot be fetched here"
        return Fact("apt", State.ABSENT, detail, "use a Debian or Ubuntu machine for it"), False
    here = distribution()
    found = archives(read_sources(), here)
    try:
        if not found:
            raise no_archive(here)
        suites, _ = suites_of(found[0], here)
    except ServerUnavailable as error:
        return Fact("apt", State.ABSENT, error.missing, error.remedy), False
    return Fact(
        "apt",
        State.OK,
        f"{here.id} {here.codename}; the bundle comes from suite {suites[0]} of the same mirror (not tried now)",
    ), True


def _space() -> list[Fact]:
    facts = []
    for name, directory in (("cache space", cache_root()), ("run space", Path(tempfile.gettempdir()))):
        existing = directory
        while not existing.exists():
            existing = existing.parent
        free = shutil.disk_usage(existing).free
        writable = os.access(existing, os.W_OK)
        good = free >= _ROOM and writable
        detail = f"{free / 2**30:.1f} GiB free in {directory}" + ("" if writable else ", not writable")
        variable = "BINLOG_LAB_CACHE" if name == "cache space" else "TMPDIR"
        facts.append(
            Fact(
                name,
                State.OK if good else State.MISSING,
                detail,
                "" if good else f"1 GiB is comfortable; set {variable} to another directory",
            )
        )
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
            State.OK if good else State.MISSING,
            f"{platform.python_version()} on {platform.system()} {platform.machine()}",
            "" if good else "Python 3.11 or later",
        )
    ]
    for name, purpose in _NEEDED:
        version = _version(name)
        facts.append(
            Fact(
                f"package {name}",
                State.OK if version else State.MISSING,
                version or f"not installed; needed for {purpose}",
                "" if version else "pip install binlog-lab",
            )
        )
    for name, purpose, extra in _EXTRA:
        version = _version(name)
        facts.append(
            Fact(
                f"package {name}",
                State.OK if version else State.ABSENT,
                version or f"not installed; only for {purpose}",
                "" if version else f"pip install 'binlog-lab[{extra}]'",
            )
        )
    return facts


def _old() -> Fact:
    """MySQL 5.6, which has no partial JSON updates."""
    try:
        found = old_installation()
    except ServerUnavailable as error:
        return Fact(
            "old server", State.ABSENT, f"{error.missing}; only for FR10, X1, X2, TMX1, TMX2 and TN2", error.remedy
        )
    return Fact("old server", State.OK, f"MySQL {found.version}: {found.mysqld}")


def _docker() -> Fact:
    """The container engine that the lab would use."""
    try:
        with contextlib.closing(connect()) as client:
            version = client.version()
    except ServerUnavailable as error:
        return Fact("docker", State.ABSENT, f"{error.missing}; only for containers", error.remedy)
    names = [part.get("Name", "") for part in version.get("Components") or ()]
    place = os.environ.get("DOCKER_HOST") or "this machine's socket"
    return Fact("docker", State.OK, f"{names[0] if names else 'engine'} {version['Version']} at {place}")


def _java() -> Fact:
    java = shutil.which("java", path=_java_path())
    if java is None:
        return Fact("java", State.ABSENT, "not found; only for Spark", "a Java 17 or later")
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Fact("java", State.ABSENT, f"{java} cannot be started: {error}")
    first = (answer.stderr or answer.stdout).strip().splitlines()
    return Fact("java", State.OK, f"{first[0] if first else 'version unknown'}: {java}")


def _java_path() -> str:
    home = os.environ.get("JAVA_HOME")
    path = os.environ.get("PATH", os.defpath)
    return f"{home}/bin{os.pathsep}{path}" if home else path
