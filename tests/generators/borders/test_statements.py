"""Statements that aim at borders lead exactly there, whatever document they start from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import DATETIME, Opaque, UInt
from conformance.reference.jsonb.view import open_document
from conformance.reference.partial.expression import Assignment, Call, Column, Columns, Literal
from conformance.reference.partial.update import update_row
from generators import tables
from generators.borders import statements as borders
from generators.borders.event_limit import full_event
from generators.borders.statements import Border
from generators.cases import next_step, start
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.update_case import Step
    from conformance.reference.jsonb.values import JsonValue

MOMENT = opaque.timestamp(2024, 2, 29, 12, 34, 56)
COLUMNS = Columns(("j",), lambda _, value: value)  # type: ignore[arg-type,return-value]
BIG = "x" * 66_000


def after(border: Border, document: JsonValue, number: int) -> bytes | None:
    """The document after a statement at the border."""
    made = borders.expression(Stream("borders", number), border, "j", encode(document), moments=["ts"])
    if made is None:
        return None
    row = {"j": encode(document), "ts": MOMENT}
    stored = update_row(row, [Assignment("j", made)], COLUMNS, log_diffs=True).after["j"]
    assert isinstance(stored, bytes)
    return stored


@pytest.mark.parametrize(
    "document",
    [{}, [], {"a": 1, "b": [2, 3]}, ["x" * 200, 1], {"k": "y" * 20_000}],
    ids=["{}", "[]", "object", "array", "20 KB"],
)
def test_a_container_reaches_both_sides_of_the_small_format(document: JsonValue) -> None:
    found = {
        (len(stored) - 1, stored[0] & 1)
        for number in range(12)
        if (stored := after(Border.CONTAINER, document, number))
    }
    members = len(document) + 1 if isinstance(document, (dict, list)) else 0
    larger = 65_536 + 4 + members * (4 if isinstance(document, dict) else 2)
    assert found == {(65_535, 0), (larger, 1)}


def test_a_container_over_the_limit_is_made_smaller() -> None:
    sizes = {len(stored) for number in range(8) if (stored := after(Border.CONTAINER, [BIG], number))}
    assert 65_536 in sizes


@pytest.mark.parametrize("document", [{"pad": BIG}, [BIG, 1], {}], ids=["object", "array", "small"])
def test_a_large_container_gets_an_inlined_uint32(document: JsonValue) -> None:
    for number in range(8):
        stored = after(Border.INLINED, document, number)
        assert stored is not None
        view = open_document(stored)
        kinds = {view.entry(index)[1] for index in range(view.count)}
        assert 8 in kinds or not view.is_large  # the pad itself may have been replaced


def test_names_of_both_sides_come() -> None:
    found: set[str] = set()
    for number in range(60):
        stored = after(Border.NAME, {"a": 1}, number)
        assert stored is not None
        value = decode(stored)
        assert isinstance(value, dict)
        found |= value.keys()
    assert found == {"a", *borders.NAMES}


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        (2**53 + 1, lambda new: new == float(2**53)),
        (float(2**53), lambda new: type(new) is int and abs(new - 2**53) <= 1),
        (float(2**63), lambda new: abs(new - 2**63) <= 1 and (type(new) is UInt) == (new >= 2**63)),
        (UInt(2**63 + 1), lambda new: new == float(2**63)),
    ],
)
def test_a_number_gets_a_rival_of_the_other_type(value: JsonValue, fits: Callable[[Any], bool]) -> None:
    for number in range(8):
        made = borders.expression(Stream("rival", number), Border.NUMBER, "j", encode({"a": [value]}))
        assert isinstance(made, Call)
        ((path, argument),) = made.arguments
        assert path is not None
        assert path.startswith("$")
        assert isinstance(argument, Literal)
        assert fits(argument.value)


def test_a_moment_is_planted_and_then_replaced_by_its_datetime() -> None:
    planted = borders.expression(Stream("moment"), Border.MOMENT, "j", encode({"a": 1}), moments=["ts"])
    assert isinstance(planted, Call)
    assert planted.arguments[0][1] == Column("ts")
    made = [borders.expression(Stream("moment", n), Border.MOMENT, "j", encode({"a": MOMENT})) for n in range(8)]
    values = [item.arguments[0][1] for item in made if isinstance(item, Call)]
    assert Literal(Opaque(DATETIME, MOMENT.payload)) in values


@pytest.mark.parametrize("border", list(Border))
def test_null_and_what_nests_too_deep_have_no_statement(border: Border) -> None:
    deep = b"\x02\x00\x00\x04\x00"
    for _ in range(120):
        size = len(deep) - 1
        deep = b"\x02\x01\x00" + (size + 7).to_bytes(2, "little") + b"\x02\x07\x00" + deep[1:]
    assert borders.expression(Stream("none"), border, "j", None) is None
    if border in (Border.CONTAINER, Border.NUMBER, Border.MOMENT):
        assert borders.expression(Stream("none"), border, "j", deep) is None


def test_tables_have_what_their_border_needs() -> None:
    counts = {len(tables.table(Stream("columns", n), border=Border.COLUMNS).json_columns) for n in range(20)}
    assert counts == {8, 9}
    for number in range(20):
        kinds = [column.type for column in tables.table(Stream("moments", number), border=Border.MOMENT).columns]
        assert {"TIMESTAMP", "DATETIME"} <= set(kinds)


def test_the_same_draws_give_the_same_statement() -> None:
    for border in Border:
        steps = []
        for _ in range(2):
            draw = Stream("same", border.value)
            begun = start(draw.fork("start"), border=border)
            names = [column.name for column in begun.table.columns]
            rows = [dict(zip(names, row, strict=True)) for row in begun.rows]
            steps.append([next_step(draw.fork(n), begun.table, rows, border=border) for n in range(12)])
        assert steps[0] == steps[1]


@pytest.mark.parametrize(("limit", "each"), [(8192, 40), (8192, 3000), (1024, 41), (8190, 500)])
def test_a_full_event_has_exactly_the_limit(limit: int, each: int) -> None:
    """Each row takes ``each`` bytes and its string, which has one byte of length up to 127 bytes, then two."""

    def measure(step: Step) -> int:
        literal = step.assignments[0].expression
        assert isinstance(literal, Literal)
        return 20 + len(step.rows) * (each + len(encode(literal.value)))

    shape = tables.table(Stream("full"))
    found = [full_event(Stream("full", number), shape, 6, measure, limit) for number in range(20)]
    steps = [step for step in found if step is not None]
    assert steps
    assert {measure(step) for step in steps} == {limit}
    assert all(len(step.rows) > 1 for step in steps)


def test_no_event_is_full_where_one_row_is_too_large() -> None:
    shape = tables.table(Stream("full"))
    assert full_event(Stream("full"), shape, 6, lambda _: 9000, 8192) is None
    assert full_event(Stream("full"), shape, 6, lambda _: None, 8192) is None
    assert full_event(Stream("full"), shape, 1, lambda _: 100, 8192) is None
