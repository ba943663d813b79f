"""The catalogue of built-in subjects: what they are, which packages they take, and how they are driven."""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from conformance.subjects.answers import SubjectUnavailable

_KINDS = ("pip", "npm", "apt", "bundle")


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One thing to fetch.

    ``kind`` and ``name``: ``pip`` and a requirement with its version; ``npm`` and the folder of a lock file, which has
    the hash of every package; ``apt`` and the name of a Debian package, its hashes from the archive's signed index;
    ``bundle`` and a program of the lab's own MySQL. ``sha256``: the artifacts of a ``pip`` package, one per platform.
    ``unpack``: patterns of files that are taken out of the artifact, which is not installed then.
    """

    kind: str
    name: str
    sha256: tuple[str, ...] = ()
    unpack: tuple[str, ...] = ()
    version: str = ""  # of an apt package: what its version begins with
    suite: str = ""  # of an apt package
    megabytes: int = 1  # to fetch


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A built-in subject.

    ``reads``: ``file`` or ``server``. ``command``: the adapter that speaks the conversation; ``{python}``, ``{node}``,
    ``{adapters}`` and ``{directory}`` stand for what the installation has. ``opener``: ``module:function`` that opens
    the subject instead. ``needs``: the least version of a program by name. ``wrapper``: a program of others between the
    adapter and the library that the subject is named after.
    """

    name: str
    title: str
    language: str
    version: str
    description: str
    project: str
    reads: str
    driven: str
    command: tuple[str, ...] = ()
    opener: str = ""
    wrapper: str = ""
    needs: tuple[tuple[str, int], ...] = ()
    packages: tuple[Package, ...] = ()

    @property
    def digest(self) -> str:
        """The digest of the packages: another pin is another installation."""
        text = json.dumps([asdict(package) for package in self.packages], sort_keys=True)
        locks = [lock_directory(package.name) / "package-lock.json" for package in self.packages_of("npm")]
        return hashlib.sha256(text.encode() + b"".join(lock.read_bytes() for lock in locks)).hexdigest()[:12]

    def packages_of(self, kind: str) -> tuple[Package, ...]:
        """The packages of one kind."""
        return tuple(package for package in self.packages if package.kind == kind)


def lock_directory(name: str) -> Any:
    """The folder with package.json and package-lock.json of an npm package."""
    return files(__package__) / "locks" / name


@lru_cache(maxsize=1)
def catalogue() -> dict[str, Entry]:
    """All built-in subjects by name, in the order of the file."""
    content = tomllib.loads((files(__package__) / "catalogue.toml").read_text(encoding="utf-8"))
    return {name: _entry(name, fields) for name, fields in content.items()}


def _entry(name: str, fields: dict[str, Any]) -> Entry:
    packages = tuple(_package(name, package) for package in fields.pop("packages", []))
    needs = tuple(fields.pop("needs", {}).items())
    command = tuple(fields.pop("command", []))
    found = Entry(name=name, packages=packages, needs=needs, command=command, **fields)
    assert bool(found.command) != bool(found.opener), f"{name}: a command or an opener"
    return found


def _package(name: str, fields: dict[str, Any]) -> Package:
    kind = next(kind for kind in _KINDS if kind in fields)
    sha256, unpack = (tuple(fields.pop(key, [])) for key in ("sha256", "unpack"))
    package = Package(kind=kind, name=fields.pop(kind), sha256=sha256, unpack=unpack, **fields)
    assert kind != "pip" or ("==" in package.name and package.sha256), f"{name}: {package.name} is not pinned"
    return package


def names() -> tuple[str, ...]:
    """The names of all built-in subjects."""
    return tuple(catalogue())


def entry(name: str) -> Entry:
    """The built-in subject with that name; raises :class:`SubjectUnavailable` if there is none."""
    try:
        return catalogue()[name]
    except KeyError:
        raise SubjectUnavailable(f"no built-in subject is called {name!r}; known: {', '.join(names())}") from None
