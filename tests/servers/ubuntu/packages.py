"""Debian packages and signed archives of them, written byte by byte: deb(5), and the pools and suites of Ubuntu."""

from __future__ import annotations

import hashlib
import io
import lzma
import tarfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import BinaryIO

    from tests.servers.ubuntu.openpgp import ArchiveKey


@dataclass(frozen=True, slots=True)
class Deb:
    """One binary package. ``files``: content, or a file or link on disk, by path."""

    name: str
    version: str
    depends: str = ""
    files: Mapping[str, bytes | Path] = field(default_factory=dict)
    component: str = "main"
    more: str = ""  # lines of control, such as Provides

    def control(self, architecture: str) -> str:
        """The control file's stanza."""
        depends = f"Depends: {self.depends}\n" if self.depends else ""
        return (
            f"Package: {self.name}\nArchitecture: {architecture}\nVersion: {self.version}\n{depends}{self.more}"
            "Maintainer: Nobody <nobody@example.org>\nDescription: made for a test\n"
        )


def _entry(path: str, mode: int, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(f"./{path}")
    info.mode, info.type, info.linkname = mode, kind, target
    return info


def _put(tar: tarfile.TarFile, path: str, content: bytes | Path) -> None:
    """Add a file; a symbolic link stays one."""
    if isinstance(content, bytes):
        info = _entry(path, 0o755)
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    elif content.is_symlink():
        tar.addfile(_entry(path, 0o777, tarfile.SYMTYPE, str(content.readlink())))
    else:
        info = _entry(path, 0o755)
        info.size = content.stat().st_size
        with content.open("rb") as file:
            tar.addfile(info, file)


def write_deb(file: Path, package: Deb, architecture: str) -> None:
    """Write the package: ``ar`` with the version of the format, the control files and the data, none compressed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as out:
        out.write(b"!<arch>\n")
        with _member(out, "debian-binary"):
            out.write(b"2.0\n")
        with _member(out, "control.tar"), tarfile.open(fileobj=out, mode="w") as tar:
            _put(tar, "control", package.control(architecture).encode())
        with _member(out, "data.tar"), tarfile.open(fileobj=out, mode="w") as tar:
            for folder in sorted({parent for path in package.files for parent in _parents(path)}):
                tar.addfile(_entry(folder, 0o755, tarfile.DIRTYPE))
            for path, content in package.files.items():
                _put(tar, path, content)


@contextmanager
def _member(out: BinaryIO, name: str) -> Iterator[None]:
    """A member of ``ar``, whose head with the length is written at the end; all lengths here are even."""
    head = out.tell()
    out.write(b" " * 60)
    start = out.tell()
    yield
    end = out.tell()
    out.seek(head)
    out.write(f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{end - start:<10}`\n".encode())
    out.seek(end)


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive below ``root``, as a mirror holds it."""

    root: Path
    key: ArchiveKey
    architecture: str

    def put(self, suite: str, packages: list[Deb], *, codename: str, components: tuple[str, ...]) -> None:
        """Write one suite: packages into the pool, their indexes, and the signed InRelease."""
        top = self.root / "dists" / suite
        sums = []
        for component in components:
            text = "".join(self._pooled(package) for package in packages if package.component == component)
            index = f"{component}/binary-{self.architecture}/Packages"
            for name, content in ((index, text.encode()), (f"{index}.xz", lzma.compress(text.encode(), preset=0))):
                digest = hashlib.sha256(content).hexdigest()
                sums.append(f" {digest} {len(content):>16} {name}")
                if name.endswith(".xz"):  # the other one is listed only, as in Ubuntu's
                    _write(top / name, content)
                    _write((top / name).parent / "by-hash/SHA256" / digest, content)
        date = datetime.now(UTC) - timedelta(minutes=30)
        release = (
            f"Origin: Ubuntu\nLabel: Ubuntu\nSuite: {suite}\nCodename: {codename}\n"
            f"Date: {date:%a, %d %b %Y %H:%M:%S} UTC\nArchitectures: {self.architecture}\n"
            f"Components: {' '.join(components)}\nAcquire-By-Hash: yes\nSHA256:\n" + "\n".join(sums) + "\n"
        )
        _write(top / "InRelease", self.key.signed_in_clear(release).encode())

    def _pooled(self, package: Deb) -> str:
        """Write the package into the pool; its stanza of the index."""
        version = package.version.rpartition(":")[2]  # an epoch is not in the pool's file names
        file = f"pool/{package.component}/{package.name}_{version}_{self.architecture}.deb"
        path = self.root / file
        if not path.exists():
            write_deb(path, package, self.architecture)
        with path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        control = package.control(self.architecture)
        return f"{control}Filename: {file}\nSize: {path.stat().st_size}\nSHA256: {digest}\n\n"


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
