"""Off-page values: old chains, LOBs with an index and versions, compressed LOBs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.innodb.large_values import LobReader, first_pages
from conformance.reference.innodb.lob import IndexedLob, PlainLob, ZippedLob, open_first, open_lob
from fuzz.data_files import Change, capture_of, captures, change_of, tablespace, unchanged
from fuzz.mutators.data_files import mutate_data_file
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.lob import Lob
    from conformance.reference.innodb.pages import Tablespace
    from conformance.reference.innodb.records import Reference

INVARIANT: Final = (
    "Every version of a value has its length and comes from pages of its own, each once; found by its first page it has"
    " the same pieces; an error names its page."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.innodb.blob_chain",
    "conformance.reference.innodb.lob",
    "conformance.reference.innodb.lob_index",
)
MAX_LEN: Final = 400
DICTIONARY: Final = (
    b"\x00\x16", b"\x00\x17", b"\x00\x18", b"\x00\x19", b"\x00\x1a", b"\x00\x1c", b"\x00\x0b",
    b"\xff\xff\xff\xff\x00\x00", b"\x00\x02\x00\x00", b"\x3d\x40\x00\x00",
)  # fmt: skip
mutate = mutate_data_file


def check(data: bytes) -> None:
    """Check the values of an input's file."""
    capture = capture_of(data)
    space, _ = attempt(tablespace, capture.changed(data), verify=False)
    if space is None:
        return
    for reference in capture.references:
        lob, refused = attempt(open_lob, space, reference)
        require(refused is None or refused.path, "an error names its page", str(refused))
        if lob is not None:
            _value(space, lob, reference)
    if not capture.references:
        _found(space)


def _value(space: Tablespace, lob: Lob, reference: Reference) -> None:
    require(lob.length == reference.length, "a value has the length of its reference", lob.length)
    require(lob.current in lob.versions, "the version of the row is one of those that can be read", lob.versions)
    require(list(lob.versions) == sorted(set(lob.versions), key=lambda number: number or 0), "versions rise")
    for version in lob.versions:
        _version(space, lob, version)
    if isinstance(lob, IndexedLob):
        again, refused = attempt(open_first, space, lob.first)
        require(again is not None and again.entries == lob.entries, "its first page leads to the same", str(refused))
        _lists(space, lob)


def _version(space: Tablespace, lob: Lob, version: int | None) -> None:
    read, refused = attempt(lob.read, version)
    pages, lost = attempt(lob.pages, version)
    if read is None:
        require(refused is not None and refused.path, "an error names its page", str(refused))
        return
    require(len(read) == lob.length, "every version has the value's length", version, len(read))
    require(pages is not None, "what can be read has its pages", str(lost))
    require(len(set(pages or ())) == len(pages or ()) <= space.pages, "a version takes each page once", pages)
    if isinstance(lob, PlainLob):
        pieces = lob.pieces(version)
        require(b"".join(map(lob.read_piece, pieces)) == read, "a version is its pieces, one after another", version)
        require(tuple(piece.page for piece in pieces) == pages, "a piece is a page", version)


def _lists(space: Tablespace, lob: IndexedLob) -> None:
    every = [piece for entry in lob.entries for piece in (entry, *entry.older)]
    require(len({piece.at for piece in every}) == len(every), "an entry is in one list")
    require(all(1 <= piece.version <= lob.first_version for piece in every), "a version is one that the LOB had")
    for entry in lob.entries:
        versions = [entry.version, *(piece.version for piece in entry.older)]
        require(versions == sorted(versions, reverse=True), "older pieces are no newer", versions)
        require(not isinstance(lob, ZippedLob) or entry.length <= 131072, "a chunk has 128 KB at most", entry.length)
    attempt(LobReader(space).open_first, lob.first)


def _found(space: Tablespace) -> None:
    """LOBs of a file that has no rows."""
    reader = LobReader(space)
    pages, _ = attempt(lambda: list(first_pages(space)))
    for page in pages or ():
        lob, _ = attempt(reader.open_first, page)
        if lob is not None:
            for version in lob.versions:
                _version(space, lob, version)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Lists that come back, lengths that are wrong, pages of another kind."""
    yield from unchanged()
    for capture in captures():
        for reference in dict.fromkeys(item.page for item in capture.references):
            number = reference
            own = number.to_bytes(4, "big")
            for offset, new in (
                (38, b"\1"), (39, b"\xff"), (40, b"\0\0\0\0"), (54, b"\xff\xff"), (54, b"\0\0\0\1"), (64, b"\0\0\0\0"),
                (64, b"\0\0\0\x63"), (64, own), (68, own + b"\0\x60"), (72, b"\0\x61"), (88, b"\0\0\0\x63"),
                (92, own + b"\0\x88"), (96, own + b"\0\x60"), (102, own + b"\0\x60"), (144, own), (148, b"\0\0"),
                (152, b"\0\0\0\7"), (12, own), (12, b"\0\0\0\4"), (42, own), (24, b"\0\x17"), (190, b"\0\0\xff\xff"),
            ):  # fmt: skip
                yield (
                    f"{capture.name}-{number}-{offset}-{new.hex()}",
                    change_of(capture.name, Change(number, offset, new)),
                )
    yield "fragments", change_of("compressed_zblob_zlob", Change(8, 8182, b"\0\0"))
    yield "fragment", change_of("compressed_zblob_zlob", Change(8, 8180, b"\x1f\xff"))
