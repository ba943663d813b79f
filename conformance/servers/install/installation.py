"""Where a mysqld is, how the lab must start it, and which programs came with it.

The lab knows these layouts, all seen on real trees:

* a *bundle* or unpacked Debian packages: ``usr/sbin/mysqld`` with the packages' own loader and libraries;
* an official tarball: ``bin/mysqld``, ``share``, ``lib/plugin``;
* a build tree: ``runtime_output_directory/mysqld`` or ``sql/mysqld``;
* a bare program on PATH that knows its own directories.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from conformance.servers.child_process import run_in_time
from conformance.servers.errors import ProgramUnusable, ServerUnavailable

_VERSION = re.compile(r"Ver\s+(?P<text>(?P<major>\d+)\.(?P<minor>\d+)\.(?P<patch>\d+)\S*)")
_TREE_PROGRAMS = (
    "usr/sbin/mysqld",
    "bin/mysqld",
    "sbin/mysqld",
    "libexec/mysqld",
    "runtime_output_directory/mysqld",
    "sql/mysqld",
    "server/mysqld",
    "mysqld",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """One set of MySQL programs. The server needs ``options`` to find its own files."""

    mysqld: Path
    launcher: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    program_directories: tuple[Path, ...] = ()
    version: str
    number: tuple[int, int, int]
    origin: str  # words for reports: "bundle 9.7.4-2", "PATH", ...

    @property
    def is_bundle(self) -> bool:
        """Whether this installation is the lab's own bundle."""
        return self.origin.startswith("bundle ")

    def program(self, name: str) -> list[str]:
        """Command words that start a program of this installation; the caller appends arguments."""
        for directory in self.program_directories:
            path = directory / name
            if path.is_file() and os.access(path, os.X_OK):
                return [*self.launcher, str(path)]
        places = ", ".join(map(str, self.program_directories))
        if self.is_bundle:  # it had the program when it was fetched
            root = next((path.parent for path in self.mysqld.parents if path.name == "root"), self.mysqld)
            raise ProgramUnusable(
                f"the lab's own bundle has lost the program {name}: it is not in {places}",
                f"remove {root}, then run binlog-lab servers install",
            )
        raise ServerUnavailable(
            f"the program {name} is not in {places}",
            "use --server process with the bundle (binlog-lab servers install)",
        )


def parse_version(text: str) -> tuple[str, tuple[int, int, int]] | None:
    """The version in the output of ``mysqld --version``; None for MariaDB and everything else that is not MySQL."""
    match = _VERSION.search(text)
    if match is None or "mariadb" in text.lower():
        return None
    return match["text"], (int(match["major"]), int(match["minor"]), int(match["patch"]))


@lru_cache(maxsize=64)
def _ask_version(command: tuple[str, ...], _stamp: tuple[int, int]) -> str:
    try:
        answer = run_in_time([*command, "--no-defaults", "--version"], 60)
    except OSError as error:
        raise ServerUnavailable(f"{command[-1]} cannot be started: {error}") from error
    if answer.returncode != 0:
        raise ServerUnavailable(
            f"{command[-1]} --version fails with status {answer.returncode}",
            detail=(answer.words or answer.text)[-800:],
        )
    return answer.text


def own_loader(root: Path) -> tuple[str, ...]:
    """The unpacked packages' own loader: their C library is usually newer than the machine's."""
    places = [*root.glob("usr/lib/*/ld-linux*.so.*"), *root.glob("lib/*/ld-linux*.so.*")]
    if not places:
        return ()
    # Packages from before the merge of /lib into /usr/lib fill both directories.
    triplet = places[0].parent.name
    libraries = [root / part / triplet for part in ("usr/lib", "lib")]
    return (str(places[0]), "--library-path", ":".join(str(path) for path in libraries if path.is_dir()))


def _layout(mysqld: Path) -> tuple[tuple[str, ...], tuple[str, ...], tuple[Path, ...]]:
    """Launcher, options and program directories of a mysqld, found from the files around it."""
    here = mysqld.parent
    root = here.parent.parent
    if here.name == "sbin" and here.parent.name == "usr" and root != Path("/"):
        usr = here.parent
        options = (
            f"--basedir={usr}",
            f"--lc-messages-dir={usr}/share/mysql",
            f"--plugin-dir={usr}/lib/mysql/plugin",
        )
        return own_loader(root), options, (usr / "bin", here)
    found: list[str] = []
    for base in (here.parent, here):  # the second: a repackaged 5.6.24 with everything in one folder
        messages = next((base / name for name in ("share", "share/mysql") if (base / name / "english").is_dir()), None)
        if messages is not None and base != Path("/usr"):
            found += [f"--basedir={base}", f"--lc-messages-dir={messages}"]
            plugins = (base / "lib/plugin", base / "lib/mysql/plugin", base / "plugin_output_directory")
            found.extend(f"--plugin-dir={plugin}" for plugin in plugins if plugin.is_dir())
            break
    directories = [here, here.parent / "bin"]
    if not found:  # an installed program: its clients are where the user's PATH says
        directories.extend(Path(part) for part in os.environ.get("PATH", "").split(os.pathsep) if part)
    launcher: tuple[str, ...] = ()
    if any(here.glob("libaio.so*")):  # seen in a repackaged 5.6.24: libraries beside the program
        launcher = ("/usr/bin/env", f"LD_LIBRARY_PATH={here}")
    return launcher, tuple(found), tuple(dict.fromkeys(directories))


def inspect(mysqld: Path, origin: str) -> Installation:
    """Describe the installation that ``mysqld`` belongs to, or raise an error that says why it is unusable."""
    mysqld = mysqld.absolute()
    if not mysqld.is_file():
        raise ServerUnavailable(f"{mysqld} does not exist or is not a file")
    if not os.access(mysqld, os.X_OK):
        if mysqld.stat().st_mode & 0o111 and os.statvfs(mysqld).f_flag & os.ST_NOEXEC:
            raise ServerUnavailable(
                f"{mysqld} cannot be started: its file system is mounted noexec",
                "set BINLOG_LAB_CACHE (for the bundle) to a directory where programs can be started",
            )
        raise ServerUnavailable(f"{mysqld} is not executable")
    launcher, options, directories = _layout(mysqld)
    stat = mysqld.stat()
    answer = _ask_version((*launcher, str(mysqld)), (stat.st_mtime_ns, stat.st_size))
    version = parse_version(answer)
    if version is None:
        said = repr(answer.strip()[:120]) if answer.strip() else "nothing"
        raise ServerUnavailable(f"{mysqld} is not a MySQL server: asked for its version it says {said}")
    return Installation(
        mysqld=mysqld,
        launcher=launcher,
        options=options,
        program_directories=directories,
        version=version[0],
        number=version[1],
        origin=origin,
    )


def from_path(path: Path, origin: str | None = None) -> Installation:
    """A mysqld program, or the top of an unpacked tree or build tree that holds one."""
    path = path.expanduser()
    if not path.exists():
        raise ServerUnavailable(f"{path} does not exist", "give a mysqld, or a folder that holds one")
    if path.is_dir():
        for name in _TREE_PROGRAMS:
            if (path / name).is_file():
                return inspect(path / name, origin or str(path))
        raise ServerUnavailable(
            f"no mysqld in {path}", f"give the program itself; looked for {', '.join(_TREE_PROGRAMS)}"
        )
    return inspect(path, origin or str(path))


def on_path() -> Path | None:
    """``MYSQLD`` from the environment, else the mysqld that a shell of this user would find, else Debian's place."""
    named = os.environ.get("MYSQLD")
    if named:
        return Path(named)
    search = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin", "/usr/libexec"])
    found = shutil.which("mysqld", path=search)
    return Path(found) if found else None
