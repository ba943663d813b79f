"""Copies files into and out of a container: the engine takes and gives tar archives."""

from __future__ import annotations

import io
import tarfile
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Final

from conformance.servers.containers.engine import telling

if TYPE_CHECKING:
    import gzip
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from docker.models.containers import Container

_CHUNK: Final = 1 << 20


@contextmanager
def new_archive(file: IO[bytes] | gzip.GzipFile) -> Iterator[tarfile.TarFile]:
    """Open a tar archive for writing that ends at its end marker, without padding to a tape's block size.

    Podman 4.3 stops reading at the marker and fails if more follows ("passing bulk input to subprocess: broken pipe").
    """
    yield tarfile.open(fileobj=file, mode="w")  # noqa: SIM115 - closing would fill it up
    file.write(bytes(2 * tarfile.BLOCKSIZE))


def put_file(
    container: Container, path: str, data: bytes, *, owner: tuple[int, int] = (0, 0), mode: int = 0o640
) -> None:
    """Write a file into the container, which may run or not."""
    directory, _, name = path.rpartition("/")
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), mode
    entry.uid, entry.gid = owner
    buffer = io.BytesIO()
    with new_archive(buffer) as archive:
        archive.addfile(entry, io.BytesIO(data))
    with telling(f"write {path} into {container.name}"):
        container.put_archive(directory or "/", buffer.getvalue())


def put_tree(container: Container, path: str, archive: Path) -> None:
    """Unpack an archive, compressed or not, in a directory of the container; owners and modes stay."""
    with archive.open("rb") as file, telling(f"unpack into {path} of {container.name}"):
        container.put_archive(path, file)


def read_tree(container: Container, path: str) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]:
    """The members of a directory and their contents, in order of the archive; read each before the next.

    The first member is the directory itself, or the file that ``path`` names, and has an empty name. Other names are
    relative to ``path``, however the engine names them.
    """
    with telling(f"read {path} of {container.name}"):
        chunks, _ = container.get_archive(path, chunk_size=_CHUNK)
    with tarfile.open(fileobj=_Reader(chunks), mode="r|") as archive:
        top: int | None = None
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if top is None:
                top = len(member.name.rstrip("/"))
            member.name = member.name[top:].lstrip("/")
            member.pax_headers = {key: value for key, value in member.pax_headers.items() if key != "path"}
            yield member, content


def owner_of(container: Container, account: str) -> tuple[int, int]:
    """User and group number of an account of the image; root's if the account does not exist."""
    for _, file in read_tree(container, "/etc/passwd"):
        for line in (file.read() if file is not None else b"").decode("utf-8", "replace").splitlines():
            fields = line.split(":")
            if fields[0] == account and len(fields) > 3:
                return int(fields[2]), int(fields[3])
    return 0, 0


class _Reader(io.RawIOBase, IO[bytes]):
    """A file object over a stream of chunks."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks: Iterator[bytes] = iter(chunks)
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        parts = [self._rest]
        have = len(self._rest)
        while size < 0 or have < size:
            chunk = next(self._chunks, b"")
            if not chunk:
                break
            parts.append(chunk)
            have += len(chunk)
        whole = b"".join(parts)
        if size < 0:
            size = len(whole)
        self._rest = whole[size:]
        return whole[:size]
