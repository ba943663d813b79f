"""The server's memory: it may not grow from episode to episode without bound."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.explore.oracles.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.explore.world import World

LIMIT: Final = 3 << 30  # bytes resident; a server of the lab begins with 0.3 to 0.6 GB


def check_memory(world: World) -> Iterator[Problem]:
    """Compare the resident memory of each server process of this machine with :data:`LIMIT`."""
    for server in (world.source, *(pair.replica for pair in world.pairs)):
        with suppress(OSError, ValueError, IndexError):
            pages = int(Path(f"/proc/{getattr(server, 'pid', 0)}/statm").read_text().split()[1])
            if pages * 4096 > LIMIT:
                yield Problem("growth", "memory", f"{server.id} has {pages * 4096 >> 20} MB resident")
