"""Files below a server's data directory, by their names there, wherever the directory is.

A name is a path relative to the data directory, with ``/`` between its parts: ``schema/t.ibd``, ``./undo_001``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from conformance.servers.errors import NoSuchFile, ServerError

if TYPE_CHECKING:
    from collections.abc import Iterable


class Files(ABC):
    """The files of one server, which may run or not. Of files that the server writes meanwhile, whatever is there."""

    @abstractmethod
    def read(self, name: str) -> bytes:
        """The content of a file. Raises :class:`NoSuchFile`."""

    @abstractmethod
    def matching(self, *patterns: str) -> dict[str, bytes]:
        """The content of every file whose name matches one of the patterns (``schema/*.ibd``), in order of the names.

        ``*`` stands for any characters but ``/``. Nothing matches in a folder that is not there.
        """

    @abstractmethod
    def write(self, name: str, data: bytes) -> None:
        """Write a file that the server may read and change; its folder must be there (:class:`NoSuchFile`)."""

    @abstractmethod
    def remove(self, names: Iterable[str]) -> None:
        """Remove files; one that is not there is no error."""

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""
        try:
            self.read(name)
        except NoSuchFile:
            return False
        return True


def plain(name: str, directory: str = "") -> str:
    """A name as the server gives it, relative to the data directory. Raises for a file outside of it."""
    path = PurePosixPath(name)
    if path.is_absolute():
        try:
            path = path.relative_to(directory or "/")
        except ValueError:
            raise ServerError(f"{name} is not below the data directory {directory}") from None
    if not path.parts or ".." in path.parts:
        raise ServerError(f"{name!r} names no file below the data directory")
    return str(path)


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name has the form of one of the patterns."""
    path = PurePosixPath(name)
    return any(len(path.parts) == len(PurePosixPath(each).parts) and path.match(each) for each in patterns)


class LocalFiles(Files):
    """A data directory of this machine."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def _path(self, name: str) -> Path:
        return self.directory / plain(name, str(self.directory))

    def read(self, name: str) -> bytes:
        """Read the file itself."""
        try:
            return self._path(name).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
            raise NoSuchFile(f"there is no file {name} in the data directory {self.directory}") from error

    def matching(self, *patterns: str) -> dict[str, bytes]:
        """Look the names up, and read the files."""
        found = {path for each in patterns for path in self.directory.glob(each) if path.is_file()}
        return {path.relative_to(self.directory).as_posix(): path.read_bytes() for path in sorted(found)}

    def write(self, name: str, data: bytes) -> None:
        """Write the file as this user, who runs the server."""
        try:
            self._path(name).write_bytes(data)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NoSuchFile(f"there is no folder for {name} in the data directory {self.directory}") from error

    def remove(self, names: Iterable[str]) -> None:
        """Remove the files themselves."""
        for name in names:
            self._path(name).unlink(missing_ok=True)
