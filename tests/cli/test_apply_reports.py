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
