"""In-place updates: changing stored JSONB without changing its length (partial-update 3).

``size`` of a container never changes and nothing moves, except the entries that a removal shifts. A new value goes only
between its non-inlined neighbours in its direct parent. Offsets are positions in the document; ranges count from the
document's type byte, as the storage engine receives them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.jsonb.encode import INLINED_LARGE, INLINED_SMALL, inlined_entry

if TYPE_CHECKING:
    from conformance.reference.jsonb.view import View

Range = tuple[int, int]  # (offset, length)


def find_room(parent: View, index: int, need: int) -> int | None:
    """The position where ``need`` bytes for the element at ``index`` fit (partial-update 3.1); ``None`` if there is no
    room.
    """
    start_of_data = parent.values_end
    if parent.is_object and parent.count:
        position, length = parent.key_place(parent.count - 1)
        start_of_data = position + length
    if need > parent.end - start_of_data:
        return None
    old = parent.place(index)
    if old is not None and old[1] - old[0] >= need:
        return old[0]
    limit = parent.end
    later = parent.place(parent.first_placed(index + 1, parent.count))
    if later is not None:
        limit = later[0]
    if limit > parent.end:
        return None
    if old is not None and limit - old[0] >= need:
        return old[0]
    if need > limit - start_of_data:
        return None
    start = start_of_data
    earlier = parent.place(parent.first_placed(index - 1, -1, -1))
    if earlier is not None:
        start = earlier[1]
    return start if limit - start >= need else None


def replace_in_place(parent: View, index: int, kind: int, data: bytes, ranges: list[Range]) -> bool | None:
    """Write a value over an element of ``parent``, whose data must be the document's ``bytearray``
    (partial-update 3.2).

    Returns ``None`` when the value does not fit, else whether any byte changed. Adds the written ranges to ``ranges``:
    the whole value if one of its bytes differs, the whole value entry if it differs (partial-update 3.4).
    """
    document = parent.data
    assert isinstance(document, bytearray)
    entry = parent.entry(index)[0]
    entry_size = 5 if parent.is_large else 3
    changed = False
    if kind in (INLINED_LARGE if parent.is_large else INLINED_SMALL):
        field = inlined_entry(kind, data, large=parent.is_large)
    else:
        position = find_room(parent, index, len(data))
        if position is None:
            return None
        if document[position : position + len(data)] != data:
            document[position : position + len(data)] = data
            ranges.append((position, len(data)))
            changed = True
        field = (position - parent.start).to_bytes(entry_size - 1, "little")
    written = kind.to_bytes(1, "little") + field
    if document[entry : entry + entry_size] != written:
        document[entry : entry + entry_size] = written
        ranges.append((entry, entry_size))
        changed = True
    return changed


def remove_in_place(parent: View, index: int, ranges: list[Range]) -> None:
    """Remove an element (partial-update 3.3). Always possible; the freed bytes keep their old contents."""
    document = parent.data
    assert isinstance(document, bytearray)
    offset_size = 4 if parent.is_large else 2
    value_size = offset_size + 1
    target = parent.values + value_size * index
    if parent.is_object:
        key_size = offset_size + 2
        key_entry = parent.keys + key_size * index
        moved = target - key_entry - key_size
        document[key_entry : key_entry + moved] = document[key_entry + key_size : target]
        ranges.append((key_entry, moved))
        source = target + value_size
        target -= key_size
    else:
        source = target + value_size
    tail = parent.values_end - source
    document[target : target + tail] = document[source : source + tail]
    ranges.append((target, tail))
    document[parent.start : parent.start + offset_size] = (parent.count - 1).to_bytes(offset_size, "little")
    ranges.append((parent.start, offset_size))


def merge_ranges(ranges: list[Range]) -> tuple[Range, ...]:
    """Sort the ranges, and join those that overlap or touch. The empty range of a last cell's removal stays
    (partial-update 3.4).
    """
    merged: list[Range] = []
    for offset, length in sorted(ranges):
        if merged and offset <= merged[-1][0] + merged[-1][1]:
            first, size = merged[-1]
            merged[-1] = (first, max(size, offset + length - first))
        else:
            merged.append((offset, length))
    return tuple(merged)
