"""The check of the order of fields passes on a server, and fails where the order changes what is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.table_metadata import check, field_order
from conformance.harness.profiles import SIZES
from conformance.reference.tables.metadata import Names
from conformance.stream import Block, CaseVerdict
from generators.draw import Stream
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.recorded import Recorded

CHECK = "table_metadata/field-order"
ordered = field_order.another_order
applied = field_order.apply


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES[CHECK], "quick", 20)


def last_lost(draw: Any, fields: Any) -> Any:
    """A reader that stops before the last field."""
    return ordered(draw, fields)[:-1]


def other_names(draw: Any, fields: Any) -> Any:
    """A reader that takes the names in another order."""
    found = ordered(draw, fields)
    return [Names(item.names[::-1], item.field) if isinstance(item, Names) else item for item in found]


def refused(*words: Any) -> Any:
    return [(plain, "error 1610") for plain, _ in applied(*words)]


def another_row(*words: Any) -> Any:
    return [(plain, f"{other}1") for plain, other in applied(*words)]


def nothing(*_: Any) -> bytes:
    return b""


@pytest.mark.live
def test_a_server_passes(recorded: Recorded) -> None:
    run(check.test_fields_in_another_order, recorded.lab)
    assert recorded.failing == set()
    assert recorded.cases(CHECK) >= 30


@pytest.mark.live
@pytest.mark.planted("TMNF4")
@pytest.mark.parametrize(
    ("place", "name", "altered", "what"),
    [
        (field_order, "another_order", last_lost, "text"),
        (field_order, "another_order", other_names, "text"),
        (field_order, "apply", refused, "applied"),
        (field_order, "apply", another_row, "applied"),
        (check, "client_text", nothing, "text"),
    ],
)
def test_an_order_that_changes_what_is_read_fails(
    recorded: Recorded,
    monkeypatch: pytest.MonkeyPatch,
    place: Any,
    name: str,
    altered: Callable[..., Any],
    what: str,
) -> None:
    monkeypatch.setattr(place, name, altered)
    recorded.fails(check.test_fields_in_another_order, "the order of the fields changes what is read")
    assert {block.requirements for block in recorded.of(Block) if block.failures} == {("TMNF4",)}
    assert what in {verdict.field for verdict in recorded.of(CaseVerdict)}


def test_an_order_is_never_the_fields_own() -> None:
    for number in range(200):
        fields: Any = list(range(2 + number % 8))
        found = ordered(Stream("orders", number), fields)
        assert found != fields
        assert sorted(found) == fields  # type: ignore[type-var]
