"""A row's state as its five columns tell it: what contradicts itself is no state."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from conformance.cases.by_hand.injection import RowState
from conformance.servers.errors import ProtocolError
from conformance.servers.roles.injector import read_states, state_in

READABLE = (b"0", b"1", b"[1]", b"7", b"0")
NULL = (b"1", None, None, None, None)


def session(*rows: tuple[bytes | None, ...]) -> Any:
    return SimpleNamespace(execute=lambda _: SimpleNamespace(rows=rows))


def test_states_are_read() -> None:
    assert state_in(NULL) == RowState(is_null=True)
    assert state_in(READABLE) == RowState(valid=True, text=b"[1]", size=7, free=0)
    assert state_in((b"0", b"0", None, b"9", b"2")) == RowState(valid=False, size=9, free=2)
    assert state_in((b"0", b"1", b"1", None, None)) == RowState(valid=True, text=b"1")
    assert read_states(session(), "SELECT") == [None]
    assert read_states(session(READABLE, NULL), "SELECT", most=2) == [state_in(READABLE), state_in(NULL)]


@pytest.mark.planted
@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("value", [b"1", b"2", b"", None])
def test_columns_that_contradict_each_other_are_no_state(place: int, value: bytes | None) -> None:
    for row in (NULL, READABLE):
        other = (*row[:place], value, *row[place + 1 :])
        if row is READABLE and place in (2, 3, 4) and value not in (b"", None):
            assert state_in(other) != state_in(row)
        elif other != row and not (row is READABLE and place == 2):
            with pytest.raises((ProtocolError, ValueError)):
                state_in(other)


@pytest.mark.planted
def test_one_row_is_one_state() -> None:
    with pytest.raises(ProtocolError, match="expected 1 rows at most, got 2: SELECT 1"):
        read_states(session(READABLE, READABLE), "SELECT 1")
