"""Small logs of a real MariaDB, with the text of ``mariadb-binlog -vv`` and the rows of SELECT beside them.

``python -m tests.mariadb captures`` makes those in ``tests/data/mariadb`` again.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.mariadb.server import Running, program, running

if TYPE_CHECKING:
    from conformance.servers.wire.connection import Connection

PLACE: Final = Path(__file__).parents[1] / "data/mariadb"
KEY: Final = "1;" + "0123456789abcdef" * 4 + "\n"
_COLUMNS: Final = """a INT UNSIGNED PRIMARY KEY AUTO_INCREMENT, t TINYINT, tu TINYINT UNSIGNED, si SMALLINT,
    mi MEDIUMINT UNSIGNED, bi BIGINT UNSIGNED, f FLOAT, db DOUBLE, d DECIMAL(20,6), y YEAR, dt DATE, tm TIME(2),
    dtm DATETIME(6), ts TIMESTAMP NULL, c CHAR(10), vc VARCHAR(300), vb VARBINARY(20), bn BINARY(6), tt TINYTEXT,
    tx TEXT CHARACTER SET latin1, mt MEDIUMTEXT, lt LONGTEXT, tb TINYBLOB, bb BLOB, e ENUM('ä','b'),
    st SET('x','y','z'), bt BIT(12), j JSON, u UUID, i6 INET6, i4 INET4, g GEOMETRY, p POINT, cb TEXT COMPRESSED,
    cv VARCHAR(1000) COMPRESSED, cvb VARBINARY(300) COMPRESSED, pcol INT AS (t + 2) PERSISTENT,
    inv INT INVISIBLE DEFAULT 5"""
_VALUES: Final = """t=-5, tu=200, si=-300, mi=16777215, bi=18446744073709551615, f=1.5, db=1e100, d=-123.456, y=2026,
    dt='2026-02-03', tm='-12:34:56.78', dtm='2026-02-03 04:05:06.123456', ts='2026-02-03 04:05:06', c='häl',
    vc='öé€', vb=x'00ff00', bn=x'0100', tt='it''s', tx='lätin', mt='m\\n', lt='l', tb=x'ff', bb=x'feff', e='ä',
    st='x,z', bt=b'100000000001', j='{"b": 1, "a":[true,null]}', u='83ff67bb-ec0d-11f1-a07d-02fc00000001',
    i6='2001:db8::1', i4='10.0.0.255', g=ST_GeomFromText('linestring(0 0,1 1)'), p=POINT(1,2), cb=REPEAT('é',300),
    cv=REPEAT('x',200), cvb=REPEAT('y',120)"""


class Capture(NamedTuple):
    """The options of the server that writes a log, and the statements in it. ``tables``: those whose rows are kept."""

    options: tuple[str, ...]
    statements: tuple[str, ...]
    tables: tuple[str, ...] = ()


CAPTURES: Final = {
    "types": Capture(
        ("--binlog-row-metadata=FULL",),
        (
            "SET column_compression_threshold = 100",
            f"CREATE TABLE types ({_COLUMNS})",
            f"INSERT INTO types SET {_VALUES}",
            "INSERT INTO types (a) VALUES (7), (4294967295)",
            "UPDATE types SET t = t + 1, bi = bi - 1 WHERE a = 1",
            "SET binlog_row_image = MINIMAL",
            "UPDATE types SET j = '[1]', c = NULL WHERE a = 1",
            "SET binlog_row_image = NOBLOB",
            "UPDATE types SET t = 9 WHERE a = 7",
            "DELETE FROM types WHERE a = 4294967295",
        ),
        ("types",),
    ),
    "transactions": Capture(
        ("--binlog-row-metadata=FULL",),
        (
            "CREATE TABLE t (a INT PRIMARY KEY, b INT) ENGINE = InnoDB PAGE_COMPRESSED = 1",
            "CREATE TABLE my (a INT) ENGINE = MyISAM",
            "CREATE OR REPLACE TABLE copied AS SELECT 1 AS a, 'x' AS b",
            "CREATE OR REPLACE TABLE copied AS SELECT 2 AS a, 'y' AS b",
            "SET gtid_domain_id = 3",
            "INSERT INTO my VALUES (1), (2)",
            "SET gtid_domain_id = 0",
            "BEGIN", "INSERT INTO t VALUES (1, 1)", "SAVEPOINT sp", "INSERT INTO t VALUES (2, 1)",
            "INSERT INTO my VALUES (3)", "ROLLBACK TO sp", "INSERT INTO t VALUES (3, 1)", "COMMIT",
            "BEGIN", "INSERT INTO t VALUES (4, 1)", "INSERT INTO my VALUES (5)", "ROLLBACK",
            "XA START 'x1'", "INSERT INTO t VALUES (5, 5)", "XA END 'x1'", "XA PREPARE 'x1'", "XA COMMIT 'x1'",
            "XA START 'x2', 'b', 7", "INSERT INTO t VALUES (6, 6)", "XA END 'x2', 'b', 7",
            "XA COMMIT 'x2', 'b', 7 ONE PHASE",
            "XA START 'x3'", "INSERT INTO t VALUES (7, 7)", "XA END 'x3'", "XA PREPARE 'x3'", "XA ROLLBACK 'x3'",
            "ALTER TABLE t ADD COLUMN c INT DEFAULT 7, ALGORITHM = INSTANT",
            "INSERT INTO t (a) VALUES (8)",
            "SET check_constraint_checks = 0, sql_mode = ''",
            "RENAME TABLE my TO mine",
            "SET sql_if_exists = 1, foreign_key_checks = 0", "DROP TABLE nothing",
            "SET system_versioning_insert_history = 1, explicit_defaults_for_timestamp = 0, unique_checks = 0",
            "INSERT INTO copied VALUES (1,\n  'it''s'),\n (2, 'b')",
            "UPDATE t, copied SET t.b = 9, copied.a = 9 WHERE t.a = 1 AND copied.a = 1",
            "SET skip_replication = 1", "INSERT INTO t VALUES (9, 9, 9)", "SET skip_replication = 0",
            "CREATE TABLE emptied (a INT)", "INSERT INTO emptied VALUES (1)", "TRUNCATE emptied",
        ),
        ("t", "mine", "copied", "emptied"),
    ),
    "compressed": Capture(
        ("--log-bin-compress", "--log-bin-compress-min-len=10", "--binlog-checksum=NONE", "--binlog-row-metadata=FULL"),
        (
            "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(400), n BIGINT)",
            "INSERT INTO t VALUES (1, REPEAT('a', 300), -1), (2, 'b', 2), (3, REPEAT('é', 200), NULL)",
            "UPDATE t SET b = CONCAT(b, 'z') WHERE a < 3",
            "DELETE FROM t WHERE a = 2",
            "INSERT INTO t SELECT seq, REPEAT('k', 390), seq FROM seq_10_to_34",
            "SET @v = 'abc', timestamp = 1700000000.123456",
            "SET binlog_format = STATEMENT",
            "CREATE USER 'u'@'localhost'",
            "SET binlog_format = ROW",
        ),
        ("t",),
    ),
    "encrypted": Capture(
        ("--plugin-load-add=file_key_management", "--encrypt-binlog"),
        ("CREATE TABLE t (a INT PRIMARY KEY)", "INSERT INTO t VALUES (1)"),
    ),
    "statements": Capture(
        ("--binlog-format=STATEMENT",),
        ("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20))", "SET @v = 'abc', @w = 2.5",
         "INSERT INTO t VALUES (1, @v)", "INSERT INTO t VALUES (2, @w)", "INSERT INTO t VALUES (3, RAND())"),
    ),
    "gtids": Capture(
        ("--binlog-row-metadata=FULL",),
        ("SET gtid_domain_id = 3", "CREATE TABLE t (a INT PRIMARY KEY, b BLOB) ENGINE = InnoDB",
         "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.a = NEW.a + 1", "SET gtid_domain_id = 0",
         "CREATE DATABASE other", "SET server_id = 7", "CREATE DATABASE third", "FLUSH BINARY LOGS",
         "INSERT INTO t VALUES (1, 'quote '' and \\\\ and \\t'), (2, x'00011f207f80ff')"),
        ("t",),
    ),
    "history": Capture(
        ("--binlog-row-metadata=FULL",),
        ("CREATE TABLE v (a INT PRIMARY KEY, b INT) WITH SYSTEM VERSIONING", "INSERT INTO v VALUES (1, 1)",
         "UPDATE v SET b = 2"),
    ),
    "sequence": Capture(
        ("--binlog-row-metadata=FULL",),
        ("CREATE SEQUENCE s", "SELECT NEXTVAL(s)", "CREATE TABLE t (a INT DEFAULT NEXTVAL(s))"),
    ),
}  # fmt: skip


def make(name: str, place: Path) -> None:
    """Write one capture: the log, its text, and the rows of its tables."""
    capture = CAPTURES[name]
    options = ["--binlog-format=ROW", *capture.options, "--log-bin=log"]
    key = place / "key"
    if "--encrypt-binlog" in options:
        key.write_text(KEY)
        options.append(f"--file-key-management-filename={key}")
    with running(options) as server:
        log = place / f"{name}.binlog"
        log.write_bytes(run(server, capture.statements))
        (place / f"{name}.txt").write_bytes(printed(log)[0])
        if capture.tables:
            rows = {f"s.{table}": selected(server.session, table) for table in capture.tables}
            text = json.dumps(rows, ensure_ascii=False, indent=1)
            (place / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    key.unlink(missing_ok=True)


def run(server: Running, statements: tuple[str, ...]) -> bytes:
    """Run the statements in a new schema ``s``; returns the log that the last of them is in."""
    session = server.session
    session.execute("SET time_zone = '+00:00', NAMES utf8mb4")
    session.execute("RESET MASTER")
    session.execute("CREATE DATABASE s CHARACTER SET utf8mb4")
    session.execute("USE s")
    for statement in statements:
        session.execute(statement)
    name = [str(row[0]) for row in session.execute("SHOW BINARY LOGS").texts()][-1]
    session.execute("SET time_zone = '+00:00', sql_mode = DEFAULT")
    session.execute("FLUSH BINARY LOGS")
    return (server.directory / name).read_bytes()


def printed(*logs: Path) -> tuple[bytes, str]:
    """The text of ``mariadb-binlog -vv`` in UTC, and its complaints."""
    words = [*program("mariadb-binlog"), "-vv", *map(str, logs)]
    done = subprocess.run(words, capture_output=True, check=False, env=os.environ | {"TZ": "UTC"})
    return done.stdout, done.stderr.decode("utf-8", "replace")


def selected(session: Connection, table: str) -> dict[str, object]:
    """Columns and rows of a table as SELECT gives them, in the form of ``apply --format json``."""
    found = session.execute(
        "SELECT column_name, data_type, character_set_name FROM information_schema.columns "
        f"WHERE table_schema = 's' AND table_name = '{table}' ORDER BY ordinal_position"
    ).texts()
    columns = [str(row[0]) for row in found]
    shown = ", ".join(_shown(str(name), str(kind), charset) for name, kind, charset in found)
    rows = [
        [None if value is None else str(value) for value in row]
        for row in session.execute(f"SELECT {shown} FROM s.`{table}`").texts()
    ]
    rows.sort(key=lambda row: [(value is not None, value or "") for value in row])
    return {"columns": columns, "rows": rows}


_AS_BYTES: Final = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "geometry", "point")


def _shown(name: str, kind: str, charset: object) -> str:
    column = f"`{name}`"
    if kind == "bit":
        return f"{column} + 0"
    if kind in _AS_BYTES:
        return f"HEX({column})"
    return f"CAST({column} AS CHAR CHARACTER SET utf8mb4)" if charset else f"CONCAT({column})"
