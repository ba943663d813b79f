"""MySQL in Ubuntu's archive, by release: names, versions, dependencies and where files lie in the packages.

The facts come from the source package's ``debian/control`` and ``*.install`` files (8.0.45), and from logs of real
installations: server and client packages of 22.04 (8.0.36), 24.04 (8.0.46), 25.04 (8.4.4) and 26.04 (8.4.10). The
contents of the release pockets of 26.04, and versions of libraries, are examples. No file of Ubuntu was seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tests.servers.ubuntu.packages import Archive, Deb

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.servers.ubuntu.openpgp import ArchiveKey

COMPONENTS: Final = ("main", "restricted", "universe", "multiverse")
_FOLDERS: Final = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
_LOADERS: Final = {"amd64": "ld-linux-x86-64.so.2", "arm64": "ld-linux-aarch64.so.1"}

# Programs by package (debian/*.install): mysqlbinlog and ibd2sdi come with the server.
SERVER_PROGRAMS: Final = (
    "ibd2sdi",
    "innochecksum",
    "my_print_defaults",
    "mysql_tzinfo_to_sql",
    "mysqlbinlog",
    "perror",
)
CLIENT_PROGRAMS: Final = ("mysql", "mysqladmin", "mysqlcheck", "mysqldump", "mysqlimport", "mysqlshow", "mysqlslap")


@dataclass(frozen=True, slots=True)
class Release:
    """One release of Ubuntu."""

    codename: str
    number: str
    name: str
    series: str  # of the packages' names, with its dash; empty since 25.04
    first: str  # version in the release pocket
    newest: str  # version in -updates and -security
    libraries: Mapping[str, tuple[str, ...]]  # sonames by package, of what the server needs
    client_libraries: tuple[str, ...]
    unmerged: tuple[str, ...] = ()  # packages whose files lie in /lib, and not in /usr/lib

    @property
    def server(self) -> str:
        """Name of the server package."""
        return f"mysql-server-core{self.series}"

    @property
    def client(self) -> str:
        """Name of the client package."""
        return f"mysql-client-core{self.series}"

    @property
    def os_release(self) -> str:
        """The text of ``/etc/os-release``."""
        return (
            f'PRETTY_NAME="Ubuntu {self.number} LTS"\nNAME="Ubuntu"\nVERSION_ID="{self.number}"\n'
            f'VERSION="{self.number} LTS ({self.name})"\nVERSION_CODENAME={self.codename}\nID=ubuntu\nID_LIKE=debian\n'
            f'HOME_URL="https://www.ubuntu.com/"\nUBUNTU_CODENAME={self.codename}\nLOGO=ubuntu-logo\n'
        )


_SAME: Final = {
    "libc6": ("libc.so.6", "libm.so.6"),
    "libgcc-s1": ("libgcc_s.so.1",),
    "liblz4-1": ("liblz4.so.1",),
    "libmecab2": ("libmecab.so.2",),
    "libnuma1": ("libnuma.so.1",),
    "libstdc++6": ("libstdc++.so.6",),
    "libzstd1": ("libzstd.so.1",),
    "zlib1g": ("libz.so.1",),
}
JAMMY: Final = Release(
    "jammy", "22.04", "Jammy Jellyfish", "-8.0", "8.0.28-0ubuntu4", "8.0.45-0ubuntu0.22.04.1",
    {
        **_SAME,
        "libaio1": ("libaio.so.1",),
        "libevent-core-2.1-7": ("libevent_core-2.1.so.7",),
        "libevent-pthreads-2.1-7": ("libevent_pthreads-2.1.so.7",),
        "libicu70": ("libicui18n.so.70", "libicuuc.so.70", "libicudata.so.70"),
        "libprotobuf-lite23": ("libprotobuf-lite.so.23",),
        "libssl3": ("libssl.so.3", "libcrypto.so.3"),
    },
    ("libc6", "libedit2", "libgcc-s1", "libssl3", "libstdc++6", "libtinfo6", "libzstd1", "zlib1g"),
    ("libaio1", "libc6", "libgcc-s1", "libtinfo6", "zlib1g"),
)  # fmt: skip
NOBLE: Final = Release(
    "noble", "24.04", "Noble Numbat", "-8.0", "8.0.36-2ubuntu3", "8.0.46-0ubuntu0.24.04.4",
    {
        **_SAME,
        "libaio1t64": ("libaio.so.1t64",),
        "libevent-core-2.1-7t64": ("libevent_core-2.1.so.7",),
        "libevent-pthreads-2.1-7t64": ("libevent_pthreads-2.1.so.7",),
        "libicu74": ("libicui18n.so.74", "libicuuc.so.74", "libicudata.so.74"),
        "libprotobuf-lite32t64": ("libprotobuf-lite.so.32",),
        "libssl3t64": ("libssl.so.3", "libcrypto.so.3"),
    },
    ("libc6", "libedit2", "libgcc-s1", "libssl3t64", "libstdc++6", "libtinfo6", "libzstd1", "zlib1g"),
)  # fmt: skip
RESOLUTE: Final = Release(
    "resolute", "26.04", "Resolute Raccoon", "", "8.4.8-0ubuntu1", "8.4.10-0ubuntu0.26.04.1",
    {
        **_SAME,
        "libaio1t64": ("libaio.so.1t64",),
        "libgoogle-perftools4t64": ("libtcmalloc.so.4",),
        "libicu78": ("libicui18n.so.78", "libicuuc.so.78", "libicudata.so.78"),
        "libprotobuf-lite32t64": ("libprotobuf-lite.so.32",),
        "libssl3t64": ("libssl.so.3", "libcrypto.so.3"),
    },
    ("libc6", "libedit2", "libgcc-s1", "libgoogle-perftools4t64", "libssl3t64", "libstdc++6", "libtinfo6", "libzstd1",
     "zlib1g"),
)  # fmt: skip
RELEASES: Final = (JAMMY, NOBLE, RESOLUTE)

# It does what is asked of ld.so here: nothing starts whose libraries are not in the library path.
_LOADER: Final = b"""#!/bin/sh
test "$1" = --library-path || exit 126
path=$2 program=$3
shift 2
for library in $(sed -n 's/^# needs //p' "$program"); do
    found=
    for folder in $(echo "$path" | tr : ' '); do test -e "$folder/$library" && found=1; done
    test "$found" && continue
    echo "$program: error while loading shared libraries: $library: cannot open shared object file" >&2
    exit 127
done
exec "$@"
"""

_MAKES_A_DATA_DIRECTORY: Final = b"""for word; do case $word in --datadir=*) mkdir -p "${word#*=}" ;; esac; done
"""


def _program(needs: list[str], says: str) -> bytes:
    return f"#!/bin/sh\n# needs {' '.join(needs)}\necho '{says}'\n".encode()


def loader_of(architecture: str, *, unmerged: bool) -> str:
    """Where the C library's package has the loader."""
    return f"{'lib' if unmerged else 'usr/lib'}/{_FOLDERS[architecture]}/{_LOADERS[architecture]}"


def stand_ins(release: Release, architecture: str) -> dict[str, Mapping[str, bytes | Path]]:
    """Files by package: programs that tell their version and need their libraries, and a loader that looks for them."""
    sonames = dict(release.libraries)
    sonames |= {"libedit2": ("libedit.so.2",), "libtinfo6": ("libtinfo.so.6",)}
    files: dict[str, dict[str, bytes | Path]] = {}
    for package, names in sonames.items():
        folder = f"{'lib' if package in release.unmerged else 'usr/lib'}/{_FOLDERS[architecture]}"
        files[package] = {f"{folder}/{name}": b"" for name in names}
    files["libc6"][loader_of(architecture, unmerged="libc6" in release.unmerged)] = _LOADER
    needs = [name for names in release.libraries.values() for name in names if name != "libmecab.so.2"]
    of_client = [name for package in release.client_libraries for name in sonames[package]]
    version = "Ver {} for Linux on x86_64 ((Ubuntu))"
    files[release.server] = {
        "usr/sbin/mysqld": _program(needs, f"/usr/sbin/mysqld  {version}") + _MAKES_A_DATA_DIRECTORY,
        **{f"usr/bin/{name}": _program(needs, f"{name}  {version}") for name in SERVER_PROGRAMS},
        "usr/lib/mysql/plugin/semisync_source.so": b"",
        "usr/share/mysql/english/errmsg.sys": b"",
        f"usr/share/doc/{release.server}/copyright": b"",
    }
    files[release.client] = {f"usr/bin/{name}": _program(of_client, f"{name}  {version}") for name in CLIENT_PROGRAMS}
    return dict(files)


def real_files(release: Release, root: Path) -> dict[str, Mapping[str, bytes | Path]]:
    """The files of an unpacked bundle by package, in the release's layout.

    The library packages of a release hold their libraries whatever the version (``libicu70`` those of ICU 78). What the
    release's server does not need, ``libc6`` holds.
    """
    (folder,) = {place.parent for place in root.glob("**/ld-linux*.so.*") if place.parent.name in _FOLDERS.values()}
    stems = {_stem(name): package for package, names in release.libraries.items() for name in names}
    files: dict[str, dict[str, bytes | Path]] = {package: {} for package in release.libraries}
    for library in sorted(folder.glob("*.so*")):
        package = stems.get(_stem(library.name), "libc6")
        top = "lib" if package in release.unmerged else "usr/lib"
        files[package][f"{top}/{folder.name}/{library.name}"] = library
    parts = {
        release.server: ("usr/sbin/mysqld", *(f"usr/bin/{name}" for name in SERVER_PROGRAMS)),
        release.client: tuple(f"usr/bin/{name}" for name in CLIENT_PROGRAMS),
    }
    for package, paths in parts.items():
        files[package] = {path: root / path for path in paths}
    for place in ("usr/lib/mysql/plugin", "usr/share/mysql"):
        found = (path for path in sorted((root / place).rglob("*")) if path.is_file())
        files[release.server] |= {str(path.relative_to(root)): path for path in found}
    return dict(files)


def _stem(library: str) -> str:
    return library.partition(".so")[0]


def _versioned(files: Mapping[str, bytes | Path], version: str) -> dict[str, bytes | Path]:
    return {
        path: content.replace(b"Ver {}", f"Ver {version}".encode()) if isinstance(content, bytes) else content
        for path, content in files.items()
    }


def packages(release: Release, files: Mapping[str, Mapping[str, bytes | Path]], version: str) -> list[Deb]:
    """MySQL's packages of a version: the two that are wanted, and others whose names begin alike."""
    server = ", ".join(release.libraries)
    return [
        Deb(
            release.server, version, server, _versioned(files[release.server], version),
            more="Provides: virtual-mysql-server-core\nConflicts: virtual-mysql-server-core\n",
        ),
        Deb(
            release.client, version, ", ".join(release.client_libraries), _versioned(files[release.client], version),
            more="Provides: virtual-mysql-client-core\nConflicts: virtual-mysql-client-core\n",
        ),
        Deb(f"mysql-server{release.series}", version, f"{release.server} (= {version}), mysql-common"),
        Deb("mysql-testsuite-8.0", version, component="universe"),
        Deb("mysql-router", version, component="universe"),
    ]  # fmt: skip


def libraries(release: Release, files: Mapping[str, Mapping[str, bytes | Path]]) -> list[Deb]:
    """The packages that MySQL's need: in the release pocket, with two that apt needs to find and nobody unpacks."""
    wanted = [*release.libraries, *release.client_libraries]
    depends = {"libgcc-s1": "gcc-14-base, libc6", "libedit2": "libc6, libtinfo6", "libc6": "libgcc-s1"}
    made = [Deb(name, "1.0-1", depends.get(name, "libc6"), files.get(name, {})) for name in dict.fromkeys(wanted)]
    return [*made, Deb("gcc-14-base", "14.2.0-4ubuntu2"), Deb("mysql-common", "5.8+1.1.0build1")]


def write(
    root: Path, release: Release, key: ArchiveKey, architecture: str,
    files: Mapping[str, Mapping[str, bytes | Path]] | None = None,
) -> Archive:  # fmt: skip
    """An archive of one release: its own pocket, ``-updates``, ``-security`` and ``-backports``.

    The newest version has the files; the one of the release pocket always has stand-ins.
    """
    old = stand_ins(release, architecture)
    files = files or old
    archive = Archive(root, key, architecture)
    name = release.codename
    archive.put(
        name, [*packages(release, old, release.first), *libraries(release, files)],
        codename=name, components=COMPONENTS,
    )  # fmt: skip
    for pocket in ("updates", "security"):
        archive.put(f"{name}-{pocket}", packages(release, files, release.newest), codename=name, components=COMPONENTS)
    archive.put(f"{name}-backports", [], codename=name, components=COMPONENTS)
    return archive
