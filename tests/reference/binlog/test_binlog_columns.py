"""Values of every column type: exact bytes in both directions, and what is refused."""

from __future__ import annotations

import math
from decimal import Decimal
from struct import pack
from typing import Any

import pytest

from conformance.reference.binlog import columns as types
from conformance.reference.binlog.charsets import COLLATIONS, DEFAULT_COLLATIONS, bytes_of, text_of
from conformance.reference.binlog.columns import (
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
from conformance.reference.binlog.temporal import Date, Datetime, Time, Timestamp, text
from conformance.reference.errors import CodecError, DecodeError, EncodeError, Unsupported

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


@pytest.mark.parametrize(("column", "unsigned", "value", "stored"), _VALUES)
def test_a_size_that_is_known_is_the_size(column: ColumnType, unsigned: bool, value: Any, stored: str | None) -> None:
    assert value_size(column) in (None, len(encode_value(column, value, unsigned=unsigned)))


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


_WRONG: list[tuple[ColumnType, Any]] = [
    (ColumnType(types.TINY), 128),
    (ColumnType(types.INT24), 1 << 23),
    (ColumnType(types.LONG), "1"),
    (ColumnType(types.LONG), 1.5),
    (ColumnType(types.YEAR), 2156),
    (ColumnType(types.YEAR), 1899),
    (_bit(1), 256),
    (_bit(1), -1),
    (_decimal(3, 2), Decimal("10.00")),
    (_decimal(3, 2), Decimal("1.234")),
    (_decimal(3, 2), Decimal("NaN")),
    (_decimal(3, 2), Decimal("1E+1000000")),
    (ColumnType(types.DATE), Date(40000, 1, 1)),
    (ColumnType(types.DATE), "2024-01-01"),
    (ColumnType(types.TIME2, 0), Time(False, 1, 2, 3, 4)),
    (ColumnType(types.TIME2, 0), Time(False, 2048, 0, 0)),
    (ColumnType(types.DATETIME2, 2), Datetime(2024, 1, 1, 0, 0, 0, 1)),
    (ColumnType(types.DATETIME2, 0), Datetime(200000, 1, 1)),
    (ColumnType(types.TIMESTAMP2, 0), Timestamp(1 << 32)),
    (ColumnType(types.VARCHAR, 3), b"four"),
    (ColumnType(types.VARCHAR, 3), "str"),
    (_CHAR10, b"x" * 11),
    (ColumnType(types.BLOB, 1), b"x" * 256),
    (_ENUM1, 256),
    (ColumnType(types.JSON, 4), PartialJson(b"")),
]


@pytest.mark.parametrize(("column", "value"), _WRONG)
def test_a_value_that_does_not_fit_is_an_encode_error(column: ColumnType, value: Any) -> None:
    with pytest.raises(EncodeError):
        encode_value(column, value)


@pytest.mark.parametrize(
    "column",
    [
        ColumnType(types.FLOAT, 8),
        ColumnType(types.DOUBLE, 4),
        _decimal(66, 0),
        _decimal(5, 6),
        _decimal(0, 0),
        ColumnType(types.BIT, 8),
        ColumnType(types.BIT, 9 << 8),
        ColumnType(types.TIME2, 7),
        ColumnType(types.BLOB, 5),
        ColumnType(types.JSON, 0),
        ColumnType(types.STRING, 0xF7 | 3 << 8),
        ColumnType(types.STRING, 0xF8 | 5 << 8),
        ColumnType(types.NULL),
        ColumnType(types.TYPED_ARRAY, types.LONG),
        ColumnType(types.DECIMAL_OLD),
    ],
)
def test_metadata_without_a_meaning_is_unsupported(column: ColumnType) -> None:
    with pytest.raises(Unsupported):
        decode_value(column, bytes(100))


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
    assert [code for code in range(256) if not known_type(code)] == [*range(21, 242), 243, 244]


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
