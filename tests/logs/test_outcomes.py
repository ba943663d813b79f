"""The outcomes of row changes: committed, rolled back whole or to a savepoint, prepared, unfinished."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.logs import spools
from conformance.logs.printing.outcomes import RowOutcome, Transactions
from conformance.reference.binlog.control_events import XaPrepare, Xid
from conformance.reference.binlog.event import Event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import Header
from conformance.reference.binlog.query import Query
from tests.in_process import lab_here
from tests.live import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.reference.binlog.event import Body

ROLLED_BACK = ROOT / "tests" / "data" / "reports" / "kit-rows-rolled-back.binlog"
XA = ROOT / "tests" / "data" / "binlogs" / "17-xa-savepoint-rowsquery.binlog"
X, Y = "X'78',X'',1", "X'79',X'',1"


def sql(text: str) -> Query:
    return Query(text=text.encode(), schema=b"d")


def outcomes(*items: str | Body) -> list[tuple[str, str]]:
    """Each line, which is a text of one letter, with its outcome, in the order in which they come."""
    transactions = Transactions()
    found: list[tuple[str, RowOutcome]] = []
    for item in items:
        if isinstance(item, str):
            transactions.add(item)
        else:
            header = Header(timestamp=1, type=item.type, server_id=1, length=99, log_pos=99, flags=0)
            found += transactions.event(Event(header, item))
    return [(line, outcome.value) for line, outcome in (*found, *transactions.finish())]


def said(text: str) -> list[tuple[str, str]]:
    words = {
        "+": RowOutcome.COMMITTED,
        "-": RowOutcome.ROLLED_BACK,
        "p": RowOutcome.PREPARED,
        "?": RowOutcome.UNFINISHED,
    }
    return [(letter, words[sign].value) for letter, sign in zip(text[::2], text[1::2], strict=True)]


PREPARED = (sql(f"XA START {X}"), "a", sql(f"XA END {X}"), XaPrepare(gtrid=b"x"))


@pytest.mark.parametrize(
    ("items", "due"),
    [
        ((sql("BEGIN"), "a", Xid(), sql("BEGIN"), "b", sql("COMMIT")), "a+b+"),
        ((sql("BEGIN"), "a", sql("ROLLBACK"), sql("BEGIN"), "b", sql("rollback work")), "a-b-"),
        ((Gtid(gno=1), sql("BEGIN"), "a", sql("SAVEPOINT `s`"), "b", sql("ROLLBACK TO `S`"), "c", Xid()), "a+b-c+"),
        (
            ("a", sql("SAVEPOINT a"), "b", sql("SAVEPOINT b"), "c", sql("ROLLBACK TO SAVEPOINT a"), "d", Xid()),
            "a+b-c-d+",
        ),
        (("a", sql("SAVEPOINT a"), "b", sql("ROLLBACK TO a"), "c", sql("ROLLBACK TO a"), "d", Xid()), "a+b-c-d+"),
        (("a", sql("ROLLBACK TO earlier"), "b", Xid()), "a-b+"),
        (("a", sql("SAVEPOINT a"), "b", sql("ROLLBACK TO a"), sql("ROLLBACK")), "a-b-"),
        ((*PREPARED, Gtid(gno=2), sql("BEGIN"), "b", Xid(), sql(f"XA COMMIT {X}")), "b+a+"),
        ((*PREPARED, sql("BEGIN"), "b", sql(f"XA ROLLBACK {X}"), Xid()), "a-b+"),
        ((*PREPARED, sql(f"XA COMMIT {Y}"), sql("BEGIN"), "b"), "apb?"),
        ((*PREPARED, *PREPARED, sql(f"XA COMMIT {X}")), "apa+"),
        ((sql(f"XA START {X}"), "a", XaPrepare(gtrid=b"x", one_phase=1)), "a+"),
        (("a", Gtid(gno=1), "b", sql("BEGIN"), "c", sql(f"XA START {X}"), "d"), "a?b?c?d?"),
        (("a", FormatDescription(created=1), "b", FormatDescription(created=0), Xid()), "a?b+"),
        (("a", sql("CREATE TABLE t (i INT)"), sql("UPDATE t SET i = 1"), sql(""), Xid()), "a+"),
    ],
)
def test_outcomes(items: tuple[str | Body, ...], due: str) -> None:
    assert outcomes(*items) == said(due)


def test_a_large_transaction_waits_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spools, "_MANY", 1000)
    lines = [f"line {number}" for number in range(500)]
    assert outcomes(*lines, Xid()) == [(line, "committed") for line in lines]


def decoded(path: Path, *options: str) -> tuple[list[dict[str, object]], str]:
    ended = lab_here("decode", "--format", "jsonl", *options, path)
    assert ended.code == 0, ended.text
    return [json.loads(line) for line in ended.out.splitlines()], ended.err


def test_the_key_stands_last_and_the_rest_of_a_line_is_as_without_it() -> None:
    plain, _ = decoded(ROLLED_BACK)
    rows, _ = decoded(ROLLED_BACK, "--outcome")
    assert [row.pop("outcome") for row in rows] == ["committed", "rolled back", "rolled back", "committed"]
    assert rows == plain
    assert all("outcome" not in row for row in plain)


def test_only_what_is_committed() -> None:
    plain, _ = decoded(ROLLED_BACK)
    rows, told = decoded(ROLLED_BACK, "--committed")
    assert rows == [plain[0], plain[3]]
    assert "2 row changes; " in told
    assert "row changes not shown: 2 rolled back" in told


def test_the_committed_rows_give_the_tables_that_apply_gives() -> None:
    for path in (ROLLED_BACK, XA):
        tables: dict[str, int] = {}
        for row in decoded(path, "--committed")[0]:
            name = f"{row['schema']}.{row['table']}"
            tables[name] = tables.get(name, 0) + {"insert": 1, "delete": -1}.get(str(row["operation"]), 0)
        applied = json.loads(lab_here("apply", "--format", "json", path).out)
        assert {name: number for name, number in tables.items() if number} == {
            name: len(table["rows"]) for name, table in applied.items() if table["rows"]
        }


def test_filters_leave_rows_out_and_not_the_ends_of_their_transactions() -> None:
    rows, _ = decoded(ROLLED_BACK, "--outcome", "--table", "a", "--start-position", "821")
    assert [row["outcome"] for row in rows] == ["rolled back", "rolled back", "committed"]


def test_an_input_that_ends_inside_a_transaction(tmp_path: Path) -> None:
    rows, _ = decoded(ROLLED_BACK, "--outcome", "--stop-position", "1324")
    assert [row["outcome"] for row in rows] == ["committed", "rolled back", "rolled back", "unfinished"]
    cut = tmp_path / "cut"
    cut.write_bytes(ROLLED_BACK.read_bytes()[:1330])
    ended = lab_here("decode", "--format", "jsonl", "--outcome", cut)
    assert ended.code == 1
    assert [json.loads(line)["outcome"] for line in ended.out.splitlines()][-1] == "unfinished"


def test_records_have_the_outcome_as_their_last_field() -> None:
    lines = lab_here("decode", "--format", "csv", "--outcome", ROLLED_BACK).out.splitlines()
    assert lines[0].endswith(",inner,outcome")
    assert [line.rsplit(",", 1)[1] for line in lines[1:]] == [
        '"committed"',
        '"rolled back"',
        '"rolled back"',
        '"committed"',
    ]


@pytest.mark.parametrize(
    "words",
    [
        ["--committed"],
        ["--outcome"],
        ["--format", "jsonl", "--events", "all", "--committed"],
        ["--format", "jsonl", "--jobs", "2", "--outcome"],
    ],
)
def test_wrong_calls(words: list[str]) -> None:
    assert lab_here("decode", *words, ROLLED_BACK).code == 2
