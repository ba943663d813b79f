"""One row under one statement: what counts as a change, and what the diffs hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.reference.dialect import MYSQL
from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import MAX_DEPTH
from conformance.reference.partial.diffs import decode_diffs, encode_diffs
from conformance.reference.partial.document import MISSING, child
from conformance.reference.partial.expression import (
    Assignment,
    Call,
    Column,
    Columns,
    Constant,
    Function,
    Increment,
    Literal,
    Wrapped,
    Wrapper,
)
from conformance.reference.partial.paths import Cell, Member
from conformance.reference.partial.update import OFF_PAGE, eligible_columns, update_row

_JSON = Columns(("j", "k"))


def _set(column: str, *pairs: Any, function: Function = Function.JSON_SET) -> Assignment:
    """``column = JSON_SET(column, path, value, ...)``"""
    arguments = tuple((path, Literal(value)) for path, value in zip(pairs[::2], pairs[1::2], strict=True))
    return Assignment(column, Call(function, Column(column), arguments))


def test_a_diff_has_the_value_of_its_own_moment() -> None:
    """The object that the first pair puts there is changed by the second one."""
    inner: dict[str, Any] = {}
    documents: tuple[Any, ...] = ([1, 2], {"a": 1})
    for document in documents:
        path = "$[0]" if isinstance(document, list) else "$.a"
        change = update_row({"j": encode(document)}, [_set("j", path, inner, f"{path}.b", [])], _JSON, log_diffs=True)
        column = change.columns["j"]
        assert column.diffs is not None
        assert [diff.value for diff in column.diffs] == [{}, []]
        assert encode_diffs(column.diffs) == column.encoded
        assert decode_diffs(column.encoded) == column.diffs
    assert inner == {}


def test_assignments_see_what_those_before_them_left() -> None:
    copied = Assignment("k", Call(Function.JSON_SET, Column("k"), (("$.a", Column("j")),)))
    row = {"j": encode([1]), "k": encode({"a": 0})}
    change = update_row(row, [_set("j", "$[0]", 2), copied], _JSON, log_diffs=True)
    assert decode(change.after["k"]) == {"a": [2]}  # type: ignore[arg-type]


def test_a_column_that_is_null_is_json_null_as_an_argument() -> None:
    columns = Columns(("j",), as_json=lambda _, value: f"not for NULL: {value}")
    assignment = Assignment("j", Call(Function.JSON_SET, Column("j"), (("$.a", Column("n")),)))
    change = update_row({"n": None, "j": encode({"a": 0})}, [assignment], columns, log_diffs=True)
    assert decode(change.after["j"]) == {"a": None}  # type: ignore[arg-type]
    assert [diff.value for diff in change.columns["j"].diffs or ()] == [None]


def test_null_plus_a_number_is_null() -> None:
    change = update_row({"n": None, "j": encode(1)}, [Assignment("n", Increment("n", 1))], _JSON, log_diffs=True)
    assert change.after["n"] is None
    assert not change.logged


@pytest.mark.parametrize("comparable", [True, False])
def test_equal_values_are_a_change_only_where_bytes_decide(comparable: bool) -> None:
    """51 and 51.0 (partial-update 1.1; observed)."""
    row = {"j": encode(51)}
    assignment = Assignment("j", Literal(51.0))
    assert update_row(row, [assignment], _JSON, log_diffs=True, comparable=comparable).logged is not comparable


def test_a_row_that_the_set_clause_changes_is_logged_whatever_the_trigger_does() -> None:
    row = {"n": 1, "j": encode(1)}
    same = [Assignment("j", Column("j"))]
    changed = update_row(row, [Assignment("n", Constant(2))], _JSON, log_diffs=True, trigger=same)
    assert changed.logged
    assert changed.after["n"] == 2
    assert not update_row(row, [Assignment("n", Constant(1))], _JSON, log_diffs=True, trigger=same).logged


def test_functions_that_insert_leave_what_is_there() -> None:
    row = {"j": encode({"a": 1}), "k": encode([1])}
    changes = [
        _set("j", "$.a", 2, "$.b", 3, function=Function.JSON_INSERT),
        _set("k", "$", 2, "$[0]", 3, function=Function.JSON_ARRAY_APPEND),
    ]
    after = update_row(row, changes, _JSON, log_diffs=True).after
    assert decode(after["j"]) == {"a": 1, "b": 3}  # type: ignore[arg-type]
    assert decode(after["k"]) == [[1, 3], 2]  # type: ignore[arg-type]


def test_what_is_not_there_is_missing() -> None:
    nothing: list[tuple[Any, Cell | Member]] = [
        ([1, 2], Cell(2)),
        ([], Cell(0)),
        ([1], Cell(1, from_end=True)),
        ({"a": 1}, Member("b")),
        (1, Cell(0)),
    ]
    for node, leg in nothing:
        assert child(node, leg) is MISSING
    assert child([1, 2], Cell(0, from_end=True)) == 2


def test_a_row_change_holds_the_row_before_and_after() -> None:
    row = {"n": 1, "j": encode([1]), "k": None}
    change = update_row(row, [_set("j", "$[0]", 2), Assignment("n", Constant(1))], _JSON, log_diffs=True)
    assert (change.before, change.logged, change.stored_wrongly) == (row, True, {})
    assert change.after == change.stored == {**row, "j": encode([2])}
    column = change.columns["j"]
    assert (column.before, column.after, column.in_place) == (encode([1]), encode([2]), True)
    assert list(change.columns) == ["j"]
    same = update_row(row, [_set("j", "$[0]", 1)], _JSON, log_diffs=True)
    assert (same.logged, same.after) == (False, row)
    assert same.columns["j"].encoded == b""
    unlogged = update_row(row, [_set("j", "$[0]", 2)], _JSON, log_diffs=False).columns["j"]
    assert (unlogged.diffs, unlogged.encoded, unlogged.after) == (None, b"", encode([2]))


def test_a_trigger_decides_by_bytes_and_writes_columns_of_both_kinds() -> None:
    row = {"n": 1, "j": encode([1]), "k": encode({})}
    fires = [Assignment("n", Constant(5)), Assignment("k", Literal([7]))]
    change = update_row(row, [_set("j", "$[0]", 2)], _JSON, log_diffs=True, trigger=fires)
    assert change.logged
    assert change.after == {"n": 5, "j": encode([2]), "k": encode([7])}
    # Nothing is set, and the trigger alone changes a column.
    alone = update_row(row, [_set("j", "$[0]", 1)], _JSON, log_diffs=True, trigger=[Assignment("n", Constant(5))])
    assert (alone.logged, alone.after["n"]) == (True, 5)
    nothing = update_row(row, [_set("j", "$[0]", 1)], _JSON, log_diffs=True, trigger=[Assignment("n", Constant(1))])
    assert not nothing.logged
    # Equal as JSON, other bytes: nobody is called, so nothing is compared by bytes.
    equal = update_row({"j": encode(1), "k": None}, [Assignment("j", Literal(1.0))], _JSON, log_diffs=True,
                       trigger=[Assignment("j", Literal(1.0))])  # fmt: skip
    assert not equal.logged


def test_a_trigger_takes_its_change_of_an_off_page_document_with_it() -> None:
    """The engine is told the ranges of the SET clause alone (partial-update 8.2; observed on 9.7.4)."""
    trigger = [_set("j", "$[2]", 9)]
    for size, lost in ((OFF_PAGE - 100, False), (OFF_PAGE, True)):
        stored = encode(["x" * size, 1, 2])
        change = update_row({"j": stored, "k": None}, [_set("j", "$[1]", 5)], _JSON, log_diffs=True, trigger=trigger)
        assert change.after["j"] == encode(["x" * size, 5, 9])
        assert change.stored_wrongly == ({"j": encode(["x" * size, 5, 2])} if lost else {})
        assert change.stored["j"] == encode(["x" * size, 5, 2 if lost else 9])
        diffs = change.columns["j"].diffs
        assert diffs is not None
        assert [str(diff.path) for diff in diffs] == ["$[1]"]  # the trigger's change is in no diff
    stored = encode(["x" * OFF_PAGE, 1, 2])
    kept = replace(MYSQL, behaviour=replace(MYSQL.behaviour, diffs_miss_triggers=False, storage_misses_triggers=False))
    change = update_row(
        {"j": stored, "k": None}, [_set("j", "$[1]", 5)], _JSON, log_diffs=True, trigger=trigger, dialect=kept
    )
    assert (change.columns["j"].diffs, change.stored_wrongly) == (None, {})


def test_only_chains_of_partial_functions_over_their_own_column_are_eligible() -> None:
    chain, other = _set("j", "$", 1), Assignment("k", Call(Function.JSON_SET, Column("j"), (("$", Literal(1)),)))
    assert eligible_columns([chain, other], ("j", "k")) == {"j"}
    assert eligible_columns([chain], ("j",), through_view=True) == ({"j"} if MYSQL.log.partial_through_view else set())
    behind = replace(MYSQL, log=replace(MYSQL.log, partial_through_view=False))
    assert eligible_columns([chain], ("j",), behind) == {"j"}
    assert eligible_columns([chain], ("j",), behind, through_view=True) == set()
    assert eligible_columns([chain], ("j",), replace(MYSQL, log=replace(MYSQL.log, has_event39=False))) == set()
    assert eligible_columns([chain, Assignment("j", Literal(1))], ("j",)) == set()


@pytest.mark.parametrize("wrapper", [None, *Wrapper])
@pytest.mark.parametrize("function", [Function.JSON_REPLACE, Function.JSON_INSERT, Function.JSON_REMOVE])
def test_only_what_is_stored_has_a_limit_of_depth(wrapper: Wrapper | None, function: Function) -> None:
    """Observed on 9.7.4."""
    document: Any = 1
    for _ in range(MAX_DEPTH):
        document = {"a": document}
    row = {"j": encode(document)}
    deep = _set("j", "$.a.a[1]", 1).expression
    inner = deep if wrapper is None else Wrapped(wrapper, deep)
    value = None if function is Function.JSON_REMOVE else Literal(2)
    step = Call(function, inner, (("$.b" if function is Function.JSON_INSERT else "$.a", value),))
    outer = Call(Function.JSON_REPLACE, step, (("$.a", Literal(3)),))
    after = update_row(row, [Assignment("j", outer)], _JSON, log_diffs=True).after["j"]
    expected: dict[Function, Any] = {
        Function.JSON_REPLACE: {"a": 3},
        Function.JSON_INSERT: {"a": 3, "b": 2},
        Function.JSON_REMOVE: {},
    }
    assert after == encode(expected[function])
    with pytest.raises(MysqlError, match="depth") as refused:
        update_row(row, [Assignment("j", inner)], _JSON, log_diffs=True)
    assert refused.value.number == 3157
