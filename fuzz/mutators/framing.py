"""Damage that gets through the outer layers of an event: after a change of the body, its frame is made correct again.

A reader checks the length in the header, the checksum, and the lengths of bitmaps before everything else. Random bytes
break one of them in nearly every try, and the code after them never runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from zlib import crc32

from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, MAGIC
from conformance.reference.binlog.rows import ROWS_TYPES, decode_rows_event, encode_head
from conformance.reference.cursor import bitmap_size
from conformance.reference.errors import CodecError
from fuzz.mutators.draw import SeedDraw
from generators.malformed import apply_edits, edits

if TYPE_CHECKING:
    from generators.draw import Draw

_LENGTH: Final = slice(9, 13)


def reframed(event: bytes, *, footer: bool = True) -> bytes:
    """``event`` (header and body, without checksum) with its correct length and checksum."""
    whole = bytearray(event)
    whole[_LENGTH] = (len(whole) + (FOOTER_SIZE if footer else 0)).to_bytes(4, "little")
    return bytes(whole) + (crc32(whole).to_bytes(FOOTER_SIZE, "little") if footer else b"")


def edited(draw: Draw, data: bytes, max_size: int) -> bytes:
    """The data after some named edits, cut to ``max_size`` bytes."""
    return apply_edits(data, edits(draw, len(data)))[:max_size]


def mutate_event(data: bytes, max_size: int, seed: int) -> bytes:
    """An event with an edited body in a correct frame; sometimes with an edited header, or only another type."""
    draw = SeedDraw(seed)
    room = max_size - HEADER_SIZE - FOOTER_SIZE
    if room <= 0:
        return data[:max_size]
    head = data[:HEADER_SIZE].ljust(HEADER_SIZE, b"\0")
    body = data[HEADER_SIZE : max(HEADER_SIZE, len(data) - FOOTER_SIZE)]
    choice = draw.below(16)
    if choice == 15:
        head = edited(draw, head, HEADER_SIZE).ljust(HEADER_SIZE, b"\0")
    elif choice == 14:
        head = head[:4] + bytes((1 + draw.below(43),)) + head[5:]
    elif choice > 11 and head[4] in ROWS_TYPES:
        return reframed(head + mutate_columns(draw, head[4], body)[:room])
    return reframed(head + edited(draw, body, room))


def mutate_columns(draw: Draw, code: int, body: bytes) -> bytes:
    """A rows body whose event claims another number of columns: its bitmaps have the size that follows from that
    number.
    """
    try:
        head = decode_rows_event(code, body, {})
        count = max(0, head.column_count + draw.choice((0, 0, 1, -1, 7)))
        full = (1 << 8 * (bitmap_size(count))) - 1
        before, after = (
            None if bits is None else (bits ^ 1 << draw.below(max(1, count))) & full
            for bits in (head.before_columns, head.after_columns)
        )
        head.column_count, head.before_columns, head.after_columns = count, before, after
        return encode_head(head) + head.data
    except CodecError:
        return body


def split_file(data: bytes) -> list[bytes]:
    """The pieces of a file: the bytes before the events, each event, and the rest."""
    pieces, place = [data[: len(MAGIC)]], len(MAGIC)
    while place + HEADER_SIZE <= len(data):
        length = int.from_bytes(data[place:][_LENGTH], "little")
        if not HEADER_SIZE <= length <= len(data) - place:
            break
        pieces.append(data[place : place + length])
        place += length
    return [*pieces, data[place:]]


def mutate_file(data: bytes, max_size: int, seed: int) -> bytes:
    """A file with one event damaged in a correct frame, left out, doubled or moved."""
    draw = SeedDraw(seed)
    pieces = split_file(data)
    if len(pieces) < 3:
        return edited(draw, data, max_size)
    place = 1 + draw.below(len(pieces) - 2)
    match draw.below(10):
        case 0:
            del pieces[place]
        case 1:
            pieces.insert(place, pieces[place])
        case 2:
            other = 1 + draw.below(len(pieces) - 2)
            pieces[place], pieces[other] = pieces[other], pieces[place]
        case _:
            room = len(pieces[place]) + max_size - len(data)
            pieces[place] = mutate_event(pieces[place], max(room, HEADER_SIZE), draw.below(1 << 30))
    return b"".join(pieces)[:max_size]
