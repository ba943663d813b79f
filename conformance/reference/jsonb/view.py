"""A lazy view of JSONB bytes: navigation decodes only the values on its way.

A :class:`View` is one value inside a document. Like the server's own reader, it checks only the values that it visits.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from conformance.reference.errors import DecodeError
from conformance.reference.jsonb.decode import (
    KINDS,
    bad_offset,
    container_header,
    decode,
    decode_scalar,
    no_type,
    scalar_end,
)
from conformance.reference.jsonb.encode import INLINED_LARGE, INLINED_SMALL
from conformance.reference.jsonb.values import (
    LARGE,
    LARGE_ARRAY,
    LARGE_OBJECT,
    LITERAL,
    SMALL_ARRAY,
    SMALL_OBJECT,
)

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

_small_key = Struct("<HH").unpack_from
_large_key = Struct("<IH").unpack_from
_small_value = Struct("<BH").unpack_from
_large_value = Struct("<BI").unpack_from

_ARRAYS = frozenset((SMALL_ARRAY, LARGE_ARRAY))
_OBJECTS = frozenset((SMALL_OBJECT, LARGE_OBJECT))

_NULL_DOCUMENT = b"\x04\x00"


class View:
    """The value of type ``kind`` whose data starts at ``start``; containers end where their size says.

    ``type_at`` is the position of the type byte: that of the value entry, or 0 for a root.
    ``values`` and ``values_end`` are the positions of the value entries, ``keys`` that of the key entries.
    """

    __slots__ = ("count", "data", "end", "keys", "kind", "start", "type_at", "values", "values_end")

    def __init__(self, data: bytes | bytearray, kind: int, start: int, end: int, type_at: int = 0) -> None:
        self.data = data
        self.type_at = type_at
        self.kind = kind
        self.start = start
        self.end = end
        self.count = self.values = self.values_end = self.keys = 0
        if kind <= LARGE_ARRAY:
            self.count, self.end, self.values, self.values_end = container_header(data, kind, start, end)
            self.keys = start + (8 if kind & 1 else 4)

    @property
    def is_array(self) -> bool:
        return self.kind in _ARRAYS

    @property
    def is_object(self) -> bool:
        return self.kind in _OBJECTS

    @property
    def is_large(self) -> bool:
        return self.kind in LARGE

    def key_place(self, index: int) -> tuple[int, int]:
        """(position, length) of a key's bytes."""
        if self.kind == LARGE_OBJECT:
            offset, length = _large_key(self.data, self.keys + 6 * index)
        else:
            offset, length = _small_key(self.data, self.keys + 4 * index)
        position = self.start + offset
        if position < self.values_end or position + length > self.end:
            raise DecodeError("bad-key-offset", "a JSON key lies outside its object", offset=self.keys, got=offset)
        return position, length

    def key_entry(self, index: int) -> tuple[int, int]:
        """[start, end) of a key entry."""
        size = (self.values - self.keys) // self.count
        return self.keys + size * index, self.keys + size * (index + 1)

    def key(self, index: int) -> bytes:
        """The bytes of a key."""
        position, length = self.key_place(index)
        return bytes(self.data[position : position + length])

    def find(self, key: bytes) -> int:
        """The index of a member, or -1. A binary search, so it may miss unsorted keys (jsonb 2)."""
        wanted = len(key)
        data, place = self.data, self.key_place
        low, high = 0, self.count
        while low < high:
            middle = (low + high) >> 1
            position, length = place(middle)
            if length == wanted:
                here = data[position : position + length]
                if here == key:
                    return middle
                smaller = here < key
            else:
                smaller = length < wanted
            if smaller:
                low = middle + 1
            else:
                high = middle
        return -1

    def entry(self, index: int) -> tuple[int, int, int]:
        """(position of the value entry, type, offset field or inlined value)."""
        if self.kind & 1:
            position = self.values + 5 * index
            kind, offset = _large_value(self.data, position)
        else:
            position = self.values + 3 * index
            kind, offset = _small_value(self.data, position)
        return position, kind, offset

    def entry_end(self, position: int) -> int:
        """The end of the value entry at ``position``."""
        return position + (5 if self.kind & 1 else 3)

    def element(self, index: int) -> View:
        """The value of an element; ``index`` must be in bounds."""
        position, kind, offset = self.entry(index)
        if kind in (INLINED_LARGE if self.kind & 1 else INLINED_SMALL):
            return View(self.data, kind, position + 1, self.end, position)
        return View(self.data, kind, self._target(position, offset), self.end, position)

    def _target(self, entry: int, offset: int) -> int:
        """The position of the value of an entry that does not hold the value itself."""
        start = self.start + offset
        own_end = self.entry_end(entry)
        if start < own_end or start > self.end:  # into a later entry: 9.7.4 follows that
            raise bad_offset(entry, offset, own_end - self.start, self.end - self.start)
        return start

    def place(self, index: int) -> tuple[int, int] | None:
        """[start, end) of an element's data; ``None`` when it is inlined, and for index -1."""
        if index < 0:
            return None
        position, kind, offset = self.entry(index)
        if kind in (INLINED_LARGE if self.kind & 1 else INLINED_SMALL):
            return None
        start = self._target(position, offset)
        if kind <= LARGE_ARRAY:
            return start, container_header(self.data, kind, start, self.end)[1]
        if kind not in KINDS:
            raise no_type(kind, position)
        return start, scalar_end(self.data, kind, start, self.end)

    def first_placed(self, start: int, stop: int, step: int = 1) -> int:
        """The first of the elements ``range(start, stop, step)`` whose value is not inlined, or -1."""
        inlined = INLINED_LARGE if self.kind & 1 else INLINED_SMALL
        size = 5 if self.kind & 1 else 3
        kinds = bytes(self.data[self.values : self.values_end : size])
        for index in range(start, stop, step):
            if kinds[index] not in inlined:
                return index
        return -1

    def scalar(self) -> tuple[JsonValue, int]:
        """The value of a scalar, and the position after it."""
        if self.kind not in KINDS:
            raise no_type(self.kind, self.type_at)
        return decode_scalar(self.data, self.kind, self.start, self.end)

    def value(self) -> JsonValue:
        """The decoded value."""
        if self.kind > LARGE_ARRAY:
            return self.scalar()[0]
        return decode(self.kind.to_bytes(1, "little") + bytes(self.data[self.start : self.end]))


def open_document(data: bytes | bytearray) -> View:
    """The root of a document; an empty document is JSON null."""
    if not data:
        return View(_NULL_DOCUMENT, LITERAL, 1, 2)
    return View(data, data[0], 1, len(data))
