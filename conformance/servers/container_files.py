"""Files into and out of a container, as the engine takes and gives them: in tar archives."""

from __future__ import annotations

import io
import tarfile
from typing import IO, TYPE_CHECKING, Final

from conformance.servers.engine import telling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from docker.models.containers import Container

_CHUNK: Final = 1 << 20


def put_file(
    container: Container, path: str, data: bytes, *, owner: tuple[int, int] = (0, 0), mode: int = 0o640
) -> None:
    """Write a file; the container may run or not."""
    directory, _, name = path.rpartition("/")
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), mode
    entry.uid, entry.gid = owner
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(entry, io.BytesIO(data))
    with telling(f"write {path} into {container.name}"):
        container.put_archive(directory or "/", buffer.getvalue())


def put_tree(container: Container, path: str, archive: Path) -> None:
    """Unpack an archive, which may be compressed, in a directory of the container; owners and modes stay."""
    with archive.open("rb") as file, telling(f"unpack into {path} of {container.name}"):
        container.put_archive(path, file)


def read_tree(container: Container, path: str) -> tarfile.TarFile:
    """A file or directory of the container, read from front to end; names begin with the last part of ``path``."""
    with telling(f"read {path} of {container.name}"):
        chunks, _ = container.get_archive(path, chunk_size=_CHUNK)
    return tarfile.open(fileobj=_Reader(chunks), mode="r|")


class _Reader(io.RawIOBase, IO[bytes]):
    """A stream of chunks as a file."""

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
