"""Groups of a file, and the parsers of boundaries over its events."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE
from conformance.reference.boundaries.markers import BoundaryType, mark, marker_of
from conformance.reference.boundaries.observed_event import ObservedEvent, observe
from conformance.reference.boundaries.reader import Group, find_event, read_groups
from conformance.reference.boundaries.shipped import Complaint, EventClass, ParserState, ShippedParser, classify
from conformance.reference.boundaries.source import mark_group, mark_stream
from conformance.reference.boundaries.unmarked import Receiver
from conformance.reference.boundaries.worklog import BoundaryParser
from conformance.reference.event_types import EventType
from fuzz.events import file_seeds
from fuzz.mutators.framing import mutate_file, split_file
from fuzz.naive import boundaries as naive
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT: Final = (
    "The groups of a file are those of the naive reader, and tile it, whatever the window; parsers and markers are what"
    " the naive ones say; a sound stream that is marked is accepted; marking changes a marker and nothing else."
)
INSTRUMENT: Final[tuple[str, ...]] = ("conformance.reference.boundaries",)
MAX_LEN: Final = 1280
DICTIONARY: Final = (b"BEGIN", b"COMMIT", b"ROLLBACK", b"ROLLBACK TO ", b"XA START", b"XA ROLLBACK", b"XA COMMIT")
mutate = mutate_file


def check(data: bytes) -> None:
    """Check a file."""
    raw = split_file(data)[1:-1]
    others = [*map(naive.Event.of, raw)]
    for relay in (False, True):
        whole, refused = attempt(_groups, data, 1 << 16, relay)
        narrow, bad = attempt(_groups, data, 32, relay)
        require((refused and refused.code) == (bad and bad.code), "the window changes no error", str(refused), str(bad))
        require(whole == narrow, "the window changes no group", whole, narrow)
        own, headless = attempt(_own_groups, data, relay)
        require(own is not None or headless, "a file's own footer is found or refused")
        if whole is not None:
            wanted = [*map(tuple, naive.groups(others, relay=relay))]
            require(whole == wanted, "both readers find the same groups", whole, wanted)
        place = 4
        for _, start, end, count in whole or ():
            require(start == place < end <= len(data), "groups tile the file", start, place)
            require(1 <= count <= (end - start) // HEADER_SIZE, "a group has as many events as it has room for", count)
            place = end
    found = find_event(data[4:], 4)
    require(found is None or 0 <= found <= len(data) - 4 - HEADER_SIZE, "an event is found inside", found)
    _streams([*map(observe, raw)], raw, others)


def _own_groups(data: bytes, relay: bool) -> list[Group]:
    return [*read_groups(BytesIO(data), relay=relay)]


def _groups(data: bytes, window: int, relay: bool) -> list[tuple[str, int, int, int]]:
    groups = read_groups(BytesIO(data), footer=FOOTER_SIZE, relay=relay, window=window)
    return [(group.kind.value, group.start, group.end, group.events) for group in groups]


def _streams(events: list[ObservedEvent], raw: list[bytes], others: list[naive.Event]) -> None:
    receiver, applier = ShippedParser(), ShippedParser(receiver=False)
    guessed = Receiver()
    for parser, is_receiver in ((receiver, True), (applier, False)):
        found = [(_number(parser.feed(event)), parser.state.name) for event in events]
        wanted = [(number, state) for state, number in naive.shipped(others, receiver=is_receiver)]
        require(found == wanted, "both shipped parsers say the same", found, wanted)
    verdicts = [(judged.type, judged.broken is not None) for judged in map(guessed.feed, events)]
    require(verdicts == naive.received(others), "both receivers say the same", verdicts)
    for data, event, other in zip(raw, events, others, strict=True):
        require(event == other[:5], "both readers find the same text", data)
        for kind in (BoundaryType.SELF_CONTAINED, BoundaryType.NOT_DEFINED):
            marked, _ = attempt(mark, data, kind)
            if marked is not None:
                flags = int.from_bytes(marked[17:19], "little")
                require(marker_of(flags) == kind and len(marked) == len(data), "a marker is what was set", kind)
    if events:
        markers = mark_group(events)
        require(markers == naive.marked_group(others), "both sources mark a group the same way", markers)
    for relay in (False, True):
        types = list(mark_stream(events, relay=relay))
        require(len(types) == len(events), "every event gets a type", types)
        worklog = BoundaryParser()
        if _sound(events):
            for kind in types:
                require(worklog.feed(kind) is None, "a sound stream that is marked is accepted", types, events)


def _number(complaint: Complaint | None) -> int | None:
    """The number of its message, as the naive parser gives it."""
    return None if complaint is None else 0 if complaint.message is None else complaint.message.code


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
            fits = state is ParserState.NONE
        elif kind is EventClass.STATEMENT and event.type != EventType.QUERY:
            fits = state is ParserState.DML
        elif kind is EventClass.INCIDENT:
            fits = state in (ParserState.NONE, ParserState.GTID)
        else:
            fits = state is not ParserState.NONE
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
