"""INFORMATION_SCHEMA of the lab's source, which knows the log alone, against a server's with the same tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.servers.wire.connection import connect
from tests.servers.source.made import address_of, small_log, source_of

if TYPE_CHECKING:
    from conformance.servers.run.process import ProcessServer

pytestmark = pytest.mark.live

COLUMNS = (
    "TINYINT", "TINYINT(1)", "BOOL", "SMALLINT UNSIGNED", "MEDIUMINT", "INT", "INT(5) ZEROFILL",
    "BIGINT UNSIGNED ZEROFILL",
    "DECIMAL", "DECIMAL(7)", "DECIMAL(20,4) UNSIGNED", "FLOAT", "DOUBLE PRECISION", "BIT", "BIT(17)", "YEAR", "DATE",
    "TIME", "TIME(3)", "DATETIME(0)", "DATETIME(6)", "TIMESTAMP(2) NULL", "CHAR", "CHAR(9) CHARACTER SET latin1",
    "NCHAR(3)", "VARCHAR(40)", "VARCHAR(12) COLLATE utf8mb4_bin", "CHARACTER VARYING(3)",
    "CHAR(5) CHARACTER SET binary",
    "VARCHAR(5) CHARACTER SET binary", "TEXT CHARACTER SET binary", "TINYTEXT", "TEXT",
    "MEDIUMTEXT CHARACTER SET ascii",
    "LONGTEXT", "BINARY", "BINARY(4)", "VARBINARY(300)", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "JSON",
    "VECTOR(3)", "VECTOR", "GEOMETRY", "POINT", "GEOMETRYCOLLECTION", "MULTIPOLYGON",
    "ENUM('a','größe','it''s')", "SET('x','日本😀') CHARACTER SET utf8mb4", "ENUM('') CHARACTER SET latin1",
    "INT INVISIBLE",
)  # fmt: skip
ASKED = (
    "SELECT COLUMN_NAME, ORDINAL_POSITION, IS_NULLABLE, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, CHARACTER_OCTET_LENGTH,"
    " NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, CHARACTER_SET_NAME, COLLATION_NAME, COLUMN_TYPE,"
    " COLUMN_KEY, EXTRA FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = '{}' AND TABLE_NAME = 'Wide'"
    " ORDER BY ORDINAL_POSITION"
)


def test_columns_are_described_as_by_a_server(server: ProcessServer) -> None:
    listed = ", ".join(f"c{number} {column}" for number, column in enumerate(COLUMNS))
    definition = f"CREATE TABLE Wide (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, {listed}) DEFAULT CHARSET=utf8mb4"
    with server.connect() as real, server.schema(real) as schema:
        real.execute(definition)
        real.execute("CREATE TABLE wide (other INT)")
        expected = real.execute(ASKED.format(schema)).texts()
        shown = real.execute("SHOW FULL COLUMNS FROM Wide").texts()
    with source_of(small_log(ddl=definition)) as source, connect(address_of(source)) as session:
        found = session.execute(ASKED.format("shop")).texts()
        own = session.execute("SHOW FULL COLUMNS FROM shop.Wide").texts()
        assert not session.execute(ASKED.format("SHOP")).texts()
    assert len(expected) == len(COLUMNS) + 1
    assert [pair for pair in zip(expected, found, strict=True) if pair[0] != pair[1]] == []
    assert [row[:7] for row in own] == [row[:7] for row in shown]  # without privileges and comments
