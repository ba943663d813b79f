"""One row under one statement: what counts as a change, and what the diffs hold."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.reference.diffs import decode_diffs, encode_diffs
from conformance.reference.document import MISSING, child
from conformance.reference.expression import Assignment, Call, Column, Constant, Function, Literal
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.paths import Cell, Member
from conformance.reference.update import Columns, update_row

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


@pytest.mark.parametrize("comparable", [True, False])
def test_equal_values_are_a_change_only_where_bytes_decide(comparable: bool) -> None:
    """51 and 51.0 (partial-update sheet 1.1; observed)."""
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
