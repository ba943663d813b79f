"""Logs from public reports, made anew: ``apply`` gives the rows that SELECT gave on the server that wrote them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.logs.reading import read_events
from conformance.reference.binlog.query import Query
from tests.in_process import lab_here as lab

REPORTS = Path(__file__).parents[1] / "data" / "reports"


@pytest.mark.parametrize(
    ("name", "table", "rows"),
    [
        ("unsigned-of-5.6", "t.u", [["1", "18446744073709551615", "b", "two"]]),
        ("alter-add-not-null", "t.a", [["1", ""]]),
    ],
)
def test_the_rows_are_those_of_the_server(name: str, table: str, rows: list[list[str]]) -> None:
    done = lab("apply", REPORTS / f"{name}.binlog", "--format", "json")
    assert done.code == 0, done.text
    assert json.loads(done.out)[table]["rows"] == rows


OLD = Path(__file__).parents[1] / "data" / "binlogs-5.6.24"


def test_every_type_of_5_6_has_the_rows_of_select() -> None:
    """The log was written by 5.6.24 (tests/cli/test_live_types.py), and the rows are those of its SELECT."""
    done = lab("apply", OLD / "every-type.binlog", "--format", "json")
    assert done.code == 0, done.text
    assert json.loads(done.out) == json.loads((OLD / "every-type.json").read_text("utf-8"))


def test_without_the_statement_that_made_the_schema_only_ascii_is_text() -> None:
    """A table without a character set of its own has that of its schema, which may differ from the server's."""
    log = OLD / "every-type.binlog"
    events = read_events(log.read_bytes())
    create = next(event for event in events if isinstance(event.body, Query) and b"CREATE SCHEMA" in event.body.text)
    start = str(create.header.log_pos)
    tables = json.loads(lab("apply", log, "--start-position", start, "--format", "json").out)
    whole = json.loads((OLD / "every-type.json").read_text("utf-8"))
    rows = {name: table["rows"] for name, table in tables.items()}
    assert rows.keys() == whole.keys()
    differing = {
        (new[1], old[1])
        for name in rows
        for new, old in zip(rows[name], whole[name]["rows"], strict=True)
        if new != old
    }
    assert ("6772F6DF6572", "größer") in differing
    assert all(old.encode("cp1252").hex().upper() == new and not old.isascii() for new, old in differing)
    assert ["0", "plain"] in [row for table in rows.values() for row in table]


def test_ddl_of_another_table_does_not_stand_in_the_way_of_an_undo() -> None:
    log = REPORTS / "undo-behind-ddl-of-another-table.binlog"
    for words in (["--transaction", "198"], ["--table", "a"], ["--stop-position", "488"]):
        done = lab("apply", log, "--undo", *words)
        assert done.code == 0, done.text
        assert "### UPDATE `t`.`a`\n### WHERE\n###   @1=1\n###   @2=0\n### SET\n###   @1=1\n###   @2=1\n" in done.out
    done = lab("apply", log, "--undo")
    assert (done.code, done.out) == (1, "")
    assert "the statement cannot be taken back: ALTER TABLE b" in done.err
    assert "got a statement in " in done.err


def test_gtids_in_the_place_of_a_file_are_answered_with_their_option() -> None:
    done = lab("apply", "--undo", "3e11fa47-71ca-11e1-9e33-c80aa9429562:20-23")
    assert (done.code, done.out) == (2, "")
    assert "GTIDs are chosen with --include-gtids" in done.err
