"""``decode --as sql`` and ``apply --undo --as sql``: the statements, and what no statement says."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.paths import parse_path
from conformance.reference.text.sql.rows import diffs_expression
from tests.in_process import lab_here

DATA: Final = Path(__file__).parents[2] / "data" / "binlogs"
ORDERS: Final = Path(__file__).parents[3] / "docs" / "tutorials" / "orders.binlog"
SOURCE: Final = "021a7213-e70a-11f1-aed7-02fc00000001"


def test_rows_are_statements_by_primary_key_and_diffs_are_their_functions() -> None:
    done = lab_here("decode", "--as", "sql", ORDERS)
    assert done.code == 0
    lines = done.out.splitlines()
    assert (
        "UPDATE `shop`.`orders` SET `details` = JSON_REPLACE(`details`, '$.items[0].count', 3) WHERE `id` = 1;" in lines
    )
    assert (
        "UPDATE `shop`.`orders` SET `status` = 'paid', `details` = JSON_INSERT(`details`, '$.paid', DATE'2026-11-20')"
        " WHERE `id` = 2;"
    ) in lines
    assert f"SET @@SESSION.GTID_NEXT = '{SOURCE}:7';" in lines
    assert lines.count("COMMIT;") == 5
    assert "GTID_NEXT" not in lab_here("decode", "--as", "sql", "--skip-gtids", ORDERS).out


def test_a_filter_leaves_no_transaction_without_changes() -> None:
    done = lab_here("decode", "--as", "sql", "--include-gtids", f"{SOURCE}:4", ORDERS)
    assert done.out.count("BEGIN;") == done.out.count("UPDATE ") == done.out.count("COMMIT;") == 1
    assert "CREATE" not in done.out
    other = lab_here("decode", "--as", "sql", "--table", "shop.nothing", ORDERS)
    assert (other.code, other.out.count("BEGIN;")) == (2, 0)


def test_a_log_that_ends_inside_a_transaction_is_rolled_back() -> None:
    done = lab_here("decode", "--as", "sql", "--stop-position", "1224", ORDERS)
    assert "INSERT INTO" in done.out
    assert done.out.splitlines()[-2] == "ROLLBACK; -- the input ends inside the transaction"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("14-rotate-b", "d.t: the logs have no names of its columns"),
        ("13-statement-format", "INTVAR_EVENT: a statement with values of its own"),
        ("17-xa-savepoint-rowsquery", "only BINLOG may follow"),
    ],
)
def test_what_no_statement_says_ends_with_1_and_its_place(name: str, said: str) -> None:
    done = lab_here("decode", "--as", "sql", DATA / f"{name}.binlog")
    assert done.code == 1
    assert said in done.err
    assert "event@" in done.err


def test_names_and_signs_come_from_create_table_where_the_log_has_none() -> None:
    out = lab_here("decode", "--as", "sql", DATA / "08-all-types-metadata-minimal.binlog").out
    named = lab_here("decode", "--as", "sql", DATA / "07-all-types-metadata-full.binlog").out
    assert "INSERT INTO" in out
    assert [line for line in out.splitlines() if "(" in line and "CREATE" not in line and "--" not in line] == [
        line for line in named.splitlines() if "(" in line and "CREATE" not in line and "--" not in line
    ]


def test_undo_takes_a_set_of_gtids_back_as_sql() -> None:
    words = ("apply", ORDERS, "--undo", "--as", "sql")
    done = lab_here(*words, "--include-gtids", f"{SOURCE}:5-7")
    assert done.code == 0
    assert [line for line in done.out.splitlines() if line.startswith("-- takes back")] == [
        f"-- takes back {SOURCE}:{number}" for number in (7, 6, 5)
    ]
    stands = lab_here(*words, "--include-gtids", f"{SOURCE}:4-6")
    assert (stands.code, stands.out) == (1, "")
    assert "a later transaction, which stays, changes the same row" in stands.err
    assert lab_here("apply", ORDERS, "--as", "sql").code == 2


def test_each_kind_of_diff_has_its_function() -> None:
    diffs = [
        Diff(Operation.REPLACE, parse_path("$.a"), 1),
        Diff(Operation.REPLACE, parse_path("$.b"), "it's"),
        Diff(Operation.INSERT, parse_path("$.c"), True),
        Diff(Operation.INSERT, parse_path("$.d[2]"), [1]),
        Diff(Operation.REMOVE, parse_path("$.e")),
    ]
    assert diffs_expression(encode_diffs(diffs), "j") == (
        "JSON_REMOVE(JSON_ARRAY_INSERT(JSON_INSERT(JSON_REPLACE(`j`, '$.a', 1, '$.b', 'it''s'), '$.c', TRUE),"
        " '$.d[2]', CAST('[1]' AS JSON)), '$.e')"
    )
