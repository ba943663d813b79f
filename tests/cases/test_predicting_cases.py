"""Predictions of whole statements: images, events, order, time zone, and the scripts that servers run."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.case_sql import (
    column_literal,
    insert_statement,
    read_back_statement,
    update_statement,
    where_clause,
)
from conformance.cases.predict import Model
from conformance.cases.row_images import RowImage, after_columns, before_columns, read_columns
from conformance.cases.script import Control, ReadBack, Statement, build_script
from conformance.cases.session import Session
from conformance.cases.time_zone import has_datetime, needs_time_zone
from conformance.cases.update_case import Step, UpdateCase
from conformance.reference.binlog.rows import STMT_END, included
from conformance.reference.event_types import EventType
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.partial.expression import (
    Assignment,
    Call,
    Column,
    Constant,
    Function,
    Increment,
    Literal,
    Wrapped,
    Wrapper,
)
from conformance.reference.sql.expressions import parse_expression
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.definitions import Column as TableColumn
from conformance.reference.tables.definitions import Table, table_map
from conformance.reference.tables.partitions import Partitions
from conformance.reference.tables.temporal import Date, Datetime, Time, Timestamp

if TYPE_CHECKING:
    from conformance.cases.predict import StepPrediction

COLUMNS = (
    TableColumn(name="id", type="INT", nullable=False),
    TableColumn(name="j", type="JSON"),
    TableColumn(name="b", type="BLOB"),
    TableColumn(name="n", type="INT"),
    TableColumn(name="at", type="TIMESTAMP", scale=0),
    TableColumn(name="k", type="JSON"),
)
TABLE = Table(schema="lab", name="t", columns=COLUMNS, primary_key=((0, 0),))
MAP = table_map(TABLE)
DOCUMENT = encode(parse_text('{"a": 1, "pad": "' + "p" * 60 + '"}'))


def json_set(sql: str, column: str = "j") -> Assignment:
    return Assignment(column, parse_expression(sql, column))


A5 = json_set("JSON_SET(j, '$.a', 5)")


def model(session: Session | None = None, *, table: Table = TABLE, count: int = 3, **options: Any) -> Model:
    rows = [
        {"id": number + 1, "j": DOCUMENT, "b": b"x", "n": number, "at": Timestamp(1), "k": encode([number])}
        for number in range(count)
    ]
    return Model(table, "id", session or Session(), rows, **options)  # type: ignore[arg-type]


def predict(step: Step, session: Session | None = None, **options: Any) -> StepPrediction:
    return model(session, **options).predict(step)


# --- images ----------------------------------------------------------------------------------------------------------

EVERY = set(range(6))
IMAGES: list[tuple[RowImage, tuple[int, ...], tuple[int, ...], list[int] | None, list[int] | None, set[int]]] = [
    # image, key, primary key; columns before, columns after when n is assigned, columns read
    (RowImage.FULL, (0,), (0,), None, None, EVERY),
    (RowImage.MINIMAL, (0,), (0,), [0], [3], {0, 3}),
    (RowImage.NOBLOB, (0,), (0,), [0, 1, 3, 4, 5], [0, 1, 3, 4, 5], EVERY - {2}),
    (RowImage.FULL, (), (), None, None, EVERY),
    (RowImage.MINIMAL, (), (), None, [3], EVERY),
    (RowImage.NOBLOB, (), (), None, [0, 1, 3, 4, 5], EVERY),
    (RowImage.MINIMAL, (2, 0), (2, 0), [0, 2], [3], {0, 2, 3}),
    (RowImage.NOBLOB, (2, 0), (2, 0), [0, 1, 2, 3, 4, 5], [0, 1, 3, 4, 5], EVERY),
    (RowImage.NOBLOB, (2,), (), [0, 1, 3, 4, 5], [0, 1, 3, 4, 5], EVERY - {2}),
]


@pytest.mark.parametrize(("image", "key", "primary", "before", "after", "read"), IMAGES)
def test_columns_of_the_images(
    image: RowImage,
    key: tuple[int, ...],
    primary: tuple[int, ...],
    before: list[int] | None,
    after: list[int] | None,
    read: set[int],
) -> None:
    assert before_columns(MAP, key, primary, image) == before
    assert after_columns(MAP, {3}, image) == after
    assert read_columns(MAP, key, primary, {3}, image) == read


@pytest.mark.parametrize("image", RowImage)
@pytest.mark.parametrize("partitioned", [False, True])
def test_equal_values_beside_a_blob_are_a_change_where_the_blob_is_not_read(image: RowImage, partitioned: bool) -> None:
    """Observed on 9.7.4."""
    table = replace(TABLE, partitions=Partitions(method="HASH", column="id", count=3)) if partitioned else TABLE
    step = Step((json_set("JSON_SET(j, '$.a', 1.0e0)"), Assignment("b", Constant(b"x"))), (0,))
    changes = image is RowImage.MINIMAL or (image is RowImage.NOBLOB and not partitioned)
    (row,) = predict(step, Session(row_image=image), table=table).rows
    assert row.change.logged is changes


def test_an_assigned_blob_is_in_the_after_image_whatever_the_option() -> None:
    assert after_columns(MAP, {2, 3}, RowImage.NOBLOB) == [0, 1, 2, 3, 4, 5]
    assert after_columns(MAP, {2, 3}, RowImage.MINIMAL) == [2, 3]


@pytest.mark.parametrize(
    ("primary", "unique", "key"),
    [
        (((0, 0),), (), (0,)),
        (((3, 0), (0, 0)), (), (3, 0)),
        ((), (((0, 0),),), (0,)),
        ((), (((3, 0),), ((0, 0),)), (0,)),  # n may be NULL
        ((), (((0, 4),), ((3, 0),)), ()),  # a prefix tells no rows apart
        ((), (), ()),
        (((0, 0),), (((0, 0),),), (0,)),
    ],
)
def test_the_key_that_identifies_a_row(primary: Any, unique: Any, key: tuple[int, ...]) -> None:
    made = model(table=replace(TABLE, primary_key=primary, unique_keys=unique))
    assert made.key == key


# --- events ----------------------------------------------------------------------------------------------------------


def test_the_option_makes_every_update_event_type_39_with_options_in_every_row() -> None:
    for partial_json in (True, False):
        session = Session(partial_json=partial_json)
        for assignment in (A5, Assignment("n", Increment("n", 1))):
            (event,) = predict(Step((assignment,), (0, 1)), session).events
            assert event.type == (EventType.PARTIAL_UPDATE_ROWS if partial_json else EventType.UPDATE_ROWS)
            assert all((row.value_options is not None) is partial_json for row in event.rows)


def test_an_unassigned_json_column_of_a_full_image_is_an_empty_partial_value() -> None:
    (event,) = predict(Step((A5,), (0,))).events
    (row,) = event.rows
    assert row.after is not None
    assert row.after[1] == PartialJson(bytes.fromhex("0003242e6103050500"))
    assert row.after[5] == PartialJson(b"")
    assert (row.value_options, row.partial_columns) == (1, 0b11)
    assert row.before is not None
    assert row.before[1] == DOCUMENT


def test_partial_bits_count_the_json_columns_of_the_table_not_of_the_image() -> None:
    (event,) = predict(Step((json_set("JSON_SET(k, '$[1]', REPEAT('y', 9), '$[0]', REPEAT('x', 200))", "k"), A5), (0,)),
                       Session(row_image=RowImage.MINIMAL)).events  # fmt: skip
    assert included(event.after_columns or 0, 6) == (1, 5)
    (row,) = event.rows
    assert (row.value_options, row.partial_columns) == (1, 0b01)
    (event,) = predict(
        Step((json_set("JSON_REMOVE(k, '$[0]')", "k"),), (0,)), Session(row_image=RowImage.MINIMAL)
    ).events
    assert event.rows[0].partial_columns is None  # 4 + 6 bytes of diff against 8 of document: full
    assert event.rows[0].value_options == 0


def test_rows_are_visited_in_order_of_the_selector() -> None:
    made = model()
    made.rows = [{**row, "id": 9 - index} for index, row in enumerate(made.rows)]
    step = Step((A5,), (0, 1, 2))
    assert made.visit_order(step) == [2, 1, 0]
    assert [row.before[0] for event in made.predict(step).events for row in event.rows if row.before] == [7, 8, 9]


def test_rows_that_do_not_change_are_in_no_event() -> None:
    step = Step((json_set("JSON_SET(k, '$[0]', 1)", "k"),), (0, 1, 2))
    prediction = predict(step)
    assert [row.change.logged for row in prediction.rows] == [True, False, True]
    assert prediction.changed == 2
    (event,) = prediction.events
    assert [row.before[0] for row in event.rows if row.before] == [1, 3]
    nothing = predict(Step((json_set("JSON_REPLACE(j, '$.zz', 1)"),), (0, 1)))
    assert nothing.changed == 0
    assert nothing.events == ()


def test_flags_follow_the_session_and_only_the_last_event_ends_the_statement() -> None:
    step = Step((A5,), (0, 1, 2))
    whole = predict(step).events
    assert [event.flags for event in whole] == [0x11]
    apart = predict(step, row_event_max_size=300).events
    assert len(apart) == 3
    assert [bool(event.flags & STMT_END) for event in apart] == [False, False, True]
    assert [row for event in apart for row in event.rows] == list(whole[0].rows)
    off = predict(step, Session(foreign_key_checks=False, unique_checks=False)).events
    assert off[0].flags == 0x11 | 0x02 | 0x04


def test_a_refused_statement_changes_no_row_even_where_others_came_first() -> None:
    made = model()
    made.rows = [*made.rows[:2], {**made.rows[2], "j": encode(parse_text("[" * 60 + "]" * 60))}]
    before = list(made.rows)
    deep = Literal(parse_text("[" * 60 + "]" * 60))
    step = Step((Assignment("j", Call(Function.JSON_SET, Column("j"), (("$" + "[0]" * 60, deep),))),), (0, 1, 2))
    prediction = made.predict(step)
    assert prediction.error is not None
    assert prediction.error.number == 3157
    assert prediction.rows == ()
    assert prediction.changed == 0
    made.advance(prediction)
    assert made.rows == before


def test_the_next_statement_starts_from_the_predicted_rows() -> None:
    made = model()
    first = made.predict(Step((json_set("JSON_SET(j, '$.pad', 'x')"),), (0,)))
    assert made.rows[0]["j"] == DOCUMENT
    made.advance(first)
    stored = made.rows[0]["j"]
    assert isinstance(stored, bytes)
    assert len(stored) == len(DOCUMENT)
    again = made.predict(Step((json_set("JSON_SET(j, '$.pad', REPEAT('y', 60))"),), (0,)))
    assert again.rows[0].change.columns["j"].in_place


def test_columns_that_the_server_does_not_read_are_compared_by_bytes() -> None:
    """MINIMAL image and no reference to the old value: 1 replaced by 1.0 is a change then (observed on 9.7.4)."""
    same = Assignment("k", Literal([0.0]))
    for image, logged in ((RowImage.FULL, False), (RowImage.MINIMAL, True), (RowImage.NOBLOB, False)):
        assert predict(Step((same,), (0,)), Session(row_image=image)).changed == logged
    read = json_set("JSON_SET(k, '$[0]', 0.0e0)", "k")
    assert predict(Step((read,), (0,)), Session(row_image=RowImage.MINIMAL)).changed == 0


# --- time zone -------------------------------------------------------------------------------------------------------

MOMENT = opaque.datetime(2024, 2, 29, 12, 34, 56)


def test_datetimes_anywhere_in_a_value_need_the_time_zone() -> None:
    assert has_datetime(MOMENT)
    assert has_datetime([1, {"a": ["x", MOMENT]}])
    assert not has_datetime([opaque.date(2024, 2, 29), opaque.time(1, 2, 3), "2024-02-29 12:34:56", None])
    assert needs_time_zone(Call(Function.JSON_SET, Column("j"), (("$.a", Literal(MOMENT)),)))
    assert needs_time_zone(Wrapped(Wrapper.IF, Call(Function.JSON_SET, Literal([MOMENT]), (("$.a", Literal(1)),))))
    assert not needs_time_zone(Call(Function.JSON_REMOVE, Column("j"), (("$.a", None),)))


@pytest.mark.parametrize(
    ("assignment", "zone"),
    [
        (A5, False),
        (json_set("JSON_SET(j, '$.a', TIMESTAMP'2024-02-29 12:34:56')"), True),
        (json_set("JSON_SET(j, '$.a', DATE'2024-02-29')"), False),
        (Assignment("at", Constant(Timestamp(5))), True),
        (Assignment("at", Constant(None)), False),
        (Assignment("j", Call(Function.JSON_SET, Column("j"), (("$.a", Column("at")),))), True),
        (Assignment("j", Call(Function.JSON_SET, Column("j"), (("$.a", Column("n")),))), False),
    ],
)
def test_which_statements_name_the_time_zone(assignment: Assignment, zone: bool) -> None:
    prediction = predict(Step((assignment, Assignment("n", Increment("n", 1))), (0,)))
    assert prediction.time_zone is zone


# --- scripts ---------------------------------------------------------------------------------------------------------


def case(*steps: Step) -> UpdateCase:
    rows = tuple((number, DOCUMENT, None, 0, None, None) for number in (1, 2))
    return UpdateCase(id="x", table=TABLE, selector="id", rows=rows, steps=steps)


def shape(made: Any) -> list[str]:
    return [
        f"{item.step}" if isinstance(item, Statement) else item.sql if isinstance(item, Control) else "read"
        for item in made.items
    ]


def test_rows_are_read_back_before_they_are_touched_again_and_at_the_end() -> None:
    one, other = Step((A5,), (0,)), Step((json_set("JSON_SET(j, '$.a', 6)"),), (1,))
    assert shape(build_script(case(one, other))) == ["0", "1", "read"]
    assert shape(build_script(case(one, one, other))) == ["0", "read", "1", "2", "read"]
    made = build_script(case(one, one, other))
    reads = [item for item in made.items if isinstance(item, ReadBack)]
    assert [[(index, step) for index, step, _ in read.rows] for read in reads] == [[(0, 0)], [(0, 1), (1, 2)]]
    assert reads[0].rows[0][2]["j"] == made.predictions[0].rows[0].change.after["j"]
    assert made.updates == 3


def test_open_transactions_begin_once_and_end() -> None:
    first = Step((A5,), (0,), commit=False)
    second = Step((json_set("JSON_SET(j, '$.a', 6)"),), (1,), commit=False)
    last = Step((json_set("JSON_SET(j, '$.a', 7)"),), (0,))
    made = build_script(case(first, second, last, last))
    assert shape(made) == ["BEGIN", "0", "1", "read", "2", "COMMIT", "read", "3", "read"]
    assert made.transactions == [[0, 1, 2], [3]]
    unfinished = build_script(case(first))
    assert shape(unfinished) == ["BEGIN", "0", "read", "COMMIT"]
    assert unfinished.transactions == [[0]]


def test_statements_name_the_rows_by_the_selector_of_that_moment() -> None:
    shift = Step((Assignment("id", Increment("id", 10)),), (0,))
    made = build_script(case(shift, Step((A5,), (0, 1))))
    statements = [item.sql for item in made.items if isinstance(item, Statement)]
    assert statements[0] == "UPDATE `t` SET `id`=`id` + 10 WHERE `id`=1"
    assert statements[1] == "UPDATE `t` SET `j`=JSON_SET(`j`, '$.a', 5) WHERE `id` IN (2, 11) ORDER BY `id`"


# --- statements ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "value", "sql"),
    [
        (TableColumn(name="c", type="INT"), None, "NULL"),
        (TableColumn(name="c", type="INT"), -5, "-5"),
        (TableColumn(name="c", type="DOUBLE"), 1.5, "1.5e0"),
        (TableColumn(name="c", type="DOUBLE"), -0.0, "-0.0e0"),
        (TableColumn(name="c", type="DOUBLE"), 1e300, "1e+300"),
        (TableColumn(name="c", type="DECIMAL", length=5, scale=2), Decimal("-1.50"), "-1.50"),
        (TableColumn(name="c", type="DECIMAL", length=5), Decimal("1E+3"), "1000"),
        (TableColumn(name="c", type="VARCHAR", length=9), "é'".encode(), "_utf8mb4 x'c3a927'"),
        (TableColumn(name="c", type="CHAR", length=9, charset="latin1"), b"\xe9", "_latin1 x'e9'"),
        (TableColumn(name="c", type="VARBINARY", length=9), b"\x00'", "x'0027'"),
        (TableColumn(name="c", type="TEXT"), b"", "''"),
        (TableColumn(name="c", type="DATE"), Date(2024, 2, 29), "'2024-02-29'"),
        (TableColumn(name="c", type="TIME", scale=6), Time(True, 838, 59, 59, 1), "'-838:59:59.000001'"),
        (TableColumn(name="c", type="DATETIME"), Datetime(2024, 2, 29, 1, 2, 3), "'2024-02-29 01:02:03'"),
        (TableColumn(name="c", type="TIMESTAMP"), Timestamp(5, 7), "FROM_UNIXTIME(5.000007)"),
    ],
)  # fmt: skip
def test_literals_of_columns(column: TableColumn, value: object, sql: str) -> None:
    assert column_literal(column, value) == sql


def test_statements_quote_names_and_select_by_the_literal() -> None:
    table = Table(
        schema="lab",
        name="a`b",
        columns=(TableColumn(name="the key", type="VARCHAR", length=9), TableColumn(name="j", type="JSON")),
    )
    assert insert_statement(table, [(b"k", encode([1])), (b"l", None)]) == (
        "INSERT INTO `a``b` (`the key`, `j`) VALUES (_utf8mb4 x'6b', CAST('[1]' AS JSON)), (_utf8mb4 x'6c', NULL)"
    )
    assert where_clause(table, "the key", [b"k"]) == "`the key`=_utf8mb4 x'6b'"
    assert read_back_statement(table, "the key", [b"k"]) == (
        "SELECT JSON_STORAGE_SIZE(`j`), JSON_STORAGE_FREE(`j`), `j` FROM `a``b`"
        " WHERE `the key`=_utf8mb4 x'6b' ORDER BY `the key`"
    )
    assert update_statement(table, "the key", [Assignment("the key", Constant(b"m"))], [b"k", b"l"]) == (
        "UPDATE `a``b` SET `the key`=_utf8mb4 x'6d' WHERE `the key` IN (_utf8mb4 x'6b', _utf8mb4 x'6c')"
        " ORDER BY `the key`"
    )


def test_a_session_sets_everything_that_shapes_its_events() -> None:
    names, setting = Session(row_image=RowImage.MINIMAL, partial_json=False, compression=True).statements()
    assert names == "SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci"
    for part in (
        "binlog_row_image=MINIMAL",
        "binlog_row_value_options=''",
        "binlog_transaction_compression=1",
        "binlog_rows_query_log_events=0",
        "foreign_key_checks=1",
        "unique_checks=1",
        "time_zone='+00:00'",
        "binlog_format=ROW",
        "autocommit=1",
    ):
        assert f"SESSION {part}" in setting
    assert "SESSION binlog_row_value_options='PARTIAL_JSON'" in Session().statements()[1]
