"""Optional metadata of a TABLE_MAP: which byte is wrong, which columns a field counts, how other versions read it."""

from __future__ import annotations

from typing import Any, Final

import pytest

from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.metadata import (
    SHIPPED,
    WORKLOG,
    Bits,
    ColumnInfo,
    DefaultCharset,
    Field,
    Members,
    MetadataRules,
    Names,
    Numbers,
    PrefixKey,
    UnknownField,
    charset_columns,
    decode_metadata,
    describe,
    encode_metadata,
    enum_and_set_columns,
    has_sign,
    key_parts,
    signedness,
)
from tests.reference.refusals import refused, where

INT = ColumnType(types.LONG)
YEAR = ColumnType(types.YEAR)
TEXT = ColumnType(types.VARCHAR, 40)
DATE = ColumnType(types.DATE)
ENUM = ColumnType(types.STRING, 0xF7 | 1 << 8)
SET = ColumnType(types.STRING, 0xF8 | 1 << 8)
POINT = ColumnType(types.GEOMETRY, 4)
VECTOR = ColumnType(types.VECTOR, 4)
BY_BYTES = MetadataRules(members_by_bytes=True)

REFUSALS: Final = [
    ("01", SHIPPED, "truncated", 1, "length"),
    ("01fb", SHIPPED, "bad-packed-integer", 1, "length"),
    ("0102a0", SHIPPED, "truncated", 2, "SIGNEDNESS"),
    ("630200", SHIPPED, "truncated", 2, "field[99]"),
    ("010180 0d0205", SHIPPED, "truncated", 5, "VECTOR_DIMENSIONALITY"),
    ("010180 0d", SHIPPED, "truncated", 4, "length"),
    ("0200", SHIPPED, "truncated", 2, "DEFAULT_CHARSET.default"),
    ("02022100", SHIPPED, "truncated", 4, "DEFAULT_CHARSET.collation"),
    ("0a0421000801", SHIPPED, "truncated", 6, "ENUM_AND_SET_DEFAULT_CHARSET.collation"),
    ("0301fc", SHIPPED, "truncated", 2, "COLUMN_CHARSET.collation"),
    ("0802 00fb", SHIPPED, "bad-packed-integer", 3, "SIMPLE_PRIMARY_KEY.column"),
    ("040105 6162636465", SHIPPED, "truncated", 3, "COLUMN_NAME.name"),
    ("010180 0402 0261", SHIPPED, "truncated", 6, "COLUMN_NAME.name"),
    ("0601fc", SHIPPED, "truncated", 2, "ENUM_STR_VALUE.member_count"),
    ("0603 03 0161", SHIPPED, "truncated", 3, "ENUM_STR_VALUE"),
    ("0603 02 0161", SHIPPED, "truncated", 5, "ENUM_STR_VALUE.member"),
    ("0504 01 0161 01", SHIPPED, "truncated", 6, "SET_STR_VALUE"),
    ("0901 00", SHIPPED, "truncated", 3, "PRIMARY_KEY_WITH_PREFIX.prefix"),
    ("0902 00fc", SHIPPED, "truncated", 3, "PRIMARY_KEY_WITH_PREFIX.column"),
    ("0603 02 0261", BY_BYTES, "truncated", 4, "ENUM_STR_VALUE.member"),
    ("0603 03 0161", BY_BYTES, "truncated", 3, "ENUM_STR_VALUE"),
    ("0605 01 0161 0161", BY_BYTES, "bad-length", 5, "ENUM_STR_VALUE"),
    ("0801fc", WORKLOG, "truncated", 2, "PRIMARY_KEY_WITH_PREFIX.column"),
    ("0901fc", WORKLOG, "truncated", 2, "GEOMETRY_TYPE.geometry_type"),
]


@pytest.mark.parametrize(("raw", "rules", "code", "offset", "path"), REFUSALS)
def test_a_damaged_field_says_which_byte_is_wrong(
    raw: str, rules: MetadataRules, code: str, offset: int, path: str
) -> None:
    found = refused(decode_metadata, bytes.fromhex(raw), (INT, ENUM, SET, VECTOR), rules)
    assert where(found) == (code, offset, path)


@pytest.mark.parametrize(
    ("raw", "rules", "fields"),
    [
        # The shipped reader goes on inside of what it does not know (table-map-metadata 3.10).
        ("0e03 0101ff", MetadataRules(skips_unknown=False), [Bits(1, (True,))]),
        ("0000 0101ff", MetadataRules(skips_unknown=False), [Bits(1, (True,))]),
        ("0c03 0101ff", MetadataRules(skips_unknown=False, highest=11), [Bits(1, (True,))]),
        ("0d0105 0e00", MetadataRules(skips_unknown=False), [Numbers(13, (5,))]),
        ("0e03 0101ff 010180", SHIPPED, [UnknownField(14, b"\1\1\xff"), Bits(1, (True,))]),
        ("0000 010180", SHIPPED, [UnknownField(0, b""), Bits(1, (True,))]),
        ("0c0180 0d0105", MetadataRules(highest=12), [Bits(12, (True,)), UnknownField(13, b"\5")]),
        ("0d0105", MetadataRules(highest=13), [Numbers(13, (5,))]),
        ("0101ff", MetadataRules(highest=0), [UnknownField(1, b"\xff")]),
    ],
)
def test_a_field_that_the_reader_does_not_know_is_passed_over_or_entered(
    raw: str, rules: MetadataRules, fields: list[Any]
) -> None:
    assert decode_metadata(bytes.fromhex(raw), (INT,), rules) == tuple(fields)


@pytest.mark.parametrize(
    ("count", "raw", "bits"),
    [
        (0, "", ()),
        (1, "80", (True,)),
        (7, "fe", (True,) * 7),
        (8, "01", (False,) * 7 + (True,)),
        (9, "0100", (False,) * 7 + (True, False)),
        (9, "ff", (True,) * 8),  # a byte too short: as it is
        (8, "0080", (False,) * 8 + (True,) + (False,) * 7),  # a byte too long: as it is
        (0, "40", (False, True) + (False,) * 6),
    ],
)
def test_bit_fields_have_a_bit_for_each_column_that_they_count(count: int, raw: str, bits: tuple[bool, ...]) -> None:
    """SIGNEDNESS counts numbers, COLUMN_VISIBILITY all columns; what has another length is kept whole."""
    value = bytes.fromhex(raw)
    data = bytes((1, len(value))) + value
    assert decode_metadata(data, (TEXT, *(INT,) * count, TEXT)) == (Bits(1, bits),)
    data = bytes((12, len(value))) + value
    assert decode_metadata(data, (TEXT,) * count) == (Bits(12, bits),)
    assert encode_metadata([Bits(12, bits)]) == data


@pytest.mark.parametrize("rules", [SHIPPED, MetadataRules(year_counted=False)])
def test_signs_are_of_the_numeric_types(rules: MetadataRules) -> None:
    """Types 0 to 5, 8, 9, 246, and YEAR (13) where it is counted (table-map-metadata 3.1)."""
    numeric = [0, 1, 2, 3, 4, 5, 8, 9, 246] + [13] * rules.year_counted
    columns = [ColumnType(code) for code in range(256)]
    assert [code for code in range(256) if has_sign(columns[code], rules)] == sorted(numeric)
    raw = bytes((1, (len(numeric) + 7) // 8)) + b"\xff" * ((len(numeric) + 7) // 8)
    assert decode_metadata(raw, columns, rules) == (Bits(1, (True,) * len(numeric)),)
    assert has_sign(YEAR)


def test_character_sets_are_of_the_character_columns() -> None:
    """Types 15, 252, 242, 254 where it is no ENUM or SET in disguise, and MariaDB's compressed 140 and 141
    (table-map-metadata 3.2, table-map-metadata 3.7)."""
    columns = [*(ColumnType(code) for code in range(256)), ColumnType(types.STRING, 0xFE), ENUM, SET, TEXT]
    assert charset_columns(columns) == [15, 140, 141, 242, 252, 256, 259]
    assert enum_and_set_columns(columns) == [247, 248, 257, 258]


_KEY: Final = Numbers(Field.SIMPLE_PRIMARY_KEY, (1, 0))


def test_the_sign_of_each_column_is_that_of_its_place_among_the_numeric_ones() -> None:
    columns = (TEXT, INT, YEAR, INT)
    bits = Bits(Field.SIGNEDNESS, (True, False, True))
    assert signedness(columns, (Names(("a",)), bits, _KEY)) == (False, True, False, True)
    assert signedness(columns, (Bits(Field.COLUMN_VISIBILITY, (True,) * 4),)) == (False,) * 4
    assert signedness(columns, (UnknownField(Field.SIGNEDNESS, b"\xff"),)) == (False,) * 4
    assert signedness(columns, (Bits(1, (True,)),)) == (False, True, False, False)
    assert signedness(columns, (Bits(1, (True,) * 8),)) == (False, True, True, True)
    assert signedness(columns, (Bits(1, (False, True)),), MetadataRules(year_counted=False))[3] is True


def test_key_parts_are_those_of_the_two_fields_of_the_key() -> None:
    assert key_parts(_KEY) == ((1, 0), (0, 0))
    assert key_parts(PrefixKey(((2, 7), (1, 0)))) == ((2, 7), (1, 0))
    for field in (Numbers(Field.COLUMN_CHARSET, (8,)), Bits(Field.SIGNEDNESS, (True,)), UnknownField(8, b"\1")):
        assert key_parts(field) == ()


# --- all fields together


def info(column: ColumnType = TEXT, *, nullable: bool = True, **told: Any) -> ColumnInfo:
    return ColumnInfo(column, nullable, **told)


@pytest.mark.parametrize(
    ("columns", "field", "described"),
    [
        ((INT, TEXT), Names(("a",)), (info(INT, name="a"), info())),
        ((INT, TEXT), Names(("a", "b", "c")), (info(INT, name="a"), info(name="b"))),
        ((DATE, TEXT), Names(("a", "b")), (info(DATE, name="a"), info(name="b"))),
        ((TEXT, TEXT), Bits(12, (False,)), (info(visible=False), info())),
        ((DATE, TEXT), Bits(12, (True, False)), (info(DATE, visible=True), info(visible=False))),
        ((TEXT, TEXT), Bits(12, (True, False, True)), (info(visible=True), info(visible=False))),
        ((TEXT, INT, INT), Bits(1, (True,)), (info(), info(INT, unsigned=True), info(INT))),
        ((INT, TEXT), Bits(1, (False, True)), (info(INT), info())),
        ((TEXT, INT, TEXT), DefaultCharset(2, 33), (info(collation=33), info(INT), info(collation=33))),
        ((TEXT, TEXT), DefaultCharset(2, 33, ((1, 8), (2, 9))), (info(collation=33), info(collation=8))),
        ((TEXT, ENUM), DefaultCharset(2, 33, ((0, 8),)), (info(collation=8), info(ENUM))),
        (
            (TEXT, ENUM, SET),
            DefaultCharset(10, 33, ((1, 8),)),
            (info(), info(ENUM, collation=33), info(SET, collation=8)),
        ),
        ((TEXT, ENUM, SET), Numbers(11, (7, 8)), (info(), info(ENUM, collation=7), info(SET, collation=8))),
        ((ENUM, VECTOR, TEXT), Numbers(3, (63, 8)), (info(ENUM), info(VECTOR, collation=63), info(collation=8))),
        ((POINT, INT, POINT), Numbers(7, (1, 2)), (info(POINT, geometry=1), info(INT), info(POINT, geometry=2))),
        ((POINT, VECTOR), Numbers(13, (3,)), (info(POINT), info(VECTOR, dimension=3))),
        ((SET, ENUM), Members(6, ((b"a",),)), (info(SET), info(ENUM, members=(b"a",)))),
        ((ENUM, SET), Members(5, ((b"a", b"b"),)), (info(ENUM), info(SET, members=(b"a", b"b")))),
        ((INT, TEXT), _KEY, (info(INT, key_position=1), info(key_position=0))),
        ((INT, TEXT), PrefixKey(((1, 3), (2, 9))), (info(INT), info(key_position=0, key_prefix=3))),
        ((INT,), Numbers(8, (1, 0)), (info(INT, key_position=1),)),
        ((INT,), UnknownField(4, b"\1a"), (info(INT),)),
        ((INT,), UnknownField(77, b"\1a"), (info(INT),)),
    ],
)
def test_a_field_tells_of_the_columns_that_it_counts(
    columns: tuple[ColumnType, ...], field: Any, described: tuple[ColumnInfo, ...]
) -> None:
    """Items without a column, and columns without an item, are no harm."""
    assert describe(columns, (True,) * len(columns), (field,)) == described
    nullable = tuple(bool(place % 2) for place in range(len(columns)))
    found = describe(columns, nullable, (field,))
    assert [column.nullable for column in found] == list(nullable)


def test_the_rules_say_whether_a_year_has_a_sign() -> None:
    old = MetadataRules(year_counted=False)
    for rules, signs in ((SHIPPED, [True, False]), (old, [False, True])):
        found = describe((YEAR, INT), (False, False), (Bits(1, (True,)),), rules)
        assert [column.unsigned for column in found] == signs


def test_too_many_columns_are_refused() -> None:
    error = refused(describe, (INT,) * 4097, (True,) * 4097, ())
    assert (where(error), error.got) == (("column-count", None, ""), 4097)


# --- and back


@pytest.mark.parametrize(
    ("field", "rules", "raw"),
    [
        (Names(("é" * 150,)), SHIPPED, "04fc2f01" + "fc2c01" + "c3a9" * 150),
        (Names(("a\udcff",)), SHIPPED, "040302" + "61ff"),
        (Members(6, ((b"a", b"bc"), (), (b"",))), SHIPPED, "0609" + "020161026263" + "00" + "0100"),
        (Members(6, ((b"a", b"bc"), (), (b"",))), BY_BYTES, "0609" + "050161026263" + "00" + "0100"),
        (UnknownField(0, b"x"), SHIPPED, "000178"),
        (UnknownField(255, b""), SHIPPED, "ff00"),
        (Numbers(7, (1,)), WORKLOG, "090101"),
        (Numbers(8, (300,)), WORKLOG, "0703fc2c01"),
        (PrefixKey(((0, 1),)), WORKLOG, "08020001"),
        (Numbers(3, (8,)), WORKLOG, "030108"),
    ],
)
def test_fields_are_the_same_bytes_both_ways(field: Any, rules: MetadataRules, raw: str) -> None:
    assert encode_metadata([field], rules).hex() == raw
    assert decode_metadata(bytes.fromhex(raw), (ENUM,) * 3, rules) == (field,)


@pytest.mark.parametrize("number", [-1, 256])
def test_the_number_of_a_field_is_one_byte(number: int) -> None:
    error = refused(encode_metadata, [Names(("a",)), UnknownField(number, b"")])
    assert (error.code, error.got) == ("out-of-range", number)
