"""Worlds by name: one server, or a source with replicas that differ in how they apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.explore.world import World
from conformance.servers.roles.pair import Pair

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.servers.run.owned import Maker, OwnServer

SINGLE: Final = "single"
"""The topology in which a problem of one server is shrunk: it starts fastest."""
_GTID: Final = {"gtid-mode": "ON", "enforce-gtid-consistency": "ON"}
_ANONYMOUS: Final = {"gtid-mode": "OFF", "enforce-gtid-consistency": "OFF"}
_COMMON: Final = {
    "log-bin-trust-function-creators": "ON", "binlog-row-value-options": "PARTIAL_JSON", "binlog-row-metadata": "FULL",
    "replica-parallel-workers": "4", "replica-transaction-retries": "10",
}  # fmt: skip


def _launched(
    world_of: Maker, server_id: int, more: Mapping[str, str | None], narrate: Callable[[str], None]
) -> OwnServer:
    options: dict[str, str | None] = {**_COMMON, **more}
    return world_of.launch(server_id=server_id, options=options, narrate=narrate)


def single(maker: Maker, narrate: Callable[[str], None]) -> World:
    """One server."""
    source = _launched(maker, 1, _GTID, narrate)
    world = World(source)
    world.owns(source)
    return world


def _pair(maker: Maker, narrate: Callable[[str], None], options: Mapping[str, str | None], **replica: str) -> World:
    world = World(_launched(maker, 1, options, narrate))
    world.owns(world.source)
    target = _launched(
        maker, 2, {**options, **{name.replace("_", "-"): value for name, value in replica.items()}}, narrate
    )
    world.owns(target)
    pair = Pair(world.source, target)
    with world.source.connect() as connection:
        gtid = options["gtid-mode"] == "ON"
        pair.follow(
            world.source.capture().mark(connection),
            (connection.variable("global.gtid_executed") or "") if gtid else None,
        )
    world.pairs = (pair,)
    return world


def pair_gtid(maker: Maker, narrate: Callable[[str], None]) -> World:
    """A source and a replica by GTID, with a parallel applier."""
    return _pair(maker, narrate, _GTID)


def pair_positions(maker: Maker, narrate: Callable[[str], None]) -> World:
    """A source and a replica by positions, with one worker and full row images in the replica's log."""
    return _pair(maker, narrate, _ANONYMOUS, replica_parallel_workers="1")


TOPOLOGIES: Final[Mapping[str, Callable[[Maker, Callable[[str], None]], World]]] = {
    "pair": pair_gtid, "positions": pair_positions, SINGLE: single,
}  # fmt: skip
