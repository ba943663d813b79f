"""Where a source breaks a dump off, to see what the client makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from conformance.servers.source.dump import Sent


class Cut(Protocol):
    """The end of one dump."""

    def keeps(self, sent: Sent) -> int | None:
        """How many bytes of this event go out before the connection breaks; ``None``: all of them, and it lives."""


@dataclass(frozen=True, slots=True)
class CutAt:
    """At a position of a file: between two events, or inside one."""

    file: str
    position: int

    def keeps(self, sent: Sent) -> int | None:
        """See :class:`Cut`."""
        if sent.start is None or sent.file != self.file or sent.end <= self.position:
            return None
        return max(0, self.position - sent.start)


@dataclass(slots=True)
class CutAfter:
    """Behind a number of events that stand in files. ``inside``: in the middle of the next one."""

    events: int
    inside: bool = False
    seen: int = 0

    def keeps(self, sent: Sent) -> int | None:
        """See :class:`Cut`."""
        if sent.start is None:
            return None
        if self.seen >= self.events:
            return len(sent.data) // 2 if self.inside else 0
        self.seen += 1
        return None
