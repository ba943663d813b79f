"""Servers of several versions in one topology: the source of one installation, its replicas of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.servers.auto import find_maker
from conformance.servers.install.cache import silent
from conformance.servers.specs import parse_spec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from conformance.servers.install.cache import Narrate
    from conformance.servers.run.owned import Launch, Maker, OwnServer


@dataclass(frozen=True, slots=True)
class MixedMaker:
    """A maker whose server 1 is made by ``source``, and all others by ``replica``."""

    source: Maker
    replica: Maker

    @property
    def version(self) -> str:
        """Both versions, the source's first."""
        return f"{self.source.version}, replica {self.replica.version}"

    @property
    def number(self) -> tuple[int, int, int]:
        """The version of the source as numbers."""
        return self.source.number

    def launch(self, *, wrapper: Sequence[str] | str = (), **wishes: Unpack[Launch]) -> OwnServer:
        """Make a server with data of its own."""
        maker = self.source if wishes.get("server_id", 1) == 1 else self.replica
        return maker.launch(wrapper=wrapper, **wishes)


def find_makers(source: str, replica: str = "", *, narrate: Narrate = silent) -> Maker:
    """Find the programs or images for a source and, where ``replica`` is given, for other replicas than its own."""
    maker = find_maker(parse_spec(source), narrate=narrate)
    return MixedMaker(maker, find_maker(parse_spec(replica), narrate=narrate)) if replica else maker
