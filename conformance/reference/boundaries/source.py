"""The source's side of WL#4162: the marker that each event gets when the source writes it.

There are three steps. The constructor of an event gives it a type. INTVAR, RAND and USER_VAR in front of a Self
Contained statement: the first of them becomes its start, the statement its end (binlog.cc M2). A GTID in front takes
over the start (M1). Events newer than the worklog follow the kit's mapping (transaction-boundaries A.7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.header import HEADER_SIZE, Flag, decode_header
from conformance.reference.boundaries.markers import SHIFT, BoundaryType, mark
from conformance.reference.boundaries.observed_event import GTID_TYPES, ObservedEvent, observe
from conformance.reference.boundaries.shipped import EventClass, ShippedParser, classify
from conformance.reference.errors import DecodeError
from conformance.reference.event_types import EventType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_IGNORE, _SELF = BoundaryType.IGNORE_BOUNDARY, BoundaryType.SELF_CONTAINED
_START, _INSIDE = BoundaryType.START_TRANSACTION, BoundaryType.INSIDE_TRANSACTION
_END = BoundaryType.END_TRANSACTION

# Types by constructor; a type that is missing here is Self Contained, as in the base class. QUERY depends on its text.
CONSTRUCTED: Final[dict[int, BoundaryType]] = {
    EventType.FORMAT_DESCRIPTION: _IGNORE,
    EventType.IGNORABLE: _IGNORE,
    EventType.INTVAR: _INSIDE,
    EventType.RAND: _INSIDE,
    EventType.USER_VAR: _INSIDE,
    EventType.XID: _END,
    EventType.APPEND_BLOCK: _INSIDE,
    EventType.BEGIN_LOAD_QUERY: _INSIDE,
    EventType.TABLE_MAP: _INSIDE,
    EventType.WRITE_ROWS_V1: _INSIDE,
    EventType.UPDATE_ROWS_V1: _INSIDE,
    EventType.DELETE_ROWS_V1: _INSIDE,
    EventType.WRITE_ROWS: _INSIDE,
    EventType.UPDATE_ROWS: _INSIDE,
    EventType.DELETE_ROWS: _INSIDE,
    EventType.ROWS_QUERY: _INSIDE,
    EventType.GTID: _START,
    # Behind this line: events that the worklog predates.
    EventType.ANONYMOUS_GTID: _START,
    EventType.GTID_TAGGED: _START,
    EventType.PARTIAL_UPDATE_ROWS: _INSIDE,
    EventType.TRANSACTION_PAYLOAD: _END,
    EventType.XA_PREPARE: _END,
    EventType.TRANSACTION_CONTEXT: _IGNORE,
    EventType.VIEW_CHANGE: _INSIDE,
}
_STATEMENTS: Final = frozenset((EventType.QUERY, EventType.EXECUTE_LOAD_QUERY))
_PRE_STATEMENTS: Final = frozenset((EventType.INTVAR, EventType.RAND, EventType.USER_VAR))


def constructed(event: ObservedEvent, *, immediate: bool) -> BoundaryType:
    """The type that the constructor gives (transaction-boundaries A.6). ``immediate``: the log has the statement by
    itself, outside a group.
    """
    if event.type not in _STATEMENTS:
        return CONSTRUCTED.get(event.type, _SELF)
    kind = classify(event)
    if kind is EventClass.BEGIN_TRX:
        return _START
    if kind is EventClass.END_TRX:
        return _END
    return _SELF if immediate else _INSIDE


def mark_group(events: Sequence[ObservedEvent]) -> list[BoundaryType]:
    """The types of one whole group as its source writes them; the first may be a GTID."""
    begun = False
    types: list[BoundaryType] = []
    for event in events:
        types.append(constructed(event, immediate=not begun))
        begun = begun or (event.type == EventType.QUERY and types[-1] is _START)
    first = None
    for number, event in enumerate(events):
        if event.type in _PRE_STATEMENTS:
            first = number if first is None else first
        elif first is not None:
            if types[number] is _SELF:
                types[first], types[number] = _START, _END
            first = None
    if events[0].type in GTID_TYPES:
        written = {_START: _INSIDE, _SELF: _END}
        types[1:] = [written.get(kind, kind) for kind in types[1:]]
    return types


def mark_inside(data: bytes, *, shift: int = SHIFT) -> bytes:
    """The uncompressed events of a payload, marked as if the source had not compressed them: their GTID is before the
    payload.
    """
    events = list(split_inner(data))
    types = mark_group([ObservedEvent(EventType.GTID), *(observe(event, 0) for event in events)])[1:]
    return b"".join([mark(event, kind, footer=0, shift=shift) for event, kind in zip(events, types, strict=True)])


def split_inner(data: bytes) -> Iterator[bytes]:
    """The events of an uncompressed payload, which have no checksums."""
    position = 0
    while position < len(data):
        header = decode_header(data, position)
        if not HEADER_SIZE <= header.length <= len(data) - position:
            raise DecodeError("bad-length", "the event does not fit", offset=position + 9, got=header.length)
        yield data[position : position + header.length]
        position += header.length


def mark_stream(events: Iterable[ObservedEvent], *, relay: bool = False) -> Iterator[BoundaryType]:
    """The types of a whole stream. The shipped parser separates the groups; events that it passes over belong to no
    group.

    A group that the end of the stream cuts off is marked up to its last event.
    """
    parser = ShippedParser()
    group: list[ObservedEvent] = []
    places: list[BoundaryType | None] = []
    for event in events:
        aside = classify(event) is EventClass.IGNORE
        if aside:
            places.append(_frame(event, relay=relay, open_group=bool(group)))
        else:
            group.append(event)
            places.append(None)
        parser.feed(event)
        if not parser.inside:
            yield from _filled(places, group)
            group, places = [], []
    yield from _filled(places, group)


def _filled(places: Sequence[BoundaryType | None], group: Sequence[ObservedEvent]) -> Iterator[BoundaryType]:
    """The types of a group, with those of the frame events inside it."""
    types = iter(mark_group(group) if group else ())
    for place in places:
        yield next(types) if place is None else place


def _frame(event: ObservedEvent, *, relay: bool, open_group: bool) -> BoundaryType:
    """The type of an event outside groups: the dump thread's ROTATE is ignored, like a relay log's own events inside a
    group.
    """
    fake = event.type == EventType.ROTATE and (event.flags & Flag.ARTIFICIAL or not event.log_pos)
    own = relay and (open_group or event.flags & (Flag.RELAY_LOG | Flag.ARTIFICIAL))
    return _IGNORE if fake or own else CONSTRUCTED.get(event.type, _SELF)
