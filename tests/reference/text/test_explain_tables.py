"""Annotated hex of TABLE_MAP and row events: each field's bytes, name and meaning (binlog-events 9 to 11)."""

from __future__ import annotations

import pytest

from conformance.reference.event_types import EventType
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.metadata import Bits, Names
from conformance.reference.text.annotated_hex import flag_names
from tests.reference.text.explained_events import HEADER, Parts, body_of, compact, explained
from tests.reference.text.made_logs import INT_AND_JSON, table_of

NAMES: Parts = [
    ("640000000001", "table_id", "1099511627876"), ("0100", "flags", "0x1"), ("02", "schema_length", "2"),
    ("6462", "schema", "'db'"), ("00", "schema_end", "0"), ("01", "table_length", "1"), ("74", "table", "'t'"),
    ("00", "table_end", "0"),
]  # fmt: skip
COLUMNS: Parts = [
    ("0b", "column_count", "11"),
    ("03", "column_type[0]", "3 (INT)"), ("08", "column_type[1]", "8 (BIGINT)"),
    ("0f", "column_type[2]", "15 (VARBINARY(300))"), ("fe", "column_type[3]", "254 (BINARY(40))"),
    ("fe", "column_type[4]", "254 (ENUM)"), ("fe", "column_type[5]", "254 (SET)"),
    ("f5", "column_type[6]", "245 (JSON)"),
    ("ff", "column_type[7]", "255 (GEOMETRY)"), ("f2", "column_type[8]", "242 (VECTOR(0))"),
    ("f6", "column_type[9]", "246 (DECIMAL(10,2))"), ("fc", "column_type[10]", "252 (BLOB)"),
    ("0e", "column_metadata_length", "14"),
    ("2c01", "column_metadata[2]", "0x12c"), ("fe28", "column_metadata[3]", "0x28fe"),
    ("f701", "column_metadata[4]", "0x1f7"), ("f801", "column_metadata[5]", "0x1f8"),
    ("04", "column_metadata[6]", "0x4"), ("04", "column_metadata[7]", "0x4"), ("04", "column_metadata[8]", "0x4"),
    ("0a02", "column_metadata[9]", "0x20a"), ("02", "column_metadata[10]", "0x2"),
    ("4104", "null_bitmap", "nullable: @1, @7, @11"),
]  # fmt: skip
METADATA: list[Parts] = [
    [("01", "field", "1 (SIGNEDNESS)"), ("01", "length", "1"), ("a0", "value", "10100000")],
    [("02", "field", "2 (DEFAULT_CHARSET)"), ("05", "length", "5"), ("fcff00", "default", "255 (utf8mb4_0900_ai_ci)"),
     ("03", "index[0]", "3"), ("3f", "collation[0]", "63 (binary)")],
    [("07", "field", "7 (GEOMETRY_TYPE)"), ("01", "length", "1"), ("02", "geometry_type[0]", "2")],
    [("0d", "field", "13 (VECTOR_DIMENSIONALITY)"), ("03", "length", "3"), ("fc0008", "dimension[0]", "2048")],
    [("04", "field", "4 (COLUMN_NAME)"), ("17", "length", "23"),
     *[part for place, name in enumerate(("61", "6262", *["63"] * 9))
       for part in ((f"{len(name) // 2:02x}", f"name_length[{place}]", str(len(name) // 2)),
                    (name, f"name[{place}]", repr(bytes.fromhex(name).decode())))]],
    [("0a", "field", "10 (ENUM_AND_SET_DEFAULT_CHARSET)"), ("05", "length", "5"),
     ("08", "default", "8 (latin1_swedish_ci)"),
     ("00", "index[0]", "0"), ("fcff00", "collation[0]", "255 (utf8mb4_0900_ai_ci)")],
    [("05", "field", "5 (SET_STR_VALUE)"), ("05", "length", "5"), ("02", "member_count[0]", "2"),
     ("01", "member_length[0][0]", "1"), ("78", "member[0][0]", "'x'"), ("01", "member_length[0][1]", "1"),
     ("79", "member[0][1]", "'y'")],
    [("06", "field", "6 (ENUM_STR_VALUE)"), ("04", "length", "4"), ("01", "member_count[0]", "1"),
     ("02", "member_length[0][0]", "2"), ("6161", "member[0][0]", "'aa'")],
    [("09", "field", "9 (PRIMARY_KEY_WITH_PREFIX)"), ("04", "length", "4"),
     ("02", "column[0]", "2"), ("03", "prefix[0]", "3"),
     ("00", "column[1]", "0"), ("00", "prefix[1]", "0")],
    [("0c", "field", "12 (COLUMN_VISIBILITY)"), ("02", "length", "2"), ("bfe0", "value", "1011111111100000")],
    [("0e", "field", "14 (unknown)"), ("02", "length", "2"), ("01ff", "value", "0000000111111111")],
]  # fmt: skip
OTHER_METADATA: list[Parts] = [
    [("03", "field", "3 (COLUMN_CHARSET)"), ("06", "length", "6"), ("08", "collation[0]", "8 (latin1_swedish_ci)"),
     ("0b", "collation[1]", "11 (ascii_general_ci)"), ("3f", "collation[2]", "63 (binary)"),
     ("fc0f27", "collation[3]", "9999")],
    [("0b", "field", "11 (ENUM_AND_SET_COLUMN_CHARSET)"), ("02", "length", "2"),
     ("08", "collation[0]", "8 (latin1_swedish_ci)"), ("21", "collation[1]", "33 (utf8mb3_general_ci)")],
    [("08", "field", "8 (SIMPLE_PRIMARY_KEY)"), ("02", "length", "2"), ("01", "column[0]", "1"),
     ("00", "column[1]", "0")],
]  # fmt: skip


def numbered(fields: list[Parts]) -> Parts:
    return [
        (part, f"metadata[{number}].{field}", meaning)
        for number, parts in enumerate(fields)
        for part, field, meaning in parts
    ]


@pytest.mark.parametrize("metadata", [[], METADATA, OTHER_METADATA], ids=["none", "most", "the-others"])
def test_every_field_of_a_table_map_has_its_bytes_a_name_and_a_meaning(metadata: list[Parts]) -> None:
    parts = [*NAMES, *COLUMNS, *numbered(metadata)]
    assert explained(EventType.TABLE_MAP, body_of(parts)) == (compact(parts), None)


def test_a_table_map_that_is_cut_off_is_explained_as_far_as_it_goes() -> None:
    parts = compact([*NAMES, *COLUMNS])
    body = body_of(parts)
    spans, problem = explained(EventType.TABLE_MAP, body[:-1])
    assert spans == [*parts[:-1], (body[-2:-1].hex(), "rest", "not read")]
    assert problem is not None
    assert (problem.code, problem.offset) == ("truncated", HEADER + len(body) - 2)


def test_columns_of_which_none_is_nullable_and_many_columns_are_shown_in_one_line() -> None:
    columns: Parts = [("01", "column_count", "1"), ("03", "column_type[0]", "3 (INT)"),
                      ("00", "column_metadata_length", "0"), ("00", "null_bitmap", "nullable: none")]  # fmt: skip
    assert explained(EventType.TABLE_MAP, body_of([*NAMES, *columns]))[0][-1] == columns[-1]
    eight: Parts = [("08", "column_count", "8"), *[("03", f"column_type[{place}]", "3 (INT)") for place in range(8)],
                    ("00", "column_metadata_length", "0"), ("80", "null_bitmap", "nullable: @8")]  # fmt: skip
    assert explained(EventType.TABLE_MAP, body_of([*NAMES, *eight])) == ([*NAMES, *eight], None)
    many = bytes.fromhex("19" + "03" * 25 + "00" + "ffffff01")
    (*_, last), problem = explained(EventType.TABLE_MAP, body_of(NAMES) + many)
    assert problem is None
    assert last[2] == "nullable: @1, @2, @3, @4, @5, @6, @7, @8, @9, @10, @11, @12, @13, @..."


def test_bits_are_shown_by_name_and_the_others_as_a_number() -> None:
    names = ((1, "ONE"), (4, "FOUR"))
    assert [flag_names(value, names) for value in (0, 1, 2, 5, 14)] == [
        "none", "ONE", "unknown 0x2", "ONE FOUR", "FOUR unknown 0xa",
    ]  # fmt: skip


# --- rows ------------------------------------------------------------------------------------------------------------

TABLE = table_of(*INT_AND_JSON)
HEAD: Parts = [("640000000000", "table_id", "100"), ("1100", "flags", "STMT_END USE_SQL_FOREIGN_KEY")]
NO_EXTRA: Parts = [("0200", "extra_length", "2")]
COUNT: Parts = [("02", "column_count", "2")]
LITERAL: Parts = [("02000000", "@2.length", "2"), ("04", "@2.json.type", "literal"), ("01", "@2.json.value", "true")]
INSERTED: Parts = [("00", "null_bitmap", "NULL: none"), ("01000000", "@1", "INT 1"), *LITERAL]
NULLS: Parts = [("03", "null_bitmap", "NULL: @1, @2")]
DIFFS: Parts = [
    ("0e000000", "@2.length", "14"),
    ("00", "@2.diffs[0].operation", "REPLACE"), ("03", "@2.diffs[0].path_length", "3"),
    ("242e61", "@2.diffs[0].path", "'$.a'"), ("02", "@2.diffs[0].data_length", "2"),
    ("04", "@2.diffs[0].data.type", "literal"), ("00", "@2.diffs[0].data.value", "null"),
    ("02", "@2.diffs[1].operation", "REMOVE"), ("04", "@2.diffs[1].path_length", "4"),
    ("242e6262", "@2.diffs[1].path", "'$.bb'"),
]  # fmt: skip


def inside(name: str, parts: Parts) -> Parts:
    return [(part, f"{name}.{field}", meaning) for part, field, meaning in parts]


ROWS: list[tuple[int, Parts]] = [
    (EventType.WRITE_ROWS, [
        *HEAD, *NO_EXTRA, *COUNT, ("03", "after_columns", "@1, @2"),
        *inside("rows[0].after", INSERTED), *inside("rows[1].after", NULLS),
    ]),
    (EventType.WRITE_ROWS_V1, [
        *HEAD, *COUNT, ("01", "after_columns", "@1"),
        *inside("rows[0].after", [("00", "null_bitmap", "NULL: none"), ("ffffffff", "@1", "INT -1 (4294967295)")]),
    ]),
    (EventType.DELETE_ROWS, [
        *HEAD, ("0500", "extra_length", "5"), ("01", "extra_kind", "partition"), ("0102", "partition", "513"),
        *COUNT, ("02", "before_columns", "@2"),
        *inside("rows[0].before", [("00", "null_bitmap", "NULL: none"), *LITERAL]),
    ]),
    (EventType.DELETE_ROWS_V1, [*HEAD, *COUNT, ("03", "before_columns", "@1, @2"), *inside("rows[0].before", NULLS)]),
    (EventType.UPDATE_ROWS, [
        *HEAD, ("0700", "extra_length", "7"), ("01", "extra_kind", "partition"), ("0102", "partition", "513"),
        ("0201", "source_partition", "258"), *COUNT, ("01", "before_columns", "@1"), ("03", "after_columns", "@1, @2"),
        *inside("rows[0].before", [("00", "null_bitmap", "NULL: none"), ("01000000", "@1", "INT 1")]),
        *inside("rows[0].after", INSERTED),
    ]),
    (EventType.UPDATE_ROWS_V1, [
        *HEAD, *COUNT, ("01", "before_columns", "@1"), ("02", "after_columns", "@2"),
        *inside("rows[0].before", [("01", "null_bitmap", "NULL: @1")]),
        *inside("rows[0].after", [("01", "null_bitmap", "NULL: @2")]),
    ]),
    (EventType.PARTIAL_UPDATE_ROWS, [
        *HEAD, *NO_EXTRA, *COUNT, ("01", "before_columns", "@1"), ("02", "after_columns", "@2"),
        *inside("rows[0].before", [("00", "null_bitmap", "NULL: none"), ("01000000", "@1", "INT 1")]),
        ("01", "rows[0].value_options", "PARTIAL_JSON"), ("01", "rows[0].partial_columns", "@2"),
        *inside("rows[0].after", [("00", "null_bitmap", "NULL: none"), *DIFFS]),
        *inside("rows[1].before", [("00", "null_bitmap", "NULL: none"), ("02000000", "@1", "INT 2")]),
        ("01", "rows[1].value_options", "PARTIAL_JSON"), ("00", "rows[1].partial_columns", "none"),
        *inside("rows[1].after", [("00", "null_bitmap", "NULL: none"), *LITERAL]),
        *inside("rows[2].before", [("01", "null_bitmap", "NULL: @1")]),
        ("00", "rows[2].value_options", "0"),
        *inside("rows[2].after", [("01", "null_bitmap", "NULL: @2")]),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("code", "parts"), ROWS, ids=[EventType(code).name for code, _ in ROWS])
def test_every_field_of_a_row_event_has_its_bytes_a_name_and_a_meaning(code: int, parts: Parts) -> None:
    assert explained(code, body_of(parts), TABLE) == (compact(parts), None)


@pytest.mark.parametrize(("code", "parts"), ROWS, ids=[EventType(code).name for code, _ in ROWS])
def test_a_row_that_is_cut_off_is_explained_as_far_as_it_goes(code: int, parts: Parts) -> None:
    """Cut inside of a number: what is before it is as it was, and the error has its place."""
    body = body_of(parts)
    position = 0
    for number, (part, field, _) in enumerate(compact(parts)):
        size = len(part) // 2
        if size > 1 and "json" not in field and "diffs" not in field:
            spans, problem = explained(code, body[: position + size - 1], TABLE)
            left = body[position : position + size - 1].hex()
            assert spans == [*compact(parts)[:number], (left, "rest", "not read")], field
            assert problem is not None
            assert problem.offset == HEADER + position, field
        position += size


@pytest.mark.parametrize(
    "extra",
    [
        [("0600", "extra_length", "6"), ("00", "extra_kind", "NDB"), ("030102", "extra_data", "030102")],
        [("0400", "extra_length", "4"), ("07", "extra_kind", "unknown"), ("aa", "extra_data", "aa")],
    ],
    ids=["NDB", "unknown"],
)
def test_data_of_other_kinds_in_front_of_the_rows_is_shown_as_bytes(extra: Parts) -> None:
    whole = [*HEAD, *extra, *COUNT, ("00", "after_columns", "none")]
    assert explained(EventType.WRITE_ROWS, body_of(whole), TABLE)[0] == compact(whole)


def test_the_option_of_a_row_that_nobody_knows_is_shown_as_a_number() -> None:
    parts: Parts = [
        *HEAD, *NO_EXTRA, *COUNT, ("01", "before_columns", "@1"), ("00", "after_columns", "none"),
        *inside("rows[0].before", [("01", "null_bitmap", "NULL: @1")]),
        ("03", "rows[0].value_options", "3"), ("00", "rows[0].partial_columns", "none"),
    ]  # fmt: skip
    spans, problem = explained(EventType.PARTIAL_UPDATE_ROWS, body_of(parts), TABLE)
    assert spans[: len(parts)] == compact(parts)
    assert problem is not None


def test_diffs_that_are_longer_than_their_event_are_not_read() -> None:
    parts: Parts = [
        *HEAD, *NO_EXTRA, *COUNT, ("00", "before_columns", "none"), ("02", "after_columns", "@2"),
        ("01", "rows[0].value_options", "PARTIAL_JSON"), ("01", "rows[0].partial_columns", "@2"),
        *inside("rows[0].after", [("00", "null_bitmap", "NULL: none"), ("06000000", "@2.length", "6")]),
        ("0203242e61", "rest", "not read"),
    ]  # fmt: skip
    spans, problem = explained(EventType.PARTIAL_UPDATE_ROWS, body_of(parts), TABLE)
    assert spans == compact(parts)
    assert problem is not None
    assert (problem.code, problem.offset, problem.path) == ("truncated", HEADER + len(body_of(parts)) - 5, ("diffs",))


def test_rows_are_bytes_if_their_table_has_another_number_of_columns() -> None:
    parts: Parts = [*HEAD, *NO_EXTRA, ("01", "column_count", "1"), ("01", "after_columns", "@1"),
                    ("0001000000", "rows", "no TABLE_MAP that fits")]  # fmt: skip
    assert explained(EventType.WRITE_ROWS, body_of(parts), TABLE)[0] == compact(parts)
    assert explained(EventType.WRITE_ROWS, body_of(parts))[0] == compact(parts)


def test_rows_that_take_no_bytes_are_an_error() -> None:
    """A table without columns, of which every event would have any number of rows."""
    parts: Parts = [*HEAD, *NO_EXTRA, ("00", "column_count", "0"), ("00", "rest", "not read")]
    spans, problem = explained(EventType.WRITE_ROWS, body_of(parts), table_of())
    assert spans == compact(parts)
    assert problem is not None
    assert (problem.code, problem.offset) == ("empty-row", HEADER + 11)


def test_columns_are_called_by_their_names_and_have_the_signs_and_dates_of_their_types() -> None:
    table = table_of(
        ColumnType(types.TINY), ColumnType(types.VARCHAR, 300), ColumnType(types.DATE), *INT_AND_JSON[1:],
        metadata=[Bits(1, (True,)), Names(("n", "v", "d", "j"))],
    )  # fmt: skip
    text = "78" * 60
    parts: Parts = [
        *HEAD, *NO_EXTRA, ("04", "column_count", "4"), ("0f", "after_columns", "@1, @2, @3, @4"),
        *inside("rows[0].after", [
            ("00", "null_bitmap", "NULL: none"), ("ff", "n", "TINYINT -1 (255)"),
            ("3c00" + text, "v", "VARBINARY(300) '" + "x" * 56 + "..."), ("21ce0f", "d", "DATE '2023:01:01'"),
            ("01000000", "j.length", "1"), ("04", "j.json.type", "literal"),
        ]),
    ]  # fmt: skip
    spans, _ = explained(EventType.WRITE_ROWS, body_of(parts), table)
    assert spans[: len(parts)] == compact(parts)


@pytest.mark.parametrize(
    ("count", "parts"),
    [
        (8, [("00", "before_columns", "none"), ("ff", "after_columns", "@1, @2, @3, @4, @5, @6, @7, @8"),
             ("01", "rows[0].value_options", "PARTIAL_JSON"), ("80", "rows[0].partial_columns", "@8"),
             ("7f", "rows[0].after.null_bitmap", "NULL: @1, @2, @3, @4, @5, @6, @7"),
             ("00000000", "rows[0].after.@8.length", "0")]),
        (9, [("0000", "before_columns", "none"), ("fe01", "after_columns", "@2, @3, @4, @5, @6, @7, @8, @9"),
             ("01", "rows[0].value_options", "PARTIAL_JSON"), ("0001", "rows[0].partial_columns", "@9"),
             ("7f", "rows[0].after.null_bitmap", "NULL: @2, @3, @4, @5, @6, @7, @8"),
             ("02000000", "rows[0].after.@9.length", "2"), ("02", "rows[0].after.@9.diffs[0].operation", "REMOVE"),
             ("00", "rows[0].after.@9.diffs[0].path_length", "0")]),
        (9, [("0001", "before_columns", "@9"), ("ff01", "after_columns", "@1, @2, @3, @4, @5, @6, @7, @8, @9"),
             ("01", "rows[0].before.null_bitmap", "NULL: @9"), ("00", "rows[0].value_options", "0"),
             ("feff", "rows[0].after.null_bitmap", "NULL: @2, @3, @4, @5, @6, @7, @8, @9"),
             ("00000000", "rows[0].after.@1.length", "0")]),
    ],
    ids=["8", "9-partial", "9"],
)  # fmt: skip
def test_bitmaps_have_a_bit_for_each_column_the_lowest_first(count: int, parts: Parts) -> None:
    table = table_of(*INT_AND_JSON[1:] * count)
    parts = [*HEAD, *NO_EXTRA, (f"{count:02x}", "column_count", str(count)), *parts]
    assert explained(EventType.PARTIAL_UPDATE_ROWS, body_of(parts), table)[0] == compact(parts)


def test_values_are_shown_without_the_padding_of_the_client_and_bytes_that_are_no_text_as_such() -> None:
    table = table_of(ColumnType(types.FLOAT, 4), ColumnType(types.VARCHAR, 9))
    parts: Parts = [
        *HEAD, *NO_EXTRA, ("02", "column_count", "2"), ("03", "after_columns", "@1, @2"),
        *inside("rows[0].after", [
            ("00", "null_bitmap", "NULL: none"), ("0000c03f", "@1", "FLOAT 1.5"),
            ("02 c3ff", "@2", r"VARBINARY(9) '\xc3\xff'"),
        ]),
    ]  # fmt: skip
    assert explained(EventType.WRITE_ROWS, body_of(parts), table) == (compact(parts), None)
