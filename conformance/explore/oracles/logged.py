"""The events that the source has logged since the episode began."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.logs.reading import read_events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.explore.world import World
    from conformance.reference.binlog.event import Event


def logged_events(world: World) -> Iterator[Event]:
    """The events in their order, those of compressed transactions unpacked.

    Raises ``CodecError`` where one is damaged.
    """
    assert world.start is not None
    log = world.source.capture()
    try:
        data = log.since(world.start).file_bytes()
    finally:
        log.close()
    yield from read_events(data)
