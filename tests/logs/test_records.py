"""Row changes and final tables as records: CSV with a column for each column, and Parquet."""

from __future__ import annotations

import csv
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from conformance.extras import to_install
from conformance.logs.printing.record_printer import members
from conformance.logs.replaying.aligned import Alignment
from tests.in_process import lab_here
from tests.live import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pq = pytest.importorskip("pyarrow.parquet", reason="the extra parquet")

LOGS = ROOT / "tests" / "data" / "binlogs"
MANY_JSON = LOGS / "05-partial-multi-json-minimal.binlog"
ORDERS = ROOT / "docs" / "tutorials" / "orders.binlog"


def changes(*words: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lab_here("decode", "--format", "jsonl", *words).out.splitlines()]


def records(*words: str | Path) -> list[dict[str, str]]:
    end = lab_here("decode", "--format", "csv", "--columns", *words)
    assert end.code == 0, end.text
    return list(csv.DictReader(end.out.splitlines()))


@pytest.mark.parametrize("more", [(), ("--resolve",)])
def test_columns_are_those_of_the_json_lines(more: tuple[str, ...]) -> None:
    lines, rows = changes(ORDERS, *more), records(ORDERS, *more)
    assert len(rows) == len(lines) == 7
    for line, row in zip(lines, rows, strict=True):
        assert {name: row[name] for name in ("operation", "schema", "table", "event", "gtid")} == {
            name: line[name] for name in ("operation", "schema", "table", "event", "gtid")
        }
        for image in ("before", "after"):
            found = {name: row[f"{image}.{name}"] for name in ("id", "status", "details")}
            if line[image] is None:
                assert set(found.values()) == {""}
                continue
            document = json.loads(found.pop("details"))
            assert document == line[image]["details"].get("json", line[image]["details"])
            assert found == {"id": str(line[image]["id"]), "status": line[image]["status"]}


def test_null_an_empty_text_and_a_column_that_is_not_there_are_three_things() -> None:
    image = (
        '{"a": null, "b": "", "c": "x, \\"y\\"", "d": 1.50, "e": {"json": {"a": [1, {"b": "}"}]}}, "f": {"hex": "00"}}'
    )
    assert dict(members(image)) == {
        "a": None, "b": "", "c": 'x, "y"', "d": "1.50", "e": '{"a": [1, {"b": "}"}]}', "f": '{"hex": "00"}',
    }  # fmt: skip
    assert dict(members("{}")) == {}
    for line, row in zip(changes(MANY_JSON), records(MANY_JSON), strict=True):
        for image in ("before", "after"):
            given = {name for name in row if name.startswith(f"{image}.") and row[name] != ""}
            assert given == {f"{image}.{name}" for name in line[image] or ()}
            nulls = {name for name in given if row[name] == r"\N"}
            assert nulls == {f"{image}.{name}" for name, value in (line[image] or {}).items() if value is None}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--columns", LOGS / "09-table-metadata-edge-cases.binlog"), "--columns is for one table, got d."),
        (
            ("--columns", LOGS / "01-partial-minimal.binlog", MANY_JSON),
            "--columns: d.t gets other columns in the log: expected",
        ),
        (("--columns", "--outcome", ORDERS), "have no --events all, --outcome"),
    ],
)
def test_what_one_head_cannot_hold_is_refused(words: tuple[str | Path, ...], said: str) -> None:
    end = lab_here("decode", "--format", "csv", *words)
    assert (end.code, said in end.err) == (2, True), end.text


@pytest.mark.parametrize("columns", [(), ("--columns",)])
def test_parquet_has_every_row_change(columns: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "changes.parquet"
    end = lab_here("decode", "--format", "parquet", *columns, "-o", out, ORDERS)
    assert end.code == 0, end.text
    rows = pq.read_table(out).to_pylist()
    lines = changes(ORDERS)
    assert [row["position"] for row in rows] == [line["position"] for line in lines]
    if columns:
        assert [row["after.status"] for row in rows] == [line["after"]["status"] for line in lines]
        assert rows[0]["before.id"] is None
    else:
        assert [json.loads(row["after"]) for row in rows] == [line["after"] for line in lines]


def test_what_came_before_damage_is_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "cut").write_bytes(ORDERS.read_bytes()[:2000])
    end = lab_here("decode", "--format", "parquet", "-o", tmp_path / "out", tmp_path / "cut")
    assert end.code == 1
    assert pq.read_table(tmp_path / "out").num_rows == 3


def test_final_tables_as_csv_and_parquet(tmp_path: Path) -> None:
    (table,) = json.loads(lab_here("apply", "--format", "json", ORDERS).out).values()
    end = lab_here("apply", "--format", "csv", ORDERS)
    assert list(csv.reader(end.out.splitlines())) == [table["columns"], *table["rows"]]
    end = lab_here("apply", "--format", "parquet", "-o", tmp_path / "tables", ORDERS)
    assert end.out == f"{tmp_path / 'tables' / 'shop.orders.parquet'}\n", end.text
    found = pq.read_table(tmp_path / "tables" / "shop.orders.parquet")
    assert [str(each.type) for each in found.schema] == ["int64", "string", "string"]
    assert [[str(row["id"]), row["status"], row["details"]] for row in found.to_pylist()] == table["rows"]
    end = lab_here("apply", "--format", "parquet", "-o", tmp_path / "tables", ORDERS)
    assert (end.code, "is not empty" in end.err) == (2, True), end.text


@pytest.mark.parametrize(
    "words", [("decode", "--format", "parquet", "-o", "out"), ("apply", "--format", "parquet", "-o", "out")]
)
def test_without_pyarrow_the_extra_is_named(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    end = lab_here(*words, ORDERS)
    assert (end.code, to_install("parquet") in end.err) == (3, True), end.text
    assert not (tmp_path / "out").exists()


def test_columns_stand_below_each_other_and_nothing_is_cut() -> None:
    rows = [["1", "a", "x" * 50], ["200", "東京", "y"]]
    alignment = Alignment(["id", "name", "d"], [True, False, False])
    for row in rows:
        alignment.measure(row)
    assert [alignment.head(), *map(alignment.line, rows)] == [
        "   id  name  d",
        f"    1  a     {'x' * 50}",
        "  200  東京  y",
    ]
