"""The pages of the dictionary information by the space management, in recorded files, whole and damaged."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Final

import pytest

from conformance.checks.sdi.segments import Segments, extent_pages, segments
from conformance.reference.errors import DecodeError
from conformance.reference.innodb.pages import PageType, SpaceFlags, Tablespace

FILES: Final = Path(__file__).parents[2] / "data" / "innodb"
SDI, BLOB, ZBLOB = int(PageType.SDI), int(PageType.SDI_BLOB), int(PageType.SDI_ZBLOB)
INODE, HEAD = int(PageType.INODE), int(PageType.FSP_HDR)


def space(name: str, *changes: tuple[int, bytes]) -> Tablespace:
    """A recorded file with other bytes at some offsets; checksums are not looked at."""
    data = bytearray(gzip.decompress((FILES / f"{name}.ibd.gz").read_bytes()))
    for at, value in changes:
        data[at : at + len(value)] = value
    return Tablespace.of_bytes(bytes(data), verify=False)


@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("sdi_blob", ((3, SDI), (5, BLOB), (6, BLOB))),
        ("compressed_zblob_zlob", ((3, SDI), (5, ZBLOB), (6, ZBLOB))),
        ("gencols_json", ((3, SDI),)),
        ("general_ts", ((3, SDI),)),
    ],
)
def test_the_pages_of_a_recorded_file(name: str, pages: tuple[tuple[int, int], ...]) -> None:
    assert segments(space(name)) == Segments(inodes=((2, INODE),), pages=pages, free=(), bitmaps=((0, HEAD),))


def test_a_page_that_the_bitmap_calls_free_is_told() -> None:
    bitmap = 150 + 24  # of the first extent, two bits a page: pages 4 to 7 are in the second byte
    made = space("sdi_blob")
    byte = made.first.data[bitmap + 1]
    assert segments(space("sdi_blob", (bitmap + 1, bytes((byte | 1 << 2,))))).free == (5,)


def test_an_entry_that_is_not_in_use_is_an_error() -> None:
    made = space("sdi_blob")
    at = made.page(3).u2(74 + 8, "inode_offset")
    with pytest.raises(DecodeError, match="not in use"):
        segments(space("sdi_blob", (2 * 16384 + at + 60, bytes(4))))


def test_a_page_of_another_kind_in_a_segment_is_told() -> None:
    made = segments(space("sdi_blob", (6 * 16384 + 24, int(PageType.INDEX).to_bytes(2, "big"))))
    assert made.pages == ((3, SDI), (5, BLOB), (6, int(PageType.INDEX)))


def test_a_list_of_extents_without_an_end_is_an_error() -> None:
    made = space("sdi_blob")
    at = 2 * 16384 + made.page(3).u2(74 + 8, "inode_offset") + 12
    with pytest.raises(DecodeError, match="more extents than the file"):
        segments(space("sdi_blob", (at, b"\xff\xff\xff\xff\x00\x00\x00\x00\x00\x9e")))


@pytest.mark.parametrize(("flags", "pages"), [(0x4021, 64), (0x40E1, 256), (0x41E1, 64)])
def test_an_extent_has_one_megabyte_or_64_pages(flags: int, pages: int) -> None:
    assert extent_pages(SpaceFlags.of(flags)) == pages
