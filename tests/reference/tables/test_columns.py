"""Values of every column type: exact bytes in both directions, and what is refused."""

from __future__ import annotations

import math
from decimal import Decimal
from struct import pack
from typing import Any

import pytest

from conformance.reference.binlog.event import decode_body
from conformance.reference.binlog.header import HEADER_SIZE
from conformance.reference.errors import CodecError, DecodeError, EncodeError, Unsupported
from conformance.reference.event_types import EventType
from conformance.reference.tables import columns as types
from conformance.reference.tables.charsets import COLLATIONS, DEFAULT_COLLATIONS, bytes_of, text_of
from conformance.reference.tables.columns import (
    PARTIAL_JSON,
    ColumnType,
    PartialJson,
    codec,
    decode_value,
    encode_value,
    known_type,
    read_value,
    value_size,
    write_value,
)
from conformance.reference.tables.table_map import TableMap
from conformance.reference.tables.temporal import Date, Datetime, Time, Timestamp, text

_CHAR10 = ColumnType(types.STRING, 0xFE | 10 << 8)
_CHAR1020 = ColumnType(types.STRING, 0xCE | 0xFC << 8)
_ENUM1 = ColumnType(types.STRING, 0xF7 | 1 << 8)
_ENUM2 = ColumnType(types.STRING, 0xF7 | 2 << 8)


def _set(size: int) -> ColumnType:
    return ColumnType(types.STRING, 0xF8 | size << 8)


def _decimal(precision: int, scale: int) -> ColumnType:
    return ColumnType(types.NEWDECIMAL, precision | scale << 8)


def _bit(length: int) -> ColumnType:
    return ColumnType(types.BIT, length % 8 | length // 8 << 8)


# (column, unsigned, value, stored bytes)
_VALUES: list[tuple[ColumnType, bool, Any, str | None]] = [
    (ColumnType(types.TINY), False, -128, "80"),
    (ColumnType(types.TINY), True, 255, "ff"),
    (ColumnType(types.SHORT), False, -2, "feff"),
    (ColumnType(types.SHORT), True, 65535, "ffff"),
    (ColumnType(types.INT24), False, -8388608, "000080"),
    (ColumnType(types.INT24), True, 16777215, "ffffff"),
    (ColumnType(types.LONG), False, -1, "ffffffff"),
    (ColumnType(types.LONG), True, 3916586877, "7d5f72e9"),
    (ColumnType(types.LONGLONG), False, -(1 << 63), "0000000000000080"),
    (ColumnType(types.LONGLONG), True, (1 << 64) - 1, "ffffffffffffffff"),
    (ColumnType(types.FLOAT, 4), False, 1.5, "0000c03f"),
    (ColumnType(types.DOUBLE, 8), False, -0.0, "0000000000000080"),
    (_decimal(3, 2), False, Decimal("1.10"), "810a"),
    (_decimal(10, 3), False, Decimal("-1234567.891"), None),
    (_decimal(65, 30), False, Decimal("-" + "9" * 35 + "." + "9" * 30), None),
    (_decimal(18, 9), False, Decimal("123456789.987654321"), "875bcd153ade68b1"),
    (_decimal(5, 0), False, Decimal(0), "800000"),
    (_bit(1), False, 1, "01"),
    (_bit(10), False, 513, "0201"),
    (_bit(64), False, (1 << 63) + 1, "8000000000000001"),
    (ColumnType(types.YEAR), False, 0, "00"),
    (ColumnType(types.YEAR), False, 1901, "01"),
    (ColumnType(types.YEAR), False, 2155, "ff"),
    (ColumnType(types.DATE), False, Date(2024, 2, 29), "5dd00f"),
    (ColumnType(types.DATE), False, Date(0, 0, 0), "000000"),
    (ColumnType(types.NEWDATE), False, Date(9999, 12, 31), "9f1f4e"),
    (ColumnType(types.TIME2, 0), False, Time(False, 0, 0, 0), "800000"),
    (ColumnType(types.TIME2, 0), False, Time(True, 0, 0, 1), "7fffff"),
    (ColumnType(types.TIME2, 3), False, Time(True, 1, 2, 3, 456000), None),
    (ColumnType(types.TIME2, 6), False, Time(True, 0, 0, 0, 1), "7fffffffffff"),
    (ColumnType(types.TIME2, 6), False, Time(False, 838, 59, 58, 999999), None),
    (ColumnType(types.TIME2, 0), False, Time(True, 2048, 0, 0), "000000"),
    (ColumnType(types.DATETIME2, 0), False, Datetime(0, 0, 0), "8000000000"),
    (ColumnType(types.DATETIME2, 2), False, Datetime(2024, 2, 29, 12, 34, 56, 780000), "99b2bac8b84e"),
    (ColumnType(types.DATETIME2, 1), False, Datetime(2024, 2, 29, 12, 34, 56, 700000), "99b2bac8b846"),
    (ColumnType(types.DATETIME2, 6), False, Datetime(9999, 12, 31, 23, 59, 59, 999999), "fef3ff7efb0f423f"),
    (ColumnType(types.TIMESTAMP2, 0), False, Timestamp(0), "00000000"),
    (ColumnType(types.TIMESTAMP2, 3), False, Timestamp(1709210096, 789000), "65e079f01ed2"),
    (ColumnType(types.TIMESTAMP), False, Timestamp(1709210096), "f079e065"),
    (ColumnType(types.TIME), False, Time(True, 12, 34, 56), "c01dfe"),
    (ColumnType(types.DATETIME), False, Datetime(2024, 2, 29, 12, 34, 56), "80c5aa8b68120000"),
    (ColumnType(types.VARCHAR, 255), False, b"ab", "026162"),
    (ColumnType(types.VARCHAR, 256), False, b"ab", "02006162"),
    (_CHAR10, False, b"", "00"),
    (_CHAR1020, False, b"x", "010078"),
    (_ENUM1, False, 0, "00"),
    (_ENUM2, False, 300, "2c01"),
    (_set(1), False, 5, "05"),
    (_set(3), False, 0x010203, "030201"),
    (_set(8), False, 1 << 63, "0000000000000080"),
    (ColumnType(types.BLOB, 1), False, b"tb", "027462"),
    (ColumnType(types.BLOB, 2), False, b"b", "010062"),
    (ColumnType(types.BLOB, 3), False, b"mb", "0200006d62"),
    (ColumnType(types.BLOB, 4), False, b"lb", "020000006c62"),
    (ColumnType(types.JSON, 4), False, b"\x05\x01\x00", "03000000050100"),
    (ColumnType(types.JSON, 4), False, b"", "00000000"),
    (ColumnType(types.GEOMETRY, 4), False, bytes(25), "19000000" + "00" * 25),
    (ColumnType(types.VECTOR, 4), False, pack("<2f", 1, 2), "080000000000803f00000040"),
]


@pytest.mark.parametrize(("column", "unsigned", "value", "stored"), _VALUES)
def test_a_value_is_these_bytes(column: ColumnType, unsigned: bool, value: Any, stored: str | None) -> None:
    raw = encode_value(column, value, unsigned=unsigned)
    if stored is not None:
        assert raw.hex() == stored
    back = decode_value(column, raw, unsigned=unsigned)
    assert (type(back), back, str(back)) == (type(value), value, str(value))


@pytest.mark.parametrize(("column", "unsigned", "value", "stored"), _VALUES)
def test_a_cut_off_value_is_refused(column: ColumnType, unsigned: bool, value: Any, stored: str | None) -> None:
    raw = encode_value(column, value, unsigned=unsigned)
    for end in range(len(raw)):
        with pytest.raises(DecodeError) as caught:
            decode_value(column, raw[:end], unsigned=unsigned)
        assert (caught.value.code, caught.value.offset) == ("truncated", 0)
        with pytest.raises(DecodeError) as caught:
            read_value(codec(column, unsigned=unsigned), b".." + raw[:end], 2)
        assert (caught.value.code, caught.value.offset) == ("truncated", 2)
    with pytest.raises(DecodeError) as caught:
        decode_value(column, raw + b"\0", unsigned=unsigned)
    assert (caught.value.code, caught.value.offset) == ("trailing-bytes", len(raw))
    assert read_value(codec(column, unsigned=unsigned), b".." + raw + b".", 2) == (
        decode_value(column, raw, unsigned=unsigned),
        2 + len(raw),
    )


def test_a_float_is_its_four_bytes() -> None:
    column = ColumnType(types.FLOAT, 4)
    for raw in (b"\xcd\xcc\xcc\x3d", b"\1\0\0\0", b"\xff\xff\x7f\x7f", b"\0\0\0\x80", b"\0\0\x80\x7f"):
        assert encode_value(column, decode_value(column, raw)) == raw


@pytest.mark.parametrize("scale", range(7))
def test_every_pattern_of_a_time_has_a_value(scale: int) -> None:
    column = ColumnType(types.TIME2, scale)
    size = 3 + (scale + 1) // 2
    step = max(1, (1 << 8 * size) // 3001)
    for number in [*range(0, 1 << 8 * size, step), (1 << 8 * size) - 1]:
        raw = number.to_bytes(size, "big")
        assert encode_value(column, decode_value(column, raw)) == raw


@pytest.mark.parametrize("column", [ColumnType(types.DATETIME2, 0), ColumnType(types.DATETIME2, 6)])
def test_every_pattern_of_a_datetime_has_a_value(column: ColumnType) -> None:
    size = 5 + (column.scale + 1) // 2
    step = (1 << 8 * size) // 3001
    for number in [*range(0, 1 << 8 * size, step), (1 << 8 * size) - 1]:
        raw = number.to_bytes(size, "big")
        assert encode_value(column, decode_value(column, raw)) == raw


def test_every_pattern_of_a_date_and_of_a_year_has_a_value() -> None:
    for number in range(0, 1 << 24, 997):
        raw = number.to_bytes(3, "little")
        assert encode_value(ColumnType(types.DATE), decode_value(ColumnType(types.DATE), raw)) == raw
    for byte in range(256):
        year = decode_value(ColumnType(types.YEAR), bytes((byte,)))
        assert encode_value(ColumnType(types.YEAR), year) == bytes((byte,))


@pytest.mark.parametrize(
    ("value", "precision", "shown"),
    [
        (Date(2024, 2, 31), 0, "2024-02-31"),
        (Time(True, 838, 59, 59), 0, "-838:59:59"),
        (Time(False, 1, 2, 3, 400000), 1, "01:02:03.4"),
        (Datetime(0, 0, 0), 3, "0000-00-00 00:00:00.000"),
        (Datetime(2024, 1, 2, 3, 4, 5, 678900), 4, "2024-01-02 03:04:05.6789"),
        (Timestamp(0), 0, "0000-00-00 00:00:00"),
        (Timestamp(1709210096, 789012), 6, "2024-02-29 12:34:56.789012"),
    ],
)
def test_dates_and_times_print_as_mysql_prints_them(value: Any, precision: int, shown: str) -> None:
    assert text(value, precision) == shown


_WRONG: list[tuple[ColumnType, Any, str]] = [
    (ColumnType(types.TINY), 128, "bad-value"),
    (ColumnType(types.INT24), 1 << 23, "bad-value"),
    (ColumnType(types.LONG), "1", "bad-value"),
    (ColumnType(types.LONG), 1.5, "bad-value"),
    (ColumnType(types.YEAR), 2156, "bad-value"),
    (ColumnType(types.YEAR), 1899, "bad-value"),
    (_bit(1), 256, "bad-value"),
    (_bit(1), -1, "bad-value"),
    (_decimal(3, 2), Decimal("10.00"), "decimal-overflow"),
    (_decimal(3, 2), Decimal("1.234"), "decimal-scale"),
    (_decimal(3, 2), Decimal("0.001"), "decimal-scale"),
    (_decimal(3, 2), Decimal("NaN"), "decimal-overflow"),
    (_decimal(3, 2), Decimal("Infinity"), "decimal-overflow"),
    (_decimal(3, 2), Decimal("1E+1000000"), "decimal-overflow"),
    (_decimal(3, 2), Decimal("0E+1001"), "decimal-overflow"),
    (_decimal(3, 2), Decimal("0E-1001"), "decimal-overflow"),
    (_decimal(3, 2), "1.00", "bad-value"),
    (ColumnType(types.DATE), Date(40000, 1, 1), "out-of-range"),
    (ColumnType(types.DATE), "2024-01-01", "bad-value"),
    (ColumnType(types.DATE), (1, 2), "bad-value"),
    (ColumnType(types.TIME2, 0), Time(False, 1, 2, 3, 4), "fraction"),
    (ColumnType(types.TIME2, 0), Time(False, 2048, 0, 0), "out-of-range"),
    (ColumnType(types.DATETIME2, 2), Datetime(2024, 1, 1, 0, 0, 0, 1), "fraction"),
    (ColumnType(types.DATETIME2, 0), Datetime(200000, 1, 1), "out-of-range"),
    (ColumnType(types.TIMESTAMP2, 0), Timestamp(1 << 32), "out-of-range"),
    (ColumnType(types.TIMESTAMP), Timestamp(1 << 32), "bad-value"),
    (ColumnType(types.VARCHAR, 3), b"four", "too-long"),
    (ColumnType(types.VARCHAR, 3), "str", "bad-value"),
    (ColumnType(types.VARCHAR, 300), bytes(301), "too-long"),
    (_CHAR10, b"x" * 11, "too-long"),
    (ColumnType(types.BLOB, 1), b"x" * 256, "bad-value"),
    (_ENUM1, 256, "bad-value"),
    (ColumnType(types.JSON, 4), PartialJson(b""), "bad-value"),
]


@pytest.mark.parametrize(("column", "value", "code"), _WRONG)
def test_a_value_that_does_not_fit_is_an_encode_error(column: ColumnType, value: Any, code: str) -> None:
    with pytest.raises(EncodeError) as caught:
        encode_value(column, value)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("column", "value", "stored"),
    [
        (_decimal(3, 2), Decimal("0E+1000"), "8000"),
        (_decimal(3, 2), Decimal("0E-1000"), "8000"),
        (_decimal(3, 2), Decimal("0.0000"), "8000"),
        (_decimal(3, 2), Decimal("10E-3"), "8001"),
        (_decimal(3, 2), Decimal("-9.99"), "769c"),
        (_decimal(3, 2), Decimal("1E0"), "8100"),
        (_decimal(5, 0), Decimal("12E3"), "80" + "2ee0"),
        (ColumnType(types.VARCHAR, 3), b"abc", "03616263"),
        (ColumnType(types.VARCHAR, 300), bytes(300), "2c01" + "00" * 300),
        (ColumnType(types.BLOB, 1), bytes(255), "ff" + "00" * 255),
        (ColumnType(types.BLOB, 2), bytes(65535), "ffff" + "00" * 65535),
        (_ENUM1, 255, "ff"),
        (ColumnType(types.TINY), 127, "7f"),
        (ColumnType(types.INT24), (1 << 23) - 1, "ffff7f"),
        (ColumnType(types.YEAR), 1900, "00"),
        (_bit(9), 511, "01ff"),
    ],
)
def test_the_largest_and_oddest_values_that_fit(column: ColumnType, value: Any, stored: str) -> None:
    raw = encode_value(column, value)
    assert raw.hex() == stored
    assert encode_value(column, decode_value(column, raw)) == raw


@pytest.mark.parametrize(
    ("column", "code", "shown"),
    [
        (ColumnType(types.FLOAT, 8), "column-metadata", 8),
        (ColumnType(types.DOUBLE, 4), "column-metadata", 4),
        (_decimal(66, 0), "column-metadata", "(66,0)"),
        (_decimal(65, 31), "column-metadata", "(65,31)"),
        (_decimal(5, 6), "column-metadata", "(5,6)"),
        (_decimal(0, 0), "column-metadata", "(0,0)"),
        (ColumnType(types.BIT, 8), "column-metadata", "0x0008"),
        (ColumnType(types.BIT, 9 << 8), "column-metadata", "0x0900"),
        (ColumnType(types.BIT, 0), "column-metadata", "0x0000"),
        (ColumnType(types.BIT, 8 << 8 | 1), "column-metadata", "0x0801"),
        (ColumnType(types.TIME2, 7), "column-metadata", 7),
        (ColumnType(types.DATETIME2, 7), "column-metadata", 7),
        (ColumnType(types.TIMESTAMP2, 7), "column-metadata", 7),
        (ColumnType(types.BLOB, 5), "column-metadata", 5),
        (ColumnType(types.JSON, 0), "column-metadata", 0),
        (ColumnType(types.STRING, 0xF7 | 3 << 8), "column-type", "254 (0x3f7)"),
        (ColumnType(types.STRING, 0xF8 | 5 << 8), "column-type", "254 (0x5f8)"),
        (ColumnType(types.NULL), "column-type", "6 (0x0)"),
        (ColumnType(types.TYPED_ARRAY, types.LONG), "column-type", "20 (0x3)"),
        (ColumnType(types.DECIMAL_OLD), "column-type", "0 (0x0)"),
    ],
)
def test_metadata_without_a_meaning_is_unsupported(column: ColumnType, code: str, shown: object) -> None:
    with pytest.raises(Unsupported) as caught:
        decode_value(column, bytes(100))
    assert (caught.value.code, caught.value.got) == (code, shown)


@pytest.mark.parametrize(
    ("column", "size"),
    [
        (ColumnType(types.TINY), 1),
        (ColumnType(types.SHORT), 2),
        (ColumnType(types.INT24), 3),
        (ColumnType(types.LONG), 4),
        (ColumnType(types.LONGLONG), 8),
        (ColumnType(types.FLOAT, 4), 4),
        (ColumnType(types.DOUBLE, 8), 8),
        (_decimal(10, 3), 6),
        (_decimal(65, 30), 30),
        (ColumnType(types.YEAR), 1),
        (ColumnType(types.DATE), 3),
        (ColumnType(types.NEWDATE), 3),
        (ColumnType(types.TIME), 3),
        (ColumnType(types.DATETIME), 8),
        (ColumnType(types.TIMESTAMP), 4),
        *((ColumnType(types.TIME2, scale), 3 + (scale + 1) // 2) for scale in range(7)),
        *((ColumnType(types.DATETIME2, scale), 5 + (scale + 1) // 2) for scale in range(7)),
        *((ColumnType(types.TIMESTAMP2, scale), 4 + (scale + 1) // 2) for scale in range(7)),
        *((_bit(length), (length + 7) // 8) for length in (1, 7, 8, 9, 16, 17, 63, 64)),
        (_ENUM1, 1),
        (_ENUM2, 2),
        *((_set(count), count) for count in (1, 2, 3, 4, 8)),
    ],
)
def test_a_type_has_values_of_one_size(column: ColumnType, size: int) -> None:
    assert value_size(column) == size
    value, end = read_value(codec(column), b"..\x80" + bytes(size + 5), 2)
    assert (end, len(encode_value(column, value))) == (2 + size, size)


@pytest.mark.parametrize(
    "column",
    [_CHAR10, ColumnType(types.VARCHAR, 9), *(ColumnType(code, 4) for code in (types.BLOB, 245, 255, 242))],
)
def test_a_type_has_values_of_any_size(column: ColumnType) -> None:
    assert value_size(column) is None


def test_integers_are_signed_unless_they_are_said_not_to_be() -> None:
    for code, size in ((types.TINY, 1), (types.SHORT, 2), (types.INT24, 3), (types.LONG, 4), (types.LONGLONG, 8)):
        column, raw = ColumnType(code), b"\xff" * size
        assert decode_value(column, raw) == read_value(codec(column), raw, 0)[0] == -1
        assert decode_value(column, raw, unsigned=True) == (1 << 8 * size) - 1
        assert encode_value(column, -1) == raw


def test_digits_that_no_decimal_has_are_named_where_they_stand() -> None:
    """DECIMAL(18,9) has two groups of nine digits, four bytes each; offsets count from the start of the row's bytes."""
    column = _decimal(18, 9)
    for raw, offset in (("bb9aca00 3b9ac9ff", 0), ("bb9ac9ff 3b9aca00", 4), ("446535ff c46535ff", 0)):
        for pos in (0, 3):
            with pytest.raises(DecodeError) as caught:
                read_value(codec(column), bytes(pos) + bytes.fromhex(raw), pos)
            assert (caught.value.code, caught.value.offset) == ("decimal-digits", pos + offset)
    assert decode_value(column, bytes.fromhex("bb9ac9ff3b9ac9ff")) == Decimal("999999999.999999999")
    table = TableMap(table_id=1, schema="d", table="t", columns=(_decimal(3, 2), column), nullable=(False, False))
    data = bytes.fromhex("010000000000 0100 0200 02 ff 00 810a bb9ac9ff3b9aca00")
    body: Any = decode_body(EventType.WRITE_ROWS, data, {1: table})
    with pytest.raises(DecodeError) as caught:
        list(body.rows())
    assert caught.value.offset == HEADER_SIZE + len(data) - 4
    assert caught.value.path == ("WRITE_ROWS_EVENT", "rows[0]", "after", "@2")


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_length_beyond_the_event_is_compared_byte_by_byte(size: int) -> None:
    """With nothing behind the length but what is missing one byte, for each byte of the length."""
    column = ColumnType(types.BLOB, size)
    for place in range(min(size, 3)):
        length = 1 << 8 * place
        prefix = length.to_bytes(size, "little")
        assert decode_value(column, prefix + bytes(length)) == bytes(length)
        with pytest.raises(DecodeError) as caught:
            read_value(codec(column), b"." + prefix + bytes(length - 1), 1)
        assert (caught.value.code, caught.value.offset) == ("truncated", 1)
        assert (caught.value.expected, caught.value.got) == (length, length - 1)
    with pytest.raises(DecodeError) as caught:
        decode_value(column, b"\xff" * size)
    assert (caught.value.code, caught.value.expected) == ("truncated", (1 << 8 * size) - 1)


@pytest.mark.parametrize("length", [*range(256), 256, 300, 511, 512, 767, 768, 1020, 1023])
def test_the_length_of_char_hides_in_the_type_byte(length: int) -> None:
    column = ColumnType(types.STRING, 0xFE ^ (length & 0x300) >> 4 | (length & 0xFF) << 8)
    assert (column.real_type, column.length) == (types.STRING, length)


def test_no_type_and_metadata_makes_anything_but_declared_errors() -> None:
    for code in range(256):
        for metadata in [*range(0, 65536, 251), *range(256)]:
            column = ColumnType(code, metadata)
            for data in (b"", b"\0", b"\xff" * 40, bytes(range(40))):
                try:
                    value = decode_value(column, data)
                except CodecError:
                    continue
                again = decode_value(column, encode_value(column, value))
                assert again == value or (isinstance(value, float) and math.isnan(value))


def test_diffs_are_a_value_of_their_own() -> None:
    raw = write_value(PARTIAL_JSON, PartialJson(b"abc"))
    assert raw == b"\3\0\0\0abc"
    assert read_value(PARTIAL_JSON, raw, 0) == (PartialJson(b"abc"), 7)
    with pytest.raises(EncodeError):
        write_value(PARTIAL_JSON, b"abc")


def test_types_between_the_known_ranges_are_unknown() -> None:
    assert [code for code in range(256) if not known_type(code)] == [*range(21, 140), *range(142, 242), 243, 244]


@pytest.mark.parametrize("charset", sorted(DEFAULT_COLLATIONS))
def test_ascii_text_passes_every_character_set_with_a_codec(charset: str) -> None:
    collation = DEFAULT_COLLATIONS[charset]
    raw = bytes_of("abc", collation)
    if COLLATIONS[collation].codec is None:
        assert raw is None
    else:
        assert raw is not None
        assert text_of(raw, collation) == "abc"


def test_text_is_decoded_only_if_valid() -> None:
    assert text_of(b"\xc3\xa9", 255) == "é"
    assert text_of(b"\xe9", 255) is None
    assert text_of(b"\xe9\x81\x80", 8) == "é\x81€"  # latin1 is cp1252 with five control characters
    assert text_of(b"x", 63) is None
    assert text_of(b"x", None) is None
    assert text_of(b"x", 9999) is None
    assert bytes_of("\N{SNOWMAN}", 8) is None
