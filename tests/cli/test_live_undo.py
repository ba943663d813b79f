"""``apply --undo`` on a real server: tables equal the state before, and what cannot be taken back is refused."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.cases.row_images import RowImage
from tests.expansion.workload import run_twice
from tests.in_process import lab_here as lab

if TYPE_CHECKING:
    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection
    from tests.live import Ended

pytestmark = pytest.mark.live

TABLES = """\
CREATE TABLE keyed (id INT PRIMARY KEY, j JSON, k JSON, n DECIMAL(12,3), d DATETIME(3), t TIME(2), y YEAR,
  e ENUM('a','b'), s SET('x','y','z'), b BIT(9), f FLOAT, g DOUBLE, c CHAR(9) CHARACTER SET latin1,
  x VARBINARY(20), p POINT, w INT AS (id * 2), v INT AS (id * 3) STORED);
CREATE TABLE bare (a INT, j JSON, c TEXT);
CREATE TABLE parted (id INT PRIMARY KEY, j JSON) PARTITION BY HASH (id) PARTITIONS 3;
INSERT INTO keyed (id, j, k, n, d, t, y, e, s, b, f, g, c, x, p)
  SELECT a, JSON_OBJECT('a', a, 'p', REPEAT('p', 50)), CAST('[1, 2.5, null]' AS JSON), a / 7,
  '2024-02-29 01:02:03.456', '-12:34:56.78', 2000 + a, 'b', 'x,z', b'101', a / 3, a / 3, 'é', x'00ff0a', POINT(a, 2)
  FROM (VALUES ROW(1), ROW(2), ROW(3), ROW(4)) AS r (a);
INSERT INTO bare VALUES (1, '{"a": 1}', 'line
feed'), (1, '{"a": 1}', 'line
feed'), (NULL, NULL, NULL);
INSERT INTO parted VALUES (1, '[1]'), (2, '[2]'), (3, '[3]')
"""
WORKLOAD = (
    "UPDATE keyed SET j = JSON_SET(j, '$.a', 100), k = JSON_REMOVE(k, '$[1]') WHERE id < 4",
    "BEGIN",
    "UPDATE keyed SET id = id + 10, n = NULL WHERE id = 2",
    "DELETE FROM keyed WHERE id = 3",
    "INSERT INTO keyed (id, j) VALUES (3, '7')",
    "SAVEPOINT s",
    "UPDATE bare SET c = 'x; DROP TABLE keyed', j = NULL LIMIT 1",
    "COMMIT",
    "UPDATE parted SET id = id + 3",
    "DELETE FROM bare",
    "INSERT INTO bare SELECT id, j, HEX(x) FROM keyed",
    "REPLACE INTO parted VALUES (4, NULL), (9, '{}')",
)


class Node:
    """A session in a schema of its own, whose statements are logged with FULL images and partial JSON."""

    def __init__(self, server: ProcessServer, connection: Connection, schema: str) -> None:
        self.server, self.connection, self.schema = server, connection, schema
        self.run("SET NAMES utf8mb4", "SET SESSION binlog_row_value_options = 'PARTIAL_JSON'", *TABLES.split(";"))

    def run(self, *statements: str) -> None:
        self.connection.execute_many(statements).check()

    def begin(self) -> Path:
        """Begin a new log file; returns its path."""
        self.run("FLUSH BINARY LOGS")
        name = str(self.connection.execute("SHOW BINARY LOG STATUS").texts()[0][0])
        return Path(str(self.connection.variable("log_bin_basename"))).parent / name

    def position(self) -> str:
        """Where the next event of the log will be."""
        return str(self.connection.execute("SHOW BINARY LOG STATUS").texts()[0][1])

    def state(self) -> list[object]:
        return [
            sorted(map(repr, self.connection.execute(f"SELECT * FROM {table}").rows))
            for table in ("keyed", "bare", "parted")
        ]

    def undo(self, log: Path, *words: str) -> Ended:
        """Run the SQL of ``apply --undo`` through the client mysql."""
        done = lab("apply", log, "--undo", *words)
        if done.code == 0:
            fed = subprocess.run(
                self.server.client("mysql"), input=done.out, text=True, capture_output=True, check=False
            )
            assert fed.returncode == 0, fed.stderr
        return done


def test_all_transactions_are_taken_back_newest_first(server: ProcessServer) -> None:
    with server.connect() as connection, server.schema(connection) as schema:
        node = Node(server, connection, schema)
        before, log = node.state(), node.begin()
        node.run(*WORKLOAD)
        node.begin()
        assert node.state() != before
        done = node.undo(log)
        assert done.code == 0, done.text
        assert "6 transactions" in done.err
        assert node.state() == before


@pytest.mark.parametrize("compression", [0, 1])
def test_one_transaction_is_taken_back_while_later_ones_stay(server: ProcessServer, compression: int) -> None:
    with server.connect() as connection, server.schema(connection) as schema:
        node = Node(server, connection, schema)
        node.run(f"SET SESSION binlog_transaction_compression = {compression}")
        log = node.begin()
        node.run("UPDATE keyed SET j = JSON_SET(j, '$.a', 5) WHERE id = 1")
        node.run("UPDATE keyed SET j = JSON_SET(j, '$.a', 6) WHERE id = 2")
        node.begin()
        position = next(
            line.split()[2]
            for line in lab("explain", log).out.splitlines()
            if "GTID_LOG_EVENT" in line and line.startswith("event at")
        ).strip(":,")
        done = node.undo(log, "--transaction", position)
        assert done.code == 0, done.text
        rows = connection.execute("SELECT j->'$.a' FROM keyed WHERE id < 3 ORDER BY id").texts()
        assert [row[0] for row in rows] == ["1", "6"]


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["ALTER TABLE keyed ADD z INT"], "cannot be taken back: ALTER TABLE"),
        (["SET SESSION binlog_row_image = 'MINIMAL'", "UPDATE bare SET a = 2", "DELETE FROM keyed"], "lacks columns"),
        (["XA START 'a'", "DELETE FROM keyed", "XA END 'a'", "XA PREPARE 'a'", "XA COMMIT 'a'"], "an XA transaction"),
        (["SET SESSION binlog_format = 'STATEMENT'", "DELETE FROM keyed"], "cannot be taken back: DELETE"),
    ],
    ids=["ddl", "minimal", "xa", "statement"],
)
def test_what_cannot_be_taken_back_is_refused(server: ProcessServer, statements: list[str], words: str) -> None:
    with server.connect() as connection, server.schema(connection) as schema:
        node = Node(server, connection, schema)
        log = node.begin()
        node.run("UPDATE parted SET j = '[]'", *statements)
        node.begin()
        done = node.undo(log)
        assert (done.code, done.out) == (1, ""), done.text
        assert words in done.err


def test_the_rows_of_one_table_are_taken_back_past_ddl_of_others(server: ProcessServer) -> None:
    with server.connect() as connection, server.schema(connection) as schema:
        node = Node(server, connection, schema)
        (keyed, *_), log = node.state(), node.begin()
        node.run(
            *WORKLOAD[:3],
            "ALTER TABLE bare ADD z INT",
            *WORKLOAD[3:8],
            "DROP TABLE parted",
            "CREATE TABLE parted (a INT)",
        )
        node.run("ALTER TABLE keyed ADD INDEX (y), COMMENT = 'the same rows'")
        node.begin()
        changed = node.state()
        done = node.undo(log, "--table", "keyed")
        assert done.code == 0, done.text
        assert node.state() == [keyed, *changed[1:]]


def test_transactions_between_two_positions_are_taken_back(server: ProcessServer) -> None:
    with server.connect() as connection, server.schema(connection) as schema:
        node = Node(server, connection, schema)
        log = node.begin()
        states, ends = [], []
        for number in range(4):
            node.run(
                f"UPDATE keyed SET y = 1990 + {number} WHERE id = {number % 2 + 1}",
                f"INSERT INTO bare (a) VALUES ({number})",
            )
            states.append(node.state())
            ends.append(node.position())
        node.begin()
        refused = node.undo(log, "--start-position", ends[0], "--stop-position", ends[1])
        assert (refused.code, refused.out) == (1, ""), refused.text
        assert "a later transaction, which stays, changes the same row" in refused.err
        done = node.undo(log, "--start-position", ends[1])
        assert done.code == 0, done.text
        assert "4 transactions" in done.err
        assert node.state() == states[1]


def test_transactions_of_a_time_are_taken_back(server: ProcessServer) -> None:
    with server.connect() as connection, server.schema(connection) as schema:
        node = Node(server, connection, schema)
        log = node.begin()
        node.run("SET timestamp = UNIX_TIMESTAMP('2026-01-02 10:00:00')", "DELETE FROM bare")
        kept = node.state()
        node.run(
            "SET timestamp = UNIX_TIMESTAMP('2026-01-02 11:00:00')", "DELETE FROM parted", "SET timestamp = DEFAULT"
        )
        node.begin()
        done = node.undo(log, "--start-datetime", "2026-01-02 10:30:00", "--stop-datetime", "2026-01-02 11:30:00")
        assert done.code == 0, done.text
        assert "1 transaction," in done.err
        assert node.state() == kept


FAMILY = (
    "CREATE TABLE parent (id INT PRIMARY KEY)",
    "CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE)",
    "INSERT INTO parent VALUES (1), (2)",
    "INSERT INTO child VALUES (1, 1), (2, 2)",
)


@pytest.mark.parametrize(
    ("statements", "words", "reason"),
    [
        (["ALTER TABLE keyed MODIFY y INT"], ["--table", "keyed"], "the statement cannot be taken back"),
        (["RENAME TABLE keyed TO kept"], ["--transaction", "first"], "a statement behind the transaction changes"),
        (["DROP TABLE bare, keyed"], ["--transaction", "first"], "a statement behind the transaction changes"),
        (["TRUNCATE keyed"], ["--transaction", "first"], "a statement behind the transaction changes"),
        (["CREATE TABLE c (k INT, FOREIGN KEY (k) REFERENCES keyed (id) ON DELETE CASCADE)"],
         ["--transaction", "first"],
         "a statement behind the transaction changes"),
        ([*FAMILY, "DELETE FROM parent WHERE id = 1"], ["--table", "parent", "--start-position", "last"],
         "by a foreign key that cascades"),
    ],
    ids=["altered", "renamed", "dropped", "emptied", "new-child", "cascade"],
)  # fmt: skip
def test_an_undo_that_would_be_wrong_is_refused(
    server: ProcessServer, statements: list[str], words: list[str], reason: str
) -> None:
    with server.connect() as connection, server.schema(connection) as schema:
        node = Node(server, connection, schema)
        log = node.begin()
        places = {"first": node.position()}
        node.run("UPDATE keyed SET y = 2000 WHERE id = 1", *statements[:-1])
        places["last"] = node.position()
        node.run(statements[-1])
        node.begin()
        done = node.undo(log, *(places.get(word, word) for word in words))
        assert (done.code, done.out) == (1, ""), done.text
        assert reason in done.err


def test_rows_that_a_foreign_key_removed_come_back_with_their_parent(server: ProcessServer) -> None:
    with server.connect() as connection, server.schema(connection) as schema:
        node = Node(server, connection, schema)
        node.run(*FAMILY)
        log = node.begin()
        node.run("DELETE FROM parent WHERE id = 1")
        node.begin()
        done = node.undo(log)
        assert done.code == 0, done.text
        rows = connection.execute("SELECT parent.id, child.id FROM parent JOIN child ON p = parent.id").texts()
        assert sorted(rows) == [("1", "1"), ("2", "2")]


def test_generated_updates_are_taken_back(server: ProcessServer, tmp_path: Path) -> None:
    """The rows of a generated workload: after the undo, the table has the rows that its INSERT made: none."""
    with server.connect() as connection, server.schema(connection):
        number = 0
        taken = 0
        while taken < 2:
            twice = run_twice(server, connection, "undo", number, 60, tmp_path)
            number += 1
            if twice.case.session.row_image is not RowImage.FULL:
                continue
            done = lab("apply", twice.partial.log, "--undo")
            assert done.code == 0, done.text
            fed = subprocess.run(server.client("mysql"), input=done.out, text=True, capture_output=True, check=False)
            assert fed.returncode == 0, fed.stderr
            assert connection.execute(f"SELECT COUNT(*) FROM `{twice.case.table.name}`").texts()[0][0] == "0"
            taken += 1
