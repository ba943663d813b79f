"""The lines that mysqlbinlog adds where a transaction is not whole in its output (mysqlbinlog-output 8).

They are "added by mysqlbinlog", as their comment says. The positions of events that were left out wait here too: the
client prints them only in front of the next event that it prints, but behind the lines that it adds there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog.control_events import Rotate, Xid
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.header import Flag
from conformance.reference.binlog.query import Query
from conformance.reference.boundaries.shipped import EventClass, classify_query
from conformance.reference.text.session import DELIMITER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.reference.binlog.event import Body, Event

_BEGIN: Final = EventClass.BEGIN_TRX  # looking up a member costs more than the rest of an event
_ENDS: Final = (EventClass.END_TRX, EventClass.END_XA_TRX)
_COMMIT: Final = b"COMMIT /* added by mysqlbinlog */" + DELIMITER


class AddedLines:
    """The transaction that the output is in, and what its end lacks."""

    def __init__(self) -> None:
        self._places: list[bytes] = []  # of events that were left out
        self._partial = False  # events of the transaction were left out
        self._begun = False  # a GTID was printed, and nothing of its transaction
        self._open = False  # inside a transaction
        self._query: Query | None = None
        self._class = EventClass.STATEMENT
        self._framed = False  # the FORMAT_DESCRIPTION of a source was printed; a relay log has one of its own before it

    @property
    def waits(self) -> bool:
        """Whether lines may stand in front of the next event."""
        return self._partial or bool(self._places)

    @property
    def state(self) -> tuple[Any, ...]:
        """All that later lines depend on."""
        return tuple(self._places), self._partial, self._begun, self._open, self._framed

    @state.setter
    def state(self, state: tuple[Any, ...]) -> None:
        places, self._partial, self._begun, self._open, self._framed = state
        self._places = list(places)

    def before(self, event: Event) -> Iterable[bytes]:
        """The lines in front of an event that is printed."""
        body = event.body
        if not self.waits and not isinstance(body, FormatDescription):
            return ()
        return self._before(event, body)

    def _before(self, event: Event, body: Body) -> Iterator[bytes]:
        if self._partial and isinstance(body, (Gtid, GtidTagged, Rotate)):
            yield _COMMIT
            self._partial = False
        if isinstance(body, FormatDescription) and not event.header.flags & Flag.RELAY_LOG:
            if self._framed:
                yield from self._rolled_back()  # a COMMIT waits for the next GTID
            self._framed = True
        yield from self._take_places()

    def follow(self, body: Body) -> None:
        """Take an event that was printed. mysqlbinlog takes XA ROLLBACK for an end of a transaction, XA COMMIT not."""
        if type(body) is Gtid or type(body) is GtidTagged:
            self._begun = True
        elif type(body) is Xid:
            self._open = self._begun = self._partial = False
        elif type(body) is Query:
            if body is not self._query:  # else the same BEGIN again
                self._query, self._class = body, classify_query(body.text)
            if self._class is _BEGIN:
                self._open = True
            elif self._class in _ENDS:
                self._open = self._begun = self._partial = False
            elif not self._open:
                self._begun = False  # the statement is a transaction of its own

    def left_out(self, body: Body, place: bytes, *, partial: bool, flush: bool) -> Iterator[bytes]:
        """An event that is left out. ``partial``: others of its transaction are printed; ``flush``: so is its place."""
        self._places.append(place)
        self._partial |= partial
        if partial and isinstance(body, Query):
            if self._begun and not self._open and classify_query(body.text) is EventClass.STATEMENT:
                yield _COMMIT  # a transaction of its own, such as DDL
                self._partial = False
            if not self._open:
                self._begun = False
        if flush:
            yield from self._take_places()

    def end(self) -> Iterator[bytes]:
        """The lines behind the last file."""
        if self._partial:
            yield _COMMIT
        yield from self._rolled_back()

    def _rolled_back(self) -> Iterator[bytes]:
        """The lines that leave no transaction open."""
        if self._begun and not self._open:
            yield b"BEGIN /*added by mysqlbinlog */ " + DELIMITER
        if self._begun or self._open:
            yield b"ROLLBACK /* added by mysqlbinlog */ " + DELIMITER
        self._begun = self._open = False
        yield b"SET @@SESSION.GTID_NEXT= 'AUTOMATIC' /* added by mysqlbinlog */ " + DELIMITER

    def _take_places(self) -> Iterator[bytes]:
        yield from self._places
        self._places.clear()
