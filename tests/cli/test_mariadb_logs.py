"""MariaDB's logs through the commands: parts, filters, both servers' logs together, check and expand."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.logs.parts import starts_of
from conformance.reference.binlog.files import decode_file
from conformance.reference.binlog.rows import COMPRESSED_TYPES
from conformance.reference.event_types import MariadbEventType
from tests.in_process import lab_here as lab

DATA = Path(__file__).parents[1] / "data"
TRANSACTIONS = DATA / "mariadb/transactions.binlog"
COMPRESSED = DATA / "mariadb/compressed.binlog"
OF_MYSQL = DATA / "binlogs/01-partial-minimal.binlog"


def test_the_log_is_one_part_and_gives_the_same_with_several_processes() -> None:
    assert list(starts_of(str(TRANSACTIONS))) == []
    assert len(list(starts_of(str(OF_MYSQL)))) > 1
    for words in (("-vv",), ("--format", "jsonl")):
        one, several = (lab("decode", *words, *jobs, TRANSACTIONS) for jobs in ((), ("--jobs", "2")))
        assert (one.code, one.out) == (several.code, several.out)


def test_lines_have_the_gtid_with_its_server() -> None:
    ended = lab("decode", "--format", "jsonl", TRANSACTIONS)
    changes = [json.loads(line) for line in ended.out.splitlines()]
    assert {change["gtid"] for change in changes} >= {"3-95-1", "0-95-6", "0-95-20"}
    assert all(change["server_id"] == 95 for change in changes)


def test_a_set_of_gtids_of_mysql_has_none_of_mariadb() -> None:
    gtids = "11111111-1111-1111-1111-111111111111:1-9"
    assert lab("decode", "--format", "jsonl", "--include-gtids", gtids, TRANSACTIONS).out == ""
    every = lab("decode", "--format", "jsonl", TRANSACTIONS).out
    assert lab("decode", "--format", "jsonl", "--exclude-gtids", gtids, TRANSACTIONS).out == every


def test_one_text_has_the_logs_of_one_server() -> None:
    ended = lab("decode", OF_MYSQL, TRANSACTIONS)
    assert ended.code == 2
    assert "logs of MySQL and of MariaDB" in ended.err
    both = lab("decode", "--format", "jsonl", OF_MYSQL, TRANSACTIONS)
    assert both.code == 0


def test_check_speaks_of_mariadb() -> None:
    ended = lab("check", COMPRESSED)
    assert ended.code == 0, ended.text
    assert "MySQL 10.11" not in ended.out
    assert "a changed document as a whole" in ended.out
    assert "compressed one by one: 7 events" in ended.out
    assert "row events of version 1" not in ended.out
    found = json.loads(lab("check", "--format", "json", COMPRESSED).out)
    assert len(found["mariadb"]) == 3
    assert found["transactions"] == 7
    assert json.loads(lab("check", "--format", "json", OF_MYSQL).out)["mariadb"] == []


def test_expand_makes_compressed_events_plain(tmp_path: Path) -> None:
    out = tmp_path / "plain"
    ended = lab("expand", COMPRESSED, "-o", out)
    assert ended.code == 0, ended.text
    assert "7 compressed events of MariaDB" in ended.err
    kinds = {event.header.type for event in decode_file(out.read_bytes())}
    assert not kinds & {MariadbEventType.QUERY_COMPRESSED, *COMPRESSED_TYPES}
    rows = [
        [json.loads(line)["after"] for line in lab("decode", "--format", "jsonl", log).out.splitlines()]
        for log in (COMPRESSED, out)
    ]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 31


def test_an_encrypted_log_is_refused_by_explain_before_its_ciphertext() -> None:
    ended = lab("explain", DATA / "mariadb/encrypted.binlog")
    assert ended.code == 1
    assert "encrypted from here on" in ended.err
    assert "START_ENCRYPTION_EVENT" in ended.out
    assert "UNKNOWN_EVENT" not in ended.out
