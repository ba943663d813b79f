"""A user's file: type checkers know all that the kit gives its users, and nothing of it is ``Any``."""

from __future__ import annotations

from collections.abc import Iterator  # noqa: TC003 - as users write it
from typing import Any, TypeAlias, assert_type

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance import (
    Diff,
    Event,
    JsonValue,
    PredictedUpdate,
    apply_diffs,
    decode,
    decode_diffs,
    encode,
    encode_diffs,
    parse_text,
    predict,
    read_events,
    read_rows,
)
from conformance.cases.update_case import UpdateCase
from generators.strategies import Damaged, damaged, diffs, documents, paths, sequences, stored, texts

Row: TypeAlias = dict[str, Any]

assert_type(documents(), SearchStrategy[JsonValue])
assert_type(stored(), SearchStrategy[bytes])
assert_type(texts(5), SearchStrategy[str])
assert_type(paths(b""), SearchStrategy[str])
assert_type(diffs(b""), SearchStrategy[tuple[Diff, ...]])
assert_type(sequences(), SearchStrategy[UpdateCase])
assert_type(damaged(stored()), SearchStrategy[Damaged])


@given(documents())
def test_round_trip(document: JsonValue) -> None:
    """A codec's test."""
    assert decode(encode(document)) == document


@given(st.data())
def test_applier(data: st.DataObject) -> None:
    """An applier's test."""
    before = data.draw(stored())
    logged = data.draw(diffs(before))
    assert_type(apply_diffs(before, decode_diffs(encode_diffs(logged))), bytes | None)


def answers(log: bytes) -> tuple[Iterator[Event], Iterator[Row], list[PredictedUpdate], JsonValue]:
    """Everything that is read or foretold."""
    return read_events(log), read_rows("a.binlog"), predict("{}", "JSON_SET(j, '$.a', 1)"), parse_text("[]")
