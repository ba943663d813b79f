"""Logs from public reports, made anew: ``apply`` gives the rows that SELECT gave on the server that wrote them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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


def test_ddl_of_another_table_does_not_stand_in_the_way_of_an_undo() -> None:
    log = REPORTS / "undo-behind-ddl-of-another-table.binlog"
    for words in (["--transaction", "198"], ["--table", "a"], ["--stop-position", "488"]):
        done = lab("apply", log, "--undo", *words)
        assert done.code == 0, done.text
        assert "### UPDATE `t`.`a`\n### WHERE\n###   @1=1\n###   @2=0\n### SET\n###   @1=1\n###   @2=1\n" in done.out
    done = lab("apply", log, "--undo")
    assert (done.code, done.out) == (1, "")
    assert "the statement cannot be taken back: ALTER TABLE b" in done.err
