"""JSONB read from the words of jsonb 1 to 3.

It reads as the server does, and stops at the limits of the reference's lenient reading. The limits are 100 containers
inside each other, and more elements, or more bytes in long strings, than the input has room for.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.jsonb.values import Opaque, UInt
from fuzz.naive.pieces import Refused

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

Piece = tuple[int, int]  # start and end

_SIZES: Final = {4: 1, 5: 2, 6: 2, 7: 4, 8: 4, 9: 8, 10: 8, 11: 8}
_LITERALS: Final[tuple[JsonValue, ...]] = (None, True, False)


class _Room:
    """The room that is left below the limits, for the whole document."""

    __slots__ = ("elements", "ordered", "pieces", "text")

    def __init__(self, size: int, pieces: list[Piece] | None, *, ordered: bool) -> None:
        self.elements = size // 3 + 1
        self.text = size
        self.pieces = pieces
        self.ordered = ordered


def read(data: bytes, pieces: list[Piece] | None = None, *, ordered: bool = False) -> JsonValue:
    """The value of a document. ``ordered``: keys must ascend, as every writer has them. Raises :class:`Refused`.

    ``pieces`` receives what was read. Without holes the pieces, sorted, tile the document.
    """
    if not data:
        return None
    room = _Room(len(data), pieces, ordered=ordered)
    if pieces is not None:
        pieces.append((0, 1))
    if data[0] > 3:
        return _scalar(data, data[0], 1, len(data), room)
    return _container(data, data[0], 1, len(data), 1, room)


def _spend(room: _Room, size: int) -> None:
    """Limit the bytes of all long strings and keys together to the size of the input."""
    if size > 160:
        room.text -= size
        if room.text < 0:
            raise Refused


def _scalar(data: bytes, kind: int, at: int, end: int, room: _Room) -> JsonValue:
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
        if room.pieces is not None:
            room.pieces.append((start, place + length))
        raw = data[place : place + length]
        return raw.decode("utf-8", "surrogateescape") if kind == 0x0C else Opaque(data[at - 1], raw)
    size = _SIZES.get(kind)
    if size is None or at + size > end:
        raise Refused
    if room.pieces is not None:
        room.pieces.append((at, at + size))
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


def _inlined(data: bytes, kind: int, at: int, end: int, room: _Room) -> JsonValue:
    """A value that stands in its entry, which is one of the container's pieces."""
    pieces, room.pieces = room.pieces, None
    value = _scalar(data, kind, at, end, room)
    room.pieces = pieces
    return value


def _container(data: bytes, kind: int, at: int, end: int, level: int, room: _Room) -> JsonValue:
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
    room.elements -= count
    if at + size > end or stop > at + size or room.elements < 0:
        raise Refused
    end = at + size
    if room.pieces is not None:
        room.pieces.append((at, stop))
    values = []
    for entry in range(entries, stop, 1 + wide):
        inner = data[entry]
        if inner in (4, 5, 6) or (inner in (7, 8) and wide == 4):
            values.append(_inlined(data, inner, entry + 1, end, room))
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
    last = (0, b"")
    for number in range(count):
        entry = keys + number * (wide + 2)
        place = at + int.from_bytes(data[entry : entry + wide], "little")
        length = int.from_bytes(data[entry + wide : entry + wide + 2], "little")
        if place < stop or place + length > end:
            raise Refused
        _spend(room, length)
        raw = data[place : place + length]
        if room.pieces is not None:
            room.pieces.append((place, place + length))
        if room.ordered and number and (len(raw), raw) <= last:
            raise Refused
        last = len(raw), raw
        key = raw.decode("utf-8", "surrogateescape")
        members.pop(key, None)
        members[key] = values[number]
    return members


def free_space(data: bytes) -> int:
    """The bytes of all holes (jsonb 9). Raises :class:`Refused`, also where pieces overlap."""
    if not data:
        return 0
    pieces: list[Piece] = []
    read(data, pieces, ordered=True)
    pieces = sorted(piece for piece in pieces if piece[0] < piece[1])
    if any(one[1] > other[0] for one, other in pairwise(pieces)):
        raise Refused
    return len(data) - sum(end - start for start, end in pieces)


def identical(a: JsonValue, b: JsonValue) -> bool:
    """Equal in type and value, doubles by their bytes, members in any order."""
    if type(a) is not type(b):
        return False
    other: Any = b
    if isinstance(a, float):
        return struct.pack("<d", a) == struct.pack("<d", other)
    if isinstance(a, dict):
        return a.keys() == other.keys() and all(identical(value, other[name]) for name, value in a.items())
    if isinstance(a, list):
        return len(a) == len(other) and all(map(identical, a, other))
    return a == b


def depth(value: JsonValue) -> int:
    """Containers inside each other."""
    if isinstance(value, (dict, list)):
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max(map(depth, inner), default=0)
    return 0


def holds_decimal(value: JsonValue) -> bool:
    """Whether there is a DECIMAL anywhere: a server writes one anew when it writes the document (jsonb 5.1)."""
    if isinstance(value, (dict, list)):
        return any(map(holds_decimal, value.values() if isinstance(value, dict) else value))
    return isinstance(value, Opaque) and value.field_type == 246
