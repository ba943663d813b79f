"""Servers of the lab's own behind relays, which the whole lab uses in place of the servers themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from conformance.servers.run.process import ProcessMaker, ProcessServer
from tests.faults.servers.relay import Relay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Unpack

    from conformance.servers.run.owned import Launch
    from conformance.servers.wire.connection import Address


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
        """A server with a relay."""
        return relayed(ProcessMaker.launch(self, wrapper=wrapper, **wishes), self.launched)


def relayed(server: ProcessServer, launched: Callable[[RelayedServer], None]) -> RelayedServer:
    """The server itself, with a relay in front of it from now on."""
    server.__class__ = RelayedServer
    assert isinstance(server, RelayedServer)
    server.launched = launched
    server.relay = Relay(lambda: server.__dict__["address"], server.data_directory)
    launched(server)
    return server
