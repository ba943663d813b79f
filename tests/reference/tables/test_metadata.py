"""TABLE_MAP and its optional metadata."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.reference.errors import CodecError, DecodeError, EncodeError, Unsupported
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.metadata import (
    MAX_COLUMNS,
    Bits,
    DefaultCharset,
    Field,
    Members,
    MetadataRules,
    Names,
    Numbers,
    PrefixKey,
    UnknownField,
    decode_metadata,
    describe,
    encode_metadata,
    signedness,
)
from conformance.reference.tables.table_map import TableMap

_INT = ColumnType(types.LONG)
_YEAR = ColumnType(types.YEAR)
_TEXT = ColumnType(types.VARCHAR, 40)
_ENUM = ColumnType(types.STRING, 0xF7 | 1 << 8)
_SET = ColumnType(types.STRING, 0xF8 | 1 << 8)
_POINT = ColumnType(types.GEOMETRY, 4)
_VECTOR = ColumnType(types.VECTOR, 4)

# The examples of table-map-metadata 3: columns, field, bytes.
_FIELDS: list[tuple[tuple[ColumnType, ...], Any, str]] = [
    ((_INT,) * 9, Bits(1, (True, False, True, False, False, False, False, False, True)), "0102a080"),
    ((_TEXT,) * 3, DefaultCharset(2, 8, ((2, 11),)), "0203 08 02 0b"),
    ((_TEXT, _TEXT, _INT, _TEXT), DefaultCharset(2, 255, ((0, 11),)), "0205 fcff00 00 0b"),
    ((_TEXT,) * 2, Numbers(3, (255, 8)), "0304 fcff00 08"),
    ((_INT, _TEXT), Names(("id", "é")), "0406 02 6964 02 c3a9"),
    ((_ENUM, _SET), Members(5, ((b"x", b"y"),)), "0505 02 0178 0179"),
    (
        (_ENUM,) * 3,
        Members(6, ((b"a", b"b"), (b"q",), ("é".encode(), b"b c"))),
        "0610 02 0161 0162 01 0171 02 02c3a9 03622063",
    ),
    ((_POINT,) * 2, Numbers(7, (1, 7)), "0702 01 07"),
    ((_INT,), Numbers(8, (0,)), "0801 00"),
    ((_INT, _TEXT), PrefixKey(((1, 3), (0, 0))), "0904 01 03 00 00"),
    ((_ENUM, _SET), DefaultCharset(10, 8, ()), "0a01 08"),
    ((_SET,) * 4, Numbers(11, (8, 255, 11, 255)), "0b08 08 fcff00 0b fcff00"),
    ((_INT,) * 4, Bits(12, (True, True, False, True)), "0c01 d0"),
    ((_VECTOR,) * 3, Numbers(13, (2, 5, 1)), "0d03 02 05 01"),
    ((_VECTOR,), Numbers(13, (2048,)), "0d03 fc0008"),
    ((_INT,), UnknownField(14, b"\1\1\xff"), "0e03 0101ff"),
    ((_INT,), UnknownField(99, b""), "6300"),
]


@pytest.mark.parametrize(("columns", "field", "stored"), _FIELDS)
def test_a_metadata_field_is_these_bytes(columns: tuple[ColumnType, ...], field: Any, stored: str) -> None:
    raw = bytes.fromhex(stored)
    assert encode_metadata([field]) == raw
    assert decode_metadata(raw, columns) == (field,)


@pytest.mark.parametrize(("columns", "field", "stored"), _FIELDS)
def test_a_cut_off_field_is_refused(columns: tuple[ColumnType, ...], field: Any, stored: str) -> None:
    raw = bytes.fromhex(stored)
    for end in range(1, len(raw)):
        with pytest.raises(DecodeError):
            decode_metadata(raw[:end], columns)


def test_fields_keep_any_order() -> None:
    columns = (_INT, _TEXT)
    fields = (Names(("a", "b")), UnknownField(50, b"x"), Numbers(8, (0,)), Bits(1, (True,)))
    assert decode_metadata(encode_metadata(fields), columns) == fields


def test_an_item_that_overruns_its_field_is_refused() -> None:
    with pytest.raises(DecodeError) as caught:
        decode_metadata(bytes.fromhex("0401 05 6162636465"), (_INT,))
    assert (caught.value.code, caught.value.path[0]) == ("truncated", "COLUMN_NAME")
    with pytest.raises(DecodeError):
        decode_metadata(bytes.fromhex("0604 fdffffff"), (_ENUM,))


def test_signs_are_counted_over_numeric_columns_only() -> None:
    columns = (_TEXT, _INT, _YEAR, ColumnType(types.BIT, 1), ColumnType(types.NEWDECIMAL, 5))
    fields = decode_metadata(bytes.fromhex("0101 e0"), columns)
    assert fields == (Bits(1, (True, True, True)),)
    assert signedness(columns, fields) == (False, True, True, False, True)
    assert signedness(columns, ()) == (False,) * 5


def test_old_servers_leave_year_out_of_the_signs() -> None:
    columns = (_YEAR, _INT)
    old = MetadataRules(year_counted=False)
    assert signedness(columns, decode_metadata(bytes.fromhex("010180"), columns, old), old) == (False, True)
    assert signedness(columns, decode_metadata(bytes.fromhex("010180"), columns)) == (True, False)


def test_a_sign_field_of_another_length_is_kept() -> None:
    fields = decode_metadata(bytes.fromhex("0102 80ff"), (_INT,))
    assert encode_metadata(fields).hex() == "010280ff"
    assert signedness((_INT,), fields) == (True,)
    assert signedness((_INT,), decode_metadata(bytes.fromhex("0100"), (_INT,))) == (False,)


def test_of_two_sign_fields_rows_and_descriptions_take_the_same_bits() -> None:
    columns = (_INT, _INT, _YEAR)
    fields = (Bits(Field.SIGNEDNESS, (True, False, True)), Bits(Field.SIGNEDNESS, (False, True)))
    assert signedness(columns, fields) == (False, True, True)
    assert tuple(info.unsigned for info in describe(columns, (True,) * 3, fields)) == (False, True, True)


def test_type_254_is_no_geometry_and_no_vector_whatever_its_metadata() -> None:
    columns = (ColumnType(types.STRING, 0x01FF), ColumnType(types.STRING, 0x01F2), _POINT, _VECTOR)
    fields = (Numbers(Field.GEOMETRY_TYPE, (1,)), Numbers(Field.VECTOR_DIMENSIONALITY, (3,)))
    found = describe(columns, (True,) * 4, fields)
    assert [(info.geometry, info.dimension) for info in found] == [(None, None), (None, None), (1, None), (None, 3)]


def test_the_worklog_numbers_three_fields_otherwise() -> None:
    worklog = MetadataRules(worklog_numbering=True)
    fields = (Numbers(Field.GEOMETRY_TYPE, (1,)), Numbers(Field.SIMPLE_PRIMARY_KEY, (0,)))
    raw = encode_metadata(fields, worklog)
    assert raw.hex() == "090101070100"
    assert decode_metadata(raw, (_POINT,), worklog) == fields
    assert encode_metadata([PrefixKey(((0, 1),))], worklog)[0] == 8


def test_a_column_is_described_by_all_fields_together() -> None:
    columns = (_INT, _TEXT, _ENUM, _SET, _POINT, _VECTOR, _TEXT)
    fields = (
        Bits(Field.SIGNEDNESS, (True,)),
        DefaultCharset(Field.DEFAULT_CHARSET, 255, ((1, 63), (2, 8))),
        Numbers(Field.GEOMETRY_TYPE, (1,)),
        Numbers(Field.VECTOR_DIMENSIONALITY, (3,)),
        Names(("id", "t", "e", "s", "p", "v", "u")),
        Numbers(Field.ENUM_AND_SET_COLUMN_CHARSET, (8, 11)),
        Members(Field.SET_STR_VALUE, ((b"x", b"y"),)),
        Members(Field.ENUM_STR_VALUE, ((b"a",),)),
        PrefixKey(((6, 5), (0, 0), (77, 0))),
        Bits(Field.COLUMN_VISIBILITY, (True,) * 6 + (False,)),
    )
    found = describe(columns, (False,) + (True,) * 6, fields)
    assert [info.name for info in found] == ["id", "t", "e", "s", "p", "v", "u"]
    assert [info.collation for info in found] == [None, 255, 8, 11, None, 63, 8]
    assert [info.members for info in found][2:4] == [(b"a",), (b"x", b"y")]
    assert (found[0].unsigned, found[0].nullable, found[0].key_position) == (True, False, 1)
    assert (found[4].geometry, found[5].dimension) == (1, 3)
    assert (found[6].key_position, found[6].key_prefix, found[6].visible) == (0, 5, False)


def _table(**changes: Any) -> TableMap:
    table = TableMap(
        table_id=0x010203040506,
        schema="db",
        table="täble",
        columns=(_INT, _TEXT, ColumnType(types.TYPED_ARRAY, types.NEWDECIMAL | 0x020A << 8)),
        nullable=(False, True, True),
        metadata=(Bits(1, (False,)),),
    )
    return replace(table, **changes)


def test_a_table_map_both_ways() -> None:
    table = _table()
    raw = table.encode()
    assert raw.hex() == (
        "0605040302010100026462000674c3a4626c650003030f14052800f60a0206010100"
    )  # fmt: skip
    assert TableMap.decode(raw) == table
    assert _table(columns=(), nullable=(), metadata=()) == TableMap.decode(
        _table(columns=(), nullable=(), metadata=()).encode()
    )


@pytest.mark.parametrize(("element", "details"), [(types.TYPED_ARRAY, 1), (types.LONG, 1), (types.VARCHAR, 3)])
def test_the_element_of_an_array_says_how_much_metadata_there_is(element: int, details: int) -> None:
    table = _table(columns=(ColumnType(types.TYPED_ARRAY, element), _INT), nullable=(True, False))
    raw = table.encode()
    assert TableMap.decode(raw) == table
    assert raw[-5 - details :].hex() == f"{details:02x}{element:02x}{'00' * (details - 1)}01010100"


def test_more_columns_than_a_table_can_have_are_refused() -> None:
    most, more = (
        _table(columns=(_INT,) * count, nullable=(True,) * count, metadata=()).encode()
        for count in (MAX_COLUMNS, MAX_COLUMNS + 1)
    )
    table = TableMap.decode(most)
    assert len(table.columns) == len(table.described) == len(table.column_names) == MAX_COLUMNS
    with pytest.raises(Unsupported, match=r"no table has so many columns at offset [0-9]+, expected <= 4096, got 4097"):
        TableMap.decode(more)


def test_names_that_are_no_utf_8_survive() -> None:
    table = TableMap.decode(_table().encode().replace("täble".encode(), b"t\xffxbl\xfe"))
    assert TableMap.decode(table.encode()) == table


def test_unused_null_bits_are_ignored() -> None:
    raw = bytearray(_table(metadata=()).encode())
    raw[-1] |= 0xF8
    assert TableMap.decode(bytes(raw)) == _table(metadata=())


def test_columns_without_names_are_numbered() -> None:
    assert _table().column_names == ("@1", "@2", "@3")


def test_a_cut_off_table_map_is_refused() -> None:
    raw = _table(metadata=()).encode()
    for end in range(len(raw)):
        with pytest.raises(DecodeError):
            TableMap.decode(raw[:end])


@pytest.mark.parametrize("code", [21, 100, 241, 243, 244])
def test_an_unknown_column_type_is_unsupported(code: int) -> None:
    raw = _table(columns=(_INT,), nullable=(True,), metadata=()).encode()
    at = raw.index(b"\x01\x03\x00\x01")
    with pytest.raises(Unsupported) as caught:
        TableMap.decode(raw[: at + 1] + bytes((code,)) + raw[at + 2 :])
    assert caught.value.path == ("columns[0]",)


def test_lengths_are_compared_before_anything_is_made_of_them() -> None:
    with pytest.raises(DecodeError):
        TableMap.decode(bytes(8) + b"\0\0\0\0" + b"\xfe" + b"\xff" * 8)
    with pytest.raises(CodecError):
        TableMap.decode(bytes(8) + b"\0\0\0\0" + b"\0" + b"\xfe" + b"\xff" * 8)


@pytest.mark.parametrize(
    "changes",
    [
        {"table_id": 1 << 48},
        {"flags": 1 << 16},
        {"nullable": (True,)},
        {"columns": (ColumnType(types.TIME2, 256),), "nullable": (True,)},
        {"metadata": (UnknownField(256, b""),)},
    ],
)
def test_a_table_map_that_does_not_fit_is_an_encode_error(changes: Any) -> None:
    with pytest.raises(EncodeError):
        _table(**changes).encode()
