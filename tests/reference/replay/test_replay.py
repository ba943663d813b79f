"""Replaying logs: the tables of the corpus, and the rules for transactions, rows and columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.reference.binlog.control_events import Incident, XaPrepare, Xid
from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.rows import USE_SQL_FOREIGN_KEY, Row, rows_body
from conformance.reference.errors import CodecError, MysqlError, ReplayError
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.apply import apply_field
from conformance.reference.replay.engine import Replay
from conformance.reference.replay.tables_text import table_rows
from conformance.reference.tables import columns as column_types
from conformance.reference.tables.columns import ColumnType, PartialJson
from conformance.reference.tables.metadata import Bits, DefaultCharset, Numbers
from tests.reference.replay.replay_log import INT, JSON, Log
from tests.reference.text.made_logs import table_of

CORPUS = Path(__file__).parents[2] / "data" / "binlogs"
MANIFEST: list[dict[str, Any]] = json.loads((CORPUS / "manifest.json").read_text())["fixtures"]
FOLLOWED = [fixture for fixture in MANIFEST if fixture["file"][:2] not in ("13", "19")]


def replayed(*names: str) -> Replay:
    replay = Replay()
    for name in names:
        with (CORPUS / name).open("rb") as file:
            for event in read_events(file, expand=True):
                replay.event(event)
    replay.finish()
    return replay


@pytest.mark.parametrize("fixture", FOLLOWED, ids=lambda fixture: fixture["file"].removesuffix(".binlog"))
def test_a_replay_of_the_corpus_gives_the_servers_tables(fixture: dict[str, Any]) -> None:
    replay = replayed(*fixture.get("depends_on", []), fixture["file"])
    found = {
        ".".join(name): {"columns": state.column_names(), "rows": table_rows(state)}
        for name, state in replay.tables.items()
    }
    expected = {
        name: {"columns": [column[0] for column in table["columns"]], "rows": table["rows"]}
        for name, table in fixture["expected_tables"].items()
    }
    assert found == expected


@pytest.mark.parametrize("name", ["13-statement-format.binlog", "19-load-data-statement.binlog"])
def test_statements_that_change_rows_are_refused(name: str) -> None:
    with pytest.raises(ReplayError) as caught:
        replayed(name)
    assert caught.value.code == "statement"


def test_a_continuation_without_its_beginning_misses_its_rows() -> None:
    with pytest.raises(ReplayError) as caught:
        replayed("14-rotate-b.binlog")
    assert caught.value.code == "no-row"


# --- made by hand ----------------------------------------------------------------------------------------------------


def test_committed_changes_stay_and_an_open_transaction_goes() -> None:
    log = Log()
    log.sql("BEGIN")
    log.insert((1, 1))
    log.event(Xid())
    log.sql("BEGIN")
    log.insert((2, 2))
    log.update(1, 9)
    log.delete(1)
    assert log.replay.finish() == (3, 0)
    assert log.rows() == [[1, 1]]


def test_rollback_and_savepoints() -> None:
    log = Log()
    log.sql("BEGIN")
    log.insert((1, 1))
    log.sql("SAVEPOINT `s1`")
    log.insert((2, 2))
    log.sql("SAVEPOINT `s2`", "ROLLBACK TO `s1`")
    log.insert((3, 3))
    with pytest.raises(ReplayError):
        log.sql("ROLLBACK TO `s2`")
    log.sql("COMMIT", "BEGIN")
    log.delete(3)
    log.sql("ROLLBACK")
    assert log.rows() == [[1, 1], [3, 3]]


def test_tables_without_transactions_keep_what_is_rolled_back() -> None:
    log = Log(create="create table t(id int primary key, v int) engine=MyISAM")
    log.sql("BEGIN")
    log.insert((1, 1))
    log.sql("ROLLBACK")
    assert log.rows() == [[1, 1]]


@pytest.mark.parametrize(("end", "left"), [("COMMIT", [[1, 5], [2, 2]]), ("ROLLBACK", [[1, 1]]), (None, [[1, 1]])])
def test_prepared_xa_transactions_are_decided_later(end: str | None, left: list[list[int]]) -> None:
    log = Log()
    log.insert((1, 1))
    log.sql("COMMIT", "XA START X'78',X'',1")
    log.insert((2, 2))
    log.update(1, 5)
    log.sql("XA END X'78',X'',1")
    log.event(XaPrepare(gtrid=b"x"))
    log.sql("BEGIN")
    log.insert((3, 3))
    log.event(Xid())
    if end:
        log.sql(f"XA {end} X'78',X'',1")
    assert log.replay.finish() == (0, 0 if end else 1)
    assert log.rows() == [*left, [3, 3]]


def test_one_phase_commits_at_once() -> None:
    log = Log()
    log.sql("XA START X'78',X'',1")
    log.insert((1, 1))
    log.event(XaPrepare(gtrid=b"x", one_phase=1))
    assert log.replay.finish() == (0, 0)
    assert log.rows() == [[1, 1]]


def test_an_xa_transaction_prepared_before_the_input_is_an_error() -> None:
    with pytest.raises(ReplayError, match="prepared before"):
        Log().sql("XA COMMIT X'78',X'',1")


def test_a_server_that_starts_again_rolls_back_what_was_open() -> None:
    log = Log()
    log.sql("BEGIN")
    log.insert((1, 1))
    log.event(FormatDescription(created=0))
    assert log.rows() == [[1, 1]]
    log.event(FormatDescription(created=1700000000))
    assert log.rows() == []


def test_a_row_that_is_not_there_and_one_that_is_there_already() -> None:
    log = Log()
    log.insert((1, 1))
    with pytest.raises(ReplayError) as caught:
        log.update(2, 9)
    assert caught.value.code == "no-row"
    with pytest.raises(ReplayError) as caught:
        log.delete(2)
    assert caught.value.code == "no-row"
    with pytest.raises(ReplayError) as caught:
        log.insert((1, 2))
    assert caught.value.code == "duplicate"


def test_events_lost_by_the_source_are_an_error() -> None:
    with pytest.raises(ReplayError):
        Log().event(Incident(message=b"gone"))


def test_without_a_key_rows_are_found_by_value_one_of_several() -> None:
    log = Log(create="create table t(a int, b int)")
    log.insert((1, 1), (1, 1), (2, 2))
    log.event(rows_body(log.table, EventType.DELETE_ROWS, [Row((1, 1), None)]))
    assert log.rows() == [[1, 1], [2, 2]]


def test_documents_are_compared_by_value_where_no_key_is_known() -> None:
    log = Log(create="create table t(j json)")
    table = table_of(JSON)
    shorter = apply_field(encode(["abcdef"]), bytes.fromhex("0004245b305d030c0178"))
    assert shorter != encode(["x"])
    log.insert((shorter,), table=table)
    log.event(rows_body(table, EventType.DELETE_ROWS, [Row((encode(["x"]),), None)]))
    assert log.rows() == []


def test_diffs_change_the_stored_document() -> None:
    log = Log(create="create table t(id int primary key, j json)")
    table = table_of(INT, JSON)
    log.insert((1, encode({"a": 1})), table=table)
    diffs = PartialJson(bytes.fromhex("0003242e6103050700"))
    body = rows_body(table, EventType.PARTIAL_UPDATE_ROWS, [Row((1,), (diffs,))], before=[0], after=[1])
    log.event(body)
    assert log.rows() == [[1, encode({"a": 7})]]
    missing = PartialJson(bytes.fromhex("0003242e7a03050700"))
    with pytest.raises(MysqlError) as caught:
        log.event(rows_body(table, EventType.PARTIAL_UPDATE_ROWS, [Row((1,), (missing,))], before=[0], after=[1]))
    assert caught.value.number == 3648


# --- columns ---------------------------------------------------------------------------------------------------------


def test_added_columns_are_null_and_take_their_place() -> None:
    log = Log()
    log.insert((1, 1))
    log.sql("alter table t add x int after id, add y json first, drop v")
    state = log.replay.tables["d", "t"]
    assert state.column_names() == ["y", "id", "x"]
    assert log.rows() == [[None, 1, None]]
    assert table_rows(state) == [[None, "1", None]]


@pytest.mark.parametrize(
    "sql",
    [
        "alter table t add x point not null",
        "alter table t add x timestamp",
        "alter table t add x datetime default current_timestamp",
        "alter table t add x timestamp(3) default current_timestamp(3)",
        "alter table t add x int as (crc32(id))",
        "alter table t add x int default (unix_timestamp())",
        "alter table t add x float(7,3) default 1.5",
        "alter table t modify v tinyint unsigned",
        "alter table t modify v date",
        "alter table t modify v float(9,2)",
        "alter table t convert to character set default",
        "alter table t drop nothing",
        "alter table nothing add x int",
    ],
)
def test_alter_table_with_unknown_results_is_refused_where_rows_are(sql: str) -> None:
    log = Log()
    log.insert((1, -1))
    with pytest.raises(ReplayError):
        log.sql(sql)


def test_an_empty_table_can_be_altered_in_every_way() -> None:
    log = Log()
    log.insert((1, 1))
    log.sql("truncate t", "alter table t modify v varchar(9) not null, add x int not null default 5")
    assert log.replay.tables["d", "t"].column_names() == ["id", "v", "x"]


def test_renamed_and_dropped_tables() -> None:
    log = Log()
    log.insert((1, 1))
    log.sql(
        "rename table t to u", "create table t like u", "alter table u rename to w", "drop table if exists t, nothing"
    )
    assert list(log.replay.tables) == [("d", "w")]
    assert log.rows("w") == [[1, 1]]
    log.sql("drop database d")
    assert not log.replay.tables


def test_a_change_of_columns_that_was_not_seen_is_an_error() -> None:
    log = Log()
    log.insert((1, 1))
    with pytest.raises(ReplayError):
        log.insert((1, 1, 1), table=table_of(INT, INT, INT))
    with pytest.raises(ReplayError):
        log.insert((2, 2), table=table_of(INT, ColumnType(column_types.LONGLONG)))


def test_a_table_without_rows_and_without_definition_may_have_other_columns() -> None:
    log = Log(create="")
    log.insert((1, 1))
    log.event(rows_body(log.table, EventType.DELETE_ROWS, [Row((1, 1), None)]))  # found by an index of both columns
    log.insert((1,), table=table_of(INT))
    assert log.rows() == [[1]]


def test_columns_without_any_name_are_numbered() -> None:
    log = Log(create="")
    log.insert((1, 1))
    assert log.replay.tables["d", "t"].column_names() == ["@1", "@2"]


def test_an_insert_that_leaves_columns_out_gets_their_defaults_or_fails() -> None:
    log = Log(create="create table t(id int primary key, v int default 7, w varchar(9) default 'x', n int)")
    table = table_of(INT, INT, ColumnType(column_types.VARCHAR, 36), INT, metadata=[DefaultCharset(2, 255)])
    log.insert((1,), table=table, after=[0])
    assert log.rows() == [[1, 7, b"x", None]]
    for definition in ("v int default (uuid())", "v int auto_increment unique", "v int not null"):
        other = Log(create=f"create table t(id int primary key, {definition})")
        with pytest.raises(ReplayError) as caught:
            other.insert((1,), after=[0])
        assert caught.value.code == "default"


def test_cascades_that_the_log_does_not_have_are_refused() -> None:
    log = Log()
    log.sql("create table c(p int, foreign key (p) references t(id) on delete cascade)")
    log.insert((1, 1), (2, 2))
    log.delete(1, flags=USE_SQL_FOREIGN_KEY)
    with pytest.raises(ReplayError) as caught:
        log.delete(2, flags=0)
    assert caught.value.code == "cascade"


def test_keys_from_metadata_find_rows_too() -> None:
    log = Log(create="")
    log.table = table_of(INT, INT, metadata=[Numbers(8, (0,))])
    log.insert((1, 1))
    body = rows_body(log.table, EventType.UPDATE_ROWS, [Row((1, 99), (1, 2))])
    log.event(body)
    assert log.rows() == [[1, 2]]


def test_a_lenient_replay_forgets_what_it_does_not_know() -> None:
    log = Log(lenient=True)
    log.insert((1, 1))
    log.sql("insert into t values(2, 2)")
    assert not log.replay.tables
    log.update(1, 5)
    log.insert((1, 1))
    log.update(1, 5)
    assert log.rows() == [[1, 5]]


def test_a_lenient_replay_takes_a_new_row_for_the_one_that_had_its_key() -> None:
    log = Log(lenient=True)
    log.insert((1, 1), (2, 2))
    log.insert((1, 7))  # the DELETE is in no log: sql_log_bin was off
    assert log.rows() == [[1, 7], [2, 2]]
    log.event(rows_body(log.table, EventType.UPDATE_ROWS, [Row((1, 7), (2, 8))]))
    assert log.rows() == [[2, 8]]


def test_a_lenient_replay_takes_the_document_of_a_full_image() -> None:
    replay = Replay(lenient=True)
    table = table_of(INT, JSON)
    diffs = PartialJson(bytes.fromhex("0003242e6103050700"))
    row = Row((1, encode({"a": 1})), (1, diffs))
    body = rows_body(table, EventType.PARTIAL_UPDATE_ROWS, [row])
    assert replay.row(body, row) == {1: encode({"a": 7})}
    unknown = Row((1, encode({})), (1, diffs))
    assert replay.row(rows_body(table, EventType.PARTIAL_UPDATE_ROWS, [unknown]), unknown) == {}


def test_a_value_that_cannot_be_shown_names_its_place() -> None:
    log = Log(create="create table t(j json)")
    log.insert((b"\x0c\x09a",), table=table_of(JSON))
    with pytest.raises(CodecError) as caught:
        table_rows(log.replay.tables["d", "t"])
    assert caught.value.path[:2] == ("d.t", "j")


def test_unsigned_numbers_are_unsigned() -> None:
    log = Log(create="create table t(a int unsigned)")
    log.insert((4294967295,), table=table_of(INT, metadata=[Bits(1, (True,))]))
    assert table_rows(log.replay.tables["d", "t"]) == [["4294967295"]]
