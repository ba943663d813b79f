"""The data file before and after a transaction on a row: versions, pieces, flags, and every byte (innodb-lob 8).

A transaction may have several updates of a row. The states between them are in the file as versions: :func:`rewound`
gives the LOB as it was at one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.reference.innodb.lob import FIRST_DATA, IndexedLob, PlainLob, open_lob
from conformance.reference.innodb.lob_change import SMALL, Kind, Region, differences, problems, regions, written_later
from conformance.reference.innodb.pages import FIL_HEADER, PageType

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from conformance.checks.lob_versions.data_file import FileCopy, Stored
    from conformance.checks.lob_versions.predictions import Prediction
    from conformance.checks.lob_versions.tally import Tally
    from conformance.reference.innodb.lob import Lob
    from conformance.reference.innodb.lob_change import LobChange

_FLAGS: Final = 39  # of a first page; bit 0: replaced as a whole
_NEXT: Final = 12
_GARBAGE, _LAST_INSERT = 46, 48  # of an index page
_OF_VALUES: Final = frozenset((PageType.LOB_FIRST, PageType.LOB_INDEX, PageType.LOB_DATA))


@dataclass(frozen=True)
class DocumentChange:
    """One document in two copies of the file. ``file``: the later copy. ``where`` and ``sql`` are for
    the report."""

    tally: Tally
    where: str
    before: Stored
    after: Stored
    file: FileCopy
    prediction: Prediction
    sql: Sequence[str]

    def expect(self, requirement: str, what: str, expected: object, got: object) -> None:
        self.tally.expect(requirement, f"{self.where}: {what}", expected, got, self.sql)

    @property
    def same_value(self) -> bool:
        """Whether the reference leads to the same first page."""
        return self.after.value.reference.page == self.before.value.reference.page

    @property
    def left(self) -> Lob:
        """The value of before in the file after, as the last update but a whole one left it."""
        if self.same_value:
            return self.after.lob
        versions = [self.before.lob.current, *self.prediction.versions][: len(self.prediction.changes) + 1]
        return open_lob(self.file.space, self.before.value.reference._replace(version=versions[-1] or 0))


def judge_document(change: DocumentChange, image: bytes) -> None:
    """Everything that the rules say of one document. ``image``: the newest, as the log has it."""
    _judge_ways(change)
    if not change.prediction.complete:
        return
    _judge_flag(change)
    _judge_version(change)
    if not isinstance(change.before.lob, IndexedLob):
        return
    if not change.prediction.versions and change.prediction.undone:
        change.expect("LOB31", "entries", _entries(change.before.lob), _entries(change.after.lob))
        change.tally.same_document("LOB31", change.where, image, change.after.document)
    else:
        _judge_pieces(change, image)


def _judge_ways(change: DocumentChange) -> None:
    """Which way the only update of a transaction took: in the page, by copies, or as a whole."""
    effects, before, prefix = change.prediction.effects, change.before, len(change.before.value.prefix)
    if len(effects) != 1 or not effects[0].kept or effects[0].ranges is None:
        return
    (effect,) = effects
    if not isinstance(before.lob, IndexedLob) or before.lob.frozen:
        return
    in_prefix = any(offset < prefix for offset, _ in effect.ranges or ())
    if prefix:
        change.tally.figures["in the prefix" if in_prefix else "behind the prefix"] += 1
        change.expect("LOB25", "a new value", in_prefix, not change.same_value)
    if in_prefix or not isinstance(before.lob, PlainLob):
        return
    small = effect.written <= SMALL and (before.lob.current == 1 or change.tally.any_version)
    change.tally.figures["small" if small else "copied"] += 1
    if effect.written in {SMALL - 1, SMALL, SMALL + 1} and before.lob.current == 1:
        change.tally.figures[f"{effect.written} bytes at version 1"] += 1
    what = f"{effect.written} bytes at version {before.lob.current}"
    after = change.after.lob
    change.expect("LOB28", f"{what}, no new version", small, _top(after) == before.lob.first_version)
    change.expect("LOB28", f"{what}, no new page", small, after.pages() == before.lob.pages())


def _top(lob: Lob) -> int | None:
    """The version of the first page."""
    return lob.first_version if isinstance(lob, IndexedLob) else None


def _judge_flag(change: DocumentChange) -> None:
    """Bit 0 of the first page: set when the value was replaced as a whole, else as before (innodb-lob 3)."""
    lob = change.before.lob
    if isinstance(lob, IndexedLob) and not change.prediction.undone and change.prediction.effects:
        flag = change.file.space.page(lob.first.number).u1(_FLAGS, "flags") & 1
        change.expect("LOB26", "bit 0 of the flags", int(change.prediction.rewritten or lob.frozen), flag)


def _judge_version(change: DocumentChange) -> None:
    lob, before, prediction = change.after.lob, change.before.lob, change.prediction
    change.expect("LOB27", "another first page", prediction.rewritten, not change.same_value)
    if isinstance(lob, IndexedLob) and isinstance(before, IndexedLob):
        version = prediction.versions[-1] if prediction.versions else before.current
        top = 1 if prediction.rewritten else prediction.top
        change.expect("LOB27", "version of reference and first page", (version, top), (lob.current, lob.first_version))


def _judge_pieces(change: DocumentChange, image: bytes) -> None:
    """The chain of each piece: a copy for each range, in front of the pieces of before."""
    states = list(_states(change))
    for state in states:
        if state is None:
            change.expect("LOB20", "older entries", "a piece of each version", "a piece is gone")
            return
    changes = change.prediction.changes
    for number, (each, old, new) in enumerate(zip(changes, states, states[1:], strict=False), start=1):
        assert old is not None
        assert new is not None
        found = problems(each, old, new, written_later(changes[number:]))
        if each.kind is Kind.COPIED:
            change.expect("LOB20", f"version {each.version}", [], found)
        else:
            change.expect("LOB28", "small change", [], found)
    if change.prediction.changes and not change.prediction.rewritten:
        _judge_places(change, change.prediction.changes[-1], image)


def _judge_places(change: DocumentChange, last: LobChange, image: bytes) -> None:
    """The index alone leads to the changed bytes: the sum of the lengths in front of a piece is its place."""
    lob, start = change.after.lob, len(change.after.value.prefix)
    assert isinstance(lob, IndexedLob)
    starts = []
    for piece in lob.pieces():
        starts.append(start)
        start += piece.length
    for part in last.ranges:
        begin = starts[part.piece] + part.offset
        written = lob.read_piece(lob.pieces()[part.piece])[part.offset : part.offset + part.length]
        change.expect("LOB21", f"bytes {begin} to {begin + part.length}", image[begin : begin + part.length].hex(),
                      written.hex())  # fmt: skip


def _states(change: DocumentChange) -> Iterator[IndexedLob | None]:
    """The value before, and after each predicted change."""
    left = change.left
    assert isinstance(change.before.lob, IndexedLob)
    assert isinstance(left, IndexedLob)
    yield change.before.lob
    for each in change.prediction.changes[:-1]:
        yield rewound(left, each.version, change.before.lob.index_pages)
    yield left


def rewound(lob: IndexedLob, version: int | None, index_pages: Collection[int]) -> IndexedLob | None:
    """The LOB as it was at a version; None if a piece of that version is gone.

    Of its index pages it had those from before the transaction (``index_pages``), and those with an entry of then.
    """
    assert version is not None
    assert lob.reference is not None
    entries = []
    for entry in lob.entries:
        chain = [piece for piece in (entry, *entry.older) if piece.version <= version]
        if not chain:
            return None
        entries.append(chain[0]._replace(older=tuple(chain[1:])))
    used = {*index_pages, *(piece.at.page for entry in entries for piece in (entry, *entry.older))}
    return replace(lob, reference=lob.reference._replace(version=version), entries=tuple(entries),
                   index_pages=tuple(page for page in lob.index_pages if page in used))  # fmt: skip


def _entries(lob: object) -> object:
    """Return the parts of an index that a rollback must leave as they were: all but the places of its entries."""
    if not isinstance(lob, IndexedLob):
        return None
    return lob.current, [[(piece.version, piece.page, piece.length) for piece in (entry, *entry.older)]
                         for entry in lob.entries]  # fmt: skip


def allowed_regions(change: DocumentChange) -> Iterator[Region]:
    """The bytes of pages that a transaction may change for one document."""
    before, after, prediction = change.before, change.after, change.prediction
    if prediction.effects:
        yield Region(before.row.page, before.row.transaction, 13, "system")
        yield Region(before.row.page, before.value.at + 8, 4, "version")
        yield Region(before.row.page, _LAST_INSERT, 6, "last insert")  # the record may be inserted again in its place
    if not isinstance(before.lob, PlainLob) or not isinstance(after.lob, PlainLob):
        return
    size = len(before.lob.first.data)
    if prediction.whole is not None:
        yield Region(before.lob.first.number, _FLAGS, 1, "flags")
        yield Region(before.lob.first.number, 44, 10, "last_transaction")
    if not change.same_value:
        yield from (Region(page, 0, size, "new value") for page in after.lob.all_pages)
    if prediction.undone or not prediction.complete:
        for lob in (before.lob, after.lob):
            yield Region(lob.first.number, _NEXT, 4, "next index page")
            yield Region(lob.first.number, FIL_HEADER, FIRST_DATA - FIL_HEADER, "index")
            yield from (Region(page, 0, size, "index page") for page in lob.index_pages)
    if prediction.complete:
        states = list(_states(change))
        for each, old, new in zip(prediction.changes, states, states[1:], strict=False):
            if isinstance(old, PlainLob) and isinstance(new, PlainLob):
                yield from regions(each, old, new)


def _has_garbage(file: FileCopy, number: int) -> bool:
    """Whether a page has room that a record left: then an update may reorganize the page (innodb-lob 8.1)."""
    return number < file.space.pages and file.space.page(number).u2(_GARBAGE, "garbage") > 0


def judge_bytes(
    tally: Tally, where: str, before: FileCopy, after: FileCopy, changes: Sequence[DocumentChange], held: set[int]
) -> None:
    """Every byte of a file: it differs in the regions of the changes and nowhere else.

    ``held``: pages of documents and of their older versions. Where something was rolled back or written whole, pages
    that belong to nothing may differ as well.
    """
    allowed = [region for change in changes for region in allowed_regions(change)]
    loose = any(change.prediction.undone or change.prediction.whole is not None for change in changes)
    whole = any(change.prediction.whole is not None for change in changes)
    tally.figures["pages compared"] += max(before.space.pages, after.space.pages)
    tally.figures["bytes predicted"] += sum(
        effect.written for change in changes for effect in change.prediction.effects
    )
    found = []
    for region in differences(before.space, after.space, allowed):
        kind = after.space.page(region.page).type
        if (kind == PageType.INDEX and (whole or _has_garbage(before, region.page))) or (
            loose and region.page not in held and kind in _OF_VALUES
        ):
            continue
        found.append(f"page {region.page} ({kind}) at {region.offset}: {region.length} bytes")
    sql = [line for change in changes for line in change.sql]
    tally.expect("LOB11", where, [], found[:10], sql[:40] if found else ())
