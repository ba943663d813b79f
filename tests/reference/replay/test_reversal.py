"""Which transactions an undo takes, and what later changes forbid it: by names, places, times, tables, foreign keys."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.reference.binlog.control_events import XaPrepare, Xid
from conformance.reference.binlog.event import Event
from conformance.reference.binlog.header import Header
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import USE_SQL_FOREIGN_KEY, LazyRows, Row, rows_body
from conformance.reference.errors import ReplayError
from conformance.reference.event_types import EventType
from conformance.reference.replay.reversal import Reversal
from conformance.reference.text.event_filter import Selection
from tests.reference.replay.replay_log import INT
from tests.reference.text.made_logs import table_of


class Log:
    """Transactions at positions 100, 200, ..., each in a second of its own."""

    def __init__(self, **selection: Any) -> None:
        wanted = selection.pop("wanted", ())
        self.reversal = Reversal(wanted, Selection(**selection))
        self.position = 0

    def event(self, body: Any) -> None:
        header = Header(self.position // 100, body.type, 1, 0, self.position, 0)
        self.reversal.event(Event(header, body, position=self.position))

    def sql(self, text: str) -> Log:
        """A statement as a transaction of its own."""
        self.position += 100
        self.event(Query(text=text.encode(), schema=b"d"))
        return self

    def rows(self, table: str, before: Any, after: Any, *, flags: int = 0) -> Log:
        """A transaction with one row."""
        self.sql("BEGIN")
        self.row(table, before, after, flags)
        self.event(Xid(xid=1))
        return self

    def row(self, table: str, before: Any, after: Any, flags: int = 0) -> None:
        kind = EventType.UPDATE_ROWS if after is not None else EventType.DELETE_ROWS
        kind = EventType.WRITE_ROWS if before is None else kind
        body = rows_body(table_of(INT, INT, name=table), kind, [Row(before, after)], flags=1 | flags)
        lazy = LazyRows(body.type, 1, body.flags, (), 2, body.before_columns, body.after_columns, body.table,
                        b"".join(body.encoded_rows()), 0)  # fmt: skip
        self.event(lazy)

    def taken(self) -> list[int]:
        return [transaction.position for transaction in self.reversal.transactions()]


@pytest.mark.parametrize(
    ("selection", "taken"),
    [
        ({}, [300, 200, 100]),
        ({"start_position": 200}, [300, 200]),
        ({"start_position": 101, "stop_position": 300}, [200]),
        ({"stop_position": 200}, [100]),
        ({"start": 2}, [300, 200]),
        ({"start": 2, "stop": 3}, [200]),
        ({"table": "b"}, [200]),
        ({"database": "d", "table": "a"}, [300, 100]),
        ({"database": "e"}, []),
        ({"table": "a", "start": 2}, [300]),
        ({"wanted": ("100", "300"), "table": "a"}, [300, 100]),
        ({"wanted": ("100", "300"), "start_position": 200}, [300]),
    ],
)
def test_a_selection_takes_whole_transactions_or_rows_of_a_table(selection: dict[str, Any], taken: list[int]) -> None:
    log = Log(**selection).rows("a", None, (1, 1)).rows("b", None, (1, 1)).rows("a", None, (2, 2))
    assert log.taken() == taken


def test_positions_are_places_in_the_first_and_in_the_last_file() -> None:
    log = Log(start_position=200, stop_position=200)
    log.reversal.start_file("one", first=True, last=False)
    log.rows("a", None, (1, 1)).rows("a", None, (2, 2))
    log.reversal.start_file("two", first=False, last=False)
    log.position = 0
    log.rows("a", None, (3, 3)).rows("a", None, (4, 4))
    log.reversal.start_file("three", first=False, last=True)
    log.position = 0
    log.rows("a", None, (5, 5)).rows("a", None, (6, 6))
    found = [(each.file, each.position) for each in log.reversal.transactions()]
    assert found == [("three", 100), ("two", 200), ("two", 100), ("one", 200)]


@pytest.mark.parametrize(
    ("statement", "refused"),
    [
        ("alter table b add x int", False),
        (
            "alter table a add index (v), comment 'x', auto_increment 7, default charset utf8mb4, drop primary key",
            False,
        ),
        ("alter table a add x int", True),
        ("alter table a convert to character set utf8mb4", True),
        ("alter table a drop partition p", True),
        ("alter table a rename to c", True),
        ("alter table c rename to a", True),
        ("alter table b add foreign key (v) references a (id) on delete cascade", True),
        ("alter table b add foreign key (v) references a (id)", False),
        ("create table b (id int, foreign key (id) references a (id) on update set null)", True),
        ("create table b (id int)", False),
        ("create table a (id int)", True),
        ("create table if not exists a (id int)", False),
        ("create table a like b", True),
        ("create table if not exists a like b", False),
        ("drop table b", False),
        ("drop table b, a", True),
        ("drop table e.a", False),
        ("drop database d", True),
        ("drop database e", False),
        ("create database d", False),
        ("alter database d charset latin1", False),
        ("truncate b", False),
        ("truncate a", True),
        ("rename table b to c, a to b", True),
        ("rename table b to c", False),
        ("grant select on *.* to u", False),
        ("create trigger t before insert on a for each row set @x = 1", False),
        ("delete from b", True),  # a statement with rows may change any table, by a trigger for one
    ],
)
@pytest.mark.parametrize("selection", [{"wanted": ("100",)}, {"stop": 2}, {"stop_position": 150}])
def test_a_statement_behind_forbids_the_undo_if_it_changes_the_table(
    selection: dict[str, Any], statement: str, refused: bool
) -> None:
    log = Log(**selection).rows("a", (1, 1), (1, 2))
    if not refused:
        assert log.sql(statement).rows("b", None, (1, 1)).taken() == [100]
        return
    with pytest.raises(ReplayError) as caught:
        log.sql(statement)
    assert caught.value.code == "no-undo"
    assert "a statement behind the transaction changes" in caught.value.message


@pytest.mark.parametrize("statement", ["alter table a add x int", "delete from b", "drop table a"])
def test_a_statement_that_is_wanted_cannot_be_taken_back(statement: str) -> None:
    for selection in ({}, {"table": "a"}):
        with pytest.raises(ReplayError, match="the statement cannot be taken back"):
            Log(**selection).rows("a", None, (1, 1)).sql(statement)


def test_of_one_table_the_rest_stays() -> None:
    log = Log(table="a").rows("a", (1, 1), (1, 2)).sql("alter table b add x int").rows("b", (1, 1), None)
    log.rows("a", (1, 2), (1, 3))
    assert log.taken() == [400, 100]


def test_a_later_transaction_that_stays_may_not_change_the_row() -> None:
    log = Log(wanted=["100"]).rows("a", (1, 1), (1, 2)).rows("a", (2, 1), (2, 2))
    with pytest.raises(ReplayError, match="a later transaction, which stays, changes the same row"):
        log.rows("a", (1, 2), None)


CHILD = "create table b (id int, foreign key (id) references a (id) on delete cascade)"


def test_a_cascade_that_the_log_does_not_have_is_refused() -> None:
    with pytest.raises(ReplayError, match=r"rows of d\.b change with it, and the log does not say how"):
        Log(start=2).sql(CHILD).rows("a", (1, 1), None)
    assert Log(start=2).sql(CHILD).rows("a", None, (1, 1)).taken() == [200]
    assert Log(start=2).sql(CHILD).rows("a", (1, 1), None, flags=USE_SQL_FOREIGN_KEY).taken() == [200]
    for gone in ("drop table b", "drop database d"):
        assert Log(start=3).sql(CHILD).sql(gone).rows("a", (1, 1), None).taken() == [300]


@pytest.mark.parametrize(
    "renamed", ["", "rename table b to c", "alter table b rename c", "rename table a to z, z to a"]
)
def test_rows_that_stay_may_not_depend_on_the_parent(renamed: str) -> None:
    log = Log(start=3, stop=4).sql(CHILD).sql(renamed or "flush tables").rows("a", None, (1, 1))
    with pytest.raises(ReplayError, match=r"rows that stay depend on d\.a by a foreign key that cascades"):
        log.rows("c" if "c" in renamed else "b", None, (1, 1))


@pytest.mark.parametrize("child_first", [False, True])
def test_rows_of_a_child_beside_the_parents_stay_only_with_them(child_first: bool) -> None:
    log = Log(table="a", start=2).sql(CHILD).sql("BEGIN")
    tables = [("a", USE_SQL_FOREIGN_KEY), ("b", 0)][:: -1 if child_first else 1]
    with pytest.raises(ReplayError, match=r"d\.b: rows that stay depend on d\.a"):  # noqa: PT012 - whichever is second
        for table, flags in tables:
            log.row(table, (1, 1), None, flags)


def test_a_transaction_of_xa_stands_in_the_way_only_with_rows_of_the_table() -> None:
    log = Log(table="a").rows("a", None, (1, 1)).sql("XA START X'61',X'',1")
    log.row("b", None, (1, 1))
    log.event(XaPrepare(one_phase=False, format_id=1, gtrid=b"a", bqual=b""))
    assert log.taken() == [100]
    log = Log(table="a").sql("XA START X'61',X'',1")
    with pytest.raises(ReplayError, match="an XA transaction"):
        log.row("a", None, (1, 1))
