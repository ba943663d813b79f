"""The strategies give what the generators give, and shrink to the smallest example of a property."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from conformance.reference.errors import DecodeError
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.layout import decode_strict
from conformance.reference.jsonb.values import DECIMAL, JsonValue, Opaque, UInt, depth, same
from conformance.reference.partial.apply import apply_diffs
from conformance.reference.partial.diffs import decode_diffs, encode_diffs
from conformance.reference.partial.expression import Function
from conformance.reference.partial.paths import parse_path
from generators import strategies
from generators.documents import Size
from generators.malformed import Edit, EditKind
from tests.cases.modelled import taken

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.update_case import UpdateCase
    from conformance.reference.tables.definitions import Table

QUICK = settings(
    max_examples=60, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
SEARCH = settings(
    max_examples=2000, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@pytest.fixture(autouse=True)
def no_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hypothesis draws constants of the modules that are loaded: where a search begins would depend on other tests."""
    nothing = type(vars(providers)["_local_constants"])
    monkeypatch.setattr(providers, "_get_local_constants", nothing)


def smallest(
    strategy: st.SearchStrategy[Any],
    condition: Callable[[Any], bool],
    size: Callable[[Any], Any] = lambda it: len(repr(it)),
) -> Any:
    """The smallest example of five searches: a single one may end where only two changes at once make it smaller."""
    return min((find(strategy, condition, settings=SEARCH, random=Random(seed)) for seed in range(5)), key=size)


@QUICK
@given(strategies.documents())
def test_documents_come_back_from_their_bytes(document: JsonValue) -> None:
    assert same(decode_strict(encode(document)), document)


@QUICK
@given(st.data())
def test_paths_and_assignments_are_for_the_document(data: st.DataObject) -> None:
    stored = data.draw(strategies.stored(sizes=(Size.SMALL, Size.TINY)))
    parse_path(data.draw(strategies.paths(stored)))
    parse_path(data.draw(strategies.paths(stored, existing=True)))
    assert data.draw(strategies.assignments(stored)).column == "j"


@QUICK
@given(st.data())
def test_a_replica_applies_the_diffs_of_a_document(data: st.DataObject) -> None:
    stored = data.draw(strategies.stored(sizes=(Size.SMALL, Size.TINY)))
    logged = data.draw(strategies.diffs(stored))
    after = apply_diffs(stored, logged)
    assert after is not None
    decode_strict(after)
    assert decode_diffs(encode_diffs(logged)) == logged


@QUICK
@given(strategies.opaques(field_types=(DECIMAL,)), strategies.opaques())
def test_opaque_values_are_well_formed(decimal: Opaque, other: Opaque) -> None:
    assert decimal.field_type == DECIMAL
    decode_strict(encode([decimal, other]))


@QUICK
@given(strategies.tables(), strategies.keys(long=True), strategies.texts(128), strategies.scalars())
def test_the_rest_is_of_its_type(table: Table, key: str, text: str, scalar: JsonValue) -> None:
    assert table.json_columns
    assert len(key.encode()) <= 4000
    assert len(text.encode()) == 128
    assert depth(scalar) == 0


def test_documents_shrink_to_the_value_that_matters() -> None:
    small = strategies.documents(sizes=(Size.SMALL,))

    def leaves(value: JsonValue) -> list[JsonValue]:
        if isinstance(value, list):
            return [leaf for item in value for leaf in leaves(item)]
        if isinstance(value, dict):
            return [leaf for item in value.values() for leaf in leaves(item)]
        return [value]

    found = smallest(small, lambda document: any(type(leaf) is UInt for leaf in leaves(document)))
    assert len(leaves(found)) <= 2
    assert [leaf for leaf in leaves(found) if type(leaf) is UInt] == [0]
    found = smallest(small, lambda document: any(type(leaf) is int and leaf < 0 for leaf in leaves(document)))
    assert len(leaves(found)) <= 2
    assert [leaf for leaf in leaves(found) if type(leaf) is int and -128 <= leaf < 0]


def test_strings_and_keys_shrink_to_plain_letters() -> None:
    assert smallest(strategies.texts(5), lambda text: True) == "aaaaa"
    assert smallest(strategies.keys(), lambda key: True) == "a"
    assert smallest(strategies.scalars(), lambda value: True) is None
    assert smallest(strategies.scalars(), lambda value: isinstance(value, str) and not value.isascii()) in {"é", "文"}


def test_assignments_shrink_to_one_call() -> None:
    stored = encode({"a": [1, 2], "b": "text"})
    functions = [*Function]

    def size(found: Any) -> tuple[int, int]:
        return len(found.expression.arguments), functions.index(found.expression.function)

    found = smallest(strategies.assignments(stored, partial_only=True), lambda _: True, size)
    assert str(found.expression.function) == "JSON_SET"
    assert len(found.expression.arguments) == 1


def test_damage_shrinks_to_one_edit() -> None:
    stored = strategies.stored(sizes=(Size.SMALL, Size.TINY))
    found = smallest(strategies.damaged(stored), lambda damaged: damaged.data[:1] == b"\xff")
    assert len(found.edits) == 1
    assert found.edits[0].position == 0
    assert len(found.original) <= 20
    cut = smallest(strategies.damaged(stored), lambda damaged: len(damaged.data) < len(damaged.original))
    assert cut.edits[0].kind in (EditKind.TRUNCATE, EditKind.DELETE)
    assert isinstance(cut.edits[0], Edit)


@settings(QUICK, max_examples=25)
@given(strategies.sequences(taken, steps=4, rows=2))
def test_sequences_are_predicted_step_by_step(case: UpdateCase) -> None:
    assert 1 <= len(case.steps) <= 4
    assert 1 <= len(case.rows) <= 2


@pytest.mark.parametrize(
    "call",
    [
        lambda: strategies.documents(sizes=()),
        lambda: strategies.documents(sizes=(99,)),  # type: ignore[arg-type]
        lambda: strategies.documents(sizes=Size.SMALL),  # type: ignore[arg-type]
        lambda: strategies.opaques(field_types=(99,)),
        lambda: strategies.texts(-1),
        lambda: strategies.texts("5"),  # type: ignore[arg-type]
        lambda: strategies.assignments(b"", column=""),
        lambda: strategies.sequences(taken, steps=0),
        lambda: strategies.damaged(st.just(b""), most=0),
    ],
    ids=["sizes", "size class", "one size", "field type", "text size", "text", "column", "steps", "edits"],
)
def test_arguments_are_checked_at_the_call(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        call()


@pytest.mark.parametrize("takes", [strategies.paths, strategies.diffs, strategies.assignments])
def test_a_strategy_for_one_document_refuses_what_is_none(takes: Callable[[Any], object]) -> None:
    with pytest.raises(TypeError, match=rf"draw it first, or write stored\(\)\.flatmap\({takes.__name__}\)"):
        takes(strategies.stored())
    with pytest.raises(TypeError, match=rf"{takes.__name__} takes the bytes of a document, .*, not dict"):
        takes({"a": 1})
    for damaged in (b"\0\1", b'{"a": 1}'):
        with pytest.raises(DecodeError):
            takes(damaged)


def test_other_strategies_refuse_an_argument_of_another_kind() -> None:
    with pytest.raises(TypeError, match=r"advance is a function .*, not 5"):
        strategies.sequences(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a strategy of bytes, such as stored\\(\\), not bytes"):
        strategies.damaged(b"")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a strategy of bytes, such as stored\\(\\), not of NoneType"):
        smallest(strategies.damaged(st.none()), lambda _: True)  # type: ignore[arg-type]


def test_no_diff_fits_a_scalar() -> None:
    assert strategies.diffs(encode("text")).is_empty
    assert not strategies.diffs(encode([])).is_empty
