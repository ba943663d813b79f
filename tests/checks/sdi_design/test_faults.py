"""The checks of WL#7053's model: the model passes, and each planted fault fails the check of its requirement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.sdi_design import check as checks
from conformance.checks.sdi_design.life import Life
from conformance.harness.profiles import SIZES
from conformance.stream import Block
from tests.checks.sdi_design.faults_of_sdi_design import CALL_FAULTS, GUARANTEE_FAULTS, PURGE_FAULTS
from tests.faults.runner import each
from tests.recorded import Recorded

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faults.fault import Fault

SMALL = {"sdi_design/calls": 3_000, "sdi_design/crashes": 500, "sdi_design/purge": 50}


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    for name, size in SMALL.items():
        monkeypatch.setitem(SIZES[name], "quick", size)
    return Recorded.of_settings(server="none", cases=tmp_path, seed="1")


def test_the_model_passes_without_a_server(found: Recorded) -> None:
    assert found.passes(checks.test_calls_of_the_interface)
    assert found.passes(checks.test_a_copy_is_readable_after_a_crash_at_any_moment)
    assert found.passes(checks.test_two_purge_threads_can_leave_no_copy)
    assert sum(block.cases for block in found.of(Block)) == sum(SMALL.values())
    assert {name for block in found.of(Block) for name in block.requirements} == {"SDI24", "SDI34", "SDI42", "SDI62"}


@each(GUARANTEE_FAULTS)
def test_the_guarantee_is_broken_by(found: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    """At a crash, and not only at the comparison behind each change."""
    fault.change(monkeypatch)
    monkeypatch.setattr(Life, "settle", lambda _: None)
    found.fails(checks.test_a_copy_is_readable_after_a_crash_at_any_moment, "a crash leaves no copy")


@each(CALL_FAULTS)
def test_a_wrong_call_is_noticed(found: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    fault.change(monkeypatch)
    found.fails(checks.test_calls_of_the_interface, "gives another answer")


@each(PURGE_FAULTS)
def test_a_purge_that_does_no_harm_is_noticed(found: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    fault.change(monkeypatch)
    found.fails(checks.test_two_purge_threads_can_leave_no_copy, "two purge threads do no harm")
