"""Groups of a file, and the parsers of boundaries over its events."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE
from conformance.reference.boundaries.markers import BoundaryType, mark, marker_of
from conformance.reference.boundaries.observed_event import ObservedEvent, observe, query_text
from conformance.reference.boundaries.reader import Group, find_event, read_groups
from conformance.reference.boundaries.shipped import EventClass, ShippedParser, State, classify, classify_query
from conformance.reference.boundaries.source import mark_stream
from conformance.reference.boundaries.unmarked import Receiver, query_role
from conformance.reference.boundaries.worklog import BoundaryParser
from conformance.reference.event_types import EventType
from fuzz.events import file_seeds
from fuzz.mutators.framing import mutate_file, split_file
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT: Final = (
    "The groups of a file tile it, whatever the window; a stream that is marked is accepted by the worklog's parser;"
    " marking changes a marker and nothing else."
)
INSTRUMENT: Final[tuple[str, ...]] = ("conformance.reference.boundaries",)
MAX_LEN: Final = 1280
DICTIONARY: Final = (b"BEGIN", b"COMMIT", b"ROLLBACK", b"ROLLBACK TO ", b"XA START", b"XA ROLLBACK", b"XA COMMIT")
mutate = mutate_file


def check(data: bytes) -> None:
    """Check a file."""
    for relay in (False, True):
        whole, refused = attempt(_groups, data, 1 << 16, relay)
        narrow, bad = attempt(_groups, data, 32, relay)
        require((refused and refused.code) == (bad and bad.code), "the window changes no error", str(refused), str(bad))
        require(whole == narrow, "the window changes no group", whole, narrow)
        own, headless = attempt(_own_groups, data, relay)
        require(own is not None or headless, "a file's own footer is found or refused")
        place = 4
        for _, start, end, count in whole or ():
            require(start == place < end <= len(data), "groups tile the file", start, place)
            require(1 <= count <= (end - start) // HEADER_SIZE, "a group has as many events as it has room for", count)
            place = end
    found = find_event(data[4:], 4)
    require(found is None or 0 <= found <= len(data) - 4 - HEADER_SIZE, "an event is found inside", found)
    _streams([observe(event) for event in split_file(data)[1:-1]], split_file(data)[1:-1])


def _own_groups(data: bytes, relay: bool) -> list[Group]:
    return [*read_groups(BytesIO(data), relay=relay)]


def _groups(data: bytes, window: int, relay: bool) -> list[tuple[str, int, int, int]]:
    groups = read_groups(BytesIO(data), footer=FOOTER_SIZE, relay=relay, window=window)
    return [(group.kind.value, group.start, group.end, group.events) for group in groups]


def _streams(events: list[ObservedEvent], raw: list[bytes]) -> None:
    receiver, applier = ShippedParser(), ShippedParser(receiver=False)
    guessed = Receiver()
    for event, data in zip(events, raw, strict=True):
        receiver.feed(event)
        complaint = applier.feed(event)
        require(complaint is None or complaint.kind, "a complaint says of what", complaint)
        judged = guessed.feed(event)
        require(0 <= judged.type < 8, "an event counts as one of the types", judged)
        text = query_text(data)
        classify_query(text), query_role(text)
        for kind in (BoundaryType.SELF_CONTAINED, BoundaryType.NOT_DEFINED):
            marked, _ = attempt(mark, data, kind)
            if marked is not None:
                flags = int.from_bytes(marked[17:19], "little")
                require(marker_of(flags) == kind and len(marked) == len(data), "a marker is what was set", kind)
    for relay in (False, True):
        types = list(mark_stream(events, relay=relay))
        require(len(types) == len(events), "every event gets a type", types)
        parser = BoundaryParser()
        if _sound(events):
            for kind in types:
                require(parser.feed(kind) is None, "a sound stream that is marked is accepted", types, events)


def _sound(events: list[ObservedEvent]) -> bool:
    """Whether a server could have written the stream. The shipped parser alone does not decide: it accepts rows outside
    a transaction.
    """
    parser = ShippedParser()
    for event in events:
        kind, state = classify(event), parser.state
        if parser.feed(event) is not None or classify(event._replace(flags=0)) is EventClass.ERROR:
            return False  # an unknown event may stand anywhere, with any mark
        if kind in (EventClass.IGNORE, EventClass.GTID):
            fits = state is State.NONE
        elif kind is EventClass.STATEMENT and event.type != EventType.QUERY:
            fits = state is State.DML
        elif kind is EventClass.INCIDENT:
            fits = state in (State.NONE, State.GTID)
        else:
            fits = state is not State.NONE
        if not fits:
            return False
    return True


def seeds() -> Iterator[tuple[str, bytes]]:
    """Files of one group each, and several groups in one."""
    files = dict(file_seeds())
    yield from files.items()
    head = files["empty"]
    several = b"".join(b"".join(split_file(files[kind])[3:-1]) for kind in ("rows", "ddl"))
    yield "several", b"".join(split_file(head)[:3]) + several
