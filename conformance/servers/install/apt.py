"""One apt session in directories of its own: no root, nothing installed, the machine's package state untouched.

apt itself checks the archive's signature and every hash; this module never relaxes that, whatever the machine's own
configuration says. The session takes over the machine's ``Acquire`` settings, which say how to reach the network
(proxies, time limits, certificates). It leaves out hooks, pins and other sources.

apt also refuses an index that has expired, so that nobody can hold back updates. A machine with an old mirror says in
its own configuration that apt shall take it (``Acquire::Check-Valid-Until``, or an option of the source), and the
session does the same. A user who may not change that sets ``BINLOG_LAB_EXPIRED_INDEX=1``.
"""

# Starting programs is the job of this module.
# ruff: noqa: S603

from __future__ import annotations

import hashlib
import os
import re
import select
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.servers.closing import Closing
from conformance.servers.errors import ServerUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
_DOWNLOAD_STATUS = re.compile(rb"dlstatus:\d+:([\d.]+):(.*)")
_PRINTED_URI = re.compile(r"^'(?P<uri>[^']+)' (?P<file>\S+) (?P<size>\d+) SHA256:(?P<sha256>[0-9a-f]{64})$")
_FIELD = re.compile(r"^(Package|Version): (\S+)$", re.MULTILINE)
_SECRETS_IN_URI = re.compile(r"//[^/@\s]+@")
_LEFT_OUT = re.compile(
    r"Acquire::(Allow\w*Repositories|IndexTargets|Languages|PDiffs|ForceHash|GzipIndexes)\b", re.IGNORECASE
)
_LAST_LINES = 12
EXPIRED: Final = "BINLOG_LAB_EXPIRED_INDEX"
_TRY_SECONDS = 10
_NOT_KEPT = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/lintian", "usr/share/bug")

FULL_MIRROR = (
    "set BINLOG_LAB_MIRROR to the address of a full mirror of the distribution's archive "
    "(a release past its end of life is in an archive of old releases only)"
)

# Packages that MySQL's and MariaDB's programs need for maintenance scripts only.
NOT_UNPACKED = re.compile(r"(perl|perl-base|perl-modules-[\d.]+|libperl[\d.]+|libgdbm.*|libdb5.*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One archive file as the signed index describes it."""

    file: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """Package name: the part before the first underscore (Debian policy 5.6.1)."""
        return self.file.partition("_")[0]

    @property
    def version(self) -> str:
        """Version, its epoch colon restored (apt writes %3a)."""
        return self.file.split("_")[1].replace("%3a", ":")


# Texts of apt (in the C locale) by what they mean. First match wins: a signature problem hides behind a failed fetch.
_DIAGNOSES: tuple[tuple[str, str, str], ...] = (
    (
        (
            r"NO_PUBKEY|BADSIG|EXPKEYSIG|is not signed|signatures? (?:couldn't|could not|were invalid)|"
            r"not authenticated|unauthenticated packages|public key is not available|Signed-By.*not readable|"
            r"Sub-process .*(?:gpgv|sqv).*(?:error|exited)"
        ),
        "the archive's signature cannot be verified with this machine's keys",
        "update the distribution's archive keyring (package debian-archive-keyring or ubuntu-keyring), then try again",
    ),
    (
        r"Release file .* is expired",
        "the archive's index is out of date: its Release file has expired (an old mirror, or a clock that is fast)",
        (
            "set BINLOG_LAB_MIRROR to the address of a mirror that is up to date, or take the old index with "
            "BINLOG_LAB_EXPIRED_INDEX=1 (signatures and hashes are checked as before)"
        ),
    ),
    (
        r"Release file .* is not valid yet",
        "the archive's index is from the future: this machine's clock is slow",
        "set the clock of this machine",
    ),
    (
        r"No space left on device|enough free space|Write error",
        "the disk is full",
        "free some space, or set BINLOG_LAB_CACHE to a directory with room",
    ),
    (
        r"Hash Sum mismatch|unexpected size|Mirror sync in progress",
        "the mirror sends files that do not match its signed index",
        "try again later (the mirror may be in the middle of an update)",
    ),
    (
        r"Unable to locate package|has no installation candidate|does not have a Release file|404 +Not Found",
        "the machine's package mirror does not serve the packages",
        FULL_MIRROR,
    ),
    (
        (
            r"Could not resolve|Temporary failure resolving|Could not connect|Unable to connect|"
            r"Connection (?:failed|timed out|refused|reset)|Network is unreachable|"
            r"Cannot initiate the connection|Failed to fetch|certificate"
        ),
        "the machine's package mirror cannot be reached",
        "check the network and apt's proxy settings; a cached bundle works without any network",
    ),
    (
        r"Unable to acquire|Could not get lock|is being used|Permission denied",
        "apt cannot use its private directories",
        "set BINLOG_LAB_CACHE to a directory of your own on a local file system",
    ),
)


def takes_expired() -> bool:
    """Whether the user takes an index that has expired."""
    return os.environ.get(EXPIRED, "0") not in ("", "0")


def diagnose(output: str, doing: str) -> ServerUnavailable:
    """Translate apt's output into the missing thing and its remedy."""
    lines = [_SECRETS_IN_URI.sub("//", line) for line in output.splitlines() if line[:2] in ("E:", "W:", "  ")]
    detail = "\n".join(f"  | {line}" for line in (lines or output.splitlines())[-_LAST_LINES:])
    for pattern, missing, remedy in _DIAGNOSES:
        if re.search(pattern, output, re.IGNORECASE):
            return ServerUnavailable(f"{doing}: {missing}", remedy, detail=detail)
    return ServerUnavailable(f"{doing}: apt fails", "see its messages", detail=detail)


def require_program(name: str, package: str) -> str:
    """The path of a program of the packaging system."""
    found = shutil.which(name)
    if found is None:
        raise ServerUnavailable(
            f"{name} is not on this machine (it comes with {package}), so the bundle cannot be fetched",
            "use a Debian or Ubuntu machine, or --server process:PATH with an unpacked server, or a mysql:// address",
        )
    return found


def machine_acquire_settings(apt_config: str) -> str:
    """The configuration lines with which this machine's apt reaches the network."""
    answer = subprocess.run([apt_config, "dump", "Acquire"], capture_output=True, text=True, check=False)
    lines = [line for line in answer.stdout.splitlines() if line.startswith("Acquire::") and not _LEFT_OUT.match(line)]
    return "\n".join(lines)


class AptSession(Closing):
    """An apt session on the directory ``work``, which keeps lists and archives, so that interrupted downloads continue.

    The configuration may hold secrets of the mirror's address or a proxy, so it goes when the session closes. That of a
    session that was killed goes with the next one: the caller sees to it that ``work`` has one session at a time.
    """

    def __init__(self, work: Path, stanza: str, *, hold: int | None = None) -> None:
        self.work = work
        self.archives = work / "archives"
        self._hold = hold  # a lock descriptor that children keep open: the lock lasts as long as they do
        self._apt_get = require_program("apt-get", "apt")
        self._dpkg = require_program("dpkg", "dpkg")
        self._apt_config = require_program("apt-config", "apt")
        self.architecture = self._output([self._dpkg, "--print-architecture"]).strip()
        for directory in (work / "lists/partial", self.archives / "partial", work / "state"):
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        (work / "state/status").write_bytes(b"")
        self._private = private = work / "private"
        shutil.rmtree(private, ignore_errors=True)
        private.mkdir(mode=0o700)
        (private / "empty").mkdir()
        (private / "archive.sources").write_text(stanza, encoding="utf-8")
        (private / "apt.conf").write_text(self._configuration(private), encoding="utf-8")
        self._environment = {
            **os.environ,
            "APT_CONFIG": str(private / "apt.conf"),
            "LC_ALL": "C",
            "LANGUAGE": "C",
            "DEBIAN_FRONTEND": "noninteractive",
        }

    def _output(self, command: list[str], environment: dict[str, str] | None = None) -> str:
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment).stdout

    def _configuration(self, private: Path) -> str:
        settings = {
            "Dir::Etc::main": "/dev/null",
            "Dir::Etc::parts": str(private / "empty"),
            "Dir::Etc::sourcelist": str(private / "archive.sources"),
            "Dir::Etc::sourceparts": str(private / "empty"),
            "Dir::Etc::preferences": "/dev/null",
            "Dir::Etc::preferencesparts": str(private / "empty"),
            "Dir::State": str(self.work / "state"),
            "Dir::State::Lists": str(self.work / "lists"),
            "Dir::State::status": str(self.work / "state/status"),
            "Dir::Cache": str(self.work),
            "Dir::Cache::archives": str(self.archives),
            "APT::Architecture": self.architecture,
            "APT::Architectures::": self.architecture,
            "APT::Get::AllowUnauthenticated": "false",
            "APT::Sandbox::User": "",  # the directories are private to this user, so apt's own user could not write
            "APT::Update::Error-Mode": "any",
            "Acquire::AllowInsecureRepositories": "false",
            "Acquire::AllowWeakRepositories": "false",
            "Acquire::AllowDowngradeToInsecureRepositories": "false",
            "Acquire::ForceHash": "SHA256",
            "Acquire::Languages": "none",
            "Acquire::PDiffs": "false",
            "Acquire::Retries": "2",
            **({"Acquire::Check-Valid-Until": "false"} if takes_expired() else {}),
        }
        lines = [machine_acquire_settings(self._apt_config)]
        lines.extend(f'{name} "{value}";' for name, value in settings.items())
        return "\n".join(lines) + "\n"

    def update(self, progress: Callable[[float, str], None]) -> None:
        """Fetch the signed index."""
        self._run(["update"], "fetching the package index", progress)

    def try_index(self) -> None:
        """Fetch and verify the signed list of indexes alone (0.2 MB for Debian), with short patience; keep nothing."""
        self._run(
            [
                *("-o", "Acquire::IndexTargets::deb::Packages::DefaultEnabled=false"),
                *("-o", "Acquire::Retries=0"),
                *("-o", f"Acquire::http::Timeout={_TRY_SECONDS}"),
                *("-o", f"Acquire::https::Timeout={_TRY_SECONDS}"),
                "update",
            ],
            "asking the mirror",
        )

    def plan(self, packages: tuple[str, ...]) -> list[Package]:
        """All packages that ``packages`` need, with sizes and hashes from the signed index; fetches nothing."""
        nowhere = self._private / "nowhere"  # an empty archive directory, so that all of it is listed
        (nowhere / "partial").mkdir(parents=True, exist_ok=True)
        text = self._run(
            ["-qq", "--print-uris", "-o", f"Dir::Cache::archives={nowhere}", *self._install(packages)],
            f"looking for {' and '.join(packages)}",
        )
        matches = [_PRINTED_URI.match(line) for line in text.splitlines()]
        return [
            Package(file=match["file"], size=int(match["size"]), sha256=match["sha256"]) for match in matches if match
        ]

    def candidates(self, prefix: str) -> dict[str, str]:
        """Versions that apt would take, by package name, of all packages with a prefix."""
        tool = require_program("apt-cache", "apt")
        names = self._output([tool, "pkgnames", prefix], self._environment).split()
        if not names:
            return {}
        text = self._output([tool, "show", "--no-all-versions", *sorted(names)], self._environment)
        stanzas = [dict(_FIELD.findall(stanza)) for stanza in text.split("\n\n")]
        return {stanza["Package"]: stanza["Version"] for stanza in stanzas if stanza}

    def fetch(self, names: tuple[str, ...], plan: list[Package], progress: Callable[[float, str], None]) -> None:
        """Fetch missing packages of the plan for ``names``; continue half-fetched files; check all hashes."""
        self._run(["--download-only", *self._install(names)], "fetching the packages", progress)
        for package in plan:
            # apt takes a file that was there before by its size alone, so the hashes are checked once more.
            path = self.archives / package.file
            if not path.is_file():
                raise ServerUnavailable(f"apt did not fetch {package.file}", "try again")
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest != package.sha256:
                path.unlink()
                raise ServerUnavailable(
                    f"{package.file} does not match the archive's signed index (it is removed)", "try again"
                )

    def unpack(self, packages: list[Package], root: Path, progress: Callable[[float, str], None]) -> None:
        """Unpack fetched packages into ``root``, without their documentation."""
        tool = require_program("dpkg-deb", "dpkg")
        root.mkdir()
        for index, package in enumerate(packages):
            progress(100 * index / len(packages), package.name)
            answer = subprocess.run(
                [tool, "-x", str(self.archives / package.file), str(root)], capture_output=True, text=True, check=False
            )
            if answer.returncode != 0:
                raise ServerUnavailable(
                    f"{package.file} cannot be unpacked", "free some disk space, then try again", detail=answer.stderr
                )
        for name in _NOT_KEPT:
            shutil.rmtree(root / name, ignore_errors=True)

    @staticmethod
    def _install(packages: tuple[str, ...]) -> list[str]:
        return ["install", "--no-install-recommends", "-y", *packages]

    def _run(self, arguments: list[str], doing: str, progress: Callable[[float, str], None] | None = None) -> str:
        reader, writer = os.pipe()
        keep = (writer,) if self._hold is None else (writer, self._hold)
        try:
            child = subprocess.Popen(
                [self._apt_get, "-o", f"APT::Status-Fd={writer}", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=self._environment,
                pass_fds=keep,
            )
        finally:
            os.close(writer)
        assert child.stdout is not None
        try:
            output = _follow(child.stdout.fileno(), reader, progress)
            status = child.wait()
        except BaseException:  # Ctrl-C: what was fetched stays for the next call
            child.terminate()
            child.wait()
            raise
        finally:
            os.close(reader)
            child.stdout.close()
        text = output.decode("utf-8", "replace")
        if status != 0:
            raise diagnose(text, doing)
        return text

    def close(self) -> None:
        """Remove the configuration."""
        shutil.rmtree(self._private, ignore_errors=True)


def _follow(output: int, status: int, progress: Callable[[float, str], None] | None) -> bytes:
    """Read both pipes to their ends; report download percentages on the way."""
    texts: list[bytes] = []
    pending = b""
    open_pipes = {output, status}
    while open_pipes:
        for pipe in select.select(list(open_pipes), [], [])[0]:
            data = os.read(pipe, 65536)
            if not data:
                open_pipes.discard(pipe)
            elif pipe == output:
                texts.append(data)
            else:
                *lines, pending = (pending + data).split(b"\n")
                for line in lines:
                    match = _DOWNLOAD_STATUS.match(line)
                    if match and progress is not None:
                        progress(float(match[1]), match[2].decode("utf-8", "replace"))
    return b"".join(texts)
