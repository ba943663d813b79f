"""Streams that a source of bad will could send: events with changed bytes, wrong lengths, packets that are no events.

Checksums are right again in most of them, so that a reader meets what is behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from zlib import crc32

from generators import streams
from generators.draw import mix
from generators.malformed import apply_edits, edits

if TYPE_CHECKING:
    from collections.abc import Callable

    from generators.draw import Draw

_HEADER: Final = 19
_FOOTER: Final = 4
_LENGTHS: Final = (0, 1, 18, 19, 23, 0x7FFFFFFF, 0xFFFFFFFF)
_COUNTS: Final = mix((1, 6), (2, 3), (5, 1))


def stream(draw: Draw) -> list[bytes]:
    """The events of a small file, with damage in one or a few places."""
    bodies = [body for group in streams.stream(draw.fork("groups"), 1 + draw.below(4)) for body in group]
    if draw.below(3) == 2:
        bodies = streams.damaged(draw.fork("order"), bodies)[1]
    placement = streams.Placement()
    events = [item.data for item in (*placement.frame(), *map(placement.place, bodies))]
    for number in range(draw.choice(_COUNTS)):
        events = draw.choice(_DAMAGE)(draw.fork("damage", number), events)
    return events


def _sealed(event: bytes) -> bytes:
    """The event with the checksum of its bytes."""
    if len(event) < _HEADER + _FOOTER:
        return event
    body = event[:-_FOOTER]
    return body + crc32(body).to_bytes(_FOOTER, "little")


def _resized(event: bytes) -> bytes:
    """The event with its own length in the header, as far as it has one."""
    if len(event) < _HEADER:
        return event
    return event[:9] + len(event).to_bytes(4, "little") + event[13:]


def _one(draw: Draw, events: list[bytes], change: Callable[[bytes], bytes]) -> list[bytes]:
    if not events:
        return events
    place = draw.below(len(events))
    return [*events[:place], change(events[place]), *events[place + 1 :]]


def _body(draw: Draw, events: list[bytes]) -> list[bytes]:
    """Changed bytes behind the header."""

    def change(event: bytes) -> bytes:
        body = event[_HEADER:-_FOOTER]
        return _sealed(_resized(event[:_HEADER] + apply_edits(body, edits(draw, len(body))) + bytes(_FOOTER)))

    return _one(draw, events, change)


def _head(draw: Draw, events: list[bytes]) -> list[bytes]:
    """Changed bytes of a header: another type, another position, another length."""

    def change(event: bytes) -> bytes:
        return _sealed(apply_edits(event[:_HEADER], edits(draw, _HEADER)) + event[_HEADER:])

    return _one(draw, events, change)


def _length(draw: Draw, events: list[bytes]) -> list[bytes]:
    """A length in the header that is not the packet's."""
    wrong = draw.choice(_LENGTHS)
    return _one(draw, events, lambda event: _sealed(event[:9] + wrong.to_bytes(4, "little") + event[13:]))


def _torn(draw: Draw, events: list[bytes]) -> list[bytes]:
    """An event that ends too early, or before it begins."""
    return _one(draw, events, lambda event: event[: draw.below(len(event) + 1)])


def _foreign(draw: Draw, events: list[bytes]) -> list[bytes]:
    """A packet that is no event."""
    place = draw.below(len(events) + 1)
    noise = bytes(draw.below(256) for _ in range(draw.choice((1, 19, 40, 300))))
    return [*events[:place], noise, *events[place:]]


def _checksum(draw: Draw, events: list[bytes]) -> list[bytes]:
    """A checksum that is wrong."""
    return _one(draw, events, lambda event: event[:-1] + bytes((event[-1] ^ 1,)) if event else event)


def _again(draw: Draw, events: list[bytes]) -> list[bytes]:
    """Events from somewhere else in the stream, once more."""
    start = draw.below(len(events) + 1)
    return [*events[:start], *events[draw.below(len(events) + 1) :], *events[start:]]


_DAMAGE: Final = mix(
    (_body, 6), (_head, 2), (_length, 2), (_torn, 2), (_foreign, 1), (_checksum, 1), (_again, 1)
)  # fmt: skip
