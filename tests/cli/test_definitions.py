"""``decode --definitions``: names of columns from beside a log that has none (a log of 9.7.4, MINIMAL metadata)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.in_process import lab_here as lab

if TYPE_CHECKING:
    from conformance.servers.run.process import ProcessServer
    from tests.live import Ended

LOG = Path(__file__).parents[1] / "data" / "definitions" / "binlog.000002"  # of shop.orders, shop.plain and shop.other
ORDERS = """\
CREATE TABLE orders (
  id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, state ENUM('new','paid','sent'),
  note VARCHAR(40) CHARACTER SET latin1, details JSON, total INT GENERATED ALWAYS AS (details->'$.n') STORED);
"""
PLAIN = "CREATE TABLE plain (a INT PRIMARY KEY, b SET('x','y'));\n"
OTHER = "CREATE TABLE other (a INT);\n"
FIRST = {"id": 1, "state": "paid", "note": "ä", "details": {"json": {"n": 1, "s": "a"}}, "total": 1}


def given(tmp_path: Path, text: str, *words: str) -> Ended:
    """Decode the log with these statements beside it."""
    (tmp_path / "tables.sql").write_text(text, "utf-8")
    return lab("decode", LOG, "--definitions", tmp_path / "tables.sql", *words)


def rows(done: Ended) -> list[dict[str, object]]:
    """The rows as they are after each change, or before their end."""
    assert done.code == 0, done.text
    lines = map(json.loads, done.out.splitlines())
    return [line["after"] if line["after"] is not None else line["before"] for line in lines]


@pytest.mark.parametrize("head", ["", "USE shop;\n", "CREATE DATABASE shop; USE `shop`;\n"])
def test_statements_name_columns_members_and_keys(tmp_path: Path, head: str) -> None:
    text = head.replace("; ", ";\n") + ORDERS + "INSERT INTO orders VALUES (no rows are read);\n" + PLAIN + OTHER
    found = rows(given(tmp_path, text, "--as", "jsonl"))
    assert found[0] == FIRST
    assert found[1:] == [
        {"a": 1, "b": "x,y"},
        {"a": 3},
        FIRST | {"details": {"diffs": [{"operation": "REPLACE", "path": "$.n", "value": 2}]}, "total": 2},
        {"a": 1, "b": "x,y"},
    ]


def test_several_processes_give_the_same(tmp_path: Path) -> None:
    one = given(tmp_path, ORDERS + PLAIN + OTHER, "--as", "csv")
    assert given(tmp_path, ORDERS + PLAIN + OTHER, "--as", "csv", "--jobs", "2").out == one.out
    assert '""state"": ""paid""' in one.out


def test_sql_has_the_statements_that_no_log_without_names_gives(tmp_path: Path) -> None:
    done = given(tmp_path, ORDERS + PLAIN + "CREATE TABLE other (a INT PRIMARY KEY);", "--as", "sql")
    assert done.code == 0, done.text
    for line in (
        "INSERT INTO `shop`.`orders` (`id`, `state`, `note`, `details`) VALUES",
        "UPDATE `shop`.`orders` SET `details` = JSON_REPLACE(`details`, '$.n', 2) WHERE `id` = 1;",
        "DELETE FROM `shop`.`plain` WHERE `a` = 1;",
    ):
        assert line in done.out


@pytest.mark.parametrize(
    ("orders", "reason"),
    [
        ("", "there is none of this table"),
        ("CREATE TABLE orders (id INT PRIMARY KEY);", "expected 1, got 5"),
        ("CREATE TABLE elsewhere.orders (a INT, b INT, c INT, d INT, e INT);", "there is none of this table"),
    ],
)
def test_a_table_without_a_fitting_definition_is_told_once(tmp_path: Path, orders: str, reason: str) -> None:
    done = given(tmp_path, orders + "\n" + PLAIN + OTHER, "--as", "jsonl")
    found = rows(done)
    assert list(found[0]) == ["@1", "@2", "@3", "@4", "@5"]
    assert found[1] == {"a": 1, "b": "x,y"}
    assert done.err.count("warning: --definitions: shop.orders has no names of columns") == 1
    assert reason in done.err


@pytest.mark.parametrize(
    ("text", "words", "code", "said"),
    [
        ("USE shop;", ["--as", "jsonl"], 2, "no table is defined there"),
        ("CREATE TABLE t (a INT", ["--as", "jsonl"], 1, "tables.sql: line 1"),
        (PLAIN, [], 2, "--definitions belongs to --format jsonl, csv, parquet and sql"),
        (PLAIN, ["--as", "jsonl", "--definitions", "/no/such/file"], 2, "/no/such/file: No such file or directory"),
        (PLAIN, ["--as", "jsonl", "--definitions", "mysql://nobody@127.0.0.1:1"], 3, "127.0.0.1:1"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, text: str, words: list[str], code: int, said: str) -> None:
    done = given(tmp_path, text, *words)
    assert (done.code, done.out) == (code, "")
    assert said in done.err


@pytest.mark.live
def test_a_server_and_its_data_files_name_columns(server: ProcessServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with server.connect() as connection, server.schema(connection) as schema:
        connection.execute_many([ORDERS.rstrip(";\n"), "FLUSH BINARY LOGS"]).check()
        log = Path(str(connection.variable("log_bin_basename"))).parent / str(
            connection.execute("SHOW BINARY LOG STATUS").texts()[0][0]
        )
        insert = """INSERT INTO orders VALUES (1, 'paid', 'ä', '{"n": 1, "s": "a"}', DEFAULT)"""
        connection.execute_many([insert, "FLUSH BINARY LOGS", "FLUSH TABLES orders FOR EXPORT"]).check()
        words = ("decode", log, "--as", "jsonl", "--definitions")
        login = server.tcp_address()
        monkeypatch.setenv("BINLOG_LAB_PASSWORD", login.password)
        address = f"mysql://{login.user}@127.0.0.1:{login.port}"
        file = server.data_directory / schema / "orders.ibd"
        found = [lab(*words, source) for source in (address, file)]
        connection.execute("UNLOCK TABLES")
        assert [rows(done) for done in found] == [[FIRST], [FIRST]]
