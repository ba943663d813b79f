"""Lists inside LOB pages: file addresses, base nodes, and the index entries of a LOB with their older versions
(innodb-lob 2, 3, 4, 6, 10.2).

An index entry describes one piece of a LOB: which page begins it, how long it is, and who wrote it. The entries that it
replaced follow it in a list of their own, the newest first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.innodb.pages import FIL_NULL, FIL_TRAILER, PageType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.pages import Page, Tablespace

NO_FRAGMENT: Final = 0xFFFF
_ADDRESS: Final = Struct(">IH")
_INDEX_BODY: Final = 39  # where the entries of an index page begin, behind the format version


class Address(NamedTuple):
    """A place in the file: page, and offset in it. Null is page FIL_NULL."""

    page: int
    offset: int

    @property
    def is_null(self) -> bool:
        return self.page == FIL_NULL

    def __str__(self) -> str:
        return "null" if self.is_null else f"{self.page}:{self.offset}"


class IndexEntry(NamedTuple):
    """One piece of a LOB. ``stored`` is its length in the pages, ``length`` its length in the value.

    The two differ in compressed LOBs only, and so does ``fragment``. ``older``: the pieces that this one replaced.
    """

    at: Address
    version: int
    page: int
    length: int
    stored: int
    fragment: int
    creator: int
    modifier: int
    creator_undo: int
    modifier_undo: int
    older: tuple[IndexEntry, ...]

    def at_version(self, version: int) -> IndexEntry | None:
        """The piece that a reader of a LOB version gets (innodb-lob 7); None if it is gone."""
        return next((entry for entry in (self, *self.older) if entry.version <= version), None)


class IndexLayout(NamedTuple):
    """Where a format keeps its index: both lists, the entries in the first page, and the pages of further entries."""

    base: int
    free: int
    entries: int
    slots: int
    entry_size: int
    page_type: PageType
    next_page: int
    compressed: bool


def read_address(page: Page, at: int, name: str) -> Address:
    """The six bytes of a file address."""
    return Address._make(_ADDRESS.unpack(page.take(at, 6, name)))


def entry_pages(space: Tablespace, first: Page, at: int, kind: PageType) -> dict[int, Page]:
    """The chain of pages with further entries, which begins at an offset of a LOB's first page. Each is met once."""
    found: dict[int, Page] = {}
    number, source = first.u4(at, "next_page"), first
    while number not in {FIL_NULL, 0}:
        if number in found or number == first.number:
            raise source.error("page-circle", "the chain of pages comes back", at, "next", got=number)
        page = space.page(number)
        page.expect_type(kind)
        if page.u1(38, "format_version"):
            raise page.error("unknown-lob-format", "the format of the page is not known", 38, "format_version", 0,
                             page.u1(38, "format_version"))  # fmt: skip
        found[number] = page
        source, at = page, 12
        number = page.next
    return found


@dataclass
class LobIndex:
    """The index of one LOB. Each entry and each page may be met once, which bounds the work."""

    space: Tablespace
    first: Page
    layout: IndexLayout
    version: int
    pages: dict[int, Page] = field(default_factory=dict)
    _places: dict[int, tuple[Page, int, int]] = field(default_factory=dict)  # by page: first entry and their number
    _seen: set[tuple[int, int]] = field(default_factory=set)

    def read(self) -> tuple[IndexEntry, ...]:
        """The current entries in the order of the data."""
        layout, first = self.layout, self.first
        self.pages = entry_pages(self.space, first, layout.next_page, layout.page_type)
        for page in self.pages.values():
            room = len(page.data) - _INDEX_BODY - FIL_TRAILER
            self._places[page.number] = page, _INDEX_BODY, room // layout.entry_size
        self._places[first.number] = first, layout.entries, layout.slots
        entries = tuple(self._list(self.first, self.layout.base, "index_list"))
        self._check_free()
        return entries

    def _check_free(self) -> None:
        """Hold the free list against the entries in use: each entry is in one list (innodb-lob 4)."""
        base, source, at = self.layout.free, self.first, self.layout.free + 4
        used, count = len(self._seen), source.u4(base, "free_list_length")
        here: tuple[int, int] = read_address(source, at, "first")
        while here[0] != FIL_NULL:
            page = self._entry_page(here, source, at, "free_list")
            source, at = page, here[1] + 6
            here = _ADDRESS.unpack_from(page.data, at)  # inside the entry
        whole = sum(slots for _, _, slots in self._places.values())
        if len(self._seen) - used != count or len(self._seen) != whole:
            raise self.first.error("bad-lob-list", "the entries in use and the free ones are not all that there are",
                                   base, "free_list_length", whole - used, count)  # fmt: skip

    def _list(self, page: Page, base: int, name: str, *, depth: int = 0) -> Iterator[IndexEntry]:
        """The entries of a list, whose base node holds its length and both ends."""
        source, at = page, base + 4
        count, last = page.u4(base, f"{name}_length"), read_address(page, base + 10, f"{name}_last")
        here, before, found = read_address(page, at, f"{name}_first"), Address(FIL_NULL, 0), 0
        while not here.is_null:
            entry_page = self._entry_page(here, source, at, name)
            prev = read_address(entry_page, here.offset, "prev")
            if prev.page != before.page or (not prev.is_null and prev != before):
                raise entry_page.error("bad-lob-list", "the entry does not follow the one before it", here.offset,
                                       f"{name}_prev", before, prev)  # fmt: skip
            found += 1
            if found > count:
                break
            yield self._entry(entry_page, here, depth)
            source, at, before = entry_page, here.offset + 6, here
            here = read_address(entry_page, at, "next")
        if found != count or (found and before != last):
            raise page.error("bad-lob-list", "the list has another length or another end", base, f"{name}_length",
                             f"{count}, last {last}", f"{found}, last {before}")  # fmt: skip

    def _entry_page(self, here: tuple[int, int], source: Page, at: int, name: str) -> Page:
        """The page of an entry. Raises unless the address is that of an entry of this LOB, met for the first time."""
        page, start, slots = self._places.get(here[0], (None, 0, 0))
        number, rest = divmod(here[1] - start, self.layout.entry_size)
        if page is None or rest or not 0 <= number < slots:
            raise source.error("bad-lob-address", "the address is not that of an index entry of this LOB", at,
                               f"{name}_next", got=Address._make(here))  # fmt: skip
        if here in self._seen:
            raise source.error("lob-circle", "the list of index entries comes back", at, f"{name}_next",
                               got=Address._make(here))  # fmt: skip
        self._seen.add(here)
        return page

    def _entry(self, page: Page, at: Address, depth: int) -> IndexEntry:
        where = at.offset
        if self.layout.compressed:
            data, fragment = page.u4(where + 48, "data_page"), page.u2(where + 52, "fragment_id")
            length, stored = page.u4(where + 54, "data_length"), page.u4(where + 58, "compressed_length")
            version_at = where + 62
        else:
            data, fragment = page.u4(where + 48, "data_page"), NO_FRAGMENT
            length = stored = page.u2(where + 52, "data_length")
            version_at = where + 56
        version = page.u4(version_at, "version")
        if not 1 <= version <= self.version:
            raise page.error("bad-lob-version", "the entry has a version that the LOB never had", version_at,
                             "version", f"1..{self.version}", version)  # fmt: skip
        older: tuple[IndexEntry, ...] = ()
        if depth:
            if page.u4(where + 12, "older_length"):
                raise page.error("bad-lob-list", "an older version has older versions of its own", where + 12,
                                 "older_length", 0)  # fmt: skip
        else:
            older = tuple(self._list(page, where + 12, "older", depth=1))
        found = IndexEntry(
            at, version, data, length, stored, fragment, page.u6(where + 28, "creator"),
            page.u6(where + 34, "modifier"), page.u4(where + 40, "creator_undo"),
            page.u4(where + 44, "modifier_undo"), older,
        )  # fmt: skip
        if not self.layout.compressed and page.u2(where + 54, "unused"):
            raise page.error("bad-lob-list", "bytes that no server uses are not zero", where + 54, "unused", 0)
        # Nothing binds an older entry's modifier: purge may take the entry between two others and leave both.
        for newer, entry in pairwise((found, *older)):
            if entry.version > newer.version or entry.length != length:
                raise page.error("bad-lob-version", "an older version is newer, or of another length", where + 12,
                                 "older", f"version <= {newer.version}, length {length}",
                                 f"version {entry.version}, length {entry.length}")  # fmt: skip
        return found
