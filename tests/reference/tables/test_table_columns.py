"""Columns of a definition in TABLE_MAP: each type at its borders, character sets in the shorter form, keys, members."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.definitions import Column, Table, column_type, create_table, table_map
from conformance.reference.tables.metadata import (
    SHIPPED,
    WORKLOG,
    Bits,
    DefaultCharset,
    Field,
    Members,
    MetadataField,
    MetadataRules,
    Names,
    Numbers,
    PrefixKey,
)
from conformance.reference.tables.table_map import GENERATED_INVISIBLE_PK
from tests.reference.refusals import refused, where

PLAIN = Table(schema="d", name="t", columns=(), charset="latin1")


def names(count: int) -> tuple[str, ...]:
    return tuple(f"m{number}" for number in range(count))


@pytest.mark.parametrize(
    ("column", "code", "metadata"),
    [
        (Column(name="c", type="BOOL"), types.TINY, 0),
        (Column(name="c", type="BIGINT"), types.LONGLONG, 0),
        (Column(name="c", type="TIME"), types.TIME2, 0),
        (Column(name="c", type="TIMESTAMP", scale=6), types.TIMESTAMP2, 6),
        (Column(name="c", type="CHAR"), types.STRING, 0x01FE),
        (Column(name="c", type="CHAR", length=0), types.STRING, 0x00FE),
        (Column(name="c", type="CHAR", length=255), types.STRING, 0xFFFE),
        # From 256 bytes on the two high bits are in the type byte, inverted (binlog-events 9.1).
        (Column(name="c", type="CHAR", length=64, charset="utf8mb4"), types.STRING, 0x00EE),
        (Column(name="c", type="CHAR", length=128, charset="utf8mb4"), types.STRING, 0x00DE),
        (Column(name="c", type="CHAR", length=255, charset="utf8mb4"), types.STRING, 0xFCCE),
        (Column(name="c", type="BINARY", length=200), types.STRING, 0xC8FE),
        (Column(name="c", type="VARCHAR", length=300), types.VARCHAR, 300),
        (Column(name="c", type="VARCHAR", length=300, collation="utf8mb3_bin"), types.VARCHAR, 900),
        (Column(name="c", type="VARBINARY", length=300, charset="utf8mb4"), types.VARCHAR, 300),
        (Column(name="c", type="ENUM", members=names(255)), types.STRING, 0x01F7),
        (Column(name="c", type="ENUM", members=names(256)), types.STRING, 0x02F7),
        (Column(name="c", type="SET", members=names(1)), types.STRING, 0x01F8),
        (Column(name="c", type="SET", members=names(8)), types.STRING, 0x01F8),
        (Column(name="c", type="SET", members=names(9)), types.STRING, 0x02F8),
        (Column(name="c", type="SET", members=names(32)), types.STRING, 0x04F8),
        (Column(name="c", type="SET", members=names(33)), types.STRING, 0x08F8),
        (Column(name="c", type="SET", members=names(40)), types.STRING, 0x08F8),
        (Column(name="c", type="SET", members=names(64)), types.STRING, 0x08F8),
        (Column(name="c", type="FLOAT"), types.FLOAT, 4),
        (Column(name="c", type="FLOAT", length=24), types.FLOAT, 4),
        (Column(name="c", type="FLOAT", length=25), types.DOUBLE, 8),
        (Column(name="c", type="DECIMAL"), types.NEWDECIMAL, 0x000A),
        (Column(name="c", type="DECIMAL", length=65, scale=30), types.NEWDECIMAL, 0x1E41),
        (Column(name="c", type="BIT"), types.BIT, 0x0001),
        (Column(name="c", type="BIT", length=15), types.BIT, 0x0107),
        (Column(name="c", type="BIT", length=64), types.BIT, 0x0800),
        (Column(name="c", type="TINYTEXT"), types.BLOB, 1),
        (Column(name="c", type="BLOB"), types.BLOB, 2),
        (Column(name="c", type="MEDIUMTEXT"), types.BLOB, 3),
        (Column(name="c", type="LONGBLOB"), types.BLOB, 4),
        (Column(name="c", type="POINT"), types.GEOMETRY, 4),
        (Column(name="c", type="JSON"), types.JSON, 4),
        (Column(name="c", type="VECTOR", length=3), types.VECTOR, 4),
        (Column(name="c", type="DATE"), types.DATE, 0),
    ],
    ids=lambda item: f"{item.type} {item.length} {len(item.members)}" if isinstance(item, Column) else None,
)
def test_a_column_has_its_type_byte_and_metadata(column: Column, code: int, metadata: int) -> None:
    assert column_type(PLAIN, column) == (code, metadata)


@pytest.mark.parametrize(
    ("column", "metadata", "code", "path"),
    [
        (Column(name="a", type="BLOB", length=5), "MINIMAL", "column-type", "a"),
        (Column(name="a", type="SHORTBLOB"), "MINIMAL", "column-type", "a"),
        (Column(name="a", type="TEXTTEXT"), "MINIMAL", "column-type", "a"),
        (Column(name="a", type="CHAR", charset="klingon"), "MINIMAL", "collation", ""),
        (Column(name="a", type="CHAR", collation="klingon_bin"), "MINIMAL", "collation", ""),
        (Column(name="a", type="ENUM", charset="latin1", members=("\N{SNOWMAN}",)), "FULL", "member-charset", ""),
        (Column(name="a", type="INT"), "NONE", "bad-value", ""),
    ],
)
def test_what_cannot_be_predicted_says_what_it_is(column: Column, metadata: str, code: str, path: str) -> None:
    table = Table(schema="d", name="t", columns=(column,))
    assert where(refused(table_map, table, metadata)) == (code, None, path)


def fields(
    *columns: Column, metadata: str = "FULL", rules: MetadataRules = SHIPPED, key: tuple[tuple[int, int], ...] = ()
) -> list[MetadataField]:
    """The metadata fields behind the types, without names and visibility."""
    found = table_map(
        Table(schema="d", name="t", columns=columns, primary_key=key, charset="latin1"), metadata, rules=rules
    ).metadata
    return [field for field in found if field.field not in (Field.COLUMN_NAME, Field.COLUMN_VISIBILITY)]


@pytest.mark.parametrize(
    ("collations", "shipped", "smallest"),
    [
        ([8], DefaultCharset(2, 8), Numbers(3, (8,))),
        ([8, 8], DefaultCharset(2, 8), DefaultCharset(2, 8)),
        ([8, 255], Numbers(3, (8, 255)), Numbers(3, (8, 255))),
        ([8, 8, 33, 255], Numbers(3, (8, 8, 33, 255)), Numbers(3, (8, 8, 33, 255))),
        # A number over 250 takes three bytes, which only the worklog counts (table-map-metadata 3.2).
        ([8, 8, 255], DefaultCharset(2, 8, ((2, 255),)), Numbers(3, (8, 8, 255))),
        ([8, 8, 8, 255], DefaultCharset(2, 8, ((3, 255),)), DefaultCharset(2, 8, ((3, 255),))),
        ([8, 8, 255, 255], Numbers(3, (8, 8, 255, 255)), DefaultCharset(2, 255, ((0, 8), (1, 8)))),
    ],
)
def test_character_sets_are_written_in_the_shorter_form(
    collations: list[int], shipped: MetadataField, smallest: MetadataField
) -> None:
    named = {8: "latin1_swedish_ci", 33: "utf8mb3_general_ci", 255: "utf8mb4_0900_ai_ci"}
    columns = [Column(name="c", type="CHAR", length=1, collation=named[number]) for number in collations]
    assert fields(*columns) == [shipped]
    assert fields(*columns, rules=WORKLOG) == [smallest]


def test_the_worklog_has_the_first_nine_fields_only() -> None:
    columns = (
        Column(name="a", type="CHAR", length=9, charset="latin1"),
        Column(name="e", type="ENUM", members=("x",), invisible=True),
        Column(name="v", type="VECTOR"),
    )
    key = ((0, 2),)
    assert [field.field for field in fields(*columns, key=key)] == [3, 13, 10, 6, 9]
    assert [field.field for field in fields(*columns, rules=WORKLOG, key=key)] == [3, 6, 9]


def test_the_map_names_its_table_and_has_the_rules_that_were_asked_for() -> None:
    table = Table(schema="d", name="t", columns=(Column(name="y", type="YEAR"), Column(name="u", type="INT")))
    for rules, signs in ((SHIPPED, (True, False)), (WORKLOG, (False,))):  # the worklog does not count YEAR
        found = table_map(table, rules=rules)
        assert (found.schema, found.table, found.rules) == ("d", "t", rules)
        assert found.columns == (ColumnType(types.YEAR), ColumnType(types.LONG))
        assert found.metadata == (Bits(Field.SIGNEDNESS, signs),)


def test_members_lose_the_spaces_behind_them_but_in_binary() -> None:
    members = ("a ", "b\t", " c", "dX", "\xe9")
    shown = (b"a", b"b\t", b" c", b"dX", b"\xe9")
    latin = Column(name="e", type="ENUM", charset="latin1", members=members)
    assert fields(latin) == [
        DefaultCharset(Field.ENUM_AND_SET_DEFAULT_CHARSET, 8),
        Members(Field.ENUM_STR_VALUE, (shown,)),
    ]
    raw = Column(name="s", type="SET", charset="binary", members=members)
    stored = (b"a ", b"b\t", b" c", b"dX", b"\xc3\xa9")
    assert fields(raw)[1] == Members(Field.SET_STR_VALUE, (stored,))
    assert fields(raw, latin)[2:] == [Members(Field.ENUM_STR_VALUE, (shown,))]


@pytest.mark.parametrize(
    ("key", "field"),
    [
        (((0, 0),), Numbers(8, (0,))),
        (((1, 0), (0, 0)), Numbers(8, (1, 0))),
        (((1, 9),), Numbers(8, (1,))),  # a prefix as long as the column
        (((1, 8), (0, 0)), PrefixKey(((1, 8), (0, 0)))),
        (((2, 1),), PrefixKey(((2, 1),))),  # a TEXT has no length of its own
    ],
)
def test_the_primary_key_with_its_prefixes(key: tuple[tuple[int, int], ...], field: MetadataField) -> None:
    columns = (
        Column(name="n", type="YEAR"),
        Column(name="b", type="VARBINARY", length=9),
        Column(name="t", type="TEXT", charset="latin1"),
    )
    assert fields(*columns, key=key)[2:] == [field]
    assert fields(*columns)[2:] == []


ROW_ID = Column(name="my_row_id", type="BIGINT", unsigned=True, nullable=False, invisible=True, auto_increment=True)
INT = Column(name="n", type="INT")


@pytest.mark.parametrize(
    ("columns", "key", "generated"),
    [
        ((ROW_ID, INT), ((0, 0),), True),
        ((replace(ROW_ID, name="My_Row_ID", spelled="SERIAL"), INT), ((0, 0),), True),
        ((replace(ROW_ID, invisible=False), INT), ((0, 0),), False),
        ((ROW_ID, INT), ((1, 0),), False),
        ((ROW_ID, INT), (), False),
        ((INT, ROW_ID), ((0, 0),), False),
    ],
)
def test_a_generated_key_is_known_by_its_looks(
    columns: tuple[Column, ...], key: tuple[tuple[int, int], ...], generated: bool
) -> None:
    found = table_map(Table(schema="d", name="t", columns=columns, primary_key=key))
    assert found.flags == (1 | GENERATED_INVISIBLE_PK if generated else 1)
    assert found.table_id == 1
    assert [field.field for field in found.metadata] == [Field.SIGNEDNESS]


def test_a_key_that_the_server_adds_stands_in_front() -> None:
    table = Table(schema="d", name="t", columns=(INT,), generated_primary_key=True)
    assert table_map(table, "FULL", table_id=7, flags=0x10) == table_map(
        Table(schema="d", name="t", columns=(ROW_ID, INT), primary_key=((0, 0),)), "FULL", table_id=7, flags=0x10
    )
    found = table_map(table, "FULL", flags=0)
    assert found.flags == GENERATED_INVISIBLE_PK
    assert found.nullable == (False, True)
    assert found.metadata == (
        Bits(Field.SIGNEDNESS, (True, False)),
        Names(("my_row_id", "n")),
        Numbers(Field.SIMPLE_PRIMARY_KEY, (0,)),
        Bits(Field.COLUMN_VISIBILITY, (False, True)),
    )


def test_counted_columns_have_their_numbers() -> None:
    columns = (
        Column(name="y", type="YEAR"),
        Column(name="u", type="INT", unsigned=True),
        Column(name="g", type="GEOMETRYCOLLECTION"),
        Column(name="p", type="POINT"),
        Column(name="v", type="VECTOR"),
        Column(name="w", type="VECTOR", length=3),
    )
    assert fields(*columns, metadata="MINIMAL") == [
        Bits(Field.SIGNEDNESS, (True, True)),
        DefaultCharset(Field.DEFAULT_CHARSET, 63),
        Numbers(Field.GEOMETRY_TYPE, (7, 1)),
        Numbers(Field.VECTOR_DIMENSIONALITY, (2048, 3)),
    ]


def test_a_column_takes_the_character_set_of_its_table_only_where_it_names_none() -> None:
    table = Table(schema="d", name="t", columns=(), charset="latin1", collation="latin1_bin")
    bare = Column(name="c", type="CHAR")
    assert table.settled(bare) == Column(name="c", type="CHAR", charset="latin1", collation="latin1_bin")
    for column in (
        Column(name="c", type="CHAR", charset="ascii"),
        Column(name="c", type="CHAR", collation="ascii_bin"),
    ):
        assert table.settled(column) == column


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (Column(name="c", type="SET", members=("a", "b")), "`c` SET('a', 'b')"),
        (Column(name="c", type="DECIMAL"), "`c` DECIMAL"),
        (Column(name="c", type="DECIMAL", length=5), "`c` DECIMAL(5,0)"),
        (Column(name="c", type="TIME", scale=0), "`c` TIME(0)"),
        (Column(name="c", type="TIME"), "`c` TIME"),
        (Column(name="c", type="INT", length=5, spelled="INT(5) ZEROFILL"), "`c` INT(5) ZEROFILL"),
    ],
)
def test_types_are_spelled_as_the_server_takes_them(column: Column, text: str) -> None:
    table = Table(schema="d", name="t", columns=(column,), other_keys=("KEY ((c + 1))", "KEY k (c)"))
    assert create_table(table) == (
        f"CREATE TABLE `t` (\n  {text},\n  KEY ((c + 1)),\n  KEY k (c)\n) DEFAULT CHARACTER SET=utf8mb4"
    )
