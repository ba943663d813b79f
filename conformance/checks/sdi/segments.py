"""Which pages belong to the dictionary information by the space management of InnoDB (innodb-sdi B.5a).

The root of the index names the entries of its two segments in an INODE page. An entry lists single pages, and extents
whose descriptors, the allocation bitmap, say which of their pages are in use. No tree is walked here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.innodb.pages import FIL_NULL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.pages import Page, SpaceFlags, Tablespace

_HEADERS: Final = (74, 84)  # of the segments of leaves and of node pointers, in the root page
_MAGIC: Final = 97_937_874  # of an entry that is in use
_LISTS: Final = (12, 28, 44)  # extents of an entry that are free, in part in use, full
_MAGIC_AT, _SINGLE_AT = 60, 64
_DESCRIPTORS: Final = 150  # where they begin in a page
_LINKS: Final = 8  # of a descriptor: the links of its list, behind the id of its segment
_BITMAP: Final = 24  # of a descriptor; two bits for each page, the lower one of a free page


class Segments(NamedTuple):
    """The two segments. ``inodes``: number and type of the pages with their entries; ``pages``: those of
    all pages in use; ``free``: pages of theirs that the bitmap calls free; ``bitmaps``: number and type of its
    pages."""

    inodes: tuple[tuple[int, int], ...] = ()
    pages: tuple[tuple[int, int], ...] = ()
    free: tuple[int, ...] = ()
    bitmaps: tuple[tuple[int, int], ...] = ()


def segments(space: Tablespace) -> Segments:
    """Read the segments of the SDI index. Raises :class:`CodecError` for what no server writes."""
    root = space.page(space.sdi_root.page)
    inodes: dict[int, int] = {}
    used: dict[int, int] = {}
    free: list[int] = []
    bitmaps: dict[int, int] = {}
    for header in _HEADERS:
        number, at = root.u4(header + 4, "inode_page"), root.u2(header + 8, "inode_offset")
        entry = space.page(number)
        inodes[number] = entry.type
        if entry.u4(at + _MAGIC_AT, "magic") != _MAGIC:
            raise entry.error("bad-inode", "the entry of a segment is not in use", at + _MAGIC_AT, "magic", _MAGIC)
        for page in _single(entry, at, extent_pages(space.flags) // 2):
            descriptor, place = _descriptor(space, page)
            bitmaps[descriptor.number] = descriptor.type
            used[page] = space.page(page).type
            if _is_free(descriptor, place, page % extent_pages(space.flags)):
                free.append(page)
        for first, descriptor, place in _extents(space, entry, at):
            bitmaps[descriptor.number] = descriptor.type
            used |= {
                first + index: space.page(first + index).type
                for index in range(extent_pages(space.flags))
                if not _is_free(descriptor, place, index)
            }
    return Segments(tuple(inodes.items()), tuple(sorted(used.items())), tuple(free), tuple(bitmaps.items()))


def extent_pages(flags: SpaceFlags) -> int:
    """Pages of an extent: 1 MB of small pages, 64 pages of larger ones."""
    return (1 << 20) // flags.logical if flags.logical <= 16384 else 64


def _single(entry: Page, at: int, count: int) -> Iterator[int]:
    for slot in range(count):
        page = entry.u4(at + _SINGLE_AT + 4 * slot, "single_page")
        if page != FIL_NULL:
            yield page


def _extents(space: Tablespace, entry: Page, at: int) -> Iterator[tuple[int, Page, int]]:
    """Yield for each extent of a segment its first page, and the page and the place of its descriptor."""
    size = extent_pages(space.flags)
    for start in _LISTS:
        page, place = entry.u4(at + start + 4, "first_page"), entry.u2(at + start + 8, "first_offset")
        count = entry.u4(at + start, "list_length")
        if count > space.pages:
            raise entry.error("bad-inode", "a segment has more extents than the file", at + start, "list_length",
                              f"<= {space.pages}", count)  # fmt: skip
        for _ in range(count):
            descriptor, place = space.page(page), place - _LINKS
            number = (place - _DESCRIPTORS) // (_BITMAP + (size * 2 + 7) // 8)
            yield page + number * size, descriptor, place
            page, place = (
                descriptor.u4(place + _LINKS + 6, "next_page"),
                descriptor.u2(place + _LINKS + 10, "next_offset"),
            )


def _descriptor(space: Tablespace, page: int) -> tuple[Page, int]:
    """The page with the descriptor of a page's extent, and the place in it."""
    size, every = extent_pages(space.flags), space.flags.physical
    place = _DESCRIPTORS + (page % every // size) * (_BITMAP + (size * 2 + 7) // 8)
    return space.page(page - page % every), place


def _is_free(descriptor: Page, place: int, index: int) -> bool:
    return bool(descriptor.u1(place + _BITMAP + index // 4, "bitmap") >> index % 4 * 2 & 1)
