"""The files below a container's data directory, read and written through the engine's archives.

An archive can be had of a container that runs or not. An archive of a file that grows meanwhile is broken: the lab asks
again.
"""

from __future__ import annotations

import tarfile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from conformance.servers.containers.engine import telling
from conformance.servers.containers.files import put_file, read_tree
from conformance.servers.containers.image import DATA
from conformance.servers.errors import NoSuchFile, ServerUnavailable
from conformance.servers.files import Files, matches, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from docker.models.containers import Container

_TIMES: Final = 5  # that the lab asks for an archive
_NAMES: Final = "/tmp/binlog-lab-names"  # noqa: S108 - of a container that the lab made
_WILD: Final = frozenset("*?[")


class ContainerFiles(Files):
    """``owner``: the numbers of the account and the group that the server's files belong to."""

    def __init__(self, container: Container, owner: tuple[int, int]) -> None:
        self._container = container
        self._owner = owner

    def read(self, name: str) -> bytes:
        """The file out of an archive of it alone."""
        place = plain(name, DATA)
        found = self._whole(place, lambda _: True)
        if list(found) != [""]:
            raise NoSuchFile(f"{place} is no file in the data directory of {self._container.name}")
        return found[""]

    def matching(self, *patterns: str) -> dict[str, bytes]:
        """A folder in one archive; of the data directory itself, which holds everything, single files."""
        folders = sorted({str(PurePosixPath(each).parent) for each in patterns})
        if any(_WILD & set(folder) for folder in folders):
            folders = ["."]
            names = None
        else:
            names = self._names_on_top() if "." in folders else None
        found: dict[str, bytes] = {}
        for folder in folders:
            if folder == "." and names is not None:
                found |= {name: self.read(name) for name in names if matches(name, patterns)}
            else:
                found |= self._below("" if folder == "." else f"{folder}/", patterns)
        return dict(sorted(found.items()))

    def _below(self, prefix: str, patterns: tuple[str, ...]) -> dict[str, bytes]:
        """Return the matching files below a folder, whose name ends with a slash; none if the folder is not there."""
        try:
            members = self._whole(prefix, lambda name: matches(prefix + name, patterns))
        except NoSuchFile:
            return {}
        return {prefix + name: data for name, data in members.items()}

    def write(self, name: str, data: bytes) -> None:
        """A file of the server's account, as it owns all data files."""
        place = plain(name, DATA)
        try:
            put_file(self._container, f"{DATA}/{place}", data, owner=self._owner)
        except ServerUnavailable as error:
            raise self._missing(error, f"there is no folder for {place}") from error

    def remove(self, names: Iterable[str]) -> None:
        """Remove files by a program in the container: the engine itself cannot. The server must run."""
        places = [f"{DATA}/{plain(name, DATA)}" for name in names]
        if not places:
            return
        if self._silently('exec rm -f -- "$@"', *places):
            raise ServerUnavailable(f"files cannot be removed in {self._container.name}: {', '.join(places)}")

    def _names_on_top(self) -> list[str] | None:
        """The names in the data directory itself; ``None`` where no program can list them, as nothing runs there."""
        with telling(f"look at {self._container.name}"):
            self._container.reload()
        if self._container.status != "running" or self._silently('ls -1A "$1" >"$2"', DATA, _NAMES):
            return None
        with telling(f"read {_NAMES} of {self._container.name}"):
            found = b"".join(file.read() for _, file in read_tree(self._container, _NAMES) if file is not None)
        return sorted(found.decode("utf-8", "replace").splitlines())

    def _silently(self, script: str, *words: str) -> int:
        """The exit code of a script that writes nothing: the stream of an exec loses bytes now and then."""
        with telling(f"run a program in {self._container.name}"):
            answer: Any = self._container.exec_run(
                ["sh", "-c", f"exec >/dev/null 2>&1; {script}", "sh", *words], user="0"
            )
        return 1 if answer.exit_code is None else int(answer.exit_code)

    def _whole(self, place: str, wanted: Callable[[str], bool]) -> dict[str, bytes]:
        """The wanted files below a place; the name of the place itself is empty."""
        broken: Exception | None = None
        for _ in range(_TIMES):
            try:
                return self._once(f"{DATA}/{place}".rstrip("/"), wanted)
            except (tarfile.ReadError, EOFError) as error:
                broken = error
            except ServerUnavailable as error:
                raise self._missing(error, f"there is no file {place}") from error
        what = f"the archive of {place} in {self._container.name}"
        raise ServerUnavailable(f"{what} was broken {_TIMES} times") from broken

    def _once(self, path: str, wanted: Callable[[str], bool]) -> dict[str, bytes]:
        found = {}
        with telling(f"read {path} of {self._container.name}"):
            for member, content in read_tree(self._container, path):
                if content is not None and wanted(member.name):
                    data = content.read()
                    if len(data) != member.size:
                        raise EOFError(f"{member.name} is cut off")
                    found[member.name] = data
        return found

    def _missing(self, error: ServerUnavailable, words: str) -> Exception:
        """Return the error that an error of the engine stands for: the file is not there, or the container is not."""
        from docker.errors import NotFound

        if not isinstance(error.__cause__, NotFound):
            return error
        try:
            with telling(f"look at {self._container.name}"):
                self._container.reload()
        except ServerUnavailable as gone:
            return gone
        return NoSuchFile(f"{words} in the data directory of {self._container.name}")
