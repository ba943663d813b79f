"""Damage of data files behind right checksums: fields of pages, records and lists get values that lead elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fuzz.data_files import Change, Input, capture_of
from fuzz.mutators.draw import SeedDraw
from fuzz.mutators.framing import edited

if TYPE_CHECKING:
    from fuzz.data_files import Capture
    from generators.draw import Draw

_MOST: Final = 12  # changes of one input
_NUMBERS: Final = (0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0xFFFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def mutate_data_file(data: bytes, max_size: int, seed: int) -> bytes:
    """An input with a change more, less, or other; sometimes of another file."""
    draw = SeedDraw(seed)
    capture, read = capture_of(data), Input.decode(data)
    changes = list(read.changes)
    choice = draw.below(16)
    if choice == 0:
        return edited(draw, data, max_size)
    if choice == 1 and changes:
        del changes[draw.below(len(changes))]
    elif choice == 2 and changes:
        place = draw.below(len(changes))
        changes[place] = changes[place]._replace(page=draw.below(capture.pages))
    else:
        changes.append(new_change(draw, capture))
    read = read._replace(changes=tuple(changes[-_MOST:]), wrong=draw.below(32) == 0)
    return read.encode()[:max_size]


def new_change(draw: Draw, capture: Capture) -> Change:
    """One change of a page that is in use."""
    used = [number for number, kind in enumerate(capture.types) if kind]
    number = used[draw.below(len(used))]
    places = capture.places(number)
    at = places[draw.below(len(places))] if draw.below(8) else draw.below(capture.size)
    width = (2, 4, 1, 6)[draw.below(4)]
    raw = capture.page(number)
    match draw.below(8):
        case 0:  # what stands elsewhere in the page: an address, a record, an entry
            other = places[draw.below(len(places))]
            new = raw[other : other + (width, 20, 60)[draw.below(3)]]
        case 1 | 2:  # a number that is nearly the same
            value = int.from_bytes(raw[at : at + width], "big") + draw.choice((1, -1, 2, 60, -60, 256, -256))
            new = (value % (1 << 8 * width)).to_bytes(width, "big")
        case 3:  # a page of the file
            new = draw.below(capture.pages + 2).to_bytes(4, "big")
        case 4:  # a stream that is compressed again
            start = (94, 38, 46, at)[draw.below(4)]
            return Change(number, start, draw.bits(16).to_bytes(2, "big"), draw.below(400))
        case 5:
            new = bytes(draw.below(256) for _ in range(width))
        case _:
            new = (_NUMBERS[draw.below(len(_NUMBERS))] % (1 << 8 * width)).to_bytes(width, "big")
    return Change(number, at, new)
