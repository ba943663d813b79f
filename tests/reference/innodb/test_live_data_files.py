"""Data files of a real server: objects as ibd2sdi prints them, CREATE TABLE, INFORMATION_SCHEMA, rows as SELECT."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.reference.innodb.blob_chain import ZBLOB_TYPES, read_blob
from conformance.reference.innodb.btree import index_page, leaf_records
from conformance.reference.innodb.dictionary import clustered_indexes
from conformance.reference.innodb.records import OffPage, level
from conformance.reference.innodb.sdi import TABLE, TABLESPACE, sdi_objects
from conformance.reference.innodb.sdi_views.ibd2sdi_output import printed
from conformance.reference.innodb.sdi_views.information_schema import drift, facts_of_file, facts_of_server
from conformance.reference.innodb.show_create_table import create_table
from tests.reference.innodb.fixture_files import tablespace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.reference.innodb.pages import Tablespace
    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection

pytestmark = pytest.mark.live

FORMATS: Final = {
    "dynamic": "ROW_FORMAT=DYNAMIC",
    "compact": "ROW_FORMAT=COMPACT",
    "redundant": "ROW_FORMAT=REDUNDANT",
    "compressed": "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4",
}
COLUMNS: Final = (
    "`p` varchar(20) NOT NULL, `id` int NOT NULL, `a` int, `b` varchar(300), `c` char(10), `d` varbinary(50) NOT NULL,"
    " `g` text, PRIMARY KEY (`p`(3), `id`)"
)
NUMBERS: Final = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)"
ROWS: Final = (
    f"INSERT INTO {{name}} (p, id, a, b, c, d, g) {NUMBERS} SELECT concat('k', i % 97), i + {{base}},"
    " if(i % 3, i, NULL), if(i % 5, repeat('b', i % 290), NULL), if(i % 7, concat('c', i), NULL), repeat('d', i % 40),"
    " if(i % 50, repeat('t', i % 50), repeat('L', 20000)) FROM n"
)


@pytest.fixture(scope="module")
def schema(server: ProcessServer) -> Iterator[tuple[Connection, str]]:
    """A schema with a table of each row format, with row versions where the format has them."""
    with server.connect() as connection, server.schema(connection) as name:
        for table, options in FORMATS.items():
            connection.execute(f"CREATE TABLE {table} ({COLUMNS}) {options} COMMENT 'it''s'")
            connection.execute(ROWS.format(name=table, base=0))
            connection.execute(f"DELETE FROM {table} WHERE id % 13 = 0")
            if table != "compressed":
                connection.execute(f"ALTER TABLE {table} ADD COLUMN h int DEFAULT 77 FIRST, ALGORITHM=INSTANT")
                connection.execute(ROWS.format(name=table, base=10_000))
                connection.execute(f"ALTER TABLE {table} DROP COLUMN c, ALGORITHM=INSTANT")
                connection.execute(f"UPDATE {table} SET h = 78, b = 'new' WHERE id % 10 = 0")
        yield connection, name


@pytest.fixture(params=FORMATS)
def table(request: pytest.FixtureRequest, server: ProcessServer, schema: tuple[Connection, str]) -> Iterator[TableFile]:
    """A table whose file is on disk as a whole."""
    connection, name = schema
    connection.execute(f"FLUSH TABLES {request.param} FOR EXPORT")
    try:
        yield TableFile(connection, name, request.param, server.data_directory / name / f"{request.param}.ibd")
    finally:
        connection.execute("UNLOCK TABLES")


class TableFile:
    """A table on the server, its file, and its dictionary information."""

    def __init__(self, connection: Connection, schema: str, name: str, path: Path) -> None:
        self.connection, self.schema, self.name, self.path = connection, schema, name, path
        self.space: Tablespace = tablespace(path.read_bytes())
        objects = {item.type: item.object["dd_object"] for item in sdi_objects(self.space)}
        self.table: dict[str, Any] = objects[TABLE]
        self.tablespace: dict[str, Any] = objects[TABLESPACE]


def test_ibd2sdi(server: ProcessServer, table: TableFile) -> None:
    expected = subprocess.run([*server.program("ibd2sdi"), table.path], capture_output=True, check=True).stdout
    assert b"".join(printed(sdi_objects(table.space))) == expected


def test_show_create_table(table: TableFile) -> None:
    shown = table.connection.execute(f"SHOW CREATE TABLE {table.name}").texts()[0][1]
    assert create_table(table.table, table.tablespace) == shown


def test_information_schema(table: TableFile) -> None:
    server = facts_of_server(lambda sql: table.connection.execute(sql).texts(), table.schema, table.name)
    file = facts_of_file(table.table)
    assert drift(file, server) == []
    assert len(file) > 30
    assert drift(file | {"column a: type": "bigint"}, server) == [("column a: type", "bigint", "int")]


def test_rows(table: TableFile) -> None:
    (index,) = clustered_indexes(table.table)
    assert level(index_page(table.space, index.root)) > 0
    whole = {field.name: number for number, field in enumerate(index.format.fields)}  # behind a prefix in the key
    names = [column["name"] for column in table.table["columns"] if column["hidden"] == 1]
    found = [
        tuple(shown(table.space, name, record.values[whole[name]]) for name in names)
        for _, record in leaf_records(table.space, index.root, index.format)
        if not record.deleted
    ]
    select = ", ".join(
        name if name in {"id", "a", "h"} else "length(g)" if name == "g" else f"hex({name})" for name in names
    )
    rows = table.connection.execute(f"SELECT {select} FROM {table.name} ORDER BY left(p, 3), id").texts()
    assert found == rows
    assert len(rows) > 800


def shown(space: Tablespace, name: str, value: object) -> str | None:
    """A value as the SELECT of the test gives it."""
    if value is None:
        return None
    if isinstance(value, OffPage):
        length = value.reference.length
        if space.page(value.reference.page).type in ZBLOB_TYPES:
            assert read_blob(space, value.reference) == b"L" * length
        return str(len(value.prefix) + length)
    assert isinstance(value, bytes)
    if name in {"id", "a", "h"}:
        return str(int.from_bytes(value, "big") - (1 << 31))
    if name == "g":
        return str(len(value))
    return (value.rstrip(b" ") if name == "c" else value).hex().upper()
