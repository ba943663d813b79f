"""Worlds by name: one server, replicas that differ in how they apply, a group. Each module makes some of them.

The table here imports none of them, so that a command line can list the names at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.explore.world import World
    from conformance.servers.run.owned import Maker


@dataclass(frozen=True, slots=True)
class Topology:
    """A way to make a world: a function of a module of this package."""

    module: str
    function: str

    def __call__(self, maker: Maker, narrate: Callable[[str], None]) -> World:
        """Start the servers."""
        world: World = getattr(import_module(f"{__name__}.{self.module}"), self.function)(maker, narrate)
        return world


SINGLE: Final = "single"
"""The topology in which a problem of one server is shrunk: it starts fastest."""
TOPOLOGIES: Final[Mapping[str, Topology]] = {
    "assign-gtids": Topology("linked", "assign_gtids"),
    "chain": Topology("linked", "chain"),
    "clone": Topology("cloned", "clone"),
    "durable": Topology("linked", "durable"),
    "group": Topology("group", "group"),
    "group-multi": Topology("group", "group_multi"),
    "pair": Topology("linked", "pair"),
    "parallel": Topology("locked", "parallel"),
    "positions": Topology("linked", "positions"),
    "privileges": Topology("linked", "privileges"),
    "rewrite-db": Topology("renamed", "rewrite_db"),
    "semisync": Topology("linked", "semisync"),
    SINGLE: Topology("linked", "single"),
}
