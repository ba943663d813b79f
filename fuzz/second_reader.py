"""A second reader of JSONB: small, slow, and written from the words of jsonb 1 to 3 alone.

It shares nothing with the reference but the Python types of values, so that only a mistake made twice goes unnoticed.
It reads as the server does, and stops at the limits of the reference's lenient reading. The limits are 100 containers
inside each other, and more elements, or more bytes in long strings, than the input has room for.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from conformance.reference.jsonb.values import Opaque, UInt

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue


class Refused(Exception):
    """The bytes are no document."""


_SIZES: Final = {4: 1, 5: 2, 6: 2, 7: 4, 8: 4, 9: 8, 10: 8, 11: 8}
_LITERALS: Final[tuple[JsonValue, ...]] = (None, True, False)


def read(data: bytes) -> JsonValue:
    """The value of a document; raises :class:`Refused`."""
    if not data:
        return None
    room = [len(data) // 3 + 1, len(data)]
    if data[0] > 3:
        return _scalar(data, data[0], 1, len(data), room)
    return _container(data, data[0], 1, len(data), 1, room)


def _spend(room: list[int], size: int) -> None:
    """Limit the bytes of all long strings and keys together to the size of the input."""
    if size > 160:
        room[1] -= size
        if room[1] < 0:
            raise Refused


def _scalar(data: bytes, kind: int, at: int, end: int, room: list[int]) -> JsonValue:
    if kind in (0x0C, 0x0F):
        start = at
        if kind == 0x0F:
            at += 1
        length = shift = 0
        place = at
        while True:
            if place >= end or shift > 28:
                raise Refused
            byte = data[place]
            place += 1
            length += (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        if length >= 1 << 32 or place + length > end:
            raise Refused
        _spend(room, place + length - start)
        raw = data[place : place + length]
        return raw.decode("utf-8", "surrogateescape") if kind == 0x0C else Opaque(data[at - 1], raw)
    size = _SIZES.get(kind)
    if size is None or at + size > end:
        raise Refused
    raw = data[at : at + size]
    if kind == 4:
        if raw[0] > 2:
            raise Refused
        return _LITERALS[raw[0]]
    if kind == 11:
        double: float = struct.unpack("<d", raw)[0]
        return double
    if kind in (6, 8, 10):
        return UInt(int.from_bytes(raw, "little"))
    return int.from_bytes(raw, "little", signed=True)


def _container(data: bytes, kind: int, at: int, end: int, level: int, room: list[int]) -> JsonValue:
    wide = 4 if kind in (1, 3) else 2
    entries = at + 2 * wide
    if level > 100 or entries > end:
        raise Refused
    count = int.from_bytes(data[at : at + wide], "little")
    size = int.from_bytes(data[at + wide : entries], "little")
    keys = entries
    if kind < 2:
        entries += count * (wide + 2)
    stop = entries + count * (1 + wide)
    room[0] -= count
    if at + size > end or stop > at + size or room[0] < 0:
        raise Refused
    end = at + size
    values = []
    for entry in range(entries, stop, 1 + wide):
        inner = data[entry]
        if inner in (4, 5, 6) or (inner in (7, 8) and wide == 4):
            values.append(_scalar(data, inner, entry + 1, end, room))
            continue
        place = at + int.from_bytes(data[entry + 1 : entry + 1 + wide], "little")
        if place < entry + 1 + wide or place > end:
            raise Refused
        if inner > 3:
            values.append(_scalar(data, inner, place, end, room))
        else:
            values.append(_container(data, inner, place, end, level + 1, room))
    if kind > 1:
        return values
    members: dict[str, JsonValue] = {}
    for number in range(count):
        entry = keys + number * (wide + 2)
        place = at + int.from_bytes(data[entry : entry + wide], "little")
        length = int.from_bytes(data[entry + wide : entry + wide + 2], "little")
        if place < stop or place + length > end:
            raise Refused
        _spend(room, length)
        key = data[place : place + length].decode("utf-8", "surrogateescape")
        members.pop(key, None)
        members[key] = values[number]
    return members
