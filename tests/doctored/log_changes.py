"""Changes of the log: one answer to a dump, with other events in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.event_types import EventType
from tests.doctored.shapes import LEAST, events_of, sealed, with_events

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from conformance.servers.recording.files import Entry
    from tests.doctored.shapes import Event

_ARTIFICIAL: Final = 0x20
_ROWS: Final = frozenset((22, 23, 24, 25, 30, 31, 32, EventType.PARTIAL_UPDATE_ROWS))
_WITH_TABLE: Final = _ROWS | {EventType.TABLE_MAP}
_GTIDS: Final = frozenset((EventType.GTID, EventType.ANONYMOUS_GTID, 42))


def _real(event: Event) -> bool:
    """Whether the event stands in a file."""
    return not event[17] & _ARTIFICIAL and event[4] not in (27, 41) and any(event[13:17])


def _one(change: Callable[[Random, Event], Event | None], *types: int) -> Callable[[Random, Entry], Entry | None]:
    """A change of one event of some types; of any without them."""

    def apply(random: Random, entry: Entry) -> Entry | None:
        events = events_of(entry) or []
        places = [place for place, event in enumerate(events) if _real(event) and (not types or event[4] in types)]
        if not places:
            return None
        place = random.choice(places)
        changed = change(random, events[place])
        return None if changed is None else with_events(entry, [*events[:place], changed, *events[place + 1 :]])

    return apply


def _several(change: Callable[[Random, list[Event], int], list[Event]]) -> Callable[[Random, Entry], Entry | None]:
    """A change of the list of events at one place."""

    def apply(random: Random, entry: Entry) -> Entry | None:
        events = events_of(entry) or []
        places = [place for place, event in enumerate(events) if _real(event)]
        changed = change(random, list(events), random.choice(places)) if places else events
        return with_events(entry, changed) if changed != events else None

    return apply


def _flip(random: Random, event: Event, first: int, end: int) -> Event:
    place = random.randrange(first, end)
    return event[:place] + bytes((event[place] ^ 1 << random.randrange(8),)) + event[place + 1 :]


def _bit(random: Random, event: Event) -> Event:
    return _flip(random, event, 0, len(event))


def _sealed_bit(random: Random, event: Event) -> Event | None:
    end = len(sealed(event, event)) - 4
    return sealed(_flip(random, event, LEAST, end), event) if end > LEAST else None


def _cut(random: Random, event: Event) -> Event:
    return event[: random.randrange(len(event))]


def _length(random: Random, event: Event) -> Event:
    wrong = random.choice((0, 1, LEAST, len(event) - 1, len(event) + 1, 0xFFFFFFFF, random.randrange(1 << 32)))
    return event[:9] + wrong.to_bytes(4, "little") + event[13:]


def _type(random: Random, event: Event) -> Event:
    wrong = random.choice([kind for kind in (*range(44), 164, 200, 255) if kind != event[4]])
    return sealed(event[:4] + bytes((wrong,)) + event[5:], event)


def _rows_type(random: Random, event: Event) -> Event:
    wrong = random.choice(sorted(_ROWS - {event[4]}))
    return sealed(event[:4] + bytes((wrong,)) + event[5:], event)


def _timestamp(random: Random, event: Event) -> Event:
    wrong = (int.from_bytes(event[:4], "little") + random.choice((-86400, -1, 1, 86400))) % (1 << 32)
    return sealed(wrong.to_bytes(4, "little") + event[4:], event)


def _server_id(random: Random, event: Event) -> Event:
    wrong = int.from_bytes(event[5:9], "little") ^ 1 << random.randrange(31)
    return sealed(event[:5] + wrong.to_bytes(4, "little") + event[9:], event)


def _position(random: Random, event: Event) -> Event:
    wrong = (int.from_bytes(event[13:17], "little") + random.choice((-1, 1))) % (1 << 32)
    return sealed(event[:13] + wrong.to_bytes(4, "little") + event[17:], event)


def _flags(random: Random, event: Event) -> Event:
    return sealed(event[:17] + bytes((event[17] ^ 1 << random.randrange(8),)) + event[18:], event)


def _table_id(random: Random, event: Event) -> Event:
    wrong = int.from_bytes(event[19:25], "little") ^ 1 << random.randrange(20)
    return sealed(event[:19] + wrong.to_bytes(6, "little") + event[25:], event)


def _commit_clock(random: Random, event: Event) -> Event | None:
    """The commit's timestamp, one millisecond off: 7 bytes behind flags, GTID and the two logical timestamps."""
    if event[4] == 42 or len(event) < 68:
        return None
    at = LEAST + 42
    clock = int.from_bytes(event[at : at + 7], "little") & ((1 << 55) - 1)
    high = int.from_bytes(event[at : at + 7], "little") & 1 << 55
    wrong = clock + random.choice((-1000, 1000)) | high
    return sealed(event[:at] + wrong.to_bytes(7, "little") + event[at + 7 :], event)


def _logical_clock(random: Random, event: Event) -> Event | None:
    if event[4] == 42:
        return None
    at = LEAST + random.choice((26, 34))
    wrong = int.from_bytes(event[at : at + 8], "little") + random.choice((-1, 1))
    return sealed(event[:at] + (wrong % (1 << 64)).to_bytes(8, "little") + event[at + 8 :], event)


def _removed(random: Random, events: list[Event], place: int) -> list[Event]:
    del events[place]
    return events


def _twice(random: Random, events: list[Event], place: int) -> list[Event]:
    return [*events[: place + 1], *events[place:]]


def _swapped(random: Random, events: list[Event], place: int) -> list[Event]:
    if place + 1 < len(events):
        events[place : place + 2] = events[place + 1], events[place]
    return events


def _ends_early(random: Random, events: list[Event], place: int) -> list[Event]:
    return events[:place]


def _foreign(random: Random, events: list[Event], place: int) -> list[Event]:
    """An event that belongs there in no log: of random bytes under a sound header."""
    body = random.randbytes(random.randrange(40))
    head = events[place][:4] + bytes((random.choice((2, 4, 15, 19, 33, 39, 40)),)) + events[place][5:9]
    made = head + (LEAST + len(body) + 4).to_bytes(4, "little") + events[place][13:LEAST] + body + bytes(4)
    return [*events[:place], sealed(made, events[place]), *events[place:]]


def _all_table_ids(random: Random, events: list[Event], place: int) -> list[Event]:
    """Each table's id is another one, in all events of the answer."""
    more = random.choice((1, 1000))
    return [
        sealed(event[:19] + (int.from_bytes(event[19:25], "little") + more).to_bytes(6, "little") + event[25:], event)
        if event[4] in _WITH_TABLE and _real(event) and event[19:25] != b"\xff\xff\xff\0\0\0"
        else event
        for event in events
    ]


LOG: Final[dict[str, Callable[[Random, Entry], Entry | None]]] = {
    "log: a bit, checksum left": _one(_bit),
    "log: a bit, checksum made": _one(_sealed_bit),
    "log: a bit of rows, checksum made": _one(_sealed_bit, *_ROWS),
    "log: an event cut": _one(_cut),
    "log: a wrong length": _one(_length),
    "log: a wrong type": _one(_type),
    "log: another type of rows": _one(_rows_type, *_ROWS),
    "log: timestamp": _one(_timestamp),
    "log: server id": _one(_server_id),
    "log: position": _one(_position),
    "log: header flags": _one(_flags),
    "log: table id of one event": _one(_table_id, *_WITH_TABLE),
    "log: table ids of all events": _several(_all_table_ids),
    "log: commit clock 1 ms": _one(_commit_clock, *_GTIDS),
    "log: logical clock": _one(_logical_clock, *_GTIDS),
    "log: event removed": _several(_removed),
    "log: event twice": _several(_twice),
    "log: events swapped": _several(_swapped),
    "log: ends early": _several(_ends_early),
    "log: foreign event": _several(_foreign),
}
"""The kinds; each gives another entry, or ``None`` where it does not apply."""
