"""The checks of what mysqlbinlog prints fail on the faults planted for them, and pass without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.mysqlbinlog_output import check, check_executed, run_executed
from conformance.checks.mysqlbinlog_output import run as client
from conformance.checks.mysqlbinlog_output.generate import EXAMPLES
from conformance.harness.profiles import SIZES
from conformance.stream import Block, CaseVerdict
from tests.checks.mysqlbinlog_output.faults import EXECUTED_FAULTS, TEXT_FAULTS
from tests.faults.runner import each, plant_in
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.faults.fault import Fault
    from tests.recorded import Recorded

pytestmark = pytest.mark.live


def test_the_real_client_prints_all_diffs(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES["mysqlbinlog_output/text"], "quick", 1)
    run(check.test_printed_updates, recorded.lab)
    run(check.test_worklog_example, recorded.lab)
    assert recorded.of(CaseVerdict) == []
    for name in ("mysqlbinlog_output/text", "mysqlbinlog_output/text/complete"):
        assert recorded.cases(name) >= 45  # some statements of a block change nothing


@each(TEXT_FAULTS)
def test_a_doctored_text_of_the_example_fails_the_check(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    plant_in(monkeypatch, client, "client_text", fault.change)
    recorded.fails(check.test_worklog_example, "mysqlbinlog prints another text")
    assert recorded.failing == {"mysqlbinlog_output/example", "mysqlbinlog_output/example/text"}


def _without_the_last_row(text: bytes) -> bytes:
    return text[: text.rindex(b"### UPDATE ")]


def _another_digit(text: bytes) -> bytes:
    place = text.rindex(b"JSON_REPLACE(@")
    return text[:place] + text[place:].replace(b"JSON_REPLACE(", b"JSON_INSERT(", 1)


@pytest.mark.parametrize("change", [_without_the_last_row, _another_digit])
def test_a_doctored_text_of_generated_updates_fails_the_check(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setitem(SIZES["mysqlbinlog_output/text"], "quick", 1)
    plant_in(monkeypatch, client, "client_text", change)
    recorded.fails(check.test_printed_updates, "mysqlbinlog prints another text")
    assert recorded.failing == {"mysqlbinlog_output/text", "mysqlbinlog_output/text/complete"}
    verdict = recorded.of(CaseVerdict)[0]
    assert verdict.replay is not None
    assert verdict.replay.endswith("printing-0.binlog")
    assert (tmp_path / "printing-0.binlog").read_bytes().startswith(b"\xfebin")
    assert (tmp_path / f"{verdict.case}.json").exists()


def test_printed_updates_make_the_same_documents_when_they_are_run(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SIZES["mysqlbinlog_output/executed"], "quick", 2)
    executed: list[Any] = []

    def execute(*given: Any) -> Any:
        executed.append(run_executed.execute(*given))
        return executed[-1]

    monkeypatch.setattr(check_executed, "execute", execute)
    run(check_executed.test_executed_updates, recorded.lab)
    assert recorded.failing == set()
    assert {item.verdict for item in recorded.of(CaseVerdict)} == {"info"}
    example = recorded.of(Block)[0]
    assert example.verdicts == {"pass": len(EXAMPLES) - 1, "info": 1}  # the DATE
    assert set(executed[0].functions) == {"JSON_REPLACE", "JSON_REMOVE", "JSON_INSERT", "JSON_ARRAY_INSERT"}
    assert recorded.cases("mysqlbinlog_output/executed") >= 2 * 45


@pytest.mark.planted("FR7.1")
@each(EXECUTED_FAULTS)
def test_a_text_that_does_something_else_when_it_is_run_fails_the_check(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    monkeypatch.setitem(SIZES["mysqlbinlog_output/executed"], "quick", 0)
    plant_in(monkeypatch, client, "client_text", fault.change)
    recorded.fails(check_executed.test_executed_updates, "printed")
    assert recorded.failing == {"mysqlbinlog_output/executed"}
    verdict = next(item for item in recorded.of(CaseVerdict) if item.verdict.failing)
    assert verdict.requirement == "FR7"
