"""Changes of a data file by an in-place update of JSONB: its byte ranges become places in LOB pages (innodb-lob 8).

The input is the LOB before the update and the ranges of :mod:`conformance.reference.partial.in_place`. Which new pages
the server takes is not predicted. :func:`problems` and :func:`regions` read them from the LOB after the update.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.innodb.lob import IndexedLob, PlainLob
from conformance.reference.innodb.lob_index import read_address
from conformance.reference.innodb.pages import FIL_TRAILER, PageType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conformance.reference.innodb.lob import Lob
    from conformance.reference.innodb.lob_index import IndexEntry
    from conformance.reference.innodb.pages import Tablespace
    from conformance.reference.partial.in_place import Range

SMALL: Final = 100  # the most bytes that are changed in the page itself
_SPACE_PAGES: Final = frozenset((PageType.FSP_HDR, PageType.XDES, PageType.INODE, PageType.IBUF_BITMAP))
_LINKS: Final = (0, 12)  # prev and next of an entry
_OLDER: Final = (12, 16)
_MODIFIER: Final = (34, 6)
_MODIFIER_UNDO: Final = (44, 4)
_ENTRY_SIZE: Final = 60
_FREE_LIST: Final = 80


class Kind(StrEnum):
    """The way in which InnoDB treats the value of a column that an update changes in place."""

    SMALL = "small"  # bytes of the pages are overwritten, the version stays
    COPIED = "copied"  # the pieces are copied, and the version rises
    REWRITTEN = "rewritten"  # a new value is written as a whole


class PieceRange(NamedTuple):
    """The part of a range that lies in one piece: ``page`` is where the piece begins, ``offset`` counts in the piece.

    ``range`` is the number of the range that it is a part of.
    """

    piece: int
    page: int
    offset: int
    length: int
    range: int


class Region(NamedTuple):
    """Bytes of a page that an update may change."""

    page: int
    offset: int
    length: int
    field: str


@dataclass(frozen=True)
class LobChange:
    """The prediction: ``version`` of the reference after the update, and the ranges by piece, in order."""

    kind: Kind
    version: int | None
    ranges: tuple[PieceRange, ...] = ()

    def copies(self, piece: int) -> int:
        """How often the piece is copied: once for each range in it (innodb-lob 8.1)."""
        return sum(part.piece == piece for part in self.ranges) if self.kind is Kind.COPIED else 0


def predict_change(lob: Lob, ranges: Sequence[Range], *, prefix: int = 0, any_version: bool = False) -> LobChange:
    """Predict what an update with these binary diffs does to an off-page value.

    ``prefix``: the length of the value's part in the record. ``any_version``: small changes are made in the pages of a
    value that was copied, too, as servers before 9.7 do. Ranges count from the document's type byte. The value must
    stay off-page, which it does: its length is the same.
    """
    if not isinstance(lob, IndexedLob) or lob.frozen or any(offset < prefix for offset, _ in ranges):
        return LobChange(Kind.REWRITTEN, None if not isinstance(lob, IndexedLob) else 1)
    parts = tuple(_parts(lob, ranges, prefix))
    small = sum(length for _, length in ranges) <= SMALL
    if not parts:
        return LobChange(Kind.SMALL, lob.current)
    if small and (any_version or lob.current == 1) and isinstance(lob, PlainLob):
        return LobChange(Kind.SMALL, lob.first_version, parts)  # above 1 if a copy was rolled back
    return LobChange(Kind.COPIED, lob.first_version + 1, parts)


def _parts(lob: IndexedLob, ranges: Sequence[Range], prefix: int) -> Iterator[PieceRange]:
    """The ranges cut at the borders of pieces. An empty range copies its piece, unless the LOB is compressed."""
    pieces, starts, at = lob.pieces(), [], prefix
    for piece in pieces:
        starts.append(at)
        at += piece.length
    for number, (offset, length) in enumerate(ranges):
        for index, (start, piece) in enumerate(zip(starts, pieces, strict=True)):
            first, end = max(offset, start), min(offset + length, start + piece.length)
            empty = isinstance(lob, PlainLob) and not length and start < offset < start + piece.length
            if first < end or empty:
                yield PieceRange(index, piece.page, first - start, end - first, number)


def written_later(changes: Sequence[LobChange]) -> list[PieceRange]:
    """The ranges that changes behind an update write into its own pages: small ones, of pieces not copied meanwhile."""
    copied: set[int] = set()
    found = []
    for change in changes:
        if change.kind is Kind.COPIED:
            copied.update(part.piece for part in change.ranges)
        else:
            found += [part for part in change.ranges if part.piece not in copied]
    return found


def problems(change: LobChange, before: IndexedLob, after: IndexedLob, later: Sequence[PieceRange] = ()) -> list[str]:
    """Where the LOB after an update is not the predicted one: version, pieces, and bytes outside the ranges.

    ``later``: the result of :func:`written_later`, where ``after`` is read from a file that has later updates as well.
    """
    found = []
    if after.current != change.version:
        found.append(f"the LOB has version {after.current}, predicted {change.version}")
    if len(before.entries) != len(after.entries):
        return [*found, f"the LOB has {len(after.entries)} pieces, predicted {len(before.entries)}"]
    live = set(before.all_pages)
    for number, (old, new) in enumerate(zip(before.entries, after.entries, strict=True)):
        parts = [part for part in change.ranges if part.piece == number]
        copies = change.copies(number)
        chain = (new, *new.older)
        expected = [(piece.version, piece.page) for piece in (old, *old.older)]
        if [(piece.version, piece.page) for piece in chain[copies:]] != expected:
            found.append(f"piece {number} has pages {[piece.page for piece in chain]}, predicted {copies} new ones"
                         f" and {[page for _, page in expected]}")  # fmt: skip
            continue
        found += [
            f"piece {number} has a copy of version {piece.version} in page {piece.page}, which is not a new one"
            for piece in chain[:copies]
            if piece.version != change.version or (isinstance(after, PlainLob) and piece.page in live)
        ]
        # The first copy has the first range, the second copy both, and so on.
        steps = [[part] for part in parts] if copies else [parts]
        steps[-1] += [part for part in later if part.piece == number]
        data = before.read_piece(old)
        for piece, step in zip(reversed(chain[: max(copies, 1)]), steps, strict=True):
            written = after.read_piece(piece)
            if _outside(data, written, step):
                found.append(f"page {piece.page} differs from piece {number} outside the predicted ranges")
            data = written
        found += [
            f"piece {number} of version {piece.version} has changed" for past, piece in
            zip((old, *old.older)[0 if copies else 1:], chain[max(copies, 1):], strict=True)
            if before.read_piece(past) != after.read_piece(piece)
        ]  # fmt: skip
    return found


def _outside(before: bytes, after: bytes, parts: Iterable[PieceRange]) -> bool:
    """Whether the two differ in a byte that is in none of the ranges."""
    merged = bytearray(before)
    for part in parts:
        merged[part.offset : part.offset + part.length] = after[part.offset : part.offset + part.length]
    return merged != after


def regions(change: LobChange, before: PlainLob, after: PlainLob) -> list[Region]:
    """The bytes of LOB pages that the update may change, headers and trailers of pages apart."""
    first = before.first.number
    found = [Region(first, 44, 10, "last_transaction")]
    if change.kind is Kind.SMALL:
        for part in change.ranges:
            entry = before.pieces()[part.piece]
            found.append(Region(part.page, before.data_offset(entry) + part.offset, part.length, f"range {part.range}"))
            found += _fields(entry, ("modifier", *_MODIFIER), ("modifier_undo", *_MODIFIER_UNDO))
        return found
    grown = set(after.index_pages) - set(before.index_pages)
    found += [Region(first, 40, 4, "version"), Region(first, 64, 32, "lists")]
    if grown:
        found.append(Region(first, 12, 4, "next"))
    free = read_address(after.first, _FREE_LIST + 4, "free_list")
    found.append(Region(free.page, free.offset, 6, "free entry"))
    size = len(before.first.data)
    found += [Region(page, 0, size, "new index page") for page in grown]
    for number in sorted({part.piece for part in change.ranges}):
        copies = change.copies(number)
        for piece in (after.entries[number], *after.entries[number].older)[:copies]:
            found += [Region(piece.at.page, piece.at.offset, _ENTRY_SIZE, "new entry"),
                      Region(piece.page, 0, size, "new page")]  # fmt: skip
        old = before.entries[number]
        found += _fields(old, ("links", *_LINKS), ("older", *_OLDER), ("modifier", *_MODIFIER),
                         ("modifier_undo", *_MODIFIER_UNDO))  # fmt: skip
        near = [*before.entries[max(number - 1, 0) : number + 2], *old.older[:1]]
        found += [region for entry in near for region in _fields(entry, ("links", *_LINKS))]
    return found


def _fields(entry: IndexEntry, *fields: tuple[str, int, int]) -> list[Region]:
    return [Region(entry.at.page, entry.at.offset + at, length, name) for name, at, length in fields]


def differences(before: Tablespace, after: Tablespace, allowed: Iterable[Region]) -> Iterator[Region]:
    """The bytes that differ between two copies of a file, and that no region allows.

    Every page may have another checksum and LSN. Pages of space management may differ in their bodies, and page 0
    before its SDI root. New pages at the end of the file may be empty.
    """
    by_page: dict[int, list[Region]] = {}
    for region in allowed:
        by_page.setdefault(region.page, []).append(region)
    size = before.flags.physical
    for number in range(max(before.pages, after.pages)):
        old = before.page(number).data if number < before.pages else bytes(size)
        new = after.page(number).data if number < after.pages else bytes(size)
        if old == new:
            continue
        mask = bytearray(old)
        kind = int.from_bytes(old[24:26], "big")
        spans = [(0, 4), (16, 8), (size - FIL_TRAILER, FIL_TRAILER)]
        spans += [(region.offset, region.length) for region in by_page.get(number, ())]
        if kind in _SPACE_PAGES:
            spans.append((38, (before.flags.sdi_offset if number == 0 else size) - 38))
        for at, length in spans:
            mask[at : at + length] = new[at : at + length]
        at = size if mask == new else 0
        while at < size:
            if mask[at] == new[at]:
                at += 1
                continue
            start = at
            while at < size and mask[at] != new[at]:
                at += 1
            yield Region(number, start, at - start, "not predicted")
