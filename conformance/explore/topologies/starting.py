"""Servers of a topology, started one after another, and closed if one of them does not start."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from conformance.explore.followers import Linked
from conformance.explore.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from conformance.servers.run.owned import Maker, OwnServer

GTID: Final = {"gtid-mode": "ON", "enforce-gtid-consistency": "ON"}
ANONYMOUS: Final = {"gtid-mode": "OFF", "enforce-gtid-consistency": "OFF"}
_COMMON: Final = {
    "log-bin-trust-function-creators": "ON", "binlog-row-value-options": "PARTIAL_JSON", "binlog-row-metadata": "FULL",
    "replica-parallel-workers": "4", "replica-transaction-retries": "10",
}  # fmt: skip


def launched(maker: Maker, server_id: int, more: Mapping[str, str | None], narrate: Callable[[str], None]) -> OwnServer:
    """A server with the options of every world and ``more``."""
    options: dict[str, str | None] = {**_COMMON, **more}
    return maker.launch(server_id=server_id, options=options, narrate=narrate)


@contextmanager
def starting(maker: Maker, narrate: Callable[[str], None], options: Mapping[str, str | None]) -> Iterator[World]:
    """A world whose source runs; an error in the block closes what was started."""
    world = World(launched(maker, 1, options, narrate))
    world.owns(world.source)
    try:
        yield world
    except BaseException:
        world.close()
        raise


def joined(
    world: World,
    maker: Maker,
    narrate: Callable[[str], None],
    options: Mapping[str, str | None],
    *,
    behind: OwnServer | None = None,
    gtid: bool = True,
    extra: str = "",
    renamed: str = "",
    prepare: Callable[[OwnServer], None] = lambda _: None,
) -> Linked:
    """A further replica of the world, ``behind`` the source or another server. ``prepare`` sees it unlinked."""
    replica = launched(maker, 2 + len(world.pairs), options, narrate)
    world.owns(replica)
    prepare(replica)
    pair = Linked(behind or world.source, replica, gtid=gtid, extra=extra, renamed=renamed)
    world.owns(pair)
    world.pairs = (*world.pairs, pair)
    return pair
