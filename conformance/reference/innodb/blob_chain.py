"""Chains of BLOB pages: the older form of off-page values, which the SDI still uses (innodb-sdi B.6, innodb-lob 10.1).

BLOB pages hold the value itself. ZBLOB pages, in ROW_FORMAT=COMPRESSED, hold one zlib stream.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

from conformance.reference.errors import DecodeError
from conformance.reference.innodb.pages import FIL_HEADER, FIL_NULL, FIL_TRAILER, PageType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.pages import Page, Tablespace
    from conformance.reference.innodb.records import Reference

BLOB_TYPES: Final = (PageType.BLOB, PageType.SDI_BLOB)
ZBLOB_TYPES: Final = (PageType.ZBLOB, PageType.ZBLOB2, PageType.SDI_ZBLOB)
RATIO: Final = 1032  # zlib makes no more bytes of one
_DATA: Final = 46  # behind part length and next page


def read_blob(space: Tablespace, reference: Reference) -> bytes:
    """The off-page bytes of a value. The type of the first page decides between the two forms."""
    if space.page(reference.page).type in ZBLOB_TYPES:
        return _read_zblob(space, reference)
    out, left = [], reference.length
    for page in chain_pages(space, reference):
        size = page.u4(38, "part_length")
        if size > min(left, len(page.data) - _DATA - FIL_TRAILER) or not size:
            raise page.error("bad-blob-length", "the part is longer than the value or the page", 38, "part_length",
                             f"<= {left}", size)  # fmt: skip
        out.append(page.take(_DATA, size, "data"))
        left -= size
    if left:
        raise _short(reference, reference.length - left)
    return b"".join(out)


def _read_zblob(space: Tablespace, reference: Reference) -> bytes:
    inflate = zlib.decompressobj()
    out, got = [], 0
    pages = list(chain_pages(space, reference))
    most = RATIO * len(pages) * (space.flags.physical - FIL_HEADER)
    if reference.length > most:
        raise _short(reference, most)
    for page in pages:
        try:
            out.append(inflate.decompress(page.data[FIL_HEADER:], reference.length + 1 - got))
        except zlib.error:
            raise page.error("bad-zlib", "the value cannot be decompressed", FIL_HEADER, "zlib") from None
        got += len(out[-1])
        if got > reference.length:
            break
        if inflate.eof and page.next != FIL_NULL:
            raise page.error("bad-blob-length", "the chain goes on behind the end of the stream", 12, "next", FIL_NULL,
                             page.next)  # fmt: skip
    if got != reference.length or not inflate.eof or any(inflate.unused_data):
        raise _short(reference, got)
    return b"".join(out)


def chain_pages(space: Tablespace, reference: Reference) -> Iterator[Page]:
    """The pages of a chain, each once."""
    seen: set[int] = set()
    number = reference.page
    next_at, types = (12, ZBLOB_TYPES) if space.page(number).type in ZBLOB_TYPES else (42, BLOB_TYPES)
    source = None
    while number != FIL_NULL:
        if number in seen and source is not None:
            raise source.error("page-circle", "the chain of pages comes back", next_at, "next", got=number)
        page = space.page(number)
        page.expect_type(*types)
        seen.add(number)
        yield page
        source, number = page, page.u4(next_at, "next")


def _short(reference: Reference, got: int) -> DecodeError:
    return DecodeError("bad-blob-length", "the chain of pages does not have the bytes of the value",
                       expected=reference.length, got=got, path=(f"page[{reference.page}]", "length"))  # fmt: skip
