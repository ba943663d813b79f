"""Columns: every type, at its limits, with sign, scale and fraction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.checks.decoders.suite.declare import Setting, recorded

if TYPE_CHECKING:
    from conformance.checks.decoders.suite.declare import Recorded


def column(
    name: str, kind: str, why: str, requirements: str, *values: str, title: str = "", metadata: str = "FULL"
) -> Recorded:
    """A column of one type, and a row for each value; NULL is the last one where the column may be NULL."""
    all_values = values if "NOT NULL" in kind or "AS (" in kind else (*values, "NULL")
    rows = ", ".join(f"({number}, {value}, {number})" for number, value in enumerate(all_values, 1))
    return recorded(
        f"columns/{name}", title or f"{kind}: {len(values)} values" + ("" if "NOT NULL" in kind else " and NULL"), why, requirements,
        setting=Setting(metadata=metadata), prepare=f"CREATE TABLE t (id INT PRIMARY KEY, c {kind}, behind INT)",
        statements=f"INSERT INTO t VALUES {rows}",
    )  # fmt: skip


_SIGN: Final = "The log's bytes are the same for both; only the signedness of the metadata tells."
_INTEGERS: Final = tuple(
    column(
        f"{name}{'-unsigned' * unsigned}", f"{name.upper()}{' UNSIGNED' * unsigned}", _SIGN, "DEC10 DEC15",
        *(("0", "1", str(2**bits - 1), str(2 ** (bits - 1))) if unsigned else ("0", "-1", str(2 ** (bits - 1) - 1), str(-(2 ** (bits - 1))))),
    )
    for name, bits in (("tinyint", 8), ("smallint", 16), ("mediumint", 24), ("int", 32), ("bigint", 64))
    for unsigned in (False, True)
)  # fmt: skip

_NUMBERS: Final = (
    *_INTEGERS,
    column("boolean", "BOOLEAN", "BOOLEAN is TINYINT(1): 2 is a value of it.", "DEC10", "TRUE", "FALSE", "2", "-1"),
    column("zerofill", "INT(5) ZEROFILL", "ZEROFILL makes the column unsigned; the zeros are not in the log.", "DEC10", "7", "4294967295"),
    column("float", "FLOAT", "Four bytes; widened to a double 0.1 gets digits that nobody stored.", "DEC10", "0", "0.1", "-1.5", "3.40282e38", "1.17549e-38", "16777216"),
    column("double", "DOUBLE", "Eight bytes, and up to 17 digits.", "DEC10", "0", "0.1", "-1e308", "1.7976931348623157e308", "2.2250738585072014e-308", "9007199254740993"),
    column("decimal-10-2", "DECIMAL(10,2)", "Four-byte groups of nine digits, the sign in the first bit.", "DEC10", "0", "1.50", "-1.50", "99999999.99", "-99999999.99", "0.01"),
    column("decimal-65-30", "DECIMAL(65,30)", "The widest: through a double it is another number.", "DEC10", "0", "12345678901234567890123456789012345.123456789012345678901234567891", "-99999999999999999999999999999999999.999999999999999999999999999999", "0.000000000000000000000000000001"),
    column("decimal-5-0", "DECIMAL(5,0)", "No fraction, and no point in the text.", "DEC10", "0", "-1", "99999", "-99999"),
    column("decimal-9-9", "DECIMAL(9,9)", "Digits behind the point only: the zero in front is not stored.", "DEC10", "0", "0.123456789", "-0.999999999", "0.000000001"),
    column("decimal-unsigned", "DECIMAL(20,6) UNSIGNED", "Groups that are not full have one to four bytes.", "DEC10", "0", "12345678901234.567890", "0.000001"),
    column("year", "YEAR", "One byte, counted from 1900; 0 is the year 0000.", "DEC11", "1901", "2155", "2024", "0"),
)  # fmt: skip

_TIMES: Final = (
    column("date", "DATE", "Three bytes with day, month and year in bits.", "DEC11", "'2024-02-29'", "'1000-01-01'", "'9999-12-31'"),
    column("date-zero", "DATE", "0000-00-00 is a value, and so are days that no calendar has.", "DEC11", "'0000-00-00'", "'2024-00-00'", "'2024-02-31'", "'0000-01-01'", title="DATE: zero dates and impossible days"),
    column("time", "TIME", "Three bytes since 5.6, high byte first, the sign as an offset.", "DEC11", "'00:00:00'", "'12:34:56'", "'838:59:59'"),
    column("time-negative", "TIME", "The sign is the first bit, inverted.", "DEC11", "'-00:00:01'", "'-12:34:56'", "'-838:59:59'", title="TIME: negative values"),
    *(
        column(f"time-{fsp}", f"TIME({fsp})", "The fraction has its own bytes; a negative TIME borrows from its seconds.", "DEC11", "'12:34:56.123456'", "'-00:00:00.5'", "'-12:34:56.000001'", "'-01:00:00.999999'")
        for fsp in (1, 3, 6)
    ),
    column("datetime", "DATETIME", "Five bytes: year and month together, then bits.", "DEC11", "'2024-02-29 12:34:56'", "'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'"),
    *(
        column(f"datetime-{fsp}", f"DATETIME({fsp})", "As many digits as the column has, zeros included.", "DEC11", "'2024-02-29 12:34:56.123456'", "'2024-01-01 00:00:00'", "'2024-12-31 23:59:59.000001'")
        for fsp in (2, 4, 5, 6)
    ),
    column("datetime-zero", "DATETIME(3)", "Zero dates have a fraction too.", "DEC11", "'0000-00-00 00:00:00'", "'2024-00-00 12:00:00.5'", title="DATETIME: zero and incomplete dates"),
    column("timestamp", "TIMESTAMP NULL", "Seconds since 1970 in UTC, whatever the zone of reader and server.", "DEC11", "'2024-02-29 12:34:56'", "'1970-01-01 00:00:01'", "'2038-01-19 03:14:07'"),
    column("timestamp-6", "TIMESTAMP(6) NULL", "Three bytes of microseconds behind the seconds.", "DEC11", "'2024-02-29 12:34:56.000001'", "'2024-02-29 12:34:56.999999'"),
    column("timestamp-zero", "TIMESTAMP(2) NULL", "0 is the zero date, not the year 1970.", "DEC11", "'0000-00-00 00:00:00'", "'2024-02-29 12:34:56.5'", title="TIMESTAMP: the zero date"),
)  # fmt: skip

_TEXT: Final = (
    column("char", "CHAR(10)", "Blanks at the end are not stored; the length is one byte.", "DEC12", "''", "'abc'", "'größe'", "'  x  '"),
    column("char-255", "CHAR(255)", "1,020 bytes in utf8mb4: the length takes two bytes, hidden in the type's metadata.", "DEC12", "'short'", "REPEAT('😀', 255)", "''"),
    column("varchar", "VARCHAR(10)", "One byte of length.", "DEC12", "''", "'abc'", "'日本語😀'", "'  x  '"),
    column("varchar-255", "VARCHAR(63) NOT NULL", "252 bytes: the widest utf8mb4 column with one byte of length.", "DEC12", "''", "REPEAT('😀', 63)"),
    column("varchar-256", "VARCHAR(64)", "256 bytes: the length takes two bytes from here on, also for short values.", "DEC12", "'x'", "REPEAT('😀', 64)", "''"),
    column("varchar-long", "VARCHAR(2000)", "Values above 255 bytes.", "DEC12", "REPEAT('a', 255)", "REPEAT('b', 256)", "REPEAT('é', 1000)"),
    *(
        column(f"{kind}text", f"{kind.upper()}TEXT", f"Lengths of {size} byte{'s' * (size > 1)}.", "DEC12", "''", "'text'", "REPEAT('é', 100)")
        for kind, size in (("tiny", 1), ("", 2), ("medium", 3), ("long", 4))
    ),
    column("enum", "ENUM('x','größe','two words','it''s')", "A number in the row, a name in the metadata.", "DEC12", "'x'", "'größe'", "'it''s'", "'two words'"),
    column("enum-300", "ENUM(" + ",".join(f"'m{number}'" for number in range(300)) + ")", "Above 255 members the number has two bytes.", "DEC12", "'m0'", "'m254'", "'m255'", "'m299'", title="ENUM with 300 members"),
    column("set", "SET('a','b','größe','d')", "Bits in the row, names in the metadata, joined by commas.", "DEC12", "''", "'a'", "'a,größe'", "'a,b,größe,d'"),
    column("set-9", "SET('a','b','c','d','e','f','g','h','i')", "Nine members take two bytes.", "DEC12", "'i'", "'a,i'", "'h'"),
    column("set-64", "SET(" + ",".join(f"'s{number}'" for number in range(64)) + ")", "Sixty-four members take eight bytes, the last one the sign bit.", "DEC12", "'s63'", "'s0,s31,s32,s63'", title="SET with 64 members"),
    column("enum-minimal", "ENUM('x','y')", "Without names in the log only the number is known.", "DEC12 DEC15", "'y'", "'x'", metadata="MINIMAL", title="ENUM with MINIMAL metadata"),
    column("set-minimal", "SET('x','y','z')", "Without names in the log only the bits are known.", "DEC12 DEC15", "'x,z'", "''", metadata="MINIMAL", title="SET with MINIMAL metadata"),
)  # fmt: skip

_POINT: Final = "ST_GeomFromText('POINT(1.5 -2)')"
_BYTES: Final = (
    column("bit-1", "BIT(1)", "One bit takes a byte.", "DEC13", "b'0'", "b'1'"),
    column("bit-9", "BIT(9)", "The bytes come high byte first, and the metadata gives bits and bytes apart.", "DEC13", "b'101010101'", "b'1'", "0"),
    column("bit-17", "BIT(17)", "Three bytes.", "DEC13", "b'10000000000000001'", "0x1ffff"),
    column("bit-64", "BIT(64)", "All 64 bits: no signed number holds them.", "DEC13", "0xffffffffffffffff", "0x8000000000000001", "1"),
    column("binary", "BINARY(8)", "Zeros at the end are cut in the log and belong to the value.", "DEC13", "x'0011'", "x'ff00ff00ff00ff00'", "''", "x'2020'"),
    column("binary-255", "BINARY(255)", "A length of one byte.", "DEC13", "REPEAT(x'ff', 255)", "x'00'"),
    column("varbinary", "VARBINARY(10)", "Bytes that are no text in any charset.", "DEC13", "x'00ff'", "x'c328'", "''", "x'6100'"),
    column("varbinary-300", "VARBINARY(300)", "A length of two bytes.", "DEC13", "REPEAT(x'80', 300)", "x'00'"),
    *(
        column(f"{kind}blob", f"{kind.upper()}BLOB", f"Lengths of {size} byte{'s' * (size > 1)}; the type code is one for all four.", "DEC13", "''", "x'00ff80'", "REPEAT(x'c3', 100)")
        for kind, size in (("tiny", 1), ("", 2), ("medium", 3), ("long", 4))
    ),
    column("blob-70000", "MEDIUMBLOB", "More bytes than two bytes of length can say.", "DEC13", "REPEAT(x'ff', 70000)", "x'01'", title="MEDIUMBLOB: a value of 70,000 bytes"),
    column("blob-empty-null", "BLOB", "Empty and NULL are two values.", "DEC13 DEC14", "''", "x'00'", title="BLOB: empty, one zero byte, NULL"),
    column("point", "POINT", "SRID and WKB, as the column stores it.", "DEC13", _POINT, "ST_GeomFromText('POINT(0 0)')"),
    column("geometry", "GEOMETRY", "Any kind of geometry in one column.", "DEC13", _POINT, "ST_GeomFromText('LINESTRING(0 0, 1 1, 2 2)')", "ST_GeomFromText('POLYGON((0 0, 4 0, 4 4, 0 0))')", "ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 1), LINESTRING(0 0, 1 1))')"),
    column("geometry-srid", "GEOMETRY NOT NULL SRID 4326", "The SRID is in the first four bytes of the value.", "DEC13", "ST_GeomFromText('POINT(52.5 13.4)', 4326)"),
    column("geometry-collections", "GEOMETRYCOLLECTION", "Nested geometries, and one that is empty.", "DEC13", "ST_GeomFromText('GEOMETRYCOLLECTION EMPTY')", "ST_GeomFromText('GEOMETRYCOLLECTION(MULTIPOINT(1 1, 2 2))')"),
    column("vector", "VECTOR(3)", "Type 242: a decoder that does not know it cannot tell where the next column begins (go-mysql #1004).", "DEC13", "STRING_TO_VECTOR('[1, -2.5, 3e10]')", "STRING_TO_VECTOR('[0, 0, 0]')", "STRING_TO_VECTOR('[1]')"),
    column("vector-large", "VECTOR(2048)", "8,192 bytes; the metadata has the number of length bytes.", "DEC13", "STRING_TO_VECTOR(CONCAT('[', REPEAT('1,', 2047), '2]'))"),
)  # fmt: skip

_MORE: Final = (
    recorded(
        "columns/stored-generated", "A stored generated column between others", "Its value is in the image like any other's.", "DEC14 DEC10", setting=Setting(),
        prepare="CREATE TABLE t (id INT PRIMARY KEY, a INT, g INT AS (a * 2) STORED, b VARCHAR(9))", statements=("INSERT INTO t (id, a, b) VALUES (1, 21, 'x')", "UPDATE t SET a = 4"),
    ),
    recorded(
        "columns/virtual-generated", "A virtual generated column between others", "Nothing of it is on disk, and the log has its value: skipped, the next column is wrong (go-mysql #372).", "DEC14 DEC12", setting=Setting(),
        prepare="CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(9), g VARCHAR(20) AS (CONCAT(a, '!')) VIRTUAL, b INT)", statements=("INSERT INTO t (id, a, b) VALUES (1, 'x', 2)", "UPDATE t SET a = 'y'"),
    ),
    recorded(
        "columns/invisible", "An invisible column", "SELECT * does not show it, the log does: counted by SELECT * the columns shift.", "DEC14 DEC15", setting=Setting(),
        prepare="CREATE TABLE t (id INT PRIMARY KEY, secret INT INVISIBLE, b VARCHAR(9))", statements=("INSERT INTO t (id, secret, b) VALUES (1, 42, 'x')", "UPDATE t SET secret = 43"),
    ),
    recorded(
        "columns/invisible-primary-key", "A generated invisible primary key", "The server adds the column my_row_id in front of all others.", "DEC14 DEC15", setting=Setting(more=("SET SESSION sql_generate_invisible_primary_key = ON",)),
        prepare="CREATE TABLE t (a INT, b VARCHAR(9))", statements=("INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'y')", "UPDATE t SET b = 'z' WHERE a = 2"),
    ),
    recorded(
        "columns/functional-index", "A functional index, which is a hidden generated column", "The table has a column that no statement names.", "DEC14", setting=Setting(),
        prepare="CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(20), b INT, KEY k ((UPPER(a))))", statements=("INSERT INTO t (id, a, b) VALUES (1, 'x', 2)", "UPDATE t SET a = 'y'"),
    ),
    recorded(
        "columns/names", "Column and table names with blanks, quotes, dots and unicode", "Names are UTF-8 with lengths: nothing may be cut or folded.", "DEC15 DEC14", setting=Setting(),
        prepare="CREATE TABLE `tä ble.x` (`id` INT PRIMARY KEY, `two words` INT, `日本` INT, `a``b` INT, `$x` INT, `a.b` INT, `@3` INT)", statements="INSERT INTO `tä ble.x` VALUES (1, 2, 3, 4, 5, 6, 7)",
    ),
    recorded(
        "columns/all-types", "A row with nearly every type", "One wrong length, and everything behind it is garbage.", "DEC10 DEC11 DEC12 DEC13", setting=Setting(),
        prepare="CREATE TABLE t (id INT PRIMARY KEY, a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d BIGINT, e FLOAT, f DOUBLE, g DECIMAL(12,3), h BIT(10), i YEAR, k DATE, l TIME(3), m DATETIME(6), n TIMESTAMP(1) NULL, o CHAR(5),"
        " p VARCHAR(500), q TEXT, r ENUM('x','y'), s SET('a','b'), t BINARY(4), u VARBINARY(5), v BLOB, w JSON, x GEOMETRY, y VECTOR(2), z INT)",
        statements=(
            f"INSERT INTO t VALUES (1, -1, 65535, -8388608, 1, 1.5, 0.1, -1.005, b'1000000001', 2024, '2024-02-29', '-01:02:03.004', '2024-02-29 01:02:03.000004', '2024-02-29 01:02:03.4', 'größ', 'v', 'text', 'y', 'a,b', x'01', x'02', x'03', '{{\"k\": 1}}', {_POINT}, STRING_TO_VECTOR('[1,2]'), 7)",
            "UPDATE t SET z = 8, a = NULL, w = NULL, m = NULL",
        ),
    ),
)  # fmt: skip

CASES: Final = (*_NUMBERS, *_TIMES, *_TEXT, *_BYTES, *_MORE)
