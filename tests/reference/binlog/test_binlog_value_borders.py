"""Borders of rows, column values, TABLE_MAP and its metadata, in exact bytes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from conformance.reference.binlog.event import decode_body
from conformance.reference.binlog.rows import Row, bitmap_of, full_bitmap, rows_body, split_rows
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import (
    BIT,
    BLOB,
    DATE,
    DATETIME2,
    GEOMETRY,
    JSON,
    LONG,
    NEWDECIMAL,
    SET,
    STRING,
    TIME,
    TIME2,
    TIMESTAMP2,
    TINY,
    VARCHAR,
    VECTOR,
    YEAR,
    ColumnType,
    PartialJson,
    decode_value,
    encode_value,
)
from conformance.reference.tables.create_table import parse_definition
from conformance.reference.tables.definitions import Column, Table, column_type, table_map
from conformance.reference.tables.metadata import (
    WORKLOG,
    Bits,
    DefaultCharset,
    Field,
    Members,
    Numbers,
    PrefixKey,
    decode_metadata,
    describe,
    encode_metadata,
    signedness,
)
from conformance.reference.tables.table_map import TableMap
from conformance.reference.tables.temporal import Date, Datetime, Time, Timestamp


def refused(call: Any, *arguments: Any) -> str:
    """The code of the declared error."""
    with pytest.raises(CodecError) as error:
        call(*arguments)
    return error.value.code


def table(*columns: ColumnType) -> TableMap:
    return TableMap(table_id=1, schema="a", table="b", columns=columns, nullable=(True,) * len(columns))


# --- column values


@pytest.mark.parametrize(
    ("column", "value", "data"),
    [
        (ColumnType(YEAR), 0, "00"),
        (ColumnType(YEAR), 1901, "01"),
        (ColumnType(YEAR), 2155, "ff"),
        (ColumnType(VARCHAR, 255), b"ab", "026162"),
        (ColumnType(VARCHAR, 256), b"ab", "02006162"),
        (ColumnType(STRING, 0xFEFE - 0x0), b"a", "0161"),
        (ColumnType(BIT, 0x0102), 0x201, "0201"),  # BIT(10): one byte and two bits
        (ColumnType(BIT, 0x0201), 0x10203, "010203"),  # BIT(17)
        (ColumnType(STRING, 0x03F8), 0x10203, "030201"),  # a SET of three bytes
        (ColumnType(BLOB, 3), b"x" * 0x10203, "030201" + "78" * 0x10203),
        (ColumnType(TIME2, 2), Time(True, 0, 0, 0, 10_000), "7fffffff"),
        (ColumnType(TIME2, 2), Time(True, 1, 2, 3, 450_000), "7fef7cd3"),
        (ColumnType(TIME2, 1), Time(False, 0, 0, 1, 200_000), "80000114"),
        (ColumnType(TIME2, 4), Time(True, 0, 0, 0, 100), "7fffffffff"),
        (ColumnType(TIME2, 6), Time(True, 0, 0, 0, 1), "7fffffffffff"),
        (ColumnType(DATETIME2, 0), Datetime(0, 0, 0), "8000000000"),
        (ColumnType(DATETIME2, 0), Datetime(1, 12, 31, 23, 59, 59), "80067f7efb"),
        (ColumnType(TIMESTAMP2, 0), Timestamp(0x01020304), "01020304"),
        (ColumnType(DATE), Date(2024, 12, 31), "9fd10f"),
        (ColumnType(DATE), Date(0, 15, 0), "e00100"),
        (ColumnType(TIME), Time(True, 0, 0, 1), "ffffff"),
        (ColumnType(TIME), Time(True, 838, 59, 59), "590a80"),
        (ColumnType(NEWDECIMAL, 0x0204), Decimal("-12.34"), "73dd"),
    ],
)
def test_values_and_their_bytes(column: ColumnType, value: Any, data: str) -> None:
    if column.type == STRING and column.metadata == 0xFEFE:
        assert column.length == 254
    assert encode_value(column, value).hex() == data
    assert decode_value(column, bytes.fromhex(data)) == value


def test_lengths_over_255_of_char_stand_in_the_type_byte() -> None:
    wide = ColumnType(STRING, 0xFC << 8 | 0xCE)  # CHAR of 1020 bytes
    assert (wide.real_type, wide.length) == (STRING, 1020)
    assert encode_value(wide, b"ab").hex() == "02006162"
    assert (ColumnType(STRING, 0xFF << 8 | 0xDE).real_type, ColumnType(STRING, 0xFF << 8 | 0xDE).length) == (254, 767)


def test_digits_that_a_decimal_has_no_room_for_are_refused() -> None:
    column = ColumnType(NEWDECIMAL, 0x0204)
    assert encode_value(column, Decimal("1.2300")) == encode_value(column, Decimal("1.23"))
    for text in ("1.231", "1.234", "1.239"):
        assert refused(encode_value, column, Decimal(text)) == "decimal-scale"


# --- rows


def images(columns: int, nulls: str, values: str) -> bytes:
    included = "ff" * ((columns + 7) // 8)
    return bytes.fromhex("010000000000" + "0100" + "0200" + f"{columns:02x}" + included + nulls + values)


@pytest.mark.parametrize(("columns", "nulls"), [(1, "00"), (7, "00"), (8, "00"), (9, "0000"), (16, "0000")])
def test_a_null_bitmap_has_a_bit_for_each_column_of_the_image(columns: int, nulls: str) -> None:
    data = images(columns, nulls, "05" * columns)
    body: Any = decode_body(EventType.WRITE_ROWS, data, {1: table(*[ColumnType(TINY)] * columns)})
    assert [row.after for row in body.rows()] == [(5,) * columns]
    assert body.typed().encode() == data


def test_bitmaps_of_full_and_minimal_images() -> None:
    assert [full_bitmap(count) for count in (1, 7, 8, 9)] == [0xFF, 0xFF, 0xFF, 0xFFFF]
    assert bitmap_of([0, 3]) == 9


def test_rows_without_columns_take_no_bytes_so_there_cannot_be_two() -> None:
    body: Any = decode_body(EventType.WRITE_ROWS, bytes.fromhex("01000000000001000200010007"), {
        1: table(ColumnType(TINY))
    })  # fmt: skip
    rows = body.rows()
    assert refused(next, rows) == "empty-row"


_TWO = table(ColumnType(JSON, 4), ColumnType(TINY), ColumnType(JSON, 4))


def partial(options: str, bits: str, after: str = "04") -> Any:
    """An update of the second JSON column alone, by the empty list of diffs."""
    data = bytes.fromhex("010000000000010002000302" + after + "0005" + options + bits + "0000000000")
    return decode_body(EventType.PARTIAL_UPDATE_ROWS, data, {1: _TWO})


def test_partial_bits_count_the_json_columns_of_the_table() -> None:
    """The image has the second JSON column only; its bit is the second all the same."""
    (row,) = partial("01", "02").rows()
    assert row == Row((5,), (PartialJson(b""),), 1, 2)
    (row,) = partial("01", "01").rows()  # of a column that is not in the image: the value is a whole document
    assert row == Row((5,), (b"",), 1, 1)
    (row,) = partial("01", "fe").rows()  # unused bits are ignored
    assert row == Row((5,), (PartialJson(b""),), 1, 2)
    (row,) = partial("00", "").rows()
    assert row == Row((5,), (b"",), 0, None)
    for options in ("02", "03", "04", "fa"):
        assert refused(partial(options, "02").typed) == "value-options"


def test_value_options_are_0_where_no_column_is_partial() -> None:
    for value, data in ((PartialJson(b""), "01020000000000"), (b"\4\0", "0000020000000400")):
        body = rows_body(_TWO, EventType.PARTIAL_UPDATE_ROWS, [Row((5,), (value,))], before=[1], after=[2])
        assert body.encode()[13:].hex() == "0005" + data


def test_an_event_may_be_as_long_as_the_limit() -> None:
    body = rows_body(table(ColumnType(TINY)), EventType.WRITE_ROWS, [Row(None, (number,)) for number in range(6)])
    # 10 bytes of post-header, the count, the bitmap, two bytes for each row
    assert [len(part.rows) for part in split_rows(body, 16)] == [2, 2, 2]
    assert [len(part.rows) for part in split_rows(body, 17)] == [2, 2, 2]
    assert [len(part.rows) for part in split_rows(body, 18)] == [3, 3]
    assert [part.statement_end for part in split_rows(body, 16)] == [False, False, True]


# --- TABLE_MAP


def test_a_table_map_in_bytes() -> None:
    data = bytes.fromhex("0102030405060100016100016200040f0ff601060001ff00040205")
    body: Any = decode_body(EventType.TABLE_MAP, data, {})
    assert body.columns == (
        ColumnType(VARCHAR, 256), ColumnType(VARCHAR, 255), ColumnType(NEWDECIMAL, 0x0204), ColumnType(TINY),
    )  # fmt: skip
    assert body.nullable == (True, False, True, False)
    assert body.column_names == ("@1", "@2", "@3", "@4")
    assert body.encode() == data
    longer = data.replace(bytes.fromhex("060001ff000402"), bytes.fromhex("070001ff00040200"))
    assert refused(decode_body, EventType.TABLE_MAP, longer, {}) == "trailing-bytes"
    unended = data.replace(bytes.fromhex("016100"), bytes.fromhex("016101"))
    assert refused(decode_body, EventType.TABLE_MAP, unended, {}) == "bad-name"


# --- metadata

_COLUMNS = (ColumnType(LONG), ColumnType(YEAR), ColumnType(VARCHAR, 9), ColumnType(LONG))


def test_signedness_begins_with_the_highest_bit_and_counts_years() -> None:
    field = Bits(Field.SIGNEDNESS, (True, False, True))
    assert encode_metadata([field]).hex() == "0101a0"
    assert decode_metadata(b"\1\1\xa0", _COLUMNS) == (field,)
    assert signedness(_COLUMNS, (field,)) == (True, False, False, True)
    assert [info.unsigned for info in describe(_COLUMNS, (True,) * 4, (field,))] == [True, False, False, True]
    longer = decode_metadata(b"\1\2\xa0\x80", _COLUMNS)
    assert encode_metadata(longer) == b"\1\2\xa0\x80"
    old = WORKLOG  # YEAR is not counted there
    assert signedness(_COLUMNS, decode_metadata(b"\1\1\x40", _COLUMNS, old), old) == (False, False, False, True)


def test_a_field_lies_inside_the_event_and_pairs_are_whole() -> None:
    assert refused(decode_metadata, b"\1\1\xa0\4\3\1a", _COLUMNS) == "truncated"
    assert refused(decode_metadata, b"\2\4\x21\0\x08\1", _COLUMNS) == "truncated"
    assert decode_metadata(b"\2\3\x21\0\x08", _COLUMNS) == (DefaultCharset(Field.DEFAULT_CHARSET, 33, ((0, 8),)),)


def test_what_fields_belong_to_which_columns() -> None:
    columns = (
        ColumnType(STRING, 0x01F7), ColumnType(STRING, 0x01F8), ColumnType(GEOMETRY, 4), ColumnType(VECTOR, 4),
        ColumnType(VARCHAR, 9), ColumnType(BLOB, 2), ColumnType(LONG),
    )  # fmt: skip
    assert columns[1].real_type == SET
    fields = (
        Members(Field.ENUM_STR_VALUE, ((b"e",),)),
        Members(Field.SET_STR_VALUE, ((b"s", b"t"),)),
        Numbers(Field.GEOMETRY_TYPE, (3,)),
        Numbers(Field.VECTOR_DIMENSIONALITY, (5,)),
        DefaultCharset(Field.DEFAULT_CHARSET, 63, ((1, 8), (2, 33))),
        PrefixKey(((4, 2), (6, 0))),
    )
    described = describe(columns, (True,) * 7, fields)
    assert [info.members for info in described[:3]] == [(b"e",), (b"s", b"t"), None]
    assert [info.geometry for info in described[2:4]] == [3, None]
    assert [info.dimension for info in described[2:4]] == [None, 5]
    # VECTOR is the first of the three character columns (table-map-metadata 3.2)
    assert [info.collation for info in described] == [None, None, None, 63, 8, 33, None]
    assert [(info.key_position, info.key_prefix) for info in described[4:]] == [(0, 2), (None, 0), (1, 0)]
    assert decode_metadata(encode_metadata(fields), columns) == fields


def test_the_worklogs_numbers() -> None:
    columns = (ColumnType(LONG), ColumnType(GEOMETRY, 4))
    fields = decode_metadata(b"\7\1\0\x08\2\0\0\x09\1\3", columns, WORKLOG)
    assert fields == (
        Numbers(Field.SIMPLE_PRIMARY_KEY, (0,)), PrefixKey(((0, 0),)), Numbers(Field.GEOMETRY_TYPE, (3,)),
    )  # fmt: skip
    assert encode_metadata(fields, WORKLOG) == b"\7\1\0\x08\2\0\0\x09\1\3"


# --- definitions


def test_borders_of_types_in_definitions() -> None:
    made = Table(schema="d", name="t", columns=())
    for count, size in ((1, 1), (255, 1), (256, 2)):
        members = tuple(str(number) for number in range(count))
        assert column_type(made, Column(name="e", type="ENUM", members=members)) == ColumnType(STRING, size << 8 | 0xF7)
    for digits, kind in ((23, 4), (24, 4), (25, 5)):
        assert column_type(made, Column(name="f", type="FLOAT", length=digits)).type == kind
    for size, name in ((63, "TINYTEXT"), (64, "TEXT"), (16383, "TEXT"), (16384, "MEDIUMTEXT")):
        assert parse_definition(f"CREATE TABLE t (a TEXT({size}))").columns[0].type == name
    for size, name in ((255, "TINYBLOB"), (256, "BLOB"), (65535, "BLOB"), (65536, "MEDIUMBLOB")):
        assert parse_definition(f"CREATE TABLE t (a BLOB({size}))").columns[0].type == name
    assert [
        parse_definition(f"CREATE TABLE t (a INT {word})").columns[0].unsigned
        for word in ("", "UNSIGNED", "ZEROFILL", "UNSIGNED ZEROFILL", "SIGNED")
    ] == [False, True, True, True, False]


def test_keys_majorities_and_nullability_in_table_maps() -> None:
    text = "a VARCHAR(9) CHARACTER SET latin1, b VARCHAR(9) CHARACTER SET latin1, c VARCHAR(9) CHARACTER SET utf8mb3"
    made = table_map(
        parse_definition(f"CREATE TABLE t ({text}, d VARCHAR(9) CHARACTER SET utf8mb3, PRIMARY KEY (a(9), b))"), "FULL"
    )
    assert Numbers(Field.COLUMN_CHARSET, (8, 8, 33, 33)) in made.metadata  # half is no majority
    assert Numbers(Field.SIMPLE_PRIMARY_KEY, (0, 1)) in made.metadata  # a prefix of the whole column is none
    assert made.nullable == (False, False, True, True)
    made = table_map(parse_definition(f"CREATE TABLE t ({text}, PRIMARY KEY (a(8), b))"), "FULL")
    assert DefaultCharset(Field.DEFAULT_CHARSET, 8, ((2, 33),)) in made.metadata
    assert PrefixKey(((0, 8), (1, 0))) in made.metadata
