"""``check`` on a real workload: mysqlbinlog counts every fact again, and confirms what is said of itself."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.servers.errors import SqlError
from tests.checks.decoders.forecast.confirm import checked, facts, tools
from tests.checks.decoders.forecast.workload import case_of
from tests.in_process import lab_here

if TYPE_CHECKING:
    from conformance.servers.run.process import ProcessServer

pytestmark = pytest.mark.live

WORKLOAD = """
SET SESSION binlog_row_value_options = 'PARTIAL_JSON';
CREATE TABLE a (id INT PRIMARY KEY, j JSON, k JSON, n INT);
CREATE TABLE b (id INT PRIMARY KEY, v VECTOR(2), n INT);
INSERT INTO a SELECT n, JSON_OBJECT('a', n, 'p', REPEAT('p', 60)), '[1, 2]', n FROM
  (WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 150) SELECT n FROM s) AS t;
INSERT INTO b VALUES (1, TO_VECTOR('[1, 2]'), 1), (2, NULL, 2);
UPDATE a SET j = JSON_SET(j, '$.a', 0) WHERE id < 4;
UPDATE a SET j = JSON_SET(j, '$.a', 0, '$.b', 1) WHERE id = 4;
UPDATE a SET n = 7 WHERE id = 5;
UPDATE b SET n = 7 WHERE id = 1;
SET SESSION binlog_row_image = 'MINIMAL';
UPDATE a SET n = 8 WHERE id = 6;
DELETE FROM a WHERE id = 7;
SET SESSION binlog_transaction_compression = 1;
UPDATE a SET n = n + 1 WHERE id < 60;
SET SESSION gtid_next = 'AUTOMATIC:tag';
DELETE FROM b;
SET SESSION gtid_next = 'AUTOMATIC', SESSION binlog_transaction_compression = 0;
XA START 'x';
UPDATE a SET n = 1 WHERE id = 8;
XA END 'x';
XA PREPARE 'x';
XA COMMIT 'x';
SET SESSION binlog_format = 'STATEMENT';
UPDATE a SET n = 2 WHERE id = 9
"""


@pytest.mark.parametrize("metadata", ["FULL", "MINIMAL"])
def test_every_fact_is_confirmed_by_mysqlbinlog(server: ProcessServer, tmp_path: Path, metadata: str) -> None:
    log = tmp_path / "workload.binlog"
    with server.connect() as connection, server.schema(connection):
        connection.execute(f"SET GLOBAL binlog_row_metadata = {metadata}")
        connection.execute("FLUSH BINARY LOGS")
        name = str(connection.execute("SHOW BINARY LOG STATUS").texts()[0][0])
        connection.execute_many(WORKLOAD.strip().split(";")).check()
        connection.execute("FLUSH BINARY LOGS")
        connection.execute("SET GLOBAL binlog_row_metadata = DEFAULT")
        log.write_bytes((Path(str(connection.variable("log_bin_basename"))).parent / name).read_bytes())
    found = checked(log)
    expected = {"partial-diffs", "partial-several-diffs", "partial-unchanged", "partial-plain", "payload"}
    expected |= {"tagged-gtid", "xa", "json"}
    expected |= {"vector", "partial-image"} if metadata == "FULL" else {"no-names", "partial-image-unnamed"}
    assert {each["feature"] for each in found["features"]} >= expected
    confirmed, problems = facts(server.program("mysqlbinlog"), log, found)
    assert problems == []
    assert confirmed > 20
    assert tools(case_of(log), found, ["mysqlbinlog"], Counter()) == []


def test_a_wrong_count_is_not_confirmed(server: ProcessServer) -> None:
    log = Path("tests/data/binlogs/12-compressed-payload.binlog").absolute()
    for part, wrong in (
        ("features", {"events": 9}), ("tables", {"events": 1}), ("largest_transactions", {"size": 1}),
    ):  # fmt: skip
        found = checked(log)
        found[part][0].update(wrong)
        assert facts(server.program("mysqlbinlog"), log, found)[1]


def test_a_transaction_beyond_the_cache_is_one_that_the_server_refuses(server: ProcessServer, tmp_path: Path) -> None:
    """The size that ``check`` holds against max_binlog_cache_size is the one that the server does.

    The server counts what it has written to the file of the cache, so its last blocks are free.
    """
    rows = "INSERT INTO a SELECT n, REPEAT('x', 400) FROM (WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1"
    rows += " FROM s WHERE n < 1000) SELECT n FROM s) AS t"
    log = tmp_path / "large.binlog"
    outcomes = []
    with server.connect() as connection, server.schema(connection) as schema:
        connection.execute("CREATE TABLE a (id INT PRIMARY KEY, c VARCHAR(400))")
        connection.execute("FLUSH BINARY LOGS")
        name = str(connection.execute("SHOW BINARY LOG STATUS").texts()[0][0])
        connection.execute(rows)
        connection.execute("FLUSH BINARY LOGS")
        log.write_bytes((Path(str(connection.variable("log_bin_basename"))).parent / name).read_bytes())
        (largest,) = checked(log, top=1)["largest_transactions"]
        blocks = largest["plain"] // 4096  # the variable counts in blocks of this size
        assert blocks > 90
        for limit in (4096 * (blocks - 8), 4096 * (blocks + 1)):
            connection.execute(f"SET GLOBAL max_binlog_cache_size = {limit}")
            connection.execute("SET GLOBAL binlog_cache_size = 4096")
            with server.connect() as session:
                session.execute(f"USE {schema}")
                session.execute("TRUNCATE TABLE a")
                try:
                    session.execute(rows)
                    refused = 0
                except SqlError as error:
                    refused = error.number
            done = lab_here("check", log, "--limit", f"max_binlog_cache_size={limit}", "--format", "json")
            outcomes.append((refused, [each["beyond"] for each in json.loads(done.out)["near_limits"]], done.code))
        connection.execute("SET GLOBAL max_binlog_cache_size = DEFAULT")
        connection.execute("SET GLOBAL binlog_cache_size = DEFAULT")
    assert [outcome[:2] for outcome in outcomes] == [(1197, [True]), (0, [False])]
