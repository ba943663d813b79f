"""The checks of allocations on real servers: silent as they are, and with each planted fault its requirement fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.costs import allocations
from conformance.checks.costs import check_allocations as test_allocations
from conformance.harness.profiles import SIZES
from conformance.servers.roles.update_cases import run_case
from conformance.stream import Block, CaseVerdict
from conformance.verdict import Verdict
from tests.running import run

if TYPE_CHECKING:
    from tests.recorded import Recorded

pytestmark = pytest.mark.live


@pytest.fixture(autouse=True)
def one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    for check in ("costs/capture-allocations", "costs/applier-allocations"):
        monkeypatch.setitem(SIZES[check], "quick", 1)


def verdicts(recorded: Recorded, check: str) -> set[str]:
    return {name for block in recorded.of(Block) if block.check == check for name in block.verdicts}


def test_a_server_that_is_right_passes_and_says_what_cannot_be_judged(recorded: Recorded) -> None:
    run(test_allocations.test_diffs_are_collected_for_the_log_only, recorded.lab)
    run(test_allocations.test_an_applier_of_whole_documents_allocates_nothing, recorded.lab)
    assert verdicts(recorded, "costs/capture-allocations") == {"pass"}
    assert verdicts(recorded, "costs/applier-allocations") == {"pass"}
    assert verdicts(recorded, "costs/applier-allocations/source") == {"inconclusive"}
    messages = [item.message for item in recorded.of(CaseVerdict) if item.verdict is Verdict.INCONCLUSIVE]
    assert messages == [test_allocations.NO_BASELINE]


@pytest.mark.planted("C1")
@pytest.mark.parametrize("condition", list(allocations.WITHOUT))
def test_a_session_that_collects_all_the_same_fails(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, condition: str
) -> None:
    """The session in which the condition should be missing has it."""
    monkeypatch.setitem(allocations.WITHOUT, condition, allocations.ON)
    recorded.fails(
        test_allocations.test_diffs_are_collected_for_the_log_only,
        "diffs are collected although a condition does not hold",
    )
    assert "fail" in verdicts(recorded, "costs/capture-allocations")
    shown = recorded.of(CaseVerdict)
    assert all(item.requirement == "C1" and item.case_file and condition in str(item.got) for item in shown)


def test_a_server_that_collects_always_is_no_pass(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocations, "OFF", allocations.ON)
    run(test_allocations.test_diffs_are_collected_for_the_log_only, recorded.lab)
    assert verdicts(recorded, "costs/capture-allocations") == {"inconclusive"}


@pytest.mark.planted("FR14")
def test_a_source_that_logs_diffs_with_the_option_off_fails(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = allocations.with_option
    monkeypatch.setattr(
        allocations, "with_option", lambda script, limits, **_: original(script, limits, partial_json=True)
    )
    # Any Case will do whose diffs stop no replica.
    recorded.fails(
        test_allocations.test_an_applier_of_whole_documents_allocates_nothing,
        "the applier allocates for updates that came as whole documents",
    )
    assert verdicts(recorded, "costs/applier-allocations") == {"pass", "fail"}


@pytest.mark.planted("FR14")
def test_an_applier_that_reads_documents_as_json_fails(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something on the replica works with JSON while whole documents arrive."""
    original = run_case

    def with_reader(connection: Any, *arguments: Any) -> Any:
        observation = original(connection, *arguments)
        pair = recorded.lab._pairs
        assert pair is not None
        with pair._pairs[True].replica.connect() as reader:
            reader.execute("SELECT JSON_SET('{\"a\": 1}', '$.a', 2)")
        return observation

    monkeypatch.setattr(test_allocations, "run_case", with_reader)
    recorded.fails(
        test_allocations.test_an_applier_of_whole_documents_allocates_nothing,
        "the applier allocates for updates that came as whole documents",
    )
    assert verdicts(recorded, "costs/applier-allocations") == {"pass", "fail"}
    shown = next(item for item in recorded.of(CaseVerdict) if item.verdict is Verdict.FAIL)
    assert shown.expected == "0"
    assert shown.got is not None
    assert not shown.got.startswith("0 allocations")
