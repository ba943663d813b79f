"""Events that no reader here knows: the one rule of what becomes of them, for all who read a log.

An event whose flags say that it may be ignored is passed over, and counted: later versions mark what older readers need
not know (binlog-events 2). Any other one may change rows. Who has met such an event has not read the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from conformance.reference.binlog.header import Flag
from conformance.reference.errors import Unsupported
from conformance.reference.event_types import event_words

if TYPE_CHECKING:
    from collections.abc import Sequence


class Kind(NamedTuple):
    """Events of one type. ``source`` and ``position``: where the first of them is."""

    code: int
    ignorable: bool
    events: int
    source: str
    position: int

    @property
    def words(self) -> str:
        """Type, number and place: ``UNKNOWN_EVENT(121), 2 times, first at binlog.000001:1146``."""
        place = f"{self.source}:{self.position}" if self.source else str(self.position)
        times = "once, at" if self.events == 1 else f"{self.events} times, first at"
        return f"{event_words(self.code)}, {times} {place}"


def refusal(code: int, flags: int) -> Unsupported | None:
    """The error for an event of a type without a reader; ``None`` for one that may be passed over."""
    if flags & Flag.IGNORABLE:
        return None
    return Unsupported("unknown-event", f"{event_words(code)} is not known here, and not marked to be ignored")


class UnreadEvents:
    """A record of the events that a reader does not know. ``stops``: the first that it may not pass over is an error.

    ``source``: the file that the next ones are from, as messages name it; empty where there is only one.
    """

    def __init__(self, *, stops: bool = False) -> None:
        self.stops = stops
        self.source = ""
        self._kinds: dict[tuple[int, bool], Kind] = {}

    def add(self, code: int, flags: int, position: int | None) -> None:
        """One more event. Raises :class:`Unsupported` where the reader ends."""
        problem = refusal(code, flags)
        if problem is not None and self.stops:
            raise problem
        self._add(Kind(code, problem is None, 1, self.source, position or 0))

    def _add(self, more: Kind) -> None:
        key = more.code, more.ignorable
        first = self._kinds.get(key)
        self._kinds[key] = more if first is None else first._replace(events=first.events + more.events)

    def update(self, later: UnreadEvents) -> None:
        """Add what was met behind the events of this record."""
        for kind in later.kinds():
            self._add(kind)

    def take(self) -> UnreadEvents:
        """Return a record of all events since the last time, and begin anew."""
        taken = UnreadEvents()
        taken._kinds, self._kinds = self._kinds, {}
        return taken

    def kinds(self, *, ignorable: bool | None = None) -> list[Kind]:
        """The events by type: all, those that may be passed over, or the others."""
        return [kind for kind in self._kinds.values() if ignorable in (None, kind.ignorable)]


def listed(kinds: Sequence[Kind], what: str) -> str:
    """All kinds in one line behind ``what``; a file that all of them are in is named once."""
    sources = {kind.source for kind in kinds}
    if len(sources) > 1:
        return f"{what}: {'; '.join(kind.words for kind in kinds)}"
    words = "; ".join(kind._replace(source="").words for kind in kinds)
    return f"{sources.pop() or 'the log'}: {what}: {words}"
