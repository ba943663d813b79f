"""Index pages of ROW_FORMAT=COMPRESSED: a zlib stream, a modification log, and a trailer (innodb-sdi B.7).

The stream begins with the lengths of the index's fields. So a page is decompressed without its dictionary.
"""

from __future__ import annotations

import zlib
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.innodb.pages import FIL_NULL, Page
from conformance.reference.innodb.records import DELETED, RECORDS, REFERENCE_SIZE, SMALLEST, Status, level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.errors import DecodeError

_FIRST_EXTRA: Final = 120  # behind the supremum
_HEADER: Final = 5
_SYSTEM: Final = 13  # DB_TRX_ID and DB_ROLL_PTR
_CHILD: Final = 4
_INFIMUM, _SUPREMUM = 99, 112
_FLUSHED: Final = b"\x00\x00\xff\xff"  # ends the part of the stream with the lengths of the fields


class _Column(NamedTuple):
    """A field, or a run of fixed fields; ``size`` is None for variable lengths."""

    size: int | None
    nullable: bool
    long: bool


class _Slot(NamedTuple):
    """An entry of the dense directory. ``used``: the record is not on the free list."""

    origin: int
    used: bool
    owned: bool
    deleted: bool


class _Shape(NamedTuple):
    """A record: where its extra bytes begin, its size, and the stretches that the trailer has instead of the stream."""

    extra: int
    end: int
    apart: tuple[tuple[int, int], ...]


def uncompressed(page: Page, size: int) -> Page:
    """The index page as it is in memory, ``size`` bytes long."""
    return _Zipped(page, size).rebuilt()


class _Zipped:
    """A compressed page on its way back; ``out`` is the page in memory."""

    def __init__(self, page: Page, size: int) -> None:
        self.page, self.size = page, size
        self.leaf = level(page) == 0
        heap = page.u2(42, "n_heap")
        if not heap & 0x8000:
            raise self._bad("a compressed page has records of the compact kind", 42, "n_heap")
        count = (heap & 0x7FFF) - 2
        users = page.u2(54, "n_recs")
        self.directory = len(page.data) - 2 * count
        if not 0 <= users <= count or self.directory < RECORDS:
            raise self._bad("the page cannot have so many records", 42, "n_heap")
        raws = [page.u2(len(page.data) - 2 * number, "dense_directory") for number in range(1, count + 1)]
        self.slots = [
            _Slot(raw & 0x3FFF, number < users, bool(raw & 0x4000), bool(raw & 0x8000))
            for number, raw in enumerate(raws)
        ]
        self.by_address = sorted(self.slots)
        places = [_FIRST_EXTRA, *(slot.origin for slot in self.by_address)]
        if any(after - before < _HEADER for before, after in pairwise(places)):
            raise self._bad("records overlap", self.directory, "dense_directory")
        self.out = bytearray(page.data[:RECORDS].ljust(size, b"\0"))
        self.out[RECORDS:_FIRST_EXTRA] = b"\x01\x00\x02\x00\x00infimum\x00\x01\x00\x0b\x00\x00supremum"
        self.columns, self.system, self.node_nullable, self.stream = self._inflated()

    def rebuilt(self) -> Page:
        self._fill()
        self._apply_log()
        self._restore_trailer()
        self._link()
        return Page(self.page.number, bytes(self.out))

    def _bad(self, message: str, offset: int, field: str) -> DecodeError:
        return self.page.error("bad-compressed-page", message, offset, field)

    def _inflated(self) -> tuple[list[_Column], int, int, bytes]:
        """Fields, position of DB_TRX_ID, NULL bits of a node pointer, and the bytes of the page."""
        raw = self.page.data[RECORDS : self.directory]
        inflate = zlib.decompressobj()
        cut = raw.find(_FLUSHED) + len(_FLUSHED)
        try:
            fields = inflate.decompress(raw[:cut], self.size)
            plain = inflate.decompress(raw[cut:], self.size)
        except zlib.error:
            raise self._bad("the stream cannot be read", RECORDS, "zlib") from None
        if not inflate.eof:
            raise self._bad("the stream does not end", RECORDS, "zlib")
        self.log = self.directory - len(inflate.unused_data)
        numbers: list[tuple[int, bool]] = []
        at = 0
        while at < len(fields):
            wide = fields[at] >= 0x80
            numbers.append((int.from_bytes(fields[at : at + 1 + wide], "big") & (0x7FFF if wide else 0x7F), wide))
            at += 1 + wide
        if at != len(fields) or len(numbers) < 2:
            raise self._bad("the lengths of the fields cannot be read", RECORDS, "fields")
        columns = []
        for value, wide in numbers[:-1]:
            long = not wide and value >= 126
            columns.append(_Column(None if long or value <= 1 else value >> 1, not value & 1, long))
        last = numbers[-1][0]
        if self.leaf and last and (last >= len(columns) or (columns[last].size or 0) < _SYSTEM):
            raise self._bad("DB_TRX_ID is not among the fields", RECORDS, "fields")
        nullable = sum(column.nullable for column in columns) if self.leaf else last
        return columns, last if self.leaf else 0, nullable, plain

    def _shape(self, origin: int, extra: list[int] | None = None) -> _Shape:
        """The shape of a record by its NULL bits and lengths: those in the page, or ``extra``, nearest first."""
        bitmap = (self.node_nullable + 7) // 8
        at, bit, place = bitmap, 0, origin
        apart: list[tuple[int, int]] = []

        def byte(number: int) -> int:
            if extra is not None:
                if number >= len(extra):
                    raise self._bad("the modification log ends inside a record", self.log, "modification_log")
                return extra[number]
            return self.out[origin - _HEADER - 1 - number]

        for number, column in enumerate(self.columns):
            if column.nullable:
                null = byte(bit // 8) >> bit % 8 & 1
                bit += 1
                if null:
                    continue
            size, outside = column.size, False
            if size is None:
                size = byte(at)
                at += 1
                if column.long and size & 0x80:
                    outside = bool(size & 0x40)
                    size = (size & 0x3F) << 8 | byte(at)
                    at += 1
            if number == self.system and self.system:
                apart.append((place, place + _SYSTEM))
            place += size
            if outside:
                apart.append((place - REFERENCE_SIZE, place))
        if not self.leaf:
            apart.append((place, place + _CHILD))
            place += _CHILD
        if place > self.size or any(start < origin for start, _ in apart):
            raise self._bad("a record is longer than the page", origin, "record")
        return _Shape(origin - _HEADER - at, place, tuple(apart))

    def _fill(self) -> None:
        """Put the stream where it belongs: between headers, system columns, references and child pages."""
        taken, at = 0, _FIRST_EXTRA

        def take(end: int) -> None:
            nonlocal taken, at
            piece = self.stream[taken : taken + max(0, end - at)]
            self.out[at : at + len(piece)] = piece
            taken += len(piece)
            at = end

        for slot in self.by_address:
            take(slot.origin - _HEADER)
            if taken == len(self.stream):
                return  # later records are in the modification log
            at = slot.origin
            if not self.leaf or self.system:
                shape = self._shape(slot.origin)
                for start, end in shape.apart:
                    take(start)
                    at = end
                take(shape.end)
        take(min(self.page.u2(40, "heap_top"), self.size))

    def _apply_log(self) -> None:
        data, at = self.page.data, self.log
        end = self.directory - (_SYSTEM if self.system else 0 if self.leaf else _CHILD) * len(self.slots)

        def number() -> int:
            nonlocal at
            value = data[at] if at < end else 0
            at += 1
            if value & 0x80 and at < end:
                value = (value & 0x7F) << 8 | data[at]
                at += 1
            return value

        while entry := number():
            rank = (entry >> 1) - 1
            if not 0 <= rank < len(self.by_address):
                raise self._bad("the modification log names a record that is not there", at, "modification_log")
            origin = self.by_address[rank].origin
            if entry & 1:
                stop = self._shape(origin).end
                self.out[origin:stop] = bytes(stop - origin)
                continue
            shape = self._shape(origin, list(data[at : min(end, at + 2 * len(self.columns) + 256)]))
            extra = origin - _HEADER - shape.extra
            if shape.extra < _FIRST_EXTRA:
                raise self._bad("a record of the modification log does not fit", at, "modification_log")
            self.out[shape.extra : origin - _HEADER] = data[at : at + extra][::-1]
            at += extra
            place = origin
            for start, stop in (*shape.apart, (shape.end, shape.end)):
                if at + start - place > end:
                    raise self._bad("the modification log ends inside a record", at, "modification_log")
                self.out[place:start] = data[at : at + start - place]
                at += start - place
                place = stop

    def _restore_trailer(self) -> None:
        """System columns or child pages, then references; all go down from the directory in address order."""
        if self.leaf and not self.system:
            return
        width = _SYSTEM if self.leaf else _CHILD
        references = self.directory - width * len(self.slots)
        if references < self.log:
            raise self._bad("the trailer of the page overlaps its stream", references, "trailer")
        for rank, slot in enumerate(self.by_address, 1):
            for start, end in self._shape(slot.origin).apart:
                at = self.directory - width * rank
                if end - start == REFERENCE_SIZE:
                    if not slot.used:
                        continue
                    references -= REFERENCE_SIZE
                    at = references
                if at < self.log:
                    raise self._bad("the trailer of the page overlaps its stream", at, "trailer")
                self.out[start:end] = self.page.data[at : at + end - start]

    def _link(self) -> None:
        """Headers of the records: info bits, owned records, heap number, status and next record."""
        ranks = {slot.origin: rank for rank, slot in enumerate(self.by_address, 2)}
        status = Status.ORDINARY if self.leaf else Status.NODE_POINTER
        before, owned, slots = _INFIMUM, 1, [_INFIMUM]  # the infimum owns itself
        for slot in self._in_order():
            origin = slot.origin
            info = DELETED if slot.deleted else 0
            if before == _INFIMUM and not self.leaf and self.page.prev == FIL_NULL:
                info |= SMALLEST
            self.out[origin - 5] = info | (owned & 15 if slot.owned else 0)
            owned = 1 if slot.owned else owned + 1
            slots += [origin] if slot.owned else []
            self.out[origin - 4 : origin - 2] = (ranks[origin] << 3 | status).to_bytes(2, "big")
            self._next(before, origin)
            before = origin
        self._next(before, _SUPREMUM)
        self.out[_INFIMUM - 5] = 1
        self.out[_SUPREMUM - 5] = owned & 15
        slots.append(_SUPREMUM)
        if len(slots) != self.page.u2(38, "n_dir_slots"):
            raise self._bad("the page has another number of owned records", 38, "n_dir_slots")
        for number, origin in enumerate(slots, 1):
            at = self.size - 8 - 2 * number
            self.out[at : at + 2] = origin.to_bytes(2, "big")

    def _in_order(self) -> Iterator[_Slot]:
        return (slot for slot in self.slots if slot.used)

    def _next(self, before: int, after: int) -> None:
        self.out[before - 2 : before] = ((after - before) % (1 << 16)).to_bytes(2, "big")
