"""Files and client programs of a server on the tape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.servers.child_process import Ended
from conformance.servers.files import Files
from conformance.servers.programs import Program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from conformance.servers.child_process import Limits
    from conformance.servers.recording.tape import Tape


class TapedFiles(Files):
    """The data directory of a server; ``live`` gives the real one."""

    def __init__(self, tape: Tape, channel: str, live: Callable[[], Files]) -> None:
        self._tape, self._channel, self._live = tape, channel, live

    def read(self, name: str) -> bytes:
        found: Any = self._tape.call(self._channel, "file", [name], lambda: self._live().read(name))
        return bytes(found)

    def matching(self, *patterns: str) -> dict[str, bytes]:
        found: Any = self._tape.call(self._channel, "files", list(patterns), lambda: self._live().matching(*patterns))
        return {str(name): bytes(data) for name, data in found.items()}

    def write(self, name: str, data: bytes) -> None:
        self._tape.call(self._channel, "write file", [name, data], lambda: self._live().write(name, data))

    def remove(self, names: Iterable[str]) -> None:
        asked = list(names)
        self._tape.call(self._channel, "remove files", asked, lambda: self._live().remove(asked))

    def exists(self, name: str) -> bool:
        return bool(self._tape.call(self._channel, "file exists", [name], lambda: self._live().exists(name)))


class TapedProgram(Program):
    """A client program; ``live`` is the real one, ``None`` in a judging run."""

    def __init__(self, tape: Tape, channel: str, name: str, live: Program | None) -> None:
        self._tape, self._channel, self._live = tape, channel, live
        self.name = name

    def run(
        self,
        arguments: Sequence[str],
        *,
        stdin: bytes = b"",
        files: Mapping[str, bytes] | None = None,
        timeout: float | None = None,
        limits: Limits | None = None,
    ) -> Ended:
        def run() -> Any:
            assert self._live is not None
            return list(self._live.run(arguments, stdin=stdin, files=files, timeout=timeout, limits=limits))

        request: Any = [self.name, list(arguments), stdin, dict(files or {})]
        ended: Any = self._tape.call(self._channel, "program", request, run)
        return Ended(*ended)
