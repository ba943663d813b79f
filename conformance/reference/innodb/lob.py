"""Off-page values: old chains of BLOB pages, LOBs with an index and versions, and their compressed forms
(innodb-lob 2 to 10).

:func:`open_value` reads the index of a value, which gives its versions and pages. :meth:`Lob.read` puts together the
bytes at one version. The type of the first page decides the format; the number in the reference never does.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.innodb.blob_chain import BLOB_TYPES, RATIO, ZBLOB_TYPES, chain_pages, read_blob
from conformance.reference.innodb.lob_index import NO_FRAGMENT, IndexEntry, IndexLayout, LobIndex, entry_pages
from conformance.reference.innodb.pages import FIL_NULL, FIL_TRAILER, PageType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.pages import Page, Tablespace
    from conformance.reference.innodb.records import OffPage, Reference

FIRST_DATA: Final = 696  # where the data begin in a first page
DATA: Final = 49  # where the data begin in a data page
CHUNK: Final = 131072  # the most that one stream of a compressed LOB holds
_LENGTH: Final = 16  # in a reference: the low half of the length (innodb-lob 2)
_DATA_LENGTH: Final = 39
_FIRST_LENGTH: Final = 54
_FRAGMENT_HEADER: Final = 8
_FIRST_ENTRIES: Final = {16384: (100, 200), 8192: (80, 100), 4096: (40, 40), 2048: (20, 20), 1024: (5, 5)}
_ZLOB_ENTRIES: Final = 136
_ZLOB_ENTRY, _FRAGMENT_ENTRY = 66, 24
_FRAGMENT_PAGES: Final = 68  # in the first page: where the pages with further fragment entries begin
_LOB_LAYOUT: Final = IndexLayout(64, 80, 96, 10, 60, PageType.LOB_INDEX, 12, compressed=False)


class LobFormat(StrEnum):
    """How an off-page value is stored; the names are those of the first page's type."""

    BLOB = "BLOB"
    ZBLOB = "ZBLOB"
    LOB = "LOB"
    ZLOB = "ZLOB"


class Place(NamedTuple):
    """Consecutive bytes of a value: ``length`` bytes at ``offset`` of a page."""

    page: Page
    offset: int
    length: int


def is_written(reference: Reference) -> bool:
    """Whether there is a value behind the reference: neither not yet written nor purged (innodb-lob 2)."""
    return reference.page not in {0, FIL_NULL} and reference.length > 0


def open_value(space: Tablespace, value: OffPage) -> Lob:
    """The off-page value of a record. An error of the reference names the page that has the record."""
    try:
        return open_lob(space, value.reference)
    except CodecError as error:
        if error.path[:1] == ("reference",):
            error.at(f"page[{value.page}]", value.at)
        raise


def open_lob(space: Tablespace, reference: Reference) -> Lob:
    """The off-page value behind a reference. Raises for damage in its first page or its index."""
    where = f"page[{reference.page}]"
    if reference.space != space.space_id:
        raise DecodeError("wrong-space", "the reference leads to another tablespace", offset=0,
                          expected=space.space_id, got=reference.space, path=("reference", "space"))  # fmt: skip
    if not is_written(reference):
        raise DecodeError("no-lob", "the reference leads to no value: it is not written yet, or purged",
                          offset=_LENGTH, got=reference.length, path=("reference", "length"))  # fmt: skip
    if reference.length > space.pages * space.flags.physical and not space.flags.compressed:
        raise DecodeError("bad-lob-length", "the value is longer than the file", offset=_LENGTH, got=reference.length,
                          expected=f"<= {space.pages * space.flags.physical}",
                          path=("reference", "length"))  # fmt: skip
    first = space.page(reference.page)
    if first.type in BLOB_TYPES or first.type in ZBLOB_TYPES:
        lob: Lob = ChainedBlob(space, reference, first)
    else:
        lob = open_first(space, first, reference)
        total = sum(entry.length for entry in lob.entries)
        if total != reference.length:
            raise DecodeError("bad-lob-length", "the pieces have another length than the reference says",
                              expected=reference.length, got=total, path=(where, "index_list"))  # fmt: skip
    return lob


def open_first(space: Tablespace, first: Page, reference: Reference | None = None) -> IndexedLob:
    """A LOB by its first page, for a file whose records cannot be read."""
    first.expect_type(PageType.LOB_FIRST, PageType.ZLOB_FIRST)
    if first.u1(38, "format_version"):
        raise first.error("unknown-lob-format", "the format of the LOB is not known", 38, "format_version", 0,
                          first.u1(38, "format_version"))  # fmt: skip
    if first.u1(39, "flags") > 1:
        raise first.error("unknown-lob-format", "the flags of the LOB are none that a server writes", 39, "flags",
                          "0 or 1", first.u1(39, "flags"))  # fmt: skip
    compressed = first.type == PageType.ZLOB_FIRST
    version = first.u4(40, "version")
    if reference is not None and not 1 <= reference.version <= version:
        raise first.error("bad-lob-version", "the reference has a version that the LOB never had", 40, "version",
                          f">= {reference.version}", version)  # fmt: skip
    layout = _zlob_layout(first) if compressed else _LOB_LAYOUT
    index = LobIndex(space, first, layout, version)
    entries = index.read()
    kind = ZippedLob if compressed else PlainLob
    fragments = entry_pages(space, first, _FRAGMENT_PAGES, PageType.ZLOB_FRAG_ENTRY) if compressed else ()
    return kind(space, reference, first, version, entries, (*index.pages, *fragments))


def _zlob_layout(first: Page) -> IndexLayout:
    if len(first.data) not in _FIRST_ENTRIES:
        raise first.error("wrong-page-type", "no page of this size begins a compressed LOB", 24, "type")
    count, _ = _FIRST_ENTRIES[len(first.data)]
    return IndexLayout(88, 72, _ZLOB_ENTRIES, count, _ZLOB_ENTRY, PageType.ZLOB_INDEX, 64, compressed=True)


@dataclass(frozen=True)
class Lob:
    """An off-page value. ``reference`` is None if the value was found by its first page."""

    space: Tablespace
    reference: Reference | None
    first: Page

    @property
    def format(self) -> LobFormat:
        raise NotImplementedError

    @property
    def length(self) -> int:
        """Length of the value, without what its record has of it."""
        raise NotImplementedError

    @property
    def current(self) -> int | None:
        """The version of the row; None in formats without versions."""
        return None

    @property
    def versions(self) -> tuple[int | None, ...]:
        """The versions that can be read, in ascending order; one None in formats without versions."""
        return (None,)

    def read(self, version: int | None = None) -> bytes:
        """The bytes at a version; the row's version by default."""
        raise NotImplementedError

    def pages(self, version: int | None = None) -> tuple[int, ...]:
        """The pages with the data of a version, in order."""
        raise NotImplementedError

    @property
    def all_pages(self) -> tuple[int, ...]:
        """Every page of the value: first page, index pages, and data of all versions."""
        return self.pages()


@dataclass(frozen=True)
class ChainedBlob(Lob):
    """A chain of BLOB or ZBLOB pages: one version only (innodb-lob 10.1, innodb-sdi B.6)."""

    reference: Reference

    @property
    def format(self) -> LobFormat:
        return LobFormat.ZBLOB if self.first.type in ZBLOB_TYPES else LobFormat.BLOB

    @property
    def length(self) -> int:
        return self.reference.length

    def read(self, version: int | None = None) -> bytes:  # noqa: ARG002 - there is one version
        return read_blob(self.space, self.reference)

    def pages(self, version: int | None = None) -> tuple[int, ...]:  # noqa: ARG002 - there is one version
        return tuple(page.number for page in chain_pages(self.space, self.reference))


@dataclass(frozen=True)
class IndexedLob(Lob):
    """A LOB of the format since 8.0: ``first_version`` is the highest version that it ever had.

    ``index_pages`` have the entries for which the first page has no room; in compressed LOBs those of fragments too.
    """

    first_version: int
    entries: tuple[IndexEntry, ...]
    index_pages: tuple[int, ...]

    @property
    def length(self) -> int:
        return sum(entry.length for entry in self.entries)

    @property
    def current(self) -> int:
        return self.first_version if self.reference is None else self.reference.version

    @property
    def frozen(self) -> bool:
        """Whether the LOB was replaced as a whole, and cannot be updated partially any more (innodb-lob 3)."""
        return bool(self.first.u1(39, "flags") & 1)

    @cached_property
    def versions(self) -> tuple[int, ...]:
        """Versions of which every piece is there; the row's version is always one (innodb-lob 7)."""
        found = {self.current}
        oldest = max((min(piece.version for piece in (entry, *entry.older)) for entry in self.entries), default=1)
        for entry in self.entries:
            found.update(piece.version for piece in (entry, *entry.older) if piece.version >= oldest)
        return tuple(sorted(found))

    def pieces(self, version: int | None = None) -> tuple[IndexEntry, ...]:
        """The index entries of a version. Where a piece is gone, the current one stands, as in the server."""
        wanted = self.current if version is None else version
        return tuple([entry.at_version(wanted) or entry for entry in self.entries])

    def read(self, version: int | None = None) -> bytes:
        return b"".join([self.read_piece(entry) for entry in self.pieces(version)])

    def read_piece(self, entry: IndexEntry) -> bytes:
        """The bytes of one piece."""
        return b"".join([place.page.data[place.offset : place.offset + place.length] for place in self.places(entry)])

    def places(self, entry: IndexEntry) -> Iterator[Place]:
        """Where a piece is stored. Raises for pages that cannot have it."""
        raise NotImplementedError

    def pages(self, version: int | None = None) -> tuple[int, ...]:
        return tuple(dict.fromkeys(place.page.number for entry in self.pieces(version) for place in self.places(entry)))

    @property
    def all_pages(self) -> tuple[int, ...]:
        pieces = [piece for entry in self.entries for piece in (entry, *entry.older)]
        data = [place.page.number for piece in pieces for place in self.places(piece)]
        return tuple(dict.fromkeys((self.first.number, *self.index_pages, *data)))

    def data_page(self, number: int, entry: IndexEntry) -> Page:
        """The page with a piece's data. Raises for the first page of another LOB, which no entry leads to."""
        page = self.space.page(number)
        first = PageType(self.first.type)
        if page.type == first and number != self.first.number:
            raise page.error("wrong-page", "the page begins another LOB", 24, "type", got=f"entry {entry.at}")
        return page


@dataclass(frozen=True)
class PlainLob(IndexedLob):
    """A LOB whose pieces are pages: one piece is the data of one page (innodb-lob 3, 5, 7)."""

    def __post_init__(self) -> None:
        seen: set[int] = set()
        for entry in self.entries:
            for piece in (entry, *entry.older):
                if piece.page in seen:
                    raise self.first.error("page-shared", "two index entries have the same data page", 64,
                                           f"entry {piece.at}", got=piece.page)  # fmt: skip
                seen.add(piece.page)

    @property
    def format(self) -> LobFormat:
        return LobFormat.LOB

    def data_offset(self, entry: IndexEntry) -> int:
        """Where the data of a piece begin in its page."""
        return FIRST_DATA if entry.page == self.first.number else DATA

    def places(self, entry: IndexEntry) -> Iterator[Place]:
        page = self.data_page(entry.page, entry)
        page.expect_type(PageType.LOB_FIRST, PageType.LOB_DATA)
        begins = entry.page == self.first.number
        creator_at = _FIRST_LENGTH + 4 if begins else _DATA_LENGTH + 4
        creator = page.u6(creator_at, "creator")
        if creator not in {entry.creator} | ({0} if not begins else set()):
            raise page.error("wrong-page", "another transaction wrote the page than its index entry says", creator_at,
                             "creator", entry.creator, creator)  # fmt: skip
        if not begins and page.u1(38, "format_version"):
            raise page.error("unknown-lob-format", "the format of the data page is not known", 38, "format_version", 0)
        length_at, start = _FIRST_LENGTH if entry.page == self.first.number else _DATA_LENGTH, self.data_offset(entry)
        length = page.u4(length_at, "data_length")
        if length != entry.length or start + length > len(page.data) - FIL_TRAILER:
            raise page.error("bad-lob-length", "the page has another length of data than its index entry", length_at,
                             "data_length", entry.length, length)  # fmt: skip
        yield Place(page, start, length)


@dataclass(frozen=True)
class ZippedLob(IndexedLob):
    """A compressed LOB: each piece is a zlib stream over pages and at last a fragment of one (innodb-lob 10.2)."""

    @property
    def format(self) -> LobFormat:
        return LobFormat.ZLOB

    def read_piece(self, entry: IndexEntry) -> bytes:
        stream = super().read_piece(entry)
        inflate = zlib.decompressobj()
        try:
            plain = inflate.decompress(stream, entry.length + 1)
        except zlib.error:
            raise self._bad(entry, "bad-zlib", "the stream cannot be decompressed") from None
        if len(plain) != entry.length or not inflate.eof or inflate.unused_data:
            raise self._bad(entry, "bad-lob-length", "the stream has another length than its index entry",
                            entry.length, len(plain))  # fmt: skip
        return plain

    def _bad(
        self, entry: IndexEntry, code: str, message: str, expected: object = None, got: object = None
    ) -> DecodeError:
        return DecodeError(code, message, offset=entry.at.offset, expected=expected, got=got,
                           path=(f"page[{entry.at.page}]", "entry"))  # fmt: skip

    def places(self, entry: IndexEntry) -> Iterator[Place]:
        if entry.length > min(CHUNK, RATIO * entry.stored):
            raise self._bad(entry, "bad-lob-length", "the chunk is too long", f"<= {min(CHUNK, RATIO * entry.stored)}",
                            entry.length)  # fmt: skip
        left, number, seen = entry.stored, entry.page, set[int]()
        while left:
            if number in seen:
                raise self._bad(entry, "page-circle", "the chain of pages comes back", got=number)
            seen.add(number)
            page = self.data_page(number, entry)
            place = self._place(page, entry)
            if not 0 < place.length <= left:
                raise page.error("bad-lob-length", "the page has more or less than the rest of the stream",
                                 place.offset, "data_length", f"1..{left}", place.length)  # fmt: skip
            left -= place.length
            yield place
            number = page.next

    def _place(self, page: Page, entry: IndexEntry) -> Place:
        page.expect_type(PageType.ZLOB_FIRST, PageType.ZLOB_DATA, PageType.ZLOB_FRAG)
        if page.type == PageType.ZLOB_FRAG:
            return self._fragment(page, entry)
        if page.type == PageType.ZLOB_DATA:
            start, length = DATA, page.u4(_DATA_LENGTH, "data_length")
        else:
            indexes, fragments = _FIRST_ENTRIES[len(page.data)]
            start = _ZLOB_ENTRIES + _ZLOB_ENTRY * indexes + _FRAGMENT_ENTRY * fragments
            length = page.u4(_FIRST_LENGTH, "data_length")
        if start + length > len(page.data) - FIL_TRAILER:
            raise page.error("bad-lob-length", "the data are longer than the page", start, "data_length", got=length)
        return Place(page, start, length)

    @staticmethod
    def _fragment(page: Page, entry: IndexEntry) -> Place:
        """The fragment of a page: its directory grows down from the end."""
        size = len(page.data)
        if entry.fragment == NO_FRAGMENT or entry.fragment >= page.u2(size - 10, "directory_entries"):
            raise page.error("bad-fragment", "the page has no such fragment", size - 10, "directory_entries",
                             f"> {entry.fragment}", page.u2(size - 10, "directory_entries"))  # fmt: skip
        at = page.u2(size - 12 - 2 * entry.fragment, "directory")
        length, number = page.u2(at + 4, "fragment_length"), page.u2(at + 6, "fragment_id")
        if number != entry.fragment or length <= _FRAGMENT_HEADER or at + length > size - FIL_TRAILER:
            raise page.error("bad-fragment", "the directory leads to another fragment", at, "fragment_id",
                             entry.fragment, number)  # fmt: skip
        return Place(page, at + _FRAGMENT_HEADER, length - _FRAGMENT_HEADER)
