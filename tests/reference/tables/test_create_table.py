"""Table definitions from CREATE TABLE: as the server understands it, or an error."""

from __future__ import annotations

import pytest

from conformance.reference.errors import CodecError
from conformance.reference.tables.create_table import parse_definition
from conformance.reference.tables.definitions import Column, Table, create_table, table_map
from generators.definitions import definition
from generators.draw import Stream


def column(text: str, **options: str) -> Column:
    """Beside another one, because a table needs one that is visible."""
    found, _ = parse_definition(f"CREATE TABLE t (c {text}, d INT) {options.get('after', '')}", schema="s").columns
    return found


@pytest.mark.parametrize("number", range(60))
def test_the_statement_of_a_definition_says_all_that_table_map_needs(number: int) -> None:
    table = definition(Stream("sql", number))
    if table.generated_primary_key:  # this is no part of the statement
        table = Table(**{**vars(table), "generated_primary_key": False})
    parsed = parse_definition(create_table(table, qualified=True))
    for mode in ("MINIMAL", "FULL"):
        assert table_map(parsed, mode) == table_map(table, mode)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INT8", Column(name="c", type="BIGINT")),
        ("MIDDLEINT(3) ZEROFILL", Column(name="c", type="MEDIUMINT", unsigned=True)),
        ("BOOLEAN", Column(name="c", type="TINYINT")),
        ("REAL(5,2) UNSIGNED", Column(name="c", type="DOUBLE", unsigned=True)),
        ("DOUBLE PRECISION", Column(name="c", type="DOUBLE")),
        ("FLOAT(25)", Column(name="c", type="FLOAT", length=25)),
        ("FLOAT(7,3)", Column(name="c", type="FLOAT")),
        ("DEC(12)", Column(name="c", type="DECIMAL", length=12, scale=0)),
        ("SERIAL", Column(name="c", type="BIGINT", unsigned=True, nullable=False, auto_increment=True)),
        ("NATIONAL CHARACTER VARYING(5)", Column(name="c", type="VARCHAR", length=5, charset="utf8mb3")),
        ("NCHAR", Column(name="c", type="CHAR", charset="utf8mb3")),
        ("CHAR(5) BYTE", Column(name="c", type="CHAR", length=5, charset="binary")),
        ("LONG VARBINARY", Column(name="c", type="MEDIUMBLOB")),
        ("LONG", Column(name="c", type="MEDIUMTEXT")),
        ("TEXT(63)", Column(name="c", type="TINYTEXT")),
        ("TEXT(64)", Column(name="c", type="TEXT")),
        ("BLOB(65536)", Column(name="c", type="MEDIUMBLOB")),
        ("VARCHAR(9) ASCII BINARY",
         Column(name="c", type="VARCHAR", length=9, charset="latin1", collation="latin1_bin")),
        ("VARCHAR(9) CHAR SET utf8 COLLATE utf8_bin",
         Column(name="c", type="VARCHAR", length=9, charset="utf8mb3", collation="utf8mb3_bin")),
        ("geomcollection NOT NULL /*!80003 SRID 4326 */", Column(name="c", type="GEOMETRYCOLLECTION", nullable=False)),
        ("INT /*!80023 INVISIBLE */ COMMENT 'it''s, (x)'", Column(name="c", type="INT", invisible=True)),
        ("INT VISIBLE DEFAULT -5 CHECK (c > 0) NOT ENFORCED", Column(name="c", type="INT")),
        ("TIMESTAMP(3) NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3)",
         Column(name="c", type="TIMESTAMP", scale=3)),
        ("INT AS (`a` + (1)) STORED", Column(name="c", type="INT", generated_sql="`a` +( 1 )", stored=True)),
        ("INT AS (CONCAT(`a b`, 'it''s', \"\\\\\", ``))",
         Column(name="c", type="INT", generated_sql="CONCAT( `a b` , 'it''s' , '\\\\' , `` )")),
        ("ENUM('a,b', 'it''s', \"q\", 'back\\\\') DEFAULT 'a,b'",
         Column(name="c", type="ENUM", members=("a,b", "it's", "q", "back\\"))),
        ("JSON DEFAULT (_utf8mb4'{}')", Column(name="c", type="JSON")),
        ("FLOAT8 PRECISION", Column(name="c", type="DOUBLE")),
        ("INT NOT NULL NULL", Column(name="c", type="INT")),
        ("INT INVISIBLE VISIBLE", Column(name="c", type="INT")),
        ("INT VISIBLE INVISIBLE", Column(name="c", type="INT", invisible=True)),
        ("INT NULL NOT NULL", Column(name="c", type="INT", nullable=False)),
        ("INT CHECK (c > 1) NOT NULL", Column(name="c", type="INT", nullable=False)),
        ("INT CHECK (c > 1) NOT ENFORCED NOT NULL", Column(name="c", type="INT", nullable=False)),
        ("BIT(3) DEFAULT b'101' REFERENCES p (x) ON DELETE CASCADE", Column(name="c", type="BIT", length=3)),
        ("BLOB(255)", Column(name="c", type="TINYBLOB")),
        ("BLOB(256)", Column(name="c", type="BLOB")),
        ("BLOB(65535)", Column(name="c", type="BLOB")),
        ("TEXT(4194304)", Column(name="c", type="LONGTEXT")),
        ("TEXT(4294967295)", Column(name="c", type="LONGTEXT")),
        ("TEXT(255) CHARACTER SET latin1", Column(name="c", type="TINYTEXT", charset="latin1")),
        ("DECIMAL(12,5)", Column(name="c", type="DECIMAL", length=12, scale=5)),
        ("INT(11) UNSIGNED", Column(name="c", type="INT", unsigned=True)),
        ("CHAR(5) UNICODE", Column(name="c", type="CHAR", length=5, charset="ucs2")),
        ("CHAR(5) BINARY", Column(name="c", type="CHAR", length=5, collation="utf8mb4_bin")),
        ("CHAR(5) CHARSET binary BINARY",
         Column(name="c", type="CHAR", length=5, charset="binary", collation="binary")),
        ("SET('a','b')", Column(name="c", type="SET", members=("a", "b"))),
        ("INT AUTO_INCREMENT", Column(name="c", type="INT", auto_increment=True, nullable=False)),
        ("INT GENERATED ALWAYS AS (d + 1) VIRTUAL", Column(name="c", type="INT", generated_sql="d + 1")),
    ],
)  # fmt: skip
def test_types_and_attributes_are_read_as_the_server_reads_them(text: str, expected: Column) -> None:
    assert column(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "SIGNED", "UNIQUE KEY", "UNIQUE", "CHECK (c > 1) ENFORCED", "CONSTRAINT k CHECK (c > 1)",
        "CONSTRAINT CHECK (c > 1)", "COMMENT 'NOT NULL'", "COLUMN_FORMAT DYNAMIC", "STORAGE DISK", "SRID 4326",
        "ENGINE_ATTRIBUTE = '{}'", "SECONDARY_ENGINE_ATTRIBUTE='{}'", "DEFAULT 5", "DEFAULT +5", "DEFAULT 1.5",
        "DEFAULT .5", "DEFAULT 5.", "DEFAULT -1.5e-3", "DEFAULT 'a' 'b'", "DEFAULT x'61'", "DEFAULT N'a'",
        "DEFAULT _latin1 'a'", "DEFAULT DATE '2024-01-02'", "DEFAULT NULL", "DEFAULT NOW(3) ON UPDATE NOW(3)",
        "DEFAULT (1 + (2))",
    ],
)  # fmt: skip
def test_what_no_table_map_tells_of_is_passed_over(text: str) -> None:
    """All of it, and nothing that follows."""
    for sql in (f"c INT {text}, d INT", f"d INT, c INT {text} UNSIGNED NOT NULL"):
        table = parse_definition(f"CREATE TABLE t ({sql})")
        unsigned = sql.endswith("NULL")
        assert table.columns[unsigned] == Column(name="c", type="INT", unsigned=unsigned, nullable=not unsigned)
        assert len(table.columns) == 2
        assert table.primary_key == ()


def test_the_schema_is_that_of_the_session_and_the_mode_says_what_a_quote_is() -> None:
    assert parse_definition("CREATE TABLE t (c INT)").schema == ""
    assert parse_definition("CREATE TABLE t (c INT)", schema="s").schema == "s"
    assert parse_definition("CREATE TABLE b.t (c INT)", schema="s").schema == "b"
    assert parse_definition('CREATE TABLE "t" ("c" INT)', sql_mode=4).columns == (Column(name="c", type="INT"),)


def test_keys_and_options() -> None:
    table = parse_definition(
        "CREATE TEMPORARY TABLE IF NOT EXISTS `a``b`.`t``x` (PRIMARY KEY USING BTREE (b(3) DESC, A), a INT,"
        " `b` TEXT NOT NULL, UNIQUE KEY u (a), KEY ((a + 1)), CONSTRAINT f FOREIGN KEY (a) REFERENCES p (x),"
        " CHECK (a > 1))"
        " ENGINE=InnoDB DEFAULT CHARACTER SET = latin1 COLLATE=latin1_bin COMMENT='COLLATE x'"
    )
    assert (table.schema, table.name, table.charset, table.collation) == ("a`b", "t`x", "latin1", "latin1_bin")
    assert [item.name for item in table.columns] == ["a", "b"]
    assert table.primary_key == ((1, 3), (0, 0))
    assert column("INT PRIMARY KEY", after="COLLATE utf8mb4_bin").type == "INT"
    assert parse_definition("CREATE TABLE t (c INT PRIMARY KEY) COLLATE latin1_bin").charset == "latin1"


@pytest.mark.parametrize(
    ("options", "collation"),
    [
        ("COLLATE utf8mb4_bin CHARSET utf8mb4", "utf8mb4_bin"), ("CHARSET utf8mb4 COLLATE utf8mb4_bin", "utf8mb4_bin"),
        ("COLLATE latin1_bin COMMENT='x' CHARACTER SET = latin1", "latin1_bin"), ("CHARSET latin1", None),
        ("COLLATE latin1_bin CHARSET utf8mb4", None),
        ("DEFAULT CHAR SET latin1 DEFAULT COLLATE latin1_bin", "latin1_bin"),
    ],
)  # fmt: skip
def test_a_collation_stays_where_its_character_set_is_named_behind_it(options: str, collation: str | None) -> None:
    assert parse_definition(f"CREATE TABLE t (c INT) {options}").collation == collation


@pytest.mark.parametrize(
    ("sql", "key"),
    [
        ("c INT KEY KEY", ((0, 0),)), ("c INT PRIMARY KEY PRIMARY KEY, d INT", ((0, 0),)),
        ("c DECIMAL(5), PRIMARY KEY (c(3))", ((0, 0),)),
        ("c DATE, d VARBINARY(9), PRIMARY KEY (d(3), c(3))", ((1, 3), (0, 0))),
        ("c CHAR(9), d LONGTEXT, PRIMARY KEY (c(2), d(3))", ((0, 2), (1, 3))),
        ("c BLOB, d INT, PRIMARY KEY (d, c(2))", ((1, 0), (0, 2))),
        ("c CHAR(9), PRIMARY KEY (c)", ((0, 0),)), ("c CHAR(9) PRIMARY KEY", ((0, 0),)),
        ("c INT, PRIMARY KEY k (c)", ((0, 0),)), ("c INT, PRIMARY KEY k USING BTREE (c)", ((0, 0),)),
        ("c INT, CONSTRAINT PRIMARY KEY (c)", ((0, 0),)), ("c INT, CONSTRAINT k PRIMARY KEY (c)", ((0, 0),)),
        ("c INT, CONSTRAINT UNIQUE (c)", ()), ("c INT, CONSTRAINT k CHECK (c > 1)", ()),
    ],
)  # fmt: skip
def test_primary_keys_are_read_as_the_server_reads_them(sql: str, key: tuple[tuple[int, int], ...]) -> None:
    """Each observed on 9.7.4, by SHOW CREATE TABLE."""
    assert parse_definition(f"CREATE TABLE t ({sql})").primary_key == key


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1", "CREATE VIEW v AS SELECT 1", "CREATE TABLE t", "CREATE TABLE t (c)", "CREATE TABLE t (c NOTYPE)",
        "CREATE TABLE t (c INT SPARSE)", "CREATE TABLE t (c INT, PRIMARY KEY (d))", "CREATE TABLE t (c CHAR(x))",
        "CREATE TABLE t LIKE u", "CREATE TABLE t (c ENUM(1))", "CREATE TABLE t (c CHAR CHARSET klingon)",
        "CREATE TABLE t (c CHAR COLLATE x_bin)", "CREATE TABLE t ()", "CREATE TABLE t (c VARCHAR())",
        "CREATE TABLE t (c SET( ))", "CREATE TABLE t (c SET)", "CREATE TABLE t (c ENUM, d INT)",
        "CREATE TABLE t (c VARCHAR)", "CREATE TABLE t (c NVARCHAR)", "CREATE TABLE t (c VARBINARY, d ENUM('a'))",
        "CREATE TABLE t (c DECIMAL BINARY)", "CREATE TABLE t (CHECK (1 = 1))",
        "CREATE TABLE t (c INT INVISIBLE, d INT INVISIBLE)", "CREATE TABLE t (c INT PRIMARY)",
        "CREATE TABLE t (c `INT`)", "CREATE TABLE t (c 'INT')", "CREATE TABLE t (c CHAR(5 6))",
        "CREATE TABLE t (c ENUM('a' 'b'))", "CREATE TABLE t (c CHAR(5), PRIMARY KEY (c()))",
        "CREATE TABLE t (c CHAR(5), PRIMARY KEY (c(x)))", "CREATE TABLE t (c INT DEFAULT 5 ``)",
    ],
)  # fmt: skip
def test_what_is_not_followed_is_an_error(sql: str) -> None:
    with pytest.raises(CodecError, match="cannot be followed"):
        parse_definition(sql)
