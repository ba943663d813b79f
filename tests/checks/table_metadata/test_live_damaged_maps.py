"""The check of damaged TABLE_MAPs passes on a server, and fails where one is accepted or changes a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.table_metadata import check_damaged_maps, damaged_maps
from conformance.checks.table_metadata.damaged_maps import TransactionOutcome
from conformance.harness.profiles import SIZES
from conformance.stream import Block
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.recorded import Recorded

pytestmark = pytest.mark.live
CHECK = "table_metadata/damaged"
applied = damaged_maps.apply


@pytest.fixture(autouse=True)
def one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES[CHECK], "quick", 1)


def mended(server: Any, schema: str, update: Any, _: bytes) -> TransactionOutcome:
    """A server that applies the update whatever the TABLE_MAP says."""
    return applied(server, schema, update, update.table_map)


def row_changed(*words: Any) -> TransactionOutcome:
    return TransactionOutcome(error=applied(*words).error, unchanged=False)


def skipped(*words: Any) -> TransactionOutcome:
    """A server that skips the update without a word."""
    return TransactionOutcome(error=0, unchanged=applied(*words).error != 0)


def refuses_all(*_: Any) -> TransactionOutcome:
    return TransactionOutcome(error=1149, unchanged=True)


def verdicts(recorded: Recorded) -> set[str]:
    return {name for block in recorded.of(Block) if block.check == CHECK for name in block.verdicts}


def test_a_server_passes(recorded: Recorded) -> None:
    run(check_damaged_maps.test_damaged_maps_are_errors, recorded.lab)
    assert verdicts(recorded) == {"pass"}
    assert recorded.cases(CHECK) >= 40


@pytest.mark.planted("SC6")
@pytest.mark.parametrize(
    ("altered", "message"),
    [
        (mended, "an update behind a damaged TABLE_MAP is accepted"),
        (skipped, "an update behind a damaged TABLE_MAP is accepted"),
        (row_changed, "a damaged TABLE_MAP changes a row"),
    ],
)
def test_a_server_that_takes_damaged_maps_fails(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, altered: Callable[..., TransactionOutcome], message: str
) -> None:
    monkeypatch.setattr(damaged_maps, "apply", altered)
    recorded.fails(check_damaged_maps.test_damaged_maps_are_errors, message)
    assert {block.requirements for block in recorded.of(Block) if block.failures} == {("SC6",)}


def test_a_server_that_refuses_every_update_is_no_pass(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(damaged_maps, "apply", refuses_all)
    run(check_damaged_maps.test_damaged_maps_are_errors, recorded.lab)
    assert verdicts(recorded) == {"inconclusive"}
