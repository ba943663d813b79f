"""Borders of row images: null bitmaps that fill their bytes, images without columns, errors behind the first row, and
what an event of a certain size may hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.reference.binlog.header import HEADER_SIZE
from conformance.reference.binlog.rows import (
    NdbInfo,
    PartitionInfo,
    Row,
    decode_rows_event,
    encode_head,
    fixed_size,
    rows_body,
    split_rows,
)
from conformance.reference.tables.columns import JSON, LONG, NULL, TINY, VARCHAR, ColumnType, PartialJson
from conformance.reference.tables.table_map import TableMap
from tests.reference.refusals import refused, where

if TYPE_CHECKING:
    from conformance.reference.binlog.rows import LazyRows

WRITE, UPDATE, DELETE, PARTIAL = 30, 31, 32, 39
UPDATE_V1 = 24


def table(*columns: ColumnType) -> TableMap:
    """A new one each time: how rows are read is kept with it."""
    return TableMap(table_id=1, schema="d", table="t", columns=columns, nullable=(True,) * len(columns))


def event(code: int, made: TableMap, rows: str, included: str = "", *, view: bool = False) -> LazyRows:
    """Rows in hexadecimal behind a head with bitmaps of all columns, or of those that are included."""
    count = len(made.columns)
    bitmap = bytes.fromhex(included) or b"\xff" * ((count + 7) // 8)
    head = bytes.fromhex("010000000000 0100 0200") + bytes((count,)) + bitmap * (2 if code in (UPDATE, PARTIAL) else 1)
    found = decode_rows_event(code, head + bytes.fromhex(rows), {1: made})
    return replace(found, data=memoryview(bytes(found.data))) if view else found


def place(found: LazyRows, pos: int) -> int:
    """Where in the event a byte of its rows is."""
    return HEADER_SIZE + found.offset + pos


def one() -> TableMap:
    return table(ColumnType(TINY))


@pytest.mark.parametrize(
    ("rows", "after", "fill"),
    [("00 05", 5, False), ("01", None, False), ("02 05", 5, True), ("fe 05", 5, True), ("ff", None, True)],
)
def test_unused_null_bits_of_a_single_column_are_noticed(rows: str, after: int | None, fill: bool) -> None:
    made = one()
    body = event(WRITE, made, rows).typed()
    assert (body.rows, body.null_fill) == ((Row(None, (after,)),), fill)
    assert not event(WRITE, made, "00 05").typed().null_fill  # the next event with the same table


@pytest.mark.parametrize("view", [False, True])
def test_unused_null_bits_beside_diffs_are_noticed(view: bool) -> None:
    made = table(ColumnType(TINY), ColumnType(JSON, 4))
    for nulls, fill in (("00", False), ("fc", True)):
        found = event(PARTIAL, made, f"02 05 01 01 {nulls} 05 01000000 41", view=view).typed()
        assert (found.rows, found.null_fill) == ((Row((5, None), (5, PartialJson(b"A")), 1, 1),), fill)


@pytest.mark.parametrize("views", [(False, True), (True, False)])
def test_values_are_bytes_whether_a_view_was_read_before_or_not(views: tuple[bool, bool]) -> None:
    made = table(ColumnType(VARCHAR, 9), ColumnType(JSON, 4))
    old = "00 0161 01000000 41"
    for view in views:
        found = event(PARTIAL, made, f"{old} 01 01 {old} {old} 00 {old}", view=view)
        assert isinstance(found.data, memoryview) == view
        rows = list(found.rows())
        assert rows == [
            Row((b"a", b"A"), (b"a", PartialJson(b"A")), 1, 1),
            Row((b"a", b"A"), (b"a", b"A"), 0),
        ]
        assert {type(value) for row in rows for value in (row.before or ()) + (row.after or ())} == {bytes, PartialJson}
        (diffs,) = (value.diffs for row in rows for value in row.after or () if isinstance(value, PartialJson))
        assert type(diffs) is bytes


def test_an_event_may_end_with_a_null_bitmap() -> None:
    made = table(*[ColumnType(TINY)] * 9)
    assert [row.after for row in event(WRITE, made, "ff01 ff01").rows()] == [(None,) * 9] * 2
    assert event(WRITE, made, "ff01").typed().encode() == bytes.fromhex("010000000000 0100 0200 09 ffff ff01")


@pytest.mark.parametrize("code", [WRITE, UPDATE, DELETE])
def test_a_row_without_columns_has_the_images_of_its_event(code: int) -> None:
    found = event(code, one(), "", "00")
    row = Row(None if code == WRITE else (), None if code == DELETE else ())
    assert found.typed().rows == (row,)
    assert list(found.rows()) == [row]


def test_images_without_columns_have_no_null_bits_to_fill() -> None:
    body = replace(rows_body(one(), WRITE, [Row(None, ())], after=[]), null_fill=True)
    assert body.encoded_rows() == [b""]


def test_an_error_names_its_row_behind_the_second_too() -> None:
    found = event(WRITE, one(), "00 05" * 3 + "00")
    assert where(refused(list, found.rows())) == ("truncated", place(found, 7), "WRITE_ROWS_EVENT.rows[3].after.@1")


@pytest.mark.parametrize(
    ("count", "rows", "pos", "name"),
    [
        (8, "00 01020304050607", 8, "@8"),  # as many null bits as columns: no byte more
        (9, "0100 02030405060708", 9, "@9"),  # the lowest bit is the first column's
        (9, "0001 0102030405060708 0001 01", 13, "@2"),
    ],
)
def test_the_column_that_is_cut_off_is_found_behind_full_null_bitmaps(
    count: int, rows: str, pos: int, name: str
) -> None:
    found = event(WRITE, table(*[ColumnType(TINY)] * count), rows)
    error = refused(list, found.rows())
    assert (error.code, error.offset, error.path[-1]) == ("truncated", place(found, pos), name)


def short() -> TableMap:
    """Here the length of a document has two bytes, and that of diffs four as always: who takes one for the other is
    found."""
    return table(ColumnType(JSON, 2))


WHOLE = "00 0000"  # an image with an empty document
DIFFS = "01 01 00 00000000"  # value options, the partial bit, an image with the empty list of diffs


@pytest.mark.parametrize("view", [False, True])
@pytest.mark.parametrize(
    ("rows", "pos", "path", "expected", "got"),
    [
        (WHOLE + "01 01 00 000000", 6, "rows[0].after.@1", None, 3),
        (WHOLE + "01 01 00 03000000 41", 6, "rows[0].after.@1", 3, 1),
        (WHOLE + "01 00 00 0300 41", 6, "rows[0].after.@1", 3, 1),
        (WHOLE + "00 00 0300 41", 5, "rows[0].after.@1", 3, 1),
        ("00 0300 41", 1, "rows[0].before.@1", 3, 1),
        (WHOLE + DIFFS + "00 0300 41", 11, "rows[1].before.@1", 3, 1),
    ],
)
def test_a_cut_value_is_read_again_as_what_it_is(
    rows: str, pos: int, path: str, expected: int | None, got: int, view: bool
) -> None:
    found = event(PARTIAL, short(), rows, view=view)
    error = refused(list, found.rows())
    assert where(error) == ("truncated", place(found, pos), f"PARTIAL_UPDATE_ROWS_EVENT.{path}")
    assert (error.expected, error.got) == (expected, got)


def test_partial_bits_may_be_the_last_bytes_but_the_image_is_missing_then() -> None:
    found = event(PARTIAL, short(), WHOLE + "01 01")
    path = "PARTIAL_UPDATE_ROWS_EVENT.rows[0].after.null_bitmap"
    assert where(refused(list, found.rows())) == ("truncated", place(found, 5), path)


def test_a_column_of_unknown_form_is_named() -> None:
    made = table(ColumnType(TINY), ColumnType(NULL))
    path = "WRITE_ROWS_EVENT.rows[0].after.@2"
    assert where(refused(list, event(WRITE, made, "00 05").rows()))[::2] == ("column-type", path)
    assert list(event(WRITE, made, "00 05", "01").rows()) == [Row(None, (5,))]  # where it is included


# --- writing


@pytest.mark.parametrize(("count", "bits"), [(2, "03"), (7, "7f"), (8, "ff"), (9, "ff01")])
def test_partial_bits_are_those_of_all_diffs_of_the_row(count: int, bits: str) -> None:
    made = table(*[ColumnType(JSON, 4)] * count)
    row = Row((None,) * count, (PartialJson(b""),) * count)
    nulls = "00" * ((count + 7) // 8)
    body = rows_body(made, PARTIAL, [row])
    before = ((1 << count) - 1).to_bytes((count + 7) // 8, "little").hex()
    assert body.encoded_rows()[0].hex() == before + "01" + bits + nulls + "00000000" * count
    found = decode_rows_event(PARTIAL, body.encode(), {1: made})
    assert list(found.rows()) == [row._replace(value_options=1, partial_columns=(1 << count) - 1)]


@pytest.mark.parametrize(
    ("options", "bits", "value", "expected", "got"),
    [
        (0, None, PartialJson(b""), 1, 0),
        (0, 1, None, 1, 0),
        (1, 2, None, 1, "0x2"),
        (1, -1, None, 1, "-0x1"),
    ],
)
def test_value_options_that_do_not_go_with_the_values_are_refused(
    options: int, bits: int | None, value: PartialJson | None, expected: int, got: object
) -> None:
    made = table(ColumnType(JSON, 4))
    error = refused(rows_body(made, PARTIAL, [Row((None,), (value,), options, bits)]).encode)
    assert (where(error), error.expected, error.got) == (("bad-value", None, "rows[0]"), expected, got)


# --- the size of an event


@pytest.mark.parametrize("count", [1, 8, 9, 250, 251])
@pytest.mark.parametrize("extra", [(), (PartitionInfo(3),), (PartitionInfo(3, 4), NdbInfo(1, b"xyz"))])
@pytest.mark.parametrize("code", [23, UPDATE_V1, 25, WRITE, UPDATE, DELETE, PARTIAL])
def test_what_counts_beside_the_rows_is_their_head(
    code: int, extra: tuple[PartitionInfo | NdbInfo, ...], count: int
) -> None:
    made = table(*[ColumnType(TINY)] * count)
    body = rows_body(made, code, [], extra=() if code < WRITE else extra)
    assert fixed_size(body) == len(encode_head(body))


def test_a_server_splits_two_rows_when_they_are_one_byte_too_long() -> None:
    """8192 bytes are the limit if nothing else is said: 12 of the head, two rows of 7 bytes and their texts."""
    made = table(ColumnType(LONG), ColumnType(VARCHAR, 8000))
    for size, counts in ((8192 - 26, [2]), (8192 - 26 + 1, [1, 1])):
        rows = [Row(None, (1, b"x" * 200)), Row(None, (2, b"x" * (size - 200)))]
        parts = split_rows(rows_body(made, WRITE, rows))
        assert [len(part.rows) for part in parts] == counts
        assert sum(len(part.encode()) for part in parts) == size + 26 + 12 * (len(parts) - 1)


def test_diffs_where_no_document_is_are_refused_and_count_for_no_bit() -> None:
    made = table(ColumnType(TINY), ColumnType(JSON, 4))
    for after, options, column in (
        ((PartialJson(b"A"), None), None, "@1"),
        ((PartialJson(b"A"), PartialJson(b"A")), None, "@1"),
        ((PartialJson(b"A"), b"A"), 0, "@1"),
    ):
        error = refused(rows_body(made, 39, [Row((5, None), after, options)]).encode)
        assert where(error)[::2] == ("bad-value", f"rows[0].after.{column}")
