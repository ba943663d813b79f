"""The replay of MariaDB's logs against the rows that SELECT showed, and what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.reference.binlog.files import decode_file
from conformance.reference.errors import ReplayError
from conformance.reference.replay import mariadb
from conformance.reference.replay.engine import Replay
from conformance.reference.replay.reversal import Reversal
from conformance.reference.replay.tables_text import table_rows
from conformance.reference.sql.statement_words import split_words
from tests.reference.mariadb.mariadb_logs import PLACE, log_of


def _replayed(name: str) -> Replay:
    replay = Replay()
    for event in decode_file(log_of(name)):
        replay.event(event)
    assert replay.finish() == (0, 0)
    return replay


@pytest.mark.parametrize("name", ["compressed", "gtids", "transactions", "types"])
def test_the_tables_are_those_of_select(name: str) -> None:
    wanted: dict[str, Any] = json.loads((PLACE / f"{name}.json").read_text("utf-8"))
    found = {
        ".".join(key): {"columns": state.column_names(), "rows": table_rows(state)}
        for key, state in _replayed(name).tables.items()
    }
    assert found == wanted
    assert sum(len(table["rows"]) for table in wanted.values()) > 1


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("history", "system-versioned"),
        ("sequence", "a sequence"),
        ("statements", "it changes rows"),
    ],
)
def test_what_the_replay_does_not_follow_is_refused_with_the_reason(name: str, why: str) -> None:
    with pytest.raises(ReplayError, match=why):
        _replayed(name)


def test_nothing_of_mariadb_is_taken_back() -> None:
    reversal = Reversal()
    with pytest.raises(ReplayError, match="MariaDB"):
        reversal.event(decode_file(log_of("types"))[0])


@pytest.mark.parametrize(
    ("text", "words", "replaces"),
    [
        ("CREATE OR REPLACE TABLE t (a INT)", "CREATE TABLE t ( a INT )", True),
        ("CREATE OR REPLACE VIEW v AS SELECT 1", "CREATE VIEW v AS SELECT 1", True),
        ("ALTER TABLE IF EXISTS t ADD a INT", "ALTER TABLE t ADD a INT", False),
        ("RENAME TABLE IF EXISTS a TO b", "RENAME TABLE a TO b", False),
        ("CREATE TABLE IF NOT EXISTS t (a INT)", "CREATE TABLE IF NOT EXISTS t ( a INT )", False),
        ("/*!40000 ALTER TABLE t DISABLE KEYS */", "ALTER TABLE t DISABLE KEYS * /", False),
        ("DROP SEQUENCE s", "DROP SEQUENCE s", False),
    ],
)
def test_words_of_statements(text: str, words: str, replaces: bool) -> None:
    found, drops = mariadb.followed(text.encode(), split_words(text))
    assert " ".join(word.text for word in found).replace(" * /", "") == words.replace(" * /", "")
    assert drops is replaces


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE t (a INT) WITH SYSTEM VERSIONING",
        "ALTER TABLE t ADD SYSTEM VERSIONING",
        "CREATE TABLE t (a DATE, b DATE, PERIOD FOR p (a, b))",
        "ALTER TABLE t ADD COLUMN IF NOT EXISTS a INT",
        "ALTER TABLE t DROP COLUMN IF EXISTS a",
        "CREATE OR REPLACE SEQUENCE s",
        "ALTER SEQUENCE s RESTART 5",
        "CREATE TABLE t (a INT) /*M!100300 WITH SYSTEM VERSIONING */",
        "CREATE TABLE t (a INT /*!80000 , b INT */)",
    ],
)
def test_statements_that_are_refused(text: str) -> None:
    with pytest.raises(ReplayError):
        mariadb.followed(text.encode(), split_words(text))


@pytest.mark.parametrize(
    ("kind", "stored", "shown"),
    [
        ("INET6", "00000000000000000000000000000000", "::"),
        ("INET6", "", "::"),
        ("INET6", "00000000000000000000000000000001", "::1"),
        ("INET6", "000000000000000000000000c0a80001", "::192.168.0.1"),
        ("INET6", "00000000000000000000ffffc0a80001", "::ffff:192.168.0.1"),
        ("INET6", "20010db8000000000001000000000001", "2001:db8::1:0:0:1"),
        ("INET6", "20010db8000100020003000400050006", "2001:db8:1:2:3:4:5:6"),
        ("INET6", "20010db8000100020003000400050000", "2001:db8:1:2:3:4:5::"),
        ("INET6", "00000000000000000000000000010001", "::0.1.0.1"),
        ("INET6", "0000000000000000ffff000000010001", "::ffff:0:1:1"),
        ("INET6", "20010000000000000000000000000000", "2001::"),
        ("inet4", "0a0000", "10.0.0.0"),
        ("UUID", "83ff67bbec0d11f1a07d02fc00000001", "83ff67bb-ec0d-11f1-a07d-02fc00000001"),
    ],
)
def test_values_that_only_the_definition_tells(kind: str, stored: str, shown: str) -> None:
    from conformance.reference.replay.statements import ColumnDefinition

    text = mariadb.value_text(ColumnDefinition("c", tuple(split_words(f"{kind} NOT NULL"))))
    assert text is not None
    assert text(bytes.fromhex(stored)) == shown
    assert mariadb.value_text(ColumnDefinition("c", tuple(split_words("BINARY(16)")))) is None
