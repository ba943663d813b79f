"""Column types as two programs name them: the list of columns, and the comments and values of pseudo-SQL."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest

from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.metadata import ColumnInfo, Names, PrefixKey
from conformance.reference.tables.temporal import Time, Timestamp
from conformance.reference.text.pseudo_values import column_text, type_text
from conformance.reference.text.table_metadata import metadata_text, type_name
from tests.reference.text.made_logs import table_of

LATIN1, UTF8MB4, BINARY, NOBODYS = 8, 255, 63, 9999
CHAR_40 = ColumnType(types.STRING, types.STRING | 40 << 8)
VARCHAR_40 = ColumnType(types.VARCHAR, 40)


def info(kind: int | ColumnType, metadata: int = 0, **more: Any) -> ColumnInfo:
    return ColumnInfo(ColumnType(kind, metadata) if isinstance(kind, int) else kind, nullable=True, **more)


ENUM_1, ENUM_2 = (ColumnType(types.STRING, types.ENUM | size << 8) for size in (1, 2))
SET_8 = ColumnType(types.STRING, types.SET | 8 << 8)

# A column, its name in the list of columns, its name in a comment.
NAMES = [
    (info(types.TINY), "TINYINT", "TINYINT"),
    (info(types.SHORT), "SMALLINT", "SHORTINT"),
    (info(types.INT24), "MEDIUMINT", "MEDIUMINT"),
    (info(types.LONG), "INT", "INT"),
    (info(types.LONGLONG), "BIGINT", "LONGINT"),
    (info(types.FLOAT, 4), "FLOAT", "FLOAT"),
    (info(types.DOUBLE, 8), "DOUBLE", "DOUBLE"),
    (info(types.NEWDECIMAL, 10 | 3 << 8), "DECIMAL(10,3)", "DECIMAL(10,3)"),
    (info(types.BIT, 2 | 1 << 8), "BIT(10)", "BIT(10)"),
    (info(types.YEAR), "YEAR", "YEAR"),
    (info(types.DATE), "DATE", "DATE"),
    (info(types.NEWDATE), "DATE", "DATE"),
    (info(types.TIME), "TIME", "TIME"),
    (info(types.DATETIME), "DATETIME", "DATETIME"),
    (info(types.TIMESTAMP), "TIMESTAMP", "TIMESTAMP"),
    (info(types.TIME2), "TIME", "TIME(0)"),
    (info(types.TIME2, 3), "TIME(3)", "TIME(3)"),
    (info(types.DATETIME2, 6), "DATETIME(6)", "DATETIME(6)"),
    (info(types.TIMESTAMP2, 1), "TIMESTAMP(1)", "TIMESTAMP(1)"),
    (info(ENUM_1), "ENUM", "ENUM(1 byte)"),
    (info(ENUM_2), "ENUM", "ENUM(2 bytes)"),
    (info(SET_8), "SET", "SET(8 bytes)"),
    (info(types.JSON, 4), "JSON", "JSON"),
    (info(types.VECTOR, 4, dimension=3), "VECTOR(3)", "VECTOR(3)"),
    (info(types.VECTOR, 4), "VECTOR(0)", "VECTOR(0)"),
    (info(types.GEOMETRY, 4), "GEOMETRY", "GEOMETRY"),
    *(
        (info(types.GEOMETRY, 4, geometry=number), name, "GEOMETRY")
        for number, name in enumerate((
            "GEOMETRY", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON",
            "GEOMCOLLECTION", "INVALID_GEOMETRY_TYPE(8)",
        ))
    ),
    # Lengths in characters, where the character set is known; bytes else.
    (info(CHAR_40, collation=UTF8MB4), "CHAR(10)", "STRING(40)"),
    (info(CHAR_40, collation=LATIN1), "CHAR(40)", "STRING(40)"),
    (info(CHAR_40, collation=BINARY), "BINARY(40)", "STRING(40)"),
    (info(CHAR_40, collation=NOBODYS), "BINARY(40)", "STRING(40)"),
    (info(CHAR_40), "BINARY(40)", "STRING(40)"),
    (info(VARCHAR_40, collation=UTF8MB4), "VARCHAR(10)", "VARSTRING(40)"),
    (info(VARCHAR_40, collation=BINARY), "VARBINARY(40)", "VARSTRING(40)"),
    (info(VARCHAR_40), "VARBINARY(40)", "VARSTRING(40)"),
    *(
        (info(types.BLOB, size, collation=collation), f"{prefix}{word}", f"{prefix}BLOB/{prefix}TEXT")
        for size, prefix in ((1, "TINY"), (2, ""), (3, "MEDIUM"), (4, "LONG"))
        for collation, word in ((LATIN1, "TEXT"), (BINARY, "BLOB"), (None, "BLOB"))
    ),
    (info(types.BLOB, 5, collation=LATIN1), "INVALID_TEXT(5)", "BLOB"),
    (info(types.BLOB, 0), "INVALID_BLOB(0)", "BLOB"),
    (info(types.NULL), "INVALID_TYPE(6)", "type 6"),
]  # fmt: skip


@pytest.mark.parametrize(("column", "listed", "commented"), NAMES, ids=[f"{n}-{row[1]}" for n, row in enumerate(NAMES)])
def test_a_type_has_these_names(column: ColumnInfo, listed: str, commented: str) -> None:
    assert type_name(column) == listed
    assert type_text(column) == commented
    nullable = b" /* %b meta=" % commented.encode()
    assert column_text(column, 1).comment.startswith(nullable)


def test_key_columns_have_the_names_of_the_log_or_numbers() -> None:
    key = PrefixKey(((1, 0), (0, 3), (2, 4)))
    named = table_of(ColumnType(types.LONG), ColumnType(types.LONG), metadata=[Names(("a\udcff", "b`")), key])
    assert metadata_text(named) == b"# Columns(`a\xff` INT,\n#         `b``` INT)\n# Primary Key(b`, a\xff(3), 2(4))\n"
    unnamed = table_of(ColumnType(types.LONG), ColumnType(types.LONG), metadata=[key])
    assert metadata_text(unnamed) == b"# Columns(INT,\n#         INT)\n# Primary Key(1, 0(3), 2(4))\n"


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        (types.TIMESTAMP, Timestamp(0, 0), b"0"),
        (types.TIMESTAMP, Timestamp(1, 0), b"1"),
        (types.TIMESTAMP, Timestamp((1 << 31) - 1, 0), b"2147483647"),
        (types.TIMESTAMP, Timestamp(1 << 31, 0), b"-2147483648"),
        (types.TIME, Time(False, 12, 34, 56, 0), b"'12:34:56'"),
        (types.TIME, Time(False, 838, 59, 59, 0), b"'838:59:59'"),
        (types.TIME, Time(False, 0, 0, 5, 0), b"'00:00:05'"),
        (types.TIME, Time(False, 1, 0, 0, 0), b"'01:00:00'"),
        (types.TIME, Time(True, 12, 34, 56, 0), b"'1665:37:60'"),
        (types.DOUBLE, nan, b"nan"),
        (types.DOUBLE, -nan, b"-nan"),
        (types.VECTOR, bytes.fromhex("0000803f000080bf"), b"[1.00000e+00,-1.00000e+00]"),
        (types.VECTOR, b"", b"[]"),
        (types.VECTOR, b"\x00\x00\x80\x3f\xab", b"x'0000803fab'"),
        (types.GEOMETRY, b"\xab\xcd", b"x'abcd'"),
    ],
)
def test_a_value_is_printed_as_the_client_prints_it(kind: int, value: Any, shown: bytes) -> None:
    assert column_text(info(kind), 1).show(value) == shown
