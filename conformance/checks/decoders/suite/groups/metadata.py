"""TABLE_MAP: optional metadata in its FULL and MINIMAL form, unknown fields, none at all, partitions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.checks.decoders.suite.declare import Setting, Written, recorded, words
from conformance.checks.decoders.suite.rewrite import laid, parts_of, with_map
from conformance.reference.tables.metadata import UnknownField

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.cases.decoder_case import DecoderCase
    from conformance.checks.decoders.suite.declare import Recorded
    from conformance.reference.tables.table_map import TableMap

_SIGNED: Final = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(5), a TINYINT UNSIGNED, b TINYINT, d DATE, e SMALLINT UNSIGNED, f FLOAT UNSIGNED, g DECIMAL(5,1) UNSIGNED, y YEAR, h MEDIUMINT UNSIGNED, i INT, j JSON, k INT UNSIGNED, l BIGINT UNSIGNED, m BIGINT, n BIT(3), o DOUBLE UNSIGNED, p TINYINT UNSIGNED)"
_SIGNED_ROW: Final = "INSERT INTO t VALUES (1, 'v', 255, -1, '2024-02-29', 65535, 1.5, 2.5, 2024, 16777215, -1, '[]', 4294967295, 18446744073709551615, -1, b'101', 3.5, 254)"
_WHY: Final = "Each field has a type, a length and a value: one wrong length, and names or signs go to other columns."


def _meta(
    name: str,
    title: str,
    why: str,
    table: str | tuple[str, ...],
    *statements: str,
    metadata: str = "FULL",
    requirements: str = "DEC15",
    partial: bool = False,
) -> Recorded:
    return recorded(
        f"metadata/{name}",
        title,
        why,
        requirements,
        setting=Setting(metadata=metadata, partial=partial),
        prepare=table,
        statements=statements,
    )


_MANY: Final = (
    "CREATE TABLE t ("
    + ", ".join(f"c{number} TINYINT{' UNSIGNED' if number % 3 else ''}" for number in range(70))
    + ")"
)
_MANY_ROW: Final = "INSERT INTO t VALUES (" + ", ".join("200" if number % 3 else "-100" for number in range(70)) + ")"
_CHARSETS: Final = "CREATE TABLE t (id INT, a VARCHAR(9), n INT, b VARCHAR(9) CHARACTER SET latin1, c VARCHAR(9), d TEXT, e DATE, f CHAR(3) CHARACTER SET gbk, g VARCHAR(9), h VARCHAR(9), k BLOB)"
_CHARSET_ROW: Final = "INSERT INTO t VALUES (1, 'ä', 2, 'ö', 'ü', 'ß', '2024-02-29', '中', 'é', 'ê', x'ff')"
_PARTITIONS: Final = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9)) PARTITION BY HASH (id) PARTITIONS 4"


def _changed(base: str, change: Callable[[TableMap], TableMap]) -> Callable[[Mapping[str, DecoderCase]], bytes]:
    return lambda bases: laid(with_map(parts_of(bases[base]), change))


def _unknown(name: str, title: str, base: str, place: int, data: bytes, number: int = 200) -> Written:
    def change(table: TableMap) -> TableMap:
        fields = list(table.metadata)
        at = place if place >= 0 else len(fields) + 1 + place
        return replace(table, metadata=(*fields[:at], UnknownField(number, data), *fields[at:]))

    return Written(
        id=f"metadata/{name}", title=title, why="Later versions add fields: they are skipped by their length.", requirements=words("DEC15"),
        build=_changed(base, change), same_as=base,
    )  # fmt: skip


CASES: Final = (
    _meta("signedness", "Signed and unsigned numbers in turn, between other columns", "SIGNEDNESS has a bit for each numeric column, high bit first: counted over all columns the signs shift.", _SIGNED, _SIGNED_ROW, requirements="DEC15 DEC10"),
    _meta("signedness-minimal", "The same with MINIMAL metadata", "Signedness is there without names too.", _SIGNED, _SIGNED_ROW, metadata="MINIMAL", requirements="DEC15 DEC10"),
    _meta("signedness-of-70", "70 numeric columns", "The bits take nine bytes.", _MANY, _MANY_ROW, requirements="DEC15 DEC10"),
    _meta("default-charset-pairs", "A default charset with two exceptions", "The numbers in the pairs count character columns only (python-mysql-replication #582).", _CHARSETS, _CHARSET_ROW, requirements="DEC15 DEC12"),
    _meta("default-charset-pairs-minimal", "The same with MINIMAL metadata", "Charsets are there without names too.", _CHARSETS, _CHARSET_ROW, metadata="MINIMAL", requirements="DEC15 DEC12"),
    _meta("column-charsets", "A charset for each column, as no default is shorter", "COLUMN_CHARSET has one number for each character column.", "CREATE TABLE t (a VARCHAR(5) CHARACTER SET latin1, b VARCHAR(5) CHARACTER SET gbk, n INT, c VARCHAR(5) CHARACTER SET ucs2, d VARCHAR(5) CHARACTER SET sjis)", "INSERT INTO t VALUES ('ä', '中', 1, 'ö', '日')", requirements="DEC15 DEC12"),
    _meta("members", "ENUM and SET columns in turn", "Members of all SET columns stand in one field, those of all ENUM columns in another.", "CREATE TABLE t (a ENUM('a1','a2'), b SET('b1','b2'), n INT, c ENUM('c1','c2','c3'), d SET('d1'), e ENUM('e1'))", "INSERT INTO t VALUES ('a2', 'b1,b2', 1, 'c3', 'd1', 'e1')", requirements="DEC15 DEC12"),
    _meta("long-member", "An ENUM with members of 255 characters", "Lengths of members are length-encoded.", f"CREATE TABLE t (e ENUM('{'x' * 255}','{'é' * 200}'), n INT)", "INSERT INTO t VALUES (2, 1), (1, 2)", requirements="DEC15 DEC12"),
    _meta("long-names", "Column names of 64 characters with three bytes each", "A name takes up to 192 bytes.", f"CREATE TABLE t (`{'日' * 64}` INT, `{'本' * 63}x` INT, z INT)", "INSERT INTO t VALUES (1, 2, 3)"),
    _meta("primary-key", "A simple primary key of two columns", _WHY, "CREATE TABLE t (a INT, b INT, c VARCHAR(5), PRIMARY KEY (c, a))", "INSERT INTO t VALUES (1, 2, 'x')"),
    _meta("primary-key-prefix", "A primary key over a prefix of a text", _WHY, "CREATE TABLE t (a INT, x TEXT, v VARCHAR(20), PRIMARY KEY (x(10), a))", "INSERT INTO t VALUES (1, 'text', 'v')"),
    _meta("geometry-types", "Geometry columns of different kinds", _WHY, "CREATE TABLE t (a POINT, n INT, b GEOMETRY, c POLYGON)", "INSERT INTO t VALUES (ST_GeomFromText('POINT(1 2)'), 3, ST_GeomFromText('LINESTRING(0 0, 1 1)'), NULL)", requirements="DEC15 DEC13"),
    _meta("visibility", "Invisible columns between visible ones", "COLUMN_VISIBILITY is a field that came with 8.0.23: older readers skip it.", "CREATE TABLE t (a INT, b INT INVISIBLE, c INT, d INT INVISIBLE)", "INSERT INTO t (a, b, c, d) VALUES (1, 2, 3, 4)"),
    _meta("vectors", "VECTOR columns of different dimensions", "VECTOR_DIMENSIONALITY is a field that came with 9.0: older readers skip it.", "CREATE TABLE t (a VECTOR(2), n INT, b VECTOR(300))", "INSERT INTO t VALUES (STRING_TO_VECTOR('[1,2]'), 7, NULL)", requirements="DEC15 DEC13"),
    _meta("switched", "FULL and MINIMAL in one log, for the same table", "The variable is global and changes at any time: names come and go.", "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9))", "INSERT INTO t VALUES (1, 'full')", "SET GLOBAL binlog_row_metadata = MINIMAL", "INSERT INTO t VALUES (2, 'minimal')", "SET GLOBAL binlog_row_metadata = FULL", "INSERT INTO t VALUES (3, 'full')"),
    _meta("partitions", "Rows in several partitions", "The extra data of a rows event has the partition: 4 bytes in front of the images, as long as their length says.", _PARTITIONS, "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')", "UPDATE t SET v = 'x'", "DELETE FROM t WHERE id > 2", requirements="DEC15 DEC14"),
    _meta("partition-change", "An update that moves a row to another partition", "The extra data has two partitions, source and target.", _PARTITIONS, "INSERT INTO t VALUES (1, 'a')", "UPDATE t SET id = 6", requirements="DEC15 DEC14"),
    _meta("partition-partial", "A partial update in a partitioned table", "Extra data and the bitmap of partial columns in one event.", ("CREATE TABLE t (id INT PRIMARY KEY, j JSON) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20))", "INSERT INTO t VALUES (1, JSON_OBJECT('a', 1, 'pad', REPEAT('p', 80)))"), "UPDATE t SET j = JSON_SET(j, '$.a', 2)", "UPDATE t SET id = 11, j = JSON_SET(j, '$.a', 3)", requirements="DEC15 DEC1", partial=True),
    _meta("subpartitions", "A table with subpartitions", "Numbers of partitions count all of them.", "CREATE TABLE t (id INT PRIMARY KEY) PARTITION BY RANGE (id) SUBPARTITION BY HASH (id) SUBPARTITIONS 2 (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20))", "INSERT INTO t VALUES (5), (15)", requirements="DEC15 DEC14"),
    _unknown("unknown-field-last", "An unknown field behind the others", "metadata/signedness", -1, b"later"),
    _unknown("unknown-field-first", "An unknown field in front of the others", "metadata/members", 0, b"\x01\x02\x03"),
    _unknown("unknown-field-middle", "An unknown field between two others", "metadata/default-charset-pairs", 2, b"\xff" * 20, number=99),
    _unknown("unknown-field-empty", "An unknown field without a value", "metadata/signedness-minimal", -1, b""),
    _unknown("unknown-field-long", "An unknown field of 300 bytes", "metadata/primary-key", -1, b"m" * 300, number=255),
)  # fmt: skip
