"""Cases as files: they come back the same, fit the published schema, and what is wrong is refused with its place."""

from __future__ import annotations

import contextlib
import copy
import json
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cases.files import case_id, case_schema, dump_case, load_case, validate
from conformance.cases.row_images import RowImage
from conformance.cases.session import Session
from conformance.cases.topology import RebuiltRows, ReplicaSettings, Topology
from conformance.cases.update_case import Hazard, Step, UpdateCase
from conformance.reference.errors import DecodeError
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import Opaque, UInt
from conformance.reference.partial.expression import (
    Assignment,
    Call,
    Column,
    Constant,
    Function,
    Increment,
    Literal,
    Old,
    SqlNull,
    Wrapped,
    Wrapper,
)
from conformance.reference.tables.definitions import Column as TableColumn
from conformance.reference.tables.definitions import Table
from conformance.reference.tables.temporal import Date, Datetime, Time, Timestamp
from generators.cases import update_case
from generators.draw import Stream
from generators.strategies import advance, sequences

pytestmark = pytest.mark.slow

LARGEST = UInt(2**64 - 1)
CASE = UpdateCase(
    id="everything",
    rev=3,
    requirements=("FR1", "D5"),
    seed="s/1",
    needs=("pair",),
    hazard=Hazard.STOPS_REPLICA,
    note="why",
    topology=Topology(
        gtid=True,
        replicas=(
            ReplicaSettings(
                image=RowImage.FULL, partial_json=False, workers=4, metadata="FULL", rows_query=True, compression=True
            ),
        ),
        rebuild=RebuiltRows(after=1, make="numbers", seed="s/2"),
    ),
    table=Table(
        schema="lab",
        name="t",
        columns=(
            TableColumn(name="id", type="BIGINT", nullable=False, unsigned=True),
            TableColumn(name="j", type="JSON"),
            TableColumn(name="d", type="DECIMAL", length=30, scale=10),
            TableColumn(name="day", type="DATE"),
            TableColumn(name="clock", type="TIME", scale=6),
            TableColumn(name="moment", type="DATETIME", scale=3),
            TableColumn(name="stamp", type="TIMESTAMP", scale=0),
            TableColumn(name="e", type="ENUM", members=("a", "b c"), charset="latin1"),
            TableColumn(name="v", type="VARBINARY", length=9, default_sql="x'00'"),
            TableColumn(name="f", type="DOUBLE", invisible=True),
        ),
        primary_key=((0, 0),),
        unique_keys=(((8, 4), (0, 0)),),
        collation="utf8mb4_bin",
    ),
    selector="id",
    session=Session(row_image=RowImage.NOBLOB, partial_json=False, compression=True, unique_checks=False),
    rows=(
        (
            2**64 - 1, encode({"a": [1, None]}), Decimal("-1.50"), Date(0, 0, 31), Time(True, 838, 59, 59, 1),
            Datetime(2024, 2, 29, 1, 2, 3, 4000), Timestamp(1, 0), 2, b"\x00\xff", -0.0,
        ),
        (1, None, None, None, None, None, None, None, b"", 1e300),
        (2, b"", Decimal("1E+3"), None, None, None, None, 0, None, 0.1),
    ),
    trigger=(Assignment("j", Call(Function.JSON_SET, Column("j"), (("$.v", Old("v")),))), Assignment("j", Old("j"))),
    steps=(
        Step(
            (
                Assignment("j", Call(Function.JSON_SET, Column("j"), (("$.a", Literal(LARGEST)), (None, Column("v"))))),
                Assignment("f", Constant(2.5)),
            ),
            (0, 2),
            commit=False,
        ),
        Step((Assignment("j", Wrapped(Wrapper.IF, Call(Function.JSON_REMOVE, Column("j"), (("$.a", None),)))),), (1,)),
        Step((Assignment("j", SqlNull()), Assignment("id", Increment("id", -5))), (2,)),
        Step(
            (
                Assignment(
                    "j",
                    Call(
                        Function.JSON_INSERT,
                        Literal({"$type": 1, "x": opaque.decimal_from_text("1.50")}),
                        (("$.q", Literal([opaque.date(2024, 2, 29), Opaque(16, b"\x01"), "\udcff", -0.0, 1.0])),),
                    ),
                ),
            ),
            (0,),
        ),
        Step((Assignment("d", Constant(Decimal("0.1"))), Assignment("clock", Constant(Time(False, 1, 2, 3)))), (0,)),
    ),
)  # fmt: skip


def through_json(case: UpdateCase) -> Any:
    return json.loads(json.dumps(dump_case(case)))


def test_a_case_with_everything_comes_back_the_same() -> None:
    data = through_json(CASE)
    validate(data)
    again = load_case(data)
    # By their text: 1, 1.0, True and UInt(1) are equal to Python.
    assert repr(again) == repr(CASE)
    assert again == CASE
    assert dump_case(again) == dump_case(CASE)


def test_generated_cases_come_back_the_same_and_fit_the_schema() -> None:
    validator = jsonschema.Draft202012Validator(case_schema())
    for number in range(40):
        case = update_case(Stream("files", number), case_id="x", steps=4, advance=advance)
        data = through_json(case)
        assert not list(validator.iter_errors(data))
        assert repr(load_case(data)) == repr(case)


@settings(max_examples=max(20, settings().max_examples // 5))
@given(sequences(steps=3, rows=2))
def test_any_case_comes_back_the_same(case: UpdateCase) -> None:
    data = through_json(case)
    validate(data)
    assert repr(load_case(data)) == repr(case)


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(case_schema())


def test_the_schema_knows_the_fields_that_are_written_and_no_others() -> None:
    data = through_json(CASE)
    properties = case_schema()["$defs"]["updateCase"]["properties"]
    assert set(data) == set(properties)
    for name, extra in (("table", {"x": 1}), ("session", {"x": 1})):
        with pytest.raises(jsonschema.ValidationError):
            validate({**data, name: {**data[name], **extra}})


def test_fields_with_their_default_are_left_out() -> None:
    case = replace(CASE, session=Session(), table=replace(CASE.table, collation=None, unique_keys=()))
    data = dump_case(case)
    assert data["session"] == {}
    assert set(data["table"]) == {"schema", "name", "columns", "primary_key"}
    assert data["table"]["columns"][1] == {"name": "j", "type": "JSON"}


def test_the_id_of_a_generated_case_depends_on_what_it_does_alone() -> None:
    identity = case_id(CASE)
    assert re.fullmatch("u-[0-9a-f]{16}", identity)
    assert case_id(replace(CASE, id="other", seed="other")) == identity
    assert case_id(replace(CASE, table=replace(CASE.table, schema="elsewhere"))) == identity
    assert case_id(replace(CASE, rows=CASE.rows[::-1])) != identity
    assert case_id(replace(CASE, steps=CASE.steps[:2])) != identity
    assert case_id(replace(CASE, session=Session())) != identity
    assert case_id(replace(CASE, trigger=())) != identity


def at(data: Any, *where: Any) -> Any:
    for part in where:
        data = data[part]
    return data


# (where, what stands there instead, code, path, beginning)
WRONG: list[tuple[tuple[Any, ...], Any, str, str]] = [
    (("format",), 2, "case-format", ""),
    (("kind",), "sql", "case-kind", ""),
    (("table",), [], "case-format", "table"),
    (("table", "columns"), 5, "case-format", "table"),
    (("table", "columns", 0), {"name": "id"}, "case-format", "table"),
    (("table", "columns", 0), {"name": "id", "type": "INT", "colour": 1}, "case-format", "table"),
    (("table", "primary_key"), [[0]], "case-format", "table"),
    (("selector",), "nobody", "case-selector", "selector"),
    (("session",), {"row_image": "HALF"}, "case-format", "session"),
    (("session",), {"volume": 11}, "case-format", "session"),
    (("hazard",), "mild", "case-format", "hazard"),
    (("rows", 1), [1], "case-row", "rows[1]"),
    (("rows", 1, 1), {"jsonb": "0"}, "case-format", "rows[1]"),
    (("rows", 1, 1), {"jsonb": 5}, "case-format", "rows[1]"),
    (("rows", 1, 1), {"jsonb": "00", "hex": "00"}, "case-format", "rows[1]"),
    (("rows", 1, 1), {"xml": "00"}, "case-format", "rows[1]"),
    (("rows", 1, 2), {"decimal": "1.5.0"}, "case-format", "rows[1]"),
    (("rows", 1, 3), {"date": [1]}, "case-format", "rows[1]"),
    (("rows", 1, 1), "text", "case-format", "rows[1]"),
    (("rows", 1, 1), [1], "case-format", "rows[1]"),
    (("rows", 1), None, "case-format", "rows[1]"),
    (("topology",), None, "case-format", "topology"),
    (("topology", "replicas"), [], "case-replicas", "topology"),
    (("topology", "replicas", 0), {"row_image": "HALF", "partial_json": True, "workers": 1}, "case-format", "topology"),
    (("topology", "rebuild", "make"), "magic", "case-rebuild", "topology"),
    (("topology", "rebuild", "after"), -1, "case-rebuild", "topology"),
    (("steps", 0, "rows"), [7], "case-rows", "steps[0].rows"),
    (("steps", 0, "rows"), [-1], "case-rows", "steps[0].rows"),
    (("steps", 0, "rows"), "all", "case-format", "steps[0]"),
    (("steps", 2, "set", 0, 0), "nobody", "case-column", "steps[2].set"),
    (("steps", 2, "set", 0, 1), {"magic": 1}, "case-expression", "steps[2]"),
    (("steps", 2, "set", 0, 1), 5, "case-expression", "steps[2]"),
    (("steps", 2, "set", 0), ["j"], "case-format", "steps[2]"),
    (("steps", 2, "set"), None, "case-format", "steps[2]"),
    (("steps", 0, "set", 0, 1, "call"), "JSON_MAGIC", "case-format", "steps[0]"),
    (("steps", 0, "set", 0, 1, "arguments"), [["$.a"]], "case-format", "steps[0]"),
    (("steps", 1, "set", 0, 1, "wrapped"), "MAGIC", "case-format", "steps[1]"),
    (("steps", 0, "set", 0, 1, "arguments", 0, 1), {"value": {"$type": "MAGIC", "text": "1"}}, "bad-tag", "steps[0]"),
    (("steps", 0, "set", 0, 1, "arguments", 0, 1), {"value": {"$type": "DECIMAL", "text": "x"}}, "", "steps[0]"),
    (("steps", 0, "set", 0, 1, "arguments", 0, 1), {"value": {"$type": "TIME", "text": "x"}}, "bad-tag", "steps[0]"),
    (("steps", 0, "set", 0, 1, "arguments", 0, 1), {"value": {"$object": [1]}}, "", "steps[0]"),
]  # fmt: skip


@pytest.mark.parametrize(("where", "wrong", "code", "path"), WRONG, ids=lambda value: str(value)[:60])
def test_a_wrong_file_is_refused_with_the_place(where: tuple[Any, ...], wrong: Any, code: str, path: str) -> None:
    data = through_json(CASE)
    at(data, *where[:-1])[where[-1]] = wrong
    with pytest.raises(DecodeError) as caught:
        load_case(data)
    assert ".".join(caught.value.path).startswith(path)
    if code:
        assert caught.value.code == code
    # All of it but what only the whole Case knows is against the schema too.
    if code not in ("case-selector", "case-column", "case-row") and wrong != [7] and "x" not in str(wrong):
        with pytest.raises(jsonschema.ValidationError):
            validate(data)


@pytest.mark.parametrize("missing", ["format", "kind", "id", "table", "selector", "rows", "steps"])
def test_a_missing_field_is_refused(missing: str) -> None:
    data = through_json(CASE)
    del data[missing]
    with pytest.raises(DecodeError):
        load_case(data)
    with pytest.raises(jsonschema.ValidationError):
        validate(data)


@pytest.mark.parametrize("junk", [None, 5, "x", [], [[]], {}])
def test_what_is_no_case_at_all_is_refused(junk: Any) -> None:
    with pytest.raises(DecodeError):
        load_case(junk)


def places(data: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [here] if here else []
    if isinstance(data, dict):
        for key, item in data.items():
            found += places(item, (*here, key))
    elif isinstance(data, list):
        for index, item in enumerate(data):
            found += places(item, (*here, index))
    return found


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
    st.sampled_from([{"$type": "DATE"}, {"value": 1}, {"hex": "zz"}, [[]], {"column": None}, {"decimal": ""}]),
)


@given(st.sampled_from(places(through_json(CASE))), junk, st.booleans())
def test_a_damaged_file_is_read_or_refused(where: tuple[Any, ...], wrong: Any, delete: bool) -> None:
    data = copy.deepcopy(through_json(CASE))
    parent = at(data, *where[:-1])
    if delete:
        del parent[where[-1]]
    else:
        parent[where[-1]] = wrong
    with contextlib.suppress(DecodeError):
        assert dump_case(load_case(data))


def test_nesting_beyond_reason_is_refused() -> None:
    expression: Any = {"column": "j"}
    for _ in range(3000):
        expression = {"wrapped": "IF", "inner": expression}
    data = through_json(CASE)
    data["steps"][0]["set"][0][1] = expression
    with pytest.raises(DecodeError) as caught:
        load_case(data)
    assert caught.value.path[0] == "steps[0]"
