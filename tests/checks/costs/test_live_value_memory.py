"""The check of the memory of diffs passes on a server, and fails where memory grows with the rows of an event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.costs import check_value_memory, value_memory
from conformance.checks.costs.value_memory import Used
from conformance.harness.profiles import SIZES
from conformance.stream import Block
from tests.running import run

if TYPE_CHECKING:
    from tests.recorded import Recorded

CHECK = "costs/value-memory"
measured = value_memory.measure


@pytest.fixture(autouse=True)
def one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES[CHECK], "quick", 1)


def a_byte_kept(*words: Any) -> Used:
    """The server keeps one byte of each value until the statement ends."""
    used = measured(*words)
    return used._replace(bytes=used.bytes + used.rows)


def kept(*words: Any) -> Used:
    """The server frees no value before the statement ends."""
    used = measured(*words)
    return used._replace(bytes=used.bytes * used.rows)


def not_counted(*words: Any) -> Used:
    return measured(*words)._replace(allocations=0, bytes=0)


def whole_documents(server: Any, writer: Any, capture: Any, schema: str, made: Any, rows: int) -> Used:
    """The events are not of the kind that is looked for."""
    return measured(server, writer, capture, schema, made._replace(new=made.old), rows)


def verdicts(recorded: Recorded) -> set[str]:
    return {name for block in recorded.of(Block) if block.check == CHECK for name in block.verdicts}


@pytest.mark.live
def test_a_server_passes(recorded: Recorded) -> None:
    run(check_value_memory.test_memory_of_diffs_is_freed_for_each_value, recorded.lab)
    assert verdicts(recorded) == {"pass"}
    assert recorded.cases(CHECK) >= 60


@pytest.mark.live
@pytest.mark.planted("LLD17")
@pytest.mark.parametrize("altered", [a_byte_kept, kept])
def test_memory_that_grows_with_the_rows_fails(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, altered: Any
) -> None:
    monkeypatch.setattr(value_memory, "measure", altered)
    recorded.fails(
        check_value_memory.test_memory_of_diffs_is_freed_for_each_value,
        "the memory of diffs grows with the rows of an event",
    )
    assert {block.requirements for block in recorded.of(Block) if block.failures} == {("LLD17",)}


@pytest.mark.live
@pytest.mark.parametrize("altered", [not_counted, whole_documents])
def test_a_server_that_shows_nothing_is_no_pass(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, altered: Any
) -> None:
    monkeypatch.setattr(value_memory, "measure", altered)
    run(check_value_memory.test_memory_of_diffs_is_freed_for_each_value, recorded.lab)
    assert verdicts(recorded) == {"inconclusive"}


@pytest.mark.parametrize(("bytes_", "found"), [(688, 0), (687, 0), (689, 1)])
def test_a_byte_more_is_enough(bytes_: int, found: int) -> None:
    assert len(value_memory.judge(Used(2, 6, 688), Used(90, 270, bytes_))) == found
