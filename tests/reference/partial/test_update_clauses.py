"""SET clauses and triggers around the evaluation: several columns and assignments, NULL, other columns, old values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.dialect import MYSQL
from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.expression import (
    Assignment,
    Call,
    Column,
    Columns,
    Constant,
    Expression,
    Function,
    Increment,
    Literal,
    Old,
    SqlNull,
)
from conformance.reference.partial.update import OFF_PAGE, ColumnChange, RowChange, is_unpredictable, update_row
from tests.reference.jsonb.jsonb_vectors import nested
from tests.reference.partial.path_vectors import shown
from tests.reference.partial.update_vectors import call

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

_JSON = Columns(("j", "k"))


def _update(row: dict[str, object], *assignments: Assignment, **options: Any) -> RowChange:
    return update_row(row, assignments, options.pop("columns", _JSON), log_diffs=True, **options)


def _value(expression: Expression, document: Any) -> Any:
    """The value that ``k`` gets from an expression over ``j``; such an update cannot be partial."""
    after = _update({"j": encode(document), "k": encode("old")}, Assignment("k", expression)).after["k"]
    assert after is None or isinstance(after, bytes)
    return None if after is None else decode(after)


# --- several columns and assignments ---------------------------------------------------------------------------------


def test_columns_are_told_though_one_before_them_is_not_assigned() -> None:
    change = _update({"j": encode(1), "k": encode(2)}, Assignment("k", Literal(3)))
    assert list(change.columns) == ["k"]
    assert (change.columns["k"].diffs, change.columns["k"].rules) == (None, ("eligible/no",))


def test_a_second_assignment_goes_on_where_the_first_one_ended() -> None:
    """The first one fell to the tree, where the same value is logged too."""
    first, second = Assignment("j", call("JSON_SET", "$.q", 5)), Assignment("j", call("JSON_SET", "$.a", 1))
    column = _update({"j": encode({"a": 1}), "k": None}, first, second).columns["j"]
    assert shown(column.diffs or ()) == ["INSERT $.q 5", "REPLACE $.a 1"]
    assert (column.in_place, column.ranges) == (False, None)


def test_a_row_that_is_not_logged_keeps_its_bytes() -> None:
    """51.0 equals 51: nothing is written, though the column was assigned other bytes."""
    row: dict[str, object] = {"j": encode(51), "k": None}
    change = _update(row, Assignment("j", Literal(51.0)))
    assert (change.logged, change.after) == (False, row)
    assert change.columns["j"].after == encode(51.0)


def test_a_server_without_partial_updates_collects_no_diffs() -> None:
    older = replace(MYSQL, log=replace(MYSQL.log, has_event39=False))
    row: dict[str, object] = {"j": encode([1]), "k": None}
    column = _update(row, Assignment("j", call("JSON_SET", "$[0]", 2)), dialect=older).columns["j"]
    assert (column.diffs, column.ranges, column.rules) == (None, None, ("eligible/no",))
    assert column.after == encode([2])


def test_a_limit_of_depth_holds_in_place_only_where_the_server_looks() -> None:
    """Updates in place do not look at the depth (partial-update 8.3)."""
    row: dict[str, object] = {"j": encode(nested(60, "x" * 1000)), "k": None}
    deeper = Assignment("j", call("JSON_SET", "$" + "[0]" * 60, nested(60)))
    looking = replace(MYSQL, behaviour=replace(MYSQL.behaviour, nests_without_limit=False))
    assert _update(row, deeper).columns["j"].in_place
    with pytest.raises(MysqlError, match="3157"):
        _update(row, deeper, dialect=looking)
    assert _update({"j": None, "k": None}, deeper, dialect=looking).after["j"] is None


# --- NULL ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "expression", "rule"),
    [
        (None, call("JSON_SET", "$.", 1), "null/document"),  # the path is not even looked at
        ([1], call("JSON_SET", None, 1), "null/path"),
        ([1], call("JSON_REPLACE", None, 1), "null/path"),
        ([1], call("JSON_REMOVE", None), "null/path"),
        ([1], call("JSON_REMOVE", "$[0]", None), "null/path"),
    ],
)
def test_null_for_a_document_or_a_path_makes_the_column_null(document: Any, expression: Call, rule: str) -> None:
    before = None if document is None else encode(document)
    change = _update({"j": before, "k": None}, Assignment("j", expression))
    column = change.columns["j"]
    assert (column.after, column.diffs, column.encoded, column.ranges, column.rules) == (None, None, b"", None, (rule,))
    assert change.logged is (document is not None)


def test_null_ends_a_chain_of_calls() -> None:
    """Diffs that were collected before are dropped, and the outer call is not looked at."""
    inner = call("JSON_REMOVE", None, document=call("JSON_SET", "$[0]", 2))
    column = _update({"j": encode([1]), "k": None}, Assignment("j", call("JSON_SET", "$.", 3, document=inner))).columns[
        "j"
    ]
    assert (column.after, column.diffs, column.rules) == (None, None, ("in-place/fits-changed", "null/path"))


@pytest.mark.parametrize(
    ("ranges", "stored", "expected"),
    [
        (((2, 4),), {"j": b""}, False),
        (((2, 5),), {"j": b""}, True),
        (((0, 1), (6, 1)), {"j": b""}, True),
        (((2, 5),), {}, False),
        (None, {"j": b""}, False),
    ],
)
def test_bytes_stored_behind_a_document_of_six_bytes_are_unpredictable(
    ranges: tuple[tuple[int, int], ...] | None, stored: dict[str, bytes], expected: bool
) -> None:
    column = ColumnChange(
        before=bytes(9), after=bytes(6), diffs=(), encoded=b"", in_place=True, ranges=ranges, rules=()
    )
    rows = ({"j": column.before}, {"j": column.after})
    assert is_unpredictable(RowChange(*rows, True, {"j": column}, stored)) is expected


@pytest.mark.parametrize(
    ("sizes", "other", "expected"),
    [
        ((9000, 8126), None, False),  # outside of its row, whatever else the row has
        ((9000, 8124), None, True),  # outside: the row's other bytes count as well
        ((9000, 7000), 1000, True),
        ((9000, 7000), 900, False),
        ((9000, 100), 9000, True),
        ((8124, 8124), None, True),
        ((8124, 100), None, False),  # within its row before the statement or after it
        ((9000, 100), None, False),
    ],
)
def test_a_document_of_a_trigger_that_its_row_may_push_out_is_unpredictable(
    sizes: tuple[int, int], other: int | None, expected: bool
) -> None:
    beside = {"id": 1, "k": None if other is None else bytes(other)}
    for before, after in (map(bytes, sizes), map(bytes, reversed(sizes))):
        column = ColumnChange(
            before=before, after=after, diffs=(), encoded=b"", in_place=True, ranges=((0, 1),), rules=()
        )
        rows = ({"j": before, **beside}, {"j": after, **beside})
        change = RowChange(*rows, True, {"j": column}, {}, frozenset("j"))
        assert is_unpredictable(change) is expected
        assert not is_unpredictable(change._replace(columns={"j": column._replace(ranges=None)}))
        assert not is_unpredictable(change._replace(at_risk=frozenset()))


# --- rules -----------------------------------------------------------------------------------------------------------


def test_the_first_cell_of_an_empty_array_is_its_end_and_no_front() -> None:
    column = _update({"j": encode([]), "k": None}, Assignment("j", call("JSON_SET", "$[0]", 1))).columns["j"]
    assert column.rules == ("in-place/absent-set", "tree/array-insert")
    column = _update({"j": encode([]), "k": None}, Assignment("j", call("JSON_SET", "$[last]", 1))).columns["j"]
    assert column.rules == ("in-place/absent-set", "tree/array-insert-front")


# --- values of other columns -----------------------------------------------------------------------------------------


def test_a_column_that_is_not_json_becomes_json_by_its_name_and_value() -> None:
    columns = Columns(("j",), as_json=lambda name, value: {name: value})  # type: ignore[dict-item]
    row: dict[str, object] = {"j": encode(0), "n": 7, "nothing": None}
    assert _update(row, Assignment("j", Column("n")), columns=columns).after["j"] == encode({"n": 7})
    assert _update(row, Assignment("j", Column("nothing")), columns=columns).after["j"] is None
    # The document of no column: the value comes from its row and its table all the same.
    values: list[tuple[Column, JsonValue]] = [(Column("n"), {"n": 7}), (Column("j"), 0), (Column("nothing"), None)]
    for value, expected in values:
        whole = Call(Function.JSON_SET, Literal({}), (("$.a", value),))
        assert _update(row, Assignment("j", whole), columns=columns).after["j"] == encode({"a": expected})


def test_functions_over_another_column_do_what_they_do_over_their_own() -> None:
    document = {"a": 1, "b": [1, 2]}
    assert _value(call("JSON_REMOVE", "$.a", "$.b[0]"), document) == {"b": [2]}
    assert _value(call("JSON_REMOVE", "$.a", None), document) is None
    assert _value(call("JSON_REPLACE", "$.a", 5, "$.q", 5), document) == {"a": 5, "b": [1, 2]}
    assert _value(call("JSON_SET", "$.a", 5, "$.q", 5), document) == {"a": 5, "b": [1, 2], "q": 5}


@pytest.mark.parametrize(
    ("path", "after"),
    [
        ("$[1]", [[1], 5, {"a": [2]}]),
        ("$[0][0]", [[5, 1], {"a": [2]}]),
        ("$[1].a[7]", [[1], {"a": [2, 5]}]),
        ("$[1][0]", [[1], {"a": [2]}]),  # no array, and not taken for one
        ("$[1].a[0][0]", [[1], {"a": [2]}]),
    ],
)
def test_json_array_insert_puts_a_value_into_the_array_that_its_path_ends_in(path: str, after: Any) -> None:
    assert _value(Call(Function.JSON_ARRAY_INSERT, Column("j"), ((path, Literal(5)),)), [[1], {"a": [2]}]) == after


# --- triggers --------------------------------------------------------------------------------------------------------


def test_a_trigger_reads_new_and_old_values_of_columns_of_both_kinds() -> None:
    row: dict[str, object] = {"j": encode([1]), "k": encode({}), "n": 1, "m": 0}
    clause = (Assignment("j", call("JSON_SET", "$[0]", 2)), Assignment("n", Constant(5)))
    for source, expected in ((Old, (encode([1]), 1)), (Column, (encode([2]), 5))):
        trigger = (Assignment("k", source("j")), Assignment("m", source("n")))
        after = _update(row, *clause, trigger=trigger).after
        assert (after["k"], after["m"]) == expected
    assert _update(row, *clause, trigger=(Assignment("m", Increment("n", 10)),)).after["m"] == 15


@pytest.mark.parametrize("size", [1, OFF_PAGE])
def test_a_column_that_a_trigger_makes_null_has_no_diffs(size: int) -> None:
    row: dict[str, object] = {"j": encode(["x" * size, 1]), "k": None}
    set_clause = Assignment("j", call("JSON_SET", "$[1]", 5))
    change = _update(row, set_clause, trigger=(Assignment("j", SqlNull()),))
    column = change.columns["j"]
    assert (column.after, column.diffs, column.encoded) == (None, None, b"")
    assert column.ranges is not None  # the SET clause was done in place, and its ranges belong to no document now
    assert (change.logged, change.after["j"], change.stored_wrongly) == (True, None, {})


def test_only_documents_of_off_page_size_lose_what_a_trigger_did() -> None:
    """Each of ten columns by itself, whichever is looked at first; the limit is of the document's bytes."""
    frame = len(encode(["x" * OFF_PAGE, 1, 2])) - OFF_PAGE
    names = [f"c{place}" for place in range(10)]
    texts = {name: "x" * (OFF_PAGE - frame - place % 2) for place, name in enumerate(names)}
    row: dict[str, object] = {name: encode([text, 1, 2]) for name, text in texts.items()}
    assert {len(encode([text, 1, 2])) for text in texts.values()} == {OFF_PAGE, OFF_PAGE - 1}
    clause = [Assignment(name, call("JSON_SET", "$[1]", 5, document=Column(name))) for name in names]
    trigger = [Assignment(name, call("JSON_SET", "$[2]", 9, document=Column(name))) for name in names]
    change = _update(row, *clause, trigger=trigger, columns=Columns(tuple(names)))
    assert dict(change.stored_wrongly) == {name: encode([texts[name], 5, 2]) for name in names[::2]}
    assert dict(change.after) == {name: encode([texts[name], 5, 9]) for name in names}
