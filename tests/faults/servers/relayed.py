"""Servers of the lab's own behind relays, which the whole lab uses in place of the servers themselves.

What does not pass a connection is altered here: the options of a start, the error log, and the client that prints logs.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.servers.files import LocalFiles
from conformance.servers.run.process import ProcessMaker, ProcessServer
from tests.faults.servers.relay import Relay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Unpack

    from conformance.servers.run.options import Options
    from conformance.servers.run.owned import Launch
    from conformance.servers.wire.connection import Address

_CLIENT: Final = str(Path(__file__).with_name("client.py"))
_ROOT: Final = str(Path(__file__).parents[3])


class RelayedFiles(LocalFiles):
    """The files of a server whose relay may have other logs than the server, or a fault in its files."""

    def __init__(self, directory: Path, relay: Relay) -> None:
        super().__init__(directory)
        self._relay = relay

    def read(self, name: str) -> bytes:
        """The copy of a log, and other files as the fault has them."""
        return self._told(name) or self._altered(name, super().read(name))

    def matching(self, *patterns: str) -> dict[str, bytes]:
        """The same for all of these names."""
        found = super().matching(*patterns)
        return {name: self._told(name) or self._altered(name, data) for name, data in found.items()}

    def _altered(self, name: str, data: bytes) -> bytes:
        change = self._relay.altered.get("file")
        return data if change is None else change(name, data)

    def _told(self, name: str) -> bytes | None:
        return None if self._relay.log is None else self._relay.log.copy(name)


class RelayedServer(ProcessServer):
    """A server whose address is that of its relay."""

    relay: Relay
    launched: Callable[[RelayedServer], None]
    kept = False  # for the next run: nobody but the bench closes it

    @property
    def address(self) -> Address:
        real: Address = self.__dict__["address"]
        return replace(real, socket=self.relay.path, port=self.relay.port)

    @address.setter
    def address(self, value: Address) -> None:
        self.__dict__["address"] = value

    @property
    def maker(self) -> RelayedMaker:
        """A maker of servers that have relays too."""
        return RelayedMaker(self.installation, self.launched)

    def _command(self, port: int, extra: Options) -> list[str]:
        return list(self._read(super()._command(port, extra), "--"))

    def defaults_file(self, text: str) -> str:
        """An option file without what the server does not read."""
        return super().defaults_file("\n".join(self._read(text.splitlines(), "")) + "\n")

    def _read(self, words: Sequence[str], mark: str) -> Iterator[str]:
        """Options as the faulty server reads them."""
        change = self.relay.altered.get("option")
        for word in words:
            if change is None or not word.startswith(mark):
                yield word
            elif (made := change(word.removeprefix(mark))) is not None:
                yield mark + made

    @property
    def files(self) -> RelayedFiles:
        """The files, with the logs that the relay tells of."""
        return RelayedFiles(self.data_directory, self.relay)

    def error_log(self) -> str:
        """The text of the faulty server's error log."""
        text = super().error_log()
        change = self.relay.altered.get("messages")
        return text if change is None else change(text)

    def program(self, name: str) -> list[str]:
        """The program itself, or behind the one that alters what it prints."""
        words = super().program(name)
        if "printed" not in self.relay.altered or name != "mysqlbinlog":
            return words
        return [sys.executable, _CLIENT, _ROOT, self.relay.name, *words]

    def close(self) -> None:
        """End the server and its relay."""
        if not self.kept:
            super().close()
            self.relay.close()


@dataclass(frozen=True, slots=True)
class RelayedMaker(ProcessMaker):
    """Makes servers of the same programs. ``launched`` is told of each."""

    launched: Callable[[RelayedServer], None]

    def launch(self, *, wrapper: Sequence[str] | str = (), **wishes: Unpack[Launch]) -> RelayedServer:
        """A server with a relay, which is there before the server starts."""
        stopped = wishes | {"start": False}
        server = relayed(ProcessMaker.launch(self, wrapper=wrapper, **stopped), self.launched)
        if wishes.get("start", True):
            try:
                server.start()
            except BaseException:
                server.close()
                raise
        return server


def relayed(
    server: ProcessServer,
    launched: Callable[[RelayedServer], None],
    kind: type[RelayedServer] = RelayedServer,
    relay: Callable[[Callable[[], Address], Path], Relay] = Relay,
) -> RelayedServer:
    """The server itself, with a relay in front of it from now on."""
    server.__class__ = kind
    assert isinstance(server, RelayedServer)
    server.launched = launched
    server.relay = relay(lambda: server.__dict__["address"], server.data_directory)
    launched(server)
    return server
