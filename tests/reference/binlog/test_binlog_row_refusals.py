"""Damaged TABLE_MAPs and row events: the code of the error, the byte that it names, and the path down to the column."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.binlog.rows import NdbInfo, Row, decode_rows_event, encode_head, rows_body
from conformance.reference.cursor import Cursor
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.table_map import TableMap
from tests.reference.refusals import refused, where

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.errors import CodecError


def test_a_cursor_names_the_field_that_is_cut_and_stays_where_it_was() -> None:
    reads: list[tuple[Callable[[Cursor, str], int], int]] = [
        (Cursor.u1, 1), (Cursor.u2, 2), (Cursor.u4, 4), (Cursor.u8, 8),
        *[(lambda cursor, field, size=size: cursor.number(size, field), size) for size in (1, 3, 6, 7)],
    ]  # fmt: skip
    for read, size in reads:
        data = b"." + bytes(range(1, size + 1)) + b"."
        cursor = Cursor(data, 1, 1 + size)
        assert read(cursor, "field") == int.from_bytes(data[1 : 1 + size], "little")
        assert (cursor.pos, len(cursor)) == (1 + size, 0)
        cursor = Cursor(data, 1, size)
        error = refused(read, cursor, "field")
        assert (where(error), error.expected, error.got) == (("truncated", 1, "field"), size, size - 1)
        assert cursor.pos == 1
    for name in ("take", "skip"):
        cursor = Cursor(b"abc", 1)
        assert where(refused(getattr(cursor, name), 3, "field")) == ("truncated", 1, "field")
        assert where(refused(getattr(cursor, name), -1, "field")) == ("truncated", 1, "field")
        assert getattr(cursor, name)(2, "field") == (b"bc" if name == "take" else 1)
    cursor = Cursor(b"abc", 1)
    error = refused(cursor.expect_end, "it")
    assert (where(error), error.expected, error.got) == (("trailing-bytes", 1, ""), 0, 2)
    assert cursor.rest("it") == b"bc"
    cursor.expect_end("it")


# A table t.u of one JSON column (4 bytes of length) that may be NULL.
TABLE = "010000000000 0100 01 74 00 01 75 00 01 f5 01 04 01"


@pytest.mark.parametrize(
    ("cut", "place", "byte", "code", "offset", "path"),
    [
        (4, None, 0, "truncated", 0, "table_id"),
        (7, None, 0, "truncated", 6, "flags"),
        (8, None, 0, "truncated", 8, "schema"),
        (9, None, 0, "truncated", 9, "schema"),
        (10, None, 0, "truncated", 10, "schema_end"),
        (None, 10, 1, "bad-name", 10, "schema"),
        (None, 13, 9, "bad-name", 13, "table"),
        (14, None, 0, "truncated", 14, "column_count"),
        (15, None, 0, "truncated", 15, "column_type"),
        (16, None, 0, "truncated", 16, "column_metadata"),
        (17, None, 0, "truncated", 17, "column_metadata"),
        (18, None, 0, "truncated", 18, "null_bitmap"),
        (None, 15, 0xEE, "column-type", None, "columns[0]"),
        (None, 15, 0xFC, "", None, ""),  # a BLOB has as many bytes of metadata
        (None, 15, 0x03, "trailing-bytes", 0, ""),  # INT has none
        (None, 15, 0x0F, "truncated", 0, "column_metadata"),  # VARCHAR has two
        (None, 15, 0x14, "truncated", 0, "column_metadata"),  # an array has its element's too
    ],
)
def test_a_damaged_table_map_says_which_byte_is_wrong(
    cut: int | None, place: int | None, byte: int, code: str, offset: int | None, path: str
) -> None:
    raw = bytearray.fromhex(TABLE)
    if place is not None:
        raw[place] = byte
    if not code:
        assert TableMap.decode(bytes(raw)).encode() == bytes(raw)
        return
    assert where(refused(TableMap.decode, bytes(raw[:cut]))) == (code, offset, path)


def test_an_array_without_metadata_is_cut_off() -> None:
    raw = bytes.fromhex("010000000000 0100 01 74 00 01 75 00 01 14 00 01")
    assert where(refused(TableMap.decode, raw)) == ("truncated", 0, "column_metadata")


# Table 1, flags 1, one column, both bitmaps: the head of an update in the second and in the first version.
HEAD = "010000000000 0100 0200 01 ff ff"
HEAD_V1 = "010000000000 0100 01 ff ff"


@pytest.mark.parametrize(
    ("code", "head", "error", "offset", "path"),
    [
        (31, "010000000000 01", "truncated", 0, "header"),
        (31, "010000000000 0100 0200", "truncated", 10, "column_count"),
        (24, "010000000000 01", "truncated", 0, "header"),
        (24, "010000000000 0100", "truncated", 8, "column_count"),
        (31, HEAD[:-3], "truncated", 12, "after_columns"),
        (30, HEAD[:-6], "truncated", 11, "after_columns"),
        (24, HEAD_V1[:-3], "truncated", 10, "after_columns"),
        (31, "010000000000 0100 0200 fc01", "truncated", 10, "column_count"),
        (31, "010000000000 0100 0200 fb", "bad-packed-integer", 10, "column_count"),
        (31, "010000000000 0100 0100 01 ff ff", "bad-length", 8, ""),
        (31, "010000000000 0100 0000 01 ff ff", "bad-length", 8, ""),
        (31, "010000000000 0100 0900 01 ff ff", "truncated", 10, "extra_row_data"),
        (31, "010000000000 0100 0400 01", "truncated", 10, "extra_row_data"),
        (31, "010000000000 0100 0400 00 01 01 ff ff", "bad-length", 11, ""),
        (31, "010000000000 0100 0300 00 01 ff ff", "bad-length", 11, ""),
        (31, "010000000000 0100 0400 01 01 01 ff ff", "truncated", 11, "partition"),
        (31, "010000000000 0100 0600 01 0100 02 01 ff ff", "truncated", 13, "source_partition"),
        (31, "010000000000 0100 0500 00 04 07 01 ff ff", "truncated", 11, "extra_data"),
    ],
)
def test_a_damaged_head_of_a_row_event_says_which_byte_is_wrong(
    code: int, head: str, error: str, offset: int, path: str
) -> None:
    assert where(refused(decode_rows_event, code, bytes.fromhex(head), {})) == (error, offset, path)


def test_the_length_of_ndb_data_is_not_looked_for_behind_the_extra_data() -> None:
    """The byte behind it is the number of columns."""
    error = refused(decode_rows_event, 31, bytes.fromhex("010000000000 0100 0300 00 02 ff ff"), {})
    assert (*where(error), error.expected, error.got) == ("bad-length", 11, "", 2, 0)


def test_the_head_of_a_row_event_is_read_in_all_its_versions() -> None:
    for code, head, images in (
        (31, HEAD, (255, 255)), (39, HEAD, (255, 255)), (24, HEAD_V1, (255, 255)),
        (30, HEAD[:-3], (None, 255)), (32, HEAD[:-3], (255, None)), (23, HEAD_V1[:-3], (None, 255)),
    ):  # fmt: skip
        for rest in (b"", b"rows"):
            rows = decode_rows_event(code, bytes.fromhex(head) + rest, {})
            assert (rows.table_id, rows.flags, rows.column_count, rows.extra) == (1, 1, 1, ())
            assert (rows.before_columns, rows.after_columns) == images
            assert (rows.data, rows.offset) == (rest, len(bytes.fromhex(head)))
            error = refused(rows.map)
            assert (error.code, error.got) == ("no-table-map", 1)


def table(*types: int, details: str = "") -> TableMap:
    raw = bytes.fromhex(details)
    nulls = (255).to_bytes(1, "little") * ((len(types) + 7) // 8)
    head = bytes.fromhex("010000000000 0100 01 74 00 01 75 00")
    return TableMap.decode(head + bytes((len(types), *types, len(raw))) + raw + nulls)


INTS = table(3, 3)
BASE = 19 + 12  # header and the head of a row event with two bitmaps of one byte
OLD = "00 01000000 02000000"


@pytest.mark.parametrize(
    ("rows", "code", "offset", "path"),
    [
        ("00", "truncated", 1, "rows[0].before.@1"),
        ("00 010000", "truncated", 1, "rows[0].before.@1"),
        ("00 01000000 020000", "truncated", 5, "rows[0].before.@2"),
        ("01 020000", "truncated", 1, "rows[0].before.@2"),
        (OLD, "truncated", 9, "rows[0].after.null_bitmap"),
        (OLD + "02", "truncated", 10, "rows[0].after.@1"),
        (OLD + OLD + "00 0100", "truncated", 19, "rows[1].before.@1"),
        (OLD + OLD + OLD + "01 0100", "truncated", 28, "rows[1].after.@2"),
    ],
)
def test_a_damaged_row_says_which_column_is_wrong(rows: str, code: str, offset: int, path: str) -> None:
    event = decode_rows_event(31, bytes.fromhex("010000000000 0100 0200 02 03 03" + rows), {1: INTS})
    assert event.offset == BASE - 19 + 1
    assert where(refused(list, event.rows())) == (code, BASE + 1 + offset, f"UPDATE_ROWS_EVENT.{path}")


JSON = table(245, details="04")
NULL = "00 02000000 0400"


@pytest.mark.parametrize(
    ("rows", "code", "offset", "path"),
    [
        (NULL, "truncated", 7, "rows[0].shared_image.value_options"),
        (NULL + "02", "value-options", 7, "rows[0].shared_image.value_options"),
        (NULL + "fc0200", "value-options", 9, "rows[0].shared_image.value_options"),
        (NULL + "fb", "bad-packed-integer", 7, "rows[0].shared_image.value_options"),
        (NULL + "01", "truncated", 8, "rows[0].shared_image.partial_columns"),
        (NULL + "00", "truncated", 8, "rows[0].after.null_bitmap"),
        (NULL + "01 01 00 05000000", "truncated", 10, "rows[0].after.@1"),
        (NULL + "00 00 02000000 04", "truncated", 9, "rows[0].after.@1"),
    ],
)
def test_a_damaged_partial_row_says_what_is_wrong(rows: str, code: str, offset: int, path: str) -> None:
    event = decode_rows_event(39, bytes.fromhex("010000000000 0100 0200 01 01 01" + rows), {1: JSON})
    error = refused(list, event.rows())
    assert (error.code, ".".join(error.path)) == (code, f"PARTIAL_UPDATE_ROWS_EVENT.{path}")
    assert error.offset is not None
    assert BASE + 1 + offset <= error.offset <= BASE + 5 + offset  # a field may name its length or its bytes


def test_rows_need_their_table() -> None:
    head = bytes.fromhex("010000000000 0100 0200 01 01")
    error = refused(decode_rows_event(30, head, {}).rows)
    assert where(error) == ("no-table-map", None, "WRITE_ROWS_EVENT")
    error = refused(decode_rows_event(30, head, {1: INTS}).rows)
    assert (where(error), error.expected, error.got) == (("column-count", None, "WRITE_ROWS_EVENT"), 2, 1)
    empty = bytes.fromhex("010000000000 0100 0200 01 00 00")
    error = refused(list, decode_rows_event(31, empty + b"\0\0", {1: JSON}).rows())
    assert (where(error), error.got) == (("empty-row", 19 + len(empty), "UPDATE_ROWS_EVENT"), 2)


def test_what_cannot_be_written_in_a_row_says_where() -> None:
    def body(code: int, row: Row, **options: Any) -> CodecError:
        return refused(rows_body(INTS, code, [row], **options).encode)

    error = body(31, Row((1, 2), (1,)))
    assert (where(error), error.expected, error.got) == (("bad-value", None, "rows[0].after"), 2, 1)
    error = body(31, Row(None, (1, 2)))
    assert (where(error), error.expected, error.got) == (("bad-value", None, "rows[0].before"), 2, None)
    assert where(body(30, Row((1, 2), (1, 2)))) == ("bad-value", None, "rows[0].before")
    assert where(body(32, Row((1, 2), (1, 2)))) == ("bad-value", None, "rows[0].after")
    assert where(body(31, Row((1, 2), (1, 2**31))))[::2] == ("bad-value", "rows[0].after.@2")
    assert where(body(31, Row((1, 2), (1, 2), 0)))[::2] == ("bad-value", "rows[0]")
    assert where(body(31, Row((1, 2), (1, 2), None, 1)))[::2] == ("bad-value", "rows[0]")
    for wrong in ({"flags": 1 << 16}, {"flags": -1}):
        assert body(31, Row((1, 2), (1, 2)), **wrong).code == "out-of-range"
    written = rows_body(INTS, 31, [Row((1, None), (None, 2))]).encode()
    assert written.hex(" ") == "01 00 00 00 00 00 11 00 02 00 02 ff ff 02 01 00 00 00 01 02 00 00 00"
    assert list(decode_rows_event(31, written, {1: INTS}).rows()) == [Row((1, None), (None, 2))]


def test_wide_bitmaps_and_short_extra_data_are_read() -> None:
    rows = decode_rows_event(31, bytes.fromhex("010000000000 0100 0500 00 02 07 0a 0100 0200"), {})
    assert (rows.extra, rows.column_count) == ((NdbInfo(7, b""),), 10)
    assert (rows.before_columns, rows.after_columns) == (1, 2)


def test_a_head_that_cannot_be_written_says_why() -> None:
    body = rows_body(INTS, 31, [Row((1, 2), (1, 2))])
    wrongs: tuple[dict[str, Any], ...] = ({"before_columns": None}, {"after_columns": None})
    for wrong in wrongs:
        assert where(refused(encode_head, replace(body, **wrong))) == ("bad-value", None, "columns")
    for code in (30, 32):
        assert where(refused(encode_head, replace(body, type=code))) == ("bad-value", None, "columns")
    assert refused(encode_head, replace(body, extra=("nothing",))).code == "bad-value"  # type: ignore[arg-type]


def test_a_table_map_of_many_columns_both_ways() -> None:
    wide = table(15, 3, 15, *[3] * 7, details="2c01 1400")
    assert wide.columns[:3] == (ColumnType(15, 300), ColumnType(3), ColumnType(15, 20))
    assert table(15, 252, details="2c01 02").columns == (ColumnType(15, 300), ColumnType(252, 2))
    some = replace(wide, flags=5, nullable=(True, *[False] * 9))
    raw = some.encode()
    assert raw.endswith(bytes.fromhex("0f030f03030303030303 04 2c011400 0100"))
    assert TableMap.decode(raw) == some
    raw = bytes.fromhex(TABLE)
    assert where(refused(TableMap.decode, raw + bytes.fromhex("01 05 00"))) == ("truncated", 21, "metadata.SIGNEDNESS")


def test_a_table_map_that_cannot_be_written_says_why() -> None:
    assert refused(replace(INTS, nullable=(True,)).encode).code == "bad-value"
    wrongs: tuple[tuple[dict[str, Any], str], ...] = (
        ({"table_id": 1 << 48}, "table_id"),
        ({"table_id": -1}, "table_id"),
        ({"flags": 1 << 16}, "flags"),
        ({"columns": (ColumnType(245, 256), ColumnType(3))}, "metadata"),
    )
    for wrong, field in wrongs:
        assert where(refused(replace(INTS, **wrong).encode)) == ("out-of-range", None, field)
    whole = replace(INTS, table_id=(1 << 48) - 1, flags=(1 << 16) - 1)
    assert TableMap.decode(whole.encode()) == whole
