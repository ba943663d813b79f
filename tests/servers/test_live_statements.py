"""Drawn CREATE TABLE and ALTER TABLE: what the server takes is understood as the server understands it.

Most of what is drawn it refuses; what it takes is followed to the same end, or refused by name, never to another end.
Temporary tables, which take a hundredth of the time. ``pytest -m nightly tests/servers/test_live_statements.py`` draws
forty times as many.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

from conformance.reference.binlog.event import Event
from conformance.reference.binlog.header import Header
from conformance.reference.binlog.query import Query
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType
from conformance.reference.replay.engine import Replay
from conformance.reference.tables.create_table import parse_definition
from conformance.reference.tables.definitions import table_map
from conformance.servers.errors import SqlError
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw

pytestmark = pytest.mark.live
FEW, MANY = 2_000, 80_000

TYPES: Final = (
    "INT", "INT(5)", "BIGINT", "TINYINT(1)", "BOOL", "DECIMAL", "DECIMAL(5)", "DECIMAL(10,2)", "NUMERIC(3,3)", "FLOAT",
    "FLOAT(24)", "FLOAT(25)", "FLOAT(5,2)", "DOUBLE PRECISION", "REAL", "BIT", "BIT(9)", "YEAR", "DATE", "TIME(3)",
    "DATETIME(6)", "TIMESTAMP", "TIMESTAMP(2)", "CHAR", "CHAR(0)", "CHAR(5)", "VARCHAR(5)", "VARCHAR(300)", "BINARY",
    "VARBINARY(9)", "TEXT", "TEXT(10)", "TEXT(70000)", "LONGTEXT", "BLOB", "BLOB(100)", "LONG", "LONG VARBINARY",
    "ENUM('a','b')", "ENUM('a ','b''c')", "SET('x','y')", "JSON", "GEOMETRY", "GEOMCOLLECTION", "VECTOR", "VECTOR(3)",
    "SERIAL", "NCHAR(3)", "NATIONAL CHAR(4)", "NVARCHAR(9)", "CHAR VARYING(4)", "DEC(4,1)", "FIXED", "FLOAT8", "INT1",
    "INT3", "MIDDLEINT", "CHAR BYTE", "CHAR(5) BINARY", "VARCHAR(4) BYTE",
)  # fmt: skip
ATTRIBUTES: Final = (
    "PRIMARY KEY", "NOT NULL", "NULL", "UNIQUE", "KEY", "DEFAULT 1", "DEFAULT 'a'", "AUTO_INCREMENT", "COMMENT 'x,)('",
    "UNSIGNED", "ZEROFILL", "SIGNED", "INVISIBLE", "VISIBLE", "CHARACTER SET latin1", "CHARSET utf16", "BINARY",
    "COLLATE utf8mb4_bin", "COLLATE latin1_bin", "ASCII", "UNICODE", "BYTE", "COLUMN_FORMAT FIXED", "STORAGE DISK",
    "GENERATED ALWAYS AS (1) STORED", "AS (1)", "VIRTUAL", "CHECK (1=1)", "REFERENCES x(a)", "DEFAULT (1+1)",
    "ON UPDATE CURRENT_TIMESTAMP", "SRID 4326", "/*!80000 NOT NULL */", "/* c */", "CHARACTER SET binary", "PRECISION",
)  # fmt: skip
KEYS: Final = (
    "PRIMARY KEY (a)", "KEY k (a)", "UNIQUE (a)", "PRIMARY KEY (a(3))", "PRIMARY KEY (b, a)", "CHECK (a > 1)",
    "CONSTRAINT pk PRIMARY KEY (a)", "INDEX ((a+1))", "FULLTEXT (a)", "PRIMARY KEY USING BTREE (a DESC)",
    "CONSTRAINT CHECK (1=1)", "PRIMARY KEY k (a) COMMENT 'x'", "UNIQUE KEY (a) INVISIBLE",
)  # fmt: skip
OPTIONS: Final = (
    "", "DEFAULT CHARSET=latin1", "CHARSET utf8mb3", "COLLATE latin1_swedish_ci", "ENGINE=InnoDB",
    "CHARACTER SET = utf16 COLLATE utf16_bin", "COMMENT='CHARSET=latin1'", "AUTO_INCREMENT=5 CHARSET ascii",
    "COLLATE utf8mb4_bin CHARSET utf8mb4", "DEFAULT COLLATE=utf8mb4_0900_as_cs, ENGINE InnoDB",
)  # fmt: skip

NAMES: Final = ("a", "b", "c", "d", "e", "`g h`", "`add`", "A", "B", "`key`", "`first`")
PARTS: Final = (
    "DROP PRIMARY KEY", "ADD CONSTRAINT x PRIMARY KEY (a)", "ADD INDEX i (a)", "ADD KEY (b)", "ADD UNIQUE KEY u (b)",
    "ADD CHECK (a > 1)", "ADD CONSTRAINT `add` UNIQUE (a)", "DROP INDEX i", "DROP KEY u", "RENAME INDEX i TO j",
    "ALTER a SET DEFAULT 5", "ALTER COLUMN b DROP DEFAULT", "ALTER c SET INVISIBLE", "COMMENT 'add x int, drop a'",
    "DEFAULT CHARSET utf8mb4", "AUTO_INCREMENT=7", "ENGINE=InnoDB", "FORCE", "ALGORITHM=COPY", "LOCK=NONE",
    "DISABLE KEYS", "ROW_FORMAT=DYNAMIC", "RENAME TO t",
)  # fmt: skip
NEW_TYPES: Final = (
    "INT", "BIGINT NOT NULL", "VARCHAR(9)", "JSON", "INT DEFAULT 5", "INT PRIMARY KEY", "INT KEY", "INT UNIQUE",
    "INT COMMENT 'x, add z'", "ENUM('a,b)','c')", "INT CHECK (1=1)", "INT INVISIBLE", "INT AS (1+1) VIRTUAL",
)  # fmt: skip


def a_definition(draw: Draw) -> str:
    items = []
    for name in NAMES[: 1 + draw.below(2)]:
        attributes = [draw.choice(ATTRIBUTES) for _ in range(draw.choice((0, 0, 0, 1, 1, 1, 2)))]
        items.append(" ".join((name, draw.choice(TYPES), *attributes)))
    if draw.chance(1, 3):
        items.append(draw.choice(KEYS))
    return f"CREATE TEMPORARY TABLE t ({', '.join(items)}) {draw.choice(OPTIONS)}"


def a_part(draw: Draw) -> str:
    """Draw a part of an ALTER TABLE."""
    place = draw.choice(("", "", "", " FIRST", f" AFTER {draw.choice(NAMES)}"))
    one, other, kind = draw.choice(NAMES), draw.choice(NAMES), draw.choice(NEW_TYPES)
    match draw.below(10):
        case 0 | 1:
            return f"ADD {one} {kind}{place}"
        case 2:
            return f"ADD COLUMN ({one} {kind}, {other} INT)"
        case 3:
            return f"DROP {one}"
        case 4:
            return f"MODIFY COLUMN {one} {kind}{place}"
        case 5:
            return f"CHANGE {one} {other} {kind}{place}"
        case 6:
            return f"RENAME COLUMN {one} TO {other}, RENAME COLUMN {other} TO {one}"
        case 7:
            return f"RENAME COLUMN {one} TO {other}"
        case 8:
            return f"ADD PRIMARY KEY ({one}{', ' + other if draw.chance(1, 2) else ''})"
        case _:
            return draw.choice(PARTS)


def taken(connection: Connection, sql: str) -> bool:
    try:
        connection.execute(sql)
    except SqlError:
        return False
    return True


def definitions(server: ProcessServer, count: int) -> Counter[str]:
    """Give the server so many drawn definitions, and count what became of them."""
    found: Counter[str] = Counter()
    with server.connect() as connection, server.schema(connection) as schema:
        connection.execute("SET SESSION sql_mode = '', sql_generate_invisible_primary_key = OFF")
        for number in range(count):
            sql = a_definition(Stream("drawn-definition", number))
            accepted = taken(connection, sql)
            try:
                table = parse_definition(sql, schema=schema)
                maps = [table_map(table, mode) for mode in ("MINIMAL", "FULL")]
            except CodecError:
                found["refused by both" if not accepted else "not followed"] += 1
                maps = []
            if not accepted:
                continue
            shown = str(connection.execute("SHOW CREATE TABLE t").texts()[0][1])
            connection.execute("DROP TEMPORARY TABLE t")
            if not maps or "SERIAL NULL" in sql:  # which SHOW CREATE TABLE does not show
                continue
            again = parse_definition(shown, schema=schema)
            assert maps == [table_map(again, mode) for mode in ("MINIMAL", "FULL")], (sql, shown)
            found["the same"] += 1
    return found


def followed(replay: Replay, sql: str, schema: str) -> None:
    replay.event(
        Event(Header(0, EventType.QUERY, 1, 19, 4, 0), Query(text=sql.encode(), schema=schema.encode()), None, 1)
    )


def alterations(server: ProcessServer, count: int) -> Counter[str]:
    """Alter so many tables, each up to six times, and count what became of them."""
    found: Counter[str] = Counter()
    with server.connect() as connection, server.schema(connection) as schema:
        connection.execute("SET SESSION sql_mode = '', sql_generate_invisible_primary_key = OFF")
        for number in range(count):
            draw = Stream("drawn-alteration", number)
            create = f"CREATE TABLE t (a INT, b VARCHAR(9){draw.choice(('', ' PRIMARY KEY'))}, c JSON)"
            connection.execute(create.replace("TABLE", "TEMPORARY TABLE"))
            replay = Replay()
            followed(replay, create, schema)
            for _ in range(6):
                sql = "ALTER TABLE t " + ", ".join(a_part(draw) for _ in range(draw.choice((1, 1, 1, 2, 3))))
                if not taken(connection, sql):
                    found["refused"] += 1
                    continue
                followed(replay, sql, schema)
                (state,) = replay.tables.values()
                columns = [row[0] for row in connection.execute("SHOW COLUMNS FROM t").texts()]
                key = [row[4] for row in connection.execute("SHOW INDEX FROM t").texts() if row[2] == "PRIMARY"]
                assert (state.column_names(), [part.lower() for part in state.key]) == (
                    columns,
                    [str(part).lower() for part in key],
                ), (sql, columns, key)
                found["the same"] += 1
            connection.execute("DROP TEMPORARY TABLE t")
    return found


def test_drawn_definitions_are_understood_as_the_server_understands_them(server: ProcessServer) -> None:
    found = definitions(server, FEW)
    assert found["the same"] > FEW // 5, found
    assert found["not followed"] < found["the same"] // 10, found


def test_drawn_alterations_are_followed_as_the_server_makes_them(server: ProcessServer) -> None:
    found = alterations(server, FEW // 5)
    assert found["the same"] > FEW // 5, found


@pytest.mark.nightly
def test_many_drawn_statements(server: ProcessServer) -> None:
    found = definitions(server, MANY)
    assert found["the same"] > MANY // 5, found
    found = alterations(server, MANY // 5)
    assert found["the same"] > MANY // 5, found
