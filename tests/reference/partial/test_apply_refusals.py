"""Errors of an applier at diffs that it cannot read: number, symbol and byte."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.reference.dialect import MYSQL
from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import BLOB, VAR_STRING, Opaque
from conformance.reference.partial.apply import apply_field
from conformance.reference.partial.diffs import Diff, Operation, decode_diffs, encode_diffs
from conformance.reference.partial.paths import Member, Path
from tests.reference.refusals import refused

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

# What a reader that looks into the strings of a diff refuses.
_READING = replace(MYSQL, behaviour=replace(MYSQL.behaviour, stores_invalid_text=False))
_BAD = "\udcff"  # the byte ff


@pytest.mark.parametrize(
    ("field", "number", "symbol", "offset"),
    [
        ("0003242e61 0a 020100 0900 0c0700 0261", 3142, "ER_INVALID_JSON_BINARY_DATA", 9),
        ("0003242e61 05 0ff6020200", 3142, "ER_INVALID_JSON_BINARY_DATA", None),
        ("0003242e61 01 0d", 3649, "ER_CORRUPTED_JSON_DIFF", 0),
        ("0203242e", 3649, "ER_CORRUPTED_JSON_DIFF", 2),
    ],
)
def test_damage_has_a_symbol_and_a_place(field: str, number: int, symbol: str, offset: int | None) -> None:
    error = refused(apply_field, encode({"a": 1}), bytes.fromhex(field))
    assert isinstance(error, MysqlError)
    assert (error.number, error.symbol, error.offset) == (number, symbol, offset)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("new", _BAD),
        ("new", [1, _BAD]),
        ("new", {_BAD: 1}),
        ("new", {"k": _BAD}),
        ("new", {"k": [{"deep": _BAD}]}),
        ("new", Opaque(VAR_STRING, b"a\xc3")),
        ("new", [1, {"k": Opaque(VAR_STRING, b"\xff")}]),
        (_BAD, 1),
    ],
)
def test_text_that_is_not_utf8_is_refused_wherever_it_stands_in_a_diff(name: str, value: JsonValue) -> None:
    good = Diff(Operation.REPLACE, Path((Member("a"),)), 2)
    field = encode_diffs((good, Diff(Operation.INSERT, Path((Member(name),)), value)))
    error = refused(apply_field, encode({"a": 1}), field, _READING)
    assert isinstance(error, MysqlError)
    assert (error.number, error.path) == (3649, ("diffs[1]",))
    after = apply_field(encode({"a": 1}), field)
    assert after is not None
    assert decode(after) == {"a": 2, name: value}
    assert decode_diffs(field)[1].value == value


@pytest.mark.parametrize("value", [Opaque(VAR_STRING, "ä".encode()), Opaque(BLOB, b"\xff")])
def test_other_opaque_values_are_no_text(value: Opaque) -> None:
    field = encode_diffs((Diff(Operation.INSERT, Path((Member("new"),)), value),))
    assert apply_field(encode({}), field, _READING) == encode({"new": value})
