"""ALTER TABLE with several parts: what becomes of columns, key and values (each observed on 9.7.4)."""

from __future__ import annotations

import pytest

from conformance.reference.errors import ReplayError
from conformance.reference.replay.ddl import parse_statement
from conformance.reference.replay.statements import AlterTable, CreateTable
from conformance.reference.replay.table_state import TableState
from conformance.reference.replay.tables_text import table_rows
from conformance.reference.sql.statement_words import split_words
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.metadata import Numbers
from tests.reference.refusals import refused
from tests.reference.replay.replay_log import INT, Log
from tests.reference.text.made_logs import table_of


def table(definition: str, *rows: list[int | None]) -> TableState:
    statement = parse_statement(split_words(f"CREATE TABLE t ({definition})"), "s")
    assert isinstance(statement, CreateTable)
    state = TableState(statement.table)
    state.columns, state.key = list(statement.columns), statement.primary_key
    for row in rows:
        state.rows.add(row)
    return state


def alter(state: TableState, parts: str) -> tuple[list[str], tuple[str, ...], list[list[int | None]]]:
    statement = parse_statement(split_words(f"ALTER TABLE t {parts}"), "s")
    assert isinstance(statement, AlterTable)
    state.alter_columns(statement.actions)
    return state.column_names(), state.key, list(map(list, state.rows.values()))


@pytest.mark.parametrize(
    ("parts", "columns", "key", "row"),
    [
        ("DROP COLUMN a", "b c", "b", [2, 3]),
        ("DROP a, DROP b", "c", "", [3]),
        ("RENAME COLUMN a TO b, RENAME COLUMN b TO a", "b a c", "b a", [1, 2, 3]),
        ("CHANGE c b INT, CHANGE b c INT", "a c b", "a c", [1, 2, 3]),
        ("RENAME COLUMN a TO d, ADD a INT", "d b c a", "d b", [1, 2, 3, None]),
        ("RENAME COLUMN a TO d, ADD a INT FIRST", "a d b c", "a b", [None, 1, 2, 3]),
        ("ADD a INT FIRST, RENAME COLUMN A TO d", "a d b c", "a b", [None, 1, 2, 3]),
        ("ADD a INT AFTER b, CHANGE A d INT", "d b a c", "d b", [1, 2, None, 3]),
        ("CHANGE a d INT AFTER c, ADD a INT FIRST", "a b c d", "a b", [None, 2, 3, 1]),
        ("ADD b INT, DROP b", "a c b", "a b", [1, 3, None]),
        ("ADD d INT FIRST, CHANGE c e INT AFTER d, RENAME COLUMN b TO c", "d e a c", "a c", [None, 3, 1, 2]),
        ("ADD d INT AFTER e, CHANGE b e INT", "a e d c", "a e", [1, 2, None, 3]),
        ("MODIFY c INT FIRST, MODIFY a INT AFTER b", "c b a", "a b", [3, 2, 1]),
        ("ADD PRIMARY KEY (c), DROP PRIMARY KEY", "a b c", "c", [1, 2, 3]),
        ("DROP PRIMARY KEY, MODIFY c INT PRIMARY KEY FIRST", "c a b", "c", [3, 1, 2]),
        ("MODIFY c INT KEY FIRST, ADD d TEXT, DROP PRIMARY KEY", "c a b d", "c", [3, 1, 2, None]),
        ("DROP PRIMARY KEY", "a b c", "", [1, 2, 3]),
    ],
)
def test_the_order_of_the_parts_is_the_servers(parts: str, columns: str, key: str, row: list[int | None]) -> None:
    state = table("a INT, b INT, c INT, PRIMARY KEY (a, b)", [1, 2, 3])
    if "KEY FIRST" in parts:  # a column with another attribute would be one that changes
        state.rows.clear()
        row = []
    assert alter(state, parts) == (columns.split(), tuple(key.split()), [row] if row else [])


def test_a_table_without_definition_is_not_altered() -> None:
    state = TableState(("s", "t"))
    with pytest.raises(ReplayError, match="no CREATE TABLE was seen"):
        alter(state, "ADD a INT")
    assert alter(state, "DROP PRIMARY KEY")[1] == ()


def test_the_only_column_can_give_way_to_another() -> None:
    state = table("a INT", [1])
    assert alter(state, "ADD b INT, DROP a") == (["b"], (), [[None]])
    assert len(state.infos()) == 1


def test_a_new_column_with_a_constant_has_it_in_every_row() -> None:
    log = Log()
    log.insert((1, 2), (3, 4))
    log.sql("alter table t add column w int not null default 7 first")
    assert log.rows() == [[7, 1, 2], [7, 3, 4]]
    log.insert((8, 5, 6), table=table_of(INT, INT, INT))
    assert log.rows() == [[7, 1, 2], [7, 3, 4], [8, 5, 6]]
    assert len(log.replay.tables["d", "t"].infos()) == 3


def test_a_type_that_alter_table_did_not_give_is_an_error() -> None:
    log = Log()
    log.insert((1, 2))
    log.sql("alter table t modify v bigint")
    assert refused(log.insert, (3, 4)).code == "columns"
    log.insert((3, 4), table=table_of(INT, ColumnType(types.LONGLONG)))
    assert log.rows() == [[1, 2], [3, 4]]


def test_a_generated_column_stands_only_in_the_way_of_what_it_reads() -> None:
    log = Log(create="create table t(id int, v int, w int as (crc32(v)))")
    log.insert((1, 2, 3), table=table_of(INT, INT, INT))
    log.sql("alter table t modify id bigint, add x int as (id + v)")
    assert log.rows() == [[1, 2, 3, 3]]
    assert refused(log.sql, "alter table t modify v bigint").code == "alter"


def test_a_refused_alter_leaves_the_table_as_it_was() -> None:
    log = Log()
    log.insert((1, 2), (2, 300))
    state = log.replay.tables["d", "t"]
    before = (state.column_names(), state.key, log.rows(), [info.type for info in state.infos()])
    for parts in ("add x int not null first, modify v tinyint", "drop primary key, drop id, add y int as (crc32(v))"):
        assert refused(log.sql, f"alter table t {parts}").code == "alter"
        assert (state.column_names(), state.key, log.rows(), [info.type for info in state.infos()]) == before
    log.update(1, 7)
    assert log.rows() == [[1, 7], [2, 300]]


def test_a_refused_conversion_of_text_leaves_the_definitions_as_they_were() -> None:
    log = Log(create="create table t(a varchar(9) character set latin1, b varchar(9) character set utf8mb4)")
    varchar = ColumnType(types.VARCHAR, 36)
    log.insert((b"\xe9", "\u0416".encode()), table=table_of(varchar, varchar, metadata=[Numbers(3, (8, 255))]))
    state = log.replay.tables["d", "t"]
    before = state.columns
    assert refused(log.sql, "alter table t convert to character set cp1252").code == "alter"
    assert refused(log.sql, "alter table t convert to character set cp1250").code == "alter"
    assert state.columns == before
    assert table_rows(state) == [["\u00e9", "\u0416"]]
