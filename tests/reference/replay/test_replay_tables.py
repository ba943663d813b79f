"""Tables as a replay knows them: how rows are found, what DDL does, where the replay stops, and what it says then."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import Row, rows_body
from conformance.reference.dialect import MYSQL, flipped
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.replay.engine import Replay
from conformance.reference.replay.tables_text import table_rows
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType, PartialJson
from conformance.reference.tables.metadata import DefaultCharset, Numbers, PrefixKey
from conformance.reference.tables.table_map import GENERATED_INVISIBLE_PK
from conformance.reference.tables.temporal import Date
from tests.reference.refusals import refused
from tests.reference.replay.replay_log import INT, JSON, Log
from tests.reference.text.made_logs import table_of

VARCHAR = ColumnType(types.VARCHAR, 36)
UTF8MB4 = 255


def change(log: Log, before: tuple[Any, ...], after: tuple[Any, ...], table: Any = None) -> None:
    log.event(rows_body(table or log.table, EventType.UPDATE_ROWS, [Row(before, after)]))


def remove(log: Log, *rows: tuple[Any, ...], table: Any = None, before: list[int] | None = None) -> None:
    log.event(rows_body(table or log.table, EventType.DELETE_ROWS, [Row(row, None) for row in rows], before=before))


# --- which row is meant ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("create", "table"),
    [
        ("create table t(id int primary key, v int)", table_of(INT, INT)),
        ("", table_of(INT, INT, metadata=[Numbers(8, (0,))])),
        ("", table_of(INT, INT, metadata=[PrefixKey(((0, 9),))])),
        ("", table_of(INT, INT, flags=1 | GENERATED_INVISIBLE_PK)),
        ("create table t(id int, v int)", table_of(INT, INT, metadata=[Numbers(8, (0,))])),
    ],
    ids=["DDL", "metadata", "prefix", "generated", "DDL-without-a-key"],
)  # fmt: skip
def test_a_row_is_found_by_its_key_alone(create: str, table: Any) -> None:
    log = Log(create=create)
    log.insert((1, 10), (2, 20), table=table)
    change(log, (2, 99), (3, 30), table)
    assert log.rows() == [[1, 10], [3, 30]]
    assert refused(log.insert, (3, 0), table=table).code == "duplicate"
    assert refused(change, log, (2, 20), (4, 0), table).code == "no-row"


def test_a_row_without_a_key_is_found_by_all_values_of_its_image() -> None:
    log = Log(create="create table t(a int, b int)")
    log.insert((1, 1), (2, 1), (2, 2), (2, 2), (2, 2), (2, 2))
    change(log, (2, 2), (3, 3))
    remove(log, (2, 1), (2, 2))
    change(log, (2, 2), (4, 4))
    remove(log, (2, 2))
    assert log.rows() == [[1, 1], [3, 3], [4, 4]]
    error = refused(remove, log, (2, 2))
    assert (error.code, error.got, error.path) == ("no-row", "{'a': 2, 'b': 2}", ("d.t",))


def test_an_image_without_the_key_is_compared_with_what_it_has() -> None:
    log = Log()
    log.insert((1, 10), (2, 20))
    remove(log, (20,), before=[1])
    assert log.rows() == [[1, 10]]


def test_the_error_shows_three_columns_of_the_row_that_is_not_there() -> None:
    log = Log(create="")
    log.table = table_of(INT, INT, INT, INT)
    assert refused(remove, log, (1, 2, 3, 4)).got == "{'@1': 1, '@2': 2, '@3': 3}"


def test_documents_count_only_where_no_key_is_known() -> None:
    one, two = encode({"a": 1}), encode({"a": 2})
    keyed = Log(create="create table t(id int primary key, j json)")
    keyed.table = table_of(INT, JSON)
    keyed.insert((1, one))
    remove(keyed, (1, two))
    assert keyed.rows() == []
    bare = Log(create="create table t(id int, j json)")
    bare.table = table_of(INT, JSON)
    bare.insert((1, None), (1, one), (1, b"\x0c\x09a"))
    for wanted in (two, encode(None), b"\x0c\x08a"):
        assert refused(remove, bare, (1, wanted)).code == "no-row"
    remove(bare, (1, one), (1, None), (1, b"\x0c\x09a"))
    assert bare.rows() == []
    assert refused(remove, bare, (1, None)).code == "no-row"


def test_an_image_can_have_no_column_at_all() -> None:
    log = Log(create="create table t(id int default 3, v int default 4)")
    log.insert((), after=[])
    assert log.rows() == [[3, 4]]
    log.event(rows_body(log.table, EventType.UPDATE_ROWS, [Row((), ())], before=[], after=[]))
    assert log.rows() == [[3, 4]]
    lenient = Replay(lenient=True)
    body = rows_body(log.table, EventType.UPDATE_ROWS, [Row((7, 7), ())], after=[])
    assert lenient.row(body, body.rows[0]) == {}


def test_diffs_are_applied_as_the_dialect_says() -> None:
    """A REPLACE with the value that is there is refused by MySQL, and not by the worklog."""
    table = table_of(INT, JSON)
    same = PartialJson(bytes.fromhex("0003242e6103050100"))
    row = Row((1,), (same,))
    for dialect, number in ((MYSQL, 3648), (flipped(MYSQL, "refuse_unchanging_replace"), None)):
        log = Log(create="create table t(id int primary key, j json)", dialect=dialect)
        log.insert((1, encode({"a": 1})), table=table)
        body = rows_body(table, EventType.PARTIAL_UPDATE_ROWS, [row], before=[0], after=[1])
        if number is None:
            log.event(body)
        else:
            error = refused(log.event, body)
            assert (getattr(error, "number", None), error.path[:2]) == (number, ("d.t", "@2"))


# --- whole tables ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("create", "left"),
    [
        ("", []),  # of a table whose definition was not seen the engine is taken for one with transactions
        ("create table t(id int primary key, v int)", []),
        ("create table t(id int primary key, v int) engine = memory", [[1, 1]]),
        ("create table o(id int primary key, v int) engine = memory; create table t like o", [[1, 1]]),
        ("create table o(id int primary key, v int); create table t like o", []),
        ("create table t(id int primary key, v int); alter table t engine = csv", [[1, 1]]),
        ("create table t(id int primary key, v int) engine = csv; alter table t engine = innodb", []),
    ],
)
def test_only_an_engine_with_transactions_rolls_back(create: str, left: list[list[int]]) -> None:
    log = Log(create="")
    log.sql(*create.split(";"), "BEGIN")
    log.insert((1, 1))
    log.sql("ROLLBACK")
    assert log.rows() == left


def test_a_table_like_another_has_its_columns_and_key_and_no_rows() -> None:
    log = Log()
    log.insert((1, 1))
    log.sql("create table c like t", "alter table c add x int", "create table if not exists c like t")
    state = log.replay.tables["d", "c"]
    assert (state.name, state.column_names(), state.key, len(state.rows)) == (("d", "c"), ["id", "v", "x"], ("id",), 0)
    assert log.replay.tables["d", "t"].column_names() == ["id", "v"]
    log.sql("create table if not exists e like t")
    assert log.replay.tables["d", "e"].column_names() == ["id", "v"]
    unseen = Log(create="")
    unseen.insert((1, 1))
    unseen.sql("create table c like t")
    assert unseen.replay.tables["d", "c"].columns is None


def test_a_table_that_is_there_already_is_not_made_again_if_the_statement_says_so() -> None:
    log = Log()
    log.insert((1, 1))
    log.sql("create table if not exists t(a int)", "create table if not exists u(a int)")
    assert log.rows() == [[1, 1]]
    assert log.replay.tables["d", "u"].column_names() == ["a"]
    log.sql("create table t(a int)")
    assert log.rows() == []


def test_a_schema_whose_name_is_no_text_is_a_schema() -> None:
    log = Log(create="")
    log.event(Query(text=b"create table t(a int)", schema=b"\xff"))
    assert list(log.replay.tables) == [("\udcff", "t")]


CASCADE = "create table c(p int, foreign key (p) references t(id) on delete cascade)"


@pytest.mark.parametrize(
    ("statements", "refuses"),
    [
        (["create table c(p int)"], False),
        ([CASCADE], True),
        (["create table c(p int)", "alter table c add foreign key (p) references t(id) on delete cascade"], True),
        (
            [
                "create table c(p int)",
                "alter table c add foreign key (p) references t(id) on delete cascade",
                "drop table c",
            ],
            False,
        ),
        ([CASCADE, "drop table c"], False),
        ([CASCADE, "rename table c to e", "drop table c"], True),
        ([CASCADE, "rename table c to e", "drop table e"], False),
        ([CASCADE, "create table o(a int)", "rename table o to e", "drop table e"], True),
        ([CASCADE, "rename table t to o", "rename table o to t"], True),
        ([CASCADE, "rename table t to o", "create table t(id int primary key, v int)"], False),
    ],
)
def test_cascades_follow_the_names_of_parents_and_children(statements: list[str], refuses: bool) -> None:
    log = Log()
    log.sql(*statements)
    log.insert((1, 1))
    if refuses:
        assert refused(log.delete, 1, flags=0).code == "cascade"
    else:
        log.delete(1, flags=0)
        assert log.rows() == []


# --- columns ---------------------------------------------------------------------------------------------------------


def test_columns_that_move_keep_what_the_log_said_of_them() -> None:
    log = Log(create="create table t(id int, w varchar(9), j json, primary key (id))")
    log.insert((1, b"x", encode([2])), table=table_of(INT, VARCHAR, JSON, metadata=[DefaultCharset(2, UTF8MB4)]))
    log.sql("alter table t modify w varchar(9) first, add n int after w, modify id int after k, rename column j to k")
    state = log.replay.tables["d", "t"]
    assert state.column_names() == ["w", "n", "k", "id"]
    assert table_rows(state) == [["x", None, "[2]", "1"]]


def test_a_renamed_column_keeps_its_default() -> None:
    log = Log(create="create table t(id int primary key, v int default 7)")
    log.sql("alter table t rename column v to w")
    log.insert((1,), after=[0])
    assert log.rows() == [[1, 7]]


@pytest.mark.parametrize(
    "part",
    [
        "modify v INT", "change v V INT", "modify w enum('a', 'b') first", "add x int default null", "add x int null",
        "drop index `PRIMARY`", "row_format = dynamic",
    ],
)  # fmt: skip
def test_what_leaves_the_values_as_they_are_is_done_with_rows_in_the_table(part: str) -> None:
    log = Log(create="create table t(v int, w ENUM('a', 'b'))")
    log.insert((1, 1), table=table_of(INT, ColumnType(types.STRING, 0x01F7)))
    log.sql(f"alter table t {part}")
    assert len(log.rows()) == 1


@pytest.mark.parametrize(
    ("part", "code", "expected", "got"),
    [
        ("modify v frob", "alter", "v", "FROB"),
        ("modify v date", "alter", None, "1"),
        ("modify w enum('b', 'c')", "alter", None, "a"),
        ("modify w enum('A', 'b') collate `X`", "alter", "w", "ENUM ( A , b ) COLLATE X"),
        ("add x frob not null", "alter", "a known type", "x"),
        ("add x int default (reverse(5))", "alter", None, "reverse( 5 )"),
        ("add x datetime default now()", "alter", "an offset such as +02:00, or UTC", None),
        ("drop partition p0", "alter", None, None),
        ("drop x", "no-column", None, "x"),
        ("add x int after y", "no-column", None, "y"),
    ],
)
def test_what_alter_table_is_refused_for_is_told(part: str, code: str, expected: Any, got: Any) -> None:
    log = Log(create="create table t(v int, w enum('a', 'b'))")
    log.insert((1, 1), table=table_of(INT, ColumnType(types.STRING, 0x01F7)))
    error = refused(log.sql, f"alter table t {part}")
    assert (error.code, error.expected, error.got) == (code, expected, got)
    assert error.message.startswith("table d.t: ")


def test_tables_that_the_log_does_not_define_are_not_altered() -> None:
    error = refused(Log().sql, "alter table x add a int")
    assert (error.code, error.got) == ("no-table", ("d", "x"))
    error = refused(Log().sql, "rename table x to y")
    assert (error.code, error.got) == ("no-table", ("d", "x"))
    log = Log(create="")
    log.insert((1, 1))
    assert refused(log.sql, "alter table t add a int").code == "no-definition"


def test_another_table_map_than_the_definition_is_told() -> None:
    log = Log()
    log.insert((1, 1))
    error = refused(log.insert, (1, 1, 1), table=table_of(INT, INT, INT))
    assert (error.code, error.expected, error.got, error.path) == ("columns", 2, 3, ("d.t",))
    error = refused(log.insert, (2, 2), table=table_of(INT, JSON))
    assert (error.code, error.expected, error.got) == ("columns", None, None)


def test_a_lenient_replay_forgets_only_the_table_of_a_row_that_does_not_fit() -> None:
    log = Log(lenient=True, create="create table o(a int)")
    log.insert((1, 1))
    log.insert((1, 1, 1), table=table_of(INT, INT, INT))
    log.insert((2, 2))
    assert list(log.replay.tables) == [("d", "o"), ("d", "t")]
    log.sql("create table t(a int)")
    log.insert((1, 1))
    assert list(log.replay.tables) == [("d", "o")]


def test_dropping_the_key_by_its_name_lets_equal_keys_in() -> None:
    log = Log()
    log.insert((1, 1))
    log.sql("drop index `primary` on t")
    log.insert((1, 1))
    assert log.rows() == [[1, 1], [1, 1]]


# --- defaults --------------------------------------------------------------------------------------------------------

CHAR = ColumnType(types.STRING, 0x24FE)


@pytest.mark.parametrize(
    ("definition", "column", "collation", "value"),
    [
        ("int default 7", INT, None, 7),
        ("int default '7'", INT, None, 7),
        ("int default 07 comment '.'", INT, None, 7),
        ("bigint default null", ColumnType(types.LONGLONG), None, None),
        ("int", INT, None, None),
        ("varchar(9) default 'x '", VARCHAR, UTF8MB4, b"x "),
        ("varchar(9) default '\u00e9'", VARCHAR, UTF8MB4, b"\xc3\xa9"),
        ("varchar(9) default '\u00e9'", VARCHAR, 8, b"\xe9"),
        ("varchar(9) default '7' comment 'x'", VARCHAR, UTF8MB4, b"7"),
        ("varchar(9) default ''", VARCHAR, UTF8MB4, b""),
        ("varbinary(9) default 'x\\0'", VARCHAR, 63, b"x\0"),
        ("char(9) default 'X  '", CHAR, UTF8MB4, b"X"),
        ("binary(9) default ' X\\0\\0'", CHAR, 63, b" X"),
        ("int default -7", INT, None, -7),
        ("int default (7)", INT, None, 7),
        ("double default 7", ColumnType(types.DOUBLE, 8), None, 7.0),
        ("double default -.5e1", ColumnType(types.DOUBLE, 8), None, -5.0),
        ("varchar(9) default 7", VARCHAR, UTF8MB4, b"7"),
        ("date default '2020-01-01'", ColumnType(types.DATE), None, Date(2020, 1, 1)),
        ("bit(9) default b'101' comment 'x'", ColumnType(types.BIT, 0x0101), None, 5),
    ],
)
def test_a_column_that_an_insert_leaves_out_gets_its_default(
    definition: str, column: ColumnType, collation: int | None, value: Any
) -> None:
    log = Log(create=f"create table t(id int primary key, v {definition})")
    metadata = [] if collation is None else [DefaultCharset(2, collation)]
    log.insert((1,), table=table_of(INT, column, metadata=metadata), after=[0])
    assert log.rows() == [[1, value]]


@pytest.mark.parametrize(
    ("definition", "column", "collation", "got"),
    [
        ("int not null", INT, None, "v"),
        ("int default 7.5", INT, None, "v"),
        ("int default (reverse(7))", INT, None, "v"),
        ("timestamp default now()", ColumnType(types.TIMESTAMP2), None, "v"),
        ("int as (7)", INT, None, "v"),
        ("int auto_increment", INT, None, "v"),
        ("double(9,2) default 7", ColumnType(types.DOUBLE, 8), None, "v"),
        ("varchar(9) default 'x' 'y'", VARCHAR, UTF8MB4, "v"),
        ("varchar(9) default _latin1'x'", VARCHAR, UTF8MB4, "v"),
        ("varchar(9) default '\u00e9'", VARCHAR, None, "v"),  # nobody knows its character set
        ("varchar(9) default '\u20ac'", VARCHAR, 11, "v"),
        ("varbinary(9) default '\u00e9'", VARCHAR, 63, "v"),
        ("vector(1) default 'x'", ColumnType(types.VECTOR, 4), UTF8MB4, "v"),
        ("date default '20200101'", ColumnType(types.DATE), UTF8MB4, "v"),
    ],
)
def test_a_default_that_is_not_certain_is_refused(
    definition: str, column: ColumnType, collation: int | None, got: str
) -> None:
    log = Log(create=f"create table t(id int primary key, v {definition})")
    metadata = [] if collation is None else [DefaultCharset(2, collation)]
    error = refused(log.insert, (1,), table=table_of(INT, column, metadata=metadata), after=[0])
    assert (error.code, error.expected, error.got) == ("default", None, got)


def test_without_a_definition_no_default_is_known() -> None:
    error = refused(Log(create="").insert, (1,), after=[0])
    assert (error.code, error.expected, error.got) == ("default", None, 2)


# --- as text ---------------------------------------------------------------------------------------------------------


def test_rows_are_shown_in_the_order_of_their_texts_with_null_in_front() -> None:
    log = Log(create="create table t(a varchar(9), b int)")
    table = table_of(VARCHAR, INT, metadata=[DefaultCharset(2, UTF8MB4)])
    for row in ((b"B", 1), (b"", 2), (None, 10), (None, 9), (b"A", None), (b"A", 1), (b"\xff", 1)):
        log.insert(row, table=table)
    assert table_rows(log.replay.tables["d", "t"]) == [
        [None, "10"], [None, "9"], ["", "2"], ["A", None], ["A", "1"], ["B", "1"], ["FF", "1"],
    ]  # fmt: skip
    assert table_rows(log.replay.tables["d", "t"], numeric=True) == [
        [None, "9"], [None, "10"], ["", "2"], ["A", None], ["A", "1"], ["B", "1"], ["FF", "1"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (INT, (-10, -9, 0, 9, 10)),
        (ColumnType(types.DOUBLE, 8), (-1e30, -1.5, 0.25, 3.0, 1e20)),
        (ColumnType(types.NEWDECIMAL, 0x0A02), tuple(map(Decimal, ("-10.50", "-9.75", "9.00", "10.00")))),
        (ColumnType(types.BIT, 0x0200), (2, 10, 100)),
    ],
    ids=["INT", "DOUBLE", "DECIMAL", "BIT"],
)  # fmt: skip
def test_numbers_are_in_the_order_of_numbers_where_people_read_them(
    column: ColumnType, values: tuple[Any, ...]
) -> None:
    log = Log(create="")
    table = table_of(column)
    for value in (*values[1:], None, values[0]):
        log.insert((value,), table=table)
    state = log.replay.tables["d", "t"]
    by_text, by_number = table_rows(state), table_rows(state, numeric=True)
    assert by_number[0] == [None]
    assert [Decimal(str(text)) for (text,) in by_number[1:]] == [Decimal(str(value)) for value in values]
    assert by_text != by_number
    assert sorted(map(str, by_text)) == sorted(map(str, by_number))
