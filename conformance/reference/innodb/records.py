"""Records of an index page: COMPACT and DYNAMIC, REDUNDANT, row versions, off-page references
(innodb-lob 1.1, innodb-lob 1.2, innodb-lob 2).

A page is walked from its infimum to its supremum with :func:`origins`. :func:`read_record` reads one record with the
:class:`IndexFormat` of its index. Callers with a format of their own, such as the SDI reader, need no dictionary.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.pages import Page

REFERENCE_SIZE: Final = 20
RECORDS: Final = 94  # the infimum's header begins here
SMALLEST: Final = 0x10  # info bit: the first record of its level
DELETED: Final = 0x20
VERSIONED: Final = 0x40  # a row version byte follows
INSTANT: Final = 0x80  # a number of fields follows (8.0.12 to 8.0.28)

_COMPACT_HEADER: Final = 5
_REDUNDANT_HEADER: Final = 6
_LAST_SLOT: Final = 10  # the first slot of the directory begins so many bytes before the end of the page


class Status(IntEnum):
    """The kinds of records on a compact page."""

    ORDINARY = 0
    NODE_POINTER = 1
    INFIMUM = 2
    SUPREMUM = 3


class Reference(NamedTuple):
    """The 20 bytes that stand for an off-page value. ``version`` is an offset if the first page is of an old format."""

    space: int
    page: int
    version: int
    flags: int
    length: int

    @property
    def owned(self) -> bool:
        """Whether this record owns the value."""
        return not self.flags & 0x80

    @property
    def inherited(self) -> bool:
        return bool(self.flags & 0x40)

    @property
    def being_modified(self) -> bool:
        return bool(self.flags & 0x20)

    @classmethod
    def of(cls, raw: bytes) -> Reference:
        """Read the 20 bytes."""
        number = int.from_bytes
        return cls(number(raw[:4], "big"), number(raw[4:8], "big"), number(raw[8:12], "big"), raw[12],
                   number(raw[16:], "big"))  # fmt: skip


class OffPage(NamedTuple):
    """A value outside its record: the bytes that are in the record, and where the others are.

    The reference itself is on ``page``, at offset ``at``.
    """

    prefix: bytes
    reference: Reference
    page: int
    at: int


Value = bytes | OffPage | None


class Field(NamedTuple):
    """A field of an index: ``size`` is None for variable lengths, ``long`` if lengths above 255 are possible.

    ``added`` and ``dropped`` are row versions of INSTANT DDL. ``default`` is the value of records before ``added``.
    """

    name: str
    size: int | None
    nullable: bool = False
    long: bool = False
    added: int = 0
    dropped: int | None = None
    default: bytes | None = None

    def in_version(self, version: int) -> bool:
        """Whether records of this row version store the field."""
        return self.added <= version and (self.dropped is None or version < self.dropped)


class IndexFormat(NamedTuple):
    """The fields of an index in physical order; ``keys`` of them are in node pointers.

    ``instant_fields``: how many fields existed before the first INSTANT ADD of 8.0.12 to 8.0.28.
    """

    fields: tuple[Field, ...]
    keys: int
    redundant: bool = False
    instant_fields: int | None = None

    @property
    def node_nullable(self) -> int:
        """The number of NULL bits of a node pointer: those of the columns from before the first INSTANT DDL."""
        return sum(field.nullable for field in self.fields[: self.instant_fields] if field.in_version(0))


class Record(NamedTuple):
    """One record. ``values`` and ``starts`` follow the fields of the format; a start is -1 where nothing is stored.

    ``child``: the page that a node pointer leads to.
    """

    page: int
    origin: int
    info: int
    heap_number: int
    version: int
    values: tuple[Value, ...]
    starts: tuple[int, ...]
    child: int | None = None

    @property
    def deleted(self) -> bool:
        return bool(self.info & DELETED)


def is_compact(page: Page) -> bool:
    """Whether the records of an index page have the compact header."""
    return page.u2(42, "n_heap") >= 0x8000


def ends(page: Page) -> tuple[int, int]:
    """Origins of infimum and supremum."""
    return (99, 112) if is_compact(page) else (101, 116)


def level(page: Page) -> int:
    """The height of the page above the leaves."""
    return page.u2(64, "level")


def index_id(page: Page) -> int:
    """The index that the page belongs to."""
    return page.u8(66, "index_id")


def origins(page: Page) -> Iterator[int]:
    """Origins of the user records in key order. Raises for a chain that leaves the page or comes back."""
    compact, (at, end) = is_compact(page), ends(page)
    counted = page.u2(54, "n_recs")
    found = {at}
    while True:
        delta = page.u2(at - 2, "next_record")
        after = (at + delta) % len(page.data) if compact else delta
        if after == end:
            break
        if not RECORDS < after < len(page.data) or after in found:
            problem = "the chain of records comes back" if after in found else "the next record is outside the page"
            raise page.error("bad-record-chain", problem, at - 2, "next_record", f"{end} at last", after)
        found.add(after)
        yield after
        at = after
    if len(found) - 1 != counted:
        raise page.error("bad-record-count", "the page has another number of records", 54, "n_recs", counted,
                         len(found) - 1)  # fmt: skip


def check_directory(page: Page) -> None:
    """Hold the records of a page against what its header and its directory say of them (innodb-sdi B.5).

    The slots divide the chain of records, heap numbers are all different, and the free list has the records that are
    not in the chain. Raises for the first contradiction. Pages of ROW_FORMAT=COMPRESSED have none of this.
    """
    compact, (first, last) = is_compact(page), ends(page)
    header = _COMPACT_HEADER if compact else _REDUNDANT_HEADER
    number_at = 4 if compact else 5
    chain = [first, *origins(page), last]
    count, slot_at, owned, heap = page.u2(38, "n_dir_slots"), len(page.data) - _LAST_SLOT, 0, set[int]()
    for text, at in ((b"infimum", first), (b"supremum", last)):
        if page.data[at : at + len(text)] != text:
            raise page.error("bad-record-chain", "the record at the end of the chain is damaged", at, text.decode())
    for origin in chain:
        owned += 1
        heap.add(page.u2(origin - number_at, "heap_number") >> 3)
        own = page.u1(origin - header, "n_owned") & 15
        if own or origin == last:
            slot = page.u2(slot_at, "directory") if count else 0
            if own != owned or slot != origin:
                raise page.error("bad-directory", "the slot of the directory does not own these records", slot_at,
                                 "directory", f"{origin} of {owned}", f"{slot} of {own}")  # fmt: skip
            count, slot_at, owned = count - 1, slot_at - 2, 0
    free = free_list(page, compact=compact)
    size = page.u2(42, "n_heap") & 0x7FFF
    if count or len(chain) + len(free) != size or heap != set(range(size)) - _heap_numbers(page, free, number_at):
        raise page.error("bad-directory", "the page has other records, slots or heap numbers than it says", 38,
                         "n_dir_slots" if count else "n_heap", size, len(chain) + len(free))  # fmt: skip
    top = page.u2(40, "heap_top")
    if not max(chain) < top <= slot_at + 2 or page.u2(46, "garbage") > top:
        raise page.error("bad-heap-top", "the records do not end where the page says", 40, "heap_top",
                         f"> {max(chain)}, <= {slot_at + 2}", top)  # fmt: skip


def _heap_numbers(page: Page, found: list[int], number_at: int) -> set[int]:
    return {page.u2(origin - number_at, "heap_number") >> 3 for origin in found}


def free_list(page: Page, *, compact: bool) -> list[int]:
    """Origins of the records that are free to be used again: removed ones, and those that moved to another place."""
    at, left, found, here = 44, page.u2(42, "n_heap") & 0x7FFF, list[int](), page.u2(44, "free")
    while here:
        if not RECORDS < here < len(page.data) or len(found) >= left:
            raise page.error("bad-free-list", "the list of free records leaves the page or does not end", at, "free",
                             got=here)  # fmt: skip
        found.append(here)
        at = here - 2
        delta = page.u2(at, "next_record")
        here = (here + delta) % len(page.data) if compact and delta else delta
    return found


def read_record(page: Page, origin: int, index: IndexFormat) -> Record:
    """One record of an index page, leaf or node pointer."""
    return (_redundant if index.redundant else _compact)(page, origin, index)


def _compact(page: Page, origin: int, index: IndexFormat) -> Record:
    info = page.u1(origin - 5, "info_bits") & 0xF0
    heap = page.u2(origin - 4, "heap_number")
    status = heap & 7
    if status > Status.NODE_POINTER or (status == Status.NODE_POINTER) is not bool(level(page)):
        raise page.error("bad-record-status", "the record is of a kind that its page cannot have", origin - 4,
                         "record_status", got=status)  # fmt: skip
    at = origin - _COMPACT_HEADER - 1  # NULL bits and lengths go down from here
    version, stored = 0, index.instant_fields or len(index.fields)
    if status == Status.NODE_POINTER:
        fields: tuple[Field | None, ...] = index.fields[: index.keys]
        nullable = index.node_nullable
    else:
        if info & VERSIONED:
            version = page.u1(at, "row_version")
            at -= 1
        elif info & INSTANT:
            stored = page.u1(at, "field_count")
            at -= 1
            if stored & 0x80:
                stored = (stored & 0x7F) << 8 | page.u1(at, "field_count")
                at -= 1
        fields = tuple(
            field if number < stored and field.in_version(version) else None
            for number, field in enumerate(index.fields)
        )
        nullable = sum(field.nullable for field in fields if field is not None)
    bits, at = at, at - (nullable + 7) // 8
    place, bit = origin, 0
    values: list[Value] = []
    starts: list[int] = []
    for number, field in enumerate(fields):
        if field is None:
            values.append(index.fields[number].default)
            starts.append(-1)
            continue
        if field.nullable:
            null = page.u1(bits - bit // 8, "null_bits") >> bit % 8 & 1
            bit += 1
            if null:
                values.append(None)
                starts.append(-1)
                continue
        size, outside = field.size, False
        if size is None:
            size = page.u1(at, f"{field.name}_length")
            at -= 1
            if field.long and size & 0x80:
                outside = bool(size & 0x40)
                size = (size & 0x3F) << 8 | page.u1(at, f"{field.name}_length")
                at -= 1
        values.append(_value(page, place, size, field.name, outside=outside))
        starts.append(place)
        place += size
    child = page.u4(place, "child_page") if status == Status.NODE_POINTER else None
    return Record(page.number, origin, info, heap >> 3, version, tuple(values), tuple(starts), child)


def _redundant(page: Page, origin: int, index: IndexFormat) -> Record:
    info = page.u1(origin - 6, "info_bits") & 0xF0
    heap = page.u2(origin - 5, "heap_number") >> 3
    count = (page.u2(origin - 4, "field_count") & 0x7FE) >> 1
    width = 1 if page.u1(origin - 3, "offset_size") & 1 else 2
    at, version = origin - _REDUNDANT_HEADER, 0
    node = level(page) > 0
    if info & VERSIONED and not node:
        at -= 1
        version = page.u1(at, "row_version")
    fields = index.fields[: index.keys] if node else index.fields
    wanted = len(fields) + 1 if node else sum(field.in_version(version) for field in fields)
    if count > wanted or (count < wanted and index.instant_fields is None):
        raise page.error("bad-field-count", "the record does not have the fields of its index", origin - 4,
                         "field_count", wanted, count)  # fmt: skip
    values: list[Value] = []
    starts: list[int] = []
    number = end = 0

    def extent() -> tuple[int, int, bool, bool]:
        """Start, size, NULL, and off-page of the next field stored."""
        nonlocal number, end
        number += 1
        raw = (page.u1 if width == 1 else page.u2)(at - width * number, "field_end")
        start, end = end, raw & (0x7F if width == 1 else 0x3FFF)
        if end < start:
            raise page.error("bad-field-end", "the field ends before it begins", at - width * number, "field_end",
                             f">= {start}", end)  # fmt: skip
        return start, end - start, bool(raw >> 8 * width - 1), width == 2 and bool(raw & 0x4000)

    for field in fields:
        if number == count or (not node and not field.in_version(version)):
            values.append(field.default)
            starts.append(-1)
            continue
        start, size, null, outside = extent()
        values.append(None if null else _value(page, origin + start, size, field.name, outside=outside))
        starts.append(-1 if null else origin + start)
    child = None
    if node:
        start, _, _, _ = extent()
        child = page.u4(origin + start, "child_page")
    return Record(page.number, origin, info, heap, version, tuple(values), tuple(starts), child)


def _value(page: Page, at: int, size: int, name: str, *, outside: bool) -> Value:
    raw = page.take(at, size, name)
    if not outside:
        return raw
    if size < REFERENCE_SIZE:
        raise page.error("bad-reference", "an off-page value without its reference", at, name, REFERENCE_SIZE, size)
    split = size - REFERENCE_SIZE
    if raw[split + 12] & 0x1F or any(raw[split + 13 : split + 16]):
        raise page.error("bad-reference", "the reference has bits that no server sets", at + split + 12, name, 0,
                         raw[split + 12 : split + 16].hex())  # fmt: skip
    return OffPage(raw[:split], Reference.of(raw[split:]), page.number, at + split)
