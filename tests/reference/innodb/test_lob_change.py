"""Ranges of in-place updates become places in LOB pages: copies of one recorded file, after each of three updates."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.errors import CodecError
from conformance.reference.innodb.large_values import LargeValue, LobReader, large_values, table_objects
from conformance.reference.innodb.lob import Lob, LobFormat, PlainLob
from conformance.reference.innodb.lob_change import (
    Kind,
    LobChange,
    PieceRange,
    Region,
    differences,
    predict_change,
    problems,
    regions,
    written_later,
)
from conformance.reference.innodb.records import OffPage
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.layout import storage_free
from conformance.reference.jsonb.text import format_text
from conformance.reference.partial.expression import Assignment, Columns
from conformance.reference.partial.update import update_row
from conformance.reference.sql.expressions import parse_expression
from tests.reference.innodb.fixture_files import DATA, tablespace, unpacked

if TYPE_CHECKING:
    from conformance.reference.innodb.pages import Tablespace

FILES: dict[str, Any] = json.loads((DATA / "lob_updates.json").read_text("utf-8"))["files"]
UPDATES = (1, 2, 3)
SIZE = 16384


def opened(data: bytes) -> tuple[Tablespace, LargeValue, Lob]:
    space = tablespace(data, verify=False)
    (value,) = large_values(space, table_objects(space))
    assert isinstance(value.value, OffPage)
    return space, value, LobReader(space).open(value.value)


def plain(data: bytes) -> PlainLob:
    lob = opened(data)[2]
    assert isinstance(lob, PlainLob)
    return lob


def step(number: int) -> tuple[bytes, bytes]:
    """The file before and after an update."""
    return unpacked(f"lob_update_{number - 1}"), unpacked(f"lob_update_{number}")


def predicted(number: int) -> tuple[bytes, tuple[tuple[int, int], ...]]:
    """The document after an update, and its binary diffs."""
    (sql,) = FILES[f"lob_update_{number}"]["sql"]
    before = plain(step(number)[0]).read()
    expression = parse_expression(sql.partition("SET j = ")[2])
    change = update_row({"id": 1, "j": before}, [Assignment("j", expression)], Columns(("j",)), log_diffs=False)
    after, ranges = change.columns["j"].after, change.columns["j"].ranges
    assert after is not None
    assert ranges is not None
    return after, ranges


def compare(before: bytes, after: bytes, change: LobChange) -> list[object]:
    """The differences from the prediction, in the LOB and in all bytes of the file."""
    old_space, value, _ = opened(before)
    assert isinstance(value.value, OffPage)
    old, new = plain(before), plain(after)
    row = [Region(value.row.page, value.row.transaction, 13, "system"),
           Region(value.row.page, value.value.at + 8, 4, "version")]  # fmt: skip
    found: list[object] = [*problems(change, old, new)]
    return [*found, *differences(old_space, opened(after)[0], [*regions(change, old, new), *row])]


@pytest.mark.parametrize("name", FILES)
def test_each_file_has_the_document_that_the_server_showed(name: str) -> None:
    space = tablespace(unpacked(name))
    (value,) = large_values(space, table_objects(space))
    assert isinstance(value.value, OffPage)
    data, known = LobReader(space).open(value.value).read(), FILES[name]
    assert hashlib.sha256(format_text(decode(data)).encode()).hexdigest() == known["text_sha256"]
    assert (len(data), storage_free(data)) == (known["storage_size"], known["storage_free"])


@pytest.mark.parametrize("number", UPDATES)
def test_the_file_changes_in_the_predicted_bytes_only(number: int) -> None:
    before, after = step(number)
    document, ranges = predicted(number)
    change = predict_change(plain(before), ranges)
    assert plain(after).read() == document
    assert storage_free(document) == FILES[f"lob_update_{number}"]["storage_free"]
    assert compare(before, after, change) == []


def test_the_first_update_has_100_bytes_and_stays_in_the_pages() -> None:
    change = predict_change(plain(step(1)[0]), predicted(1)[1])
    assert (change.kind, change.version) == (Kind.SMALL, 1)
    assert sum(part.length for part in change.ranges) == 100
    assert plain(step(1)[1]).versions == (1,)


@pytest.mark.parametrize(("size", "kind"), [(100, Kind.SMALL), (101, Kind.COPIED)])
def test_servers_before_9_7_change_the_pages_of_a_copied_value_too(size: int, kind: Kind) -> None:
    """At version 2 a small change is a copy; before 9.7 it is one above 100 bytes only, and keeps the version."""
    before = plain(step(2)[1])
    assert before.current == 2
    ranges = [(40, size)]
    assert predict_change(before, ranges).kind is Kind.COPIED
    change = predict_change(before, ranges, any_version=True)
    assert (change.kind, change.version) == (kind, 2 if kind is Kind.SMALL else 3)
    assert predict_change(plain(step(1)[0]), ranges, any_version=True).kind is kind


def test_later_updates_copy_each_piece_once_for_each_range() -> None:
    before = plain(step(2)[0])
    change = predict_change(before, predicted(2)[1])
    assert (change.kind, change.version) == (Kind.COPIED, 2)
    after = plain(step(2)[1])
    assert [len(entry.older) for entry in after.entries] == [change.copies(piece) for piece in range(4)]
    assert max(change.copies(piece) for piece in range(4)) > 1


def test_an_update_that_needs_an_index_page_gets_one() -> None:
    before, after = step(3)
    assert (plain(before).index_pages, len(plain(after).index_pages)) == ((), 1)


@pytest.mark.parametrize("number", UPDATES)
def test_every_earlier_version_stays_as_it_was(number: int) -> None:
    before, after = map(plain, step(number))
    if before.versions != after.versions:
        assert after.versions == (*before.versions, after.current)
        assert [after.read(version) for version in before.versions] == list(map(before.read, before.versions))


@pytest.mark.parametrize("copied", [True, False])
def test_a_small_change_of_the_same_transaction_may_stand_in_pages_of_the_copy(copied: bool) -> None:
    """As servers before 9.7 write it (observed on 8.0.45): the state between the two is in no file."""
    before, after = step(2)
    old, change = plain(before), predict_change(plain(before), predicted(2)[1])
    of_copies = {part.piece for part in change.ranges}
    (index,) = [index for index in range(4) if (index in of_copies) is copied][:1]
    piece = plain(after).pieces()[index]
    own = [part for part in change.ranges if part.piece == index]
    places = range(0, piece.length, 50)
    free = next(at for at in places if all(not part.offset - 4 < at < part.offset + part.length for part in own))
    changed = bytearray(after)
    place = SIZE * piece.page + plain(after).data_offset(piece) + free
    changed[place : place + 4] = bytes(byte ^ 1 for byte in changed[place : place + 4])
    new = plain(bytes(changed))
    small = LobChange(Kind.SMALL, 2, (PieceRange(index, piece.page, free, 4, 0),))
    shorter = LobChange(Kind.SMALL, 2, (PieceRange(index, piece.page, free, 3, 0),))
    copied_again = LobChange(Kind.COPIED, 3, (PieceRange(index, piece.page, free, 4, 0),))
    assert problems(change, old, new, written_later([small])) == []
    for others in ([], [shorter], [copied_again], [copied_again, small]):
        assert problems(change, old, new, written_later(others)) == [
            f"page {piece.page} differs from piece {index} outside the predicted ranges"
        ]


def test_files_with_index_pages() -> None:
    lob, zlob = opened(unpacked("lob_index_pages"))[2], opened(unpacked("zlob_index_pages"))[2]
    assert (lob.format, zlob.format) == (LobFormat.LOB, LobFormat.ZLOB)
    for found in (lob, zlob):
        assert len(found.all_pages) > len(found.pages())
        assert set(found.pages()) < set(found.all_pages)


# The prediction is worth something only if other files do not fit it.


def moved(change: LobChange, by: int) -> LobChange:
    """The same prediction with every range elsewhere."""
    parts = tuple(part._replace(offset=max(0, part.offset + by)) for part in change.ranges)
    return LobChange(change.kind, change.version, parts)


@pytest.mark.parametrize("number", UPDATES)
@pytest.mark.parametrize("by", [-40, 2, 4000])
def test_ranges_elsewhere_do_not_fit(number: int, by: int) -> None:
    before, after = step(number)
    change = predict_change(plain(before), predicted(number)[1])
    assert compare(before, after, moved(change, by))


@pytest.mark.parametrize("number", UPDATES)
def test_a_missing_range_does_not_fit(number: int) -> None:
    before, after = step(number)
    change = predict_change(plain(before), predicted(number)[1])
    for index in range(len(change.ranges)):
        parts = (*change.ranges[:index], *change.ranges[index + 1 :])
        assert compare(before, after, LobChange(change.kind, change.version, parts))


def test_another_version_or_kind_does_not_fit() -> None:
    for number in UPDATES:
        before, after = step(number)
        change = predict_change(plain(before), predicted(number)[1])
        assert change.version is not None
        assert compare(before, after, LobChange(change.kind, change.version + 1, change.ranges))
        other = Kind.SMALL if change.kind is Kind.COPIED else Kind.COPIED
        assert compare(before, after, LobChange(other, change.version, change.ranges))


@pytest.mark.parametrize("number", UPDATES)
def test_a_byte_changed_anywhere_else_is_found(number: int) -> None:
    before, after = step(number)
    change = predict_change(plain(before), predicted(number)[1])
    old = plain(before)
    touched = {part.piece for part in change.ranges}
    (untouched,) = [entry for piece, entry in enumerate(old.entries) if piece not in touched][:1]
    places = [
        3 * SIZE + 9000,  # the page of the SDI
        4 * SIZE + 94,  # the row's page
        SIZE * untouched.page + old.data_offset(untouched) + 5,
        5 * SIZE + 58,  # the transaction that created the first page's data
        SIZE * untouched.at.page + untouched.at.offset + 53,
        SIZE * old.pieces()[min(touched)].page + SIZE - 20,
    ]
    for place in places:
        data = bytearray(after)
        data[place] ^= 0x40
        try:
            found = compare(before, bytes(data), change)
        except CodecError as error:  # what the reader refuses is found, too
            found = [error]
        assert found, place


def test_ranges_are_split_at_the_ends_of_pieces() -> None:
    lob = plain(step(1)[0])
    sizes = [entry.length for entry in lob.entries]
    assert sizes[:2] == [15680, 16327]
    change = predict_change(lob, [(15679, 2), (15680 + 16327 - 1, 16327 + 2)])
    assert change.ranges == (
        PieceRange(0, lob.entries[0].page, 15679, 1, 0),
        PieceRange(1, lob.entries[1].page, 0, 1, 0),
        PieceRange(1, lob.entries[1].page, 16326, 1, 1),
        PieceRange(2, lob.entries[2].page, 0, 16327, 1),
        PieceRange(3, lob.entries[3].page, 0, 1, 1),
    )


def test_a_prefix_moves_the_ranges_and_forbids_those_inside_it() -> None:
    lob = plain(step(1)[0])
    change = predict_change(lob, [(768, 50)], prefix=768)
    assert (change.kind, change.ranges) == (Kind.SMALL, (PieceRange(0, 5, 0, 50, 0),))
    assert predict_change(lob, [(767, 50)], prefix=768).kind is Kind.REWRITTEN


def test_the_limit_is_100_bytes_at_version_1() -> None:
    first, later = plain(step(1)[0]), plain(step(3)[0])
    assert predict_change(first, [(0, 60), (20000, 40)]).kind is Kind.SMALL
    assert predict_change(first, [(0, 60), (20000, 41)]).kind is Kind.COPIED
    assert predict_change(later, [(0, 1)]).kind is Kind.COPIED
    assert predict_change(later, [(0, 1)]).version == later.first_version + 1


def test_values_of_the_old_formats_are_rewritten() -> None:
    from tests.reference.innodb.fixture_files import fixture

    space = fixture("compressed_zblob_zlob")
    zlob, zblob = (LobReader(space).open(item.value) for item in large_values(space, table_objects(space))
                   if isinstance(item.value, OffPage))  # fmt: skip
    assert predict_change(zblob, [(0, 1)]).kind is Kind.REWRITTEN
    change = predict_change(zlob, [(131071, 2)])
    assert (change.kind, change.version, [part.piece for part in change.ranges]) == (Kind.COPIED, 4, [0, 1])
