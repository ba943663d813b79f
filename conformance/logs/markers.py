"""Messages about the boundary markers of a file (WL#4162, I3); a file without markers gets no message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog.header import Flag
from conformance.reference.boundaries.markers import mask
from conformance.reference.boundaries.observed_event import decoded_text
from conformance.reference.boundaries.unmarked import Receiver
from conformance.reference.event_types import EventType

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.binlog.event import Event

_TOLD: Final = 20  # errors reported for a file, one line each
_MARKER: Final = mask()
_QUERY: Final = int(EventType.QUERY)


class MarkedLog:
    """The markers of one file: each file has a new parser. The parser does not read events inside a payload."""

    def __init__(self, path: str, narrate: Callable[[str], None]) -> None:
        self._path = path
        self._narrate = narrate
        self._receiver: Receiver | None = None
        self._marked = False
        self._broken = 0

    @property
    def state(self) -> tuple[Any, ...] | None:
        """All that messages on later events depend on."""
        return None if self._receiver is None else (self._receiver.state, self._marked, self._broken)

    @state.setter
    def state(self, state: tuple[Any, ...] | None) -> None:
        if state is not None:
            self._receiver = Receiver()
            self._receiver.state, self._marked, self._broken = state

    def feed(self, event: Event) -> None:
        """Read the next event of the file."""
        if event.inner is not None:
            return
        _, code, _, _, log_pos, flags = event.header
        if self._receiver is None:  # the first event of a relay log shows that it is one
            self._receiver = Receiver(relay=bool(flags & Flag.RELAY_LOG))
        if flags & _MARKER:
            self._marked = True
        text = decoded_text(event) if code == _QUERY else b""
        broken = self._receiver.judge(code, flags, log_pos, text).broken
        if broken is not None and self._marked:
            self._broken += 1
            if self._broken <= _TOLD:
                self._narrate(f"{self._path}: {event.name} at {event.position}: {broken.message}")

    def finish(self) -> None:
        """End the file."""
        if self._broken > _TOLD:
            self._narrate(f"{self._path}: {self._broken - _TOLD} more events do not fit their transactions")
        if self._marked and self._receiver is not None and self._receiver.parser.in_group:
            self._narrate(f"{self._path}: the last transaction has no end in this file")
