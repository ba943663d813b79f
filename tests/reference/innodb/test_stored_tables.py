"""Tables in recorded data files: their rows as values, deleted ones, and what is left behind damage."""

from __future__ import annotations

import gzip
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.errors import CodecError
from conformance.reference.innodb.btree import index_page
from conformance.reference.innodb.checksums import page_crc32
from conformance.reference.innodb.extents import Extents
from conformance.reference.innodb.large_values import table_objects
from conformance.reference.innodb.records import index_id, level
from conformance.reference.innodb.stored_tables import Absent, RowState, StoredTable, stored_tables
from tests.reference.innodb.fixture_files import DATA, fixture, tablespace, unpacked

if TYPE_CHECKING:
    from conformance.reference.innodb.pages import Tablespace


def unexpected(file: str, error: CodecError) -> None:
    raise AssertionError(f"{file}: {error}")


def only_table(space: Tablespace) -> StoredTable:
    (table,) = stored_tables([("file", space)], problem=unexpected)
    return table


def formats(name: str) -> bytes:
    return gzip.decompress((DATA / "formats" / f"{name}.ibd.gz").read_bytes())


def damaged(data: bytes, page: int, at: int = 200) -> bytes:
    """The file with one byte of a page changed; its checksum stays."""
    size = tablespace(data).flags.physical
    out = bytearray(data)
    out[page * size + at] ^= 0xFF
    return bytes(out)


def test_values_have_the_form_of_the_log() -> None:
    table = only_table(fixture("alter_instant"))
    assert [(column.name, column.info.type.type, column.generated) for column in table.columns] == [
        ("id", 3, False), ("b", 245, False), ("c", 15, False)
    ]  # fmt: skip
    assert [row.values for row in table.rows()] == [
        (1, None, b"xyz"), (2, b"\x02\x02\x00\n\x00\x05\x01\x00\x05\x02\x00", b"q")
    ]  # fmt: skip


def test_columns_that_are_gone_keep_their_width_in_older_records() -> None:
    """One row from before, between and behind two INSTANT DROPs of 26 columns: their entries have lost precisions."""
    table = only_table(tablespace(formats("dropped_columns")))
    assert [row.values for row in table.rows()] == [(1, b"as before"), (2, b"between"), (3, b"at last")]


def test_deleted_records_are_told_from_rows_and_free_ones() -> None:
    table = only_table(tablespace(unpacked("undo_compact")))
    assert Counter(row.state for row in table.rows()) == {RowState.CURRENT: 4}
    rows = list(table.rows(deleted=True))
    assert Counter(row.state for row in rows) == {
        RowState.CURRENT: 4, RowState.DELETE_MARKED: 4, RowState.FREE: 3
    }  # fmt: skip


class Told:
    """The words of a reader about files."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, file: str, error: CodecError) -> None:
        self.texts.append(f"{file}: {error}")


def leaf_numbers(space: Tablespace, table: StoredTable) -> list[int]:
    owner = table.parts[0].tree.index_id
    extents = Extents(space, unexpected)  # type: ignore[arg-type]
    found = []
    for number in range(1, space.pages):
        page = space.page(number)
        if page.type == 17855 and not extents.is_free(number) and index_id(page) == owner and not level(page):
            found.append(number)
    return found


@pytest.mark.parametrize("name", ["tree_compressed", "tree_desc", "tree_redundant"])
def test_a_damaged_page_is_named_and_the_others_give_their_rows(name: str) -> None:
    data = formats(name)
    space = tablespace(data)
    table = only_table(space)
    sound = {(row.page, row.origin): row.values for row in table.rows()}
    leaves = sorted({page for page, _ in sound})
    assert leaves == leaf_numbers(space, table)
    assert len(leaves) > 2
    for broken in (leaves[0], leaves[len(leaves) // 2], leaves[-1]):
        told = Told()
        (table,) = stored_tables([("file", tablespace(damaged(data, broken)))], problem=unexpected)
        rows = list(table.rows(problem=told))
        assert {(row.page, row.origin): row.values for row in rows} == {
            place: values for place, values in sound.items() if place[0] != broken
        }
        assert len(rows) == len({(row.page, row.origin) for row in rows})
        assert any(f"page[{broken}]" in text and "expected" in text for text in told.texts), told.texts


def test_leaves_below_a_damaged_root_are_found_in_the_file() -> None:
    data = formats("tree_redundant")
    table = only_table(tablespace(data))
    root = table.parts[0].tree.root
    assert level(index_page(tablespace(data), root)) > 0
    sound = {(row.page, row.origin): row.values for row in table.rows()}
    problems: list[CodecError] = []
    (table,) = stored_tables([("file", tablespace(damaged(data, root)))], problem=unexpected)
    rows = table.rows(problem=lambda _, error: problems.append(error))
    assert {(row.page, row.origin): row.values for row in rows} == sound
    assert any(f"page[{root}]" in str(error) for error in problems)


def test_a_freed_page_gives_no_rows_a_second_time() -> None:
    """Mark a leaf as free behind a damaged root: what it has is no row any more."""
    data = bytearray(formats("tree_redundant"))
    space = tablespace(bytes(data))
    table = only_table(space)
    root, pages = table.parts[0].tree.root, sorted({row.page for row in table.rows()})
    where, at = space.flags.descriptor_place(pages[-1])
    size, bit = space.flags.physical, 2 * (pages[-1] % space.flags.extent)
    data[where * size + at + 24 + bit // 8] |= 1 << bit % 8
    page = bytes(data[where * size : (where + 1) * size])
    for place in (0, size - 8):
        data[where * size + place : where * size + place + 4] = page_crc32(page, compressed=False).to_bytes(4, "big")
    (table,) = stored_tables([("file", tablespace(damaged(bytes(data), root)))], problem=unexpected)
    assert {row.page for row in table.rows(problem=lambda *_: None)} == set(pages[:-1])


def test_a_damaged_large_value_leaves_the_rest_of_its_row() -> None:
    space = fixture("lob_versions")
    row = next(iter(only_table(space).rows()))
    (reference,) = (record.values[3].reference for record in _records(space) if hasattr(record.values[3], "reference"))
    broken = tablespace(damaged(unpacked("lob_versions"), reference.page, 800))
    (table,) = stored_tables([("file", broken)], problem=unexpected)
    (left,) = table.rows(problem=unexpected)
    assert [value is Absent.UNREADABLE for value in left.values].count(True) == 1
    assert all(
        one == other for one, other in zip(row.values, left.values, strict=True) if other is not Absent.UNREADABLE
    )
    assert f"page[{reference.page}]" in str(left.problems[0])
    with pytest.raises(CodecError, match="bad-checksum"):
        list(table.rows())


def _records(space: Tablespace) -> list[Any]:
    from conformance.reference.innodb.large_values import rows

    return [stored.record for stored in rows(space, table_objects(space))]


def test_the_newest_of_two_entries_is_the_table() -> None:
    space = fixture("alter_instant")
    (entry,) = table_objects(space)
    older = {**entry, "last_altered": 1, "comment": "older"}
    told: list[tuple[str, tuple[str, str]]] = []
    for entries in ([older, entry], [entry, older]):
        (table,) = stored_tables([("file", space)], problem=unexpected, dictionary=entries,
                                 superseded=lambda *words: told.append(words))  # fmt: skip
        assert table.entry is entry
    assert told == [("file", ("fx", "alter_instant"))] * 2


def test_no_file_has_the_values_of_virtual_columns() -> None:
    table = only_table(fixture("gencols_json"))
    virtual = [column.name for column in table.columns if column.field is None]
    assert virtual
    for row in table.rows():
        absent = [
            column.name for column, value in zip(table.columns, row.values, strict=True) if isinstance(value, Absent)
        ]
        assert absent == virtual
