"""The source's answers to the statements of clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.servers.errors import SqlError
from conformance.servers.source.packets import Rows
from conformance.servers.source.prepared import PreparedStatements
from conformance.servers.source.statements import like, rewrite, unquoted
from conformance.servers.wire.connection import connect
from tests.servers.source.made import UUID_ONE, address_of, small_log, source_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.wire.connection import Connection

DDL = (
    "CREATE TABLE shop.items (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) CHARACTER SET"
    " latin1 DEFAULT 'a', price DECIMAL(8), kind ENUM('a','b') NOT NULL, at TIMESTAMP(6) NULL, doc JSON)"
)


@pytest.fixture(scope="module")
def session() -> Iterator[Connection]:
    with source_of(small_log(ddl=DDL)) as source, connect(address_of(source)) as found:
        yield found


def test_variables_of_the_log(session: Connection) -> None:
    asked = "SELECT @@server_id, @@global.gtid_mode, @@GLOBAL.gtid_executed, @@log_bin, @@version, @@binlog_checksum"
    assert session.execute(asked).texts() == [("93", "ON", f"{UUID_ONE}:1-2", "1", "9.7.4", "CRC32")]
    assert session.execute("SHOW GLOBAL VARIABLES LIKE 'log\\_bin'").texts() == [("log_bin", "ON")]
    assert session.execute("SHOW VARIABLES WHERE Variable_name IN ('port', 'gtid_mode')").texts()[0][1] == "ON"


def test_names_of_columns_are_as_the_client_wrote_them(session: Connection) -> None:
    result = session.execute("SELECT @@version, @@global.server_id AS id, 1 + 1")
    assert result.columns == ("@@version", "id", "1 + 1")


def test_several_columns_and_rows_of_the_schema(session: Connection) -> None:
    rows = session.execute(
        "SELECT column_name, COLUMN_TYPE, IS_NULLABLE, CHARACTER_SET_NAME, COLUMN_KEY, EXTRA, DATETIME_PRECISION"
        " FROM `information_schema`.`COLUMNS` WHERE table_schema = 'shop' AND TABLE_NAME = \"items\""
        " ORDER BY ordinal_position"
    ).texts()
    assert rows == [
        ("id", "bigint unsigned", "NO", None, "PRI", "auto_increment", None),
        ("name", "varchar(40)", "YES", "latin1", "", "", None),
        ("price", "decimal(8,0)", "YES", None, "", "", None),
        ("kind", "enum('a','b')", "NO", "utf8mb4", "", "", None),
        ("at", "timestamp(6)", "YES", None, "", "", "6"),
        ("doc", "json", "YES", None, "", "", None),
    ]


def test_a_table_that_only_the_table_map_describes(session: Connection) -> None:
    rows = session.execute("SHOW FULL COLUMNS FROM orders FROM shop").texts()
    assert [row[:3] for row in rows] == [
        ("id", "int unsigned", None),
        ("state", "enum('new','it''s')", "utf8mb4_0900_ai_ci"),
        ("note", "varchar(20)", "latin1_swedish_ci"),
        ("price", "decimal(10,2)", None),
        ("at", "datetime(3)", None),
        ("doc", "json", None),
        ("raw", "longblob", None),
    ]
    assert session.execute("SHOW INDEX FROM shop.orders").texts()[0][2:5] == ("PRIMARY", "1", "id")


def test_tables_and_their_statements(session: Connection) -> None:
    assert session.execute("SHOW TABLES FROM shop").texts() == [("items",), ("orders",)]
    assert session.execute("SHOW FULL TABLES IN shop WHERE Table_type = 'BASE TABLE'").texts()[0] == (
        "items",
        "BASE TABLE",
    )
    assert "PRIMARY KEY (`id`)" in str(session.execute("SHOW CREATE TABLE `shop`.`items`").texts()[0][1])
    assert ("shop",) in session.execute("SHOW DATABASES").texts()
    session.execute("USE shop")
    assert session.execute("SELECT DATABASE()").scalar() == "shop"
    assert len(session.execute("DESCRIBE items").rows) == 6


def test_the_state_of_the_log(session: Connection) -> None:
    (file, position, _, _, executed), *_ = session.execute("SHOW BINARY LOG STATUS").texts()
    assert (file, executed) == ("binlog.000001", f"{UUID_ONE}:1-2")
    assert session.execute("SHOW BINARY LOGS").texts() == [(file, position, "No")]
    assert session.execute(f"SELECT GTID_SUBSET('{UUID_ONE}:1', @@gtid_executed)").scalar() == "1"


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("SELECT @@rpl_semi_sync_source_enabled", 1193),
        ("SET SESSION no_such = 1", 1193),
        ("SHOW MASTER STATUS", 1064),
        ("SELECT * FROM mysql.user", 1146),
        ("SELECT no_column FROM information_schema.tables", 1054),
        ("SELECT no_such()", 1305),
        ("nonsense", 1064),
        ("SELECT (", 1064),
        ("SHOW CREATE TABLE shop.none", 1146),
        ("DROP TABLE shop.items", 1290),
        ("SELECT 1; SELECT 2", 1064),
        ("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT COUNT(*) FROM t", 1064),
    ],
)
def test_what_no_source_can_answer_is_an_error_of_mysql(session: Connection, statement: str, number: int) -> None:
    with pytest.raises(SqlError) as caught:
        session.execute(statement)
    assert caught.value.number == number
    assert session.execute("SELECT 1").scalar() == "1"


@pytest.mark.parametrize("version", ["8.0.36", "5.7.44"])
def test_an_old_server_knows_the_old_word(version: str) -> None:
    with source_of(version=version) as source, connect(address_of(source)) as old:
        assert len(old.execute("SHOW MASTER STATUS").rows) == 1
        with pytest.raises(SqlError, match="1064"):
            old.execute("SHOW BINARY LOG STATUS")


def test_what_a_client_set_is_its_own() -> None:
    with source_of() as source, connect(address_of(source)) as one, connect(address_of(source)) as other:
        one.execute(
            "SET @source_binlog_checksum = @@global.binlog_checksum, @a = 'it\\'s', SESSION net_write_timeout = 7"
        )
        assert one.execute("SELECT @source_binlog_checksum, @a, @@net_write_timeout").texts() == [
            ("CRC32", "it's", "7")
        ]
        assert other.execute("SELECT @a, @@net_write_timeout").texts() == [(None, "60")]


def test_nothing_can_be_written_and_no_file_read(session: Connection) -> None:
    for statement in ("SELECT load_extension('x')", "SELECT readfile('/etc/passwd')", "SELECT * FROM sqlite_master"):
        with pytest.raises(SqlError):
            session.execute(statement)


def test_literals_and_patterns_of_mysql() -> None:
    assert unquoted("'a\\'b\\n''c'") == "a'b\n'c"
    assert unquoted('"a""b"') == 'a"b'
    assert (like("a\\_%", "a_b"), like("a\\_%", "axb"), like("A%", "ab"), like("a", None)) == (1, 0, 1, None)
    text, names = rewrite("SELECT SQL_NO_CACHE '@@x', `@y`, @@global.z /* @a */ FROM dual;")
    assert list(names.values()) == ["@@global.z"]
    assert text.startswith("SELECT '@@x', \"@y\", ")


def test_parameters_of_prepared_statements_become_values() -> None:
    asked: list[str] = []

    def answer(sql: str) -> Rows:
        asked.append(sql)
        return Rows(("a", "b"), ((1, None), (2, "x")))

    prepared = PreparedStatements(answer)
    head = next(iter(prepared.prepare("SELECT '?', `?` FROM t WHERE a = ? AND b = ? AND c = ?")))
    assert (int.from_bytes(head[5:7], "little"), int.from_bytes(head[7:9], "little")) == (2, 3)
    body = (
        b"\1\0\0\0" + b"\0" + b"\1\0\0\0" + b"\4" + b"\1" + b"\xfd\0\x08\0\x06\0" + b"\3o'k" + (7).to_bytes(8, "little")
    )
    packets = list(prepared.execute(body))
    assert asked[-1] == "SELECT '?', `?` FROM t WHERE a = 'o''k' AND b = 7 AND c = NULL"
    assert packets[-3] == b"\0\x08" + (1).to_bytes(8, "little")
    assert packets[-2] == b"\0\0" + (2).to_bytes(8, "little") + b"\1x"
