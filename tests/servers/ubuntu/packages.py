"""Debian packages and signed archives of them, written byte by byte: deb(5), and the pools and suites of Ubuntu."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import tarfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.servers.ubuntu.openpgp import ArchiveKey


@dataclass(frozen=True, slots=True)
class Deb:
    """One binary package. ``files``: content or file on disk by path; ``links``: target by path."""

    name: str
    version: str
    depends: str = ""
    files: Mapping[str, bytes | Path] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    component: str = "main"
    more: str = ""  # lines of control, such as Provides

    def control(self, architecture: str) -> str:
        """The control file's stanza."""
        depends = f"Depends: {self.depends}\n" if self.depends else ""
        return (
            f"Package: {self.name}\nArchitecture: {architecture}\nVersion: {self.version}\n{depends}{self.more}"
            "Maintainer: Nobody <nobody@example.org>\nDescription: made for a test\n"
        )


def _tar(members: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for info, content in members:
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def _entry(path: str, mode: int, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(f"./{path}")
    info.mode, info.type, info.linkname = mode, kind, target
    return info


def deb_bytes(package: Deb, architecture: str) -> bytes:
    """The package's archive: ``ar`` with the version of the format, the control files and the data."""
    folders = sorted({str(parent) for path in (*package.files, *package.links) for parent in _parents(path)})
    data = [(_entry(folder, 0o755, tarfile.DIRTYPE), b"") for folder in folders]
    for path, content in package.files.items():
        text = content if isinstance(content, bytes) else content.read_bytes()
        data.append((_entry(path, 0o755), text))
    data.extend((_entry(path, 0o777, tarfile.SYMTYPE, target), b"") for path, target in package.links.items())
    control = _tar([(_entry("control", 0o644), package.control(architecture).encode())])
    members = (
        ("debian-binary", b"2.0\n"),
        ("control.tar.gz", gzip.compress(control, 1, mtime=0)),
        ("data.tar.gz", gzip.compress(_tar(data), 1, mtime=0)),
    )
    out = b"!<arch>\n"
    for name, content in members:
        out += f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode() + content
        out += b"\n" * (len(content) % 2)
    return out


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
            _write(path, deb_bytes(package, self.architecture))
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        control = package.control(self.architecture)
        return f"{control}Filename: {file}\nSize: {len(content)}\nSHA256: {digest}\n\n"


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
