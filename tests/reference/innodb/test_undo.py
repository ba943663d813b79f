"""The undo log: recorded histories, fields of records byte by byte, and what is refused."""

from __future__ import annotations

import gzip
import json
import random
from functools import cache
from itertools import pairwise
from typing import Any, Final

import pytest

from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.innodb.large_values import rows, table_objects
from conformance.reference.innodb.pages import Page, PageType, Tablespace
from conformance.reference.innodb.records import OffPage
from conformance.reference.innodb.undo.log import (
    PURGED,
    RollPointer,
    SegmentState,
    UndoTablespaces,
    logs,
    rollback_segments,
    space_number,
)
from conformance.reference.innodb.undo.record import SmallChange, UndoRecord, UndoType, read_undo_record
from conformance.reference.innodb.undo.row_versions import Histories, RowHistory, row_versions
from tests.reference.innodb.fixture_files import DATA, tablespace

PAGE: Final = 16384
J, K = 3, 5  # places of the JSON columns in a record
CHANGES: Final = {UndoType.INSERT: "INSERT", UndoType.INSERT_OVER_DELETED: "INSERT", UndoType.UPDATE: "UPDATE",
                  UndoType.DELETE: "DELETE"}  # fmt: skip


@cache
def unpacked(name: str) -> bytes:
    return gzip.decompress((DATA / f"{name}.gz").read_bytes())


@cache
def undo() -> tuple[Tablespace, ...]:
    return tuple(tablespace(unpacked(name)) for name in ("undo_001", "undo_002"))


def histories(table: str, spaces: tuple[Tablespace, ...] | None = None) -> list[RowHistory]:
    space = tablespace(unpacked(f"undo_{table}.ibd"))
    return list(row_versions(space, table_objects(space), UndoTablespaces(undo() if spaces is None else spaces)))


def recorded(table: str) -> dict[int, list[tuple[str, list[bytes | None]]]]:
    """The images in the binary log, by key, the oldest first."""
    found: dict[str, Any] = json.loads(unpacked("undo.json"))
    return {
        int(key): [(change, [None if value is None else bytes.fromhex(value) for value in values])
                   for change, values in images] for key, images in found[table].items()
    }  # fmt: skip


def images(history: RowHistory) -> list[tuple[str, list[bytes | None]]]:
    return [
        (CHANGES[version.change], [version.read(J), version.read(K)])
        for version in reversed(history.versions)
        if version.change is not None and not version.open
    ]


def key(history: RowHistory) -> int:
    return int(str(history.row.key[0][1]))


@pytest.mark.parametrize("table", ["dynamic", "compact"])
def test_every_version_is_the_image_in_the_binary_log(table: str) -> None:
    found = histories(table)
    assert [history.end for history in found] == [None] * 8
    assert {key(history): images(history) for history in found} == recorded(table)


def test_the_kinds_of_change_and_what_they_changed() -> None:
    first, _, third, fourth, *_ = histories("dynamic")
    assert [version.change for version in first.versions] == [
        UndoType.INSERT_OVER_DELETED, UndoType.DELETE, *[UndoType.UPDATE] * 7, UndoType.INSERT
    ]  # fmt: skip
    changed = [None if version.changed is None else sorted(version.changed) for version in first.versions]
    assert changed[1:] == [[], [5], [3], [3], [4], [3, 5], [3], [3], None]
    assert [version.deleted for version in first.versions] == [False, True, *[False] * 8]
    assert [(version.open, version.change) for version in third.versions] == [
        (True, UndoType.UPDATE), (False, UndoType.UPDATE), (False, UndoType.INSERT)
    ]  # fmt: skip
    assert fourth.row.deleted
    # Two statements of one transaction are two versions of it.
    assert [newer.transaction == older.transaction for newer, older in pairwise(first.versions)].count(True) == 1


def test_older_versions_have_all_columns() -> None:
    first = histories("dynamic")[0]
    assert [version.read(4) for version in first.versions] == [b"back", *[b"new"] * 5, *[b"v"] * 4]
    for version in first.versions:
        assert version.read(1) == version.transaction.to_bytes(6, "big")
        assert RollPointer.of(int.from_bytes(version.read(2) or b"", "big")) == version.roll_pointer


def test_the_states_between_small_changes_are_not_in_the_data_file() -> None:
    first = histories("dynamic")[0]
    oldest = [version.values[J] for version in first.versions[-3:]]
    assert len({value.reference for value in oldest if isinstance(value, OffPage)}) == 1
    assert len({version.read(J) for version in first.versions[-3:]}) == 3


def test_numbers_of_undo_tablespaces() -> None:
    assert [space_number(space.space_id) for space in undo()] == [1, 2]
    # innodb_undo_001 behind its first truncation, and a third one, as observed
    assert (space_number(4294967152), space_number(4294967277)) == (1, 3)
    assert (space_number(0), space_number(2), space_number(0xFFFFFFF0), space_number(0xFFFFFFFE)) == (0,) + (None,) * 3


def test_a_roll_pointer_has_seven_bits_for_the_undo_tablespace() -> None:
    pointer = RollPointer.of(0xFF_0000_011C_0151)
    assert pointer == RollPointer(insert=True, space=127, page=284, offset=337)
    assert pointer.raw == 0xFF_0000_011C_0151


def test_a_page_may_have_the_logs_of_several_transactions() -> None:
    number, pointer = places()[0]
    page = undo()[number].page(pointer.page)
    (only,) = logs(page)
    raw = bytearray(page.data[58:640])
    raw[:2] = (588).to_bytes(2, "big")
    raw[530:564] = (99).to_bytes(8, "big") + bytes(24) + only.offset.to_bytes(2, "big")
    spaces = UndoTablespaces(changed(number, pointer.page * PAGE + 58, bytes(raw), verify=False))
    page = spaces.page(number + 1, pointer.page)
    assert spaces.log_of(number + 1, page, 800).transaction == 99
    assert spaces.log_of(number + 1, page, 400).transaction == only.transaction


def test_rollback_segments_lead_to_the_open_transaction() -> None:
    segments = [segment for space in undo() for segment in rollback_segments(space)]
    assert len(segments) == 256
    version = histories("dynamic")[2].versions[0]
    space = undo()[version.roll_pointer.space - 1]
    page = UndoTablespaces(undo()).page(version.roll_pointer.space, version.roll_pointer.page)
    log = next(logs(page))
    assert (log.transaction, log.state, log.open) == (version.transaction, SegmentState.ACTIVE, True)
    assert any(page.number in segment.segments for segment in rollback_segments(space))


def test_a_missing_undo_tablespace_is_named() -> None:
    found = histories("dynamic", undo()[:1])
    ends = [history.end for history in found if history.end is not None]
    assert {end.code for end in ends} == {"no-undo-tablespace"}
    assert "undo_002" in str(ends[0])
    # What needs no undo record, or those of the other file, is read: the newest version at least.
    assert all(history.versions[0].values for history in found)


def test_other_files_and_files_given_twice_are_refused() -> None:
    with pytest.raises(DecodeError, match="no undo tablespace"):
        UndoTablespaces([tablespace(unpacked("undo_dynamic.ibd"))])
    with pytest.raises(DecodeError, match="the same undo tablespace"):
        UndoTablespaces([undo()[0], undo()[0]])


# -- records ----------------------------------------------------------------------------------------------------------


def undo_page(record: bytes, at: int = 337) -> Page:
    """A page with one record; its two bytes at both ends are computed."""
    data = bytearray(PAGE)
    data[24:26] = PageType.UNDO_LOG.to_bytes(2, "big")
    end = at + len(record) + 4
    data[at:end] = end.to_bytes(2, "big") + record + at.to_bytes(2, "big")
    data[42:44] = end.to_bytes(2, "big")
    return Page(288, bytes(data))


def parsed(text: str, keys: int = 1) -> UndoRecord:
    return read_undo_record(undo_page(bytes.fromhex(text)), 337, keys)


REFERENCE: Final = "00000002 00000005 00000001 00 000000 00004e3e"
# Type, flags, undo number, table id, info bits, transaction, roll pointer, key.
HEAD: Final = "00 00 8428 00 00 00000619 c1000001 1c0151 04 80000001"


def test_a_record_with_a_small_change_as_9_7_4_wrote_it() -> None:
    found = parsed(f"dc {HEAD} 02 03 fdc013 {REFERENCE} 00 01 05 01 8617 00 c04e38 06 0573686f7274 01 8617 00 04 fbff")
    assert (found.type, found.table_id, found.transaction) == (UndoType.UPDATE, 1064, 0x619)
    assert found.roll_pointer == RollPointer(insert=False, space=1, page=284, offset=337)
    assert found.fields[0].changes == (SmallChange(5, 1, 20024, b"\x05short"),)
    assert (found.fields[1].position, found.fields[1].value) == (4, None)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7f", 127), ("8080", 128), ("bfff", 0x3FFF), ("c04000", 0x4000), ("dfffff", 0x1FFFFF), ("e0200000", 0x200000),
        ("efffffff", 0xFFFFFFF), ("f010000000", 0x10000000), ("f8 00", 0xFFFFFC00), ("fbfe", 0xFFFFFFFE),
        ("fc0000", 0xFFFE0000), ("fdc013", 0xFFFFC013), ("fe000000", 0xFF000000), ("ff 05 06", 5 << 32 | 6),
    ],
)  # fmt: skip
def test_numbers(text: str, number: int) -> None:
    assert parsed(f"0b 00 {text} 04 80000001").table_id == number


def test_other_first_bytes_are_no_numbers() -> None:
    with pytest.raises(DecodeError, match="bad-undo-number"):
        parsed("0b 00 f1 00000000 04 80000001")


def test_virtual_columns_and_multi_valued_indexes_are_passed_over() -> None:
    """Update of ``j`` with an index on (CAST(j->'$.a' AS UNSIGNED ARRAY)), as 9.7.4 wrote it."""
    index = "1e" + "00 04 80000001 83ff f1 0006 01 809e 00 ff 000c 01 08 0000000000000004"
    found = parsed(
        f"4c {HEAD} 02 03 14 00010013000b000100020c006101000700050400"
        f" 83ff f1 0006 01 809e 00 ff 000c 01 08 0000000000000004 ff 0001 00{index}"
    )
    assert [field.position for field in found.fields] == [3]


def test_a_longer_prefix_for_indexes_is_not_part_of_the_value() -> None:
    found = parsed(f"cc {HEAD} 01 04 fdbfff 14 27 {'74' * 19} {REFERENCE} 00 00 0002")
    (field,) = found.fields
    assert isinstance(field.value, OffPage)
    assert (field.value.prefix, field.value.reference.page) == (b"", 5)
    found = parsed(f"cc {HEAD} 01 04 fdbfff 16 27 {'74' * 19} {REFERENCE} 00 00 0002")
    assert isinstance(found.fields[0].value, OffPage)
    assert found.fields[0].value.prefix == b"tt"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("0f 00 8428 04 80000001", "bad-undo-type"),
        ("4e 00 00 8428 00 c10000 00000619", "bad-undo-number"),
        ("4e 01 00 8428", "unknown-undo-flags"),
        ("0b 00 8428 05 80000001", "bad-undo-record"),
        ("0b 00", "bad-undo-record"),
        (f"dc {HEAD} 01 04 01", "bad-undo-record"),
        (f"dc {HEAD} 01 04 01 aa bb", "bad-undo-record"),
        (f"dc {HEAD} 01 03 fdc013 {REFERENCE} 01 00", "unknown-undo-flags"),
        (f"dc {HEAD} 01 03 fdc012 {REFERENCE[2:]} 00 00", "bad-undo-record"),
        (f"dc {HEAD} 01 03 fdc013 {REFERENCE} 00 01 05 01 00 00 05 01 aa 03 00 00 00 00 00 00", "bad-undo-record"),
        (f"5c {HEAD} 01 83ff f2 0002 00 00", "unknown-undo-format"),
        (f"4e {HEAD} 0008 00 04 800000", "bad-undo-record"),
    ],
)
def test_each_field_has_its_error(text: str, code: str) -> None:
    with pytest.raises(DecodeError) as caught:
        parsed(text)
    assert caught.value.code == code, caught.value
    assert caught.value.path[0] == "page[288]"
    assert len(caught.value.path) == 2
    assert caught.value.offset is not None


def test_every_shortened_record_is_refused() -> None:
    record = bytes.fromhex(f"dc {HEAD} 01 03 fdc013 {REFERENCE} 00 01 05 01 8617 00 c04e38 06 0573686f7274 01 8617 00")
    for length in range(len(record)):
        with pytest.raises(DecodeError):
            read_undo_record(undo_page(record[:length]), 337, 1)


# -- damage -----------------------------------------------------------------------------------------------------------


def places() -> list[tuple[int, RollPointer]]:
    """The undo records of the table, each with the place of its page in the list of tablespaces."""
    return [
        (version.roll_pointer.space - 1, version.roll_pointer)
        for history in histories("dynamic")
        for version in history.versions
        if not version.roll_pointer.insert
    ]


def outcome(spaces: tuple[Tablespace, ...], only: int | None = None) -> list[Any]:
    """Everything that is read of all rows or one, errors included; any other exception ends the test."""
    data = unpacked("undo_dynamic.ibd")
    space = Tablespace.of_bytes(data, verify=False)
    found = Histories(space, table_objects(space), UndoTablespaces(spaces))
    read: list[Any] = []
    for number, stored in enumerate(rows(space, found.tables, deleted=True)):
        if only not in {None, number}:
            continue
        history = found.of(stored)
        if history.end is not None:
            read.append(history.end)
        for version in history.versions:
            try:
                read.append((version.transaction, version.change, version.read(J), version.read(K), version.read(4)))
            except CodecError as error:
                read.append(error)
    return read


def problems(read: list[Any]) -> list[CodecError]:
    return [item for item in read if isinstance(item, CodecError)]


def changed(number: int, place: int, raw: bytes, *, verify: bool) -> tuple[Tablespace, ...]:
    """The undo tablespaces, one of them with other bytes at a place."""
    data = unpacked(f"undo_00{number + 1}")

    def window(offset: int, count: int) -> bytes:
        piece = data[offset : offset + count]
        if offset <= place < offset + count:
            at = place - offset
            piece = piece[:at] + raw + piece[at + len(raw) :]
        return piece

    spaces = list(undo())
    spaces[number] = Tablespace(window, len(data), verify=verify)
    return tuple(spaces)


def damaged(number: int, place: int, mask: int, *, verify: bool) -> tuple[Tablespace, ...]:
    return changed(number, place, bytes([unpacked(f"undo_00{number + 1}")[place] ^ mask]), verify=verify)


def test_every_damage_of_a_record_is_declared_or_harmless() -> None:
    """All bytes of the undo records of a row, and header fields of their pages; checksums are not looked at."""
    draw = random.Random("undo damage")
    sound, declared = outcome(undo(), 0), 0
    for number, pointer in places()[:6]:
        page = undo()[number].page(pointer.page)
        record = range(pointer.offset, page.u2(pointer.offset, "next"))
        header = (*range(38, 48), *range(56, 60), *range(86, 94), *range(118, 120), 24, 25)
        for at in (*draw.sample(record, min(len(record), 30)), *draw.sample(header, 8)):
            place = pointer.page * PAGE + at
            found = outcome(damaged(number, place, draw.randrange(1, 256), verify=False), 0)
            declared += bool(problems(found))
            for error in problems(found):
                assert len(error.path) > 1, error
                assert error.offset is not None or error.got is not None, error
            assert len(found) <= len(sound) + 1
    assert declared > 90


def test_with_checksums_every_damage_of_a_page_is_found() -> None:
    draw = random.Random("undo checksums")
    for number, pointer in places()[:6]:
        at = draw.choice([*range(4, 26), *range(38, PAGE)])
        damage = damaged(number, pointer.page * PAGE + at, 1 << draw.randrange(8), verify=True)
        error, *_ = problems(outcome(damage, 0))
        assert f"page[{pointer.page}]" in error.path
        assert error.path[0] == f"undo[{number + 1}]"


def test_every_truncation_of_an_undo_tablespace_is_declared() -> None:
    for page in random.Random("cut").sample(sorted({pointer.page for number, pointer in places() if number == 0}), 2):
        for size in (page * PAGE, page * PAGE + 1, (page + 1) * PAGE - 1):
            found = problems(outcome((tablespace(unpacked("undo_001")[:size]), undo()[1])))
            assert found
            assert {error.code for error in found} == {"no-such-page"}
            assert all(int(error.path[-1][5:-1]) >= page and error.path[0] == "undo[1]" for error in found)


def test_a_roll_pointer_that_comes_back_ends() -> None:
    number, pointer = places()[2]
    record = read_undo_record(undo()[number].page(pointer.page), pointer.offset, 1)
    transaction = next(
        version.transaction for history in histories("dynamic") for version in history.versions
        if version.roll_pointer == pointer
    )  # fmt: skip

    def encoded(transaction: int, pointer: RollPointer) -> bytes:
        """DB_TRX_ID and DB_ROLL_PTR of the version before, as a record has them."""
        high, low = divmod(pointer.raw, 1 << 32)
        return b"\0" + transaction.to_bytes(4, "big") + (0xC00000 | high).to_bytes(3, "big") + low.to_bytes(4, "big")

    place = unpacked(f"undo_00{number + 1}").index(
        encoded(record.transaction, record.roll_pointer), pointer.page * PAGE + pointer.offset
    )
    spaces = changed(number, place, encoded(transaction, pointer), verify=False)
    assert [error.code for error in problems(outcome(spaces, 0))] == ["undo-circle"]


def test_a_place_that_is_used_again_is_purged() -> None:
    number, pointer = places()[0]
    page = undo()[number].page(pointer.page)
    log = UndoTablespaces(undo()).log_of(number + 1, page, pointer.offset)
    found = outcome(damaged(number, log.page * PAGE + log.offset + 7, 0x40, verify=False))
    assert PURGED in {error.code for error in problems(found)}
